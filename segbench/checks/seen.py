"""What a set shows before it is counted, and rules: small functions that make findings of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from segbench.checks.findings import Finding
from segbench.checks.survey import Misfit, Surveyed
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.protocol import InputSettings, Protocol, SoftMaps, settled, soft_maps_of
from segbench.inputs.boundary_maps import BoundaryMaps
from segbench.inputs.label_inputs import LabelInputs
from segbench.inputs.label_rules import LabelRule, leaving_out
from segbench.inputs.label_summaries import ClassesSummary, LabelsSummary
from segbench.inputs.numbered_objects import NumberedObjects
from segbench.inputs.scored_classes import ScoredClasses
from segbench.inputs.sides import DrawnMasks, masks_of
from segbench.inputs.summaries import ImageSummary, Ranking, RegionsSummary, ScoreSummary, TruthSummary
from segbench.loaders.decoded import Header, Role
from segbench.loaders.pairing import Pairing
from segbench.loaders.reading import Repairs
from segbench.loaders.sizes import SizeError
from segbench.loaders.source import Source, shown

SAMPLE = 32
"""Images decoded by `check`: what one image in ten shows is then found with 97 %."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What names and headers of a set show, and what the images looked at hold."""

    pairing: Pairing
    protocol: Protocol
    repairs: Repairs
    surveyed: Surveyed
    summaries: Sequence[ImageSummary]
    inputs: InputSettings  # of the protocol, or of a class of it
    judged: dict[Rule, Sequence[Finding]] = field(default_factory=dict)  # by the rules asked so far

    @property
    def total(self) -> int:
        """How many images the set has."""
        return len(self.pairing.files)

    @cached_property
    def failures(self) -> Mapping[str, DataError]:
        """Why images cannot be read, or not be counted, by their names."""
        return {
            **self.surveyed.broken,
            **{summary.image: summary.failure for summary in self.summaries if summary.failure},
        }

    @cached_property
    def readable(self) -> Sequence[ImageSummary]:
        """What the other images hold."""
        return [summary for summary in self.summaries if not summary.failure]

    @property
    def looked_at(self) -> int:
        """How many images were looked at, or cannot be."""
        return len(self.readable) + len(self.failures)

    @cached_property
    def truths(self) -> Sequence[TruthSummary]:
        """What ground truths hold, those of several annotators apart."""
        return [truth for summary in self.readable for truth in summary.truths]

    @cached_property
    def scores(self) -> Sequence[ScoreSummary]:
        """What soft predictions hold."""
        return [summary.scores for summary in self.readable if summary.scores]

    @cached_property
    def varied_scores(self) -> Sequence[ScoreSummary]:
        """Those of them with more than one score."""
        return [score for score in self.scores if not score.constant]

    @property
    def are_soft(self) -> bool:
        """Whether predictions are soft maps."""
        return soft_maps_of(self.inputs) is not None

    @property
    def soft_maps(self) -> SoftMaps:
        """What soft maps may hold."""
        return soft_maps_of(self.inputs) or SoftMaps()

    @property
    def masks_drawn(self) -> DrawnMasks | None:
        """How ground truth shows what is positive; None where it is no mask."""
        return masks_of(self.inputs)

    @property
    def rule(self) -> LabelRule | None:
        """The rule for what is positive in ground truth; None where there is none."""
        return self.masks_drawn.rule if self.masks_drawn else None

    @property
    def rule_is_guarded(self) -> bool:
        """Whether images with grey levels, or with a value that looks like void, are refused in spite of the rule."""
        return self.masks_drawn is not None and self.masks_drawn.rule_is_guarded

    @property
    def void_values(self) -> tuple[float, ...] | None:
        """The values of ground truth that are left out; None where there is no such setting."""
        return self.masks_drawn.void_values if self.masks_drawn else None

    @property
    def cut_beforehand(self) -> bool:
        """Whether soft maps are cut at a threshold that was chosen beforehand, or at a single one."""
        return bool(self.soft_maps.cuts) or len(self.soft_maps.listed) == 1

    @property
    def lines(self) -> BoundaryMaps | None:
        """How lines are drawn and predicted; None where areas are."""
        return self.inputs if isinstance(self.inputs, BoundaryMaps) else None

    @property
    def scaled_as_stored(self) -> Mapping[Source, Header]:
        """The headers of soft maps whose types say how they are scaled."""
        return self.surveyed.predictions if self.are_soft and self.repairs.scale is None else {}

    def of_scores(self, scores: Sequence[ScoreSummary]) -> Seen:
        """Return what is seen of some soft maps of classes, by themselves."""
        summaries = [ImageSummary(image=score.image, scores=score) for score in scores]
        of_one = self.classes.of_one if self.classes else self.inputs
        return replace(self, summaries=summaries, inputs=of_one, judged={})

    @cached_property
    def masks(self) -> Sequence[Ranking]:
        """How predicted masks rank pixels."""
        return [summary.mask for summary in self.readable if summary.mask]

    @cached_property
    def regions(self) -> Sequence[RegionsSummary]:
        """What single predicted maps of regions hold."""
        return [summary.label_map for summary in self.readable if summary.label_map]

    @cached_property
    def rankings(self) -> Sequence[Ranking]:
        """How predictions rank pixels, of soft maps those with more than one score."""
        return self.varied_scores if self.are_soft else self.masks

    @cached_property
    def class_summaries(self) -> Sequence[ClassesSummary]:
        """What images with a soft map per class hold."""
        return [summary for summary in self.readable if isinstance(summary, ClassesSummary)]

    @cached_property
    def counted(self) -> Sequence[LabelsSummary]:
        """What counting label maps showed."""
        return [summary for summary in self.readable if isinstance(summary, LabelsSummary)]

    @property
    def classes(self) -> ScoredClasses | None:
        """The classes of soft maps; None where there is one map."""
        return self.inputs if isinstance(self.inputs, ScoredClasses) else None

    @property
    def label_inputs(self) -> LabelInputs | None:
        """The inputs if both sides have a label in each pixel; None of anything else."""
        return self.inputs if isinstance(self.inputs, LabelInputs) else None

    @property
    def known_label_inputs(self) -> LabelInputs:
        """The same where label maps were counted."""
        if self.label_inputs is None:
            raise TypeError("label maps were counted of inputs that have none")
        return self.label_inputs

    @property
    def two_sided(self) -> LabelInputs | ScoredClasses | None:
        """The inputs if a set in which only one of two sides has pixels is refused."""
        return self.label_inputs or self.classes

    @property
    def numbered(self) -> NumberedObjects | None:
        """The inputs if they expect a number for each object."""
        return self.inputs if isinstance(self.inputs, NumberedObjects) else None

    @property
    def left_out_by(self) -> Message:
        """The options that leave pixels out, as they were given."""
        return leaving_out(self.protocol.signature_fields(), self.pairing.inputs.field)

    @cached_property
    def refusal(self) -> DataError | None:
        """Why a run refuses the set, as far as the images looked at decide it; None if they do not."""
        facts = {summary.image: summary.facts for summary in self.readable if summary.facts}
        complete, part = not self.not_looked_at, "subset" in self.pairing.signature_fields()
        try:
            settled(self.protocol, facts, excluded_by=self.left_out_by, complete=complete, part=part)
        except DataError as error:
            return error
        return None

    @cached_property
    def misfits(self) -> Sequence[Misfit]:
        """The files of another size than their ground truth, also those of which only decoding shows it."""
        misfits = list(self.surveyed.misfits)
        known = {misfit.image for misfit in misfits}
        predictions = {files.name: shown(files.prediction) for files in self.pairing.files} if self.failures else {}
        for image, error in self.failures.items():
            if isinstance(error, SizeError) and image not in known:
                role: Role = "prediction" if error.path == predictions[image] else "ground truth"
                misfits.append(Misfit(image, error.path, role, error.values["size"], error.values["expected"]))
        return misfits

    @cached_property
    def not_looked_at(self) -> int:
        """How many images were not looked at, apart from those that cannot be read or have another size."""
        lost = self.failures.keys() | {misfit.image for misfit in self.misfits}
        return max(self.total - len(lost) - len(self.readable), 0)

    @property
    def speaks_for_set(self) -> bool:
        """Whether what all images looked at show is so of the set: they are all of it, or as many as `SAMPLE`."""
        return not self.not_looked_at or len(self.readable) >= SAMPLE

    def of_part(self, findings: Sequence[Finding]) -> list[Finding]:
        """Say of findings about values how many images were looked at, where these are not all."""
        if not self.not_looked_at:
            return list(findings)
        behind = " ({looked_at} of {in_all:many image} looked at)"
        return [
            replace(finding, message=finding.message.extended(behind, looked_at=len(self.summaries), in_all=self.total))
            for finding in findings
        ]


@dataclass(frozen=True, eq=False)
class Rule:
    """A function that makes findings of a set, with what it needs; called, it judges a set once."""

    find: Callable[[Seen], Sequence[Finding]]
    kinds: tuple[str, ...]
    """The kinds of its findings, see docs/findings.md."""
    needs: tuple[str, ...]
    """What has to be seen of the set: names of sequences of `Seen`."""
    unless: tuple[Rule, ...]
    """Rules beside whose findings it says nothing, as what they advise comes first."""
    of_all: bool
    """Whether it judges all images, by their names and headers, and not those looked at."""

    def __call__(self, seen: Seen) -> Sequence[Finding]:
        """Judge a set; of one that was judged, return what was found."""
        if self not in seen.judged:
            silent = not all(getattr(seen, name) for name in self.needs) or any(rule(seen) for rule in self.unless)
            seen.judged[self] = () if silent else self.find(seen)
        return seen.judged[self]


def rule(
    *kinds: str, needs: Sequence[str] = (), unless: Sequence[Rule] = (), of_all: bool = False
) -> Callable[[Callable[[Seen], Sequence[Finding]]], Rule]:
    """Make a rule of a function, see `Rule`."""
    return lambda find: Rule(find, kinds, tuple(needs), tuple(unless), of_all)

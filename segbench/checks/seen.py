"""What a set shows before it is counted, and rules: small functions that make findings of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from segbench.checks.findings import Finding
from segbench.checks.probes import ClassesProbe, CountsProbe, LabelProbe, Probe, Ranking, ScoreProbe, TruthProbe
from segbench.checks.survey import Misfit, Surveyed
from segbench.core.capabilities import ByClass, Confusing, Numbered, TwoSided, inputs_as
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedLines, ExpectedScores
from segbench.core.messages import Message
from segbench.core.protocol import Protocol
from segbench.inputs.label_rules import leaving_out
from segbench.loaders.decoded import Header, Role, Source, shown
from segbench.loaders.pairing import Pairing
from segbench.loaders.repairs import Repairs, SizeError


@dataclass(frozen=True, eq=False)
class Seen:
    """What names and headers of a set show, and what the images looked at hold."""

    pairing: Pairing
    protocol: Protocol
    repairs: Repairs
    surveyed: Surveyed
    probes: Sequence[Probe]
    expected: Expected  # what files may hold
    judged: dict[Rule, Sequence[Finding]] = field(default_factory=dict)  # by the rules asked so far

    @property
    def total(self) -> int:
        """How many images the set has."""
        return len(self.pairing.files)

    @cached_property
    def failures(self) -> Mapping[str, DataError]:
        """Why images cannot be read, or not be counted, by their names."""
        return {**self.surveyed.broken, **{probe.image: probe.failure for probe in self.probes if probe.failure}}

    @cached_property
    def readable(self) -> Sequence[Probe]:
        """What the other images hold."""
        return [probe for probe in self.probes if not probe.failure]

    @property
    def looked_at(self) -> int:
        """How many images were looked at, or cannot be."""
        return len(self.readable) + len(self.failures)

    @cached_property
    def truths(self) -> Sequence[TruthProbe]:
        """What ground truths hold, those of several annotators apart."""
        return [truth for probe in self.readable for truth in probe.truths]

    @cached_property
    def scores(self) -> Sequence[ScoreProbe]:
        """What soft predictions hold."""
        return [probe.scores for probe in self.readable if probe.scores]

    @cached_property
    def varied_scores(self) -> Sequence[ScoreProbe]:
        """Those of them with more than one score."""
        return [score for score in self.scores if not score.constant]

    @property
    def soft_maps(self) -> ExpectedScores:
        """What soft maps may hold."""
        return self.expected.scores or ExpectedScores()

    @property
    def cut_beforehand(self) -> bool:
        """Whether soft maps are cut at a threshold that was chosen beforehand, or at a single one."""
        return self.soft_maps.cut or len(self.soft_maps.listed) == 1

    @property
    def lines(self) -> ExpectedLines | None:
        """How lines are drawn and predicted; None where areas are."""
        return self.expected.lines

    @property
    def scaled_as_stored(self) -> Mapping[Source, Header]:
        """The headers of soft maps whose types say how they are scaled."""
        return self.surveyed.predictions if self.expected.scores and self.repairs.scale is None else {}

    def of_scores(self, scores: Sequence[ScoreProbe]) -> Seen:
        """Return what is seen of some soft maps of classes, by themselves."""
        probes = [Probe(image=score.image, scores=score) for score in scores]
        of_one = self.classes.expected_of_one if self.classes else self.expected
        return replace(self, probes=probes, expected=of_one, judged={})

    @cached_property
    def masks(self) -> Sequence[Ranking]:
        """How predicted masks rank pixels."""
        return [probe.mask for probe in self.readable if probe.mask]

    @cached_property
    def regions(self) -> Sequence[LabelProbe]:
        """What single predicted maps of regions hold."""
        return [probe.label_map for probe in self.readable if probe.label_map]

    @cached_property
    def rankings(self) -> Sequence[Ranking]:
        """How predictions rank pixels, of soft maps those with more than one score."""
        return self.varied_scores if self.expected.scores else self.masks

    @cached_property
    def class_probes(self) -> Sequence[ClassesProbe]:
        """What images with a soft map per class hold."""
        return [probe for probe in self.readable if isinstance(probe, ClassesProbe)]

    @cached_property
    def counted(self) -> Sequence[CountsProbe]:
        """What counting label maps showed."""
        return [probe for probe in self.readable if isinstance(probe, CountsProbe)]

    @property
    def classes(self) -> ByClass | None:
        """The classes of soft maps; None where there is one map."""
        return inputs_as(self.protocol, ByClass)

    @property
    def label_inputs(self) -> Confusing | None:
        """The inputs if both sides have a label in each pixel; None of anything else."""
        return inputs_as(self.protocol, Confusing)

    @property
    def known_label_inputs(self) -> Confusing:
        """The same where label maps were counted."""
        if self.label_inputs is None:
            raise TypeError("label maps were counted of inputs that have none")
        return self.label_inputs

    @property
    def two_sided(self) -> TwoSided | None:
        """What refuses a set in which only one of two sides has pixels."""
        return inputs_as(self.protocol, TwoSided)

    @property
    def numbered(self) -> Numbered | None:
        """What expects a number for each object."""
        return inputs_as(self.protocol, Numbered)

    @property
    def left_out_by(self) -> Message:
        """The options that leave pixels out, as they were given."""
        return leaving_out(self.protocol.signature_fields(), self.pairing.inputs.field)

    @cached_property
    def misfits(self) -> Sequence[Misfit]:
        """The files of another size than their ground truth, also those of which only decoding shows it."""
        misfits, known = list(self.surveyed.misfits), {misfit.image for misfit in self.surveyed.misfits}
        predictions = {files.name: shown(files.prediction) for files in self.pairing.files} if self.failures else {}
        for image, error in self.failures.items():
            if isinstance(error, SizeError) and image not in known:
                role: Role = "prediction" if error.path == predictions[image] else "ground truth"
                misfits.append(Misfit(image, error.path, role, error.values["size"], error.values["expected"]))
        return misfits


@dataclass(frozen=True, eq=False)
class Rule:
    """A function that makes findings of a set, with what it needs; called, it judges a set once."""

    find: Callable[[Seen], Sequence[Finding]]
    kinds: tuple[str, ...]
    """The kinds of its findings, see docs/check.md."""
    needs: tuple[str, ...]
    """What has to be seen of the set: names of sequences of `Seen`."""
    unless: tuple[Rule, ...]
    """Rules beside whose findings it says nothing, as what they advise comes first."""

    def __call__(self, seen: Seen) -> Sequence[Finding]:
        """Judge a set; of one that was judged, return what was found."""
        if self not in seen.judged:
            silent = not all(getattr(seen, name) for name in self.needs) or any(rule(seen) for rule in self.unless)
            seen.judged[self] = () if silent else self.find(seen)
        return seen.judged[self]


def rule(
    *kinds: str, needs: Sequence[str] = (), unless: Sequence[Rule] = ()
) -> Callable[[Callable[[Seen], Sequence[Finding]]], Rule]:
    """Make a rule of a function, see `Rule`."""
    return lambda find: Rule(find, kinds, tuple(needs), tuple(unless))

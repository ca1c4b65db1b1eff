"""`check`: two folders to a report, from names, headers and a few images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from typing import TypeVar, cast

import numpy as np

from segbench.checks.classes import (
    REPLACED,
    background_findings,
    class_findings,
    class_map_findings,
    label_map_findings,
    mask_findings,
    mask_values,
    numbered_region_findings,
    one_sided_findings,
    predicted_label_findings,
    probe_classes,
    probe_counts,
    ranking_of_mask,
    region_findings,
    uncounted_findings,
)
from segbench.checks.counting import THREADS, counted_findings, refused_set
from segbench.checks.findings import Finding, Place, Report, failing, finding, in_order
from segbench.checks.geometry import IN_A_ROW, geometry_findings, ranks_badly
from segbench.checks.label_damage import lossy_findings, mixed_label_findings, without_advice_on
from segbench.checks.names import (
    copy_findings,
    duplicate_findings,
    name_findings,
    problem_findings,
    same_file_findings,
)
from segbench.checks.probes import (
    MOST_VALUES,
    ClassStackError,
    Probe,
    Ranking,
    TruthProbe,
    UncountedError,
    inspect_sample,
    probe,
)
from segbench.checks.scores import inverted_findings, score_findings
from segbench.checks.sizes import (
    Misfit,
    Read,
    Surveyed,
    orientation_findings,
    size_findings,
    survey_headers,
    type_findings,
)
from segbench.checks.truths import (
    ONE_SIDED,
    exchange_findings,
    refused_exchange_findings,
    rule_for_other_side,
    truth_findings,
)
from segbench.core.arguments import as_whole
from segbench.core.capabilities import ByClass, Confusing, Numbered, TwoSided, expected_in, inputs_as, settled
from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, joined
from segbench.core.names import MethodRun
from segbench.core.numbers import written
from segbench.core.protocol import Protocol
from segbench.core.sample import Sample
from segbench.inputs.label_rules import LabelRule, leaving_out
from segbench.inputs.mask_pairs import LossyNumbersError
from segbench.inputs.nodata import decode_for
from segbench.inputs.stacks import ClassMapsError
from segbench.loaders.decoded import Header, Role, Source, shown
from segbench.loaders.file_list import Images
from segbench.loaders.listing import listed_once
from segbench.loaders.pairing import Pairing, SampleFiles, find_inputs, method_of
from segbench.loaders.palettes import Palettes
from segbench.loaders.reading import read
from segbench.loaders.repairs import Repairs, SizeError, as_repairs, fixable
from segbench.loaders.source import LocalFile, read_header
from segbench.protocols.files import find_files
from segbench.protocols.guesses import answering
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol

SAMPLE = 32
"""Images decoded by `check`: what one image in ten shows is then found with 97 %."""
QUICK_SAMPLE = 3
"""Images decoded before a run; where none of them can be counted, `SAMPLE`."""


@answering
def check(
    ground_truth: str | PathLike[str] | None = None,
    prediction: str | PathLike[str] | None = None,
    protocol: Protocol | str = Pixels(),
    *,
    pairs: str | PathLike[str] | None = None,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    images: Images = None,
    allow_missing: bool = False,
    method: str | None = None,
    repairs: Repairs = Repairs(),
    sample: int | None = SAMPLE,
) -> Report:
    """Find what does not match between two folders, before anything is counted.

    Names and headers of all files are read, and a few images, evenly spread, are decoded.

    Parameters
    ----------
    ground_truth, prediction, protocol, pairs, field, gt_pattern, pred_pattern, field_pattern, negatives
        Where the files are, how their names pair, and what they are to be counted by, as in `evaluate`.
    images, allow_missing, method, repairs
        Which images of which method, and what is to be done to predictions, as in `evaluate`.
    sample : int, optional
        How many images are decoded, at least 1; None for all, which are then counted, too: what would stop a run is an
        error.

    Returns
    -------
    Report
        Its ``findings``, errors first; ``report.errors`` is empty where everything can be counted.

    Raises
    ------
    ArgumentError
        For a pattern that cannot be, for places and repairs that have no meaning for the protocol, and for a list
        that is not alone or leaves the method open.
    DataError
        For a list without a column that names a method.

    Examples
    --------
    >>> demo = "datasets/demo/edges"
    >>> report = check(f"{demo}/ground_truth", f"{demo}/predictions/gradient", "boundaries")
    >>> [(finding.kind, [*map(str, finding.settings)]) for finding in report.errors]
    [('annotator-names', ["gt_pattern='*.#'"])]
    """
    protocol = as_protocol(protocol)
    if sample is not None:
        sample = as_whole(sample, "sample", least=1)
    with listed_once():
        inputs = find_inputs(
            ground_truth,
            prediction,
            protocol.reads,
            pairs=pairs,
            field=field,
            gt_pattern=gt_pattern,
            pred_pattern=pred_pattern,
            field_pattern=field_pattern,
            negatives=negatives,
            images=images,
            allow_missing=allow_missing,
            method=method,
        )
        pairing = find_files(inputs, protocol)
        (report,) = check_methods({MethodRun(method or method_of(inputs)): pairing}, protocol, repairs, sample=sample)
    return report


def check_methods(
    pairings: Mapping[MethodRun, Pairing],
    protocol: Protocol,
    repairs: Repairs,
    *,
    sample: int | None = QUICK_SAMPLE,
    quick: bool = False,
) -> list[Report]:
    """Check several methods, where `quick` with archives shut and no files compared; each header is read once."""
    read_once = cast("Read", cache(read_header))
    read = partial(_header_on_disk, read_once) if quick else read_once
    as_repairs(repairs, protocol.reads)
    reports = [
        _Set(pairing, protocol, repairs, survey_headers(pairing.files, read, protocol.reads, repairs)).report(
            method, sample, quick=quick
        )
        for method, pairing in pairings.items()
    ]
    copies = {} if quick else copy_findings(pairings, lambda path: read(path, "prediction").size)
    return [
        replace(report, findings=(*report.findings, *copies.get(method, ())))
        for method, report in zip(pairings, reports, strict=True)
    ]


Item = TypeVar("Item")
_UNREAD = Header()  # one for all, of very many
_MOST_ODD = 1000  # files of odd headers that are decoded, to say what is wrong with them
_WORTH_THREADS = 8
_MORE = 4  # times as many images, until all are inspected
_SAID_BY = {"low-levels": "levels-unscaled", "one-class": ONE_SIDED}
"""Errors of a run, and the findings that say the same with less certainty."""
_OF_THE_SET = frozenset({"identical", "never-predicted", "few-levels", "levels-unscaled", "jpeg-masks", "saturated"})
_OF_THE_SET |= {"inverted", "inverted-ground-truth", "thick-ground-truth", "masks", "renumbered", ONE_SIDED}
"""Findings that say something of all images, which a few may not show."""


def _header_on_disk(read: Read, path: Source, role: Role) -> Header:
    """Leave members of archives unread: reading a header costs as much as reading the member."""
    return read(path, role) if isinstance(path, LocalFile) else _UNREAD


@dataclass(frozen=True)
class _Set:
    """The images of a method, and what their headers show."""

    pairing: Pairing
    protocol: Protocol
    repairs: Repairs
    surveyed: Surveyed

    def report(self, method: MethodRun, sample: int | None, *, quick: bool) -> Report:
        """Judge names, headers and some images."""
        files, probes = self.pairing.files, list[Probe]()
        findings = problem = problem_findings(self.pairing)
        if not problem:
            probes = self.probes(sample)
            findings = self.findings(probes)
            if quick and _seen_in(findings, probes) and not any(found.whole for found in findings):
                # The few may be the only ones, above all where no header shows which are sound; and advice is on all.
                sample = SAMPLE
                probes = self.probes(sample)
                findings = self.findings(probes)
            while sample and sample < len(files) and any(found.kind == ONE_SIDED for found in findings):
                sample *= _MORE  # any other image may show the side that is lacking
                probes = self.probes(sample)
                findings = self.findings(probes)
            same = same_file_findings(files) if quick else duplicate_findings(files, self.surveyed.lengths)
            if any(found.kind == "is-ground-truth" for found in same):  # which is why they are masks
                findings = [found for found in findings if found.kind != "masks-among-maps"]
            findings += same
            if sample is not None:
                findings += self.refused(probes, findings)
            elif not any(problem.whole for problem in findings):
                known = {image for problem in findings for image in problem.images}
                findings += counted_findings(self.pairing, self.protocol, self.repairs, known)
            said = {_SAID_BY.get(found.message.values.get("error", "")) for found in findings}
            findings = [found for found in findings if found.kind not in said]
        return Report(
            method=method.method,
            run=method.run,
            protocol=self.protocol.name,
            images=len(files),
            inspected=len(probes),
            refused=any(found.whole for found in findings) or _none_left(findings, probes),
            findings=in_order(findings),
            notes=() if problem else (*self.pairing.notes, *self.pairing.notes_on_left_out),
        )

    def findings(self, probes: Sequence[Probe]) -> list[Finding]:
        """Judge names, headers and what was inspected."""
        protocol, surveyed, total = self.protocol, self.surveyed, len(self.pairing.files)
        expected, by_class = expected_in(protocol), protocol.capability(ByClass)
        failures = {**surveyed.broken, **{probe.image: probe.failure for probe in probes if probe.failure}}
        seen = [probe for probe in probes if not probe.failure]
        judged = len(seen) + len(failures)
        left_out_by = leaving_out(protocol.signature_fields(), self.pairing.inputs.field)
        truths = truth_findings(seen, expected, total, left_out_by=left_out_by)
        of_classes = class_findings(seen, by_class)
        labels = predicted_label_findings(seen, expected.rule, counted=bool(expected.rule or by_class))
        labels += numbered_region_findings(seen, expected)
        if labels:
            truths, of_classes = [found for found in truths if found.kind not in REPLACED], []
        named = SizeError | ClassMapsError | ClassStackError | UncountedError
        others = {image: error for image, error in failures.items() if not isinstance(error, named)}
        unread = Message(
            "unreadable",
            "{count:many image} of {total} cannot be read",
            count=len(others),
            total=total,
            errors=sorted({error.kind for error in others.values()}),
        )
        regions = [probe.label_map for probe in seen if probe.label_map]
        palettes = _palettes(probes, protocol)
        findings = [
            *name_findings(self.pairing, expected),
            *size_findings(
                self.misfits(failures),
                surveyed.sizes,
                total,
                soft=expected.scores is not None,
                cropped=self.repairs.crop,
            ),
            *orientation_findings(surveyed.turned),
            *failing(unread, others, "write the files again"),
            *palettes,
        ]
        exchanged = refused_exchange_findings(failures, judged) or exchange_findings(seen, truths, expected)
        if exchanged or any(found.whole for found in palettes):
            return [*findings, *exchanged]  # advice on what the files hold is of no use
        damage = self.label_damage(probes, soft=any(region.soft for region in regions))
        findings += [
            *damage,
            *class_map_findings(failures, judged),
            *one_sided_findings(seen, inputs_as(protocol, TwoSided) or protocol.capability(TwoSided)),
            *mask_findings(seen, inputs_as(protocol, Numbered), total),
            *background_findings(seen),
            *without_advice_on(label_map_findings(seen, failures, judged, protocol, total), damage),
            *truths,
            *region_findings(regions, expected.of_soft_maps),
            *labels,
            *([] if labels else _coloured(seen, truths)),
            *of_classes,
        ]
        if expected.scores and not labels:
            findings += type_findings(surveyed.predictions) if self.repairs.scale is None else []
            field, scores = not protocol.reads.without_field, [probe.scores for probe in seen if probe.scores]
            other_side = None if expected.lines else rule_for_other_side(seen, expected)
            findings += score_findings(scores, expected.scores, expected.lines, field=field, other_side=other_side)
            findings += self.geometry([score for score in scores if not score.constant])
        else:
            masks = [probe.mask for probe in seen if probe.mask]
            turn, turn_truth = _turned(expected.rule, inputs_as(protocol, Confusing), seen)
            findings += inverted_findings(masks, turn, other_side=turn_truth)
            findings += self.geometry(masks)
        return findings

    def refused(self, probes: Sequence[Probe], findings: Sequence[Finding]) -> list[Finding]:
        """Find what a run refuses of the images inspected, or of the set if these are all, and no finding explains."""
        known = {image for finding in findings for image in finding.images}
        failures: dict[str, DataError] = {
            probe.image: probe.refused for probe in probes if probe.refused and probe.image not in known
        }
        if failures or known or any(finding.whole for finding in findings):
            return uncounted_findings(failures, len(probes))
        facts = {probe.image: probe.facts for probe in probes if probe.facts}
        all_seen, part = len(probes) == len(self.pairing.files), "subset" in self.pairing.signature_fields()
        try:
            settled(self.protocol, facts, complete=all_seen, part=part)
        except DataError as error:
            return refused_set(error)
        return []

    def label_damage(self, probes: Sequence[Probe], *, soft: bool) -> list[Finding]:
        """Find label maps that were stored with loss, by all headers, or that hold mixed labels; not `soft` maps."""
        uncounted = [probe.failure for probe in probes if isinstance(probe.failure, UncountedError)]
        refused = {failure.side for failure in uncounted if isinstance(failure.error, LossyNumbersError)}
        lossy = {side: files for side, files in self.surveyed.lossy.items() if side not in refused}
        stored = lossy_findings(lossy, self.protocol.reads)
        inputs = [probe.inputs for probe in probes] + [failure.inputs for failure in uncounted]
        mixed = [] if soft else mixed_label_findings([(image.files, image.lines) for image in inputs])
        told = refused.union(lossy)
        return stored + [finding for finding in mixed if finding.side not in told]

    def geometry(self, rankings: Sequence[Ranking]) -> list[Finding]:
        """Decode a few images in a row again where predictions rank pixels badly, and judge them turned."""
        if not ranks_badly(rankings):
            return []
        expected, of_labels = expected_in(self.protocol), inputs_as(self.protocol, Confusing)
        named = {files.name: files for files in self.pairing.files}
        first = min([*named].index(rankings[0].image), max(len(named) - IN_A_ROW, 0))
        samples = []
        for files in [*named.values()][first : first + IN_A_ROW]:
            with suppress(DataError):
                samples.append(decode_for(self.protocol, read(files), self.repairs))

        def rank(sample: Sample) -> Ranking | None:
            try:
                if of_labels:  # masks, as label maps have no ranking
                    return ranking_of_mask(sample, self.protocol.count(sample).counts)
                seen = inspect_sample(sample, named[sample.name], expected)
            except DataError:
                return None
            return seen.scores or seen.mask

        with np.errstate(invalid="ignore"):
            return geometry_findings(samples, rank)

    def misfits(self, failures: Mapping[str, DataError]) -> list[Misfit]:
        """Give the files of another size than their ground truth, also those of which only decoding shows it."""
        found, known = list(self.surveyed.misfits), {misfit.image for misfit in self.surveyed.misfits}
        predictions = {files.name: shown(files.prediction) for files in self.pairing.files} if failures else {}
        for image, error in failures.items():
            if isinstance(error, SizeError) and image not in known:
                role: Role = "prediction" if error.path == predictions[image] else "ground truth"
                found.append(Misfit(image, error.path, role, error.values["size"], error.values["expected"]))
        return found

    def probes(self, sample: int | None) -> list[Probe]:
        """Inspect some images, None for all, as evenly spread as the headers allow."""
        protocol, repairs = self.protocol, self.repairs
        chosen = self.sound(sample)
        if not chosen:
            chosen, repairs = self.repairable(sample), replace(repairs, crop=False, resize="nearest")
        inspect: Callable[[SampleFiles], Probe]
        if classes := protocol.capability(ByClass):
            inspect = partial(probe_classes, protocol=protocol, classes=classes, repairs=repairs)
        elif labelled := inputs_as(protocol, Confusing):
            inspect = partial(probe_counts, protocol=protocol, inputs=labelled, repairs=repairs)
        else:
            inspect = partial(probe, protocol=protocol, expected=expected_in(protocol), repairs=repairs)

        def inspected(files: SampleFiles) -> Probe:
            with np.errstate(invalid="ignore"):  # as where images are counted
                return inspect(files)

        if len(chosen) < _WORTH_THREADS:
            return list(map(inspected, chosen))
        with ThreadPoolExecutor(THREADS) as threads:  # decoders let others run
            return list(threads.map(inspected, chosen))

    def sound(self, sample: int | None) -> list[SampleFiles]:
        """Choose a few of the images that look sound, evenly spread, and those that look damaged."""
        files, broken, odd = self.pairing.files, self.surveyed.broken, self.surveyed.odd
        unsound = {misfit.image for misfit in self.surveyed.misfits} | broken.keys() | odd.keys()
        sound: Sequence[int] = range(len(files))
        damaged: list[SampleFiles] = []
        if unsound:
            sound = [k for k, one in enumerate(files) if one.name not in unsound]
            damaged = [one for one in files if one.name in odd and one.name not in broken]
        spread = map(files.__getitem__, _spread(sound, sample))
        return [*spread, *damaged[: None if sample is None else _MOST_ODD]]

    def repairable(self, sample: int | None) -> list[SampleFiles]:
        """Choose a few images where all have a prediction of another size: their values may be wrong, too."""
        misfits = self.surveyed.misfits
        fit = {one.image for one in misfits if one.role == "prediction" and fixable(one.shape, one.expected)}
        fit -= {one.image for one in misfits if one.role != "prediction"}
        return _spread([files for files in self.pairing.files if files.name in fit], sample)


def _turned(
    rule: LabelRule | None, inputs: Confusing | None, probes: Sequence[Probe]
) -> tuple[Message | Setting, Message | Setting]:
    """Say how to turn predicted masks, and how to turn the ground truth and leave predictions as they are."""
    if inputs and inputs.positive is not None:
        rule = LabelRule.parse(inputs.positive)
    drawn, predicted = mask_values(probes)
    other_side = _turned_rule("positive", rule, drawn)
    if not inputs:
        return Message("fix", "save masks of what is to be found"), other_side
    if inputs.predicted_positive is not None:
        return _turned_rule("predicted_positive", LabelRule.parse(inputs.predicted_positive), predicted), other_side
    if rule and rule.at_half:  # which cuts predictions, too
        turn = _turned_rule("predicted_positive", rule, predicted)
        return turn, joined((other_side, Setting("predicted_positive", str(rule))), " ")
    return Setting("predicted_positive", 0), other_side


def _turned_rule(name: str, rule: LabelRule | None, values: Sequence[float]) -> Message | Setting:
    """Return the setting for what is negative under a rule, given the values; of very many some."""
    if rule is None:
        return Setting(name, 0)
    if rule.comparison == "=" and len(values) >= MOST_VALUES:
        return Message("fix", "{setting} with all other values", setting=Setting(name))
    return Setting(name, rule.other_side(values if len(values) > 2 else [0]) or ">0")


def _seen_in(findings: Sequence[Finding], probes: Sequence[Probe]) -> bool:
    """Return whether inspecting images showed something in their pixels."""
    kinds = {probe.scores.is_mask for probe in probes if probe.scores and not probe.scores.constant}
    told = any(found.kind in _OF_THE_SET for found in findings)
    return _none_left(findings, probes) or told or len(kinds) > 1


def _none_left(findings: Sequence[Finding], probes: Sequence[Probe]) -> bool:
    """Return whether not one of the images inspected can be counted."""
    lost = {image for finding in findings for image in finding.images}
    return bool(lost) and lost.issuperset(probe.image for probe in probes)


def _palettes(probes: Sequence[Probe], protocol: Protocol) -> list[Finding]:
    """Find palettes that give an index another colour in another file, so that indices may not be labels."""
    palettes = Palettes.of(protocol, protocol.signature_fields())
    for one in probes:
        known = one.failure.inputs if isinstance(one.failure, UncountedError) else one.inputs
        palettes.add(known.notes, known.files)
    found = palettes.disagreement()
    if not found:
        return []
    places = map(Place, found.files)
    message = Message("palettes", "{reason}", reason=found.what)
    return finding(message, palettes.hint(found), places, side=found.about, whole=found.surely)


def _coloured(probes: Sequence[Probe], truths: Sequence[Finding]) -> list[Finding]:
    """Find files that were turned to grey: masks of two colours, and others, which may be scores as colours."""
    photographs = {place.file for found in truths if found.kind == "photographs" for place in found.places}
    drawn = {truth.file: truth for probe in probes for truth in probe.truths}
    masks = [
        drawn[file] for probe in probes for file in probe.coloured if file in drawn and len(drawn[file].values) == 2
    ]
    two = {truth.file for truth in masks}
    two |= {probe.scores.file for probe in probes if probe.scores and len(probe.scores.values) == 2}
    two |= {probe.mask.file for probe in probes if probe.mask}  # an image of more values is not counted
    others = [file for probe in probes for file in probe.coloured if file not in photographs | two]
    predicted = [file for probe in probes for file in probe.coloured if file in two and file not in drawn]
    message = Message(
        "colour",
        "{count:many file} of those inspected {count:verb are} in colour, and turned to grey",
        count=len(others),
    )
    fix = "save one channel; a colour map applied to scores cannot be undone"
    findings = finding(message, fix, map(Place, others))
    message = Message(
        "colour",
        "{count:many predicted mask} of those inspected {count:verb are} of two colours, and turned to grey, in which "
        "the brighter is higher",
        count=len(predicted),
    )
    findings += finding(message, "save masks of 0 and 255 in one channel", map(Place, predicted))
    return findings + _coloured_truths(masks)


def _coloured_truths(masks: Sequence[TruthProbe]) -> list[Finding]:
    """Find ground truths of two colours, which say by their brightness alone what is positive."""
    if not masks:
        return []
    message = Message(
        "colour",
        "{count:many ground truth} of those inspected {count:verb are} of two colours, and turned to grey, in which "
        "the brighter is higher",
        count=len(masks),
    )
    bound = round(sum(masks[0].values) / 2, 4)
    fix = Message(
        "fix",
        "save masks of 0 and 255 in one channel; or, if the darker colour marks what is to be found, {positive}",
        positive=Setting("positive", f"<{written(bound)}"),
    )
    return finding(message, fix, (Place(truth.file) for truth in masks), side="ground truth")


def _spread(samples: Sequence[Item], count: int | None) -> list[Item]:
    """Take so many images, None for all, evenly spread."""
    taken = len(samples) if count is None else min(count, len(samples))
    return [samples[place * len(samples) // taken] for place in range(taken)]

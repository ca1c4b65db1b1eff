"""`check`: from two folders to a report, by names, headers and some images, or by counting all of them.

Rules (`segbench.checks.rules`) judge what is seen; this module looks, more closely where they find something.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike
from typing import TypeVar, cast

import numpy as np

from segbench.aggregator.benchmark import evaluate_pairing
from segbench.aggregator.volumes import for_its_dimensions
from segbench.checks.copies import copy_findings, duplicate_findings, same_file_findings
from segbench.checks.findings import Finding, Place, Report, finding, in_order, refused_set, uncounted_findings
from segbench.checks.names import problem_findings
from segbench.checks.rules import judge
from segbench.checks.seen import SAMPLE, Seen
from segbench.checks.survey import Read, Surveyed, survey_headers
from segbench.checks.truths import ONE_SIDED
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, joined
from segbench.core.names import MethodRun
from segbench.core.protocol import Protocol
from segbench.core.settings import as_whole
from segbench.inputs.files import find_files, for_instances
from segbench.inputs.mask_summaries import summarized
from segbench.inputs.nodata import count_decoded, decode_for, interpret_decoded
from segbench.inputs.stacks import with_its_classes
from segbench.inputs.summaries import ImageSummary, as_in_run
from segbench.loaders.arrays import StackError
from segbench.loaders.decoded import Header, Role
from segbench.loaders.file_list import Images
from segbench.loaders.images import read_header
from segbench.loaders.instance_sources import InstanceSource
from segbench.loaders.listing import SampleFiles, listed_once
from segbench.loaders.pairing import Pairing, find_inputs, method_of
from segbench.loaders.reading import Repairs, as_repairs, read
from segbench.loaders.sizes import fixable
from segbench.loaders.source import LocalFile, Source
from segbench.protocols.guesses import answering
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol

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
    sizes: str | PathLike[str] | None = None,
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
    ground_truth, prediction, protocol, pairs, field, gt_pattern, pred_pattern, field_pattern, negatives, sizes
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
            sizes=sizes,
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

    def read(path: Source, role: Role) -> Header:
        if isinstance(path, InstanceSource):
            return path.header()
        # Reading the header of a member of an archive costs as much as reading the member.
        return _UNREAD if quick and not isinstance(path, LocalFile) else read_once(path, role)

    protocol = for_instances(protocol, pairings.values())
    as_repairs(repairs, protocol.reads)
    if not protocol.reads.without_volumes:  # which is a finding
        protocol = for_its_dimensions(protocol, next(iter(pairings.values())), repairs)
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


_Image = TypeVar("_Image")
_UNREAD = Header()  # one for all, of very many
_MOST_ODD = 1000  # files of odd headers that are decoded, to say what is wrong with them
_THREADS = min(8, os.cpu_count() or 1)  # which decode and count images: both let others run
_WORTH_THREADS = 8
_MORE = 4  # times as many images, until all are inspected
_SAID_BY = {"low-levels": "levels-unscaled", "one-class": ONE_SIDED}
"""Errors of a run, and the findings that say the same with less certainty."""
_OF_THE_SET = frozenset({"identical", "never-predicted", "few-levels", "levels-unscaled", "jpeg-masks", "saturated"})
_OF_THE_SET |= {"inverted", "inverted-ground-truth", "thick-ground-truth", "masks", "range", "renumbered"}
_OF_THE_SET |= {"label-map", "exchanged", ONE_SIDED}
"""Findings that say something of all images, which a few may not show."""


@dataclass(frozen=True)
class _Set:
    """The images of a method, and what their headers show."""

    pairing: Pairing
    protocol: Protocol
    repairs: Repairs
    surveyed: Surveyed

    def report(self, method: MethodRun, sample: int | None, *, quick: bool) -> Report:
        """Judge names, headers and some images."""
        files = self.pairing.files
        summaries: Sequence[ImageSummary] = ()
        findings = problem_findings(self.pairing)
        unusable = bool(findings)
        if not unusable:
            seen, findings = self.look(sample)
            if quick and not _stops_set(findings) and _shows_something(findings, seen.summaries):
                # The few may be the only ones, above all where no header shows which are sound; and advice is on all.
                sample = SAMPLE
                seen, findings = self.look(sample)
            while sample and sample < len(files) and any(finding.kind == ONE_SIDED for finding in findings):
                sample *= _MORE  # any other image may show the side that is lacking
                seen, findings = self.look(sample)
            summaries = seen.summaries
            copies = same_file_findings(files) if quick else duplicate_findings(files, self.surveyed.lengths)
            if any(finding.kind == "is-ground-truth" for finding in copies):  # which is why they are masks
                findings = [finding for finding in findings if finding.kind != "masks-among-maps"]
            findings += copies
            if sample is not None:
                findings += self.refused(seen, findings)
            elif not _stops_set(findings):
                findings += self.refused_by_run(findings)
            told_by_run = {_SAID_BY.get(finding.message.values.get("error", "")) for finding in findings}
            findings = [finding for finding in findings if finding.kind not in told_by_run]
            findings = _in_words_of_run(findings, summaries)
        return Report(
            method=method.method,
            run=method.run,
            protocol=self.protocol.name,
            images=len(files),
            inspected=len(summaries),
            refused=_stops_set(findings) or _stops_all_inspected(findings, summaries),
            findings=in_order(findings),
            notes=() if unusable else (*self.pairing.notes, *self.pairing.notes_on_left_out),
        )

    def look(self, sample: int | None) -> tuple[Seen, list[Finding]]:
        """Return what names, headers and some images show, and how rules judge it."""
        summaries = self.summaries(sample)
        seen = Seen(self.pairing, self.protocol, self.repairs, self.surveyed, summaries, self.protocol.inputs)
        return seen, judge(seen)

    def refused(self, seen: Seen, findings: Sequence[Finding]) -> list[Finding]:
        """Find what a run refuses of the images inspected, or of the set if these are all, and no finding explains."""
        known = {image for finding in findings for image in finding.images}
        known_files = {place.file for finding in findings if finding.whole for place in finding.places}
        failures: dict[str, DataError] = {
            summary.image: summary.refused
            for summary in seen.summaries
            if summary.refused and summary.image not in known and summary.refused.path not in known_files
        }
        if failures or known or _stops_set(findings):
            return seen.of_part(uncounted_findings(failures, len(seen.summaries)))
        return seen.of_part(refused_set(seen.refusal)) if seen.refusal else []

    def refused_by_run(self, findings: Sequence[Finding]) -> list[Finding]:
        """Count every image, and find what that refuses, of the images or of the set, and no finding explains."""
        known = {image for finding in findings for image in finding.images}
        try:
            with ThreadPoolExecutor(_THREADS) as threads, warnings.catch_warnings(action="ignore"):
                result = evaluate_pairing(
                    self.pairing, self.protocol, method="", repairs=self.repairs, executor=threads
                )
        except DataError as error:
            return refused_set(error)
        failures: dict[str, DataError] = {}
        for files in self.pairing.files:
            if files.name in result.failed and files.name not in known:
                try:  # for the error itself, which advises on the values of a set; a result keeps that of one image
                    with np.errstate(invalid="ignore"):
                        sample = decode_for(result.rules, read(files), self.repairs)
                        as_in_run(partial(count_decoded, result.rules), sample)
                except DataError as error:
                    failures[files.name] = error
        if failures or known or not result.summary.empty:
            return uncounted_findings(failures, len(self.pairing.files))
        reasons = grouped((reason, key) for key, reason in result.summary.undefined.items())
        undefined = [
            Message("metrics", "{metrics} ({reason})", metrics=keys, reason=reason) for reason, keys in reasons.items()
        ]
        message = Message("undefined", "no metric is defined: {reasons}", reasons=joined(undefined))
        fix = "give images in which what is measured occurs"
        return finding(message, fix, [], side="ground truth", whole=True)

    def summaries(self, sample: int | None) -> list[ImageSummary]:
        """Inspect some images, None for all, as evenly spread as the headers allow."""
        protocol, repairs = self.protocol, self.repairs
        chosen = self.sound(sample)
        if not chosen:
            chosen, repairs = self.repairable(sample), replace(repairs, crop=False, resize="nearest")
        summarize = partial(_summary_of, protocol=protocol, repairs=repairs)
        if len(chosen) < _WORTH_THREADS:
            return list(map(summarize, chosen))
        with ThreadPoolExecutor(_THREADS) as threads:  # decoders let others run
            return list(threads.map(summarize, chosen))

    def sound(self, sample: int | None) -> list[SampleFiles]:
        """Choose a few of the images that look sound, evenly spread, and those that look damaged."""
        broken, odd = self.surveyed.broken, self.surveyed.odd
        unsound = {misfit.image for misfit in self.surveyed.misfits} | broken.keys() | odd.keys()
        unsound |= self.surveyed.off_grid.keys()
        sound: Sequence[SampleFiles] = self.pairing.files
        damaged: list[SampleFiles] = []
        if unsound:
            sound = [files for files in self.pairing.files if files.name not in unsound]
            damaged = [files for files in self.pairing.files if files.name in odd and files.name not in broken]
        return [*_evenly_spread(sound, sample), *damaged[: None if sample is None else _MOST_ODD]]

    def repairable(self, sample: int | None) -> list[SampleFiles]:
        """Choose a few images where all have a prediction of another size: their values may be wrong, too."""
        misfits = self.surveyed.misfits
        names = {misfit.image for misfit in misfits if fixable(misfit.shape, misfit.expected)}
        names -= {misfit.image for misfit in misfits if misfit.role != "prediction"}
        return _evenly_spread([files for files in self.pairing.files if files.name in names], sample)


def _summary_of(files: SampleFiles, protocol: Protocol, repairs: Repairs) -> ImageSummary:
    """Decode an image, and summarize it."""
    interpret = partial(interpret_decoded, protocol)
    try:
        with np.errstate(invalid="ignore"):  # as where images are counted
            sample = decode_for(protocol, read(files), repairs)
            return summarized(protocol.inputs, sample, files, interpret)
    except StackError as error:
        return ImageSummary(image=files.name, failure=with_its_classes(error, files))
    except DataError as error:
        return ImageSummary(image=files.name, failure=error)


def _in_words_of_run(findings: Sequence[Finding], summaries: Sequence[ImageSummary]) -> list[Finding]:
    """Say of a file that a single finding stops what a run says of it."""
    refusals = {summary.refused.path: summary.refused.what for summary in summaries if summary.refused}
    times = Counter(file for finding in findings if finding.images for file, _ in finding.places)

    def in_words_of_run(place: Place) -> Place:
        return place._replace(detail=refusals.get(place.file) or place.detail) if times[place.file] == 1 else place

    return [
        replace(finding, places=tuple(map(in_words_of_run, finding.places))) if finding.images else finding
        for finding in findings
    ]


def _shows_something(findings: Sequence[Finding], summaries: Sequence[ImageSummary]) -> bool:
    """Return whether inspecting images showed something in their pixels."""
    kinds = {summary.scores.is_mask for summary in summaries if summary.scores and not summary.scores.constant}
    of_set = any(finding.kind in _OF_THE_SET for finding in findings)
    return _stops_all_inspected(findings, summaries) or of_set or len(kinds) > 1


def _stops_set(findings: Sequence[Finding]) -> bool:
    """Return whether a finding stops the whole set."""
    return any(finding.whole for finding in findings)


def _stops_all_inspected(findings: Sequence[Finding], summaries: Sequence[ImageSummary]) -> bool:
    """Return whether not one of the images inspected can be counted."""
    lost = {image for finding in findings for image in finding.images}
    return bool(lost) and lost.issuperset(summary.image for summary in summaries)


def _evenly_spread(images: Sequence[_Image], count: int | None) -> list[_Image]:
    """Take so many images, None for all, evenly spread."""
    taken = len(images) if count is None else min(count, len(images))
    return [images[number * len(images) // taken] for number in range(taken)]

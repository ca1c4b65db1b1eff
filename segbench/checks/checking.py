"""`check`: two folders to a report, from names, headers and a few images."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from os import PathLike
from typing import TypeVar, cast

import numpy as np

from segbench.checks.classes import class_findings, class_map_findings, probe_classes
from segbench.checks.duplicates import duplicate_findings, same_file_findings
from segbench.checks.findings import Finding, Place, Report, as_warning, in_order
from segbench.checks.label_maps import (
    REPLACED,
    label_map_findings,
    predicted_label_findings,
    probe_counts,
    region_findings,
)
from segbench.checks.names import name_findings, problem_finding
from segbench.checks.probes import ClassStackError, Probe, UncountedError, probe
from segbench.checks.scores import score_findings
from segbench.checks.sizes import (
    Misfit,
    Read,
    Surveyed,
    orientation_findings,
    size_findings,
    survey_headers,
    type_findings,
    unreadable,
)
from segbench.checks.truths import exchange_findings, truth_findings
from segbench.core.arguments import as_whole
from segbench.core.capabilities import ByClass, Confusing, expected_in
from segbench.core.errors import DataError
from segbench.core.interface import carried
from segbench.core.numbers import many, verb
from segbench.core.protocol import Protocol
from segbench.loaders.decoded import Header, Role, Source, shown
from segbench.loaders.file_list import Images
from segbench.loaders.listing import listed_once
from segbench.loaders.pairing import Pairing, SampleFiles, find_inputs, method_of
from segbench.loaders.repairs import Repairs, SizeError, as_repairs, fixable
from segbench.loaders.source import LocalFile, read_header
from segbench.protocols.files import find_files
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol
from segbench.protocols.stacks import ClassMapsError

SAMPLE = 32
"""Images decoded by `check`: what one image in ten shows is then found with 97 %."""
QUICK_SAMPLE = 3
"""Images decoded before a run; where none of them can be counted, `SAMPLE`."""


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

    Names and headers of all files are read, and a few images, evenly spread, are decoded. Of files at
    URLs only those decoded are read.

    Parameters
    ----------
    ground_truth, prediction, pairs, field, gt_pattern, pred_pattern, field_pattern, negatives, images, allow_missing
        Where the files are and how their names pair, as in `evaluate`.
    method : str, optional
        Name of the method; by default that of the prediction folder. With a pairs file of several methods: which one.
    protocol : Protocol or str, optional
        What the folders are to be counted by, as in `evaluate`; ``Pixels()`` if left out.
    repairs : Repairs, optional
        What is to be done to predictions of another size or range.
    sample : int, optional
        How many images are decoded; None for all.

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
        (report,) = check_methods({method or method_of(inputs): pairing}, protocol, repairs, sample=sample)
    return report


def check_methods(
    pairings: Mapping[str, Pairing],
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
    return [
        _check(pairing, protocol, repairs, read, method=method, sample=sample, quick=quick)
        for method, pairing in pairings.items()
    ]


def _check(
    pairing: Pairing, protocol: Protocol, repairs: Repairs, read: Read, *, method: str, sample: int | None, quick: bool
) -> Report:
    problem = problem_finding(pairing)
    if problem:
        images = len(pairing.files)
        return Report(
            method=method, protocol=protocol.name, images=images, inspected=0, refused=True, findings=(problem,)
        )
    scaled = repairs.scale is not None
    surveyed = survey_headers(pairing.files, read, protocol.reads, repairs)

    def inspected(most: int | None) -> tuple[list[Probe], list[Finding]]:
        probes = probes_of(pairing.files, surveyed, protocol, repairs, most)
        return probes, _findings(protocol, pairing, surveyed, probes, scaled=scaled)

    probes, findings = inspected(sample)
    if quick and _none_left(findings, probes) and not any(finding.whole for finding in findings):
        # The few may be the only ones, above all where no header shows which are sound.
        probes, findings = inspected(SAMPLE)
    findings += same_file_findings(pairing.files) if quick else duplicate_findings(pairing.files, surveyed.lengths)
    return Report(
        method=method,
        protocol=protocol.name,
        images=len(pairing.files),
        inspected=len(probes),
        refused=any(finding.whole for finding in findings) or _none_left(findings, probes),
        findings=in_order(findings),
        notes=pairing.notes,
    )


def _findings(
    protocol: Protocol, pairing: Pairing, surveyed: Surveyed, probes: Sequence[Probe], *, scaled: bool
) -> list[Finding]:
    total, expected, by_class = len(pairing.files), expected_in(protocol), protocol.capability(ByClass)
    failures = {**surveyed.broken, **{probe.image: probe.failure for probe in probes if probe.failure}}
    known = {misfit.image for misfit in surveyed.misfits}
    misfits = [*surveyed.misfits, *(found for found in _misfits(pairing.files, failures) if found.image not in known)]
    seen = [probe for probe in probes if not probe.failure]
    inspected = len(seen) + len(failures)
    truths = truth_findings(seen, expected, total)
    of_classes = class_findings(seen, by_class)
    rule = "" if expected.rule is None else str(expected.rule)
    labels = predicted_label_findings(seen, rule, counted=bool(rule or by_class))
    if labels:
        truths, of_classes = [found for found in truths if found.key not in REPLACED], []
    named = SizeError | ClassMapsError | ClassStackError | UncountedError
    others = {image: error for image, error in failures.items() if not isinstance(error, named)}
    findings = [
        *name_findings(pairing, expected),
        *size_findings(misfits, total, soft=expected.scores is not None),
        *orientation_findings(surveyed.turned),
        *unreadable(others, total),
        *class_map_findings(failures, inspected),
        *label_map_findings(seen, failures, inspected, protocol.capability(Confusing)),
        *exchange_findings(seen, truths),
        *truths,
        *region_findings([probe.label_map for probe in seen if probe.label_map], expected.of_soft_maps),
        *labels,
        *([] if labels else _coloured(seen)),
        *of_classes,
    ]
    if expected.scores and not labels:
        findings += [] if scaled else type_findings(surveyed.predictions)
        field = not protocol.reads.without_field
        findings += score_findings(seen, expected.scores, expected.lines, field=field)
    return findings


def _none_left(findings: Sequence[Finding], probes: Sequence[Probe]) -> bool:
    """Return whether not one of the images inspected can be counted."""
    lost = {image for finding in findings for image in finding.images}
    return bool(lost) and lost.issuperset(probe.image for probe in probes)


Item = TypeVar("Item")
_UNREAD = Header()  # one for all, of very many


def _header_on_disk(read: Read, path: Source, role: Role) -> Header:
    """Leave members of archives unread: reading a header costs as much as reading the member."""
    return read(path, role) if isinstance(path, LocalFile) else _UNREAD


def _misfits(samples: Sequence[SampleFiles], failures: Mapping[str, DataError]) -> Iterator[Misfit]:
    """Give the sizes that differ where only decoding shows it."""
    if not failures:
        return
    predictions = {files.name: shown(files.prediction) for files in samples}
    for image, error in failures.items():
        if isinstance(error, SizeError):
            role: Role = "prediction" if error.path == predictions[image] else "ground truth"
            yield Misfit(image, error.path, role, error.shape, error.expected)


def _coloured(probes: Sequence[Probe]) -> list[Finding]:
    places = tuple(Place(file) for probe in probes for file in probe.coloured)
    if not places:
        return []
    is_or_are = verb(len(places), "are")
    what = f"{many(len(places), 'file')} of those inspected {is_or_are} in colour, and {is_or_are} turned to grey"
    fix = "save one channel; a colour map applied to scores cannot be undone"
    return [as_warning("colour", "prediction", what, fix, places)]


_MOST_ODD = 1000
"""Files of odd headers that are decoded, to say what is wrong with them."""
_WORTH_THREADS, _MOST_THREADS = 8, 8


def probes_of(
    samples: Sequence[SampleFiles], surveyed: Surveyed, protocol: Protocol, repairs: Repairs, sample: int | None
) -> list[Probe]:
    """Inspect some images, None for all, as evenly spread as the headers allow."""
    chosen = _chosen(samples, surveyed, sample)
    if not chosen:
        chosen = _repairable(samples, surveyed, sample)
        repairs = replace(repairs, crop=False, resize="nearest")
    inspect: Callable[[SampleFiles], Probe]
    if classes := protocol.capability(ByClass):
        inspect = partial(probe_classes, reads=protocol.reads, classes=classes)
    elif counted_by := protocol.capability(Confusing):
        inspect = partial(probe_counts, protocol=protocol, counted_by=counted_by, repairs=repairs)
    else:
        inspect = partial(probe, reads=protocol.reads, expected=expected_in(protocol), repairs=repairs)

    def inspected(files: SampleFiles) -> Probe:
        with np.errstate(invalid="ignore"):  # as where images are counted
            return inspect(files)

    if len(chosen) < _WORTH_THREADS:
        return list(map(inspected, chosen))
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:  # decoders let other threads run
        return list(threads.map(carried(inspected), chosen))


def _chosen(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose what is decoded: a few of the images that look sound, evenly spread, and those that look damaged."""
    unsound = {misfit.image for misfit in surveyed.misfits} | surveyed.broken.keys() | set(surveyed.odd)
    sound: Sequence[int] = range(len(samples))
    odd: list[SampleFiles] = []
    if unsound:
        sound = [k for k, files in enumerate(samples) if files.name not in unsound]
        odd = [files for files in samples if files.name in surveyed.odd and files.name not in surveyed.broken]
    if sample is not None:
        sound, odd = _spread(sound, sample), odd[:_MOST_ODD]
    return [*map(samples.__getitem__, sound), *odd]


def _repairable(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose a few images to inspect where all have a prediction of another size: their values may be wrong, too."""
    fit = {m.image for m in surveyed.misfits if m.role == "prediction" and fixable(m.shape, m.expected)}
    others = {m.image for m in surveyed.misfits if m.role != "prediction"}
    left = [files for files in samples if files.name in fit - others]
    return left if sample is None else _spread(left, sample)


def _spread(samples: Sequence[Item], count: int) -> list[Item]:
    count = min(count, len(samples))
    return [samples[place * len(samples) // count] for place in range(count)]

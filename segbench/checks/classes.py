"""Many classes: labels of no class, and what is wrong with the soft maps, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from segbench.checks.findings import Finding, Place, failing, finding, inspected
from segbench.checks.probes import (
    ClassStackError,
    Probe,
    ScoreProbe,
    coloured_files,
    few_distinct,
    score_probe,
)
from segbench.checks.scores import score_findings
from segbench.checks.truths import listed
from segbench.core.capabilities import ByClass
from segbench.core.errors import DataError
from segbench.core.expected import ExpectedScores
from segbench.core.interface import format_setting, setting
from segbench.core.names import first_names
from segbench.core.numbers import many, verb
from segbench.core.sample import Reading
from segbench.loaders.decoded import shown
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import decode_sample, read
from segbench.protocols.label_rules import VOIDS, equals_any
from segbench.protocols.predicted_labels import labels_seen
from segbench.protocols.stacks import ClassMapsError

RARE = 0.001
"""Share of an image below which a class says little: a small thing overlooked looks like scores that run backwards."""
_OVER_ALL = ("not-finite", "levels-unscaled", "few-levels", "range")
_OF_A_CLASS = ("inverted", "constant", "saturated")
_NO_SCALE = "soft maps of several classes cannot be rescaled"
_FIXES = {
    "levels-unscaled": f"save levels that use the full range of their type, or floats; {_NO_SCALE}",
    "range": f"save the maps of all classes on one scale; {_NO_SCALE}",
}
_TURN_SOME = "check which map belongs to which class, or invert only those maps"
_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class ClassesProbe(Probe):
    """What one image of many classes holds."""

    classes: tuple[ScoreProbe, ...]  # of each, in order
    truth_file: str
    foreign: tuple[float, ...]  # some labels in it that are neither a class nor void, rising


def probe_classes(files: SampleFiles, reads: Reading, classes: ByClass) -> Probe:
    """Inspect one image, class by class."""
    expected = classes.expected_of_one
    try:
        sample = decode_sample(read(files), reads)
        truth, maps = classes.maps(sample)
    except DataError as error:
        return Probe(image=files.name, failure=error)
    counted = ~equals_any(truth, expected.void)
    if sample.field is not None:
        counted &= sample.field
    known = tuple(map(float, classes.labels))
    names = list(map(shown, (files.prediction, *files.scales)))
    if len(names) < len(maps):
        names = [f"{names[0]} (class {name})" for name in classes.class_names]
    scores = expected.scores or ExpectedScores()
    single = len(sample.predictions) == 1 and sample.predictions[0].ndim == truth.ndim
    return ClassesProbe(
        image=sample.name,
        may_hold_labels=single,
        labels=labels_seen(sample, expected.void) if single else None,
        prediction=sample.prediction_file,
        coloured=coloured_files(sample, files),
        classes=tuple(
            score_probe((sample.name, name), soft, equals_any(truth, (label,)), counted, scores)
            for name, soft, label in zip(names, maps, known, strict=True)
        ),
        truth_file=shown(files.ground_truths[0]),
        foreign=few_distinct(truth[counted & ~equals_any(truth, known)]),
    )


def class_map_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """List predictions that are not one soft map per class, and those that are where one map is read."""
    maps, stacks = (
        {image: error for image, error in failures.items() if isinstance(error, kind)}
        for kind in (ClassMapsError, ClassStackError)
    )
    no_maps = f"{inspected(maps, total, 'are')} not one soft map per class"
    several = f"{inspected(stacks, total, 'have')} one map per class"
    return [*failing("class-maps", no_maps, maps), *failing("class-stacks", several, stacks)]


def class_findings(probes: Sequence[Probe], classes: ByClass | None) -> list[Finding]:
    """Judge the labels and the maps of the images inspected, one finding for all classes that show it."""
    if not probes or classes is None:
        return []
    seen = cast("Sequence[ClassesProbe]", probes)
    expected = classes.expected_of_one.scores or ExpectedScores()
    every = score_findings([one for probe in seen for one in probe.classes], expected)
    over_all = [replace(each, fix=_FIXES.get(each.key, each.fix)) for each in every if each.key in _OVER_ALL]
    maps = zip(*(probe.classes for probe in seen), strict=True)
    drawn = {title: [one for one in of if one.share >= RARE] for title, of in zip(classes.titles, maps, strict=True)}
    found = [*_foreign(seen), *over_all, *_of_classes(drawn, expected)]
    coarse = {each.key for each in over_all} & {"levels-unscaled", "few-levels"}
    return [each for each in found if not (coarse and each.key == "saturated")]


def _of_classes(drawn: Mapping[str, Sequence[ScoreProbe]], expected: ExpectedScores) -> Iterator[Finding]:
    """Judge the maps of each class; findings of the same kind are one, which names the classes."""
    judged = {title: score_findings(of, expected) for title, of in drawn.items()}
    for key in _OF_A_CLASS:
        titles = [title for title, found in judged.items() if any(_whole(one, drawn[title], key) for one in found)]
        together = score_findings([one for title in titles for one in drawn[title]], expected)
        if found := next((one for one in together if one.key == key), None):
            of_all = f"all {len(titles)} classes" if len(titles) == len(drawn) > 1 else first_names(titles, _NAMED)
            turn_some = key == "inverted" and len(titles) < sum(map(bool, drawn.values()))
            yield replace(found, message=f"{of_all}: {found.message}", fix=_TURN_SOME if turn_some else found.fix)


def _whole(found: Finding, of: Sequence[ScoreProbe], key: str) -> bool:
    """Return whether a class shows a finding: in all images, if maps are constant, as a rare class may be missed."""
    return found.key == key and (key != "constant" or len(found.places) == len(of))


def _foreign(seen: Sequence[ClassesProbe]) -> Iterator[Finding]:
    """Find labels that are neither a class nor void, those apart that often mean void."""
    for key, usual in (("void", True), ("no-class", False)):
        labels = {probe.truth_file: [one for one in probe.foreign if (one in VOIDS) == usual] for probe in seen}
        places = [Place(file, listed(some)) for file, some in labels.items() if some]
        together = sorted({label for some in labels.values() for label in some})
        what = f"{listed(together)} {verb(len(together), 'are')} neither a class nor void, and counts as negative in "
        what += f"every class, in {many(len(places), 'ground truth')} of {len(seen)} inspected"
        fix = f"{format_setting('void', together[:_NAMED])}, or name it in {setting('--classes', 'labels=...')}"
        yield from finding(key, what, fix, places, about="ground truth")

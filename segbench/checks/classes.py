"""Many classes: labels of no class, and what is wrong with the soft maps, class by class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from statistics import median
from typing import TypeAlias, cast

from segbench.checks.findings import Finding, Place, as_warning, failing
from segbench.checks.probes import (
    ClassStackError,
    Probe,
    ScoreProbe,
    TruthProbe,
    coloured_files,
    few_distinct,
    score_probe,
)
from segbench.checks.scores import INVERTED_BELOW, WRITTEN_WHOLE, score_findings
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
_NO_SCALE = "soft maps of several classes cannot be rescaled"
_FIXES = {
    "levels-unscaled": f"save levels that use the full range of their type, or floats; {_NO_SCALE}",
    "range": f"save the maps of all classes on one scale; {_NO_SCALE}",
}
_NAMED_ONE_BY_ONE = 8

_ByClass: TypeAlias = dict[str, tuple[Probe, ...]]


@dataclass(frozen=True, kw_only=True)
class ClassesProbe(Probe):
    """What one image of many classes holds."""

    classes: tuple[Probe, ...]  # each class as an image of its own, in order
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
    probes = []
    for name, soft, label in zip(names, maps, known, strict=True):
        positive = equals_any(truth, (label,))
        share = float(positive[counted].mean()) if counted.any() else 0.0
        drawn = TruthProbe(file=name, values=(), positive_share=share, thick=0.0, blocks_outside=0.0, nan=0)
        scores = score_probe(name, soft, positive, counted, expected.scores or ExpectedScores())
        probes.append(Probe(image=sample.name, truths=(drawn,), scores=scores))
    single = len(sample.predictions) == 1 and sample.predictions[0].ndim == truth.ndim
    return ClassesProbe(
        image=sample.name,
        may_hold_labels=single,
        labels=labels_seen(sample, expected.void) if single else None,
        prediction=sample.prediction_file,
        coloured=coloured_files(sample, files),
        classes=tuple(probes),
        truth_file=shown(files.ground_truths[0]),
        foreign=few_distinct(truth[counted & ~equals_any(truth, known)]),
    )


def class_map_findings(failures: Mapping[str, DataError], inspected: int) -> Iterator[Finding]:
    """List predictions that are not one soft map per class, and those that are where one map is read."""
    for key, kind, plural, what in (
        ("class-maps", ClassMapsError, "are", "not one soft map per class"),
        ("class-stacks", ClassStackError, "have", "one map per class"),
    ):
        some = {image: error for image, error in failures.items() if isinstance(error, kind)}
        if some:
            found = f"{many(len(some), 'prediction')} of {inspected} inspected {verb(len(some), plural)} {what}"
            yield failing(key, "prediction", found, some)


def class_findings(probes: Sequence[Probe], classes: ByClass | None) -> list[Finding]:
    """Judge the labels and the maps of the images inspected, one finding for all classes that show it."""
    if not probes or classes is None:
        return []
    seen = cast("Sequence[ClassesProbe]", probes)
    expected = classes.expected_of_one.scores or ExpectedScores()
    every = [one for probe in seen for one in probe.classes]
    over_all = [
        replace(found, fix=_FIXES.get(found.key, found.fix), images=tuple(dict.fromkeys(found.images)))
        for found in score_findings(every, expected)
        if found.key in _OVER_ALL
    ]
    by_class = dict(zip(classes.titles, zip(*(probe.classes for probe in seen), strict=True), strict=True))
    found = [*_foreign(seen), *over_all, *_inverted(by_class, expected), *_constant(by_class)]
    keys = {finding.key for finding in found}
    return found if keys & {"levels-unscaled", "few-levels", "inverted"} else [*found, *_saturated(by_class, expected)]


def _foreign(seen: Sequence[ClassesProbe]) -> Iterator[Finding]:
    is_void: Callable[[float], bool] = VOIDS.__contains__
    for key, belongs in (("void", is_void), ("no-class", lambda label: not is_void(label))):
        labels = {probe.truth_file: tuple(filter(belongs, probe.foreign)) for probe in seen}
        places = tuple(Place(file, listed(some)) for file, some in labels.items() if some)
        if not places:
            continue
        together = sorted({label for some in labels.values() for label in some})
        what = "are neither a class nor void" if len(together) > 1 else "is neither a class nor void"
        message = f"{listed(together)} {what}, and counts as negative in every class, "
        message += f"in {many(len(places), 'ground truth')} of {len(seen)} inspected"
        fix = (
            f"{format_setting('void', together[:_NAMED_ONE_BY_ONE])}"
            f", or name it in {setting('--classes', 'labels=...')}"
        )
        yield as_warning(key, "ground truth", message, fix, places)


def _inverted(by_class: _ByClass, expected: ExpectedScores) -> list[Finding]:
    ranked = {title: [score for score in _drawn(of) if not isnan(score.auc)] for title, of in by_class.items()}
    middles = {title: median(score.auc for score in scores) for title, scores in ranked.items() if scores}
    wrong = [title for title, middle in middles.items() if middle < INVERTED_BELOW]
    if not wrong:
        return []
    turn = f"{'leave out ' * expected.invert}{format_setting('invert', True)}"
    lowest, highest = min(middles[title] for title in wrong), max(middles[title] for title in wrong)
    order = "check which map belongs to which class, or invert only those maps"
    span = f"{lowest:.2f}" if len(wrong) == 1 else f"{lowest:.2f} to {highest:.2f}"
    return [
        as_warning(
            "inverted",
            "prediction",
            f"scores of {_named(wrong, by_class)} are higher on negatives than on positives "
            f"(AUC-ROC {span}, median over images)",
            turn if len(wrong) == len(middles) else order,
            (Place(one.file, f"AUC-ROC {one.auc:.2f}") for title in wrong for one in ranked[title] if one.auc < 0.5),
        )
    ]


def _constant(by_class: _ByClass) -> list[Finding]:
    drawn = {title: _drawn(of) for title, of in by_class.items()}
    flat = [title for title, scores in drawn.items() if scores and all(score.constant for score in scores)]
    if not flat:
        return []
    places = (Place(score.file, f"all {score.highest:g}") for title in flat for score in drawn[title])
    what = f"maps of {_named(flat, by_class)} are constant in all inspected images that contain the class"
    return [as_warning("constant", "prediction", what, WRITTEN_WHOLE, dict.fromkeys(places))]


def _saturated(by_class: _ByClass, expected: ExpectedScores) -> list[Finding]:
    judged = {title: score_findings(of, expected) for title, of in by_class.items()}
    found = {title: one for title, every in judged.items() for one in every if one.key == "saturated"}
    if not found:
        return []
    what = f"many pixels have the highest possible score in maps of {_named(list(found), by_class)}, and a quarter or "
    places = (place for one in found.values() for place in one.places)
    fix = next(iter(found.values())).fix
    what += "more of these are negative: no threshold separates them"
    return [as_warning("saturated", "prediction", what, fix, dict.fromkeys(places))]


def _drawn(probes: Iterable[Probe]) -> list[ScoreProbe]:
    """Give the scores of the images that show a class."""
    return [probe.scores for probe in probes if probe.scores and probe.truths[0].positive_share >= RARE]


def _named(titles: Sequence[str], by_class: _ByClass) -> str:
    if len(titles) == len(by_class) > 1:
        return f"all {len(titles)} classes"
    return first_names(titles, _NAMED_ONE_BY_ONE)

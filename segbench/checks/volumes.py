"""Volumes: pairs that are not on one grid, by the headers of all files; labels that were interpolated; empty cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from segbench.checks.findings import About, Finding, Place, failing, finding
from segbench.checks.seen import Seen, rule
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Message
from segbench.inputs.label_summaries import LabelsSummary
from segbench.inputs.summaries import ImageSummary
from segbench.loaders.volume_pairs import GridError

_SHAPES = ("other-shape", "other-dimensions")
_INTERPOLATED = "interpolated-labels"


@rule("volumes", "volume-shape", "permuted-axes", "geometry", "spacing", of_all=True)
def grids(seen: Seen) -> list[Finding]:
    """Group pairs that are not on one grid by what differs."""
    errors = {image: error for image, error in seen.failures.items() if isinstance(error, GridError)}
    errors = {**seen.surveyed.off_grid, **errors}
    groups = grouped((_kind_of(error), image) for image, error in errors.items())
    findings: list[Finding] = []
    for kind, images in groups.items():
        message = _message(kind, len(images), seen.total)
        side: About = "prediction" if kind in ("volume-shape", "permuted-axes", "geometry") else "ground truth"
        findings += failing(message, {image: errors[image] for image in images}, side=side)
    return findings


def _kind_of(error: DataError) -> str:
    """Return the kind of the finding of an error."""
    if error.kind in _SHAPES:
        return "volume-shape"
    return {"volume": "volumes", "other-geometry": "geometry", "permuted-axes": "permuted-axes"}.get(
        error.kind, "spacing"
    )


def _message(kind: str, count: int, total: int) -> Message:
    """Say what is wrong with so many pairs of all."""
    values = {"count": count, "total": total}
    if kind == "volumes":
        return Message(
            "volumes", "{count:many image} of {total} {count:verb are} volumes, which are not counted", **values
        )
    if kind == "volume-shape":
        return Message(
            "volume-shape",
            "{count:many prediction} of {total} {count:verb have} another shape than the ground truth",
            **values,
        )
    if kind == "permuted-axes":
        return Message("permuted-axes", "{count:many prediction} of {total} {count:verb have} permuted axes", **values)
    if kind == "geometry":
        return Message(
            "geometry",
            "{count:many prediction} of {total} {count:verb lie} elsewhere than the ground truth by their headers",
            **values,
        )
    return Message(
        "spacing", "{count:many image} of {total} {count:verb have} no spacing that can be relied on", **values
    )


@rule("interpolated-labels", needs=["summaries"])
def interpolated(seen: Seen) -> list[Finding]:
    """List volumes of floats with numbers between labels."""
    errors = {summary.image: error for summary in seen.summaries if (error := _interpolation(summary))}
    message = Message(
        "interpolated-labels",
        "labels of {count:many image} of {total} looked at are not whole: they were resampled with interpolation",
        count=len(errors),
        total=len(seen.summaries),
    )
    return failing(message, errors)


def _interpolation(summary: ImageSummary) -> DataError | None:
    """Return the error of numbers between labels; None if an image has another error, or none."""
    error = summary.failure or summary.refused
    return error if error is not None and error.kind == _INTERPOLATED else None


@dataclass(frozen=True)
class _Empty:
    """A case of which a side holds nothing but background."""

    image: str
    truth_file: str
    true: bool  # whether the ground truth is empty
    predicted: bool


@rule("empty-cases", needs=["counted"])
def empty_cases(seen: Seen) -> list[Finding]:
    """Find volumes of which a side holds no class but the background, where metrics of a case are undefined or 0."""
    empty = [case for summary in seen.counted if summary.inputs.volume for case in _empty(summary)]
    message = Message(
        "empty-cases",
        "{count:many case} of {total} looked at {count:verb have} a side without any label but the background",
        count=len(empty),
        total=len(seen.counted),
    )
    fix = "check that these files are meant; a case that is empty on one side alone has a Dice of 0"
    return finding(message, fix, (Place(case.truth_file, _sides(case)) for case in empty))


def _empty(summary: LabelsSummary) -> Sequence[_Empty]:
    """Return the case if a side of it is empty."""
    labels = summary.named_classes[0]
    if 0 not in labels or not summary.pixels:
        return []
    others = [place for place, label in enumerate(labels) if label != 0]
    true = not summary.matrix[others].any()
    predicted = not summary.matrix[:, others].any()
    return [_Empty(summary.image, summary.truth_file, true, predicted)] if true or predicted else []


def _sides(case: _Empty) -> Message:
    """Say which sides of a case are empty."""
    if case.true and case.predicted:
        return Message("empty", "both sides are empty")
    return Message("empty", "the {side} is empty", side="ground truth" if case.true else "prediction")

"""Counts laid out as a table, by the protocol that measures such counts; rows are summed by unit where units are given.

Methods whose images or ground truth differ are refused here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, joined
from segbench.core.names import first_names
from segbench.core.protocol import Protocol
from segbench.core.table import Table, Tabled
from segbench.core.units import SummedRows, UnitTable
from segbench.loaders.belonging import UNIT, Assignment, By, assignment
from segbench.protocols.registry import measuring, protocols
from segbench.statistics.means import RunMeans
from segbench.statistics.runs import named_runs

_METHOD = "the method"
_LISTED = 5
Counted = Mapping[str, Any] | Table | Tabled
"""Counts by the name of the image, or what has a table of them."""


def table_of(counts: Counted | Sequence[Mapping[str, Any]], protocol: Protocol | None = None, unit: By = None) -> Table:
    """Lay out counts of any protocol, of one run or a list of several, with rows summed by unit if units are given."""
    if isinstance(counts, (list, tuple)):
        return table_of_counts(_METHOD, as_runs(_METHOD, counts), protocol, unit)
    table = getattr(counts, "measured", counts)
    if isinstance(table, Table):
        if protocol is not None or unit is not None:
            raise ArgumentError(
                Message(
                    "for-counts-only",
                    "protocol and unit are for counts, and found {type}, which has its own; units of a result: "
                    "result.with_settings(unit=...)",
                    type=type(counts).__name__,
                )
            )
        if not table.images:
            raise ArgumentError(
                Message(
                    "no-images",
                    "found {type} without images, expected at least one image",
                    type=type(counts).__name__,
                )
            )
        return table
    if not isinstance(counts, Mapping):
        raise ArgumentError(
            Message(
                "not-results",
                "found {given}, expected one result, or counts by the name of the image",
                given=type(counts).__name__,
            )
        )
    return table_of_counts(_METHOD, {"1": counts}, protocol, unit)


def table_of_counts(
    method: str, runs: Mapping[str, Mapping[str, Any]], protocol: Protocol | None = None, unit: By = None
) -> Table:
    """Lay out the counts of each image of the runs of a method: the mean over trainings, or all folds as one.

    If units are given, rows are summed by unit, and no unit may have images in several folds.
    """
    measuring = protocol or protocol_measuring(*runs.values())
    units = None if unit is None else assignment(UNIT, unit, {image for images in runs.values() for image in images})
    tables = []
    for counts in named_runs(method, runs).values():
        table = measuring.table(counts)
        tables.append(table if units is None else by_unit(table, counts, units, measuring.table))
    if len(tables) > 1:
        return RunMeans(dict(zip(runs, tables, strict=True)))
    if len(runs) == 1:
        return tables[0]
    fold_of = {image: fold for fold, images in runs.items() for image in images}
    if units is not None:
        units.refuse_divided(fold_of, "fold")
    return tables[0].in_folds([fold_of[image] for image in tables[0].image_of_rows])


def by_unit(
    table: Table, counts: Mapping[str, Counts], units: Assignment, measure: Callable[[Mapping[str, Any]], Table]
) -> UnitTable:
    """Return a table of the counts of images summed by unit; `measure` makes a table of counts by name."""
    unit_of_rows = [units.of_images[image] for image in table.image_of_rows]
    return UnitTable(SummedRows(table, unit_of_rows, units.noun), lambda: measure(summed_counts(counts, units)))


def summed_counts(counts: Mapping[str, Counts], units: Assignment) -> dict[str, Counts]:
    """Return the counts of each unit added up."""
    images = grouped((units.of_images[image], image) for image in counts)
    kind = type(next(iter(counts.values())))
    return {unit: kind.sum(counts[image] for image in names) for unit, names in images.items()}


def as_runs(method: str, counts: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    """Number the runs of a method, each the counts by the name of the image, or what holds them."""
    runs = {str(number): getattr(run, "counts", run) for number, run in enumerate(counts, 1)}
    wrong_types = [type(run).__name__ for run in runs.values() if not isinstance(run, Mapping)]
    if wrong_types or not runs:
        received = f"a list of {wrong_types[0]}" if wrong_types else "an empty list"
        raise ArgumentError(
            Message(
                "not-results",
                "{method}: found {given}, expected a list of runs, each counts by the name of the image",
                method=method,
                given=received,
            )
        )
    return runs


def protocol_measuring(*sets: Mapping[str, Any]) -> Protocol:
    """Return the protocol that measures counts of this type, which all images must have."""
    kinds = {type(counts): counts for per_image in sets for counts in per_image.values()}
    if len(kinds) == 1:
        return measuring(next(iter(kinds.values())))
    received = ", ".join(sorted(kind.__name__ for kind in kinds)) or "no images"
    expected = " or all ".join(kind.counts.__name__ for kind in protocols().values())
    raise ArgumentError(
        Message(
            "other-counts",
            "found {given}; expected at least one image, all {expected}",
            given=received,
            expected=expected,
        )
    )


def refuse_different(methods: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that all methods have the same images, counted against the same ground truth."""
    (first, reference), *others = methods.items()
    problems: list[Message] = []
    remedies: dict[Message | str, None] = {}
    on_common = Message(
        "common-images",
        "predict the missing images, or compare on those that all methods have: {option}",
        option=Either("common=True", "segbench compare --common"),
    )
    for name, per_image in others:
        for present, absent, images in (
            (first, name, sorted(set(reference) - set(per_image))),
            (name, first, sorted(set(per_image) - set(reference))),
        ):
            if images:
                lacking = Message(
                    "lacking-images",
                    "{present} has {names}, {absent} has not",
                    present=present,
                    names=first_names(images, _LISTED),
                    absent=absent,
                    images=len(images),
                )
                problems.append(lacking)
                remedies[on_common] = None
        for image in sorted(set(reference) & set(per_image)):
            totals = [images[image].ground_truth for images in (reference, per_image)]
            if totals[0] != totals[1]:
                differing = Message(
                    "other-ground-truth",
                    "{image} has {total} in {method}, {other_total} in {other_method}",
                    image=image,
                    total=str(totals[0]),
                    method=first,
                    other_total=str(totals[1]),
                    other_method=name,
                )
                problems.append(differing)
                remedies["count all methods against the same ground truth"] = None
                break
    if problems:
        more = len(problems) - _LISTED
        problem = Message(
            "other-images",
            "methods are compared on the same images and ground truth, but {problems:; }{others}",
            problems=problems[:_LISTED],
            others=f" and {more} more" if more > 0 else "",
            methods=list(methods),
        )
        raise DataError(first_names(list(methods), _LISTED), problem, joined(remedies, between=", and "))

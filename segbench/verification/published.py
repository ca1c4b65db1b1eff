"""Published detectors: ODS and area follow from their rows of recall and precision, and must be those printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from segbench.aggregator.importing import import_bsds
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.loaders.bsds_text import BEST, COUNTS, ROWS, Evaluation, find_evaluations, read_rows
from segbench.loaders.decoded import shown
from segbench.protocols.boundaries.published import PublishedCurve
from segbench.verification.checks import Check, Part, Progress, not_checked, timed
from segbench.verification.figures import figure_name
from segbench.verification.official import BOUNDARIES

TITLE = "Published boundary curves"
_ALLOWED = 1e-6  # what six printed digits leave open
_FROM_ROWS = ("ods_recall", "ods_precision", "ods_f", "area_pr")

Method = tuple[Evaluation, Result]


def published_part(folder: Path) -> Part:
    """Find the methods in a folder, and read them."""
    evaluations = find_evaluations(folder)
    if not any(one.best and (one.rows or one.counts) for one in evaluations):
        raise DataError(
            shown(folder),
            "holds no method of which rows and printed figures are known",
            f"expected METHOD{ROWS} (or *{COUNTS}) beside METHOD{BEST}",
        )
    # Results of regions, where there are any, come after all of these.
    methods = list(zip(evaluations, import_bsds(folder), strict=False))
    return Part(TITLE, partial(_derive, methods))


def _derive(methods: Sequence[Method], _executor: Executor | None, progress: Progress) -> Sequence[Check]:
    checks = []
    for done, method in enumerate(methods, start=1):
        checks += timed(partial(_compare, *method))
        progress(done, len(methods))
    return checks


def _compare(evaluation: Evaluation, result: Result) -> Iterator[Check]:
    if evaluation.best is None or not (evaluation.rows or evaluation.counts):
        kind = f"*{BEST}" if evaluation.best is None else f"*{ROWS}"
        missing = f"there is no {kind} of {evaluation.name}"
        yield not_checked(part=TITLE, group=evaluation.name, what="its figures", source=kind, missing=missing)
        return
    printed = dict(zip(BOUNDARIES[1:], read_rows(evaluation.best, (7, 8))[0][-7:].tolist(), strict=True))
    for key in _derivable(result):
        if not math.isnan(printed[key]):
            yield Check(
                part=TITLE,
                group=evaluation.name,
                what=figure_name(key),
                expected=printed[key],
                got=result.summary[key],
                allowed=_ALLOWED,
                source=shown(evaluation.best.name),
            )


def _derivable(result: Result) -> Sequence[str]:
    """Name the figures that follow from what lies there, so that none is compared with itself."""
    if not isinstance(result.published, PublishedCurve):
        return BOUNDARIES[1:]
    one_row = result.published.curve.thresholds.size == 1
    return _FROM_ROWS[:-1] if one_row else _FROM_ROWS

"""Published detectors: ODS and area follow from their rows of recall and precision, and must be those printed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from segbench.aggregator.importing import import_bsds
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.bsds_text import BEST, BEST_KEYS, COUNTS, ROWS, Evaluation, find_evaluations, read_rows
from segbench.loaders.source import shown
from segbench.verification.checks import Check, VerifiedPart, compare, small_group

_ALLOWED = 1e-6  # what six printed digits leave open
_FROM_ROWS = ("ods_recall", "ods_precision", "ods_f", "area_pr")


def published_part(folder: Path) -> VerifiedPart:
    """Find the methods in a folder, and read them."""
    evaluations = find_evaluations(folder)
    if not any(evaluation.best for evaluation in evaluations):
        problem = Message("no-known-values", "contains no method with both rows and printed metrics")
        raise DataError(shown(folder), problem, f"expected METHOD{ROWS} (or *{COUNTS}) beside METHOD{BEST}")
    methods = zip(evaluations, import_bsds(folder), strict=True)
    groups = [small_group(evaluation.name, partial(_compare, evaluation, result)) for evaluation, result in methods]
    return VerifiedPart("Published boundary curves", groups)


def _compare(evaluation: Evaluation, result: Result) -> Iterator[Check]:
    if evaluation.best is None:
        yield Check(what="its metrics", source=f"*{BEST}", missing=f"there is no *{BEST} of {evaluation.name}")
        return
    printed = dict(zip(BEST_KEYS, read_rows(evaluation.best, (7, 8))[0][-7:].tolist(), strict=True))
    # Only what follows from the rows that lie there: nothing is compared with itself.
    derived = BEST_KEYS if result.counts else _FROM_ROWS[: 3 if result.curve.thresholds.size == 1 else 4]
    wanted = {key: printed[key] for key in derived if not math.isnan(printed[key])}
    yield from compare(wanted, result.summary, _ALLOWED, shown(evaluation.best.name))

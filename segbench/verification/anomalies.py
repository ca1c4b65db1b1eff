"""AUPRO and AUPIMO of drawings whose values follow by hand, among them those of anomalib's tests."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from segbench.protocols.anomalies.counting import count_anomalies
from segbench.protocols.anomalies.curves import measured_pimo, measured_pro
from segbench.verification.checks import Check, Group, Part, Progress

_ALLOWED, _TESTS = 1e-12, "anomalib's tests"


def anomaly_part() -> Part:
    """Give the drawings."""
    ramp = np.arange(2800).reshape(400, 7) / 2800
    drawings = {
        "one of two components found": _Drawing([[1, 0, 1, 0]], [[0.9, 0.5, 0.1, 0.5]], 0.3, 0.5),
        "all scores equal": _Drawing([[1, 0, 0]], [[1.0, 1.0, 1.0]], 0.3, 0.15),
        "a column": _Drawing([[0, 0, 0, 1, 0, 0, 0]] * 400, ramp, 1 / 3, 1 / 6, 2e-6, _TESTS),
        "three columns": _Drawing([[0, 1, 0, 1, 0, 1, 0]] * 400, ramp, 1 / 3, 1 / 6, 2e-6, _TESTS),
    }
    groups = [Group(name, partial(_aupro, drawing)) for name, drawing in drawings.items()]
    return Part("AUPRO and AUPIMO of drawings", [*groups, Group("a million pixels", _aupimo)])


class _Drawing(NamedTuple):
    """Labels and scores of one image, the limit of AUPRO, and what it is."""

    labels: list[list[int]]
    scores: Any
    limit: float
    expected: float
    allowed: float = _ALLOWED
    source: str = "by hand"


def _aupro(drawing: _Drawing, _executor: Executor | None, _progress: Progress) -> Iterator[Check]:
    counts = count_anomalies(np.array(drawing.labels), np.array(drawing.scores))
    (got,) = measured_pro({"": counts}, limits=(drawing.limit,)).areas
    yield Check(
        what=f"aupro up to {drawing.limit:.3g}",
        expected=drawing.expected,
        got=got,
        allowed=drawing.allowed,
        source=drawing.source,
    )


def _aupimo(_executor: Executor | None, _progress: Progress) -> Iterator[Check]:
    scores = np.ones(10**6, np.float32)
    for pixels in (10**5, 10**4, 10**3, 100, 10, 1):
        scores[:pixels] += 1
    masks = {"normal": scores < 0, "whole": scores > 0, "tenth": np.arange(scores.size) < 10**5}
    square = 1000, 1000
    counts = {name: count_anomalies(mask.reshape(square), scores.reshape(square)) for name, mask in masks.items()}
    pimo = measured_pimo(counts)
    for name, expected in {"whole": 5.5e-5, "tenth": 5.5e-4}.items():
        got, what = pimo.area(counts[name]), f"aupimo, {name} image anomalous"
        yield Check(what=what, expected=expected, got=got, allowed=_ALLOWED, source=_TESTS)

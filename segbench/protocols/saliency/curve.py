"""The curves of the saliency protocol, means over images; conventions as in `segbench.protocols.saliency`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.counts import Pooled, as_pooled
from segbench.core.numbers import Brief, number
from segbench.core.series import Series, Space
from segbench.protocols.saliency.counts import LEVELS, UNITS, SaliencyCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class SaliencyCurve(Brief, Series):
    """Precision, recall, F and E at rising thresholds, each the mean over images.

    Parameters
    ----------
    thresholds, precision, recall, f, e : array of float64, shape (256,)
        Thresholds are 0, 1/255, .. 1. F is not that of the mean precision and recall.
    beta2 : float
        The weight of precision in F.
    """

    measure: ClassVar[str] = "f"
    best: ClassVar[Mapping[str, str]] = MappingProxyType({"f": "f_max", "e": "e_max"})

    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray
    f: FloatArray
    e: FloatArray
    beta2: float = 0.3

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Thresholds and every mean."""
        return {
            "threshold": self.thresholds,
            "precision": self.precision,
            "recall": self.recall,
            "f": self.f,
            "e": self.e,
        }

    @property
    def caption(self) -> str:
        """The maximum of mean F."""
        return f"max F {number(float(self.f.max()))}"

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Precision-recall, of means over images."""
        return ("pr",)

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """F and E."""
        return {"F": self.f, "E": self.e}

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw mean precision against mean recall; as `Curve.plot`."""
        from segbench.drawing.series import plot_series

        return plot_series(self, ax=ax, label=label)


def saliency_curve(counts: SaliencyCounts | Pooled) -> SaliencyCurve:
    """Give mean precision, recall, F and E at each threshold, of one image, of many pooled, or of a result.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count_saliency
    >>> curve = saliency_curve(count_saliency(np.eye(2), np.eye(2)))
    >>> curve.f[[0, 1, 255]].round(4).tolist()
    [0.5652, 1.0, 1.0]
    """
    pooled = as_pooled(counts, SaliencyCounts)
    units = pooled.images * UNITS
    means = (pooled.precision / units, pooled.recall / units, pooled.f / units, pooled.e / units)
    return SaliencyCurve(np.arange(LEVELS) / (LEVELS - 1), *means, beta2=pooled.beta2)

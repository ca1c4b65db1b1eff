"""Thresholds that remember where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, as_floats, frozen
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import Brief


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(Brief):
    """Thresholds chosen on one set of images, to be applied to another; usable wherever an array is.

    Parameters
    ----------
    values : array of float64, shape (K,)
        In any order, repeats allowed; kept falling, each once.
    source : str
        Where they come from; counts taken at them keep it.

    Raises
    ------
    ArgumentError
        If a threshold is NaN.

    Examples
    --------
    >>> Thresholds([0.2, 0.7], "hull of the tuning set").values
    array([0.7, 0.2])
    """

    values: FloatArray
    source: str

    def __post_init__(self) -> None:
        values: FloatArray = np.unique(as_floats(self.values, "thresholds"))[::-1]
        if np.isnan(values).any():
            raise ArgumentError(Message("not-a-number", "{argument} hold NaN; expected numbers", argument="thresholds"))
        object.__setattr__(self, "values", frozen(values))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of measuring that stand for them."""
        return {"thresholds": tuple(self.values.tolist()), "thresholds_source": self.source}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401, FBT001 - NumPy's protocol
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return int(np.size(self.values))

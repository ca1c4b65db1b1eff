"""Is a difference between two methods more than chance: p-values by swapping their images, and Holm's correction.

If the methods were equally good, it would not matter which of them made the prediction of an image. Swapping the two
predictions of some images, pooling anew and measuring the difference shows what chance alone does. A pooled figure also
depends on the scale of scores, so methods that score on different scales differ by this test even where their
ranking of the pixels of each image is the same.

References
----------
Good, "Permutation, parametric and bootstrap tests of hypotheses", 2005, chapter 3; Holm, "A simple sequentially
rejective multiple test procedure", 1979.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.core.table import CELLS_AT_ONCE, Table

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SwapTest:
    """P-values of the differences between two methods.

    Parameters
    ----------
    p_values : array of float64, shape (figures,)
        Two-sided; nan where a figure is undefined for one of the methods.
    permutations : int
        Ways of swapping that were measured.
    exact : bool
        Whether these are all there are.
    """

    p_values: FloatArray
    permutations: int
    exact: bool


def swap_test(both: Table, *, permutations: int, seed: int) -> SwapTest:
    """Test the differences of two methods by swapping images between them.

    Parameters
    ----------
    both : Table
        The images of one method followed by the same images, in the same order, of the other.
    permutations : int
        Random ways of swapping; where there are no more than that in all, each is taken once.
    seed : int
        Of the random ways.

    Returns
    -------
    SwapTest
        Exact p-values are at least 2 / 2**n of n images (all swapped differs as much as none), others at least
        1 / (permutations + 1): the arrangement found counts as one of the ways.
    """
    images = both.images // 2
    exact = 2**images <= permutations
    found = _differences(both, np.zeros((1, images)))[0]
    least = np.abs(found) - _ROUNDING
    reached, measured = np.zeros(found.size), np.zeros(found.size)
    for swapped in _ways(images, permutations, seed, exact=exact):
        differences = np.abs(_differences(both, swapped))
        reached += np.sum(differences >= least, axis=0)
        measured += np.sum(~np.isnan(differences), axis=0)
    one = 0 if exact else 1
    p_values = np.full(found.size, np.nan)
    np.divide(reached + one, measured + one, out=p_values, where=~np.isnan(found))
    return SwapTest(p_values, 2**images if exact else permutations, exact)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction of p-values for being several; nan are left out of the number.

    Parameters
    ----------
    p_values : sequence of float
        In any order.

    Returns
    -------
    list of float
        In the same order; rejecting what is below .05 keeps the chance of any false rejection below .05.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(values.size, np.nan)
    order = np.argsort(values)[: int(np.sum(~np.isnan(values)))]
    times = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * times), 1.0)
    return [float(value) for value in corrected]


def _differences(both: Table, swapped: FloatArray) -> FloatArray:
    """Measure the difference between the methods for each way of swapping images, shape (ways, metrics)."""
    images = both.images // 2
    one, other = both.rows[:images], both.rows[images:]
    kept, total = (np.asarray(rows.sum(axis=0)).ravel() for rows in (one, both.rows))
    change = other - one
    parts = []
    step = max(CELLS_AT_ONCE // max(kept.size, 1), 1)
    for start in range(0, len(swapped), step):
        sums = kept + swapped[start : start + step] @ change
        parts.append(both.score(sums) - both.score(total - sums))
    return np.concatenate(parts)


def _ways(images: int, permutations: int, seed: int, *, exact: bool) -> Iterator[FloatArray]:
    """Give rows of 0 and 1, 1 where an image's predictions are swapped, some rows at a time."""
    random = np.random.default_rng(seed)
    total = 2**images if exact else permutations
    step = max(CELLS_AT_ONCE // max(images, 1), 1)
    for start in range(0, total, step):
        rows = min(step, total - start)
        if exact:
            numbers = np.arange(start, start + rows)[:, np.newaxis]
            yield ((numbers >> np.arange(images)) & 1).astype(np.float64)
        else:
            yield random.integers(0, 2, size=(rows, images)).astype(np.float64)

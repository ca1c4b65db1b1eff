"""How the time of every way of counting grows with the image: the factor for twice the side, 4 where it is linear.

    python scripts/benchmarks/bench_growth.py [--sides 128 256 512]

Masks are filled, noise or discs, and predictions the same a little off: what is linear for one mask may not be for
another. Arrays in memory, compiled, one thread, processor time, the least of three. Factors of more than 5 are marked.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import numpy as np
from measuring import duration, machine, processor_seconds, versions
from numpy.typing import NDArray

import segbench
from segbench.protocols.centerlines.settings import Skeleton

Mask = NDArray[np.bool_]
_ROUNDS = 3
_MOST = 5.0
_DISC = 32  # pixels from one disc to the next


def ways() -> dict[str, Callable[[Mask, Mask], object]]:
    """Return what counts a pair of masks, by name; together they call every kernel."""
    calls: dict[str, Callable[[Mask, Mask], object]] = {
        "pixels, levels": lambda gt, pred: segbench.count(gt, pred.view(np.uint8)),
        "pixels, floats": lambda gt, pred: segbench.count(gt, _soft(pred)),
        "labels": partial(segbench.count, protocol="labels"),
        # With a tolerance of pixels: a share of the diagonal adds partners to each pixel as the image grows.
        "boundaries, 2px": lambda gt, pred: segbench.count(
            gt, _soft(pred), segbench.Boundaries(thresholds=3, max_dist="2px")
        ),
        "regions": lambda gt, pred: segbench.count(_halves(gt), _halves(pred), "regions"),
        "saliency": lambda gt, pred: segbench.count(gt, pred.view(np.uint8), "saliency"),
        "contours": partial(segbench.count, protocol="contours"),
        "anomalies": lambda gt, pred: segbench.count(gt, _soft(pred), "anomalies"),
        "objects": partial(segbench.count, protocol=segbench.Objects(kind="components")),
        "nms": lambda _, pred: segbench.nms(_soft(pred)),
        "thin": lambda _, pred: segbench.thin(pred),
    }
    for skeleton in get_args(Skeleton):
        calls[f"centerlines, {skeleton}"] = partial(segbench.count, protocol=segbench.Centerlines(skeleton=skeleton))
    return calls


def masks(side: int) -> dict[str, Mask]:
    """Return masks by what they are of."""
    y, x = np.mgrid[:side, :side] % _DISC - _DISC // 2
    return {
        "filled": np.ones((side, side), np.bool_),
        "noise": np.random.default_rng(0).random((side, side)) < 0.5,
        "discs": x**2 + y**2 < (_DISC // 3) ** 2,
    }


def _soft(mask: Mask) -> NDArray[np.float32]:
    """Return distinct scores, higher inside the mask."""
    noise = np.random.default_rng(1).random(mask.shape, np.float32)
    return (noise + mask) / 2


def _halves(mask: Mask) -> NDArray[np.int64]:
    """Return a label map of the mask, its background and a third region, as an image of one region is refused."""
    labels = mask.astype(np.int64)
    labels[:, : mask.shape[1] // 2] += 2
    return labels


def _off(mask: Mask) -> Mask:
    """Return a prediction of the mask that is off by two pixels, and empty in one corner."""
    prediction = np.roll(mask, 2, 1)
    prediction[:2, :2] = False
    return prediction


def _least(count: Callable[[Mask, Mask], Any], mask: Mask) -> float:
    """Return the least processor time of some rounds."""
    prediction = _off(mask)
    return min(processor_seconds(lambda: count(mask, prediction)) for _ in range(_ROUNDS))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=[128, 256, 512], help="each twice the one before")
    sides = parser.parse_args().sides
    print(machine())
    print(versions(["numpy", "numba", "scipy", "scikit-image", "segbench"]))
    for name, count in ways().items():
        for mask_name in masks(1):
            taken = [_least(count, masks(side)[mask_name]) for side in sides]
            factors = [after / before for before, after in itertools.pairwise(taken)]
            mark = "  <- more than linear" if factors[-1] > _MOST else ""
            times = " ".join(f"{duration(seconds):>8}" for seconds in taken)
            print(f"{name:<25} {mask_name:<7} {times}   {' '.join(f'{factor:4.1f}' for factor in factors)}{mark}")


if __name__ == "__main__":
    main()

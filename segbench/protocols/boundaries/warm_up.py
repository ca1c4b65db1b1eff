"""Compile everything at once, so that a program can say that it does, and why the first image takes seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from segbench.protocols.boundaries import bits, levels, suppression, sweep, thinning
from segbench.protocols.boundaries.counting import count_boundaries, count_boundary_maps

_KERNELS: tuple[Any, ...] = (
    bits.ranks,
    bits.positions,
    levels.levels_of,
    levels.pack_levels,
    levels.count_bits,
    suppression.suppress,
    sweep.reached,
    sweep.sweep_down,
    thinning.thin_down,
)


def kernels_cached() -> bool:
    """Tell whether the compiled kernels lie on disk from an earlier process."""
    places = [(kernel, kernel.stats.cache_path) for kernel in _KERNELS]
    return all(
        path and any(Path(path).glob(f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-*.nbi"))
        for kernel, path in places
    )


def compile_kernels() -> None:
    """Compile every kernel, or load it from disk."""
    scores = np.eye(3)
    count_boundaries(scores, scores, thresholds=2)
    count_boundaries(scores, scores, thin=False)
    count_boundary_maps([scores], scores)
    suppression.nms(scores)

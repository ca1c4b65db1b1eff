"""Which labels belong together: a compiled step of finding connected components in one pass."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from segbench.core.compiling import compiled


@compiled()
def root_of(parents: NDArray[Any], label: int) -> int:
    """Give the label that stands for a component, and shorten the way to it."""
    while parents[label] != label:
        parents[label] = parents[parents[label]]
        label = parents[label]
    return label

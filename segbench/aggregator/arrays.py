"""Images that are given as arrays to one result, in a single call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any

from segbench.aggregator.accumulator import Accumulator
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.protocol import Protocol

Arrays = Mapping[Any, Any] | Iterable[Any]
"""Images as ``(labels, scores)`` or ``(labels, scores, valid)``, by name or one after the other."""

_EXPECTED = "expected (labels, scores) or (labels, scores, valid) for each image"


def evaluate_arrays(
    images: Arrays, protocol: Protocol, *, method: str | None, progress: Callable[[int, int], None] | None
) -> Result:
    """Count images given as arrays, see `segbench.evaluate`."""
    if not isinstance(images, Iterable):
        raise ArgumentError(f"ground_truth is {images!r:.60}, expected a path, or arrays: {_EXPECTED}")
    accumulator = Accumulator(protocol, method="arrays" if method is None else method)
    done = 0
    for name, arrays in images.items() if isinstance(images, Mapping) else enumerate(images):
        if not isinstance(arrays, (tuple, list)) or len(arrays) not in (2, 3):
            raise ArgumentError(f"image {name!r} is given as {type(arrays).__name__}, {_EXPECTED}")
        try:
            accumulator.update(*arrays, name=name)
        except ArgumentError as error:
            raise ArgumentError(f"image {name!r}: {error}") from error
        done += 1
        if progress:
            progress(done, len(images) if isinstance(images, Sized) else done)
    if not done:
        raise ArgumentError(f"ground_truth holds no images, {_EXPECTED}")
    return accumulator.compute()

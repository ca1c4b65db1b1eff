"""Stacks of one map per class: which axis goes through the classes."""

from __future__ import annotations

from segbench.core.errors import DataError


class ClassMapsError(DataError):
    """A prediction can be read, but is not one map per class."""


def class_axis(file: str, stack: tuple[int, ...], shape: tuple[int, ...], classes: int, *, hint: str) -> int:
    """Give the axis of a stack that goes through the classes, 0 or -1, by the shape of the stack and of the image."""
    first, last = stack == (classes, *shape), stack == (*shape, classes)
    if first != last:
        return 0 if first else -1
    if first:
        what = f"shape {stack} can be (classes, height, width) or (height, width, classes)"
    else:
        transposed = stack in ((classes, *shape[::-1]), (*shape[::-1], classes))
        what = (
            f"shape {stack}, expected {(classes, *shape)} or {(*shape, classes)}: {classes} classes of the ground "
            "truth's size" + (" (it looks transposed)" if transposed else "")
        )
    raise ClassMapsError(file, what, hint)

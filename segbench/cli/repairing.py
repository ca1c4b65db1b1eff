"""Options that repair predictions; without them nothing is repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from segbench.loaders.repairs import Repairs

RESIZE = typer.Option(
    "--resize-predictions",
    metavar="nearest|bilinear",
    help="Bring predictions of another size to that of the ground truth [default: refuse them].",
    show_default=False,
)
CROP = typer.Option(
    "--crop", help="Cut the larger of prediction and ground truth at the lower right, a tenth or 2 pixels at most."
)
SCALE = typer.Option(
    metavar="NUMBER|sigmoid|minmax",
    help="Divide stored values by a number, as in 255; or sigmoid for logits; or minmax to stretch each image by "
    "itself, which changes pooled figures.",
    show_default=False,
)


def repairs_of(resize: str | None, scale: str | None, *, crop: bool) -> Repairs:
    """Read options into repairs.

    Raises
    ------
    ArgumentError
        For an option that is not what it should be.
    """
    from segbench.loaders.repairs import Repairs, as_resize
    from segbench.loaders.scaling import as_scale

    return Repairs(
        resize=None if resize is None else as_resize(resize),
        crop=crop,
        scale=None if scale is None else as_scale(scale),
    )

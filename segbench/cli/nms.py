"""``segbench nms``: thick soft maps to lines, file by file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.progress import PROGRESS, Progress, progress_of
from segbench.core.errors import ArgumentError, DataError
from segbench.core.numbers import many

if TYPE_CHECKING:
    from segbench.loaders.decoded import Source


def nms(
    in_dir: Annotated[str, typer.Argument(metavar="IN_DIR", help="Folder, archive or URL of soft boundary maps.")],
    out_dir: Annotated[
        Path, typer.Argument(metavar="OUT_DIR", help="Another folder, for the PNGs, with the same sub-folders.")
    ],
    radius: Annotated[
        int, typer.Option(min=0, help="Compare with neighbours along the normal up to this distance.")
    ] = 1,
    border: Annotated[int, typer.Option(min=0, help="Fade a margin of this many pixels to 0.")] = 5,
    multiplier: Annotated[
        float, typer.Option(help="Multiply a score by this before it is compared; above 1, near ties are kept.")
    ] = 1.01,
    smoothing: Annotated[
        int, typer.Option(min=0, help="Smooth first with a triangle filter of this radius; 0 for none.")
    ] = 1,
    bits: Annotated[int, typer.Option(help="Write PNGs of 8 bits, as most scripts do, or of 16.")] = 8,
    invert: Annotated[
        bool, typer.Option("--invert", help="Treat low values as boundary, for black edges on white.")
    ] = False,
    progress: Annotated[Progress, PROGRESS] = Progress.AUTO,
) -> None:
    """Suppress all but the ridges of soft boundary maps.

    The maps of networks are usually evaluated like this.
    """
    from segbench.aggregator.writing import refuse_inputs, write_file
    from segbench.loaders.listing import list_place
    from segbench.loaders.source import is_url, masked

    if bits not in (8, 16):
        raise ArgumentError(f"--bits is {bits}, expected 8 or 16")
    if not is_url(in_dir) and out_dir.resolve() == Path(in_dir).resolve():
        raise ArgumentError(f"{out_dir} is the folder read from; give another to write to")
    listing = list_place(in_dir)
    failures = []
    notes = dict.fromkeys(listing.notes)
    targets = [out_dir / f"{entry.stem}.png" for entry in listing.entries]
    refuse_inputs(targets, (entry.source for entry in listing.entries))
    with progress_of("nms", progress) as tally:
        for done, (entry, target) in enumerate(zip(listing.entries, targets, strict=True), start=1):
            try:
                png, said = _suppressed(entry.source, (radius, border, multiplier, smoothing), bits=bits, invert=invert)
            except DataError as error:
                failures.append(str(DataError(str(entry.source), error.what, error.hint)))
            else:
                write_file(target, png, hint="give another folder", make_folder=True)
                notes |= dict.fromkeys(said)
            tally(done, len(listing.entries))
    for note in notes:
        typer.echo(note, err=True)
    typer.echo(f"written: {many(len(listing.entries) - len(failures), 'map')} in {out_dir}", err=True)
    if failures:
        raise DataError(masked(in_dir), f"{many(len(failures), 'map')} could not be used:\n  " + "\n  ".join(failures))


def _suppressed(
    source: Source, settings: tuple[int, int, float, int], *, bits: int, invert: bool
) -> tuple[bytes, tuple[str, ...]]:
    """Give one map as a PNG, and notes on how it was read."""
    import imageio.v3 as iio
    import numpy as np

    from segbench.core.levels import as_shares, mirrored, note_on_levels
    from segbench.loaders.images import decode
    from segbench.loaders.source import read_bytes
    from segbench.protocols.boundaries.suppression import nms as suppress

    decoded = decode(read_bytes(source), source, role="prediction")
    stored = decoded.array
    soft = as_shares(stored)
    if invert:
        soft = mirrored(soft)
    radius, border, multiplier, smoothing = settings
    thin = suppress(soft, radius=radius, border=border, multiplier=multiplier, smoothing=smoothing)
    if thin.min(initial=0) < 0 or thin.max(initial=0) > 1:
        raise DataError(str(source), f"scores up to {thin.max():g}, expected 0 to 1", "a PNG holds no others")
    png = iio.imwrite("<bytes>", np.rint(thin * (2**bits - 1)).astype(f"u{bits // 8}"), extension=".png")
    return png, (*decoded.notes, *note_on_levels(stored.dtype, scalable=False))

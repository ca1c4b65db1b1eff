"""Pictures of what was found, what was not, and what is not there: one PNG an image."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.rereading import best_threshold, files_of, full_protocol, reread, states_of
from segbench.aggregator.result import Result
from segbench.aggregator.writing import refuse_inputs, write_file
from segbench.core.arguments import as_real
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.drawing.palette import FALSE_POSITIVE, GUIDE, MATCHED, MATCHED_TRUTH, MISS
from segbench.loaders.decoded import shown
from segbench.protocols.states import State
from segbench.report.bsds import file_names

COLOURS = {
    State.NOTHING: "#ffffff",
    State.TRUE: MATCHED,
    State.FALSE: FALSE_POSITIVE,
    State.MISSED: MISS,
    State.IGNORED: GUIDE,
    State.PARTNER: MATCHED_TRUTH,
}
_COLOUR_NAMES = {
    State.TRUE: "blue",
    State.FALSE: "red",
    State.MISSED: "orange",
    State.IGNORED: "grey",
    State.PARTNER: "sky blue",
}


def legend(protocol: Protocol) -> str:
    """Say in one line what the colours of a protocol's pictures mean."""
    return ", ".join(f"{_COLOUR_NAMES[State(state)]}: {words}" for state, words in protocol.states_called.items())


def painted(states: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Paint states in the colours of `COLOURS`."""
    return _palette()[states]


def export_overlays(
    results: Sequence[Result],
    folder: str | PathLike[str],
    *,
    threshold: float | None = None,
    names: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write a PNG an image and method that shows true, false and missed pixels at a threshold.

    Parameters
    ----------
    results : sequence of Result
        Counted here, from files that still lie where they lay and have not changed.
    folder : path
        Made where there is none; a sub-folder a method, and in it a picture an image. Names that are no part of a path
        are written with ``%`` and two digits for a byte.
    threshold : float, optional
        The same for all; by default each method's best over all images (ODS; the best covering of regions).
    names : sequence of str, optional
        Only these images.
    progress : callable, optional
        Called with the number of pictures done and of all.

    Returns
    -------
    list of str
        What could not be drawn, and why; the others are written nevertheless.

    Raises
    ------
    ArgumentError
        If a picture would overwrite a file that was counted.
    DataError
        If there are no pictures of a result, as of one that others counted, it has no best threshold or no image of a
        name, its folders are gone, or the folder cannot be written.

    Notes
    -----
    Blue is true, red false, orange missed, grey left out, sky blue a boundary pixel of the ground truth with
    another pixel as its partner. Pixels: as counted (of ``annotators="each"`` against the majority). Boundaries: as
    `segbench.plot_matches`, all annotators together. Regions: those of the first annotator; see
    `segbench.protocols.regions.hierarchy.region_states`. PNGs hold the `State` as palette index.
    """
    if threshold is not None:
        threshold = as_real(threshold, "threshold", "a number", least=-math.inf, most=math.inf)
    work = []
    for result, place in zip(results, file_names([result.method for result in results]), strict=True):
        full_protocol(result)
        cut = best_threshold(result) if threshold is None else threshold
        chosen = _chosen(result, names)
        files = files_of(result)
        pictures = file_names(chosen)
        work += [
            (result, name, cut, files.get(name), Path(folder) / place / f"{picture}.png")
            for name, picture in zip(chosen, pictures, strict=True)
        ]
    refuse_inputs(
        (target for *_, target in work), (source for *_, files, _ in work if files for source in files.sources)
    )
    problems = []
    for done, (result, name, cut, place_of, target) in enumerate(work, 1):
        try:
            sample = reread(result, place_of) if place_of else None
        except DataError as error:
            problems.append(f"{result.method}: {error}")
        else:
            if sample:
                _save(states_of(result, sample, cut), target)
            else:
                problems.append(f"{result.method}: {shown(name)}: its files are gone")
        if progress:
            progress(done, len(work))
    return problems


def _chosen(result: Result, names: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in result.counts]
    if unknown:
        raise DataError(
            result.method,
            f"counted no image called {', '.join(map(repr, unknown))}",
            "result.counts lists the names (segbench show --per-image)",
        )
    return list(names) or list(result.counts)


def _palette() -> NDArray[np.uint8]:
    colours = [bytes.fromhex(COLOURS[state].removeprefix("#")) for state in sorted(COLOURS)]
    return np.frombuffer(b"".join(colours), np.uint8).reshape(-1, 3)


def _save(states: NDArray[np.uint8], target: Path) -> None:
    from PIL import Image

    image = Image.frombytes("P", states.shape[::-1], np.ascontiguousarray(states).tobytes())
    image.putpalette(_palette().tobytes())
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    write_file(target, file.getvalue(), hint="give another folder", make_folder=True)

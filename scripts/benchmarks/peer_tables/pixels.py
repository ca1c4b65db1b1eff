"""Pixel curves and areas, from a million pixels to a hundred million: time, memory and numbers beside the peers'."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peer_tables.contests import Contest, Effort, Way
from peer_tables.pixel_programs import CONTESTANTS, LEVELS, at_levels

_CHUNK = 10**7
_WARM = 1000
_SLOW = f"{LEVELS} thresholds"
_SLOW_UP_TO, _LARGEST = 10**6, 10**8


def contests(effort: Effort) -> Iterator[Contest]:
    """Two kinds of scores and two works at two sizes, and one row of a hundred million."""
    sizes = (10**4,) if effort.quick else (10**6, 10**7)
    rows = [(size, kind, work) for size in sizes for kind in ("float32", "8-bit") for work in ("PR curve", "AUC-ROC")]
    for size, kind, work in rows if effort.quick else [*rows, (_LARGEST, "float32", "PR curve")]:
        ways = [Way(c.program, partial(do, c.name, work), c.name) for c in CONTESTANTS if kind in c.kinds]
        yield Contest(
            f"{size:.0e} pixels, {kind}, {work}".replace("e+0", "e"),
            load,
            (str(effort.scratch), size, kind),
            # which takes a minute at this size
            tuple(way for way in ways if size <= _SLOW_UP_TO or _SLOW not in way.title),
            partial(at_levels, work, kind),
            warm=(str(effort.scratch), _WARM, kind),
            calls=3 if size < _LARGEST else 1,
        )


def load(scratch: str, size: int, kind: str) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Read the arrays, which are written once; those of other sizes go."""
    folder = Path(scratch) / str(size)
    if not folder.exists():
        for other in Path(scratch).iterdir():
            for path in other.iterdir():
                path.unlink()
            other.rmdir()
        write_arrays(folder, size)
    return np.load(folder / "labels.npy"), np.load(folder / f"{kind}.npy")


def do(name: str, work: str, labels: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[str, Any]:
    """Do the work with the contestant of that name, which comes with the answer."""
    return name, next(c for c in CONTESTANTS if c.name == name).answer(work)(labels, scores)


def write_arrays(folder: Path, size: int) -> Path:
    """Write labels, a tenth of them positive, and scores: two overlapping bells, cut at 0 and 1."""
    rng = np.random.default_rng(0)
    labels, soft = np.empty(size, np.bool_), np.empty(size, np.float32)
    for start in range(0, size, _CHUNK):
        part = slice(start, min(size, start + _CHUNK))
        labels[part] = rng.random(labels[part].size, np.float32) < 0.1
        bell = rng.standard_normal(labels[part].size, np.float32) * np.float32(0.2) + np.float32(0.3)
        soft[part] = np.clip(bell + np.float32(0.3) * labels[part], 0, 1)
    folder.mkdir(parents=True)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "float32.npy", soft)
    np.save(folder / "8-bit.npy", np.rint(soft * 255).astype(np.uint8))
    return folder

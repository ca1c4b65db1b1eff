"""The text files that the benchmarks of BSDS500 leave behind, read into rows of numbers.

Their columns: docs/boundaries.md and docs/regions.md. Where the files of several methods lie in one folder they are
called ``<method>_bdry_thr.txt`` and so on; in some releases rows lack the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.source import read_bounded, shown

COUNTS = "_ev1.txt"
ROWS, BEST = "_bdry_thr.txt", "_bdry.txt"
BEST_KEYS = ("ods_recall", "ods_precision", "ods_f", "ois_recall", "ois_precision", "ois_f", "area_pr")
"""The metrics in ``eval_bdry.txt``, after the threshold."""
REGION_KEYS = {
    "eval_cover.txt": ("covering_ods_threshold", "covering_ods", "covering_ois", "covering_best"),
    "eval_RI_VOI.txt": ("pri_ods_threshold", "pri_ods", "pri_ois", "voi_ods_threshold", "voi_ods", "voi_ois"),
}
"""The metrics in the rows of best values of regions."""
REGION_FILES = (*REGION_KEYS, "eval_cover_img.txt", "eval_cover_th.txt", "eval_RI_VOI_thr.txt")
_OFFICIAL = "eval"
_LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Evaluation:
    """The files of one method: ``*_ev1.txt`` by the image's name, and those of the whole set."""

    name: str
    folder: Path
    counts: dict[str, Path] = field(default_factory=dict)
    rows: Path | None = None
    best: Path | None = None


def find_evaluations(folder: Path) -> list[Evaluation]:
    """Find the methods with boundary results, in a folder itself or else in those within it."""
    inside = _listed(folder)
    inner = [path for path in inside if path.is_dir() and not path.name.startswith(".")]
    evaluations = _evaluations(folder) or [evaluation for path in inner for evaluation in _evaluations(path)]
    if not evaluations:
        problem = Message("no-results", "holds no results of the boundary benchmark")
        expected = f"expected *{COUNTS} or *{ROWS}, here or in its sub-folders"
        raise DataError(shown(folder), problem, expected)
    return evaluations


def read_rows(path: Path, widths: tuple[int, ...]) -> NDArray[np.float64]:
    """Read rows of numbers parted by blanks."""
    expected = Message("expected", "rows of {widths: or } numbers", widths=widths)
    try:
        data = read_bounded(path, _LARGEST_BYTES, expected, "this is another kind of file")
        lines = data.decode("ascii").splitlines()
    except UnicodeDecodeError:
        problem = Message("not-text", "is not plain text, expected {expected}", expected=expected)
        raise DataError(shown(path), problem) from None
    except OSError as error:
        problem = Message("unreadable", "cannot be read ({reason})", reason=str(error.strerror))
        raise DataError(shown(path), problem, "check the file") from error
    rows: list[list[float]] = []
    for line_number, line in enumerate(lines, start=1):
        try:
            row = [float(text) for text in line.split()]
        except ValueError:
            problem = Message(
                "wrong-line",
                "line {line} is {found!r}, expected {expected}",
                line=line_number,
                found=shown(line.strip())[:60],
                expected=expected,
            )
            raise DataError(shown(path), problem) from None
        if row and (len(row) not in widths or (rows and len(row) != len(rows[0]))):
            problem = Message(
                "wrong-line",
                "line {line} has {found} numbers, expected {expected}, all alike",
                line=line_number,
                found=len(row),
                expected=expected,
            )
            raise DataError(shown(path), problem)
        rows += [row] if row else []
    if not rows:
        raise DataError(shown(path), Message("empty", "is empty, expected {expected}", expected=expected))
    return np.array(rows)


def rows_of(*columns: NDArray[np.float64] | NDArray[np.int64]) -> list[list[float]]:
    """Return the rows of a table from its columns."""
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def text_of(rows: Iterable[Iterable[float]]) -> str:
    r"""Write rows of numbers, each as ``%10g``; whole numbers keep all their digits."""
    return "".join(" ".join(_ten(value) for value in row) + "\n" for row in rows)


def _ten(value: float) -> str:
    return f"{value:10d}" if isinstance(value, int) else f"{value:10.6g}"


_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{kind}{number}" for kind in ("COM", "LPT") for number in range(1, 10))}


def as_file_name(name: str) -> str:
    """Write a name so that it is one part of a path, whatever it holds: ``%`` and two digits for a byte, as in URLs.

    Letters and digits of any script stay, and the marks ``-_+=,~@#()[]`` and inner blanks and dots; not so the first
    letter of a name that Windows gives to a device.
    """
    characters = [c if c.isalnum() or c in "-_+=,~@#()[] ." else _escaped(c) for c in name]
    if name.partition(".")[0].strip().upper() in _DEVICES:
        characters[0] = _escaped(characters[0])
    for end in (0, -1):
        if characters and characters[end] in {" ", "."}:
            characters[end] = _escaped(characters[end])
    return "".join(characters) or "%"


def from_file_name(text: str) -> str:
    """Read a name that `as_file_name` wrote; one that it did not write stays as it is."""
    name = unquote(text, errors="surrogatepass")
    return name if as_file_name(name) == text else text


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="surrogatepass"))


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        problem = Message("unreadable", "cannot be listed ({reason})", reason=str(error.strerror))
        raise DataError(shown(folder), problem, "give a folder of results") from error


def _evaluations(folder: Path) -> list[Evaluation]:
    """Find the boundary results of the methods in one folder, the one that its folder is named after first."""
    counts: dict[str, Path] = {}
    by_method: dict[str, dict[str, Path]] = {}
    for path in _listed(folder):
        if path.is_file() and not path.name.startswith("."):
            if path.name.endswith(COUNTS):
                counts[shown(from_file_name(path.name.removesuffix(COUNTS)))] = path
            for key, ending in (("rows", ROWS), ("best", BEST)):
                if path.name.endswith(ending):
                    by_method.setdefault(path.name.removesuffix(ending), {})[key] = path
    official = by_method.pop(_OFFICIAL, {})
    whole = [Evaluation(_name_of(folder), folder, dict(sorted(counts.items())), **official)]
    whole += [Evaluation(shown(method), folder, {}, **parts) for method, parts in sorted(by_method.items())]
    return [evaluation for evaluation in whole if evaluation.counts or evaluation.rows]


def _name_of(folder: Path) -> str:
    return shown(from_file_name(folder.absolute().name))

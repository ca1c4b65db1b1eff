"""Results in the text files of official benchmarks, which the protocols write."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from segbench.aggregator.result import Result, as_results
from segbench.aggregator.writing import refuse_foreign, write_file
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Message
from segbench.core.protocol import Official
from segbench.loaders.bsds_text import COUNTS, as_file_name

_HINT = "give another folder"
_LONGEST_NAME = 240
"""Bytes of a part of a path, of 255 that file systems take: the rest is for a number and an extension."""


def export_bsds(results: Result | Sequence[Result], folder: str | PathLike[str]) -> list[Path]:
    """Write results of the boundary and region protocols as the official benchmark does.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the boundary or region protocol; others are passed over, and so are annotators, published curves and runs
        that counted no image.
    folder : path
        Made where there is none. A single method's files lie in it, those of several in a sub-folder each.

    Returns
    -------
    list of Path
        The folders, one per method.

    Raises
    ------
    ArgumentError
        If no result is of either protocol, or if a file exists with other content: official files cannot say that
        segbench wrote them.
    DataError
        If no run counted an image; if a folder holds counts of images that the result has not, which would be read as
        part of it; if a file cannot be written; or if thresholds are the same in six digits.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from segbench import Boundaries, evaluate
    >>> edges = np.diag([0.9, 0.9, 0.9, 0.9, 0.2, 0.2])
    >>> result = evaluate({"a": (np.eye(6), edges)}, protocol=Boundaries(thresholds=[0.5]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (written,) = export_bsds(result, folder)
    ...     print((written / "a_ev1.txt").read_text())  # threshold, matched and all of the truth, and of the prediction
    0.5  4  6  4  4
    """
    results = as_results(results)
    chosen = [result for result in results if result.rules.capability(Official) and not result.published]
    if not chosen:
        raise ArgumentError(
            Message(
                "no-official-files",
                "no result of the boundaries or regions protocol with counts of a method, and there are official files "
                "of these only",
            )
        )
    chosen = [result for result in chosen if result.counts]
    if not chosen:
        problem = Message("no-image", "has no image that was counted")
        raise DataError(str(results[0].method), problem, "fix what failed and run again")
    root = Path(folder)
    folders = _folders(root, chosen)
    contents = [files_of(result) for result in chosen]
    for target, files in zip(folders, contents, strict=True):
        strays = sorted({path.name for path in target.glob(f"*{COUNTS}")} - files.keys())
        if strays:
            problem = Message("other-images", "holds counts of other images ({files}, ...)", files=strays[:3])
            raise DataError(str(target), problem, "give an empty folder")
    data_of = {
        target / name: text.encode()
        for target, files in zip(folders, contents, strict=True)
        for name, text in files.items()
    }
    refuse_foreign(data_of, _HINT)
    for path, data in data_of.items():
        write_file(path, data, hint=_HINT, make_folder=True)
    return list(dict.fromkeys(folders))


def _folders(root: Path, results: Sequence[Result]) -> list[Path]:
    """Return the folder of each result: that of its method, since the file names of both protocols differ."""
    if len({result.label for result in results}) == 1 and len({r.protocol for r in results}) == len(results):
        return [root] * len(results)
    folders: dict[int, Path] = {}
    for members in grouped((result.protocol, index) for index, result in enumerate(results)).values():
        names = file_names([results[index].label for index in members])
        folders |= {index: root / name for index, name in zip(members, names, strict=True)}
    return [folders[index] for index in range(len(results))]


def files_of(result: Result) -> dict[str, str]:
    """Return the content of each file of one result, by the file's name."""
    official = result.rules.capability(Official)
    if not result.counts or official is None:
        raise DataError(result.method, Message("no-image", "has no image that was counted"), "repeat the run")
    return official.official_files(result.counts)


def _short(name: str) -> str:
    """Cut what no file system takes as one part of a path, and keep it apart from other names."""
    encoded = name.encode(errors="surrogatepass")
    if len(encoded) <= _LONGEST_NAME:
        return name
    start = encoded[: _LONGEST_NAME - 20].decode(errors="ignore").rstrip(" .")
    return f"{start}~{hashlib.sha256(encoded).hexdigest()[:16]}"


def file_names(names: Iterable[str]) -> list[str]:
    """Return a distinct file name for each name, distinct also where upper and lower case are the same."""
    taken: set[str] = set()
    unique = []
    for name in names:
        plain = _short(as_file_name(name))
        choices = itertools.chain([plain], (f"{plain}-{number}" for number in itertools.count(2)))
        unique.append(next(choice for choice in choices if choice.casefold() not in taken))
        taken.add(unique[-1].casefold())
    return unique

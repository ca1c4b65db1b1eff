"""Lists: which images a run takes, and CSV files that say which prediction belongs to which ground truth, or of images.

Their columns: docs/inputs.md.
"""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from os import PathLike, fspath
from typing import NamedTuple

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, joined
from segbench.loaders.images import EXTENSIONS
from segbench.loaders.listing import SampleFiles, read_text
from segbench.loaders.source import LocalFile, extension_of, is_stream, shown, split_suffix

Images = Iterable[str] | str | PathLike[str] | None


def as_images(images: Iterable[str] | str | PathLike[str]) -> tuple[str, ...]:
    """Read names and patterns from a sequence, or from the lines of a text file without those that begin with ``#``."""
    if isinstance(images, (str, PathLike)):
        return _read(fspath(images))
    names = tuple(images)
    wrong = next((name for name in names if not (name and isinstance(name, str))), None)
    if not names or wrong is not None:
        raise ArgumentError(
            Message(
                "wrong-value",
                "{given} {found}, expected names or patterns of images, as in {example}",
                given=Setting("images", None),
                found="is empty" if not names else f"holds {wrong!r}",
                example=Either("['coins', 'c*'], or None", "coins,c*"),
            )
        )
    return names


def _read(path: str) -> tuple[str, ...]:
    try:
        text = read_text(path, "a text file of image names")
    except DataError as error:
        hint = Message(
            "fix",
            "{images} is a text file of names, or several names: {example}",
            images=Setting("images", None),
            example=Either("images=['coins', 'c*']", "--images 'coins,c*'"),
        )
        raise DataError(error.path, error.what, hint) from None
    lines = [line.strip() for line in text.splitlines()]
    names = tuple(line for line in lines if line and not line.startswith("#"))
    if not names:
        problem = Message("no-images", "names no image")
        raise DataError(shown(path), problem, "write one name or pattern per line; lines with # are comments")
    return names


def select(patterns: Iterable[str], names: Collection[str]) -> tuple[set[str], tuple[str, ...]]:
    """Return the names that are chosen, and the patterns that fit none."""
    distinct_patterns = [shown(unicodedata.normalize("NFC", pattern)) for pattern in dict.fromkeys(patterns)]
    excluding = {pattern for pattern in distinct_patterns if pattern.startswith("!") and pattern not in names}
    fit = {pattern: _fitting(pattern[pattern in excluding :], names) for pattern in distinct_patterns}
    unknown = tuple(pattern for pattern in distinct_patterns if not fit[pattern])
    including = [fit[pattern] for pattern in distinct_patterns if pattern not in excluding] or [set(names)]
    chosen = set[str]().union(*including).difference(*(fit[pattern] for pattern in excluding))
    if not chosen and not unknown:
        chosen_by = Either(f"images={distinct_patterns}", f"--images {','.join(distinct_patterns)}")
        raise ArgumentError(
            Message(
                "no-images",
                "{given} leaves out every image that it chooses",
                given=chosen_by,
                patterns=distinct_patterns,
            )
        )
    return chosen, unknown


def _fitting(pattern: str, names: Collection[str]) -> set[str]:
    """Return the name itself, that of a file, those in a folder, or all that fit a pattern."""
    if pattern in names:
        return {pattern}
    if any(c in pattern for c in "*?["):
        return {name for name in names if fnmatchcase(name, pattern)}
    stem, suffix = split_suffix(pattern)  # lists that come with data sets name files, or sequences
    if suffix.lower() in EXTENSIONS and stem in names:
        return {stem}
    return {name for name in names if name.startswith(f"{pattern.rstrip('/')}/")}


_HINT = "columns are name, ground_truth, prediction or prediction:METHOD, and optionally field, separated by commas"
_METHOD = "prediction:"


class FileList(NamedTuple):
    """What a file list says; names are sorted."""

    files: tuple[SampleFiles, ...]  # of the chosen images
    notes: tuple[Note, ...]
    names: tuple[str, ...]  # all images, also those not chosen
    missing: tuple[str, ...]  # chosen images without a prediction
    unknown: tuple[str, ...]  # chosen names and patterns that fit no image


def leave_out_missing() -> Message:
    """Say how to leave out images without a prediction."""
    return Message(
        "fix", "{allow_missing} leaves out images without a prediction", allow_missing=Setting("allow_missing", True)
    )


def method_columns(list_path: str) -> dict[str, str]:
    """Name the column of each method of a file list, in their order; a method without name is called as the list."""
    header, _ = _table(list_path)
    columns = [column for column in dict.fromkeys(header) if column == "prediction" or column.startswith(_METHOD)]
    if not columns:
        problem = Message(
            "missing-column",
            "has no column of predictions (columns: {columns})",
            missing=("prediction",),
            columns=tuple(map(shown, header)),
        )
        raise DataError(shown(list_path), problem, _HINT)
    path = "stdin" if is_stream(list_path) else list_path
    own = split_suffix(os.path.basename(path))[0]  # noqa: PTH119  a str is enough
    column_of_method: dict[str, str] = {}
    for column in columns:
        method = shown(own if column == "prediction" else column.removeprefix(_METHOD))
        if method in column_of_method:
            problem = Message(
                "repeated-column",
                "the columns {first!r} and {second!r} are both for the method {method!r}",
                first=shown(column_of_method[method]),
                second=shown(column),
                method=method,
            )
            raise DataError(shown(list_path), problem, "give one of them another name: prediction:OTHER")
        column_of_method[method] = column
    return column_of_method


def column_of(list_path: str, method: str | None) -> str:
    """Name the column that holds the predictions of a method."""
    columns = method_columns(list_path)
    only = next(iter(columns.values())) if len(columns) == 1 else None
    if only and (method is None or only == "prediction"):
        return only
    if method is None or shown(method) not in columns:
        raise ArgumentError(
            Message(
                "unknown-method",
                "{place} holds the methods {methods}; {problem}",
                place=shown(list_path),
                methods=tuple(columns),
                problem="none is named" if method is None else f"not {method!r}",
                method=method,
            )
        )
    return columns[shown(method)]


def has_fields(list_path: str) -> bool:
    """Return whether a file list gives each image a mask."""
    return "field" in _table(list_path)[0]


def read_list(
    list_path: str, column: str | None, *, images: Sequence[str] = (), allow_missing: bool = False
) -> FileList:
    """Read a file list."""
    header, lines = _table(list_path)
    column_numbers = {
        "name": _places(header, "name"),
        "ground_truth": [i for i, name in enumerate(header) if name.partition(":")[0] == "ground_truth"],
        "prediction": _places(header, column) if column else [],
        "field": _places(header, "field"),
    }
    shown_path = shown(list_path)
    required = ("name", "ground_truth", *(("prediction",) if column else ()))
    missing = [kind for kind in required if not column_numbers[kind]]
    twice = [name for name in ("name", "field") if len(column_numbers[name]) > 1]
    if missing or twice:
        faults = [f"no column {name!r}" for name in missing] + [f"two columns {name!r}" for name in twice]
        refusal = Message(
            "wrong-columns",
            "{faults: and } (columns: {columns})",
            faults=faults,
            missing=missing,
            repeated=twice,
            columns=tuple(map(shown, header)),
        )
        raise DataError(shown_path, refusal, _HINT)
    folder = _folder(list_path)
    rows: dict[str, SampleFiles | None] = {}
    problems: list[Message] = []
    absent = False
    numbered = [(number, cells, _name(cells, column_numbers["name"][0])) for number, cells in lines]
    names = tuple(sorted({name for *_, name in numbered if name}))
    chosen, unknown = select(images, frozenset(names)) if images else (set(names), ())
    for number, cells, name in numbered:
        if name and name not in chosen:
            continue
        files, wrong = _row(cells, header, column_numbers, folder, allow_missing=allow_missing)
        absent |= any(problem.kind == "missing" or problem.values.get("lacking") == "prediction" for problem in wrong)
        if not wrong and name in rows:
            wrong = [Message("repeated-name", "the name {name!r} occurs twice", name=name)]
        problems += (Message("wrong-line", "line {line}: {problem}", line=number, problem=problem) for problem in wrong)
        if not wrong:
            rows[name] = files
    lacking = tuple(sorted(name for name, row in rows.items() if row is None))
    if problems or (len(rows) == len(lacking) and not unknown):
        refusal = Message(
            "wrong-lines", "{count:many problem}:\n  {problems:\n  }\n", count=len(problems), problems=problems
        )
        if not problems:
            refusal = Message("no-images", "lists no image{of_them}", of_them=" with a prediction" if lacking else "")
        hint = Message("fix", "correct the list; its paths are relative to {folder}", folder=folder)
        raise DataError(shown_path, refusal, joined([hint, leave_out_missing()]) if absent else hint)
    known = set(chain.from_iterable(column_numbers.values()))
    others = [name for i, name in enumerate(header) if i not in known and not name.startswith("prediction")]
    left_out = tuple(map(shown, others))
    message = Message("columns-left-out", "{place}: columns left out: {columns}", place=shown_path, columns=left_out)
    files_of_images = tuple(row for _, row in sorted(rows.items()) if row)
    return FileList(files_of_images, (Note(message),) if others else (), names, lacking, unknown)


def _name(cells: Sequence[str], column: int) -> str:
    """Return the name of a line's image; empty where there is none."""
    return shown(unicodedata.normalize("NFC", cells[column].replace("\\", "/"))) if column < len(cells) else ""


def _row(
    cells: Sequence[str],
    header: Sequence[str],
    column_numbers: dict[str, list[int]],
    folder: str,
    *,
    allow_missing: bool,
) -> tuple[SampleFiles | None, list[Message]]:
    """Return the files of a line, unless it may lack its prediction, and what is wrong with it."""
    if len(cells) != len(header):
        return None, [
            Message("other-length", "{found} cells, expected {expected}", found=len(cells), expected=len(header))
        ]
    filled = {kind: [cells[i] for i in columns if cells[i]] for kind, columns in column_numbers.items()}
    files = {kind: [_path(folder, cell) for cell in filled[kind]] for kind in column_numbers if kind != "name"}
    lacking = [kind for kind, columns in column_numbers.items() if columns and not filled[kind]]
    if allow_missing and not any(os.path.lexists(path) for path in files["prediction"]):
        files["prediction"] = []
        lacking = [kind for kind in lacking if kind != "prediction"]
    wrong = [Message("empty-cell", "no {lacking}", lacking=kind) for kind in lacking]
    wrong += (fault for paths in files.values() for path in paths if (fault := _fault(path)))
    truths, predictions, fields = (
        tuple(map(LocalFile, files[kind])) for kind in ("ground_truth", "prediction", "field")
    )
    if wrong or (column_numbers["prediction"] and not predictions):
        return None, wrong
    first, *scales = predictions or truths[:1]
    name = _name(cells, column_numbers["name"][0])
    return SampleFiles(name, truths, first, next(iter(fields), None), tuple(scales)), []


def _path(folder: str, cell: str) -> str:
    r"""Return the path in a cell; ``\`` is read as ``/`` if there is no file with this character in its name."""
    path = os.path.join(folder, cell)  # noqa: PTH118  a str is enough
    if "\\" not in cell or os.path.lexists(path):
        return path
    return os.path.join(folder, cell.replace("\\", "/"))  # noqa: PTH118  as above


def _fault(path: str) -> Message:
    """Say why a path is not that of a file to read; nothing where it is."""
    extension = extension_of(path)
    if extension not in EXTENSIONS:
        return Message("unknown-extension", "{file} has no known extension", file=shown(path))
    if os.path.isfile(path):  # noqa: PTH113  a str, and perhaps a million of them
        return NOTHING
    if os.path.exists(path):  # noqa: PTH110  as above
        return Message("not-a-file", "{file}: is not a file", file=shown(path))
    return Message("missing", "{file}: there is no such file", file=shown(path))


def _folder(list_path: str) -> str:
    path = "list" if is_stream(list_path) else list_path
    return os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120  as above


def _places(header: Sequence[str], name: str) -> list[int]:
    return [i for i, column in enumerate(header) if column == name]


def _table(list_path: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Read the header, and the other lines with their numbers; empty lines are passed over."""
    name = shown(list_path)
    lines = _numbered(read_text(list_path, "a CSV file"), name)
    header = [cell.strip() for cell in next(lines, (0, []))[1]]
    if not header:
        raise DataError(name, Message("empty", "holds no line"), _HINT)
    return header, lines


def _numbered(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        yield from ((reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        problem = Message("wrong-line", "line {line}: {reason}", line=reader.line_num, reason=str(error))
        raise DataError(name, problem, "write the list again") from None


_IMAGE = ("name", "image", "file")


def read_column(csv_path: str, column: str = "") -> dict[str, str]:
    """Read the texts of a column by the image's name, which `name`, `image`, `file` or else the first column has.

    Without `column` it is the only other one. An image with two texts is an error.
    """
    reader = csv.DictReader(io.StringIO(read_text(csv_path, "a CSV file with a header")))
    reader.fieldnames = header = [name.strip() for name in reader.fieldnames or ()]
    key = next((name for name in _IMAGE if name in header), header[0] if header else "")
    others = [name for name in header if name != key]
    text_column = column or (others[0] if len(others) == 1 else "one beside the names of images")
    if text_column not in header:
        problem = Message("missing-column", "has no column {column!r}", column=text_column)
        hint = Message("fix", "its columns are {columns}", columns=header or ["none"])
        raise DataError(shown(csv_path), problem, hint)
    text_of_image: dict[str, str] = {}
    for row in reader:
        name, text = ((row[title] or "").strip() for title in (key, text_column))
        if text_of_image.setdefault(name.replace("\\", "/"), text) != text:
            problem = Message(
                "several-parts",
                "puts {image!r} into {first!r} and {second!r}",
                image=name,
                first=text_of_image[name],
                second=text,
            )
            raise DataError(shown(csv_path), problem, "give each image one row")
    return text_of_image

"""Named data sets: where their files are below one folder, how names pair, and what counts as right."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message
from segbench.loaders.hints import nearest
from segbench.loaders.source import read_bounded, shown

KnownFrom = Literal["files", "documents", "memory"]
_SOURCES = {
    "files": "read from the files themselves",
    "documents": "from the data set's public documents",
    "memory": "from memory; compare it with your files",
}
_LARGEST_BYTES = 2**13
"""The parser takes the square of a file's length where tables are nested."""
_HINT = Message(
    "fix",
    "see a built-in preset: {example}",
    example=Either("load_preset('bsds500')", "segbench run bsds500 --info"),
)
_PLACES = ("ground_truth", "field", "images", "test")
_TEXTS = ("title", "home", "cite", "note", "source")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A data set.

    Parameters
    ----------
    name : str
        What ``segbench run`` takes.
    title, home, cite, note : str
        What it is, its home page, whom to cite, and what to know.
    source : {"files", "documents", "memory"}
        What the layout is known from.
    protocols : tuple of str
        The protocols that the data set is for; ``segbench run`` takes the first.
    layout : mapping of str to tuple of str
        Places of ``ground_truth``, ``field``, ``images``, and ``test`` (images of the test set alone, of which those
        that are normal need a prediction) below the root, folders or a file; of several the first that exists.
    options : mapping of str to str, float or bool
        Options of the protocols' verbs by long name, ``-`` written ``_``.
    columns : mapping of str to tuple of str
        By protocol the keys of the metrics that papers print, in their order: the first columns of a run.
    categories : bool
        Whether the root may hold categories, each a folder with this layout.
    """

    name: str
    title: str
    home: str
    cite: str
    note: str
    source: KnownFrom
    protocols: tuple[str, ...]
    layout: Mapping[str, tuple[str, ...]]
    options: Mapping[str, str | float | bool]
    columns: Mapping[str, tuple[str, ...]]
    categories: bool = False

    @property
    def known_from(self) -> str:
        """What the layout is known from, in words."""
        return _SOURCES[self.source]

    def place(self, content: str, root: Path) -> Path | None:
        """Find ``ground_truth``, ``field`` or ``images`` below a root; None where the preset has none."""
        candidates = self.layout.get(content, ())
        if not candidates:
            return None
        folder = next((root / candidate for candidate in candidates if (root / candidate).exists()), None)
        if folder is None:
            lacks = Message(
                "missing-folders",
                "has none of the folders in which {preset} keeps its {what}",
                preset=self.name,
                what=content.replace("_", " "),
                folders=candidates,
            )
            below = self._below(candidates, root)
            if below:
                subfolder = shlex.quote(shown(root / below[0]))
                first = Either(
                    f"give one of them: {subfolder}",
                    f"run one of them: segbench run {self.name} {subfolder} METHOD=PRED/{shlex.quote(below[0])}",
                )
                parts = f", but its sub-folders have: {', '.join(below)}"
                raise DataError(shown(root), lacks + parts, Message("fix", "{first}", first=first))
            raise DataError(shown(root), lacks + f": {', '.join(candidates)}", "give the data set's top folder")
        return folder

    @staticmethod
    def _below(candidates: Sequence[str], root: Path) -> list[str]:
        """Name the sub-folders of a root that have the layout which the root lacks, such as categories."""
        try:
            folders = sorted(path for path in root.iterdir() if path.is_dir())
        except OSError:
            return []
        return [shown(path.name) for path in folders if any((path / candidate).is_dir() for candidate in candidates)]


def presets() -> dict[str, Preset]:
    """Return the presets that ship.

    Returns
    -------
    dict of str to Preset
        By name, sorted.

    Examples
    --------
    >>> [(name, preset.protocols[0]) for name, preset in presets().items() if name.startswith("smiyc")]
    [('smiyc', 'pixels'), ('smiyc-components', 'objects'), ('smiyc-obstacles', 'objects')]
    """
    toml_files = (file for file in files("segbench.data_sets").iterdir() if file.name.endswith(".toml"))
    presets = (_read(file.read_text("utf-8"), file.name.removesuffix(".toml"), file.name) for file in toml_files)
    return {preset.name: preset for preset in sorted(presets, key=lambda preset: preset.name)}


def shipped(name: str) -> Path:
    """Find a folder of the data sets that ship: ``"demo"`` or ``"papers"``."""
    package = Path(__file__).parents[1]
    # An installed package carries the folder inside, a checkout beside.
    for datasets in (package / "datasets", package.parent / "datasets"):
        if (datasets / name).is_dir():
            return datasets / name
    problem = Message("not-installed", "is missing from this installation")
    raise DataError(str(package / "datasets" / name), problem, "install segbench again")


def load_preset(name: str) -> Preset:
    """Return a preset that ships, or one from a file.

    Parameters
    ----------
    name : str
        The name of a preset, or the path of a TOML file, which ends in ``.toml``.

    Returns
    -------
    Preset

    Raises
    ------
    ArgumentError
        For a name that there is not.
    DataError
        For a file that is not a preset.

    Examples
    --------
    >>> preset = load_preset("drive")
    >>> preset.protocols, preset.options["positive"]
    (('pixels', 'labels', 'centerlines'), '>=128')
    """
    if not name.endswith(".toml"):
        known = presets()
        if name not in known:
            close = nearest([name.lower()], list(known)).get(name.lower())
            raise ArgumentError(
                Message(
                    "unknown-preset",
                    "no preset is called {name!r}; {question}the presets are {known}, or give the path of a .toml file",
                    name=name,
                    question=f"did you mean {close}? " if close else "",
                    nearest=close,
                    known=tuple(known),
                )
            )
        return known[name]
    path = Path(name)
    try:
        data = read_bounded(path, _LARGEST_BYTES, f"a preset of at most {_LARGEST_BYTES} bytes", _HINT)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        problem = Message("unreadable", "cannot be read ({reason}), expected a preset", reason=shown(error))
        raise DataError(shown(path), problem, "check the path") from error
    return _read(text, path.stem, str(path))


def _read(text: str, name: str, file: str) -> Preset:
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(shown(file), Message("not-toml", "is not TOML ({reason})", reason=str(error)), _HINT) from None
    problems = _problems(content)
    if problems:
        problem = Message("wrong-preset", "is not a preset:\n  {problems:\n  }\n", problems=problems)
        raise DataError(shown(file), problem, _HINT)
    layout = {kind: _as_tuple(where) for kind, where in content["layout"].items()}
    texts: dict[str, Any] = {key: content.get(key, "") for key in _TEXTS}
    texts["source"] = content.get("source", "memory")
    protocols = _as_tuple(content.get("protocols", "pixels"))
    return Preset(
        name=name,
        protocols=protocols,
        layout=layout,
        options=content.get("options", {}),
        columns={protocol: _as_tuple(keys) for protocol, keys in content.get("columns", {}).items()},
        categories=content.get("categories", False),
        **texts,
    )


def _wrong(key: str, value: object, expected: str) -> Message:
    """Say that an entry of a preset has another value than it may have."""
    return Message(
        "wrong-value", "{entry} is {value}, expected {expected}", entry=key, value=repr(value), expected=expected
    )


def _problems(content: Mapping[str, Any]) -> list[Message]:
    """Say all that keeps a TOML file from being a preset."""
    known = {*_TEXTS, "protocols", "categories", "layout", "options", "columns"}
    problems = [Message("unknown-entry", "unknown entry {entry!r}", entry=key) for key in content if key not in known]
    if not isinstance(content.get("categories", False), bool):
        problems.append(_wrong("categories", content["categories"], "true or false"))
    problems += [_wrong(key, content[key], "a text") for key in _TEXTS if not isinstance(content.get(key, ""), str)]
    if content.get("source", "memory") not in get_args(KnownFrom):
        problems.append(_wrong("source", content["source"], f"one of {', '.join(get_args(KnownFrom))}"))
    protocols = _as_tuple(content.get("protocols", "pixels"))
    if not protocols or not all(isinstance(name, str) for name in protocols):
        problems.append(_wrong("protocols", content["protocols"], 'names of protocols: ["boundaries"]'))
    layout, options, columns = (content.get(name, {}) for name in ("layout", "options", "columns"))
    if not all(isinstance(table, dict) for table in (layout, options, columns)):
        return [
            *problems,
            Message("no-table", "layout, options and columns are tables: [layout], [options], [columns]"),
        ]
    problems += [
        _wrong(f"[columns] {protocol}", keys, "a list of keys of metrics, for one of the protocols")
        for protocol, keys in columns.items()
        if protocol not in protocols or not all(isinstance(key, str) for key in _as_tuple(keys))
    ]
    if "protocol" in options:
        problems.append(
            Message(
                "misplaced-entry",
                "[options] holds protocol; write it above [layout]: protocols = [{value}]",
                value=repr(options["protocol"]),
            )
        )
    if "ground_truth" not in layout:
        problems.append(Message("missing-entry", "[layout] lacks ground_truth, the folder below the root"))
    problems += [
        Message("unknown-entry", "[layout] holds {entry!r}, expected some of {expected}", entry=key, expected=_PLACES)
        for key in layout
        if key not in _PLACES
    ]
    for key, where in layout.items():
        folders = _as_tuple(where)
        if not folders or not all(
            isinstance(folder, str) and not (Path(folder).is_absolute() or ".." in Path(folder).parts)
            for folder in folders
        ):
            problems.append(_wrong(f"[layout] {key}", where, "folders below the root"))
    problems += [
        _wrong(f"[options] {key}", value, "a text, a number or true")
        for key, value in options.items()
        if not isinstance(value, (str, int, float))
    ]
    return problems


def _as_tuple(where: Any) -> tuple[Any, ...]:  # noqa: ANN401  whatever the file holds
    return tuple(where) if isinstance(where, list) else (where,)

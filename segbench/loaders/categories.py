"""Data sets of categories: each is a folder with ground truth of its own, and has a folder of predictions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting
from segbench.core.names import first_names
from segbench.loaders.pairing import Inputs, natural
from segbench.loaders.presets import Preset
from segbench.loaders.source import shown

_DEEPEST = 4
_NAMED = 20


def categories_of(preset: Preset, root: Path) -> dict[str, Path]:
    """Find the ground truth of each category of a data set; nothing where it has none, or the root is one itself."""
    candidates = preset.layout["ground_truth"]
    if not preset.categories or any((root / candidate).is_dir() for candidate in candidates) or not root.is_dir():
        return {}
    truths = {}
    for folder in sorted((path for path in root.iterdir() if path.is_dir()), key=lambda path: natural(path.name)):
        truth = next((folder / candidate for candidate in candidates if (folder / candidate).is_dir()), None)
        if truth is not None:
            truths[shown(folder.name)] = truth
    return truths


def inputs_of(truths: Mapping[str, Path], whole: Inputs, layout: Sequence[str], test: Sequence[str]) -> Inputs:
    """Return the inputs of all categories; predictions lie in folders of their names, or below these as in `layout`."""
    prediction = Path(str(whole.prediction))
    folders = {name: _named(prediction, name) for name in truths}
    lacking = [name for name, several in folders.items() if not several]
    if lacking:
        problem = Message(
            "missing-categories",
            "has no folder for {listed}, and the ground truth has these categories",
            listed=first_names(lacking, _NAMED),
            categories=lacking,
        )
        group = Setting("group", next(iter(set(truths) - set(lacking)), lacking[0]))
        hint = Message("fix", "add the predictions, or take one category: {group}", group=group)
        raise DataError(shown(prediction), problem, hint)
    parts = []
    for name, truth in truths.items():
        if len(folders[name]) > 1:
            problem = Message(
                "several-folders",
                "has several folders for {category}: {listed}",
                category=name,
                listed=first_names([shown(path) for path in folders[name]], _NAMED),
            )
            raise DataError(shown(prediction), problem, "leave one of them")
        (folder,) = folders[name]
        prediction_folder = next((folder / below for below in layout if (folder / below).is_dir()), folder)
        photographs = photographs_below(Path(whole.ground_truth) / name, test)
        here = replace(whole, ground_truth=str(truth), prediction=str(prediction_folder), photographs=photographs)
        parts.append(replace(here, category=name))
    first, *others = parts
    return replace(first, merged=tuple(others))


def photographs_below(root: Path, candidates: Sequence[str]) -> str | None:
    """Find the folder of the test images of a data set or of a category."""
    return next((str(root / candidate) for candidate in candidates if (root / candidate).is_dir()), None)


def _named(top: Path, name: str) -> list[Path]:
    """Find the folders of a name below a folder, those nearest to it; the folder itself if it has the name."""
    if not top.is_dir():
        problem = Message("missing", "there is no such {expected}", expected="folder")
        raise DataError(shown(top), problem, "give the folder that holds those of the categories")
    level = [top]
    for _ in range(_DEEPEST):
        matches = [folder / name for folder in level if (folder / name).is_dir()]
        if matches:
            return matches
        level = [Path(child.path) for folder in level for child in os.scandir(folder) if child.is_dir()]
    return [top] if top.name == name else []

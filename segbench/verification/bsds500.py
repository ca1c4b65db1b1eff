"""BSDS500: the benchmark's own five-image examples, and the published metrics of gPb-owt-ucm on the 200 test images.

docs/verify.md says what lies where. The official matching stays at or below the optimum, which is found here: totals
must be equal, and matched ground truth is never lower. Matched predicted pixels depend on which of several best
matchings is found: they agree in total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.numbers import many, of_all
from segbench.loaders.bsds_text import BEST_KEYS, REGION_FILES, REGION_KEYS, read_rows
from segbench.loaders.source import shown
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.settings import Boundaries
from segbench.protocols.regions.settings import Regions
from segbench.report.bsds import files_of
from segbench.verification.checks import Check, Group, VerifiedPart, compare, counted_group, expected, read_expectation

_BEST: Mapping[str, Mapping[str, Sequence[str]]] = {
    "boundaries": {"eval_bdry.txt": ("ods_threshold", *BEST_KEYS)},
    "regions": REGION_KEYS,
}
"""The official files of best values, and the metrics in them."""
_PREFIX, _LIST = "test_fb_", "test.txt"
_WRONG = {
    "matched_gt": ("places lower", np.less),
    "total_gt": ("places that differ", np.not_equal),
    "total_pred": ("places that differ", np.not_equal),
}
_ALLOWED = 1e-3
"""How far matched predicted pixels may be off in total, as a share of them."""
_PROTOCOLS: Mapping[str, Callable[..., Boundaries | Regions]] = {"boundaries": Boundaries, "regions": Regions}


def bsds500_part(folder: Path) -> VerifiedPart:
    """Find what lies in a folder."""
    if not folder.is_dir():
        problem = Message("not-a-folder", "is not a folder")
        raise DataError(shown(folder), problem, "give the folder in which BSDS500 was unpacked")
    names = [example["name"] for example in expected("bsds500")["example"]]
    examples = _layout(folder, "examples", lambda at: any((at["official"] / name).is_dir() for name in names))
    test_set = _layout(folder, "test_set", lambda at: at["ground_truth"].is_dir() and at["ucm2"].is_dir())
    if examples is None and test_set is None:
        raise DataError(
            shown(folder),
            Message("no-known-values", "contains no BSDS500 data that can be checked"),
            "expected bench/data with test_1 to test_5, or BSDS500/ucm2/test beside BSDS500/data/groundTruth/test, "
            "as in the release, or the folders groundTruth, ucm2, bench_png, bench_segs and official",
        )
    groups = [*(_example_groups(examples) if examples else ()), *(_test_set_groups(test_set) if test_set else ())]
    return VerifiedPart("BSDS500", groups)


def _layout(folder: Path, kind: str, holds: Callable[[Mapping[str, Path]], bool]) -> Mapping[str, Path] | None:
    """Find the first layout of this kind that a folder has anything of."""
    for layout in expected("bsds500")["layout"][kind]:
        for below in layout.get("below", ["."]):
            paths = {key: folder / below / path for key, path in layout.items() if key != "below"}
            if holds(paths):
                return paths
    return None


def _example_groups(folders: Mapping[str, Path]) -> Iterator[Group]:
    table = expected("bsds500")
    wanted = set(table["examples"]["images"])
    for example in table["example"]:
        folder, predictions = folders["official"] / example["name"], folders[example["predictions"]]
        names, missing = _common(folders["ground_truth"], predictions)
        if not missing and not names >= wanted:
            missing = f"{of_all(len(names & wanted), len(wanted), 'image', 'lie')} in {_short(predictions)}"
        if not folder.is_dir():
            missing = f"there is no folder {_short(folder)}"
        for kind, protocol in _PROTOCOLS.items():
            if kind in example:
                yield counted_group(
                    f"{example['name']}: {example['predictions']}, {kind}",
                    () if missing else wanted,
                    (folders["ground_truth"], predictions, protocol(**example[kind])),
                    partial(_compare_example, kind, folder, missing),
                    gt_pattern="*.mat",
                )


def _test_set_groups(folders: Mapping[str, Path]) -> Iterator[Group]:
    table = expected("bsds500")
    wanted = table["test_set"]["images"]
    names, missing = _common(folders["ground_truth"], folders["ucm2"])
    if not missing and len(names) != wanted:
        missing = f"{len(names)} of {wanted} images lie in {_short(folders['ucm2'])} and have ground truth"
    if not missing and not names.issuperset(table["examples"]["images"]):
        missing = f"the {wanted} images in {_short(folders['ucm2'])} are not those of the test set"
    for kind, make in _PROTOCOLS.items():
        yield counted_group(
            f"gPb-owt-ucm, 200 test images, {kind}",
            () if missing else names,
            (folders["ground_truth"], folders["ucm2"], make()),
            partial(_compare_published, kind, folders.get("official"), missing),
            gt_pattern="*.mat",
        )
    listed = _images_with_counts(folders["counts"], names)
    if listed:
        yield counted_group(
            f"gPb-owt-ucm, official counts of {many(len(listed), 'image')}",
            listed,
            (folders["ground_truth"], folders["ucm2"], Boundaries()),
            partial(_compare_counts, folders["counts"], listed),
            gt_pattern="*.mat",
        )


def _common(ground_truth: Path, predictions: Path) -> tuple[set[str], str]:
    """Name the images that both folders hold, or say why there are none."""
    for folder in (ground_truth, predictions):
        if not folder.is_dir():
            return set(), f"there is no folder {_short(folder)}"
    return {path.stem for path in ground_truth.glob("*.mat")} & {path.stem for path in predictions.iterdir()}, ""


def _short(folder: Path) -> str:
    """Name a folder by its last two parts."""
    return shown("/".join(folder.parts[-2:]))


def _compare_published(kind: str, official: Path | None, missing: str, result: Result | None) -> Iterator[Check]:
    table = expected("bsds500")
    for key, text in table["test_set"][kind].items():
        value, allowed = read_expectation(text)
        allowed += table["examples"]["allowed"].get(key, 0)
        got = math.nan if result is None else result.summary[key]
        yield Check(what=key, expected=value, got=got, allowed=allowed, source="PAMI 2011", missing=missing)
    if result is not None and official is not None:
        for check in _compare_best(kind, official, result, table["test_set"]["allowed"]):
            yield replace(check, group=f"{_short(official)}, {kind}")


def _compare_example(kind: str, folder: Path, missing: str, result: Result | None) -> Iterator[Check]:
    """Compare the metrics and the lines of all files."""
    table = expected("bsds500")["examples"]
    files = {name: off for name, off in table["allowed"].items() if name.endswith(".txt")}
    if kind == "regions":
        files = dict.fromkeys(REGION_FILES, 0)
    for name in {**_BEST[kind], **files}:
        reason = missing or ("" if (folder / name).is_file() else f"there is no {name} in {folder.name}")
        if reason:
            yield Check(what="its metrics", source=name, missing=reason)
    if result is None:
        return
    for check in _compare_best(kind, folder, result, {**table["allowed"], "regions": 0}):
        yield replace(check, note=table["note"]) if check.what == "ods_f" else check
    ours = files_of(result)
    difference_of, label = {"boundaries": (_worst_row, "its worst row"), "regions": (_lines, "lines that differ")}[kind]
    for name, allowed in files.items():
        if (folder / name).is_file():
            got = difference_of(ours[name], folder / name)
            yield Check(what=label, expected=0, got=got, allowed=allowed, source=name)


def _compare_best(kind: str, folder: Path, result: Result, allowed: Mapping[str, float]) -> Iterator[Check]:
    """Compare the metrics with the official files of best values that are there, as written with six digits."""
    ours = files_of(result)
    for name, keys in _BEST[kind].items():
        if (folder / name).is_file():
            theirs = dict(zip(keys, read_rows(folder / name, (len(keys),))[0].tolist(), strict=True))
            measured = dict(zip(keys, map(float, ours[name].split()), strict=True))
            wanted = {key: value for key, value in theirs.items() if not key.endswith("_threshold")}
            yield from compare(wanted, measured, allowed.get(kind, allowed), name)


def _worst_row(ours: str, path: Path) -> float:
    mine = np.array([[float(text) for text in line.split()] for line in ours.splitlines()])
    theirs = read_rows(path, (mine.shape[1],))
    return float(np.abs(mine - theirs).max()) if mine.shape == theirs.shape else math.inf


def _lines(ours: str, path: Path) -> float:
    read_rows(path, (2, 3, 4, 6))
    mine, theirs = ours.splitlines(), path.read_text("ascii").splitlines()
    return sum(a != b for a, b in zip(mine, theirs, strict=False)) + abs(len(mine) - len(theirs))


def _images_with_counts(folder: Path, available: Collection[str]) -> list[str]:
    """Name the images that a folder holds official counts of, in the order of rows; none where it has no such files."""
    if not any(folder.glob(f"{_PREFIX}*.txt")):
        return []
    listed = folder / _LIST
    if not listed.is_file():
        return sorted(available)
    names = [Path(line).stem for line in listed.read_text("utf-8").split()]
    missing = [name for name in names if name not in available]
    if missing:
        problem = Message(
            "unknown-images",
            "lists {count:many image} without ground truth or prediction, the first {first}",
            count=len(missing),
            first=shown(missing[0]),
        )
        raise DataError(shown(listed), problem, "add these images, or leave them out of the list and of all rows")
    return names


def _compare_counts(folder: Path, names: Sequence[str], result: Result | None) -> Iterator[Check]:
    """Compare every count of these images at every threshold that has a file."""
    if result is None:
        return
    counts: list[Any] = [result.counts[name] for name in names]
    thresholds = {round(threshold, 9): column for column, threshold in enumerate(counts[0].thresholds.tolist())}
    read = {path: read_rows(path, (7,))[:, 3:] for path in sorted(folder.glob(f"{_PREFIX}*.txt"))}
    for path, rows in read.items():
        if len(rows) != len(names):
            problem = Message(
                "other-length",
                "has {found:many row}, expected one for each of {expected:many image}",
                found=len(rows),
                expected=len(names),
            )
            hint = Message("fix", "name the images in the order of rows in {list} beside it, one per line", list=_LIST)
            raise DataError(shown(path), problem, hint)
        if _threshold_of(path) not in thresholds:
            problem = Message(
                "no-threshold",
                "its name has no threshold that is counted here, expected {prefix}0.01.txt to {prefix}0.99.txt",
                prefix=_PREFIX,
            )
            raise DataError(shown(path), problem, "rename or remove it")
    official = np.moveaxis(np.array(list(read.values())), 0, 2)  # image, column, threshold
    columns = [thresholds[_threshold_of(path)] for path in read]
    ours = np.array([image_counts.rows for image_counts in counts])[:, :, columns]
    for key, measured, theirs in zip(
        BoundaryCounts.arrays, np.moveaxis(ours, 1, 0), np.moveaxis(official, 1, 0), strict=True
    ):
        if key in _WRONG:
            mistake, wrong = _WRONG[key]
            got = float(wrong(measured, theirs).sum())
            yield Check(what=f"{key}: {mistake}", expected=0, got=got, allowed=0, source=f"{_PREFIX}*.txt")
        if key.startswith("matched"):
            total, got = float(theirs.sum()), float(measured.sum())
            yield Check(
                what=f"{key}, total", expected=total, got=got, allowed=_ALLOWED * total, source=f"{_PREFIX}*.txt"
            )


def _threshold_of(path: Path) -> float:
    try:
        return float(path.stem.removeprefix(_PREFIX))
    except ValueError:
        return math.nan

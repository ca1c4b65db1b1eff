"""BSDS500: the benchmark's own five-image examples, and the published metrics of gPb-owt-ucm on the 200 test images.

The images and the official results are the user's, in the layout of the release or in folders of their own; what is
missing is listed as not checked. Where the official code left its text files, metrics are compared number by number,
and regions line by line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.numbers import many, of_all
from segbench.loaders.bsds_text import BEST_KEYS, REGION_FILES, REGION_KEYS, read_rows
from segbench.loaders.decoded import shown
from segbench.protocols.boundaries.settings import Boundaries
from segbench.protocols.regions.settings import Regions
from segbench.report.bsds import files_of
from segbench.verification.checks import Check, Group, Part, Progress, counted, expected, metric_name, read_expectation
from segbench.verification.official_counts import compare_counts, images_with_counts

_BEST = "eval_bdry.txt"
_PROTOCOLS: Mapping[str, Callable[..., Boundaries | Regions]] = {"boundaries": Boundaries, "regions": Regions}

Compare = Callable[[Result | None], Iterator[Check]]


def bsds500_part(folder: Path) -> Part:
    """Find what lies in a folder."""
    if not folder.is_dir():
        raise DataError(shown(folder), "is not a folder", "give the folder in which BSDS500 was unpacked")
    names = [example["name"] for example in expected("bsds500")["example"]]
    examples = _layout(folder, "examples", lambda at: any((at["official"] / name).is_dir() for name in names))
    test_set = _layout(folder, "test_set", lambda at: at["ground_truth"].is_dir() and at["ucm2"].is_dir())
    if examples is None and test_set is None:
        raise DataError(
            shown(folder),
            "contains no BSDS500 data that can be checked",
            "expected bench/data with test_1 to test_5, or BSDS500/ucm2/test beside BSDS500/data/groundTruth/test, "
            "as in the release, or the folders groundTruth, ucm2, bench_png, bench_segs and official",
        )
    groups = [*(_example_groups(examples) if examples else ()), *(_test_set_groups(test_set) if test_set else ())]
    return Part("BSDS500", groups)


def _layout(folder: Path, what: str, holds: Callable[[Mapping[str, Path]], bool]) -> Mapping[str, Path] | None:
    """Find the first layout of this kind that a folder has anything of."""
    for layout in expected("bsds500")["layout"][what]:
        for below in layout.get("below", ["."]):
            places = {key: folder / below / place for key, place in layout.items() if key != "below"}
            if holds(places):
                return places
    return None


def _example_groups(places: Mapping[str, Path]) -> Iterator[Group]:
    table = expected("bsds500")
    wanted = set(table["examples"]["images"])
    for example in table["example"]:
        folder, predictions = places["official"] / example["name"], places[example["predictions"]]
        names, missing = _common(places["ground_truth"], predictions)
        if not missing and not names >= wanted:
            missing = f"{of_all(len(names & wanted), len(wanted), 'image', 'lie')} in {_short(predictions)}"
        if not folder.is_dir():
            missing = f"there is no folder {_short(folder)}"
        for kind, compare in (("boundaries", _compare_boundaries), ("regions", _compare_regions)):
            if kind in example:
                yield _group(
                    f"{example['name']}: {example['predictions']}, {kind}",
                    () if missing else wanted,
                    (places["ground_truth"], predictions, _PROTOCOLS[kind](**example[kind])),
                    partial(compare, folder, missing),
                )


def _test_set_groups(places: Mapping[str, Path]) -> Iterator[Group]:
    table = expected("bsds500")
    wanted = table["test_set"]["images"]
    names, missing = _common(places["ground_truth"], places["ucm2"])
    if not missing and len(names) != wanted:
        missing = f"{len(names)} of {wanted} images lie in {_short(places['ucm2'])} and have ground truth"
    if not missing and not names.issuperset(table["examples"]["images"]):
        missing = f"the {wanted} images in {_short(places['ucm2'])} are not those of the test set"
    for kind, make in _PROTOCOLS.items():
        yield _group(
            f"gPb-owt-ucm, 200 test images, {kind}",
            () if missing else names,
            (places["ground_truth"], places["ucm2"], make()),
            partial(_compare_published, kind, places.get("official"), missing),
        )
    if listed := images_with_counts(places["counts"], names):
        yield _group(
            f"gPb-owt-ucm, official counts of {many(len(listed), 'image')}",
            listed,
            (places["ground_truth"], places["ucm2"], Boundaries()),
            partial(_compare_counts, places["counts"], listed),
        )


def _group(name: str, images: Collection[str], run: tuple[Any, ...], compare: Compare) -> Group:
    """Count images, if there are any, and compare the result."""

    def recompute(executor: Executor | None, progress: Progress) -> Iterator[Check]:
        options = {"gt_pattern": "*.mat", "images": sorted(images), "executor": executor, "progress": progress}
        return compare(counted(*run, **options) if images else None)

    return Group(name, recompute, len(images))


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
        yield Check(
            what=metric_name(key), expected=value, got=got, allowed=allowed, source="PAMI 2011", missing=missing
        )
    if result is not None and official is not None:
        allowed = table["test_set"]["allowed"]
        compare = _boundary_metrics if kind == "boundaries" else _region_metrics
        for check in compare(official, result, allowed):
            yield replace(check, group=f"{_short(official)}, {kind}")


def _compare_counts(folder: Path, names: Sequence[str], result: Result | None) -> Iterator[Check]:
    return compare_counts(folder, names, result) if result is not None else iter(())


def _compare_boundaries(folder: Path, missing: str, result: Result | None) -> Iterator[Check]:
    """Compare the metrics with ``eval_bdry.txt``, and every row with the other two files."""
    table = expected("bsds500")["examples"]
    files = {name: allowed for name, allowed in table["allowed"].items() if name.endswith(".txt")}
    yield from _not_checked(folder, (_BEST, *files), missing)
    if result is None:
        return
    for check in _boundary_metrics(folder, result, table["allowed"]):
        yield replace(check, note=table["note"]) if check.what == metric_name("ods_f") else check
    ours = files_of(result)
    for name, allowed in files.items():
        if (folder / name).is_file():
            off = _largest_difference(ours[name], folder / name)
            yield Check(what="its worst row", expected=0, got=off, allowed=allowed, source=name)


def _compare_regions(folder: Path, missing: str, result: Result | None) -> Iterator[Check]:
    """Compare the metrics, as written with six digits, and the lines of all five files."""
    yield from _not_checked(folder, REGION_FILES, missing)
    if result is None:
        return
    yield from _region_metrics(folder, result, {"regions": 0})
    ours = files_of(result)
    for name in REGION_FILES:
        if (folder / name).is_file():
            lines = _lines_that_differ(ours[name], folder / name)
            yield Check(what="lines that differ", expected=0, got=lines, allowed=0, source=name)


def _boundary_metrics(folder: Path, result: Result, allowed: Mapping[str, float]) -> Iterator[Check]:
    """Compare the metrics with ``eval_bdry.txt``, where it is there."""
    if (folder / _BEST).is_file():
        row = read_rows(folder / _BEST, (8,))[0].tolist()
        for key, value in zip(BEST_KEYS, row[1:], strict=True):
            got = result.summary[key]
            yield Check(what=metric_name(key), expected=value, got=got, allowed=allowed[key], source=_BEST)


def _region_metrics(folder: Path, result: Result, allowed: Mapping[str, float]) -> Iterator[Check]:
    """Compare the metrics, as written with six digits, with ``eval_cover.txt`` and ``eval_RI_VOI.txt``."""
    ours = files_of(result)
    for name, keys in REGION_KEYS.items():
        if (folder / name).is_file():
            theirs = read_rows(folder / name, (len(keys),))[0].tolist()
            for key, value, got in zip(keys, theirs, map(float, ours[name].split()), strict=True):
                if not key.endswith("_threshold"):
                    yield Check(what=metric_name(key), expected=value, got=got, allowed=allowed["regions"], source=name)


def _not_checked(folder: Path, files: tuple[str, ...], missing: str) -> Iterator[Check]:
    for name in files:
        reason = missing or ("" if (folder / name).is_file() else f"there is no {name} in {folder.name}")
        if reason:
            yield Check(what="its metrics", source=name, missing=reason)


def _largest_difference(ours: str, path: Path) -> float:
    mine = np.array([[float(text) for text in line.split()] for line in ours.splitlines()])
    theirs = read_rows(path, (mine.shape[1],))
    return float(np.abs(mine - theirs).max()) if mine.shape == theirs.shape else math.inf


def _lines_that_differ(ours: str, path: Path) -> int:
    read_rows(path, (2, 3, 4, 6))
    mine, theirs = ours.splitlines(), path.read_text("ascii").splitlines()
    return sum(a != b for a, b in zip(mine, theirs, strict=False)) + abs(len(mine) - len(theirs))

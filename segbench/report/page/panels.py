"""Which images get pictures, at which thresholds and how large, and which of them the gallery shows as thumbnails."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from segbench.aggregator.executors import answers
from segbench.aggregator.joining import first_run
from segbench.aggregator.rereading import files_of, pictured, why_no_pictures
from segbench.aggregator.result import Result
from segbench.core.arrays import FloatArray
from segbench.core.errors import SegbenchError
from segbench.core.metric import best_threshold, image_headline, images_at_their_best
from segbench.core.numbers import number, of_all
from segbench.curves.pooled import AT_THE_MASK
from segbench.loaders.listing import SampleFiles
from segbench.loaders.source import Source
from segbench.report.page.pictures import MOST_CUTS, THIN, MethodOnImage, Task, draw, with_one_image
from segbench.report.plots.methods import Method, values_by_image

LONGEST_SIDES = (512, 340, 256, 170)
"""Longest sides of pictures, in pixels; the first that fits is taken."""

_FEW_CUTS, _GALLERY_CUTS = 5, 11
_MESSAGES = "problem", "noPhoto"
_IN_GALLERY = "thumbnail", "backdrop", "truth_shown"


@dataclass(frozen=True)
class Panels:
    """Pictures by the image's name, and what to say about those that are missing or small."""

    by_image: Mapping[str, Mapping[str, Any]]
    remark: str = ""

    @cached_property
    def drawn(self) -> set[tuple[str, int]]:
        """The images that were drawn, each with the index of the method."""
        return {
            (name, index)
            for name, panel in self.by_image.items()
            for index, method in enumerate(panel["methods"])
            if "problem" not in method
        }

    @cached_property
    def opened(self) -> list[str]:
        """The images that can be opened: those that were drawn of some method."""
        drawn = {name for name, _ in self.drawn}
        return [name for name in self.by_image if name in drawn]

    @property
    def missing(self) -> str:
        """How many images could be drawn of no method, and why the first; empty where there are none."""
        opened = set(self.opened)
        without = [name for name in self.by_image if name not in opened]
        if not without:
            return ""
        problem = self.by_image[without[0]]["methods"][0]["problem"]
        return f"{of_all(len(without), len(self.by_image), 'image', 'have')} no pictures; the first: {problem}"

    def hidden(self, hide: Callable[[str], str]) -> Panels:
        """Hide places in messages."""

        def without_places(fields: Mapping[str, Any]) -> dict[str, Any]:
            return {key: hide(value) if key in _MESSAGES else value for key, value in fields.items()}

        by_image = {
            name: without_places(panel) | {"methods": [*map(without_places, panel["methods"])]}
            for name, panel in self.by_image.items()
        }
        return replace(self, by_image=by_image)

    def for_scripts(self) -> tuple[list[dict[str, Any]], list[Sequence[float]]]:
        """Return panels without thumbnails, and the distinct thresholds, into which ``cuts`` of a panel is an index."""
        shared: list[Sequence[float]] = []

        def for_script(fields: Mapping[str, Any]) -> dict[str, Any]:
            kept = {key: value for key, value in fields.items() if key not in _IN_GALLERY}
            if "slices" in kept:
                kept["slices"] = [for_script(of_slice) for of_slice in kept["slices"]]
            if "cuts" in kept:
                if kept["cuts"] not in shared:
                    shared.append(kept["cuts"])
                kept["cuts"] = shared.index(kept["cuts"])
            return kept

        every = [
            for_script(panel) | {"methods": [*map(for_script, panel["methods"])]}
            for panel in (self.by_image[name] for name in self.opened)
        ]
        return every, shared


def panels(
    methods: Sequence[Method],
    *,
    gallery: Sequence[str],
    photos: Mapping[str, Source],
    most: int | None,
    budget: int,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> Panels:
    """Draw images of one protocol: those of the gallery, then those that a method fails on before the easy ones."""
    if most == 0:
        return Panels({}, "pictures were switched off")
    names = list(dict.fromkeys([*gallery, *_in_order(methods)]))
    wanted = names[:most]
    if not wanted:
        return Panels({})
    looks = [_looks(method.result, gallery) for method in methods]

    def task(name: str, longest: int) -> Task:
        return Task(name, tuple(look(name) for look in looks), photos.get(name), longest, in_gallery=name in gallery)

    # A few images are drawn smaller and smaller until all would fit.
    samples = [wanted[index] for index in sorted({0, len(wanted) // 2, len(wanted) - 1})]
    for longest in LONGEST_SIDES:
        drawn: dict[str, Mapping[str, Any]] = dict(draw(task(name, longest)) for name in samples)
        mean = sum(map(_size, drawn.values())) / len(samples)
        if mean * len(wanted) <= budget:
            break
    wanted = wanted if most else wanted[: max(1, int(budget / mean))]
    missing = [name for name in wanted if name not in drawn]
    tasks = {name: [task(name, longest)] for name in sorted(missing)}  # as results files hold them
    batches = answers(executor, _draw, [tasks[name] for name in missing], lost=_worker_died)
    for done, batch in enumerate(batches, len(wanted) - len(missing) + 1):  # of one image each
        drawn |= batch
        if progress:
            progress(done, len(wanted))
    kept: dict[str, Mapping[str, Any]] = {}
    room = budget
    for name in wanted:
        room -= _size(drawn[name])
        if room >= 0 or most or not kept:
            kept[name] = drawn[name]
    few = f"{of_all(len(kept), len(names), 'image', 'have')} pictures, to keep the page small"
    return Panels(kept, "" if len(kept) == len(names) else few)


def _draw(tasks: Sequence[Task]) -> list[tuple[str, dict[str, Any]]]:
    return [draw(task) for task in tasks]


def _worker_died(task: Task) -> tuple[str, dict[str, Any]]:
    problem = {"problem": "the worker process died twice while drawing it"}
    return task.name, {"name": task.name, "truths": [], "methods": [problem] * len(task.methods)}


def _in_order(methods: Sequence[Method]) -> list[str]:
    """Name the images, the worst first, by the method that does worst; those with nothing to find last.

    Where these have a ranking of their own, such as by their strongest false alarm, they alternate with the others.
    """
    names, values = values_by_image(methods)
    ranked = image_headline(methods[0].result.metrics).direction * values
    worst = np.where(np.isnan(ranked), np.inf, ranked).min(axis=0)
    beside = _highest(methods)
    apart = set(beside)
    others = [names[k] for k in np.argsort(worst, kind="stable").tolist() if names[k] not in apart]
    return [name for pair in zip_longest(others, beside) for name in pair if name is not None]


def _highest(methods: Sequence[Method]) -> list[str]:
    """Name the images that the metric of images leaves undefined, by what ranks them beside it, the highest first."""
    names = {name for method in methods for name in method.beside}
    highest = {name: max(method.beside.get(name, -math.inf) for method in methods) for name in names}
    return sorted(names, key=lambda name: (-highest[name], name))


def _looks(result: Result, gallery: Sequence[str]) -> Callable[[str], MethodOnImage]:
    """Return, for a method, how each image is to be drawn; of trainings those of the first are shown."""
    result = first_run(result)
    files: Mapping[str, SampleFiles] = {}
    reason = why_no_pictures(result)
    problem = reason and f"{result.label}: {reason}"
    try:
        files = {} if reason else files_of(result)
    except SegbenchError as error:
        problem = error.written("options")
    known = bool(files and result.counts)
    of_gallery = _cuts(result, _GALLERY_CUTS) if known else ((), 0)
    of_others = _cuts(result, _FEW_CUTS) if known else ((), 0)

    def look(name: str) -> MethodOnImage:
        if name in result.failed or name not in result.counts:
            return MethodOnImage(problem=str(result.failed.get(name, "this method has no such image")))
        if name not in files:
            gone = f"{name}: its files no longer exist; put them back, or run again"
            return MethodOnImage(problem=problem or gone)
        cuts, start = of_gallery if name in gallery else of_others
        return MethodOnImage(with_one_image(result, name), files[name], cuts, start)

    return look


def _cuts(result: Result, matched: int) -> tuple[tuple[float, ...], int]:
    """Return thresholds to slide through (`matched` many where matching takes time) and the index of the best one."""
    counts = result.scores
    if counts:
        scores = counts.scores[np.isfinite(counts.scores)][::-1].astype(np.float64)
        if not scores.size:
            return (), 0
        best = float(result.summary["ods_threshold"])
        if AT_THE_MASK in result.summary.notes:
            return (best,), 0
        if scores.size > MOST_CUTS:
            even = np.searchsorted(scores, np.linspace(scores[0], scores[-1], MOST_CUTS - 1))
            scores = np.union1d(scores[even], best if np.isfinite(best) else scores[:1])
        return tuple(scores.tolist()), _nearest(scores, best)
    own = pictured(result).thresholds_of(result.table)
    if own is not None:
        return _around(*own, matched)
    threshold = best_threshold(result.metrics)
    best = math.nan if threshold is None else float(result.summary[threshold.key])
    if result.drawn is None:
        return (best,), 0
    if math.isnan(best):  # the headline has no threshold, but the curve has a best point
        cuts, heights = result.drawn.against_threshold()
        best = float(cuts[heights.argmax()]) if cuts.size else best
    return _around(result.drawn.columns["threshold"], best, matched)


def _around(every: FloatArray, best: float, most: int) -> tuple[tuple[float, ...], int]:
    """Return some thresholds on both sides of the best one, and its index."""
    if not every.size:
        return (best,), 0
    middle, step = _nearest(every, best), max(1, every.size // (2 * most))
    around = middle + step * (np.arange(most) - most // 2)
    shown = np.unique(np.clip(around, 0, every.size - 1))
    return tuple(every[shown].tolist()), int(np.searchsorted(shown, middle))


def _nearest(values: FloatArray, wanted: float) -> int:
    return 0 if math.isnan(wanted) else int(np.argmin(np.abs(values - wanted)))


def _size(panel: Mapping[str, Any]) -> int:
    return len(json.dumps(panel))


@dataclass(frozen=True)
class GalleryRow:
    """An image of the gallery: why it is there, its metrics, its photograph and ground truth, thumbnails."""

    reason: str
    image: str
    metric_text: str
    backdrop: str = ""
    truth: Mapping[str, Any] | None = None
    thumbnails: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class Gallery:
    """Rows with thumbnails of the methods of these indices; `thin` if what is tinted are lines or small."""

    rows: tuple[GalleryRow, ...] = ()
    methods: tuple[int, ...] = ()
    thin: bool = False

    @property
    def has_photographs(self) -> bool:
        """Whether there is a column of photographs."""
        return any(row.backdrop for row in self.rows)

    @property
    def columns(self) -> int:
        """How many pictures a row has: those of methods, the ground truth and perhaps the photograph."""
        return len(self.methods) + 1 + self.has_photographs


def chosen_rows(methods: Sequence[Method]) -> tuple[GalleryRow, ...]:
    """Choose the worst image, the one that methods differ on most, the median and the best, by means over methods."""
    competing = [method for method in methods if method.result.rules.competes] or list(methods)
    metric, title = image_headline(methods[0].result.metrics), _ranking_title(methods[0])
    names, values = values_by_image(competing)
    known = np.flatnonzero(~np.isnan(values).all(axis=0))
    of_each = [[value for value in column if not math.isnan(value)] for column in values[:, known].T.tolist()]
    mean = np.array([math.fsum(of_image) / len(of_image) for of_image in of_each])
    spread = np.array([max(of_image) - min(of_image) for of_image in of_each])
    by_mean = np.argsort(metric.direction * mean, kind="stable")
    by_spread = np.argsort(-spread, kind="stable")
    off = np.abs(2 * np.arange(by_mean.size) + 1 - by_mean.size)
    wanted = {
        "Worst": by_mean,
        "Widest disagreement": by_spread[: np.count_nonzero(spread)],
        "Median": by_mean[np.argsort(off, kind="stable")],
        "Best": by_mean[::-1],
    }
    rows: dict[str, GalleryRow] = {}
    for reason, order in wanted.items():
        k = next((k for k in order if names[known[k]] not in rows), None)
        if k is not None:
            name = names[known[k]]
            rows[name] = GalleryRow(reason, name, _metric_text(title, of_each[k], reason))
    ranked = {names[k] for k in known}
    for name in [name for name in _highest(competing) if name not in ranked][:1]:
        beside = [method.beside[name] for method in competing if name in method.beside]
        rows[name] = GalleryRow("Nothing to find", name, _metric_text("highest score", beside, ""))
    return tuple(rows.values())


def _ranking_title(method: Method) -> str:
    """Call the metric that images are ranked by."""
    metrics = method.result.metrics
    name = image_headline(metrics).name_for_images
    return f"best {name}" if images_at_their_best(metrics) else name


def _metric_text(title: str, known: Sequence[float], reason: str) -> str:
    if len(known) == 1:
        return f"{title} {number(known[0])}"
    if reason == "Widest disagreement":
        return f"{title} {number(min(known))} to {number(max(known))}"
    return f"mean {title} {number(math.fsum(known) / len(known))}"


def gallery(rows: Sequence[GalleryRow], methods: Sequence[Method], panels: Mapping[str, Mapping[str, Any]]) -> Gallery:
    """Return the gallery of the rows that were drawn; empty where no method has a picture."""
    drawn = [(row, panels[row.image]) for row in rows if row.image in panels]
    made = [[method_panel.get("thumbnail") for method_panel in panel["methods"]] for _, panel in drawn]
    shown_methods = tuple(k for k in range(len(methods)) if any(thumbnails[k] for thumbnails in made))
    shares = [thumbnail["share"] for thumbnails in made for thumbnail in thumbnails if thumbnail]
    if not shares:
        return Gallery()
    shown = []
    for row, panel in drawn:
        thumbnails = tuple(_thumbnail(panel["methods"][k], methods[k], row.image) for k in shown_methods)
        truth = panel.get("truth_shown")
        shown.append(replace(row, backdrop=panel.get("backdrop", ""), truth=truth, thumbnails=thumbnails))
    return Gallery(tuple(shown), shown_methods, sum(shares) / len(shares) < THIN)


def _thumbnail(panel: Mapping[str, Any], method: Method, image: str) -> Mapping[str, Any]:
    if "thumbnail" not in panel:
        return panel  # which says why
    drawn = panel["thumbnail"]
    metrics: Mapping[str, float] = drawn["metrics"]
    name = "F" if "F" in metrics else next(iter(metrics), "")
    metric_text = f"{name} {number(metrics[name])}" if name else ""
    rank = _ranking_title(method)
    ranked_by = f"{rank} {number(method.values.get(image, math.nan))}"
    return {
        **drawn,
        "metric_text": metric_text or ranked_by,
        "ranked_by": ranked_by if metric_text and rank != name else "",
        "slice": panel.get("slice", ""),
    }

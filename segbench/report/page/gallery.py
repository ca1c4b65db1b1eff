"""Which images the gallery shows, and its thumbnails: photographs tinted by what is true, false and missed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segbench.core.capabilities import competes
from segbench.core.metric import image_headline, images_at_their_best
from segbench.core.numbers import number
from segbench.report.page.charts import Method
from segbench.report.page.pictures import THIN


@dataclass(frozen=True)
class Row:
    """An image of the gallery: why it is there, and what its metrics are."""

    reason: str
    image: str
    said: str


@dataclass(frozen=True)
class Thumbnail:
    """One image by one method: the tint as a PNG in base64, its size and that of the image, and the metric there.

    `ranked_by` is the metric that rows were chosen by, where it is another one. Without a picture, `problem` says why.
    """

    tint: str = ""
    size: tuple[int, int] = (0, 0)
    image_size: tuple[int, int] = (0, 0)
    said: str = ""
    ranked_by: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Shown:
    """A row as it is shown, with its photograph as a WebP in base64, if there is one."""

    row: Row
    backdrop: str
    thumbnails: tuple[Thumbnail, ...]


@dataclass(frozen=True)
class Gallery:
    """Rows with thumbnails of the methods at some places; `thin` if what is tinted are lines or small."""

    rows: tuple[Shown, ...] = ()
    places: tuple[int, ...] = ()
    thin: bool = False


def chosen_rows(methods: Sequence[Method]) -> tuple[Row, ...]:
    """Choose the worst image, the one that methods differ on most, the median and the best, by means over methods."""
    competing = [method for method in methods if competes(method.result.rules)] or list(methods)
    metric, title = image_headline(methods[0].result.rules.metrics()), _ranking_title(methods[0])
    values = {
        name: [method.values[name] for method in competing if name in method.values]
        for name in sorted({name for method in competing for name in method.values})
    }
    mean = {name: math.fsum(known) / len(known) for name, known in values.items()}
    spread = {name: max(known) - min(known) for name, known in values.items()}
    by_mean = sorted(mean, key=lambda name: (metric.direction * mean[name], name))
    apart = [name for name in sorted(spread, key=lambda name: (-spread[name], name)) if spread[name] > 0]
    from_middle = [by_mean[k] for k in sorted(range(len(by_mean)), key=lambda k: abs(2 * k + 1 - len(by_mean)))]
    wanted = {"Worst": by_mean, "Widest disagreement": apart, "Median": from_middle, "Best": by_mean[::-1]}
    rows: dict[str, Row] = {}
    for reason, order in wanted.items():
        name = next((name for name in order if name not in rows), None)
        if name is not None:
            rows[name] = Row(reason, name, _said(title, values[name], reason))
    return tuple(rows.values())


def _ranking_title(method: Method) -> str:
    """Call the metric that images are ranked by."""
    rules = method.result.rules
    return f"{'best ' * images_at_their_best(rules.metrics())}{image_headline(rules.metrics()).name_for_images}"


def _said(title: str, known: Sequence[float], reason: str) -> str:
    if len(known) == 1:
        return f"{title} {number(known[0])}"
    if reason == "Widest disagreement":
        return f"{title} {number(min(known))} to {number(max(known))}"
    return f"mean {title} {number(math.fsum(known) / len(known))}"


def gallery(rows: Sequence[Row], methods: Sequence[Method], panels: Mapping[str, Mapping[str, Any]]) -> Gallery:
    """Give the gallery of the rows that were drawn; nothing where no method has a picture."""
    drawn = [(row, panels[row.image]) for row in rows if row.image in panels]
    made = [[one.get("thumbnail") for one in panel["methods"]] for _, panel in drawn]
    places = tuple(k for k in range(len(methods)) if any(thumbnails[k] for thumbnails in made))
    shares = [one["share"] for thumbnails in made for one in thumbnails if one]
    if not shares:
        return Gallery()
    shown = [
        Shown(
            row,
            panel.get("backdrop", ""),
            tuple(_thumbnail(panel["methods"][k], methods[k], row.image) for k in places),
        )
        for row, panel in drawn
    ]
    return Gallery(tuple(shown), places, sum(shares) / len(shares) < THIN)


def _thumbnail(panel: Mapping[str, Any], method: Method, image: str) -> Thumbnail:
    if "thumbnail" not in panel:
        return Thumbnail(problem=panel["problem"])
    drawn = panel["thumbnail"]
    metrics: Mapping[str, float] = drawn["metrics"]
    name = "F" if "F" in metrics else next(iter(metrics), "")
    said = f"{name} {number(metrics[name])}" if name else ""
    rank = _ranking_title(method)
    ranked_by = f"{rank} {number(method.values.get(image, math.nan))}"
    width, height, *image_size = drawn["size"]
    shown = (said, ranked_by if rank != name else "") if said else (ranked_by, "")
    return Thumbnail(drawn["tint"], (width, height), tuple(image_size), *shown)

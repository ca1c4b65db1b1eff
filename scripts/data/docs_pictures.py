"""Draw the pictures of the documentation with segbench itself, from the data that ship and from printed examples.

    python scripts/data/docs_pictures.py [NAME...]      # all of them, or those named, into docs/images

Each is drawn a second time for dark pages, as NAME-dark.png, if that makes a difference. The report page is shown by
Chromium, which must be installed.
"""

from __future__ import annotations

import argparse
import runpy
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import imageio.v3 as iio
import matplotlib as mpl
import numpy as np
from drawings import DRAWINGS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import segbench
from segbench import ArgumentError, Result, ScoreCounts
from segbench.aggregator.writing import refuse_foreign, signed_png, write_file
from segbench.core.numbers import number
from segbench.drawing.palette import COLOURS, FALSE_POSITIVE, MATCHED, MATCHED_TRUTH, MISS, class_colours
from segbench.report.figure.files import save_figure
from segbench.report.figure.grid import FigureSettings, grid_of
from segbench.report.plots.saving import save_plot

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "datasets" / "demo"
BELOW = {"ha": "center", "va": "top", "fontweight": "bold"}
METHODS = ("border_colours", "local_entropy", "random_walker", "soft_otsu")
DARK = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "#131416"),
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), "#cfd0d0"),
    "legend.facecolor": "#1a1c1e",
    "legend.edgecolor": "#3f4244",
}
"""Matplotlib's settings for a dark page of the documentation."""
WRONG = {"color": "0.45", "linestyle": "--", "linewidth": 1.4}


def objects(*methods: str, protocol: str | segbench.Protocol = "pixels") -> list[Result]:
    """Count methods of the demo's objects, by default their pixels."""
    folder = DEMO / "objects"
    return [segbench.evaluate(folder / "ground_truth", folder / "predictions" / method, protocol) for method in methods]


def side_by_side(width: float = 9, height: float = 4.2) -> tuple[Figure, Axes, Axes]:
    """Return a figure with two axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    left, right = figure.subplots(1, 2)
    return figure, left, right


def front_page() -> Figure:
    """Draw the main job in one row: a photograph, a soft prediction, its errors, and the curves of all methods."""
    results = objects(*METHODS)
    walker, name = results[2], "chelsea"
    photograph = iio.imread(DEMO / "images" / f"{name}.jpg")
    prediction = iio.imread(DEMO / "objects" / "predictions" / walker.method / f"{name}.png")
    with tempfile.TemporaryDirectory() as folder:
        segbench.export_overlays([walker], folder, names=[name])
        states = iio.imread(Path(folder, walker.method, f"{name}.png"), mode="RGB")
    grey = photograph.mean(axis=2, keepdims=True) / 255 if photograph.ndim == 3 else photograph[..., None] / 255
    errors = np.where((states == 255).all(axis=2, keepdims=True), grey, 0.45 * grey + 0.55 * states / 255)
    figure = Figure(figsize=(13, 3), layout="constrained")
    *pictures, right = figure.subplots(1, 4, width_ratios=(1, 1, 1, 0.9))
    for ax, picture, title in zip(
        pictures,
        (photograph, prediction, errors),
        ("photograph", "soft prediction", "errors at the ODS threshold"),
        strict=True,
    ):
        ax.imshow(picture, cmap="gray")
        ax.set_title(title, fontsize=10)
        ax.axis("off")
    for index, (word, colour) in enumerate((("true", MATCHED), ("false", FALSE_POSITIVE), ("missed", MISS))):
        pictures[-1].text(0.2 + 0.3 * index, -0.03, word, color=colour, transform=pictures[-1].transAxes, **BELOW)
    segbench.plot_pr(results, ax=right)
    return figure


@cache
def pages() -> tuple[list[Result], dict[str, NDArray[np.uint8]]]:
    """Count four methods on pages of text, and return a photograph and the overlay of each method."""
    example, name = ROOT / "scripts" / "examples" / "threshold_pages.py", "page07"
    with tempfile.TemporaryDirectory() as folder:
        target, overlays = Path(folder, "pages"), Path(folder, "overlays")
        runpy.run_path(str(example))["write"](target)
        methods = sorted((target / "predictions").iterdir())
        results = [segbench.evaluate(target / "ground_truth", method, segbench.Labels()) for method in methods]
        segbench.export_overlays(results, overlays, names=[name])
        pictures = {method.name: iio.imread(overlays / method.name / f"{name}.png", mode="RGB") for method in methods}
        return results, {"photograph": iio.imread(target / "images" / f"{name}.png"), **pictures}


def verdict() -> Figure:
    """Draw a comparison with a clear winner and a tie: what the methods predict, the answer, and all differences."""
    results, pictures = pages()
    comparison = segbench.compare_results(results)
    tied = segbench.compare_results([result for result in results if result.method in ("niblack", "yen")])
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1))
    panels = left.subplots(2, 2)
    for ax, name in zip(panels.flat, ("photograph", "sauvola", "niblack", "yen"), strict=True):
        ax.imshow(pictures[name], cmap="gray", vmin=0, vmax=255)
        ax.set_title(name, fontsize=10)
        ax.axis("off")
    for index, (word, colour) in enumerate((("true", MATCHED), ("false", FALSE_POSITIVE), ("missed", MISS))):
        panels[1, 1].text(0.2 + 0.3 * index, -0.03, word, color=colour, transform=panels[1, 1].transAxes, **BELOW)
    segbench.plot_comparison(comparison, ax=right.subplots())
    figure.suptitle(
        "\n".join(result.answer().verdict for result in (comparison, tied)), fontsize=12.5, fontweight="bold"
    )
    return figure


def demo_pr() -> Callable[[Path], None]:
    """Draw what ``segbench demo`` draws."""
    results = objects(*METHODS)
    return lambda path: save_plot(results, path)


def roc_and_pr() -> Figure:
    """Draw two methods whose curves cross, in both spaces."""
    results = objects("border_colours", "soft_otsu")
    figure, left, right = side_by_side()
    segbench.plot_roc(results, ax=left)
    segbench.plot_pr(results, ax=right)
    return figure


def interpolation() -> Figure:
    """Draw Davis and Goadrich's table 1 and figure 6 beside straight lines."""
    figure, left, right = side_by_side()
    table = segbench.pr_curve(ScoreCounts.from_points([5, 10], [5, 30], 20, 2000))
    lone = ScoreCounts.from_points([9], [0], 433, 56164)
    single = segbench.pr_curve(lone)
    table.plot(ax=left, label="false positives grow linearly")
    left.plot(table.recall[1:], table.precision[1:], label="straight lines", **WRONG)
    left.plot([0.25, 0.5], [0.5, 0.25], "o", color=mpl.rcParams["text.color"], markersize=5)
    left.annotate("A: 5 true, 5 false", (0.25, 0.5), (0.3, 0.52))
    left.annotate("B: 10 true, 30 false", (0.5, 0.25), (0.54, 0.27))
    left.legend(loc="upper right")
    linear = segbench.auc_pr(lone, method="linear")
    single.plot(ax=right, label=f"false positives grow linearly: {number(single.area)}")
    right.plot(single.recall, single.precision, label=f"straight line: {number(linear)}", **WRONG)
    right.legend(loc="upper right")
    return figure


def orders() -> Figure:
    """Draw two curves that change places between the areas, after Davis and Goadrich's figure 7."""
    figure, left, right = side_by_side()
    for name, tp, fp in (("I", [10, 20], [0, 1500]), ("II", [0, 20], [0, 500])):
        counts = ScoreCounts.from_points(tp, fp, 20, 2000)
        segbench.roc_curve(counts).plot(ax=left, label=f"{name}: AUC-ROC {number(segbench.auc_roc(counts))}")
        segbench.pr_curve(counts).plot(ax=right, label=f"{name}: AUC-PR {number(segbench.auc_pr(counts))}")
    right.legend(loc="upper right")
    return figure


def hull() -> Figure:
    """Draw the convex hull of a ROC curve, and the same in PR space."""
    (result,) = objects("border_colours")
    figure, left, right = side_by_side()
    for ax, curve, best in (
        (left, segbench.roc_curve(result.pooled), segbench.roc_hull(result.pooled)),
        (right, segbench.pr_curve(result.pooled), segbench.achievable_pr_curve(result.pooled)),
    ):
        curve.plot(ax=ax)
        best.plot(ax=ax)
    return figure


def average_precision() -> Figure:
    """Draw a curve of few scores, and the steps that average precision adds up."""
    (result,) = objects("soft_otsu")
    figure, left, right = side_by_side()
    for ax, scores in ((left, 5), (right, 17)):
        counts = coarse(result.pooled, scores - 1)
        curve = segbench.pr_curve(counts)
        curve.plot(ax=ax, label=f"{counts.scores.size} scores, AUC-PR {number(curve.area)}")
        steps = np.concatenate([curve.precision[1:2], curve.precision[1:]])
        ap = segbench.average_precision(counts)
        ax.plot(curve.recall, steps, drawstyle="steps-pre", label=f"steps, AP {number(ap)}", **WRONG)
        ax.legend(loc="lower left")
    return figure


def coarse(counts: ScoreCounts, levels: int) -> ScoreCounts:
    """Round scores to a few levels."""
    rounded = np.rint(counts.scores * levels) / levels
    kept = np.unique(rounded)[::-1]
    positives, negatives = (
        np.array([part[rounded == score].sum() for score in kept]) for part in (counts.positives, counts.negatives)
    )
    return ScoreCounts(kept, positives, negatives)


def bands() -> Callable[[Path], None]:
    """Draw bootstrap bands over images."""
    results = objects("random_walker", "local_entropy")
    return lambda path: save_plot(results, path, level=0.95)


def comparison() -> Callable[[Path], None]:
    """Draw paired differences of all methods."""
    results = objects(*METHODS)
    return lambda path: save_plot(results, path, kind="comparison")


@cache
def edges() -> list[Result]:
    """Count the boundary benchmark of the demo, with the annotators."""
    folder, settings = DEMO / "edges", segbench.Boundaries(nms=(1, 5, 1.01))
    methods = ("canny_votes", "entropy_gradient", "gradient", "half_discs")
    results = [
        segbench.evaluate(folder / "ground_truth", folder / "predictions" / method, settings, gt_pattern="*.#")
        for method in methods
    ]
    human = segbench.Annotators(settings=segbench.Boundaries())
    return [*results, segbench.evaluate(folder / "ground_truth", None, human, gt_pattern="*.#")]


def edges_pr() -> Callable[[Path], None]:
    """Draw the boundary benchmark of the demo with the human point."""
    return lambda path: save_plot(edges(), path)


def matches() -> Callable[[Path], None]:
    """Draw how part of the boundaries of an image is matched, enlarged."""

    def write(path: Path) -> None:
        states = overlay_of(edges()[3], "coffee")[20:110, 60:190]
        iio.imwrite(path, states.repeat(8, axis=0).repeat(8, axis=1))

    return write


def overlay() -> Callable[[Path], None]:
    """Draw true, false and missed pixels of an image."""
    (result,) = objects("random_walker")
    return lambda path: iio.imwrite(path, overlay_of(result, "chelsea"))


def paper_figure(*rows: str, **settings: Any) -> Callable[[Path], None]:  # noqa: ANN401  settings of the figure
    """Draw the figure of a paper, of all methods of the demo's objects."""
    grid = grid_of(objects(*METHODS), FigureSettings(images=DEMO / "images", rows=rows, **settings))

    def write(path: Path) -> None:
        save_figure(grid, path)

    return write


def overlay_of(result: Result, image: str) -> NDArray[np.uint8]:
    """Read the overlay of an image."""
    with tempfile.TemporaryDirectory() as folder:
        segbench.export_overlays([result], folder, names=[image])
        return iio.imread(Path(folder, result.method, f"{image}.png"), mode="RGB")


PATH = (
    ("cli", "Inputs"),
    ("loaders", "pairs of files"),
    ("checks", "findings"),
    ("aggregator", "batches of names"),
    ("loaders", "bytes, digest"),
    ("loaders", "Sample"),
    ("inputs", "ScoredPixels"),
    ("protocols", "ScoreCounts"),
    ("aggregator", "Outcome"),
    ("inputs", "settled facts"),
    ("aggregator", "Result"),
    ("protocols", "PixelTable"),
    ("report", "ODS"),
)
"""The packages that a score map goes through on its way to the ODS, and what each gives; see docs/architecture.md."""


def architecture() -> Figure:
    """Draw the packages as lanes, each above those it imports, and the path of one score map through them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    lanes = [name.removeprefix("segbench.") for layer in reversed(layers) for name in reversed(layer.split(" | "))]
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    ax = figure.subplots()
    for y in range(len(lanes)):
        ax.axhspan(y - 0.46, y + 0.46, color=mpl.rcParams["text.color"], alpha=0.06, linewidth=0)
    steps = [lanes.index(package) for package, _ in PATH]
    numbers = range(1, len(steps) + 1)
    ax.plot(numbers, steps, color="C0", linewidth=1.2)
    for x, (y, (_, text)) in enumerate(zip(steps, PATH, strict=True), 1):
        ax.plot(x, y, "o", color="C0", markersize=13)
        ax.annotate(str(x), (x, y), color="white", ha="center", va="center", fontsize=8)
        box = {"facecolor": mpl.rcParams["axes.facecolor"], "edgecolor": "none", "pad": 0.8}
        ax.annotate(text, (x, y - 0.24), ha="center", va="top", fontsize=8, bbox=box)
    ax.set_yticks(range(len(lanes)), lanes)
    ax.set_xticks([])
    ax.set_xlim(0.3, len(steps) + 0.7)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return figure


@cache
def labels() -> list[Result]:
    """Count the label maps of the demo."""
    folder = DEMO / "labels"
    protocol = segbench.Labels(classes=str(folder / "classes.txt"))
    return [
        segbench.evaluate(folder / "ground_truth", folder / "predictions" / method, protocol)
        for method in ("random_walker", "watershed")
    ]


@cache
def contours() -> list[Result]:
    """Count the contours of the demo's objects."""
    return objects(*METHODS, protocol=segbench.Contours(at=0.5))


def label_maps() -> Figure:
    """Draw the confusion matrix of a method on the label maps of the demo, and IoU per class of two."""
    figure, left, right = side_by_side()
    segbench.plot_confusion(labels()[0], ax=left)
    segbench.plot_classes(labels(), level=0.95, ax=right)
    return figure


def centerlines() -> Figure:
    """Draw a branching line and a prediction of it, and which parts of their centerlines lie in the other mask."""
    from skimage.morphology import skeletonize

    rows, columns = np.mgrid[:60, :100]
    trunk = np.abs(rows - 36 - 6 * np.sin(columns / 14)) < 3.5
    branch = (np.abs(rows + 0.55 * columns - 62) < 3) & (columns > 34) & (columns < 88)
    truth = (trunk | branch) & (columns > 4) & (columns < 95)
    gap = (columns > 60) & (columns < 66) & (rows > 24)
    short = truth & ~gap & ~(branch & (columns > 72))
    predicted = short | ((np.abs(rows - 0.4 * columns - 46) < 2) & (columns > 4) & (columns < 28))
    lines = skeletonize(truth), skeletonize(predicted)
    counts = segbench.count(truth, predicted, "centerlines")
    figure, left, right = side_by_side(9, 3)
    for ax, mask, line, colours, title in (
        (left, truth, lines[1], (MATCHED, FALSE_POSITIVE), f"precision {number(counts.precision[0], digits=2)}"),
        (right, predicted, lines[0], (MATCHED_TRUTH, MISS), f"sensitivity {number(counts.sensitivity[0], digits=2)}"),
    ):
        ax.imshow(np.where(mask, 0.8, np.nan), cmap="gray", vmin=0, vmax=1)
        for inside, colour in zip((True, False), colours, strict=True):
            y, x = np.nonzero(line & (mask == inside))
            ax.plot(x, y, "s", markersize=2.6, color=colour)
        ax.set_title(title)
        ax.axis("off")
    return figure


@cache
def checkpoints() -> list[Result]:
    """Count a method of the demo at several strengths of smoothing, as if they were checkpoints of a training."""
    folder = DEMO / "objects"
    truths = {path.stem: iio.imread(path) > 0 for path in sorted((folder / "ground_truth").glob("*.png"))}
    soft = {name: iio.imread(folder / "predictions" / "random_walker" / f"{name}.png") / 255 for name in truths}
    noise = np.random.default_rng(0)
    named = {}
    for epoch in (5, 10, 20, 40, 80):
        noisy = {
            name: np.clip(scores + noise.normal(0, 3 / epoch, scores.shape), 0, 1) for name, scores in soft.items()
        }
        named[f"epoch_{epoch}"] = {name: (truths[name], np.round(noisy[name], 3)) for name in truths}
    return [segbench.evaluate(pairs, method=method) for method, pairs in named.items()]


def soft_maps(method: str) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return the masks of the demo's objects, and the soft maps of a method."""
    folder = DEMO / "objects"
    truths = {path.stem: iio.imread(path) > 0 for path in sorted((folder / "ground_truth").glob("*.png"))}
    return {
        name: (truth, iio.imread(folder / "predictions" / method / f"{name}.png")) for name, truth in truths.items()
    }


@cache
def components() -> list[Result]:
    """Match the connected parts of the demo's objects with those of masks."""
    from skimage.measure import label

    protocol = segbench.Objects(kind="instances")
    numbered = {
        method: {name: (label(truth), label(soft > 127)) for name, (truth, soft) in soft_maps(method).items()}
        for method in METHODS
    }
    return [segbench.evaluate(pairs, protocol=protocol, method=method) for method, pairs in numbered.items()]


@cache
def anomalies() -> list[Result]:
    """Score the demo's objects as anomalies, smoothed; the same images without them, at half the scores, are normal."""
    from skimage.filters import gaussian

    results = []
    for method in METHODS:
        pairs = {}
        for name, (truth, soft) in soft_maps(method).items():
            pairs[name] = truth, gaussian(soft / 255, 4)
            pairs[f"{name}_normal"] = np.zeros_like(truth), gaussian(np.where(truth, 0, soft) / 510, 4)
        results.append(segbench.evaluate(pairs, protocol="anomalies", method=method))
    return results


GALLERY: dict[str, Callable[[], Sequence[Result]]] = {
    "pr": edges,
    "roc": lambda: objects(*METHODS),
    "f": edges,
    "images": edges,
    "box": edges,
    "scatter": lambda: edges()[:2],
    "intervals": lambda: objects(*METHODS),
    "checkpoints": checkpoints,
    "critical_difference": contours,
    "comparison": lambda: edges()[:-1],
    "e": lambda: objects(*METHODS, protocol="saliency"),
    "nsd": contours,
    "distances": contours,
    "reliability": lambda: objects(*METHODS),
    "confusion": lambda: labels()[:1],
    "classes": labels,
    "object_f1": components,
    "object_ts": components,
    "froc": lambda: objects(*METHODS, protocol=segbench.Objects(kind="components", at=0.5)),
    "pro": anomalies,
    "pimo": anomalies,
}
"""Of each kind of plot, what docs/gallery.md shows."""


def gallery(kind: str) -> Callable[[Path], None]:
    """Draw a kind of plot as wide as a column."""
    results = GALLERY[kind]()
    level = 0.95 if kind in ("roc", "classes") else None

    return lambda path: save_plot(results, path, kind=kind, level=level, size=(3.5, 3))


def tiles(*pictures: np.ndarray) -> Figure:
    """Draw pictures side by side without a margin, as the cards of the first page show them."""
    figure = Figure(figsize=(3.2, 1.6), frameon=False)
    for index, picture in enumerate(pictures):
        ax = figure.add_axes((index / len(pictures), 0, 1 / len(pictures), 1))
        side = min(picture.shape[:2])
        top, left = ((length - side) // 2 for length in picture.shape[:2])
        ax.imshow(picture[top : top + side, left : left + side], cmap="gray", aspect="auto")
        ax.axis("off")
    return figure


def photograph(name: str) -> np.ndarray:
    """Read a photograph of the demo."""
    return iio.imread(DEMO / "images" / f"{name}.jpg")


def overlaid(result: Result, name: str) -> np.ndarray:
    """Draw true, false and missed pixels of an image."""
    with tempfile.TemporaryDirectory() as folder:
        segbench.export_overlays([result], folder, names=[name])
        (drawn,) = Path(folder).rglob(f"{name}.png")
        return iio.imread(drawn, mode="RGB")


def card_soft_maps() -> Figure:
    """Draw a photograph and a soft map."""
    return tiles(photograph("chelsea"), iio.imread(DEMO / "objects" / "predictions" / "random_walker" / "chelsea.png"))


def card_edges() -> Figure:
    """Draw a photograph and matched boundaries."""
    return tiles(photograph("coffee"), overlaid(edges()[3], "coffee"))


def card_labels() -> Figure:
    """Draw a photograph and a label map."""
    colours = np.array([list(bytes.fromhex(colour[1:])) for colour in class_colours(6)], np.uint8)
    predicted = iio.imread(DEMO / "labels" / "predictions" / "random_walker" / "astronaut.png")
    return tiles(photograph("astronaut"), colours[predicted])


def card_saliency() -> Figure:
    """Draw a saliency map and the mask."""
    folder = DEMO / "objects"
    return tiles(
        iio.imread(folder / "predictions" / "soft_otsu" / "coins.png"),
        iio.imread(folder / "ground_truth" / "coins.png"),
    )


def card_regions() -> Figure:
    """Draw a photograph and its predicted regions."""
    from skimage.color import label2rgb

    regions = iio.imread(DEMO / "labels" / "predictions" / "watershed" / "camera.png")
    return tiles(photograph("camera"), label2rgb(regions + 1, photograph("camera"), alpha=0.4, bg_label=0))


def card(width: float = 3.2, height: float = 1.6) -> tuple[Figure, Axes]:
    """Return the figure of a card with one pair of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


@cache
def training() -> list[segbench.Summary]:
    """Train a logistic regression of colour on five photographs, and score each epoch on four others."""
    names = sorted(path.stem for path in (DEMO / "objects" / "ground_truth").iterdir())
    pixels, truth = {}, {}
    for name in names:
        colours = np.atleast_3d(photograph(name)[::2, ::2] / 255)
        grey = colours.mean(axis=2, keepdims=True)
        pixels[name] = np.concatenate([np.broadcast_to(grey, (*grey.shape[:2], 3)) - colours, grey, grey**2], axis=2)
        truth[name] = iio.imread(DEMO / "objects" / "ground_truth" / f"{name}.png")[::2, ::2] > 0
    training = names[::2]
    x = np.concatenate([pixels[name].reshape(-1, 5) for name in training])
    y = np.concatenate([truth[name].ravel() for name in training])
    mean, spread, weights, bias = x.mean(axis=0), x.std(axis=0), np.zeros(5), 0.0
    scores = []
    for _ in range(15):
        validation = segbench.Accumulator()
        for name in names[1::2]:
            logits = (pixels[name] - mean) / spread @ weights + bias
            validation.update(truth[name], 1 / (1 + np.exp(-logits)), name=name)
        scores.append(validation.compute().summary)
        errors = 1 / (1 + np.exp(-((x - mean) / spread @ weights + bias))) - y
        weights, bias = weights - 0.5 * errors @ ((x - mean) / spread) / len(y), bias - 0.5 * errors.mean()
    return scores


def epochs(width: float = 3.2, height: float = 1.6) -> Figure:
    """Draw what each epoch scores."""
    figure, ax = card(width, height)
    for key in ("ods_f", "auc_roc"):
        ax.plot([summary[key] for summary in training()], ".-", label=key)
    ax.set_xlabel("epoch", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.legend(fontsize=9)
    return figure


def report() -> Callable[[Path], None]:
    """Show the top of the report page of the demo in a browser, dark where the pictures are."""
    scheme = 0 if mpl.rcParams["text.color"] == DARK["text.color"] else 1

    def draw(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            segbench.export_report(objects(*METHODS), page, most_panels=4)
            shown = f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1200,1180", "--hide-scrollbars"
            command = ["chromium", "--headless", "--no-sandbox", *shown, f"--screenshot={path}", page.as_uri()]
            subprocess.run(command, check=True, capture_output=True)

    return draw


def card_paper() -> Figure:
    """Draw a table as papers have it."""
    keys = {"ods_f": "ODS", "ois_f": "OIS", "auc_pr": "AUC-PR"}
    rows = [[result.method, *(number(result.summary[key], digits=3) for key in keys)] for result in objects(*METHODS)]
    figure, ax = card()
    ax.axis("off")
    table = ax.table([["method", *keys.values()], *rows], edges="", cellLoc="right", bbox=(0, 0, 1, 1))
    for (row, column), cell in table.get_celld().items():
        cell.get_text().set_color(mpl.rcParams["text.color"])
        cell.get_text().set_fontweight("bold" if row == 1 + METHODS.index("random_walker") and column else "normal")
        cell.set_width(0.43 if column == 0 else 0.19)
        if column == 0:
            cell.set_text_props(ha="left")
    for y, width in ((1, 1.6), (1 - 1 / (len(rows) + 1), 0.8), (0, 1.6)):
        ax.plot((0, 1), (y, y), color=mpl.rcParams["text.color"], linewidth=width, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return figure


def card_cluster() -> Figure:
    """Draw how images are counted in parts and merged."""
    figure, ax = card()
    ax.axis("off")
    box = {"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": mpl.rcParams["text.color"]}
    for y in (0.15, 0.5, 0.85):
        arrow = {"arrowstyle": "->", "color": COLOURS[5]}
        ax.annotate("", (0.36, y), (0.21, 0.5), arrowprops=arrow)
        ax.annotate("", (0.78, 0.5), (0.6, y), arrowprops=arrow)
        ax.text(0.48, y, "worker", ha="center", va="center", bbox=box, fontsize=9)
    ax.text(0.11, 0.5, "images", ha="center", va="center", bbox=box, fontsize=9)
    ax.text(0.88, 0.5, "results", ha="center", va="center", bbox=box, fontsize=9)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return figure


PICTURES: dict[str, Callable[[], Figure | Callable[[Path], None]]] = {
    "architecture": architecture,
    "front-page": front_page,
    "verdict": verdict,
    "demo-pr": demo_pr,
    "roc-and-pr": roc_and_pr,
    "interpolation": interpolation,
    "orders": orders,
    "hull": hull,
    "average-precision": average_precision,
    "bands": bands,
    "comparison": comparison,
    "edges-pr": edges_pr,
    "matches": matches,
    "overlay": overlay,
    "figure": partial(paper_figure, "worst:2", "disagree:1", "best:1"),
    "figure-crop": partial(
        paper_figure, "astronaut", style="contours", crops=["astronaut:140,60,100,70"], width="cvpr-column"
    ),
    "label-maps": label_maps,
    "centerlines": centerlines,
    "card-soft-maps": card_soft_maps,
    "card-edges": card_edges,
    "card-labels": card_labels,
    "card-regions": card_regions,
    "card-saliency": card_saliency,
    "card-training": epochs,
    "training": partial(epochs, 6, 2.6),
    "card-paper": card_paper,
    "report": report,
    "card-cluster": card_cluster,
    **DRAWINGS,
    **{f"plot-{kind}": partial(gallery, kind) for kind in GALLERY},
}


Drawing = Callable[[], Figure | Callable[[Path], None]]
_HINT = "give another folder with -o"


def main(
    pictures: Mapping[str, Drawing] = PICTURES, folder: Path = ROOT / "docs" / "images", about: str | None = __doc__
) -> None:
    """Draw what is asked for, of these pictures into this folder."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(pictures)} [default: all]")
    parser.add_argument("-o", "--output", type=Path, default=folder)
    options = parser.parse_args()
    if unknown := set(options.names) - set(pictures):
        parser.error(f"no picture is called {', '.join(sorted(unknown))}; there are {', '.join(pictures)}")
    mpl.use("agg")
    names = options.names or [*pictures]
    paths = {name: [options.output / f"{name}{ending}.png" for ending in ("", "-dark")] for name in names}
    try:
        refuse_foreign(dict.fromkeys(path for both in paths.values() for path in both), _HINT)
    except ArgumentError as error:
        parser.error(str(error))
    for name, (light, dark) in paths.items():
        colours = None if name in ("front-page", "figure") else 128  # which has photographs beside curves
        on_light = as_png(pictures[name], colours)
        # Lines of equal F as a dark page needs them.
        guides = patch.multiple("segbench.drawing.charts", ISO_F="#2c4a2c", ISO_F_TEXT="#7fb07a")
        with mpl.rc_context(DARK), guides:
            on_dark = as_png(pictures[name], colours)
        write_file(light, on_light, hint=_HINT, make_folder=True)
        if on_dark != on_light:
            write_file(dark, on_dark, hint=_HINT)
        else:
            dark.unlink(missing_ok=True)
        print(light)


def as_png(draw: Drawing, colours: int | None) -> bytes:
    """Draw a picture, in few colours so that it is small."""
    from PIL import Image
    from PIL.Image import Quantize

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drawn.png")
        drawn = draw()
        if isinstance(drawn, Figure):
            drawn.draw_without_rendering()  # a layout settles step by step
            drawn.savefig(path, dpi=120)
        else:
            drawn(path)
        picture = Image.open(path).convert("RGB")
        # An octree keeps the colours of thin lines; the default drew two methods in one blue.
        return signed_png(picture.quantize(colours, Quantize.FASTOCTREE) if colours else picture, optimize=True)


if __name__ == "__main__":
    main()

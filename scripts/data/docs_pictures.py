"""Draw the pictures of the documentation with segbench itself, from the data that ship and from printed examples.

    python scripts/data/docs_pictures.py [NAME...]      # all of them, or those named, into docs/images

Only report.png is none of these: it is what a browser shows of a report page.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import imageio.v3 as iio
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import segbench
from segbench import Result, ScoreCounts
from segbench.core.numbers import number
from segbench.report.plots.saving import save_plot

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "datasets" / "demo"
METHODS = ("border_colours", "local_entropy", "random_walker", "soft_otsu")
WRONG = {"color": "0.45", "linestyle": "--", "linewidth": 1.4}


def objects(*methods: str) -> list[Result]:
    """Count methods of the demo's objects."""
    folder = DEMO / "objects"
    return [segbench.evaluate(folder / "ground_truth", folder / "predictions" / method) for method in methods]


def side_by_side(width: float = 9, height: float = 4.2) -> tuple[Figure, Axes, Axes]:
    """Give a figure with two axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    left, right = figure.subplots(1, 2)
    return figure, left, right


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
    left.plot([0.25, 0.5], [0.5, 0.25], "ko", markersize=5)
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


def bins() -> Figure:
    """Draw what bins leave open where all scores fall into a few of them, and the exact curve."""
    (result,) = objects("soft_otsu")
    narrow = 0.5 + result.pooled.scores / 32
    exact = ScoreCounts(narrow, result.pooled.positives, result.pooled.negatives)
    figure = Figure(figsize=(5, 4.2), layout="constrained")
    ax = figure.subplots()
    segbench.pr_curve(exact.in_bins()).plot(ax=ax)
    curve = segbench.pr_curve(exact)
    curve.plot(ax=ax, label=f"exact {number(curve.area)}")
    return figure


def bands() -> Callable[[Path], None]:
    """Draw bootstrap bands over images."""
    results = objects("random_walker", "local_entropy")
    return lambda path: save_plot(results, path, level=0.95)


def comparison() -> Callable[[Path], None]:
    """Draw paired differences of all methods."""
    results = objects("border_colours", "local_entropy", "random_walker", "soft_otsu")
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


def matches() -> Figure:
    """Draw how part of the boundaries of an image is matched."""
    window = np.s_[20:110, 60:190]
    truth = iio.imread(DEMO / "edges" / "ground_truth" / "coffee.1.png")[window]
    scores = iio.imread(DEMO / "edges" / "predictions" / "half_discs" / "coffee.png")[window]
    whole = np.hypot(240, 360)
    tolerance = 0.0075 * whole / np.hypot(*truth.shape)
    figure = segbench.plot_matches(scores, [truth], threshold=0.4, max_dist=tolerance).figure
    assert isinstance(figure, Figure)  # noqa: S101  Matplotlib's types allow a part of one
    return figure


def overlay() -> Callable[[Path], None]:
    """Draw true, false and missed pixels of an image."""
    (result,) = objects("random_walker")

    def write(path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            segbench.export_overlays([result], folder, names=["chelsea"])
            path.write_bytes(Path(folder, "random_walker", "chelsea.png").read_bytes())

    return write


PATH = (
    ("cli", "Inputs"),
    ("loaders", "pairs of files"),
    ("checks", "findings"),
    ("aggregator", "batches of names"),
    ("loaders", "bytes, digest"),
    ("loaders", "Sample"),
    ("protocols", "ScoreCounts"),
    ("aggregator", "Outcome"),
    ("protocols", "Settled"),
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
        ax.axhspan(y - 0.46, y + 0.46, color="0.94", linewidth=0)
    steps = [lanes.index(package) for package, _ in PATH]
    places = range(1, len(steps) + 1)
    ax.plot(places, steps, color="C0", linewidth=1.2)
    for x, (y, (_, given)) in enumerate(zip(steps, PATH, strict=True), 1):
        ax.plot(x, y, "o", color="C0", markersize=13)
        ax.annotate(str(x), (x, y), color="white", ha="center", va="center", fontsize=8)
        box = {"facecolor": "0.94", "edgecolor": "none", "pad": 0.8}
        ax.annotate(given, (x, y - 0.24), ha="center", va="top", fontsize=8, bbox=box)
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


def label_maps() -> Figure:
    """Draw the confusion matrix of a method on the label maps of the demo, and IoU per class of two."""
    figure, left, right = side_by_side()
    segbench.plot_confusion(labels()[0], ax=left)
    segbench.plot_classes(labels(), level=0.95, ax=right)
    return figure


GALLERY: dict[str, Callable[[], Sequence[Result]]] = {
    "pr": edges,
    "roc": lambda: objects(*METHODS),
    "achievable": lambda: objects(*METHODS[:2]),
    "f": edges,
    "images": edges,
    "comparison": lambda: edges()[:-1],
    "ranks": lambda: edges()[:-1],
    "significance": lambda: edges()[:-1],
    "confusion": lambda: labels()[:1],
    "classes": labels,
}
"""Of each kind of plot, what the gallery in docs/plots.md shows."""


def gallery(kind: str) -> Callable[[Path], None]:
    """Draw a kind of plot as wide as a column, in few colours so that the file is small."""
    from PIL import Image

    results = GALLERY[kind]()
    level = 0.95 if kind in ("roc", "classes") else None

    def write(path: Path) -> None:
        save_plot(results, path, kind=kind, level=level, size=(3.5, 3))
        Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=96).save(path, optimize=True)

    return write


PICTURES: dict[str, Callable[[], Figure | Callable[[Path], None]]] = {
    "architecture": architecture,
    "demo-pr": demo_pr,
    "roc-and-pr": roc_and_pr,
    "interpolation": interpolation,
    "orders": orders,
    "hull": hull,
    "average-precision": average_precision,
    "bins": bins,
    "bands": bands,
    "comparison": comparison,
    "edges-pr": edges_pr,
    "matches": matches,
    "overlay": overlay,
    "label-maps": label_maps,
    **{f"plot-{kind}": partial(gallery, kind) for kind in GALLERY},
}


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)} [default: all]")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images")
    options = parser.parse_args()
    if unknown := set(options.names) - set(PICTURES):
        parser.error(f"no picture is called {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}")
    mpl.use("agg")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        path = options.output / f"{name}.png"
        drawn = PICTURES[name]()
        if isinstance(drawn, Figure):
            drawn.draw_without_rendering()  # a layout settles step by step
            drawn.savefig(path, dpi=120)
        else:
            drawn(path)
        print(path)


if __name__ == "__main__":
    main()

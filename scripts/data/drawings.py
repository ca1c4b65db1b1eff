"""Drawings that explain a rule or a step, for the pages of the documentation; `docs_pictures.py` writes them."""

from __future__ import annotations

import re
from pathlib import Path

import imageio.v3 as iio
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import segbench
from segbench.core.sample import Sample
from segbench.drawing.palette import COLOURS, FALSE_POSITIVE, MATCHED, class_colours
from segbench.protocols.states import State

ROOT = Path(__file__).resolve().parents[2]
OBJECTS = ROOT / "datasets" / "demo" / "objects"
LABELS = ROOT / "datasets" / "demo" / "labels"


def row(count: int, height: float, width: float = 9) -> tuple[Figure, list[Axes]]:
    """Return a figure with pictures side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(figure.subplots(1, count))
    for ax in axes:
        ax.set_xticks([])
        ax.set_yticks([])
    return figure, axes


def text_colour() -> str:
    """Return the colour of texts, which a dark page changes."""
    return str(mpl.rcParams["text.color"])


def void_band() -> Figure:
    """Draw a label map, what is left of it without a band along its borders, and the band alone."""
    rows, columns = np.mgrid[:90, :120]
    labels = (rows > 30 + columns // 4).astype(np.uint8)
    labels[(rows - 30) ** 2 + (columns - 80) ** 2 < 320] = 2
    figure, axes = row(3, 2.5)
    white = np.array(mpl.colors.to_rgb(mpl.rcParams["figure.facecolor"]))
    colours = class_colours(3)
    bands: tuple[dict[str, float], ...] = ({}, {"void_band": 4}, {"only_band": 4})
    for ax, setting in zip(axes, bands, strict=True):
        picture = np.array([mpl.colors.to_rgb(colour) for colour in colours])[labels]
        picture[_left_out(segbench.Labels(classes=3, **setting), labels)] = white
        ax.imshow(picture, interpolation="nearest")
        ax.set_title(" ".join(f"--{name.replace('_', '-')} {width}" for name, width in setting.items()) or "all pixels")
    return figure


def _left_out(protocol: segbench.Labels, labels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which pixels a protocol leaves out."""
    states = protocol.states(Sample("", (labels,), (labels,), None), 0.5)
    ignored: NDArray[np.bool_] = states == State.IGNORED
    return ignored


def annotators() -> Figure:
    """Draw what three annotators marked, and what each rule makes of it."""
    rows, columns = np.mgrid[:60, :76]
    drawn = np.stack([np.hypot(rows - y, columns - x) < 20 for y, x in ((25, 30), (25, 46), (37, 38))])
    positives = drawn.sum(axis=0)
    figure, axes = row(5, 1.75)
    for mask, colour in zip(drawn, COLOURS, strict=False):
        axes[0].contour(mask, [0.5], colors=colour)
    axes[0].invert_yaxis()
    axes[0].set_aspect("equal")
    shares = {"any": positives > 0, "majority": positives > 1, "all": positives > 2, "each": positives / 3}
    for ax, share in zip(axes[1:], shares.values(), strict=True):
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1.2)
    for ax, title in zip(axes, ("three annotators", *shares), strict=True):
        ax.set_title(title, fontsize=10)
    return figure


def small(ax: Axes, picture: NDArray[np.uint8], width: float, height: float) -> None:
    """Draw a picture in the middle of an area of another size."""
    across, down = width / 3, height / 3
    ax.imshow(picture, cmap="gray", extent=((width - across) / 2, (width + across) / 2, (height + down) / 2, down))
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.spines[:].set_visible(False)


def mismatches() -> Figure:
    """Draw three frequent mismatches, with their findings and the options that fix them."""
    truth = iio.imread(OBJECTS / "ground_truth" / "horse.png")
    soft = iio.imread(OBJECTS / "predictions" / "soft_otsu" / "horse.png")
    figure, axes = row(6, 1.9)
    for number, (sides, finding, fix) in enumerate(
        (
            ((truth, 255 - soft), "inverted", "--invert"),
            ((truth, soft[::3, ::3]), "size-factor", "--resize-predictions nearest"),
            ((soft, truth), "exchanged", "put the ground truth first"),
        )
    ):
        pair = axes[2 * number : 2 * number + 2]
        for ax, side, title in zip(pair, sides, ("ground truth", "prediction"), strict=True):
            if side.shape == truth.shape:
                ax.imshow(side, cmap="gray")
            else:
                small(ax, side, truth.shape[1], truth.shape[0])
            ax.set_title(title, fontsize=8)
        pair[0].set_xlabel(finding, fontsize=10, fontweight="bold")
        pair[1].set_xlabel(fix, fontsize=8)
    return figure


def resizing() -> Figure:
    """Draw a prediction of a sixteenth of the size, and what both ways of resizing make of it."""
    truth = iio.imread(OBJECTS / "ground_truth" / "horse.png")
    rows, columns = (length // 16 * 16 for length in truth.shape)
    truth = truth[:rows, :columns]
    soft = iio.imread(OBJECTS / "predictions" / "random_walker" / "horse.png")[:rows, :columns]
    shrunk = soft.reshape(rows // 16, 16, columns // 16, 16).mean(axis=(1, 3)).astype(np.uint8)
    figure, axes = row(4, 2)
    small(axes[0], shrunk, columns, rows)
    axes[0].set_title(f"prediction, {rows // 16} x {columns // 16}", fontsize=10)
    for ax, way in zip(axes[1:3], ("nearest", "bilinear"), strict=True):
        ax.imshow(shrunk, cmap="gray", interpolation=way, extent=(0, columns, rows, 0))
        ax.contour(truth, [127], colors=COLOURS[1], linewidths=1)
        ax.set_title(way, fontsize=10)
    axes[3].imshow(truth, cmap="gray")
    axes[3].set_title(f"ground truth, {rows} x {columns}", fontsize=10)
    return figure


def pairing() -> Figure:
    """Draw how names of files pair, by default and with patterns."""
    cases = (
        ("", ("gt/", "city/7.png", "city/8.png"), ("ours/", "city/7.npy", "city/8.npy"), r"(\w+/\d)"),
        ("--gt-pattern '*_mask'", ("gt/", "7_mask.png", "8_mask.png"), ("ours/", "7.png", "8.png"), r"(\d)"),
        ("--gt-pattern '*.#'", ("gt/", "7.1.png", "7.2.png"), ("ours/", "7.png", ""), r"^(\d)"),
    )
    figure, axes = row(3, 1.6)
    for ax, (option, *sides, name) in zip(axes, cases, strict=True):
        ax.set(xlim=(0, 1), ylim=(3, -0.6))
        ax.axis("off")
        ax.set_title(option or "by name, without an option", fontsize=9, family="monospace" if option else None)
        for x, lines in zip((0.02, 0.68), sides, strict=True):
            for y, line in enumerate(lines):
                ax.text(x, y, line, family="monospace", fontsize=9, va="center")
                match = re.search(name, line)
                if match:
                    marked = " " * match.start() + match[1]
                    ax.text(x, y, marked, family="monospace", fontsize=9, va="center", color=MATCHED, fontweight="bold")
        for start, end in ((1, 1), (2, 2 if sides[1][2] else 1)):
            ax.annotate("", (0.66, end), (0.42, start), arrowprops={"arrowstyle": "-", "color": COLOURS[5]})
    return figure


def class_maps() -> Figure:
    """Draw a label map and the soft maps of its classes, here a blurred label map."""
    from scipy.ndimage import gaussian_filter

    truth = iio.imread(LABELS / "ground_truth" / "astronaut.png")
    predicted = iio.imread(LABELS / "predictions" / "random_walker" / "astronaut.png")
    names = dict(line.split(maxsplit=1) for line in (LABELS / "classes.txt").read_text().splitlines())
    figure, (first, *others) = row(4, 2.3)
    first.imshow(coloured(truth))
    first.set_title("ground truth: a label map", fontsize=10)
    shown = [label for label in np.unique(truth[truth < 255]) if (truth == label).mean() > 0.02][: len(others)]
    for ax, label in zip(others, shown, strict=True):
        ax.imshow(gaussian_filter((predicted == label).astype(float), 10), cmap="gray", vmin=0, vmax=1)
        ax.contour(truth == label, [0.5], colors=class_colours(6)[label], linewidths=1)
        ax.set_title(f"class {label}, {names[str(label)]}", fontsize=10)
    return figure


def coloured(labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a label map in the colours of classes, void in grey."""
    colours = np.full((256, 3), 128, np.uint8)
    colours[:6] = [list(bytes.fromhex(colour[1:])) for colour in class_colours(6)]
    return colours[labels]


def interruption() -> Figure:
    """Draw a run that is interrupted and continued, and one that is counted in parts and merged."""
    figure = Figure(figsize=(9, 2.1), layout="constrained")
    left, right = figure.subplots(1, 2)
    runs = (0, 0.6, "segbench pixels ... -o results.segbench"), (0.6, 1, "the same command again")
    for y, (start, end, label) in enumerate(runs):
        left.barh(y, end - start, left=start, height=0.5, color=MATCHED)
        left.text(0, y - 0.32, label, fontsize=9, va="bottom")
    left.barh(1, 0.6, height=0.5, color=MATCHED, alpha=0.25)
    left.text(0.3, 1, "not counted again", ha="center", va="center", fontsize=8)
    left.plot(0.6, 0, "x", color=FALSE_POSITIVE, markersize=12, markeredgewidth=3)
    left.text(0.63, 0, "Ctrl-C", color=FALSE_POSITIVE, va="center", fontsize=9)
    left.set(xlim=(0, 1), ylim=(1.4, -0.75), xticks=(0, 1), xticklabels=("first image", "last"), yticks=())
    left.spines[["left", "right", "top"]].set_visible(False)
    right.axis("off")
    box = {"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": text_colour()}
    arrow = {"arrowstyle": "->", "color": COLOURS[5]}
    for y, part in enumerate(("part1", "part2", "part3")):
        right.text(0.2, y, f"{part}.segbench", ha="center", va="center", bbox=box, fontsize=9)
        right.annotate("", (0.62, 1), (0.37, y), arrowprops=arrow)
    right.text(0.8, 1, "all.segbench", ha="center", va="center", bbox=box, fontsize=9)
    right.text(0.5, -0.55, "segbench merge", ha="center", fontsize=9)
    right.set(xlim=(0, 1), ylim=(2.5, -0.8))
    return figure


def scaling() -> Figure:
    """Draw how many times as fast several workers are, as the table in docs/clusters.md has it."""
    text = (ROOT / "docs" / "clusters.md").read_text("utf-8")
    (heads,) = re.findall(r"^\| \| (one process .*) \|$", text, re.MULTILINE)
    rows = re.findall(r"^\| (\w+),.*?\d+ images \|(.*)\|$", text, re.MULTILINE)
    names = [head.strip() for head in heads.split("|")][1:]
    figure = Figure(figsize=(7, 2.4), layout="constrained")
    ax = figure.subplots()
    for number, (protocol, cells) in enumerate((rows[0], rows[-1])):
        speeds = [float(cell) for cell in cells.split("|")[1:]]
        heights = np.arange(len(names)) + 0.38 * number
        ax.barh(heights, speeds, height=0.36, color=COLOURS[number], label=protocol)
        for y, speed in zip(heights, speeds, strict=True):
            ax.text(speed + 0.02, y, f"{speed:.2f}", va="center", fontsize=8)
    ax.axvline(1, color=text_colour(), linewidth=0.8, linestyle=":")
    ax.set_yticks(np.arange(len(names)) + 0.19, names)
    ax.set_xlabel("times as fast as one process, two cores")
    ax.invert_yaxis()
    ax.legend(loc="lower right", fontsize=9, bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    ax.spines[["right", "top"]].set_visible(False)
    return figure


def segmentations() -> Figure:
    """Draw regions of a person and of a method, and which of the pixels are covered."""
    import tempfile

    name, method = "coffee", "watershed"
    truth, predicted = (
        iio.imread(LABELS / folder / f"{name}.png") for folder in ("ground_truth", f"predictions/{method}")
    )
    result = segbench.evaluate(LABELS / "ground_truth", LABELS / "predictions" / method, segbench.Regions(void=(255,)))
    with tempfile.TemporaryDirectory() as folder:
        segbench.export_overlays([result], folder, names=[name])
        states = iio.imread(Path(folder, method, f"{name}.png"), mode="RGB")
    figure, axes = row(4, 1.9)
    pictures = {
        "photograph": iio.imread(ROOT / "datasets/demo/images" / f"{name}.jpg"),
        "ground truth": coloured(truth),
        "prediction": coloured(predicted),
        f"covering {result.per_image[name]['covering']:.2f}".replace("0.", "."): states,
    }
    for ax, (title, picture) in zip(axes, pictures.items(), strict=True):
        ax.imshow(picture)
        ax.set_title(title, fontsize=10)
    return figure


DRAWINGS = {
    "annotators": annotators,
    "mismatches": mismatches,
    "resizing": resizing,
    "pairing": pairing,
    "class-maps": class_maps,
    "segmentations": segmentations,
    "interruption": interruption,
    "scaling": scaling,
    "void-band": void_band,
}

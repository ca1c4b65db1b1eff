"""Draw the pictures of the pages on metrics, from the data that ship and from small drawings.

    python scripts/data/metric_pictures.py [NAME...]      # all of them, or those named, into docs/metrics/images

Each is drawn a second time for dark pages, as NAME-dark.png, if that makes a difference.
"""

from __future__ import annotations

from functools import cache, partial

import imageio.v3 as iio
import matplotlib as mpl
import numpy as np
from docs_pictures import DEMO, ROOT, Drawing, edges, main, objects
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Ellipse, Rectangle
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial.distance import cdist

import segbench
from segbench import Result
from segbench.core.numbers import number
from segbench.drawing.palette import COLOURS, FALSE_POSITIVE, GUIDE, MATCHED, MISS
from segbench.protocols.pixels.calibration import reliability

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]
MIDDLE = {"ha": "center", "va": "center"}


def row(count: int, width: float = 9, height: float = 3) -> tuple[Figure, list[Axes]]:
    """Return a figure with some axes side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def blank(ax: Axes, title: str = "") -> None:
    """Take the frame off a drawing, whose shapes keep theirs."""
    ax.set_title(title, fontsize=10)
    ax.set_aspect("equal")
    ax.axis("off")


def text_colour() -> str:
    """Return the colour of text, which differs on dark pages."""
    return str(mpl.rcParams["text.color"])


def show(ax: Axes, *layers: tuple[Mask, str]) -> None:
    """Draw masks, each in a colour, later ones above earlier ones."""
    picture = np.ones((*layers[0][0].shape, 3)) * to_rgb(mpl.rcParams["figure.facecolor"])
    for mask, colour in layers:
        picture[mask] = to_rgb(colour)
    ax.imshow(picture, interpolation="nearest")


def thresholds() -> Figure:
    """Draw F against the threshold, of three images and of these pooled."""
    (result,) = objects("random_walker")
    names = ("coffee", "chelsea", "astronaut")
    figure, (ax,) = row(1, 6.4, 3.6)
    chosen = [(name, result.counts[name]) for name in names]
    pool = ("all three pooled", sum((counts for _, counts in chosen[1:]), chosen[0][1]))
    for index, (name, counts) in enumerate((*chosen, pool)):
        curve = segbench.pr_curve(counts)
        f = 2 * curve.precision * curve.recall / np.maximum(curve.precision + curve.recall, 1e-9)
        best = int(np.nanargmax(f))
        pooled = index == len(names)
        colour = text_colour() if pooled else COLOURS[index]
        ax.plot(curve.thresholds, f, color=colour, linewidth=2.6 if pooled else 1.2, label=name)
        ax.plot(curve.thresholds[best], f[best], "o", color=colour, markersize=8 if pooled else 6)
        if pooled:
            ax.axvline(curve.thresholds[best], color=colour, linestyle=":", linewidth=1)
            ax.text(curve.thresholds[best] - 0.01, 0.1, f"ODS {number(float(f[best]), digits=3)}", ha="right")
    ax.set(xlabel="threshold", ylabel="F", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper right", fontsize=9)
    return figure


def areas() -> Figure:
    """Draw two overlapping shapes and name their parts."""
    y, x = np.mgrid[:240, :520]
    truth = ((x - 210) / 120) ** 2 + ((y - 120) / 85) ** 2 < 1
    predicted = ((x - 300) / 125) ** 2 + ((y - 125) / 70) ** 2 < 1
    figure, (ax,) = row(1, 6, 2.8)
    show(ax, (truth & ~predicted, MISS), (predicted & ~truth, FALSE_POSITIVE), (truth & predicted, MATCHED))
    for at, name, colour in (
        ((255, 122), "TP", "white"), ((370, 125), "FP", "white"), ((130, 120), "FN", "black"),
        ((480, 215), "TN", text_colour()),
    ):  # fmt: skip
        ax.text(*at, name, **MIDDLE, color=colour, fontsize=14, fontweight="bold")
    ax.text(90, 18, "ground truth", **MIDDLE)
    ax.text(430, 32, "prediction", **MIDDLE)
    ax.add_patch(Rectangle((0, 0), 519, 239, fill=False, edgecolor=GUIDE))
    blank(ax)
    return figure


def confusion() -> Figure:
    """Draw a small confusion matrix with what is read off it."""
    names, matrix = ("road", "car", "person"), np.array([[60, 4, 1], [3, 20, 2], [2, 1, 7]])
    figure, (ax,) = row(1, 6.4, 3)
    for (y, x), value in np.ndenumerate(matrix):
        inside = y == x
        colour = MATCHED if inside else mpl.rcParams["figure.facecolor"]
        ax.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=GUIDE))
        ax.text(x + 0.5, y + 0.5, str(value), **MIDDLE, color="white" if inside else text_colour(), fontsize=12)
    for index, name in enumerate(names):
        ax.text(-0.1, index + 0.5, name, ha="right", va="center")
        ax.text(index + 0.5, -0.2, name, **MIDDLE)
        of_truth, of_class = matrix[index].sum(), matrix[index, index]
        union = of_truth + matrix[:, index].sum() - of_class
        ax.text(3.2, index + 0.5, f"recall {of_class}/{of_truth}    IoU {of_class}/{union}", va="center")
    ax.text(1.5, -0.65, "predicted", **MIDDLE, fontweight="bold")
    ax.text(-1.5, 1.5, "true", **MIDDLE, fontweight="bold", rotation=90)
    ax.text(1.5, 3.4, f"acc {np.trace(matrix)}/{matrix.sum()}, the blue diagonal over everything", **MIDDLE)
    ax.set(xlim=(-1.8, 6.2), ylim=(3.7, -0.9))
    blank(ax)
    return figure


def miou() -> Figure:
    """Draw intersections and unions by image and class, and the three orders of means."""
    intersection, union = np.array([[90, 2], [80, 0], [60, 18]]), np.array([[100, 8], [100, 0], [80, 20]])
    figure, (ax,) = row(1, 7.4, 3.3)
    rows, present = ("image 1", "image 2", "image 3"), union > 0
    iou = np.divide(intersection, union, out=np.full(union.shape, np.nan), where=present)
    for (y, x), share in np.ndenumerate(iou):
        ax.add_patch(Rectangle((2 * x, y), 2, 1, fill=False, edgecolor=GUIDE))
        words = f"{intersection[y, x]}/{union[y, x]} = {number(share, digits=2)}" if present[y, x] else "not there"
        ax.text(2 * x + 1, y + 0.5, words, **MIDDLE)
    for y, name in enumerate(rows):
        ax.text(-0.1, y + 0.5, name, ha="right", va="center")
        ax.text(4.2, y + 0.5, f"mean {number(np.nanmean(iou[y]), digits=2)}", va="center", color=COLOURS[2])
    columns, pools = np.nanmean(iou, axis=0), intersection.sum(axis=0) / union.sum(axis=0)
    for x, name in enumerate(("background", "cat")):
        ax.text(2 * x + 1, -0.2, name, **MIDDLE)
        ax.text(2 * x + 1, 3.35, f"mean {number(columns[x], digits=2)}", **MIDDLE, color=COLOURS[3])
        pool = f"{intersection[:, x].sum()}/{union[:, x].sum()} = {number(pools[x], digits=2)}"
        ax.text(2 * x + 1, 3.85, pool, **MIDDLE, color=COLOURS[0])
    of_images = float(np.nanmean(np.nanmean(iou, axis=1)))
    for y, name, value, colour in (
        (2.87, "mIoU I", of_images, COLOURS[2]),
        (3.35, "mIoU C", float(columns.mean()), COLOURS[3]),
        (3.85, "mIoU (D)", float(pools.mean()), COLOURS[0]),
    ):
        ax.text(5.9, y, f"{name} {number(value, digits=2)}", va="center", color=colour, fontweight="bold")
    ax.set(xlim=(-1.2, 7.6), ylim=(4.2, -0.5))
    blank(ax)
    ax.set_aspect("auto")
    return figure


def auc_pr() -> Figure:
    """Draw a precision-recall curve and the area below it."""
    (result,) = objects("random_walker")
    curve = segbench.pr_curve(result.pooled)
    figure, (ax,) = row(1, 4.2, 3.8)
    curve.plot(ax=ax, label=f"AUC-PR {number(curve.area, digits=3)}")
    ax.fill_between(curve.recall, curve.precision, color=COLOURS[0], alpha=0.25)
    ax.legend(loc="lower left")
    return figure


def roc() -> Figure:
    """Draw a ROC curve, the area below it, and the point where 95 % is found."""
    (result,) = objects("border_colours")
    curve = segbench.roc_curve(result.pooled)
    figure, (ax,) = row(1, 4.2, 3.8)
    curve.plot(ax=ax, label=f"AUC-ROC {number(curve.area, digits=3)}")
    ax.fill_between(curve.fpr, curve.tpr, color=COLOURS[0], alpha=0.25)
    at = result.summary["fpr_at_95_tpr"]
    ax.plot([0, at, at], [0.95, 0.95, 0], ":", color=text_colour())
    ax.plot(at, 0.95, "o", color=FALSE_POSITIVE, label=f"FPR95 {number(at, digits=3)}")
    ax.legend(loc="lower right")
    return figure


def gaps() -> Figure:
    """Draw the share of positives by bins of the score, and the gaps to the diagonal."""
    (result,) = objects("soft_otsu")
    bins = reliability(result.pooled)
    filled = bins.pixels > 0
    score, share = (part[filled] / bins.pixels[filled] for part in (bins.scores, bins.positives))
    figure, (ax,) = row(1, 4.6, 3.8)
    ax.plot([0, 1], [0, 1], ":", color=GUIDE)
    ax.vlines(score, share, score, color=FALSE_POSITIVE, linewidth=6, alpha=0.6, label="gap")
    ax.plot(score, share, "o", color=COLOURS[0], label="share of positives")
    ax.set(xlabel="mean score of the bin", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper left")
    return figure


def image_scores() -> Figure:
    """Draw scores of normal and anomalous images."""
    normal, anomalous = (0.12, 0.2, 0.26, 0.31, 0.44, 0.58), (0.28, 0.52, 0.63, 0.7, 0.81, 0.9)
    pairs = np.greater.outer(anomalous, normal)
    figure, (ax,) = row(1, 6.4, 1.9)
    for y, scores, colour in ((0, normal, COLOURS[5]), (1, anomalous, FALSE_POSITIVE)):
        ax.plot(scores, [y] * len(scores), "o", color=colour, markersize=9)
    ax.axvline(0.5, linestyle=":", color=GUIDE)
    ax.text(0.51, 0.5, "threshold of I-F1max", va="center", fontsize=9)
    ax.set_title(f"I-AUROC: {pairs.sum()} of {pairs.size} pairs are in the right order", fontsize=10)
    ax.set(xlim=(0, 1), ylim=(-0.5, 1.5), xlabel="score of the image", yticks=(0, 1))
    ax.set_yticklabels(("normal", "anomalous"))
    return figure


def area_pr() -> Figure:
    """Draw the curve of boundaries with its area, its extension, and the recall at precision .5."""
    result = edges()[3]
    curve, summary = result.curve, result.summary
    known = curve.precision > 0
    recall, precision = curve.recall[known], curve.precision[known]
    figure, (ax,) = row(1, 4.6, 3.8)
    ax.plot(recall, precision, color=COLOURS[0])
    ax.fill_between(recall, precision, color=COLOURS[0], alpha=0.25, label=f"AP {number(summary['area_pr'], digits=3)}")
    ends = f"AP ext* {number(summary['area_pr_extended'], digits=3)}"
    ax.plot([0, recall[-1]], [1, precision[-1]], "--", color=GUIDE, label=ends)
    ax.plot([recall[0], 1], [precision[0], 0], "--", color=GUIDE)
    ax.plot(summary["r50"], 0.5, "o", color=FALSE_POSITIVE, label=f"R50 {number(summary['r50'], digits=3)}")
    ax.axhline(0.5, linestyle=":", color=GUIDE, linewidth=1)
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(loc="lower left", fontsize=9)
    return figure


def coco_ap() -> Figure:
    """Draw the curve of eight detections of six objects, and the precisions that COCO reads."""
    masks = np.eye(6, dtype=bool).reshape(6, 1, 6)
    right = [True, False, True, True, False, False, True, False]
    drawn = np.array([masks[sum(right[:k])] if hit else np.zeros((1, 6), bool) for k, hit in enumerate(right)])
    truth = {"masks": masks, "labels": [1] * 6}
    detections = {"masks": drawn, "labels": [1] * 8, "scores": np.linspace(0.9, 0.2, 8)}
    metrics = segbench.count(truth, detections, segbench.ScoredObjects()).metrics()
    tp = np.cumsum(right)
    recall, precision = tp / 6, tp / np.arange(1, 9)
    recalls = np.linspace(0, 1, 101)
    read = [max(precision[recall >= at], default=0.0) for at in recalls]
    curve = segbench.pr_curve(segbench.ScoreCounts.from_points(tp, np.arange(1, 9) - tp, 6, 1000))
    figure, (ax,) = row(1, 4.6, 3.8)
    ax.plot(
        recalls, read, ".", color=COLOURS[0], markersize=4, label=f"read for AP {number(metrics['coco_ap'], digits=3)}"
    )
    x, y = curve.line("pr")
    reached = x <= recall[-1]
    area = f"area, AP exact {number(metrics['ap_exact'], digits=3)}"
    ax.fill_between(x[reached], y[reached], color=COLOURS[1], alpha=0.25, label=area)
    ax.plot(x[reached], y[reached], color=COLOURS[1])
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(loc="lower left", fontsize=9)
    return figure


def crispness() -> Figure:
    """Draw part of an edge map before and after suppression."""
    scores = iio.imread(DEMO / "edges" / "predictions" / "half_discs" / "coffee.png") / 255
    thin = segbench.nms(scores, radius=2, border=5, multiplier=1.01, smoothing=0)
    figure, axes = row(2, 4.8, 2.1)
    for ax, picture, title in zip(axes, (scores, thin), ("as predicted", "after suppression"), strict=True):
        part = picture[20:110, 60:190]
        ax.imshow(part, cmap="gray", vmin=0, vmax=scores.max())
        blank(ax, f"{title}: sum {part.sum():.0f}")
    return figure


def covering() -> Figure:
    """Draw two segmentations, each predicted region in the colour of the true one that it overlaps best."""
    y, x = np.mgrid[:120, :180]
    truth = np.where(x + 0.3 * y < 80, 0, np.where(y < 60, 1, 2))
    predicted = np.where(x + 0.1 * y < 68, 0, np.where(y < 70, 1, np.where(x < 130, 2, 3)))
    figure, axes = row(2, 6.4, 2.4)
    colours = (COLOURS[0], COLOURS[4], COLOURS[2], "#8a8a8a")
    for ax, regions, title in zip(axes, (truth, predicted), ("ground truth", "prediction"), strict=True):
        show(ax, *((regions == label, colours[label]) for label in range(4)))
        blank(ax, title)
    for label in range(3):
        mask = truth == label
        shares = [(mask & (predicted == k)).sum() / (mask | (predicted == k)).sum() for k in range(4)]
        middle = ndimage.center_of_mass(mask)[::-1]
        axes[0].text(*middle, f"IoU {number(max(shares), digits=2)}", **MIDDLE, color="white", fontweight="bold")
    return figure


def pairs() -> Figure:
    """Draw pairs of pixels on which two segmentations agree or not."""
    figure, axes = row(2, 6.4, 2.6)
    for ax, border, title in zip(axes, (3, 2), ("ground truth", "prediction"), strict=True):
        for y in range(3):
            for x in range(6):
                colour = COLOURS[0] if x < border else COLOURS[4]
                ax.add_patch(Rectangle((x, y), 0.94, 0.94, facecolor=colour, alpha=0.55))
        for (first, second), style in (
            (((0, 0), (1, 1)), "-"), (((0, 2), (5, 1)), "-"), (((1, 0), (2, 1)), "--"), (((2, 2), (4, 0)), "--"),
        ):  # fmt: skip
            ends = np.array([first, second]) + 0.47
            ax.plot(*ends.T, style, color=text_colour(), marker="o", linewidth=2)
        ax.set(xlim=(-0.1, 6), ylim=(3, -0.1))
        blank(ax, title)
    return figure


def voi() -> Figure:
    """Draw entropies as two circles."""
    figure, (ax,) = row(1, 6, 2.8)
    for x, colour in ((-0.55, COLOURS[0]), (0.55, COLOURS[4])):
        ax.add_patch(Circle((x, 0), 1, facecolor=colour, alpha=0.45, edgecolor=colour))
    for x, words in ((-1.05, "split\nH(U|V)"), (0, "shared\nI(U,V)"), (1.05, "merge\nH(V|U)")):
        ax.text(x, 0, words, **MIDDLE, fontweight="bold")
    ax.text(-1.7, 0.85, "prediction\nH(U)", ha="right", va="center")
    ax.text(1.7, 0.85, "ground truth\nH(V)", ha="left", va="center")
    ax.set(xlim=(-3.2, 3.2), ylim=(-1.1, 1.1))
    blank(ax)
    return figure


def s_measure() -> Figure:
    """Draw a mask and a map, both divided at the centroid of the mask."""
    mask = iio.imread(DEMO / "objects" / "ground_truth" / "horse.png") > 0
    scores = iio.imread(DEMO / "objects" / "predictions" / "border_colours" / "horse.png")
    y, x = ndimage.center_of_mass(mask)
    figure, axes = row(2, 6.4, 2.4)
    for ax, picture, title in zip(axes, (mask, scores), ("mask", "soft map"), strict=True):
        ax.imshow(picture, cmap="gray")
        ax.axvline(x, color=COLOURS[4])
        ax.axhline(y, color=COLOURS[4])
        blank(ax, title)
    return figure


@cache
def saliency() -> list[Result]:
    """Count two methods as saliency maps."""
    folder = DEMO / "objects"
    methods = ("random_walker", "border_colours")
    return [
        segbench.evaluate(folder / "ground_truth", folder / "predictions" / method, "saliency") for method in methods
    ]


def over_thresholds(name: str) -> Figure:
    """Draw E or F against the threshold, with maximum and mean."""
    figure, (ax,) = row(1, 5.6, 3.4)
    for result, colour in zip(saliency(), COLOURS, strict=False):
        curve = result.curve
        values = getattr(curve, name)
        best = int(values.argmax())
        ax.plot(curve.thresholds, values, color=colour, label=result.method)
        ax.plot(curve.thresholds[best], values[best], "o", color=colour)
        ax.axhline(values.mean(), linestyle=":", color=colour)
    ax.set(xlabel="threshold", ylabel=name.upper(), xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="lower left", fontsize=9)
    return figure


def weighted_f() -> Figure:
    """Draw the weight of a false pixel by its distance to the object."""
    y, x = np.mgrid[:80, :160]
    mask = ((x - 55) / 28) ** 2 + ((y - 40) / 22) ** 2 < 1
    weights = np.where(mask, np.nan, 2 - np.exp(np.log(0.5) * ndimage.distance_transform_edt(~mask) / 5))
    figure, (ax,) = row(1, 6, 2.8)
    drawn = ax.imshow(weights, cmap="viridis", vmin=1, vmax=2)
    ax.text(55, 40, "object", **MIDDLE)
    blank(ax)
    figure.colorbar(drawn, ax=ax, label="weight of a false pixel", shrink=0.85)
    return figure


def mae() -> Figure:
    """Draw a map, a mask, and their difference."""
    mask = iio.imread(DEMO / "objects" / "ground_truth" / "coins.png") / 255
    scores = iio.imread(DEMO / "objects" / "predictions" / "soft_otsu" / "coins.png") / 255
    figure, axes = row(3, 4.8, 1.6)
    for ax, picture, title in zip(
        axes, (scores, mask, np.abs(scores - mask)), ("soft map", "mask", "absolute difference"), strict=True
    ):
        ax.imshow(picture[::2, ::2], cmap="gray", vmin=0, vmax=1)
        blank(ax, title)
    return figure


def contours() -> tuple[Points, Points]:
    """Return two closed lines, of which one bulges."""
    angle = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    circle = np.stack([2.2 * np.cos(angle), 1.4 * np.sin(angle)], axis=1)
    bulge = 1.05 + 0.6 * np.exp(-((angle - 0.5) ** 2) / 0.05) - 0.12 * np.cos(3 * angle)
    return circle, circle * bulge[:, np.newaxis]


def outline(ax: Axes, points: Points, colour: str) -> None:
    """Draw a closed line."""
    ax.plot(*np.vstack([points, points[:1]]).T, color=colour, linewidth=1.8)


def distances() -> Figure:
    """Draw the distance from each point of a contour to the other one."""
    truth, predicted = contours()
    figure, (ax,) = row(1, 6, 3.2)
    between = cdist(predicted, truth)
    nearest = [*zip(predicted, truth[between.argmin(axis=1)], strict=True)]
    nearest += zip(truth, predicted[between.argmin(axis=0)], strict=True)
    for ends in nearest:
        ax.plot(*np.array(ends).T, color=GUIDE, linewidth=0.9)
    farthest = between.min(axis=1).argmax()
    ends = np.array([predicted[farthest], truth[between[farthest].argmin()]])
    outline(ax, truth, COLOURS[5])
    outline(ax, predicted, FALSE_POSITIVE)
    ax.plot(*ends.T, color=text_colour(), linewidth=3)
    x, y = ends.mean(axis=0)
    ax.text(x + 0.12, y - 0.18, "HD", fontweight="bold", fontsize=12)
    ax.text(0, 0, "ground truth", **MIDDLE)
    ax.text(-2.75, 1.3, "prediction", **MIDDLE)
    blank(ax)
    return figure


def nsd() -> Figure:
    """Draw which parts of two contours are within a tolerance of each other."""
    truth, predicted = contours()
    figure, (ax,) = row(1, 6, 3.2)
    for points, other, far in ((truth, predicted, MISS), (predicted, truth, FALSE_POSITIVE)):
        dense = np.stack(
            [np.interp(np.arange(0, 72, 0.1), np.arange(73), np.append(part, part[0])) for part in points.T]
        )
        near = cdist(dense.T, other).min(axis=1) <= 0.22
        ax.scatter(*dense, s=7, color=np.where(near, MATCHED, far))
    ax.add_patch(Circle((-2.2, -1.1), 0.22, fill=False, edgecolor=text_colour()))
    ax.text(-2.5, -1.45, "tolerance", ha="right", va="center", fontsize=9)
    blank(ax)
    return figure


def boundary_iou() -> Figure:
    """Draw the bands of two masks."""
    y, x = np.mgrid[:110, :200]
    truth = ((x - 95) / 75) ** 2 + ((y - 55) / 45) ** 2 < 1
    predicted = (((x - 101) / 75) ** 2 + ((y - 56) / 42) ** 2 < 1) & ~((np.abs(x - 95) < 12) & (np.abs(y - 55) < 10))
    bands = [mask & ~ndimage.binary_erosion(mask, np.ones((3, 3)), 8) for mask in (truth, predicted)]
    figure, (ax,) = row(1, 5.6, 3)
    show(
        ax, (bands[0] & ~bands[1], MISS), (bands[1] & ~bands[0], FALSE_POSITIVE), (bands[0] & bands[1], MATCHED)
    )  # fmt: skip
    blank(ax)
    return figure


def davis() -> Figure:
    """Draw J over frames, with mean, recall and decay."""
    j = np.array([0.91, 0.9, 0.86, 0.88, 0.83, 0.8, 0.72, 0.75, 0.6, 0.52, 0.44, 0.47])
    frames = np.arange(1, j.size + 1)
    figure, (ax,) = row(1, 6, 3)
    ax.plot(frames, j, ".-", color=COLOURS[0], markersize=9)
    ax.axhline(j.mean(), color=COLOURS[0], linestyle="--", label=f"mean {number(j.mean(), digits=2)}")
    ax.axhline(0.5, color=GUIDE, linestyle=":", label=f"recall {number((j > 0.5).mean(), digits=2)}: above .5")
    ends = np.round(np.linspace(1, j.size, 5) + 1e-10).astype(int) - 1
    quarters = [(ends[0], ends[1]), (ends[3], ends[4])]
    means = [j[start : stop + 1].mean() for start, stop in quarters]
    for (start, stop), mean in zip(quarters, means, strict=True):
        ax.plot(frames[[start, stop]], [mean, mean], color=MISS, linewidth=4)
    ax.plot([], [], color=MISS, linewidth=4, label=f"decay {number(means[0] - means[1], digits=2)}: first less last")
    ax.set(xlabel="frame", ylabel="J", ylim=(0, 1))
    ax.legend(loc="lower left", fontsize=9)
    return figure


def topology() -> Figure:
    """Draw masks with different numbers of pieces and holes."""
    y, x = np.mgrid[:60, :100]
    ring = (((x - 50) / 42) ** 2 + ((y - 30) / 25) ** 2 < 1) & (((x - 50) / 26) ** 2 + ((y - 30) / 13) ** 2 > 1)
    right = ring & ~((x > 50) & (np.abs(y - 30) < 5))
    both = ring & ~(np.abs(y - 30) < 5)
    figure, axes = row(3, 7, 1.9)
    titles = ("β0 = 1, β1 = 1, χ = 0", "β0 = 1, β1 = 0, χ = 1", "β0 = 2, β1 = 0, χ = 2")
    for ax, mask, title in zip(axes, (ring, right, both), titles, strict=True):
        show(ax, (mask, COLOURS[0]))
        blank(ax, title)
    return figure


def object_matching() -> Figure:
    """Draw matched, false and missed objects."""
    figure, (ax,) = row(1, 6.4, 2.6)
    matched = (
        ((1.2, 1.3), (1.35, 1.25), 1.5, 1.4),
        ((3.6, 0.9), (3.5, 1), 1.3, 1.5),
        ((5.6, 1.5), (5.75, 1.4), 1.6, 1.7),
    )
    for true, predicted, first, second in matched:
        ax.add_patch(Ellipse(true, first, 1.4, facecolor=MATCHED, alpha=0.35))
        ax.add_patch(Ellipse(predicted, second, 1.4, fill=False, edgecolor=MATCHED, linewidth=2.2))
    ax.add_patch(Ellipse((7.7, 0.9), 1.2, 1.2, facecolor=MISS, alpha=0.75))
    ax.add_patch(Ellipse((9.4, 1.5), 1.2, 1, fill=False, edgecolor=FALSE_POSITIVE, linewidth=2.2))
    for x, words in ((3.5, "3 TP: IoU above the threshold"), (7.7, "1 FN"), (9.4, "1 FP")):
        ax.text(x, 2.65, words, **MIDDLE, fontweight="bold")
    ax.text(5.2, -0.35, "filled: ground truth; outlined: prediction", **MIDDLE, fontsize=9)
    ax.set(xlim=(0.2, 10.2), ylim=(-0.6, 2.9))
    blank(ax)
    return figure


def aji() -> Figure:
    """Draw two squares under one rectangle, as AJI and AJI+ take them."""
    figure, axes = row(2, 7, 2.1)
    for ax, title, second in (
        (axes[0], "AJI: (16 + 16) / (36 + 36)", MATCHED), (axes[1], "AJI+: 16 / (36 + 16)", MISS)
    ):  # fmt: skip
        ax.add_patch(Rectangle((0, 0), 4, 4, facecolor=MATCHED, alpha=0.6))
        ax.add_patch(Rectangle((5, 0), 4, 4, facecolor=second, alpha=0.6))
        ax.add_patch(Rectangle((0, 0), 9, 4, fill=False, edgecolor=text_colour(), linewidth=2.5))
        ax.set(xlim=(-0.4, 9.4), ylim=(-0.4, 4.4))
        blank(ax, title)
    return figure


def components() -> Figure:
    """Draw true components, and predicted ones in pieces, missing and false."""
    figure, (ax,) = row(1, 6.4, 2.3)
    ax.add_patch(Rectangle((0, 0), 9, 4, facecolor=MATCHED, alpha=0.35))
    for x in (0.3, 5):
        ax.add_patch(Rectangle((x, 0.3), 4, 3.4, fill=False, edgecolor=MATCHED, linewidth=2.5))
    ax.add_patch(Rectangle((12, 1), 3, 3, facecolor=MISS, alpha=0.75))
    ax.add_patch(Rectangle((18, 0.5), 2.5, 2, fill=False, edgecolor=FALSE_POSITIVE, linewidth=2.5))
    for x, words in ((4.5, "found in two pieces"), (13.5, "missed"), (19.2, "false")):
        ax.text(x, 4.7, words, **MIDDLE, fontweight="bold")
    ax.text(10, -0.8, "filled: ground truth; outlined: prediction", **MIDDLE, fontsize=9)
    ax.set(xlim=(-0.5, 21.5), ylim=(-1.3, 5.2))
    blank(ax)
    return figure


def lesions() -> Figure:
    """Draw a slice with a lesion of two parts, a missed one, one that is left out and a false component."""
    figure, (ax,) = row(1, 8, 3.2)
    found, missed, small, false = 5.5, 15.5, 22.5, 30.5
    for x, y, width, height, colour in (
        (2, 3, 4, 4, MATCHED), (8, 3, 2, 4, MATCHED), (14, 4, 3, 3, MISS), (21, 4, 2, 2, GUIDE),
    ):  # fmt: skip
        ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, alpha=0.6))
        around = {"fill": False, "edgecolor": GUIDE, "linestyle": ":"}
        ax.add_patch(Rectangle((x - 1, y - 1), width + 2, height + 2, **around))
    for x, y, width, height, colour in (
        (3, 3, 6, 4, MATCHED), (23, 5, 2, 2, GUIDE), (29, 4, 3, 3, FALSE_POSITIVE)
    ):  # fmt: skip
        ax.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=colour, linewidth=2.5))
    for x, title, words in (
        (found, "one lesion", "Dice 2 · 16 / (24 + 24)\nHD95 1"), (missed, "missed", "Dice 0\nHD95 374"),
        (small, "left out", "4 voxels"), (false, "false", "Dice 0\nHD95 374"),
    ):  # fmt: skip
        ax.text(x, 1.2, title, **MIDDLE, fontweight="bold")
        ax.text(x, 8.3, words, ha="center", va="top", fontsize=9)
    ax.text(18, 11.3, "lesion Dice (2/3 + 0 + 0) / 3 = .22, HD95 (1 + 374 + 374) / 3 = 249.67", **MIDDLE)
    words = "filled: ground truth, with its dilation dotted; outlined: prediction"
    ax.text(18, 12.7, words, **MIDDLE, fontsize=9)
    ax.set(xlim=(0, 34), ylim=(13.2, 0.4))
    blank(ax)
    return figure


def targets() -> Figure:
    """Draw small targets with the circle within which a predicted centroid has to lie: found, missed and false."""
    figure, (ax,) = row(1, 6.4, 2.6)
    for x in (4, 13):
        ax.add_patch(Rectangle((x - 1, 2), 2, 2, facecolor=MATCHED if x == 4 else MISS, alpha=0.5))
        ax.add_patch(Circle((x, 3), 3, fill=False, linestyle=":", edgecolor=GUIDE))
    for x, colour in ((5.5, MATCHED), (17, FALSE_POSITIVE), (22, FALSE_POSITIVE)):
        ax.add_patch(Rectangle((x - 1, 2), 2, 2, fill=False, edgecolor=colour, linewidth=2.5))
    ax.plot([4, 13], [3, 3], "+", color=text_colour())
    ax.plot([5.5, 17, 22], [3, 3, 3], "x", color=text_colour())
    for x, words in ((4.7, "found"), (13, "missed"), (17.2, "false"), (22, "false")):
        ax.text(x, 6.6, words, **MIDDLE, fontweight="bold")
    ax.text(12.5, -0.8, "filled: ground truth, +; outlined: prediction, x", **MIDDLE, fontsize=9)
    ax.set(xlim=(0.5, 24), ylim=(-1.4, 7.2))
    blank(ax)
    return figure


def froc() -> Figure:
    """Draw a FROC curve in steps and between its points, and the seven rates at which it is read."""
    found, false = np.array([0, 2, 3, 4, 5, 6, 7, 8]) / 9, np.array([0, 0, 1, 2, 4, 9, 14, 30]) / 6
    rates = 2.0 ** np.arange(-3, 4)
    figure, (ax,) = row(1, 5.4, 3.4)
    ax.step([*false, 16], [*found, found[-1]], where="post", color=COLOURS[0])
    between = np.geomspace(1 / 16, 16, 500)
    ax.plot(between, np.interp(between, false, found), ":", color=COLOURS[1])
    read = [found[false <= rate].max() for rate in rates]
    ax.plot(rates, read, "o", color=COLOURS[0])
    ax.set_xscale("log", base=2)
    ax.set_xticks(rates, ["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    ax.text(2, 0.2, f"mean {number(float(np.mean(read)), digits=3)}", **MIDDLE)
    ax.set(xlabel="false detections per image", ylabel="share of objects found", xlim=(1 / 11, 11), ylim=(0, 1))
    return figure


def pro() -> Figure:
    """Draw the PRO curve of the demo's objects, and its area up to 30 %."""
    folder = DEMO / "objects"
    result = segbench.evaluate(folder / "ground_truth", folder / "predictions" / "border_colours", segbench.Anomalies())
    curve = result.curve.pro
    fpr, values = np.append(0, curve.fpr), np.append(0, curve.pro)
    figure, (ax,) = row(1, 4.6, 3.6)
    ax.plot(fpr, values, color=COLOURS[0])
    inside = np.linspace(0, 0.3, 200)
    ax.fill_between(inside, np.interp(inside, fpr, values), color=COLOURS[0], alpha=0.25)
    ax.axvline(0.3, linestyle=":", color=GUIDE)
    ax.text(0.15, 0.1, f"AUPRO@30%\n{number(result.summary['aupro'], digits=3)}", **MIDDLE)
    ax.set(xlabel="false positive rate", ylabel="PRO", xlim=(0, 1), ylim=(0, 1))
    return figure


def pimo() -> Figure:
    """Draw the recall of some images against the shared rate, on a logarithmic axis."""
    rates = np.logspace(-6, -2, 200)
    figure, (ax,) = row(1, 5.4, 3.4)
    for index, (middle, width) in enumerate(((-6.5, 0.5), (-5, 0.4), (-4.2, 0.3), (-3, 0.4))):
        ax.semilogx(rates, 1 / (1 + np.exp(-(np.log10(rates) - middle) / width)), color=COLOURS[index])
    ax.axvspan(1e-5, 1e-4, color=GUIDE, alpha=0.25)
    ax.text(10**-4.5, 1.03, "AUPIMO", ha="center", va="bottom", fontsize=10)
    ax.set(
        xlabel="shared false positive rate of normal images",
        ylabel="recall of an image",
        ylim=(0, 1),
        xlim=(1e-6, 1e-2),
    )
    return figure


def spro() -> Figure:
    """Draw how much counts as found, with and without saturation."""
    figure, (ax,) = row(1, 5.4, 3)
    ax.plot([0, 1000], [0, 1], color=COLOURS[5], label="PRO: found / area")
    ax.plot([0, 400, 1000], [0, 1, 1], color=COLOURS[0], label="sPRO: min(found / saturation, 1)")
    ax.axvline(400, linestyle=":", color=GUIDE)
    ax.text(410, 0.05, "saturation", fontsize=9)
    ax.set(xlabel="found pixels of a defect of 1000", ylabel="counts as found", xlim=(0, 1000), ylim=(0, 1.04))
    ax.legend(loc="center right", fontsize=9)
    return figure


PICTURES: dict[str, Drawing] = {
    "thresholds": thresholds,
    "areas": areas,
    "confusion": confusion,
    "miou": miou,
    "auc-pr": auc_pr,
    "roc": roc,
    "reliability": gaps,
    "image-scores": image_scores,
    "area-pr": area_pr,
    "coco-ap": coco_ap,
    "crispness": crispness,
    "covering": covering,
    "pairs": pairs,
    "voi": voi,
    "s-measure": s_measure,
    "e-measure": partial(over_thresholds, "e"),
    "f-measure": partial(over_thresholds, "f"),
    "weighted-f": weighted_f,
    "mae": mae,
    "distances": distances,
    "nsd": nsd,
    "boundary-iou": boundary_iou,
    "davis": davis,
    "topology": topology,
    "object-matching": object_matching,
    "aji": aji,
    "components": components,
    "lesions": lesions,
    "targets": targets,
    "froc": froc,
    "pro": pro,
    "pimo": pimo,
    "spro": spro,
}

if __name__ == "__main__":
    main(PICTURES, ROOT / "docs" / "metrics" / "images", __doc__)

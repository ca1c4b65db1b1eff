"""The formula of every page in docs/metrics, written from the page's text alone, beside the metric on random inputs."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage
from scipy.integrate import trapezoid
from scipy.optimize import linear_sum_assignment
from surface_peers import metrics as surface_metrics

import segbench
from segbench import Anomalies, Boundaries, Centerlines, Contours, Labels, Objects, Pixels, Regions, Saliency, evaluate

PAGES = Path(__file__).parents[1] / "docs/metrics"
EIGHT = np.ones((3, 3))
SEEDS = range(3)
TOLERANCES = {"auc-pr": 2e-5, "auc-pr-achievable": 2e-5, "covering": 1e-7}
"""Areas are integrated by steps here; the sums of covering are rounded to fractions of pixels."""


def summary(images, protocol):
    """Return every metric of a set of pairs."""
    return dict(evaluate(images, protocol=protocol).summary)


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# Pixels


def soft_set(seed):
    """Return pairs of a mask and scores of 26 levels."""
    rng = np.random.default_rng(seed)
    masks = [rng.random((9, 11)) < 0.35 for _ in range(4)]
    return [(mask, np.clip((rng.random(mask.shape) + 0.4 * mask).round(1) / 1.4, 0, 1)) for mask in masks]


def counts_at(mask, scores, threshold):
    on = scores >= threshold
    return np.array([np.sum(on & mask), np.sum(on & ~mask), np.sum(~on & mask), np.sum(~on & ~mask)], float)


def curve(images):
    """Return the thresholds, highest first, and TP, FP, FN, TN of all images at each."""
    cuts = sorted({score for _, scores in images for score in scores.ravel()}, reverse=True)
    return cuts, np.array([sum(counts_at(*image, cut) for image in images) for cut in cuts])


def best_f(tp, fp, fn):
    return np.max(2 * tp / (2 * tp + fp + fn))


def slope(start, end):
    return (end[1] - start[1]) / (end[0] - start[0]) if end[0] > start[0] else math.inf


def hull_area(fp, tp, steps=200_000):
    """Integrate precision over recall along the upper hull of the points (FP, TP)."""
    hull = [(0.0, 0.0)]
    for point in sorted(set(zip(fp, tp, strict=True))):
        while len(hull) > 1 and slope(hull[-2], point) >= slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    x, y = np.array(hull).T
    return precision_over_recall(x, y, steps)


def precision_over_recall(fp, tp, steps=200_000):
    """Integrate TP / (TP + FP) over TP / P by midpoints, FP growing linearly with TP between two points."""
    total = 0.0
    for k in range(len(tp) - 1):
        n = max(2, int(steps / len(tp)))
        t = (np.arange(n) + 0.5) / n
        true, false = tp[k] + t * (tp[k + 1] - tp[k]), fp[k] + t * (fp[k + 1] - fp[k])
        if tp[k + 1] > tp[k]:
            total += np.mean(true / (true + false)) * (tp[k + 1] - tp[k])
    return total / tp[-1]


def of_pixels(seed):
    images = soft_set(seed)
    cuts, counts = curve(images)
    tp, fp, fn, tn = counts.T
    gt = np.concatenate([mask.ravel() for mask, _ in images])
    s = np.concatenate([scores.ravel() for _, scores in images])
    measured = summary(images, Pixels(at=(0.5,), calibration=True))
    best = np.argmax(2 * tp / (2 * tp + fp + fn))
    yield "ods-f", measured["ods_f"], best_f(tp, fp, fn)
    yield "ods-f", measured["ods_threshold"], cuts[best]
    yield "precision-recall", measured["ods_precision"], tp[best] / (tp + fp)[best]
    yield "ods-f", measured["ods_recall"], tp[best] / (tp + fn)[best]
    yield "iou", measured["iou"], tp[best] / (tp + fp + fn)[best]
    single = [np.array([counts_at(*image, cut) for cut in cuts]).T for image in images]
    scores_f = [2 * c[0] / (2 * c[0] + c[1] + c[2]) for c in single]
    chosen = np.array([c[:, f.argmax()] for c, f in zip(single, scores_f, strict=True)]).sum(0)
    yield "ois-f", measured["ois_f"], 2 * chosen[0] / (2 * chosen[0] + chosen[1] + chosen[2])
    yield "mean-f", measured["mean_image_f"], np.mean([f.max() for f in scores_f])
    positive, negative = s[gt], s[~gt]
    pairs = positive[:, None] - negative
    yield "auc-roc", measured["auc_roc"], np.mean((pairs > 0) + 0.5 * (pairs == 0))
    recall, precision = tp / (tp + fn), tp / (tp + fp)
    yield "average-precision", measured["average_precision"], np.sum(np.diff(recall, prepend=0) * precision)
    yield "auc-pr", measured["auc_pr"], precision_over_recall(np.append(0, fp), np.append(0, tp))
    yield "auc-pr-achievable", measured["auc_pr_achievable"], hull_area(fp, tp)
    yield "fpr95", measured["fpr_at_95_tpr"], (fp / (fp + tn))[np.argmax(recall >= 0.95)]
    yield "brier", measured["brier"], np.mean((gt - s) ** 2)
    bins = np.clip(np.ceil(s * 15) - 1, 0, 14).astype(int)
    gaps = [(np.mean(bins == b), abs(s[bins == b].mean() - gt[bins == b].mean())) for b in set(bins.tolist())]
    yield "calibration-error", measured["mce"], max(gap for _, gap in gaps)
    yield "calibration-error", measured["ece"], sum(share * gap for share, gap in gaps)
    at = sum(counts_at(*image, 0.5) for image in images)
    yield "specificity", measured["specificity@0.5"], at[3] / (at[3] + at[1])
    yield "dice", measured["f@0.5"], 2 * at[0] / (2 * at[0] + at[1] + at[2])
    yield "accuracy", measured["accuracy@0.5"], (at[0] + at[3]) / at.sum()
    product = math.prod([at[0] + at[1], at[0] + at[2], at[3] + at[1], at[3] + at[2]])
    yield "mcc", measured["mcc@0.5"], (at[0] * at[3] - at[1] * at[2]) / math.sqrt(product)


def of_equal_bins(seed):
    """ACE where bins of equal numbers split no ties."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(150) / 150
    gt = rng.random(150) < s
    order = np.argsort(s)
    gaps = [abs(s[part].mean() - gt[part].mean()) for part in np.split(order, 15)]
    yield "calibration-error", summary([(gt, s)], Pixels(calibration=True))["ace"], np.mean(gaps)


# Labels


def of_labels(seed):
    rng = np.random.default_rng(seed)
    images = []
    for k in range(5):
        truth = rng.integers(0, 4 - (k == 0), (8, 9))
        images.append((truth, np.where(rng.random(truth.shape) < 0.6, truth, rng.integers(0, 4, truth.shape))))
    measured = summary(images, Labels(classes=4))
    tables = [np.array([[np.sum((a == i) & (b == j)) for j in range(4)] for i in range(4)], float) for a, b in images]
    n = sum(tables)

    def ious(table):
        return np.diag(table) / (table.sum(0) + table.sum(1) - np.diag(table))

    held = np.array([table.sum(1) > 0 for table in tables])
    each = np.array([ious(table) for table in tables])
    yield "miou", measured["miou"], ious(n).mean()
    of_images = [row[has].mean() for row, has in zip(each, held, strict=True)]
    yield "miou-images", measured["miou_images"], np.mean(of_images)
    yield "miou-classes", measured["miou_classes"], np.mean([each[held[:, k], k].mean() for k in range(4)])
    either = held | np.array([table.sum(0) > 0 for table in tables])
    dice = 2 * each / (1 + each)
    yield "dice-cases", measured["mean_dice_cases"], np.mean([dice[either[:, k], k].mean() for k in range(4)])
    yield "dice-cases", measured["mean_iou_cases"], np.mean([each[either[:, k], k].mean() for k in range(4)])
    yield "fw-iou", measured["fw_iou"], np.sum(n.sum(1) / n.sum() * ious(n))
    yield "accuracy", measured["pixel_accuracy"], np.trace(n) / n.sum()
    yield "accuracy", measured["mean_accuracy"], np.mean(np.diag(n) / n.sum(1))
    chance = np.sum(n.sum(0) * n.sum(1)) / n.sum() ** 2
    yield "kappa", measured["kappa"], (np.trace(n) / n.sum() - chance) / (1 - chance)


def of_masks(seed):
    rng = np.random.default_rng(seed)
    images = [(rng.random((7, 8)) < 0.4, rng.random((7, 8)) < 0.4) for _ in range(3)]
    measured = summary(images, Labels())
    tp, fp, fn, tn = sum(counts_at(truth, predicted, 1) for truth, predicted in images)
    yield "iou", measured["iou"], tp / (tp + fp + fn)
    yield "dice", measured["dice"], 2 * measured["iou"] / (1 + measured["iou"])
    yield "precision-recall", measured["precision"], tp / (tp + fp)
    yield "precision-recall", measured["recall"], tp / (tp + fn)
    yield "specificity", measured["specificity"], tn / (tn + fp)
    yield "referring", measured["giou"], np.mean([np.sum(a & b) / np.sum(a | b) for a, b in images])
    yield "ber", measured["ber"], (fn / (tp + fn) + fp / (tn + fp)) / 2
    yield "mcc", measured["mcc"], (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))


# Regions


def of_regions(seed):
    rng = np.random.default_rng(seed)
    images = [(rng.integers(0, 3, (6, 7)), rng.integers(0, 4, (6, 7))) for _ in range(2)]
    images[0] = (np.maximum(images[0][0], images[0][1]), images[0][1])
    measured = summary(images, Regions())
    tables = []
    for v, u in images:
        tables.append(np.array([[np.sum((u == i) & (v == j)) for j in np.unique(v)] for i in np.unique(u)], float))
    best = [(n / (n.sum(0) + n.sum(1)[:, None] - n)).max(0) @ n.sum(0) for n in tables]
    yield "covering", measured["covering_ods"], sum(best) / sum(n.sum() for n in tables)

    def rand_index(n):
        pixels = n.sum()
        differ = (np.sum(n.sum(1) ** 2) + np.sum(n.sum(0) ** 2)) / 2 - np.sum(n**2)
        return 1 - differ / (pixels * (pixels - 1) / 2)

    def entropy(p):
        return -sum(q * math.log2(q) for q in p.ravel() if q)

    def rand_errors(n):
        both = np.sum(n * (n - 1))
        precision, recall = (both / np.sum(side * (side - 1)) for side in (n.sum(1), n.sum(0)))
        return 1 - f1(precision, recall)

    yield "rand-index", measured["pri_ods"], np.mean([rand_index(n) for n in tables])
    split = np.mean([entropy(n / n.sum()) - entropy(n.sum(0) / n.sum()) for n in tables])
    merge = np.mean([entropy(n / n.sum()) - entropy(n.sum(1) / n.sum()) for n in tables])
    yield "voi", measured["voi_split"], split
    yield "voi", measured["voi_merge"], merge
    yield "voi", measured["voi_ods"], split + merge
    yield "adapted-rand", measured["are_ods"], np.mean([rand_errors(n) for n in tables])


# Contours


def blobs(seed, count, shape=(40, 44)):
    """Return pairs of masks of smooth shapes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        waves = [ndimage.gaussian_filter(rng.standard_normal(shape), 4) for _ in range(2)]
        yield waves[0] > 0, waves[0] + 0.5 * waves[1] > 0


def eroded(mask, structure):
    return ndimage.binary_erosion(mask, structure)


def of_contours(seed):
    pairs = list(blobs(seed, 3))
    measured = summary(pairs, Contours(nsd=(2,)))
    values = {key: [] for key in ("hd", "hd95", "assd", "masd", "nsd", "band", "quality")}
    for a, b in pairs:
        contours = [np.argwhere(mask & ~eroded(mask, ndimage.generate_binary_structure(2, 1))) for mask in (a, b)]
        distances = np.linalg.norm(contours[0][:, None] - contours[1], axis=2)
        ab, ba = distances.min(1), distances.min(0)
        values["hd"].append(max(ab.max(), ba.max()))
        values["hd95"].append(max(np.percentile(ab, 95), np.percentile(ba, 95)))
        values["assd"].append((ab.sum() + ba.sum()) / (ab.size + ba.size))
        values["masd"].append((ab.mean() + ba.mean()) / 2)
        values["nsd"].append((np.sum(ab <= 2) + np.sum(ba <= 2)) / (ab.size + ba.size))
        values["quality"].append(np.sum(ba <= 2) / (ba.size + np.sum(ab > 2)))
        d = max(1, round(0.02 * math.hypot(*a.shape)))
        bands = [mask & ~ndimage.binary_erosion(mask, EIGHT, iterations=d) for mask in (a, b)]
        values["band"].append(np.sum(bands[0] & bands[1]) / np.sum(bands[0] | bands[1]))
    yield "hausdorff", measured["hd"], np.mean(values["hd"])
    yield "hausdorff", measured["hd95"], np.mean(values["hd95"])
    yield "buffer", measured["buffer_quality@2"], np.mean(values["quality"])
    yield "surface-distance", measured["assd"], np.mean(values["assd"])
    yield "surface-distance", measured["masd"], np.mean(values["masd"])
    yield "nsd", measured["nsd@2"], np.mean(values["nsd"])
    yield "boundary-iou", measured["boundary_iou"], np.mean(values["band"])


def davis_boundary(mask):
    """Mark pixels that differ from the right, lower or lower right one, as the page says."""
    padded = np.pad(mask, ((0, 1), (0, 1)), "edge")
    return (mask != padded[:-1, 1:]) | (mask != padded[1:, :-1]) | (mask != padded[1:, 1:])


def of_sequences(seed):
    for a, b in blobs(seed, 2):
        metrics = segbench.count(a, b, "contours").metrics()
        bound = math.ceil(0.008 * math.hypot(*a.shape))
        truth, predicted = davis_boundary(a), davis_boundary(b)
        near_truth, near_predicted = (ndimage.distance_transform_edt(~part) <= bound for part in (truth, predicted))
        contour = f1(np.sum(predicted & near_truth) / predicted.sum(), np.sum(truth & near_predicted) / truth.sum())
        yield "j-and-f", metrics["j"], np.sum(a & b) / np.sum(a | b)
        yield "j-and-f", metrics["f_davis"], contour
        yield "j-and-f", metrics["j_and_f"], (metrics["j"] + contour) / 2


# Centerlines


def of_centerlines(seed):
    from skimage.morphology import skeletonize

    pairs = list(blobs(seed, 2, (70, 80)))
    measured = summary(pairs, Centerlines())
    skeletons = [(skeletonize(a), skeletonize(b)) for a, b in pairs]
    precision = sum(np.sum(sb & a) for (a, _), (_, sb) in zip(pairs, skeletons, strict=True)) / sum(
        sb.sum() for _, sb in skeletons
    )
    recall = sum(np.sum(sa & b) for (_, b), (sa, _) in zip(pairs, skeletons, strict=True)) / sum(
        sa.sum() for sa, _ in skeletons
    )
    yield "cldice", measured["cldice_precision"], precision
    yield "cldice", measured["cldice_sensitivity"], recall
    yield "cldice", measured["cldice"], f1(precision, recall)

    def betti(mask):
        return np.array([ndimage.label(mask, EIGHT)[1], ndimage.label(np.pad(~mask, 1, constant_values=True))[1] - 1])

    differences = [betti(a) - betti(b) for a, b in pairs]
    yield "topology", measured["betti0_error"], np.mean([abs(d[0]) for d in differences])
    yield "topology", measured["betti1_error"], np.mean([abs(d[1]) for d in differences])
    yield "topology", measured["euler_error"], np.mean([abs(d[0] - d[1]) for d in differences])


# Objects


def object_pair(seed):
    rng = np.random.default_rng(seed)
    truth, predicted = np.zeros((2, 60, 60), int)
    for k in range(1, 10):
        y, x, h, w = *rng.integers(0, 45, 2), *rng.integers(4, 13, 2)
        truth[y : y + h, x : x + w] = k
        dy, dx = rng.integers(0, 3, 2)
        predicted[y + dy : y + h, x + dx : x + w + 1] = 20 - k
    predicted[50:58, 50:58] = 30
    return truth, predicted


def of_objects(seed):
    truth, predicted = object_pair(seed)
    measured = summary([(truth, predicted)], Objects(iou=(0.5,)))
    of_truth, of_predicted = ([labels == k for k in np.unique(labels) if k] for labels in (truth, predicted))
    both = np.array([[np.sum(g & p) for p in of_predicted] for g in of_truth], float)
    either = np.array([[np.sum(g | p) for p in of_predicted] for g in of_truth], float)
    iou = both / either
    rows, columns = linear_sum_assignment(-(iou >= 0.5).astype(float))
    matched = iou[rows, columns] >= 0.5
    tp, fp, fn = matched.sum(), len(of_predicted) - matched.sum(), len(of_truth) - matched.sum()
    yield "object-f1", measured["f1@0.5"], 2 * tp / (2 * tp + fp + fn)
    yield "object-f1", measured["precision@0.5"], tp / (tp + fp)
    yield "object-f1", measured["recall@0.5"], tp / (tp + fn)
    yield "threat-score", measured["threat_score@0.5"], measured["f1@0.5"] / (2 - measured["f1@0.5"])
    above = iou[iou > 0.5]
    yield "pq", measured["pq"], above.sum() / (above.size + (len(of_predicted) + len(of_truth) - 2 * above.size) / 2)
    yield "pq", measured["sq"], above.mean()
    partner = np.where(both.max(1) > 0, iou.argmax(1), -1)
    yield "aji", measured["aji"], joint(partner, both, either, of_truth, of_predicted)
    rows, columns = linear_sum_assignment(-iou)
    partner = np.full(len(of_truth), -1)
    partner[rows] = np.where(both[rows, columns] > 0, columns, -1)
    yield "aji", measured["aji_plus"], joint(partner, both, either, of_truth, of_predicted)


def joint(partner, both, either, of_truth, of_predicted):
    """Return the sum of intersections over the sum of unions, with all objects without a partner."""
    pairs = [(g, p) for g, p in enumerate(partner) if p >= 0]
    intersections, unions = (sum(table[pair] for pair in pairs) for table in (both, either))
    unions += sum(of_truth[g].sum() for g in range(len(of_truth)) if partner[g] < 0)
    unions += sum(of_predicted[p].sum() for p in range(len(of_predicted)) if p not in partner)
    return intersections / unions


def of_components(seed):
    truth, predicted = next(blobs(seed, 1, (70, 80)))
    predicted = predicted & (np.random.default_rng(seed).random(truth.shape) < 0.97)
    measured = summary([(truth, predicted)], Objects(kind="components"))
    true_parts, parts = (
        [labels == k for k in range(1, count + 1)]
        for labels, count in (ndimage.label(mask, EIGHT) for mask in (truth, predicted))
    )
    siou = []
    for k in true_parts:
        touching = np.any([p for p in parts if np.any(p & k)] or [np.zeros_like(k)], axis=0)
        elsewhere = touching & truth & ~k
        siou.append(np.sum(k & touching) / (np.sum(k | touching) - elsewhere.sum()))
    ppv = [np.sum(p & truth) / p.sum() for p in parts]

    def f(t):
        tp, fp = sum(value >= t for value in siou), sum(value < t for value in ppv)
        return 2 * tp / (2 * tp + len(siou) - tp + fp)

    yield "component-f1", measured["component_siou"], np.mean(siou)
    yield "component-f1", measured["component_ppv"], np.mean(ppv)
    yield "component-f1", measured["component_f1@0.5"], f(0.5)
    yield "component-f1", measured["component_f1"], np.mean([f(k / 100) for k in range(25, 76, 5)])
    tp = sum(np.any(k & predicted) for k in true_parts)
    fp = sum(not np.any(p & truth) for p in parts)
    yield "lesion-f1", measured["lesion_f1"], 2 * tp / (2 * tp + len(true_parts) - tp + fp)
    centres = [np.array([ndimage.center_of_mass(part) for part in parts_of]) for parts_of in (true_parts, parts)]
    apart = np.linalg.norm(centres[0][:, None] - centres[1], axis=2)
    found = 0
    while apart.min(initial=np.inf) < 3:
        row, column = np.unravel_index(apart.argmin(), apart.shape)
        apart[row], apart[:, column], found = np.inf, np.inf, found + 1
    yield "pd-fa", measured["pd"], found / len(true_parts)


def of_lesions(seed):
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.standard_normal((2, 12, 18, 20)), (0, 1.2, 1.2, 1.2))
    smooth[1] = smooth[1] / 2 + smooth[0]
    truth, predicted = smooth > 1.2 * smooth.std()
    measured = summary([(truth, predicted)], Objects(kind="components", dilate=1, min_size=4, spacing=(2, 1, 1)))
    joined, number = ndimage.label(dilated(truth), np.ones((3, 3, 3)))
    components, last = ndimage.label(predicted, np.ones((3, 3, 3)))
    false, values = set(range(1, last + 1)), []
    for lesion in (truth & (joined == k) for k in range(1, number + 1)):
        touching = set(components[dilated(lesion) & predicted].tolist())
        false -= touching
        if 2 * lesion.sum() > 4:
            part = np.isin(components, list(touching))
            hd95 = surface_metrics(lesion, part, (2, 1, 1), "areas")["hd95"] if touching else 374
            values.append((2 * np.sum(lesion & part) / (lesion.sum() + part.sum()), hd95))
    dice, hd95 = np.mean([*values, *[(0, 374)] * len(false)], axis=0)
    yield "lesion-dice", measured["lesion_dice"], dice
    yield "lesion-dice", measured["lesion_hd95"], hd95


def dilated(mask):
    """Dilate once by the neighbours of a voxel at faces and edges."""
    return ndimage.binary_dilation(mask, ndimage.generate_binary_structure(3, 2))


# Saliency


def saliency_set(seed):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        mask = np.zeros((17, 20), bool)
        y, x = rng.integers(1, 10, 2)
        mask[y : y + 5, x : x + 6] = True
        scores = np.clip(0.5 * mask + 0.6 * rng.random(mask.shape), 0, 1)
        scores[0, 0], scores[-1, -1] = 0, 1
        yield mask, scores


def of_saliency(seed):
    images = list(saliency_set(seed))
    measured = summary(images, Saliency(positive=">0"))
    yield "mae", measured["mae"], np.mean([np.abs(s - g).mean() for g, s in images])
    cuts = np.arange(256)
    counts = np.array([[counts_at(g, np.floor(255 * s), cut) for cut in cuts] for g, s in images])
    tp, fp, fn, _ = np.moveaxis(counts, 2, 0)
    with np.errstate(invalid="ignore"):
        precision, recall = np.nan_to_num(tp / (tp + fp)), tp / (tp + fn)
        f = np.nan_to_num(1.3 * precision * recall / (0.3 * precision + recall))
    yield "f-measure", measured["f_max"], f.mean(0).max()
    yield "f-measure", measured["f_mean"], f.mean(0).mean()
    yield "f-measure", measured["f_max_of_image"], f.max(1).mean()
    p, r = precision.mean(0), recall.mean(0)
    yield "f-measure", measured["f_max_of_mean_pr"], np.max(1.3 * p * r / (0.3 * p + r))
    yield "mean-iou-dice", measured["mean_iou"], np.mean(tp / (tp + fp + fn))
    yield "mean-iou-dice", measured["mean_dice"], np.mean(2 * tp / (2 * tp + fp + fn))
    e = np.array([[aligned(g, np.floor(255 * s) >= cut) for cut in cuts] for g, s in images])
    yield "e-measure", measured["e_max"], e.mean(0).max()
    yield "e-measure", measured["e_mean"], e.mean(0).mean()
    yield "e-measure", measured["e_adaptive"], np.mean([aligned(g, s >= min(1, 2 * s.mean())) for g, s in images])
    yield "weighted-f", measured["weighted_f"], np.mean([weighted_f(g, s) for g, s in images])
    yield "s-measure", measured["s_measure"], np.mean([structure(g, s) for g, s in images])


def aligned(mask, predicted):
    if not mask.any() or mask.all():
        return np.mean(predicted == mask)
    a, b = predicted - predicted.mean(), mask - mask.mean()
    return np.sum((2 * a * b / (a**2 + b**2) + 1) ** 2 / 4) / (mask.size - 1)


def weighted_f(mask, scores):
    error = np.abs(scores - mask)
    distance, (rows, columns) = ndimage.distance_transform_edt(~mask, return_indices=True)
    for_average = np.where(mask, error, error[rows, columns])
    gauss = np.exp(-(np.arange(-3, 4) ** 2) / (2 * 5**2))
    kernel = np.outer(gauss, gauss) / np.outer(gauss, gauss).sum()
    average = ndimage.correlate(for_average, kernel, mode="constant")
    weight = 2 - np.exp(math.log(0.5) * distance / 5)
    errors = np.where(mask, np.minimum(error, average), error * weight)
    right = np.sum(1 - errors[mask])
    return f1(right / (right + errors[~mask].sum()), 1 - errors[mask].mean())


def structure(mask, scores):
    def uniform(values):
        return 2 * values.mean() / (values.mean() ** 2 + 1 + values.std(ddof=1))

    of_object = mask.mean() * uniform(scores[mask]) + (1 - mask.mean()) * uniform(1 - scores[~mask])
    y, x = (math.floor(centre + 0.5) + 1 for centre in np.argwhere(mask).mean(0))
    of_regions = 0.0
    for rows, columns in itertools.product((slice(0, y), slice(y, None)), (slice(0, x), slice(x, None))):
        a, b = scores[rows, columns].ravel(), mask[rows, columns].ravel().astype(float)
        variances = a.var(ddof=1) + b.var(ddof=1)
        covariance = np.sum((a - a.mean()) * (b - b.mean())) / (a.size - 1)
        above = 4 * a.mean() * b.mean() * covariance
        below = (a.mean() ** 2 + b.mean() ** 2) * variances
        of_regions += a.size / mask.size * (above / below if above else float(below == 0))
    return (of_object + of_regions) / 2


# Anomalies


def anomaly_set(seed):
    rng = np.random.default_rng(seed)
    images = []
    for k in range(5):
        mask = np.zeros((300, 400), bool)
        if k > 1:
            mask[20:50, 30:60], mask[100:110, 90:120] = True, k > 2
        distinct = rng.permutation(mask.size).reshape(mask.shape) / mask.size
        images.append((mask, 0.7 * distinct + 0.3 * mask * rng.random()))
    return images


def of_anomalies(seed):
    images = anomaly_set(seed)
    measured = summary(images, Anomalies())
    top = np.array([scores.max() for _, scores in images])
    anomalous = np.array([mask.any() for mask, _ in images])
    pairs = top[anomalous][:, None] - top[~anomalous]
    yield "image-scores", measured["image_auc_roc"], np.mean((pairs > 0) + 0.5 * (pairs == 0))
    cuts = np.unique(np.concatenate([scores.ravel() for _, scores in images]))[::-1]
    normal = np.sort(np.concatenate([scores[~mask] for mask, scores in images]))
    rate = np.append(0, 1 - np.searchsorted(normal, cuts) / normal.size)
    components = []
    for mask, scores in images:
        labels, count = ndimage.label(mask, EIGHT)
        components += [np.sort(scores[labels == k]) for k in range(1, count + 1)]
    found = [np.append(0, 1 - np.searchsorted(part, cuts) / part.size) for part in components]
    overlap = np.mean(found, axis=0)
    for key, limit in (("aupro", 0.3), ("aupro_05", 0.05)):
        x = np.append(rate[rate <= limit], limit)
        y = np.append(overlap[rate <= limit], np.interp(limit, rate, overlap))
        yield "aupro", measured[key], trapezoid(y, x) / limit
    clean = [np.sort(scores.ravel()) for mask, scores in images if not mask.any()]
    cuts = np.unique(clean)[::-1]
    shared = np.mean([1 - np.searchsorted(scores, cuts) / scores.size for scores in clean], axis=0)
    areas = []
    for mask, scores in images:
        if mask.any():
            part = np.sort(scores[mask])
            true = 1 - np.searchsorted(part, cuts) / part.size
            x, y = np.log(shared[shared > 0]), true[shared > 0]
            ends = np.log([1e-5, 1e-4])
            inside = (x > ends[0]) & (x < ends[1])
            low, high = np.interp(ends, x, y)
            areas.append(trapezoid([low, *y[inside], high], [ends[0], *x[inside], ends[1]]) / math.log(10))
    yield "aupimo", measured["aupimo"], np.mean(areas)


def of_saturated(seed, tmp_path):
    rng = np.random.default_rng(seed)
    import imageio.v3 as iio

    gt, pred = (tmp_path / name / "structural_anomalies" for name in ("gt", "pred"))
    pred.mkdir(parents=True)
    sizes = []
    for k in range(3):
        (gt / f"{k:03}").mkdir(parents=True)
        mask = np.zeros((40, 40), np.uint8)
        mask[5 : 15 + k, 8:20] = 255
        iio.imwrite(gt / f"{k:03}" / "000.png", mask)
        scores = rng.permutation(1600).reshape(40, 40) / 1600 + 0.4 * (mask > 0)
        np.save(pred / f"{k:03}.npy", scores.astype(np.float64) / 1.5)
        sizes.append((mask > 0, scores / 1.5))
    config = tmp_path / "defects_config.json"
    config.write_text(json.dumps([{"pixel_value": 255, "saturation_threshold": 50, "relative_saturation": False}]))
    measured = evaluate(gt.parent, pred.parent, Anomalies(defects=config), gt_pattern="*/#").summary
    cuts = np.unique(np.concatenate([scores.ravel() for _, scores in sizes]))[::-1]
    normal = np.sort(np.concatenate([scores[~mask] for mask, scores in sizes]))
    rate = np.append(0, 1 - np.searchsorted(normal, cuts) / normal.size)
    shares = []
    for mask, scores in sizes:
        part = np.sort(scores[mask])
        shares.append(np.append(0, np.minimum((part.size - np.searchsorted(part, cuts)) / 50, 1)))
    overlap = np.mean(shares, axis=0)
    x = np.append(rate[rate <= 0.05], 0.05)
    y = np.append(overlap[rate <= 0.05], np.interp(0.05, rate, overlap))
    yield "auspro", measured["auspro_05_structural"], trapezoid(y, x) / 0.05


# Boundaries


def of_boundaries(seed):
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(2):
        truth = np.zeros((40, 44), bool)
        truth[20, 5:40] = truth[5:35, 22] = True
        false = 0.6 * (rng.random(truth.shape) < 0.03)
        images.append((truth, np.round(0.9 * np.where(truth, rng.random(truth.shape), false), 1) + 0.05))
    protocol = Boundaries(max_dist=0.0, thresholds=9, thin=False)
    result = evaluate(images, protocol=protocol)
    measured = dict(result.summary)
    cuts = [k / 10 for k in range(1, 10)]
    tp, fp, fn = np.array([sum(counts_at(*image, cut) for image in images)[:3] for cut in cuts]).T
    precision, recall = tp / np.maximum(tp + fp, 1), tp / (tp + fn)
    yield "ods-f", measured["ods_f"], max(map(f1, precision, recall))
    at = np.linspace(0, 1, 101)
    order = np.argsort(recall)

    def area(r, p):
        values, places = np.unique(r, return_index=True)
        return np.sum(np.interp(at, values, p[places], left=0, right=0)) / 100

    distinct = np.unique(recall).size == recall.size
    if distinct:
        yield "area-pr", measured["area_pr"], area(recall[order], precision[order])
        r, p = np.concatenate([[0], recall[order], [1]]), np.concatenate([[1], precision[order], [0]])
        yield "area-pr", measured["area_pr_extended"], area(r, p)
    crossings = [
        recall[k] + (0.5 - precision[k]) / (precision[k + 1] - precision[k]) * (recall[k + 1] - recall[k])
        for k in range(8)
        if (precision[k] - 0.5) * (precision[k + 1] - 0.5) < 0
    ]
    yield "r50", measured["r50"], max(crossings) if crossings else recall[np.argmin(precision)]
    crisp = summary(images, Boundaries(crispness=True))["crispness"]
    suppressed = [segbench.nms(scores, radius=2, border=5, multiplier=1.01, smoothing=0) for _, scores in images]
    shares = [thin.sum() / scores.sum() for thin, (_, scores) in zip(suppressed, images, strict=True)]
    yield "crispness", crisp, np.mean(shares)


def of_scored(seed):
    rng = np.random.default_rng(seed)
    images = [scored_image(rng) for _ in range(4)]
    measured = summary(images, Objects(kind="scored"))
    at = np.linspace(0.5, 0.95, 10)
    coco, exact, found = [], [], []
    for label, iou in itertools.product((1, 2), at):
        matched = [matched_detections(*image, label, iou) for image in images]
        scores, is_true = np.array([pair for of_image in matched for pair in of_image]).T
        objects = sum(np.sum(np.array(truth["labels"]) == label) for truth, _ in images)
        tp, fp = np.cumsum([is_true[np.argsort(-scores)], ~is_true[np.argsort(-scores)].astype(bool)], axis=1)
        recall, precision = tp / objects, tp / (tp + fp)
        coco.append(np.mean([precision[recall >= r].max(initial=0) for r in np.linspace(0, 1, 101)]))
        # From k to k + 1 true ones FP stays as it is: the integral of x / (x + FP).
        false = [fp[tp == k].max(initial=0) for k in range(int(tp[-1]))]
        areas = [1 - (c * math.log((k + 1 + c) / (k + c)) if c else 0) for k, c in enumerate(false)]
        exact.append(sum(areas) / objects)
        found.append(is_true.sum() / objects)
    yield "coco-ap", measured["coco_ap"], np.mean(coco)
    yield "coco-ap", measured["coco_ap_50"], np.mean(coco[::10])
    yield "exact-ap", measured["ap_exact"], np.mean(exact)
    yield "coco-ar", measured["coco_ar_100"], np.mean(found)


def scored_image(rng):
    """Return the squares of two classes, each in a cell of its own, and detections of some of them and of none."""
    shape, cells = (64, 64), [(row, column) for row in range(4) for column in range(4)]
    squares = [np.s_[16 * row : 16 * row + 9, 16 * column : 16 * column + 9] for row, column in cells]
    shifted = [
        np.s_[s[0].start + d : s[0].stop + d, s[1]] for s, d in zip(squares, rng.integers(0, 4, 16), strict=True)
    ]
    labels = rng.integers(1, 3, 16)
    drawn = [np.zeros((16, *shape), bool) for _ in range(2)]
    for k in range(16):
        drawn[0][k][squares[k]] = drawn[1][k][shifted[k]] = True
    truth = {"masks": drawn[0][:12], "labels": labels[:12]}
    return truth, {"masks": drawn[1][4:], "labels": labels[4:], "scores": rng.permutation(12) / 12 + rng.random()}


def matched_detections(truth, predicted, label, iou):
    """Return the score of each detection of a class, and whether it is matched."""
    objects = [mask for mask, other in zip(truth["masks"], truth["labels"], strict=True) if other == label]
    detections = zip(predicted["scores"], predicted["masks"], predicted["labels"], strict=True)
    for score, mask, other in sorted(detections, key=lambda detection: -detection[0]):
        if other == label:
            overlaps = [np.sum(mask & true) / np.sum(mask | true) for true in objects]
            best = int(np.argmax(overlaps)) if objects else -1
            is_true = best >= 0 and overlaps[best] >= iou
            if is_true:
                objects.pop(best)
            yield score, is_true


def of_froc(seed):
    rng = np.random.default_rng(seed)
    images = [scored_image(rng) for _ in range(4)]
    values = {rate: [] for rate in (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)}
    for label in (1, 2):
        hits = [hit_objects(*image, label) for image in images]  # (score, the only object hit or None)
        objects = sum(np.sum(np.array(truth["labels"]) == label) for truth, _ in images)
        for rate, sensitivity in values.items():
            found = [0]
            for least in {score for of_image in hits for score, _ in of_image}:
                kept = [[hit for score, hit in of_image if score >= least] for of_image in hits]
                if sum(of_image.count(None) for of_image in kept) <= rate * len(images):
                    found.append(sum(len({*of_image} - {None}) for of_image in kept))
            sensitivity.append(max(found) / objects)
    means = [np.mean(sensitivity) for sensitivity in values.values()]
    measured = summary(images, Objects(kind="scored"))
    yield "froc", measured["froc"], np.mean(means)
    yield "froc", measured["froc_camelyon"], np.mean(means[1:])
    yield "froc", measured["froc_1_4"], means[1]


def hit_objects(truth, predicted, label):
    """Return the score of each detection of a class, and the object that it shares a pixel with, if any."""
    objects = [mask for mask, other in zip(truth["masks"], truth["labels"], strict=True) if other == label]
    detections = zip(predicted["scores"], predicted["masks"], predicted["labels"], strict=True)
    return [
        (score, next((k for k, true in enumerate(objects) if np.any(mask & true)), None))
        for score, mask, other in detections
        if other == label
    ]


ALL = (
    of_pixels, of_equal_bins, of_labels, of_masks, of_regions, of_contours, of_sequences, of_centerlines, of_objects,
    of_components, of_lesions, of_saliency, of_anomalies, of_boundaries, of_scored, of_froc,
)  # fmt: skip


@pytest.mark.parametrize("formulas", ALL)
def test_formulas_of_pages_give_the_metrics(formulas):
    for seed in SEEDS:
        for page, measured, expected in formulas(seed):
            assert measured == pytest.approx(expected, abs=TOLERANCES.get(page, 1e-9)), page


def test_the_formula_of_saturated_overlap_gives_the_metric(tmp_path):
    for page, measured, expected in of_saturated(0, tmp_path):
        assert measured == pytest.approx(expected, abs=1e-9), page


def test_every_page_with_a_formula_is_recomputed():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert {page for formulas in ALL for page, *_ in formulas(0)} | {"auspro"} == pages

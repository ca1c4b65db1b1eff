"""Metrics of soft maps as pyEdgeEval, PySODMetrics and anomalib define them."""

import functools
import itertools
import runpy
from pathlib import Path

import numpy as np
from scipy.ndimage import convolve, distance_transform_edt

EPS = np.spacing(1)
DIRECT = runpy.run_path(str(Path(__file__).parents[1] / "protocols/anomalies/direct.py"))


def bsds500(names):
    """Measure the curve of our own matching, which other tests compare with independent code."""
    recall, precision = np.array(names["result"].curve.recall), np.array(names["result"].curve.precision)
    rising = np.argsort(recall)
    at = np.arange(0, 1, 0.01)
    interpolated = np.interp(at, recall[rising], precision[rising], left=0, right=0)
    share = np.linspace(0, 1, 101)
    r, p = (
        np.concatenate([share * after + (1 - share) * before for before, after in itertools.pairwise(side)])
        for side in (recall, precision)
    )
    best = []
    for counts in names["result"].counts.values():
        table = np.array([counts.matched_gt, counts.total_gt, counts.matched_pred, counts.total_pred], float)
        best.append(table[:, np.argmax(f_of(table))])
    return {
        "results": {
            "ODS_f1": (2 * p * r / (p + r)).max(),
            "OIS_f1": f_of(np.sum(best, axis=0)),
            "AUC": interpolated.sum() * 0.01,
            "AP": sum(np.max(precision[recall >= t], initial=0) for t in at) / 101,
        }
    }


def f_of(table):
    matched_gt, total_gt, matched_pred, total_pred = table
    recall, precision = matched_gt / np.maximum(total_gt, 1), matched_pred / np.maximum(total_pred, 1)
    return 2 * precision * recall / np.maximum(precision + recall, EPS)


def pysodmetrics(names):
    """Average over images; each map is stretched to 0..1."""
    images = [
        ((soft - soft.min()) / (soft.max() - soft.min()), mask > 128)
        for soft, mask in zip((image / 255 for image in names["pred"]), names["gt"], strict=True)
    ]
    mean = {measure: np.mean([measure(*image) for image in images], axis=0) for measure in (f_values, e_values)}
    curves = [{"adp": mean[measure][0], "curve": mean[measure][1:]} for measure in (f_values, e_values)]
    return {
        "fm": curves[0],
        "em": curves[1],
        "sm": np.mean([s_measure(*image) for image in images]),
        "wfm": np.mean([weighted_f(*image) for image in images]),
        "mae": np.mean([np.abs(soft - mask).mean() for soft, mask in images]),
    }


def binarized(soft):
    """Return the map at its adaptive threshold and at 256 thresholds."""
    levels = np.floor(soft * 255)
    return [soft >= min(2 * soft.mean(), 1), *(levels >= threshold for threshold in range(256))]


def f_values(soft, mask):
    found = [((binary & mask).sum(), binary.sum()) for binary in binarized(soft)]
    return [0 if not both else 1.3 * both / (0.3 * mask.sum() + total) for both, total in found]


def e_values(soft, mask):
    values = []
    for binary in binarized(soft):
        a, b = mask - mask.mean(), binary - binary.mean()
        alignment = 2 * a * b / (a**2 + b**2 + EPS)
        values.append(((alignment + 1) ** 2 / 4).sum() / (mask.size - 1 + EPS))
    return values


def s_measure(soft, mask):
    def of_object(values):
        return 2 * values.mean() / (values.mean() ** 2 + 1 + values.std(ddof=1) + EPS)

    def of_region(part, truth):
        covariance = ((part - part.mean()) * (truth - truth.mean())).sum() / (part.size - 1)
        product = part.mean() * truth.mean()
        similar = 4 * product * covariance
        different = (part.mean() ** 2 + truth.mean() ** 2) * (part.var(ddof=1) + truth.var(ddof=1))
        return similar / (different + EPS) if similar else float(different == 0)

    share = mask.mean()
    objects = share * of_object(soft[mask]) + (1 - share) * of_object(1 - soft[~mask])
    y, x = (int(np.round(at.mean())) + 1 for at in np.nonzero(mask))
    quarters = [(rows, columns) for rows in (np.s_[:y], np.s_[y:]) for columns in (np.s_[:x], np.s_[x:])]
    regions = sum(of_region(soft[at], mask[at].astype(float)) * mask[at].size for at in quarters) / mask.size
    return (objects + regions) / 2


def weighted_f(soft, mask):
    distance, nearest = distance_transform_edt(~mask, return_indices=True)
    error = np.abs(soft - mask)
    spread = np.where(mask, error, error[tuple(nearest)])
    axis = np.arange(-3, 4)
    kernel = np.exp(-(axis**2 + axis[:, None] ** 2) / 50)
    smooth = convolve(spread, kernel / kernel.sum(), mode="constant")
    weight = np.where(mask, 1, 2 - np.exp(np.log(0.5) / 5 * distance))
    weighted = np.where(mask & (smooth < error), smooth, error) * weight
    found, false = mask.sum() - weighted[mask].sum(), weighted[~mask].sum()
    recall, precision = 1 - weighted[mask].mean(), found / (found + false + EPS)
    return 2 * recall * precision / (recall + precision + EPS)


def anomalib(names):
    masks, maps = names["gt_mask"], names["anomaly_map"]
    thresholds = np.unique(maps)[::-1]
    found = np.array([[(maps[side] >= at).sum() for at in thresholds] for side in (masks, ~masks)])
    true, false = found / [[masks.sum()], [(~masks).sum()]]
    f1 = 2 * found[0] / (found.sum(axis=0) + masks.sum())
    aupro = functools.partial(DIRECT["direct_aupro"], masks, maps)
    return {
        "AUPRO": lambda fpr_limit=0.3: aupro(fpr_limit),
        "AUROC": lambda: np.trapezoid([0, *true], [0, *false]),
        "F1Max": f1.max,
    }

"""AUPRO and AUPIMO straight from their definitions: every distinct score is a threshold, and nothing is counted."""

import math

import numpy as np
from scipy.ndimage import label


def area(x, y, low, high):
    """Return the area under straight lines between points, from one place to another."""
    total = 0.0
    for x0, x1, y0, y1 in zip(x[:-1], x[1:], y[:-1], y[1:], strict=True):
        start, end = max(x0, low), min(x1, high)
        if end > start:
            at = [y0 + (y1 - y0) * (place - x0) / (x1 - x0) for place in (start, end)]
            total += (end - start) * sum(at) / 2
    return total


def direct_aupro(masks, maps, limit):
    """Measure AUPRO; nan where it is undefined."""
    regions, normal = [], []
    for mask, scores in zip(masks, maps, strict=True):
        labels, number = label(mask, np.ones((3, 3)))
        regions += [scores[labels == k] for k in range(1, number + 1)]
        normal.append(scores[~mask])
    normal = np.concatenate(normal)
    if not regions or not normal.size:
        return math.nan
    thresholds = np.unique(np.concatenate([scores.ravel() for scores in maps]))[::-1]
    fpr = [0.0, *((normal >= at).mean() for at in thresholds)]
    pro = [0.0, *(np.mean([(region >= at).mean() for region in regions]) for at in thresholds)]
    return area(fpr, pro, 0, limit) / limit


def direct_aupimo(masks, maps, low, high):
    """Measure AUPIMO of each anomalous image; None where it is undefined."""
    normal = [scores.ravel() for mask, scores in zip(masks, maps, strict=True) if not mask.any()]
    found = [scores[mask] for mask, scores in zip(masks, maps, strict=True) if mask.any()]
    if not normal or not found:
        return None
    thresholds = np.unique(np.concatenate(normal))[::-1]
    rates = np.array([np.mean([(scores >= at).mean() for scores in normal]) for at in thresholds])
    if rates[0] > low * (1 + 1e-12):
        return None
    recalls = [[(scores >= at).mean() for at in thresholds] for scores in found]
    return [area(np.log(rates), recall, math.log(low), math.log(high)) / math.log(high / low) for recall in recalls]

"""Metrics of objects as StarDist, Cellpose and panopticapi define them."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import linear_sum_assignment


def overlaps(truth, predicted):
    """Return the pixels that pairs of values have in common, with the values of the rows and of the columns."""
    (rows, row), (columns, column) = (np.unique(side, return_inverse=True) for side in (truth, predicted))
    table = np.zeros((rows.size, columns.size))
    np.add.at(table, (row.ravel(), column.ravel()), 1)
    return table, rows, columns


def matched(truth, predicted, threshold):
    """Return how many objects match, are false and are missed, and the sum of the IoU of those that match."""
    table, _, _ = overlaps(truth, predicted)
    assert truth.min() == predicted.min() == 0
    iou = (table / (table.sum(axis=0) + table.sum(axis=1)[:, None] - table))[1:, 1:]
    pairs = iou[linear_sum_assignment(-(iou >= threshold).astype(float) - iou / (2 * min(iou.shape)))]
    found = pairs[pairs >= threshold]
    return np.array([found.size, iou.shape[1] - found.size, iou.shape[0] - found.size, found.sum()])


def stardist_cellpose(_):
    def measured(counts):
        found, false, missed, overlap = counts
        return {
            "precision": found / (found + false),
            "accuracy": found / (found + false + missed),
            "f1": 2 * found / (2 * found + false + missed),
            "panoptic_quality": overlap / (found + false / 2 + missed / 2),
            "mean_matched_score": overlap / found if found else 0.0,
        }

    def matching_dataset(y_true, y_pred, thresh, *, by_image=False):
        counts = [matched(*pair, thresh) for pair in zip(y_true, y_pred, strict=True)]
        images = [measured(of_image) for of_image in (counts if by_image else [sum(counts)])]
        return SimpleNamespace(**{name: np.mean([image[name] for image in images]) for name in images[0]})

    def average_precision(masks_true, masks_pred, threshold):
        counts = [[matched(*pair, at) for at in threshold] for pair in zip(masks_true, masks_pred, strict=True)]
        return (np.array([[measured(at)["accuracy"] for at in of_image] for of_image in counts]),)

    return {"matching_dataset": matching_dataset, "average_precision": average_precision}


def panopticapi(names):
    """Add up matched segments of one class with an IoU above .5, without void (255) in the union."""
    sums = np.zeros((6, 4))  # by class: matched, false, missed, sum of IoU
    for truth, predicted in names["pairs"].values():
        table, rows, columns = overlaps(truth, predicted)
        void = table[rows == 255].sum(axis=0)
        areas, found = table.sum(axis=1), set()
        classes = [np.where(values >= 1000, values // 1000, values) for values in (rows, columns)]
        for i, j in zip(*np.nonzero(table), strict=True):
            union = areas[i] + table[:, j].sum() - void[j] - table[i, j]
            if rows[i] != 255 and classes[0][i] == classes[1][j] and table[i, j] / union > 0.5:
                sums[classes[0][i]] += 1, 0, 0, table[i, j] / union
                found |= {("true", i), ("predicted", j)}
        for i, value in enumerate(rows):
            sums[classes[0][i] % 255, 2] += value != 255 and ("true", i) not in found
        for j, area in enumerate(table.sum(axis=0)):
            sums[classes[1][j], 1] += ("predicted", j) not in found and void[j] / area <= 0.5
    matches, false, missed, overlap = sums.T
    weights = matches + false / 2 + missed / 2
    by_class = {"pq": overlap / weights, "sq": overlap / np.maximum(matches, 1), "rq": matches / weights}
    chosen = {"All": range(6), "Things": [1, 2, 3, 5], "Stuff": [0, 4]}
    results = {name: {key: of[list(kept)].mean() for key, of in by_class.items()} for name, kept in chosen.items()}
    per_class = {k: {key: of[k] for key, of in by_class.items()} for k in range(6)}
    return {"results": {**results, "per_class": per_class}}

"""What tools of other fields compute, in plain NumPy, under the names that their users type.

The pages of docs/coming_from/ call these names. `scripts/checks/check_coming_from.py` calls the tools themselves.
"""

from types import SimpleNamespace

import numpy as np


def confusion(truth, predicted, classes, void=255):
    """Return pixels by true and predicted class, over all images; the last column is predicted outside the classes."""
    matrix = np.zeros((classes, classes + 1))
    for true_map, predicted_map in zip(truth, predicted, strict=True):
        counts = true_map != void
        np.add.at(matrix, (true_map[counts], np.minimum(predicted_map[counts], classes)), 1)
    return matrix


def of_classes(matrix):
    """Return intersection, true and predicted pixels of each class."""
    return np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)[: len(matrix)]


def ratio(numerator, denominator):
    with np.errstate(invalid="ignore"):
        return numerator / denominator


def iou(matrix):
    both, true, predicted = of_classes(matrix)
    return ratio(both, true + predicted - both)


def dice(matrix):
    both, true, predicted = of_classes(matrix)
    return ratio(2 * both, true + predicted)


def averaged(values, average, weights):
    if average is None:
        return np.nan_to_num(values)
    return np.average(np.nan_to_num(values), weights=weights if average == "weighted" else ~np.isnan(values))


def torchmetrics(names):
    images = names["target"], names["preds"]

    def jaccard(classes, *, ignore_index, average="macro"):
        matrix = confusion(*images, classes, ignore_index)
        return averaged(iou(matrix), average, matrix.sum(axis=1))

    def accuracy(classes, *, ignore_index, average="macro"):
        matrix = confusion(*images, classes, ignore_index)
        both, true, _ = of_classes(matrix)
        return both.sum() / true.sum() if average == "micro" else np.nanmean(ratio(both, true))

    def f1_score(classes, *, ignore_index):
        return np.nanmean(dice(confusion(*images, classes, ignore_index)))

    def cohen_kappa(classes, *, ignore_index):
        matrix = confusion(*images, classes, ignore_index)
        both, true, predicted = (part / matrix.sum() for part in of_classes(matrix))
        return (both.sum() - true @ predicted) / (1 - true @ predicted)

    def by_image(metric, classes):
        pairs = zip(*images, strict=True)
        return np.array([metric(confusion([true], [predicted], classes)) for true, predicted in pairs])

    def mean_iou(classes, *, per_class=False):
        return np.nanmean(by_image(iou, classes), axis=0 if per_class else None)

    def dice_score(classes, *, average, aggregation_level="samplewise"):
        assert average == "macro"
        together = aggregation_level == "global"
        values = dice(confusion(*images, classes))[None] if together else by_image(dice, classes)
        return np.nanmean(values, axis=1).mean()

    return {
        "MulticlassJaccardIndex": jaccard,
        "MulticlassAccuracy": accuracy,
        "MulticlassF1Score": f1_score,
        "MulticlassCohenKappa": cohen_kappa,
        "segmentation": SimpleNamespace(MeanIoU=mean_iou, DiceScore=dice_score),
    }


def mmsegmentation(names):
    def iou_metric(*, iou_metrics=("mIoU",), num_classes=6, nan_to_num=None, reduce_zero_label=False):
        images, classes = (names["label"], names["pred_label"]), num_classes
        if reduce_zero_label:  # 0 becomes 255
            truth = [np.where(image % 255 == 0, 255, image - 1.0).astype(np.uint8) for image in names["label"]]
            images, classes = (truth, names["pred_from_1"]), classes - 1
        matrix = confusion(*images, classes)
        both, true, predicted = of_classes(matrix)
        precision, recall = ratio(both, predicted), ratio(both, true)
        values = {
            "mIoU": iou(matrix),
            "mAcc": recall,
            "mDice": dice(matrix),
            "mFscore": ratio(2 * precision * recall, precision + recall),
        }
        if nan_to_num is not None:
            values = {name: np.nan_to_num(of_class, nan=nan_to_num) for name, of_class in values.items()}
        means = {name: np.nanmean(of_class) for name, of_class in values.items()}
        means["aAcc"] = both.sum() / true.sum()
        return {name: round(100 * means[name], 2) for name in (*iou_metrics, "mAcc", "aAcc")}

    return {"IoUMetric": iou_metric}


CATEGORIES = {
    "flat": [7, 8], "construction": [11, 12, 13], "object": [17, 19, 20], "nature": [21, 22], "sky": [23],
    "human": [24, 25], "vehicle": [26, 27, 28, 31, 32, 33],
}  # fmt: skip


def cityscapesscripts(names):
    matrix = np.zeros((34, 34))
    for truth, predicted in zip(names["ground_truth"], names["predictions"], strict=True):
        np.add.at(matrix, (truth, predicted), 1)
    counted = [label for labels in CATEGORIES.values() for label in labels]

    def score(labels):
        both, missed = matrix[np.ix_(labels, labels)].sum(), matrix[labels].sum()
        others = [label for label in counted if label not in labels]
        return ratio(both, missed + matrix[np.ix_(others, labels)].sum())

    by_category = {name: score(labels) for name, labels in CATEGORIES.items()}
    return {
        "averageScoreClasses": np.nanmean([score([label]) for label in counted]),
        "classScores": {"car": score([26])},
        "averageScoreCategories": np.nanmean(list(by_category.values())),
        "categoryScores": by_category,
    }

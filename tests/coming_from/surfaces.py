"""Distances between surfaces as MONAI, medpy and surface-distance define them, and Dice over cases as nnU-Net does."""

import numpy as np
from coming_from.label_maps import confusion, dice, iou, ratio
from scipy.ndimage import binary_erosion, distance_transform_edt
from surface_peers import corner_surface


def contour(mask):
    """Return the pixels of a mask with a neighbour along an axis outside it, which all count alike."""
    return mask ^ binary_erosion(mask), np.ones(mask.shape)


def corners(mask):
    """Return the corners of pixels on the contour, and the length of the contour at each."""
    padded = np.pad(mask, 1).astype(int)
    around = np.stack([padded[:-1, :-1], padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]])
    total, diagonal = around.sum(axis=0), (around[0] == around[3]) & (around[1] == around[2])
    lengths = np.where(total % 2 == 1, np.sqrt(0.5), np.where(diagonal, np.sqrt(2), 1))
    return (total > 0) & (total < 4), lengths


def directed(truth, predicted, surface=contour, spacing=None):
    """Return the distances from ground truth to prediction and back, and the sizes of the elements."""
    sides = surface(truth), surface(predicted)
    return [
        (distance_transform_edt(~other, sampling=spacing)[own], sizes[own])
        for (own, sizes), (other, _) in (sides, sides[::-1])
    ]


def within(directions, tolerance):
    """Return the share of both surfaces within a tolerance."""
    return sum(sizes[far <= tolerance].sum() for far, sizes in directions) / sum(sizes.sum() for _, sizes in directions)


def together(directions):
    """Return the distances of both directions."""
    return np.concatenate([far for far, _ in directions])


def monai_nnunet(names):
    """Measure the classes 1 to 5 of each image: values of shape (images, classes), nan where both sides are empty."""
    pairs = list(zip(names["y"], names["y_pred"], strict=True))

    def of_masks(measure):
        return np.array([
            [measure(directed(truth == k, predicted == k)) if (truth == k).any() else np.nan for k in range(1, 6)]
            for truth, predicted in pairs
        ])  # fmt: skip

    def reduced(values, reduction="mean"):
        return np.nanmean(values, axis=0) if reduction == "mean_batch" else np.nanmean(values, axis=1).mean()

    matrices = [confusion([truth], [predicted], 6) for truth, predicted in pairs]
    by_case = {name: np.array([of(matrix) for matrix in matrices]) for name, of in (("Dice", dice), ("IoU", iou))}
    means = {name: np.nanmean(values, axis=0) for name, values in by_case.items()}

    def dice_metric(*, ignore_empty=True, **options):
        values = by_case["Dice"][:, 1:]
        return reduced(values if ignore_empty else np.nan_to_num(values, nan=1), **options)

    def hausdorff(*, percentile, **options):
        return reduced(of_masks(lambda sides: max(np.percentile(far, percentile) for far, _ in sides)), **options)

    def surface_distance(*, symmetric):
        assert symmetric
        return reduced(of_masks(lambda sides: together(sides).mean()))

    def surface_dice(class_thresholds):
        assert len(set(class_thresholds)) == 1
        return reduced(of_masks(lambda sides: within(sides, class_thresholds[0])))

    summary = {
        "mean": {str(k): {name: values[k] for name, values in means.items()} for k in range(1, 6)},
        "foreground_mean": {name: values[1:].mean() for name, values in means.items()},
    }
    return {
        "DiceMetric": dice_metric,
        "HausdorffDistanceMetric": hausdorff,
        "SurfaceDistanceMetric": surface_distance,
        "SurfaceDiceMetric": surface_dice,
        "summary": summary,
    }


def surface_distance_medpy(names):
    """Average over images what functions of two masks return."""

    def over_images(measure):
        def mean(results, references, voxelspacing=None):
            pairs = zip(references, results, strict=True)
            return np.mean([measure(directed(*pair, spacing=voxelspacing)) for pair in pairs])

        return mean

    def dc(results, references):
        pairs = zip(references, results, strict=True)
        return np.mean([ratio(2.0 * (truth & other).sum(), truth.sum() + other.sum()) for truth, other in pairs])

    def robust_hausdorff(surface_distances, percent):
        return np.mean([max(reached(*side, percent) for side in sides) for sides in surface_distances])

    def reached(far, sizes, percent):
        rising = np.argsort(far)
        cumulated = np.cumsum(sizes[rising]) / sizes.sum()
        return far[rising][np.searchsorted(cumulated, percent / 100 - 1e-12)]

    def average_surface_distance(surface_distances):
        return np.mean([[far @ sizes / sizes.sum() for far, sizes in sides] for sides in surface_distances], axis=0)

    spacing = (2.5, 0.7, 0.7)
    of_voxels = directed(names["volume"][0], names["predicted"][0], lambda mask: corner_surface(mask, spacing), spacing)
    pairs = zip(names["reference"], names["result"], strict=True)
    return {
        "hd": over_images(lambda sides: together(sides).max()),
        "hd95": over_images(lambda sides: np.percentile(together(sides), 95)),
        "assd": over_images(lambda sides: together(sides).mean()),
        "dc": dc,
        "surface_distances": [directed(*pair, corners) for pair in pairs],
        "of_volumes": [of_voxels],
        "compute_robust_hausdorff": robust_hausdorff,
        "compute_average_surface_distance": average_surface_distance,
        "compute_surface_dice_at_tolerance": lambda distances, tolerance: np.mean(
            [within(sides, tolerance) for sides in distances]
        ),
    }

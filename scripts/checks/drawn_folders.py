"""Random folders of small images whose meaning is known, and their numbers by NumPy, scikit-image and scikit-learn.

A scene is what one image shows and what a method predicts of it. A folder stores scenes as people do, or as they do by
mistake; `Folder.right` holds the numbers of a run that reads the files as they are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import label as components
from skimage.morphology import skeletonize
from sklearn.metrics import f1_score, jaccard_score, rand_score, roc_auc_score

import segbench
from segbench.core.protocol import Protocol

Array = NDArray[Any]
CLASSES = 3
CELL = 6
VOID = 255


@dataclass(frozen=True)
class Scene:
    """What an image shows, and what is predicted; `levels` are from 128 on exactly where something is predicted."""

    mask: Array
    predicted: Array
    levels: Array
    labels: Array
    predicted_labels: Array
    void: Array

    @property
    def scores(self) -> Array:
        """The levels as scores from 0 to 1."""
        return self.levels / 255

    @property
    def stack(self) -> Array:
        """One soft map per class, in float32, of which the predicted one is the highest; they add up to 1."""
        classes = np.arange(CLASSES)[:, None, None]
        noise = np.stack([self.scores, self.scores[::-1], self.scores[:, ::-1]])
        raised = (classes == self.predicted_labels) + 0.9 * noise
        return np.asarray(raised / raised.sum(axis=0), np.float32)

    @property
    def objects(self) -> Array:
        """The true objects with numbers from 1 on."""
        return np.asarray(components(self.mask, np.ones((3, 3)))[0], np.uint8)

    @property
    def predicted_objects(self) -> Array:
        """The predicted objects with numbers from 1 on."""
        return np.asarray(components(self.predicted, np.ones((3, 3)))[0], np.uint8)


def draw(rng: np.random.Generator, shape: tuple[int, int], *, lines: bool) -> Scene:
    """Draw an image: squares or lines in cells, of which the method misses some, adds some and moves others."""
    rows, columns = shape[0] // CELL, shape[1] // CELL
    cells = rows * columns
    true = rng.permutation(np.arange(cells) < max(2, round(0.4 * cells)))
    detected = true ^ (rng.random(cells) < 0.2)
    detected[np.flatnonzero(true)[0]] = True
    mask, predicted = np.zeros((2, *shape), np.bool_)
    for cell in range(cells):
        top, left = CELL * (cell // columns) + 1, CELL * (cell % columns) + 1
        height = 1 if lines else 4
        moved = int(rng.random() < 0.4) if not lines else 0
        if true[cell]:
            mask[top : top + height, left : left + 4] = True
        if detected[cell]:
            predicted[top : top + height, left + moved : left + 4] = True
    levels = np.where(predicted, rng.integers(140, 251, shape), rng.integers(3, 120, shape)).astype(np.uint8)
    labels = np.kron(rng.integers(0, CLASSES, (rows, columns)), np.ones((CELL, CELL), int))
    labels = np.pad(labels, [(0, shape[axis] - labels.shape[axis]) for axis in (0, 1)], mode="edge").astype(np.uint8)
    labels[0, :CLASSES] = np.arange(CLASSES)
    void = np.zeros(shape, np.bool_)
    void[-2:, : shape[1] // 2] = True
    return Scene(mask, predicted, levels, labels, np.roll(labels, 2, axis=1), void)


def everywhere(scenes: Sequence[Scene]) -> list[Array]:
    """Mark that all pixels of some scenes count."""
    return [np.ones_like(scene.mask) for scene in scenes]


# ---------------------------------------------------------------------------------------------------------- numbers


def auc(masks: Sequence[Array], scores: Sequence[Array]) -> float:
    """Compute the area under the ROC curve of all pixels."""
    return float(roc_auc_score(np.concatenate([m.ravel() for m in masks]), np.concatenate([s.ravel() for s in scores])))


def pooled_dice(masks: Sequence[Array], predicted: Sequence[Array]) -> float:
    """Compute Dice, which is F1, of all pixels."""
    return float(f1_score(np.concatenate([m.ravel() for m in masks]), np.concatenate([p.ravel() for p in predicted])))


def dice(mask: Array, predicted: Array) -> float:
    """Compute Dice of an image."""
    return float(2 * (mask & predicted).sum() / (mask.sum() + predicted.sum()))


def cl_dice(pairs: Sequence[tuple[Array, Array]]) -> float:
    """Compute clDice, the harmonic mean of the shares of all centerlines that lie in masks."""
    inside = [(predicted[skeletonize(mask)], mask[skeletonize(predicted)]) for mask, predicted in pairs]
    true_lines, lines = (np.concatenate(of_images) for of_images in zip(*inside, strict=True))
    if not true_lines.size or not lines.size:
        return float("nan")
    sensitivity, precision = true_lines.mean(), lines.mean()
    return float(2 * precision * sensitivity / (precision + sensitivity))


def object_f1(pairs: Sequence[tuple[Array, Array]]) -> float:
    """Compute F1 of numbered objects, of which those above half of IoU match."""
    matched = total = 0
    for true, predicted in pairs:
        numbers, others = np.unique(true[true > 0]), np.unique(predicted[predicted > 0])
        total += numbers.size + others.size
        for number in numbers:
            overlaps = [jaccard_score((true == number).ravel(), (predicted == other).ravel()) for other in others]
            matched += any(overlap > 0.5 for overlap in overlaps)
    return 2 * matched / total


def mean(values: Sequence[float]) -> float:
    """Return a mean as a plain number."""
    return float(np.mean(values))


def lesion_f1(pairs: Sequence[tuple[Array, Array]]) -> float:
    """Compute F1 of components, of which a true one is found, and a predicted one right, by a pixel of the other."""
    hit = missed = false = 0
    for mask, predicted in pairs:
        true_numbers, numbers = (components(side, np.ones((3, 3)))[0] for side in (mask, predicted))
        touched = np.unique(true_numbers[predicted & mask]).size
        hit, missed = hit + touched, missed + true_numbers.max() - touched
        false += numbers.max() - np.unique(numbers[predicted & mask]).size
    return float(2 * hit / (2 * hit + missed + false))


def mean_error(masks: Sequence[Array], scores: Sequence[Array]) -> float:
    """Compute the mean absolute error of maps that are stretched to their range."""
    stretched = [(score - score.min()) / np.ptp(score) for score in scores]
    return mean([abs(mask - score).mean() for mask, score in zip(masks, stretched, strict=True)])


def mask_numbers(
    name: str, masks: Sequence[Array], scores: Sequence[Array], valid: Sequence[Array]
) -> dict[str, float]:
    """Return a number of a protocol of masks, given scores from 0 to 1 that are cut at half where masks are needed."""
    kept = [mask[keep] for mask, keep in zip(masks, valid, strict=True)]
    kept_scores = [score[keep] for score, keep in zip(scores, valid, strict=True)]
    cut = [score >= 0.5 for score in kept_scores]
    two_valued = all(np.unique(score).size <= 2 for score in scores)
    pairs = [(mask & keep, (score >= 0.5) & keep) for mask, score, keep in zip(masks, scores, valid, strict=True)]
    numbers: Mapping[str, Callable[[], dict[str, float]]] = {
        "labels": lambda: {"dice": pooled_dice(kept, cut)},
        "boundaries": lambda: {"ods_f": pooled_dice(kept, cut)},
        "saliency": lambda: {"mae": mean_error(masks, scores)},
        "contours": lambda: {"dice": mean([dice(*pair) for pair in pairs])},
        "centerlines": lambda: {"cldice": cl_dice(pairs)},
        "components": lambda: {"lesion_f1": lesion_f1(pairs)},
    }
    if name in numbers:
        return numbers[name]()
    return {"ods_f": pooled_dice(kept, cut)} if two_valued else {"auc_roc": auc(kept, kept_scores)}


def map_numbers(name: str, scenes: Sequence[Scene], valid: Sequence[Array]) -> dict[str, float]:
    """Return a number of a protocol of label maps, stacks or numbered objects."""
    true = [scene.labels[keep] for scene, keep in zip(scenes, valid, strict=True)]
    predicted = [scene.predicted_labels[keep] for scene, keep in zip(scenes, valid, strict=True)]
    if name == "regions":
        return {"pri_ods": mean([rand_score(*pair) for pair in zip(true, predicted, strict=True)])}
    if name == "instances":
        return {"f1@0.5": object_f1([(scene.objects, scene.predicted_objects) for scene in scenes])}
    if name == "classes":
        stacks = [scene.stack[:, keep] for scene, keep in zip(scenes, valid, strict=True)]
        by_class = [auc([of == k for of in true], [stack[k] for stack in stacks]) for k in range(CLASSES)]
        return {"macro_auc_roc": mean(by_class)}
    if name == "contours":
        by_class = [
            [dice(*(of == k for of in pair)) for pair in zip(true, predicted, strict=True)] for k in range(CLASSES)
        ]
        return {"dice": mean([mean(images) for images in by_class])}
    return {"miou": float(jaccard_score(np.concatenate(true), np.concatenate(predicted), average="macro"))}


# ------------------------------------------------------------------------------------------------------------ files

Stored = tuple[Array | Image.Image, str]
"""What a file holds, and its extension."""
Store = Callable[[Array], Stored]


def palette_image(labels: Array) -> Image.Image:
    """Return an image with a palette, as annotation tools write."""
    image = Image.fromarray(labels.astype(np.uint8), mode="P")
    image.putpalette([value for k in range(256) for value in ((97 * k) % 256, (53 * k) % 256, (201 * k) % 256)])
    return image


def grey_in_colour(levels: Array) -> Array:
    """Repeat levels in three channels."""
    return np.repeat(levels[..., None], 3, axis=-1)


MASKS: Mapping[str, Store] = {
    "0 and 255": lambda mask: (mask * np.uint8(255), "png"),
    "0 and 1": lambda mask: (mask.astype(np.uint8), "png"),
    "bool": lambda mask: (mask.astype(np.bool_), "npy"),
    "1-bit PNG": lambda mask: (Image.fromarray(mask * np.uint8(255)).convert("1"), "png"),
    "0 and 255 in TIFF": lambda mask: (mask * np.uint8(255), "tif"),
    "0 and 1 in int64": lambda mask: (mask.astype(np.int64), "npy"),
    "0 and 255 in int64": lambda mask: (mask * np.int64(255), "npy"),
    "0 and 1 in 16 bits": lambda mask: (mask.astype(np.uint16), "png"),
    "0 and 65535": lambda mask: (mask * np.uint16(65535), "png"),
    "0. and 1.": lambda mask: (mask.astype(np.float32), "npy"),
    "0. and 1. in NPZ": lambda mask: (mask.astype(np.float64), "npz"),
    "0. and 255.": lambda mask: (mask * np.float64(255), "npy"),
    "grey in colour": lambda mask: (grey_in_colour(mask * np.uint8(255)), "png"),
}
"""How masks are stored, each in a way that says by itself what is positive."""
SOFT_MAPS: Mapping[str, Store] = {
    "8 bits": lambda levels: (levels, "png"),
    "8 bits in TIFF": lambda levels: (levels, "tif"),
    "16 bits": lambda levels: (levels * np.uint16(257), "png"),
    "float32": lambda levels: ((levels / 255).astype(np.float32), "npy"),
    "float64": lambda levels: (levels / 255, "npy"),
    "float32 in NPZ": lambda levels: ((levels / 255).astype(np.float32), "npz"),
    "float32 in TIFF": lambda levels: ((levels / 255).astype(np.float32), "tif"),
}
"""How scores from 0 to 1 are stored; levels are multiples of 1/255."""
LABEL_MAPS: Mapping[str, Store] = {
    "8 bits": lambda labels: (labels.astype(np.uint8), "png"),
    "palette": lambda labels: (palette_image(labels), "png"),
    "16 bits": lambda labels: (labels.astype(np.uint16), "png"),
    "int64": lambda labels: (labels.astype(np.int64), "npy"),
    "int32 in NPZ": lambda labels: (labels.astype(np.int32), "npz"),
    "8 bits in TIFF": lambda labels: (labels.astype(np.uint8), "tif"),
}


def named(stored: Sequence[Stored]) -> dict[str, Stored]:
    """Name the files of a set by their number."""
    return {f"im{number}": of_image for number, of_image in enumerate(stored)}


def write(path: Path, stored: Stored) -> None:
    """Write a file; the extension is added to the name."""
    values, extension = stored
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.with_name(f"{path.name}.{extension}")
    if isinstance(values, Image.Image):
        values.save(target)
    elif extension == "npy":
        np.save(target, values)
    elif extension == "npz":
        np.savez_compressed(target, values)
    elif extension == "tif":
        import tifffile

        tifffile.imwrite(target, values)
    else:
        Image.fromarray(values).save(target)


@dataclass
class Folder:
    """Ground truth and predictions by name, how they are evaluated, and what should come out."""

    kind: str
    """The protocol and what is special, for lists."""
    protocol: type[Protocol]
    settings: dict[str, Any]
    truths: dict[str, Stored]
    predictions: dict[str, Stored]
    right: Mapping[str, float]
    data: dict[str, Any] = field(default_factory=dict)
    intended: Mapping[str, Any] = field(default_factory=dict)
    """Settings that say what is meant, where advice lets the reader choose."""
    fails: bool = False
    """Whether the number is not computed, as where something is broken that no setting mends."""

    def write(self, root: Path) -> tuple[Path, Path]:
        """Write the files into a new folder."""
        for side, files in (("gt", self.truths), ("pred", self.predictions)):
            for name, stored in files.items():
                write(root / side / name, stored)
        return root / "gt", root / "pred"


# --------------------------------------------------------------------------------------------------- random folders

FAULTY_MASKS = (
    "blank in some images",
    "blank in all images",
    "two colours",
    "soft maps",
    "grey levels",
    "void of 255",
    "void of 128",
    "0 and 1 beside 0 and 255",
    "several labels",
    "inverted masks",
)
FAULTY_SCORES: Mapping[str, Store] = {
    "levels as floats": lambda levels: (levels.astype(np.float32), "npy"),
    "logits": lambda levels: (np.log(levels / (255 - levels.astype(float))).astype(np.float32), "npy"),
    "levels in int64": lambda levels: (levels.astype(np.int64), "npy"),
    "8 bits in 16": lambda levels: (levels.astype(np.uint16), "png"),
    "inverted scores": lambda levels: (255 - levels, "png"),
    "soft maps in colour": lambda levels: (grey_in_colour(levels), "png"),
    "masks of 0 and 1": lambda levels: ((levels >= 128).astype(np.uint8), "png"),
    "masks of 0 and 255": lambda levels: ((levels >= 128) * np.uint8(255), "png"),
    "masks of 0 and 1 in int64": lambda levels: ((levels >= 128).astype(np.int64), "npy"),
    "masks of bool": lambda levels: (levels >= 128, "npy"),
    "masks of 0. and 1.": lambda levels: ((levels >= 128).astype(np.float64), "npy"),
    "constant maps": lambda levels: (np.zeros_like(levels), "png"),
    "not a number": lambda levels: (np.where(levels < 5, np.nan, levels / 255), "npy"),
    "labels": lambda levels: (np.digitize(levels, (60, 128, 200)).astype(np.uint8), "png"),
    "two colours": lambda levels: (np.array([(9, 8, 7), (250, 30, 90)], np.uint8)[(levels >= 128) * 1], "png"),
    "a stack of two": lambda levels: (np.stack([1 - levels / 255, levels / 255]), "npy"),
}
"""How scores are stored that are of another scale, or no scores."""
BROKEN = ("constant", "not a", "labels", "two colours")
"""How those begin that no setting mends."""
UNCLEAR = ("blank", "two colours", "soft maps")
"""How ways of storing masks begin that have no number, or that are to be saved again."""
MIXED_SCORES: Mapping[str, tuple[Store, Store]] = {
    "masks of 0 and 1 beside 0 and 255": (FAULTY_SCORES["masks of 0 and 1"], FAULTY_SCORES["masks of 0 and 255"]),
    "masks among soft maps": (FAULTY_SCORES["masks of 0 and 255"], SOFT_MAPS["8 bits"]),
    "masks of 0 and 1 among soft maps": (FAULTY_SCORES["masks of 0 and 1"], SOFT_MAPS["8 bits"]),
    "16 bits beside 8": (SOFT_MAPS["16 bits"], SOFT_MAPS["8 bits"]),
    "8 bits beside floats": (SOFT_MAPS["8 bits"], SOFT_MAPS["float64"]),
}
"""How two predictions are stored, and how the others are."""
SIZES = ("transposed", "a pixel more", "half the size", "twice the size", "one of half the size")
NAMES = ("suffix of predictions", "suffix of ground truth", "a prediction is missing", "two annotators")
OF_LINES = ("boundaries", "centerlines")
OF_MASKS: Mapping[str, tuple[type[Protocol], Mapping[str, Any]]] = {
    "pixels": (segbench.Pixels, {}),
    "labels": (segbench.Labels, {}),
    "boundaries": (segbench.Boundaries, {"thresholds": (0.5,)}),
    "saliency": (segbench.Saliency, {}),
    "contours": (segbench.Contours, {"at": 0.5}),
    "centerlines": (segbench.Centerlines, {"at": 0.5}),
    "anomalies": (segbench.Anomalies, {}),
    "components": (segbench.Objects, {"kind": "components", "at": 0.5}),
}
"""The protocols of masks, and how they evaluate soft maps."""
PROTOCOLS: Mapping[str, tuple[type[Protocol], Mapping[str, Any]]] = {
    **OF_MASKS,
    "classes": (segbench.Classes, {"labels": range(CLASSES)}),
    "label maps": (segbench.Labels, {"classes": range(CLASSES)}),
    "contours of classes": (segbench.Contours, {"classes": range(CLASSES)}),
    "regions": (segbench.Regions, {}),
    "instances": (segbench.Objects, {"kind": "instances"}),
}


def chosen(rng: np.random.Generator, names: Sequence[str]) -> str:
    """Choose one of some names."""
    return str(names[rng.integers(len(names))])


def random_folder(rng: np.random.Generator, images: int | None = None) -> Folder:
    """Draw a folder: scenes, a way of storing them, up to two mistakes, and settings that people would give.

    There are two to five images unless their number is given, and then they are shuffled.
    """
    name = chosen(rng, list(PROTOCOLS))
    shape = ((12, 18), (18, 24), (36, 48))[rng.choice(3, p=(0.5, 0.3, 0.2))]
    scenes = [draw(rng, shape, lines=name in OF_LINES) for _ in range(images or rng.integers(2, 6))]
    folder = (_folder_of_masks if name in OF_MASKS else _folder_of_maps)(rng, name, scenes)
    if images:
        names = [f"im{number}" for number in rng.permutation(images)]
        folder.truths = dict(zip(names, folder.truths.values(), strict=True))
        folder.predictions = dict(zip(names, folder.predictions.values(), strict=True))
    if rng.random() < 0.15:
        _mistake_names(rng, folder)
    folder.fails |= any(np.isnan(value) for value in folder.right.values())
    return folder


def _folder_of_masks(rng: np.random.Generator, name: str, scenes: Sequence[Scene]) -> Folder:
    """Store masks and what is predicted of them, as soft maps or masks."""
    protocol, usual = PROTOCOLS[name]
    settings, true_kind = dict(usual), chosen(rng, list(MASKS))
    masks = [scene.mask for scene in scenes]
    drawn = Drawn([MASKS[true_kind](mask) for mask in masks], masks, everywhere(scenes))
    if rng.random() < 0.4:
        true_kind = chosen(rng, FAULTY_MASKS)
        drawn = _faulty_masks(rng, true_kind, scenes, protocol)
        # Saliency cuts at 128 and anomalies take all but 0, whatever else was meant.
        by_rule = name in ("saliency", "anomalies") and true_kind in ("several labels", "void of 255")
        if by_rule or rng.random() < 0.4:
            settings |= drawn.intended
    kind, stores = _ways_of_scores(rng, len(scenes))
    scores = [scene.scores for scene in scenes]
    number = 2 if "among" in kind else len(scores) if "masks" in kind else 0
    scores[:number] = [(score >= 0.5) * 1.0 for score in scores[:number]]
    if number == len(scores) and rng.random() < 0.5:
        settings.pop("at", None)
    predictions = [store(scene.levels) for store, scene in zip(stores, scenes, strict=True)]
    mistakes = [f"masks: {true_kind}", f"predicted: {kind}"]
    if rng.random() < 0.15 and "stack" not in kind:
        mistakes.append(chosen(rng, SIZES))
        predictions, scores = _other_size(mistakes[-1], predictions, scores)
    lost = kind.startswith(BROKEN) or ("masks" in kind and "in one" in kind) or true_kind.startswith(UNCLEAR)
    return Folder(
        f"{name}; {'; '.join(mistakes)}; {', '.join(settings)}",
        protocol,
        settings,
        named(drawn.stored),
        named(predictions),
        {} if lost else mask_numbers(name, drawn.masks, scores, drawn.valid),
        intended=drawn.intended,
        fails=lost,
    )


def _ways_of_scores(rng: np.random.Generator, images: int) -> tuple[str, list[Store]]:
    """Choose how the scores of each image are stored."""
    if rng.random() < 0.5:
        kind = chosen(rng, list(SOFT_MAPS))
        return kind, [SOFT_MAPS[kind]] * images
    if rng.random() < 0.3:
        kind = chosen(rng, list(MIXED_SCORES))
        first, others = MIXED_SCORES[kind]
        return kind, [first, first, *[others] * (images - 2)]
    kind = chosen(rng, list(FAULTY_SCORES))
    if rng.random() < 0.2 and not kind.startswith("inverted"):  # which a single image need not show
        return f"{kind} in one file", [FAULTY_SCORES[kind], *[SOFT_MAPS["8 bits"]] * (images - 1)]
    return kind, [FAULTY_SCORES[kind]] * images


@dataclass
class Drawn:
    """Masks as they are stored, what they mean, which pixels count, and the settings that say so."""

    stored: list[Stored]
    masks: list[Array]
    valid: list[Array]
    intended: dict[str, Any] = field(default_factory=dict)


def _faulty_masks(rng: np.random.Generator, kind: str, scenes: Sequence[Scene], protocol: type[Protocol]) -> Drawn:
    """Store masks in a way that does not say by itself what is positive."""
    masks, valid = [scene.mask for scene in scenes], everywhere(scenes)
    intended: dict[str, Any] = {}
    drawn: list[Array] = [mask * np.uint8(255) for mask in masks]
    if kind == "grey levels":
        drawn = [np.where(m, rng.integers(232, 256, m.shape), rng.integers(0, 24, m.shape)) for m in masks]
        intended = {"positive": ">=128"}
    elif kind.startswith("void"):
        value, full = (VOID, 1) if kind.endswith("255") else (128, 255)
        drawn = [np.where(scene.void, value, scene.mask * full) for scene in scenes]
        masks, intended = [scene.mask & ~scene.void for scene in scenes], {"positive": full}
        if "void" in protocol.__dataclass_fields__:
            valid, intended = [~scene.void for scene in scenes], {"void": (value,)}
    elif kind.startswith("blank"):
        drawn = [mask * (kind.endswith("some images") and k == 0) for k, mask in enumerate(drawn)]
    elif kind == "two colours":
        drawn = [np.array([(10, 20, 30), (250, 240, 10)])[mask.astype(int)] for mask in masks]
    elif kind == "soft maps":
        drawn = [scene.levels for scene in scenes]
    elif kind == "0 and 1 beside 0 and 255":
        drawn, intended = [drawn[0], *(mask.astype(np.uint8) for mask in masks[1:])], {"positive": ">=1"}
    elif kind == "several labels":
        drawn, intended = [np.where(m, 2, np.arange(m.shape[1]) // 3 % 2) for m in masks], {"positive": 2}
    else:
        drawn, intended = [255 - mask for mask in drawn], {"positive": 0}
    return Drawn([(mask.astype(np.uint8), "png") for mask in drawn], masks, valid, intended)


def _other_size(how: str, predictions: Sequence[Stored], scores: Sequence[Array]) -> tuple[list[Stored], list[Array]]:
    """Store predictions in another size; and the scores of each pixel that come of it when they are brought back."""
    changes: Mapping[str, Callable[[Array], Array]] = {
        "transposed": lambda values: values.swapaxes(0, 1),
        "a pixel more": lambda values: np.pad(values, [(0, 1), (0, 1), *[(0, 0)] * (values.ndim - 2)]),
        "half the size": lambda values: values[::2, ::2],
        "twice the size": lambda values: values.repeat(2, 0).repeat(2, 1),
        "one of half the size": lambda values: values[::2, ::2],
    }
    number = 1 if how.startswith("one") else len(predictions)
    changed = [
        (np.ascontiguousarray(changes[how](np.asarray(values))), extension)
        for values, extension in predictions[:number]
    ]
    halved = "half" in how
    resized_back = [score[::2, ::2].repeat(2, 0).repeat(2, 1) if halved else score for score in scores[:number]]
    return [*changed, *predictions[number:]], [*resized_back, *scores[number:]]


def _folder_of_maps(rng: np.random.Generator, name: str, scenes: Sequence[Scene]) -> Folder:
    """Store label maps, numbers of regions or objects, and what is predicted of them."""
    protocol, usual = PROTOCOLS[name]
    settings, intended = dict(usual), dict[str, Any]()
    valid = everywhere(scenes)
    kind = chosen(rng, list(LABEL_MAPS))
    store, mistakes = LABEL_MAPS[kind], [f"maps: {kind}"]
    numbered, offset = name == "instances", int(name == "regions")
    drawn = [(scene.objects if numbered else scene.labels).astype(int) + offset for scene in scenes]
    if name not in ("instances", "regions") and rng.random() < 0.4:
        value = int(rng.choice([VOID, 250, -1]))
        mistakes.append(f"void of {value}")
        valid, intended = [~scene.void for scene in scenes], {"void": (value,)}
        drawn = [np.where(keep, labels, value) for keep, labels in zip(valid, drawn, strict=True)]
        store = LABEL_MAPS["int64"] if value < 0 else store
        if rng.random() < 0.5:
            settings |= intended
    if "labels" not in settings and offset == 0 and not numbered and rng.random() < 0.15:
        mistakes.append("predicted labels from 1")
        offset = 1
    if name == "classes":
        mistake, predictions = _stacks(rng, scenes)
    else:
        predicted = [(scene.predicted_objects if numbered else scene.predicted_labels) + offset for scene in scenes]
        mistake, predictions = _predicted_maps(rng, scenes, predicted)
    mistakes += [mistake] if mistake else []
    lost = mistake in ("in colour", "soft maps")
    return Folder(
        f"{name}; {'; '.join(mistakes)}; {', '.join(settings)}",
        protocol,
        settings,
        named([store(labels) for labels in drawn]),
        named(predictions),
        {} if lost else map_numbers(name.partition(" of classes")[0], scenes, valid),
        intended=intended,
        fails=lost,
    )


def _stacks(rng: np.random.Generator, scenes: Sequence[Scene]) -> tuple[str, list[Stored]]:
    """Store a soft map per class, or label maps instead."""
    mistake = str(rng.choice(["", "classes last", "label maps for stacks"], p=(0.55, 0.3, 0.15)))
    if mistake.startswith("label"):
        return mistake, [LABEL_MAPS["8 bits"](scene.predicted_labels) for scene in scenes]
    return mistake, [(np.moveaxis(scene.stack, 0, -1) if mistake else scene.stack, "npy") for scene in scenes]


def _predicted_maps(
    rng: np.random.Generator, scenes: Sequence[Scene], label_maps: list[Array]
) -> tuple[str, list[Stored]]:
    """Store predicted numbers, in colours or soft maps instead."""
    mistake = str(rng.choice(["", "in colour", "soft maps"], p=(0.7, 0.15, 0.15)))
    if mistake == "in colour":
        colours = np.array([(9, 80, 7), (200, 30, 90), (20, 130, 220), (250, 250, 0)] * 16, np.uint8)
        return mistake, [(colours[labels], "png") for labels in label_maps]
    if mistake:
        return mistake, [SOFT_MAPS["8 bits"](scene.levels) for scene in scenes]
    kind = chosen(rng, [kind for kind in LABEL_MAPS if kind != "palette"])
    return "", [LABEL_MAPS[kind](labels) for labels in label_maps]


def _mistake_names(rng: np.random.Generator, folder: Folder) -> None:
    """Name files so that they do not pair."""
    how = chosen(rng, NAMES)
    folder.kind += f"; {how}"
    if how == "suffix of predictions":
        folder.predictions = {f"{name}_p": stored for name, stored in folder.predictions.items()}
    elif how == "suffix of ground truth":
        folder.truths = {f"{name}_mask": stored for name, stored in folder.truths.items()}
    elif how == "two annotators":
        folder.truths = {f"{name}.{k}": stored for name, stored in folder.truths.items() for k in (1, 2)}
    else:
        folder.predictions.popitem()
        folder.right = {}

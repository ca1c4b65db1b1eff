"""Natural mistakes: the advice of each error is read from its text and followed, and must give the right number."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from cases import write_folder
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, jaccard_score, precision_score, roc_auc_score

import segbench as package
from segbench import Repairs, SegbenchError

H, W = 24, 32
RNG = np.random.default_rng(11)


def blocks(values: NDArray[Any]) -> NDArray[Any]:
    """Repeat each value in a square, so that nearest neighbours of half the size give the same map."""
    return np.kron(values, np.ones((2, 2), values.dtype))


MASK = blocks((RNG.random((H // 2, W // 2)) < 0.3).astype(np.uint8))
SOFT = blocks(np.clip(MASK[::2, ::2] * 0.3 + RNG.random((H // 2, W // 2)) * 0.65, 0, 0.99))
FULL = SOFT / SOFT.max()
LEVELS = np.floor(SOFT * 256).astype(np.uint8)
LABELS = blocks(RNG.integers(0, 3, (H // 2, W // 2)).astype(np.uint8))
STACK = np.stack([label == LABELS for label in range(3)]) * 0.4 + np.stack(
    [blocks(RNG.random((H // 2, W // 2))) for _ in range(3)]
)
COLOURS = (np.moveaxis(STACK, 0, -1) * 100).astype(np.uint8)
PREDICTED = STACK.argmax(0).astype(np.uint8)


def auc(mask: NDArray[Any] = MASK, scores: NDArray[Any] = SOFT) -> float:
    return float(roc_auc_score(mask.ravel(), scores.ravel()))


def dice(mask: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(f1_score(mask.ravel(), predicted.ravel()))


def miou(truth: NDArray[Any] = LABELS, predicted: NDArray[Any] = PREDICTED) -> float:
    return float(jaccard_score(truth.ravel(), predicted.ravel(), average="macro"))


AUC, DICE, MIOU = auc(), dice(MASK, SOFT >= 0.5), miou()
AUCS = [auc(label == LABELS, one) for label, one in enumerate(STACK)]
MEAN_AUC = float(np.mean(AUCS))
NINE = np.where(MASK == 1, 9, LABELS)
FOREGROUND = float(jaccard_score(LABELS.ravel(), PREDICTED.ravel(), labels=[1, 2], average="macro"))
BINARY = LABELS == 2
WITHOUT_VOID = auc(MASK[LABELS != 2], SOFT[LABELS != 2])
TWO = np.stack([1 - SOFT, SOFT])
GREY = np.where(MASK == 1, RNG.integers(200, 256, (H, W)), RNG.integers(0, 50, (H, W))).astype(np.uint8)
UPPER = np.where(MASK == 1, np.arange(W) % 26 + 230, np.arange(W) % 41 + 140).astype(np.uint8)
RIMS, PREDICTED_RIMS = (np.array([0, 128, 255], np.uint8)[labels] for labels in (LABELS, PREDICTED))
HOLES = blocks(np.arange(H * W // 4).reshape(H // 2, W // 2) % 11 == 0)
HOLED = {void: np.where(HOLES, void, LABELS).astype(np.int16) for void in (250, 99, -1)}
WITHOUT_HOLES = miou(LABELS[~HOLES], PREDICTED[~HOLES])


@dataclass
class Mistake:
    """What is given, and the number that comes out where it is put right."""

    verb: str
    truth: Any
    predicted: Any
    right: Mapping[str, float]
    options: dict[str, Any] = field(default_factory=dict)
    swapped: bool = False


def images(given: Any) -> dict[str, NDArray[Any]]:
    return given if isinstance(given, dict) else {"a.npy": given}


SHAPES = {
    "a pixel more": Mistake("pixels", MASK, np.pad(SOFT, ((0, 1), (0, 1))), {"auc_roc": AUC}),
    "a pixel less": Mistake("pixels", MASK, SOFT[:-1, :-1], {"auc_roc": auc(MASK[:-1, :-1], SOFT[:-1, :-1])}),
    "a square a pixel less": Mistake(
        "pixels", MASK[:, :H], SOFT[:-1, : H - 1], {"auc_roc": auc(MASK[:-1, : H - 1], SOFT[:-1, : H - 1])}
    ),
    "half the size": Mistake("pixels", MASK, SOFT[::2, ::2], {"auc_roc": AUC}),
    "twice the size": Mistake("pixels", MASK, blocks(SOFT), {"auc_roc": AUC}),
    "label maps of half the size": Mistake("labels", LABELS, PREDICTED[::2, ::2], {"miou": MIOU}, {"classes": "0-2"}),
    "transposed": Mistake("pixels", MASK, SOFT.T, {"auc_roc": AUC}),
    "transposed stack": Mistake("labels", LABELS, STACK.swapaxes(1, 2), {"miou": MIOU}, {"classes": "0-2"}),
    "one map with an axis first": Mistake("labels", MASK, SOFT[None], {"dice": DICE}),
    "one map with an axis last": Mistake("labels", MASK, SOFT[..., None], {"dice": DICE}),
    "stack of half the size": Mistake("labels", LABELS, STACK[:, ::2, ::2], {"miou": MIOU}, {"classes": "0-2"}),
    "stack of half the size, classes last": Mistake(
        "labels", LABELS, np.moveaxis(STACK, 0, -1)[::2, ::2], {"miou": MIOU}, {"classes": "0-2"}
    ),
    "stack of half the size, other labels": Mistake(
        "labels", LABELS * 5, STACK[:, ::2, ::2], {"miou": MIOU}, {"classes": "0,5,10"}
    ),
}
TYPES = {
    "8-bit probabilities as labels": Mistake("labels", MASK, LEVELS, {"dice": dice(MASK, LEVELS >= 128)}),
    "probabilities as labels": Mistake("labels", MASK, SOFT, {"dice": DICE}),
    "16-bit probabilities as labels": Mistake("labels", MASK * 255, LEVELS * np.uint16(257), {"dice": DICE}),
    "probabilities of two classes": Mistake("labels", MASK, SOFT, {"auc_roc": AUC}, {"classes": "0-1"}),
    "negative integers": Mistake("pixels", MASK, LEVELS.astype(np.int16) - 128, {"auc_roc": auc(MASK, LEVELS)}),
    "whole numbers of 61 bits": Mistake(
        "pixels", MASK, 2**60 + LEVELS.astype(np.int64), {"auc_roc": auc(MASK, LEVELS)}
    ),
    "whole numbers over 62 bits": Mistake(
        "pixels",
        MASK,
        LEVELS.astype(np.int64) + np.where(LEVELS < 128, -(2**60), 2**60),
        {"auc_roc": auc(MASK, LEVELS)},
    ),
    "colours": Mistake("labels", LABELS, COLOURS, {"miou": miou(LABELS, COLOURS.argmax(-1))}, {"classes": "0-2"}),
}
RANGES = {
    "ground truth as JPEG": Mistake("pixels", GREY, SOFT, {"auc_roc": AUC}),
    "label masks as JPEG": Mistake("labels", GREY, MASK * 255, {"dice": 1.0}),
    "ground truth of probabilities": Mistake(
        "pixels", np.where(MASK == 1, 0.6 + SOFT / 3, SOFT / 3), SOFT, {"auc_roc": AUC}
    ),
    "two encodings": Mistake(
        "pixels", {"a.npy": MASK, "b.npy": MASK * 255}, {"a.npy": SOFT, "b.npy": SOFT}, {"auc_roc": AUC}
    ),
    "void not declared": Mistake("pixels", np.where(LABELS == 2, 255, MASK), SOFT, {"auc_roc": WITHOUT_VOID}),
    "void between black and white": Mistake(
        "pixels", np.where(LABELS == 2, 128, MASK * 255).astype(np.uint8), SOFT, {"auc_roc": WITHOUT_VOID}
    ),
    "several labels": Mistake("pixels", LABELS, STACK[2], {"auc_roc": auc(BINARY, STACK[2])}),
    "nothing positive": Mistake("labels", MASK, MASK, {"dice": 1.0}, {"positive": ">=128"}),
    "nothing negative": Mistake("labels", MASK, MASK, {"dice": 1.0}, {"positive": ">=0"}),
    "another value": Mistake("labels", MASK, MASK, {"dice": 1.0}, {"positive": "255"}),
    "bound of levels for shares": Mistake("labels", MASK * 255, SOFT, {"dice": DICE}, {"positive": ">=128"}),
    "bound of shares for levels": Mistake("labels", MASK, LEVELS, {"dice": DICE}, {"positive": ">=0.5"}),
    "probabilities up to 255": Mistake(
        "pixels", MASK, FULL * 255, {"brier": float(((MASK - FULL) ** 2).mean())}, {"calibration": True}
    ),
    "logarithms of probabilities": Mistake("labels", MASK, np.log(SOFT), {"dice": DICE}),
    "grey levels in the upper half": Mistake("pixels", UPPER, SOFT, {"auc_roc": AUC}),
    "cup and rim": Mistake(
        "labels", RIMS, PREDICTED_RIMS, {"dice": dice(RIMS < 255, PREDICTED_RIMS < 255)}, {"positive": "0,128"}
    ),
    "cup and rim of predictions": Mistake(
        "labels",
        RIMS,
        PREDICTED_RIMS,
        {"dice": dice(RIMS < 255, PREDICTED_RIMS < 255)},
        {"predicted_positive": "0,128"},
    ),
    "one label of label maps": Mistake(
        "labels", LABELS, PREDICTED, {"dice": dice(LABELS == 1, PREDICTED == 1)}, {"positive": "1"}
    ),
    "labels from a bound on": Mistake(
        "labels", LABELS, PREDICTED, {"dice": dice(LABELS >= 1, PREDICTED >= 1)}, {"positive": ">=1"}
    ),
    "one label beside probabilities": Mistake(
        "labels", LABELS, STACK[1] / 2, {"dice": dice(LABELS == 1, STACK[1] >= 1)}, {"positive": "1"}
    ),
    "one label beside 8-bit probabilities": Mistake(
        "labels",
        LABELS,
        (STACK[1] * 128).astype(np.uint8),
        {"dice": dice(LABELS == 1, (STACK[1] * 128).astype(np.uint8) >= 128)},
        {"positive": "1"},
    ),
    "low is positive": Mistake("pixels", MASK, 1 - SOFT, {"auc_roc": AUC}),
    "masks are inverted": Mistake(
        "pixels",
        255 - 255 * MASK,
        SOFT,
        {"average_precision": float(average_precision_score(MASK.ravel(), SOFT.ravel()))},
    ),
}
CLASSES = {
    "no classes": Mistake("labels", LABELS, PREDICTED, {"miou": MIOU}),
    "no classes of a stack": Mistake("labels", LABELS, STACK, {"miou": MIOU}),
    "no classes of a stack, last axis": Mistake("labels", LABELS, np.moveaxis(STACK, 0, -1), {"miou": MIOU}),
    "no classes of a stack for pixels": Mistake("pixels", LABELS, STACK, {"miou": MIOU, "macro_auc_roc": MEAN_AUC}),
    "number of classes": Mistake("labels", LABELS, PREDICTED, {"miou": MIOU}, {"classes": "3"}),
    "number of classes of a stack": Mistake("labels", LABELS, STACK, {"miou": MIOU}, {"classes": "3"}),
    "number of classes for pixels": Mistake("pixels", LABELS, STACK, {"macro_auc_roc": MEAN_AUC}, {"classes": "3"}),
    "too few classes": Mistake("labels", LABELS, STACK, {"miou": MIOU}, {"classes": "0-1"}),
    "labels from 1": Mistake("labels", LABELS + 1, PREDICTED + 1, {"miou": MIOU}, {"classes": "0-2"}),
    "predicted labels from 1": Mistake("labels", LABELS, PREDICTED + 1, {"miou": MIOU}, {"classes": "0-2"}),
    "a label of no class": Mistake("labels", NINE, PREDICTED, {"miou": miou(NINE)}, {"classes": "0-2"}),
    "background that is no class": Mistake("labels", LABELS, PREDICTED, {"miou": FOREGROUND}, {"classes": "1-2"}),
    "background as void": Mistake("labels", LABELS, PREDICTED, {"miou": FOREGROUND}, {"classes": "1-2", "void": 0}),
    "a map less than classes": Mistake(
        "pixels", LABELS, STACK[1:], {"macro_auc_roc": np.mean(AUCS[1:])}, {"classes": "0,1,2"}
    ),
    "label maps for pixels": Mistake("pixels", LABELS, PREDICTED, {"miou": MIOU}),
    "250 is void beside classes": Mistake("labels", HOLED[250], PREDICTED, {"miou": WITHOUT_HOLES}, {"classes": "0-2"}),
    "250 is void": Mistake("labels", HOLED[250], PREDICTED, {"miou": WITHOUT_HOLES}),
    "99 is void": Mistake("labels", HOLED[99], PREDICTED, {"miou": WITHOUT_HOLES}),
    "-1 is void": Mistake("labels", HOLED[-1], PREDICTED, {"miou": WITHOUT_HOLES}),
    "250 is void beside a mask": Mistake(
        "pixels", np.where(HOLES, 250, MASK), SOFT, {"auc_roc": auc(MASK[~HOLES], SOFT[~HOLES])}
    ),
    "-1 is void beside a mask": Mistake(
        "pixels", np.where(HOLES, -1, MASK.astype(np.int16)), SOFT, {"auc_roc": auc(MASK[~HOLES], SOFT[~HOLES])}
    ),
    "two values are void beside a mask": Mistake(
        "pixels",
        np.where(HOLES, np.where(np.arange(W) < 16, 250, 255), MASK),
        SOFT,
        {"auc_roc": auc(MASK[~HOLES], SOFT[~HOLES])},
        {"void": 250},
    ),
    "two values are void beside masks": Mistake(
        "labels",
        np.where(HOLES, np.where(np.arange(W) < 16, 250, 255), MASK),
        MASK * 255,
        {"dice": 1.0},
        {"void": 250},
    ),
    "250 is void beside classes for pixels": Mistake(
        "pixels",
        HOLED[250],
        STACK,
        {"macro_auc_roc": float(np.mean([auc((k == LABELS)[~HOLES], one[~HOLES]) for k, one in enumerate(STACK)]))},
        {"classes": "0,1,2"},
    ),
    "one-hot ground truth": Mistake(
        "labels", np.eye(3, dtype=bool)[LABELS], PREDICTED, {"miou": MIOU}, {"classes": "0-2"}
    ),
    "one-hot ground truth, classes first": Mistake(
        "labels", np.moveaxis(np.eye(3)[LABELS], -1, 0), PREDICTED, {"miou": MIOU}, {"classes": "0-2"}
    ),
    "one-hot ground truth of four planes": Mistake(
        "labels", np.eye(4, dtype=np.uint8)[LABELS], PREDICTED, {"miou": MIOU}, {"classes": "0-2"}
    ),
    "one-hot ground truth of levels": Mistake(
        "labels", np.eye(4, dtype=np.uint8)[LABELS] * 255, PREDICTED, {"miou": MIOU}, {"classes": "0-2"}
    ),
    "planes without the background": Mistake(
        "labels", np.eye(4, dtype=np.uint8)[LABELS][..., 1:], PREDICTED, {"miou": MIOU}, {"classes": "0-2"}
    ),
    "a class that is void": Mistake("pixels", MASK * np.uint8(255), TWO, {"macro_auc_roc": AUC}, {"classes": "0,255"}),
    "two maps of a mask": Mistake("pixels", MASK * 255, TWO, {"dice": dice(MASK, TWO.argmax(0)), "macro_auc_roc": AUC}),
}


def renamed(array: NDArray[Any], *names: str) -> dict[str, NDArray[Any]]:
    return {f"{name}.npy": array for name in names}


TWICE = renamed(SOFT, "a", "b")
NAMES = {
    "swapped": Mistake("pixels", MASK * 255, LEVELS, {"auc_roc": auc(MASK, LEVELS)}, swapped=True),
    "swapped masks": Mistake(
        "labels", MASK, LEVELS, {"precision": precision_score(MASK.ravel(), LEVELS.ravel() >= 128)}, swapped=True
    ),
    "swapped beside a value": Mistake("pixels", MASK, SOFT, {"auc_roc": AUC}, {"positive": "1"}, swapped=True),
    "swapped masks beside a value": Mistake(
        "labels", MASK, SOFT, {"dice": DICE}, {"positive": "1", "predicted_positive": ">=0.5"}, swapped=True
    ),
    "suffix of predictions": Mistake("pixels", renamed(MASK, "a", "b"), renamed(SOFT, "a_p", "b_p"), {"auc_roc": AUC}),
    "suffix of ground truth": Mistake("pixels", renamed(MASK, "a_mask", "b_mask"), TWICE, {"auc_roc": AUC}),
    "both suffixes": Mistake("pixels", renamed(MASK, "a_gt", "b_gt"), renamed(SOFT, "a_p", "b_p"), {"auc_roc": AUC}),
    "masks beside photographs": Mistake(
        "pixels", renamed(LEVELS, "a", "b") | renamed(MASK, "a_mask", "b_mask"), TWICE, {"auc_roc": AUC}
    ),
    "a prediction is missing": Mistake("pixels", renamed(MASK, "a", "b"), renamed(SOFT, "a"), {"auc_roc": AUC}),
    "two extensions": Mistake("pixels", renamed(MASK, "a", "b"), renamed(SOFT, "a.jpg", "b.jpg"), {"auc_roc": AUC}),
    "suffixes that are numbers": Mistake(
        "pixels", renamed(MASK, "a_1", "b_1", "c_1"), renamed(SOFT, "a_2", "b_2", "c_2"), {"auc_roc": AUC}
    ),
    "predictions of cities in one folder": Mistake(
        "pixels", renamed(MASK, "ulm/ulm_a", "bonn/bonn_b"), renamed(SOFT, "ulm_a_p", "bonn_b_p"), {"auc_roc": AUC}
    ),
    "folders of other names": Mistake("pixels", renamed(MASK, "val/a"), renamed(SOFT, "test/a"), {"auc_roc": AUC}),
    "several annotators": Mistake("pixels", renamed(MASK, "a.1", "a.2", "b.1", "b.2"), TWICE, {"auc_roc": AUC}),
}
MOVED = np.roll(MASK, 1, axis=1)
J = float(jaccard_score(MASK.ravel(), MOVED.ravel()))
SEQUENCES = {
    f"objects predicted as {value}": Mistake(
        "contours",
        {f"s/{frame}.npy": MASK for frame in range(3)},
        {f"s/{frame}.npy": MOVED * np.uint8(value) for frame in range(3)},
        {"j": J},
        {"convention": "davis"},
    )
    for value in (254, 255)
}
MISTAKES = {**SHAPES, **TYPES, **RANGES, **CLASSES, **NAMES, **SEQUENCES}

BY_HAND = {  # what no option does: the words of the advice, and what its reader does then
    "swap rows and columns": lambda one: one.swapaxes(-1, -2),
    "save scores as floats": lambda one: one.astype(float),
    "make scores floats": lambda one: one.astype(float),
    "subtract the same whole number": lambda scores: (scores - 2**60).astype(float),
    "by their ranks": lambda scores: np.unique(scores, return_inverse=True)[1].reshape(scores.shape).astype(float),
}
FLAGS = {"crop", "invert", "allow_missing"}
PROTOCOLS = {"pixels": package.Pixels, "labels": package.Labels, "contours": package.Contours}
OF_DATA = {"gt_pattern", "pred_pattern", "allow_missing", "images", "field"}


def alternatives(message: str) -> list[str]:
    """Split the advice of a message into alternatives, of which any will do, and into that of each finding."""
    advice = message.split("-> ", 1)[-1]
    return re.split(r"; or |, or | or |; if |; for masks |\n", advice)


def typed(text: str) -> tuple[str | None, dict[str, str | bool]]:
    """Read a command and its options as they are to be typed."""
    verb = re.search(r"segbench (pixels|labels)", text)
    found: dict[str, str | bool] = {}
    for option, value in re.findall(r"--([a-z][a-z-]*)(?:[ ]('[^']*'|[^\s;:()]+))?", text):
        name = option.replace("-", "_")
        plain = shlex.split(value)[0].rstrip(",") if value else ""
        if name in FLAGS:
            found[name] = True
        elif plain not in ("", "and", "has") and not re.search(r"[A-Z]", plain):
            found[name] = plain
    return verb and verb[1], found


def written(text: str) -> tuple[str | None, dict[str, Any]]:
    """Read a protocol and arguments as they are to be written in Python."""
    protocol = re.search(r"\b(Pixels|Labels|Classes)\(", text)
    found: dict[str, Any] = {}
    for name, value in re.findall(r"(\w+)=('[^']*'|\[[^\]]*\]|\([^)]*\)|range\(\d+\)|True|-?[\d.]+\d|\d)", text):
        if not re.search(r"[A-Z]", value.replace("True", "")):
            found[name] = range(int(value[6:-1])) if value.startswith("range") else ast.literal_eval(value)
    return protocol and protocol[1], found


class Folders:
    """Ground truth and predictions in files, as they are and as advice changes them."""

    def __init__(self, root: Any, mistake: Mistake) -> None:
        self.root, self.truth, self.predicted = root, images(mistake.truth), images(mistake.predicted)
        if mistake.swapped:
            self.truth, self.predicted = self.predicted, self.truth

    def write(self) -> tuple[Any, Any]:
        for name in ("gt", "pred"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        return write_folder(self.root / "gt", self.truth), write_folder(self.root / "pred", self.predicted)

    def change_by_hand(self, message: str) -> bool:
        """Do what the advice asks the writer of the files to do; False where it asks nothing of the kind."""
        if "ground truth comes first" in message:
            self.truth, self.predicted = self.predicted, self.truth
            return True
        planes = re.search(r"save a label map: (.*labels\.argmax\(axis=-?\d\).*)", message)
        if planes:
            self.truth = {name: eval(planes[1], {"labels": one}) for name, one in self.truth.items()}  # noqa: S307
            return True
        reduced = re.search(r"(numpy\.array\([^)]*\)\[)?scores\.argmax\(axis=-?\d\)\]?", message)
        change = next((change for words, change in BY_HAND.items() if words in message), None)
        if reduced:
            change = lambda one: eval(reduced[0], {"scores": one, "numpy": np})  # noqa: E731, S307
        if change is not None:
            self.predicted = {name: np.ascontiguousarray(change(one)) for name, one in self.predicted.items()}
        return change is not None


def reached(summary: Mapping[str, float | None], mistake: Mistake) -> bool:
    return any(summary.get(key) == pytest.approx(value) for key, value in mistake.right.items() if key in summary)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_advice_of_the_command_line(segbench, tmp_path, name):
    mistake = MISTAKES[name]
    folders, verb, options, messages = Folders(tmp_path, mistake), mistake.verb, dict(mistake.options), []
    for _ in range(4):
        words = [
            part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value) if part is not True
        ]
        answer = segbench(verb, *folders.write(), *words, "--format", "json")
        summary = json.loads(answer.out)["runs"][0]["summary"] if answer.code == 0 else {}
        if reached(summary, mistake):
            break
        message = answer.err + ("" if answer.code == 0 else answer.out)
        messages.append(message)
        advice = next((found for text in alternatives(message) if any((found := typed(text)))), (None, {}))
        if not folders.change_by_hand(message):
            if advice[0]:
                verb, options = advice[0], {}
            options |= advice[1]
    else:
        pytest.fail("\n".join(messages) + f"\n{verb} {options} {summary}")
    assert messages, "that was no mistake"


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes", "ignore:scores outside 0 to 1")
@pytest.mark.parametrize("name", MISTAKES)
def test_the_advice_in_python(tmp_path, name):
    mistake = MISTAKES[name]
    folders, kind, arguments, messages = Folders(tmp_path, mistake), PROTOCOLS[mistake.verb], dict(mistake.options), []
    if kind is package.Pixels and "classes" in arguments:
        kind, arguments = package.Classes, {"labels": [int(one) for one in arguments["classes"].split(",")]}
    for _ in range(4):
        summary: Mapping[str, float | None] = {}
        data = {key: value for key, value in arguments.items() if key in OF_DATA}
        repairs = {key: value for key, value in arguments.items() if key in ("resize", "crop", "scale")}
        settings = {key: value for key, value in arguments.items() if key not in data | repairs}
        try:
            where = {**data, "repairs": Repairs(**repairs)}
            places, protocol = folders.write(), kind(**settings)
            summary = package.evaluate(*places, protocol, **where).summary
        except (SegbenchError, UserWarning) as error:
            message = str(error)
        else:
            if reached(summary, mistake):
                break
            message = str(package.check(*places, protocol, **where))
        messages.append(message)
        advice = next((found for text in alternatives(message) if any((found := written(text)))), (None, {}))
        if not folders.change_by_hand(message):
            if advice[0] and advice[0] != kind.__name__:
                kind, arguments = getattr(package, advice[0]), {}
            arguments |= advice[1]
    else:
        pytest.fail("\n".join(messages) + f"\n{kind} {arguments} {summary}")
    assert messages, "that was no mistake"

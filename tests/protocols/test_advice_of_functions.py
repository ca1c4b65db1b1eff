"""Every argument that an error of an array function names exists: in the function itself, or in an object it names."""

import inspect
import re
from itertools import product

import numpy as np
import pytest

import segbench
from segbench import SegbenchError

RNG = np.random.default_rng(0)
H, W = 12, 16
MASK = np.zeros((H, W), np.uint8)
MASK[3:8, 2:9] = 1
LABELS = MASK.copy()
LABELS[8:11, 4:14] = 2
SOFT = np.clip(0.6 * MASK + 0.4 * RNG.random((H, W)), 0, 1)
STACK = RNG.random((3, H, W))
ARRAYS = {
    "mask": MASK,
    "labels": LABELS,
    "labels from 1": LABELS + 1,
    "another label": np.where(MASK == 1, 9, LABELS),
    "void": np.where(LABELS == 2, 255, MASK),
    "negative": LABELS.astype(int) - 1,
    "panoptic": LABELS.astype(int) * 1000 + 1,
    "grey": np.clip(MASK * 255 + RNG.integers(-12, 12, (H, W)), 0, 255).astype(np.uint8),
    "soft": SOFT,
    "logits": SOFT * 9 - 5,
    "up to 255": SOFT * 255,
    "NaN": np.where(MASK == 1, np.nan, SOFT),
    "half": LABELS[::2, ::2],
    "no pixels": np.zeros((0, 0)),
    "stack": STACK,
    "stack of half": STACK[:, ::2, ::2],
    "one of a stack": STACK[:1],
    "colours": (np.moveaxis(STACK, 0, -1) * 255).astype(np.uint8),
    "one-hot": np.stack([k == LABELS for k in range(3)]),
}
OF_CLASSES = [{"classes": 3}, {"classes": "1-2"}, {"classes": "5"}, {"classes": 3, "void": 0}, {"names": ["a"]}]
OF_CUTS = [{"at": 0.5}, {"at": 128}]
SETTINGS = {
    "Pixels": [{"positive": 1}, {"quantize": 8}, {"annotators": "each"}],
    "Labels": [*OF_CLASSES, {"positive": 1}, {"predicted_positive": ">=128"}, {"gt_map": "x"}],
    "Contours": [*OF_CLASSES, *OF_CUTS, {"classes": 3, "at": 0.5}, {"gt_map": "0=1"}],
    "Centerlines": [*OF_CUTS, {"thresholds": 9}, {"thresholds": [1, 2]}],
    "Objects": [
        *OF_CUTS,
        *({"kind": kind} for kind in ("components", "instances", "panoptic")),
        *({"divisor": 1000} | one for one in ({}, *OF_CLASSES, {"things": "9"})),
    ],
    "Anomalies": [{"positive": 1}, {"quantize": 8}, {"image_score": "x"}],
    "Saliency": [{"positive": ">128"}, {"stretch": False}],
    "Boundaries": [{"thresholds": [0.5]}, {"max_dist": -1}],
    "Regions": [{"void": (0,)}],
    "match_boundaries": [{"max_dist_px": 1}],
}


def errors(name):
    """Return every error of a function of two arrays."""
    found = set()
    first = [{}] if name != "match_boundaries" else []
    for truth, predicted, settings in product(ARRAYS.values(), ARRAYS.values(), [*first, *SETTINGS[name]]):
        try:
            if name == "match_boundaries":
                segbench.match_boundaries(truth, predicted, **settings)
            else:
                segbench.count(truth, predicted, getattr(segbench, name)(**settings))
        except SegbenchError as error:
            found.add(str(error))
    return sorted(found)


def unknown(message, known):
    """Return the arguments in a message that none of `known`, or of an object that the message names, is."""
    text = re.sub(r"'[^']*'|\(road=0,car=13\)|argmax\([^)]*\)|\b(of|for) files\b[^;]*", "", message)
    found = []
    for called, arguments in re.findall(r"\b([A-Z]\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
        of_object = inspect.signature(getattr(segbench, called)).parameters
        found += [f"{called}: {one}" for one in re.findall(r"(\w+)=", arguments) if one not in of_object]
        text = text.replace(f"{called}({arguments})", "")
    return found + [one for one in re.findall(r"\b([a-z]\w*)=", text) if one not in known]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETTINGS)
def test_advice_names_arguments_that_exist(name):
    known = {*inspect.signature(getattr(segbench, name)).parameters, *inspect.signature(segbench.count).parameters}
    known.add("names")  # of Accumulator.update, which messages name
    wrong = {message: names for message in errors(name) if (names := unknown(message, known))}
    assert not wrong, "\n".join(f"{names}: {message}" for message, names in wrong.items())

"""The files of every image, as the protocol wants them."""

from __future__ import annotations

from pathlib import Path

from segbench.aggregator.figures import Protocol
from segbench.errors import DataError
from segbench.loaders.class_folders import has_class_folders, in_class_order
from segbench.loaders.pairing import Pairing, pair
from segbench.protocols.classes import Classes

_ANY, _FOLDER_A_CLASS = "*", "#/*"


def find_files(
    ground_truth: Path,
    prediction: Path,
    protocol: Protocol,
    *,
    field: Path | None = None,
    gt_pattern: str = _ANY,
    pred_pattern: str = _ANY,
    field_pattern: str = _ANY,
) -> Pairing:
    """Find the files of every image, see `segbench.loaders.pairing.pair`.

    For `Classes` a prediction is one file with a stack, or a file a class whose tag says which. Where nothing is said
    about names, stacks do not pair and sub-folders are called after classes, these are taken: a folder a class.

    Raises
    ------
    ArgumentError, DataError
        As `pair`, and for images that lack maps of some classes.
    """

    def paired(pattern: str) -> Pairing:
        return pair(
            ground_truth,
            prediction,
            field=field,
            gt_pattern=gt_pattern,
            pred_pattern=pattern,
            field_pattern=field_pattern,
        )

    if not isinstance(protocol, Classes):
        return paired(pred_pattern)
    try:
        pairing = paired(pred_pattern)
    except DataError:
        if pred_pattern != _ANY or not has_class_folders(prediction, protocol.place_of):
            raise
        pairing = paired(_FOLDER_A_CLASS)
    return in_class_order(pairing, protocol.class_names, protocol.place_of)

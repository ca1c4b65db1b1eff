"""The files of every image, as the protocol wants them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from segbench.aggregator.figures import Protocol
from segbench.errors import ArgumentError, DataError
from segbench.loaders.class_folders import has_class_folders, in_class_order
from segbench.loaders.inputs import Inputs
from segbench.loaders.pairing import Pairing, pair
from segbench.protocols.classes import Classes

_ANY, _FOLDER_A_CLASS = "*", "#/*"


def find_files(inputs: Inputs, protocol: Protocol) -> Pairing:
    """Find the files of every image, see `segbench.loaders.pairing.pair`.

    For `Classes` a prediction is one file with a stack, or a file a class whose tag says which. Where nothing is said
    about names, stacks do not pair and sub-folders are called after classes, these are taken: a folder a class.

    Raises
    ------
    ArgumentError, DataError
        As `pair`, and for images that lack maps of some classes.
    """
    if not isinstance(protocol, Classes) or inputs.prediction is None:
        return pair(inputs)
    if inputs.negatives:
        raise ArgumentError("--negatives has no meaning with --classes: an image without ground truth has no labels")
    try:
        pairing = pair(inputs)
    except DataError:
        if inputs.pred_pattern != _ANY or not has_class_folders(Path(inputs.prediction), protocol.place_of):
            raise
        pairing = pair(replace(inputs, pred_pattern=_FOLDER_A_CLASS))
    return in_class_order(pairing, protocol.titles, protocol.place_of)

"""The files of every image, as the protocol wants them."""

from __future__ import annotations

from dataclasses import replace

from segbench.aggregator.figures import Protocol
from segbench.errors import ArgumentError, DataError
from segbench.loaders.class_folders import has_class_folders, in_class_order
from segbench.loaders.decoded import shown
from segbench.loaders.inputs import Inputs
from segbench.loaders.pairing import Pairing, pair
from segbench.loaders.urls import masked
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
    if not isinstance(protocol, Classes):
        return pair(inputs)
    if inputs.negatives:
        raise ArgumentError("--negatives has no meaning with --classes: an image without ground truth has no labels")
    try:
        pairing = pair(inputs)
    except DataError:
        if (
            inputs.prediction is None
            or inputs.pred_pattern != _ANY
            or not has_class_folders(inputs.prediction, protocol.place_of)
        ):
            raise
        pairing = pair(replace(inputs, pred_pattern=_FOLDER_A_CLASS))
    where = shown(masked(inputs.prediction or inputs.pairs or ""))
    return in_class_order(pairing, protocol.titles, protocol.place_of, where=where)

"""The files of every image, as a protocol reads them."""

from __future__ import annotations

from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.class_folders import class_maps
from segbench.loaders.inputs import Inputs
from segbench.loaders.pairing import Pairing, methods_below, pair, part_below
from segbench.protocols.pixels.classes import Classes


def find_files(inputs: Inputs, protocol: Protocol) -> Pairing:
    """Pair the files of every image; what keeps them from being paired at all is ``pairing.problem``."""
    try:
        inputs.check(protocol.reads)
        if isinstance(protocol, Classes):
            return class_maps(inputs, protocol.titles, protocol.place_of)
        return pair(inputs)
    except DataError as error:
        return Pairing(inputs, problem=error)


def find_methods(pairing: Pairing, protocol: Protocol) -> dict[str, Pairing]:
    """Pair the folders of several methods where the prediction folder holds them, see `methods_below`.

    Classes, and parts of a data set such as categories, are no methods.
    """
    methods = methods_below(pairing, lambda inputs: find_files(inputs, protocol))
    if isinstance(protocol, Classes) and any(protocol.place_of(name) is not None for name in methods):
        return {}  # a folder per class, of which some do not pair
    return {} if part_below(pairing.inputs, methods) else methods

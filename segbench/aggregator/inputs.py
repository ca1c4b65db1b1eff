"""The files of every image, as the protocol wants them."""

from __future__ import annotations

from segbench.core.protocol import Protocol
from segbench.loaders.class_folders import class_maps
from segbench.loaders.inputs import Inputs
from segbench.loaders.listing import listed_once
from segbench.loaders.pairing import Pairing, pair
from segbench.protocols.pixels.classes import Classes


def find_files(inputs: Inputs, protocol: Protocol) -> Pairing:
    """Find the files of every image, see `segbench.loaders.pairing.pair` and, for `Classes`, `class_maps`.

    Raises
    ------
    ArgumentError
        For a pattern that cannot be, and as `Inputs.check`.
    DataError
        For whatever does not pair.
    """
    inputs.check(protocol.reads)
    with listed_once():
        if isinstance(protocol, Classes):
            return class_maps(inputs, protocol.titles, protocol.place_of)
        return pair(inputs)

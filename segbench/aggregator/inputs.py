"""The files of every image, as the protocol wants them."""

from __future__ import annotations

from collections.abc import Callable

from segbench.core.protocol import Protocol
from segbench.loaders.class_folders import class_maps
from segbench.loaders.inputs import Inputs
from segbench.loaders.listing import listed_once
from segbench.loaders.pairing import Pairing, methods_below, pair, survey
from segbench.protocols.pixels.classes import Classes


def find_files(inputs: Inputs, protocol: Protocol, *, find: Callable[[Inputs], Pairing] = pair) -> Pairing:
    """Find the files of every image, see `segbench.loaders.pairing.pair` and, for `Classes`, `class_maps`.

    With `find=survey` what does not pair is listed instead of refused.
    """
    inputs.check(protocol.reads)
    with listed_once():
        if isinstance(protocol, Classes):
            return class_maps(inputs, protocol.titles, protocol.place_of, find=find)
        return find(inputs)


def methods_of(inputs: Inputs, protocol: Protocol) -> dict[str, str]:
    """Give the folders of several methods by name where the prediction folder holds them, see `methods_below`."""
    methods = methods_below(inputs, lambda each: find_files(each, protocol, find=survey))
    if isinstance(protocol, Classes) and any(protocol.place_of(name) is not None for name in methods):
        return {}  # a folder per class, of which some do not pair
    return methods

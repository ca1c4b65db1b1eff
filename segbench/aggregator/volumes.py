"""Whether a data set holds volumes, which protocols with settings for images measure by those for volumes."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain, islice

from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.images import read_header
from segbench.loaders.pairing import Pairing
from segbench.loaders.reading import Repairs

_MOST_READ = 10
"""Headers that are read before a set of damaged files is taken for images."""


def for_its_dimensions(protocol: Protocol, pairing: Pairing, repairs: Repairs) -> Protocol:
    """Return the protocol that measures volumes if the first readable ground truth is one, else as it is."""
    if not protocol.takes_volumes:
        return protocol
    for path in chain.from_iterable(files.ground_truths for files in islice(pairing.files, _MOST_READ)):
        with suppress(DataError):  # which counting the image reports
            header = read_header(path, "ground truth")
            if header.volume or repairs.volumes:
                return protocol.for_volumes(with_header=header.geometry is not None)
            if header.shape is not None:
                return protocol
    return protocol

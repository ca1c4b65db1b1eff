"""Whether a data set holds volumes, which protocols with settings for images measure by those for volumes."""

from __future__ import annotations

from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.images import read_header
from segbench.loaders.pairing import Pairing
from segbench.loaders.reading import Repairs


def for_its_dimensions(protocol: Protocol, pairing: Pairing, repairs: Repairs) -> Protocol:
    """Return the protocol that measures volumes if the first ground truth is one, else the protocol as it is."""
    first = next((path for files in pairing.files for path in files.ground_truths), None)
    if first is None:
        return protocol
    try:
        header = read_header(first, "ground truth")
    except DataError:  # which counting the image reports
        return protocol
    if not header.volume and not repairs.volumes:
        return protocol
    return protocol.for_volumes(with_header=header.geometry is not None)

"""Instances of an image from its files; light to import, as settings are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.sample import Maps, Reading
from segbench.loaders.source import Source

if TYPE_CHECKING:
    from segbench.loaders.listing import SampleFiles
    from segbench.loaders.reading import Repairs


@dataclass(frozen=True, kw_only=True)
class InstanceFiles(Reading):
    """Instances that may overlap, with scores in predictions; the maps beside them are blank, and say the size."""

    boxes_only: bool = False  # whether boxes are compared, so that no masks are needed
    divisor: int | None = None  # of ground truth that is a label map of class * divisor + instance

    def truths(self, data: bytes, path: Source) -> Maps:
        """Read the objects of a label map."""
        from segbench.loaders.instance_reading import of_map

        return of_map(data, path, self.divisor)

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Read the objects of a label map."""
        from segbench.loaders.instance_reading import of_map

        return of_map(contents[files.prediction], files.prediction, None)

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse any."""
        if repairs.of_maps:
            problem = Message("unfit-repairs", "repairs are for maps, and these are instances; leave them out")
            raise ArgumentError(problem)


INSTANCE_FILES = InstanceFiles(
    name="instances",
    instances="kept",
    levels=False,
    without_field="crowds say where detections are neither right nor wrong",
    without_negatives="instances",
    without_volumes="scored objects are matched in images of two dimensions",
)

"""Instances of an image from its files; light to import, as settings are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message
from segbench.core.sample import Maps, Reading
from segbench.loaders.source import Source, shown

if TYPE_CHECKING:
    from segbench.loaders.listing import SampleFiles
    from segbench.loaders.reading import Repairs


@dataclass(frozen=True, kw_only=True)
class InstanceFiles(Reading):
    """Instances that may overlap, with scores in predictions; the maps beside them are blank, and say the size."""

    boxes_only: bool = False  # whether boxes are compared, so that no masks are needed

    def truths(self, data: bytes, path: Source) -> Maps:
        """Read the instances of the ground truth."""
        return self._maps(data, path, predicted=False)

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Read the instances of the prediction."""
        if files.scales:
            problem = Message(
                "several-images", "{images} predictions of one image, expected one", images=1 + len(files.scales)
            )
            raise DataError(shown(files.prediction), problem, "keep one of them")
        return self._maps(contents[files.prediction], files.prediction, predicted=True)

    def _maps(self, data: bytes, path: Source, *, predicted: bool) -> Maps:
        """Return instances with a blank map of their size."""
        from segbench.loaders.annotations import AnnotatedImage, decode_annotations

        if not isinstance(path, AnnotatedImage):
            problem = Message("no-instances", "is no file of instances that can be read")
            raise DataError(shown(path), problem, "expected a JSON of COCO's format on either side")
        return decode_annotations(data, str(path), predicted=predicted, boxes_only=self.boxes_only)

    def check_repairs(self, repairs: Repairs) -> None:
        """Refuse any."""
        if repairs.of_maps:
            problem = Message("unfit-repairs", "repairs are for maps, and these are instances; leave them out")
            raise ArgumentError(problem)


INSTANCE_FILES = InstanceFiles(
    name="instances",
    levels=False,
    without_field="crowds say where detections are neither right nor wrong",
    without_negatives="instances",
    without_volumes="scored objects are matched in images of two dimensions",
)

"""AU-sPRO of MVTec LOCO: PRO over defects that saturate, of logical and structural anomalies, and their mean.

`segbench.protocols.anomalies.metrics`, to be read first, has the other metrics of images.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import eye_array

from segbench.core.arrays import FloatArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, shares
from segbench.core.table import CountsTable, Sums
from segbench.protocols.anomalies.counts import AnomalyCounts
from segbench.protocols.anomalies.curves import measured_pro, pro_areas
from segbench.protocols.anomalies.metrics import METRICS as OF_COMPONENTS
from segbench.protocols.anomalies.metrics import AnomalyTable

KINDS = ("logical", "structural")
_LIMIT = (0.05,)
_NOTE = "area under the sPRO curve of defects up to a false positive rate of 5 %"
_OF_IMAGES = tuple(metric for metric in OF_COMPONENTS if metric.key.startswith("image_"))
_OF_DEFECTS = shares(
    Metric(
        key="auspro_05", title="AU-sPRO@5%", better="higher", image_key="auspro_05", headline=True, compared=True,
        note=f"{_NOTE}, mean of logical and structural anomalies",
    ),
    *(
        Metric(key=f"auspro_05_{kind}", title=kind, better="higher", compared=True, group="AU-sPRO@5%")
        for kind in KINDS
    ),
)  # fmt: skip
_IMAGE_SCORE = next(metric for metric in OF_COMPONENTS if metric.image_key == "image_score")
METRICS = (*_OF_IMAGES, *_OF_DEFECTS, _IMAGE_SCORE)


class _Kind(NamedTuple):
    """The images with one kind of anomaly, and all normal ones."""

    images: list[int]  # their rows in the table of all images
    table: AnomalyTable


class DefectTable(CountsTable[AnomalyCounts]):
    """Counts of images whose components are defects; the folder of an image says which kind of anomaly it has."""

    metrics: tuple[Metric, ...] = METRICS
    counts = AnomalyCounts

    @cached_property
    def _whole(self) -> AnomalyTable:
        return AnomalyTable(self.per_image)

    @cached_property
    def _kinds(self) -> dict[str, _Kind]:
        """The kinds of anomalies in the set; that of images in other folders is empty."""
        kind_of = {
            name: next((kind for kind in KINDS if f"{kind}_anomalies" in name.split("/")), "") for name in self.names
        }
        normal = {name for name, counts in self.per_image.items() if counts.normal_images.size}
        kinds = {}
        for kind in sorted({kind_of[name] for name in self.names if name not in normal}):
            images = [image for image, name in enumerate(self.names) if name in normal or kind_of[name] == kind]
            names = [self.names[image] for image in images]
            kinds[kind] = _Kind(images, AnomalyTable({name: self.per_image[name] for name in names}))
        return kinds

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """A column per image, whose sum says how often the image counts."""
        return {"image": eye_array(self.images, format="csr")}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        area_of_kind = {}
        for kind, (images, table) in self._kinds.items():
            weights, thresholded = of["image"][:, images], table.thresholded
            above, equal = weights @ thresholded.above, weights @ thresholded.equal
            overlap, components = weights @ thresholded.overlap, weights @ table.facts.components
            _, area_of_kind[kind] = pro_areas(above, equal, overlap, components)
        return self._completed(self._whole.scored_images(of["image"]), area_of_kind, len(of))

    def _completed(
        self, values: Mapping[str, FloatArray], area_of_kind: Mapping[str, FloatArray], rows: int
    ) -> Mapping[str, FloatArray]:
        """Return metrics by label, nan where there is no value."""
        undefined = np.full(rows, np.nan)
        mean = np.mean([*area_of_kind.values()], axis=0) if area_of_kind else undefined
        areas = {f"auspro_05_{kind}": area for kind, area in area_of_kind.items()}
        return {
            **dict.fromkeys((metric.label for metric in self.metrics), undefined),
            **values,
            **areas,
            "auspro_05": mean,
        }

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself, at every score."""
        values = self._whole.scored_images(np.ones((1, self.images)))
        area_of_kind = {
            kind: np.array(measured_pro(table.per_image, limits=_LIMIT).areas)
            for kind, (_, table) in self._kinds.items()
        }
        if self.images == 1:
            values["image_score"] = self._whole.facts.score
        row: FloatArray = self.laid_out(self._completed(values, area_of_kind, 1))[0]
        return row

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """Defects of each image for AU-sPRO, and images alike for the others."""
        defects = self._whole.facts.components
        return {metric.label: defects for metric in self.metrics if metric.key.startswith("auspro")}

    def measure_images(self) -> FloatArray:
        areas = np.array([measured_pro({"": counts}, limits=_LIMIT).areas[0] for counts in self.ordered])
        return self.laid_out(self._completed({"image_score": self._whole.facts.score}, {"": areas}, self.images))

    @property
    def totals(self) -> Mapping[str, int]:
        """Defects and images."""
        return self._whole.facts.totals

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say that maps are of several scales."""
        return self._whole.notes

    def why_undefined(self, metric: Metric) -> Message:
        if not self._whole.facts.components.any():
            return Message("no-defects", "no defects")
        if metric.key.startswith("image_"):
            return Message("no-normal-images", "no normal images")
        if metric.key == "auspro_05":
            return Message("no-normal-pixels", "no normal pixels")
        return Message("no-defects-of-kind", "no defects of this kind")

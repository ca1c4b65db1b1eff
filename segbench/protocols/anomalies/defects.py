"""AU-sPRO of MVTec LOCO: PRO over defects that saturate, of logical and structural anomalies, and their mean."""

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
METRICS = shares(
    *OF_COMPONENTS[:3],
    Metric(
        key="auspro_05", title="AU-sPRO@5%", better="higher", image_key="auspro_05", headline=True, compared=True,
        note=f"{_NOTE}, mean of logical and structural anomalies",
    ),
    *(
        Metric(key=f"auspro_05_{kind}", title=kind, better="higher", compared=True, group="AU-sPRO@5%")
        for kind in KINDS
    ),
)  # fmt: skip
METRICS = (*METRICS, OF_COMPONENTS[-1])


class _Kind(NamedTuple):
    """The images of a kind of anomalies, and all normal ones."""

    places: list[int]
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
        """The kinds that there are; of images in other folders one without a name."""
        kinds = {
            name: next((kind for kind in KINDS if f"{kind}_anomalies" in name.split("/")), "") for name in self.names
        }
        normal = {name for name, one in self.per_image.items() if one.normal_images.size}
        found = {}
        for kind in sorted({kinds[name] for name in self.names if name not in normal}):
            places = [k for k, name in enumerate(self.names) if name in normal or kinds[name] == kind]
            images = {self.names[k]: self.per_image[self.names[k]] for k in places}
            found[kind] = _Kind(places, AnomalyTable(images))
        return found

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """Which image is there: one column for each, so that sums say how often."""
        return {"image": eye_array(self.images, format="csr")}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        of_kinds = {}
        for kind, (places, table) in self._kinds.items():
            at, weights = table.thresholded, of["image"][:, places]
            above, equal, found = (weights @ part for part in (at.above, at.equal, at.found))
            of_kinds[kind] = pro_areas(above, equal, found, weights @ table.facts.components)[1]
        return self._completed(self._whole.scored_images(of["image"]), of_kinds, len(of))

    def _completed(
        self, values: Mapping[str, FloatArray], of_kinds: Mapping[str, FloatArray], rows: int
    ) -> Mapping[str, FloatArray]:
        """Return metrics by label, nan where there is no value."""
        undefined = np.full(rows, np.nan)
        mean = np.mean([*of_kinds.values()], axis=0) if of_kinds else undefined
        areas = {f"auspro_05_{kind}": area for kind, area in of_kinds.items()}
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
        of_kinds = {
            kind: np.array(measured_pro(one.table.per_image, limits=_LIMIT).areas) for kind, one in self._kinds.items()
        }
        if self.images == 1:
            values["image_score"] = self._whole.facts.score
        row: FloatArray = self.laid_out(self._completed(values, of_kinds, 1))[0]
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
        facts = self._whole.facts
        found = (facts.components.sum(), facts.positives.sum(), facts.negatives.sum())
        return dict(zip(("components", "anomalous_images", "normal_images"), map(int, found), strict=True))

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

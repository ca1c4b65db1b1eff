"""FROC: the share of true objects that is found at some number of false detections per image.

Conventions
-----------
1. A detection hits a true object of its class if they share a pixel, or have at least an IoU that is set. A true object
   is found once, by the first detection in falling score that hits it; further hits, and those of crowds alone, are
   neither right nor false. A detection may find several objects. What hits nothing is false, in every image.
2. Detections of equal score enter together, as one point of the curve.
3. Sensitivity at x false detections per image is that of the point with the highest rate that is not above x. With
   ``interpolate`` it lies on the straight line to the next point, as in the scripts of LUNA16, CAMELYON16 and MONAI.
   Before the first point there is the origin, and behind the last one sensitivity stays.
4. ``froc`` is the mean at 1/8, 1/4 to 8, as LUNA16 has it (CPM), and ``froc_camelyon`` that at 1/4 to 8.
5. Of several classes it is the mean over those with objects. In a resample without any object of a class, over the
   other classes.

References
----------
Setio et al.: Validation, comparison, and combination of algorithms for automatic detection of pulmonary nodules in
computed tomography images: the LUNA16 challenge. Medical Image Analysis 2017.
Ehteshami Bejnordi et al.: Diagnostic assessment of deep learning algorithms for detection of lymph node metastases in
women with breast cancer. JAMA 2017 (CAMELYON16).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.metric import Metric, shares

if TYPE_CHECKING:
    from segbench.protocols.objects.froc_kernels import CountedDetections

RATES: Mapping[str, float] = {
    "froc_1_8": 1 / 8,
    "froc_1_4": 1 / 4,
    "froc_1_2": 1 / 2,
    "froc_1": 1.0,
    "froc_2": 2.0,
    "froc_4": 4.0,
    "froc_8": 8.0,
}
"""False detections per image at which sensitivity is read, by the metrics that have it."""
METRICS = shares(
    Metric(
        key="froc", better="higher", image_key="froc",
        note="mean sensitivity at 1/8, 1/4, 1/2, 1, 2, 4 and 8 false detections per image",
    ),
    Metric(key="froc_camelyon", better="higher", note="mean sensitivity at 1/4, 1/2, 1, 2, 4 and 8 of them"),
    *(Metric(key=key, better="higher", note="sensitivity at so many false detections per image") for key in RATES),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Froc:
    """The detections of a method: class by class in falling score, with their images and what they hit.

    `objects` are the numbers of true objects of an image and a class, image by image. Counts of several images may be
    added up, as `summed_images` has it.
    """

    summed_images: IntArray
    starts: IntArray
    images: IntArray
    groups: IntArray
    hits: IntArray
    objects: IntArray
    object_images: IntArray
    object_classes: IntArray
    interpolates: bool

    def metrics_of(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Compute every metric for each row of weights of images, shape (R, images)."""
        sensitivity = self.sensitivity(np.array([*RATES.values()]), weights)
        mean_of_last = sum(sensitivity.T[1:]) / (len(RATES) - 1)
        mean = sum(sensitivity.T) / len(RATES)  # one after the other: alike of one row and of many
        return {"froc": mean, "froc_camelyon": mean_of_last, **dict(zip(RATES, sensitivity.T, strict=True))}

    def sensitivity(self, rates: FloatArray, weights: FloatArray) -> FloatArray:
        """Return sensitivity at rising rates for each row of weights of images, shape (R, rates)."""
        from segbench.protocols.objects.froc_kernels import FrocSettings, sensitivity_of_rows

        sensitivity = np.zeros((len(weights), rates.size))
        sensitivity_of_rows(weights, self._detections, FrocSettings(rates, self.interpolates), sensitivity)
        return sensitivity

    @cached_property
    def _detections(self) -> CountedDetections:
        """The detections in their order and by image, and the points of the curves of all images."""
        from segbench.protocols.objects.froc_kernels import (
            CountedDetections,
            ObjectsByImage,
            RankedHits,
            points_of_all,
        )

        ranked = RankedHits(self.starts, self.images, self.groups, self.hits)
        of_image = np.argsort(self.images, kind="stable")
        images = np.arange(self.summed_images.size + 1)
        image_starts = np.searchsorted(self.images[of_image], images)
        objects = ObjectsByImage(
            np.searchsorted(self.object_images, images),
            self.object_classes,
            self.objects,
            self.summed_images,
            np.bincount(self.object_classes, self.objects, self.starts.size - 1).astype(np.float64),
            float(self.summed_images.sum()),
        )
        return CountedDetections(objects, ranked, image_starts, of_image, points_of_all(ranked))

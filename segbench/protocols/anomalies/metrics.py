"""The metrics of the anomaly protocol, and the table that computes them from the counts of its images.

Begin with `AnomalyTable`. Estimates take every distinct score; where images are left out or resampled, PRO and PIMO are
measured at a choice of thresholds, if there are very many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.levels import note_on_scales
from segbench.core.messages import Either, Message, Note
from segbench.core.metric import Metric, shares
from segbench.core.names import first_names
from segbench.core.scores import ScoreCounts
from segbench.core.series import Line, Space
from segbench.core.table import CountsTable, Reducing, Sums
from segbench.curves.pooled import AREAS, measured_curves
from segbench.protocols.anomalies.counts import AnomalyCounts
from segbench.protocols.anomalies.curves import (
    LIMITS,
    AnomalyCurve,
    Pimo,
    Pro,
    chosen_pimo,
    chosen_pro,
    measured_pimo,
    measured_pro,
    of_normal_images,
    pimo_values,
    pimo_weights,
    pro_areas,
)
from segbench.protocols.registry import protocols

METRICS = shares(
    Metric(key="image_auc_roc", title="I-AUROC", better="higher", compared=True, note="of images, by their scores"),
    Metric(key="image_average_precision", title="I-AP", better="higher", priority=4, note="of images, by their scores"),
    Metric(key="image_f", title="I-F1max", better="higher", priority=3, note="of images, by their scores"),
    Metric(key="auc_roc", title="P-AUROC", better="higher", image_key="auc_roc", compared=True, note="of pixels"),
    Metric(
        key="average_precision", title="P-AP", better="higher", image_key="average_precision", compared=True,
        priority=5, note="of pixels",
    ),
    Metric(key="ods_f", title="P-F1max", better="higher", image_key="f", priority=2, note="of pixels"),
    Metric(
        key="aupro", title="AUPRO@30%", better="higher", image_key="aupro", headline=True, compared=True,
        note="mean share of each anomaly that is found, area up to a false positive rate of 30 %",
    ),
    Metric(key="aupro_05", title="AUPRO@5%", better="higher", image_key="aupro_05", priority=6, compared=True),
    Metric(
        key="aupimo", title="AUPIMO", better="higher", image_key="aupimo", compared=True, mean_over_images=True,
        note="mean over anomalous images, between shared false positive rates of 1e-5 and 1e-4",
    ),
    Metric(key="aupimo_median", better="higher", spread="jumps"),
    Metric(key="aupimo_zero", better="lower", spread="jumps"),
    Metric(key="ods_threshold", kind="threshold", spread="jumps"),
    Metric(key="", image_key="image_score"),
)  # fmt: skip
METRICS = tuple(replace(metric, range=None) if not metric.key else metric for metric in METRICS)
TOTALS = tuple(
    Metric(key=key, image_key=key, kind="total")
    for key in ("components", "anomalous_images", "normal_images", "positives", "negatives", "ignored")
)

_NAMED = 5
_OF_PIMO = ("aupimo", "aupimo_median", "aupimo_zero")
_OF_PIXELS = ("auc_roc", "average_precision", "ods_f", "ods_threshold")
_CELLS, _FEWEST, _MOST = 2**22, 2**9, 2**12


class _Pixels(Mapping[str, ScoreCounts]):
    """The counts of images as those of the pixel protocol."""

    def __init__(self, images: Mapping[str, AnomalyCounts]) -> None:
        self._images = images

    def __getitem__(self, name: str) -> ScoreCounts:
        return self._images[name].pixels

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Return an image's counts within a range of scores, see `segbench.core.pooling.Ranged`."""
        return self._images[name].pixels_between(lowest, below)

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)


class Thresholded(NamedTuple):
    """Counts at the thresholds that are used when images are left out, one row per image."""

    above: IntArray  # normal pixels between each threshold of PRO and the one before
    equal: IntArray  # normal pixels at each threshold of PRO
    overlap: FloatArray  # shares of components between each threshold of PRO and the one before, added up
    rates: FloatArray  # share of a normal image at each threshold of PIMO
    recalls: FloatArray  # recall at each threshold of PIMO, anomalous images only


class Facts(NamedTuple):
    """What is known of each image, one entry (or row) per image.

    `positives` and `negatives` are images as cases: for an anomalous or normal image, a 1 in the column of its score.
    """

    positives: Any  # (images, distinct scores), sparse, scores falling
    negatives: Any
    components: FloatArray
    anomalous: FloatArray  # 1 if the image has anomalous pixels
    normal: FloatArray  # 1 if it has none
    score: FloatArray
    highest: FloatArray  # the highest score of its pixels

    @property
    def totals(self) -> dict[str, int]:
        """The numbers of components and of images in all."""
        numbers = {
            "components": self.components,
            "anomalous_images": self.positives,
            "normal_images": self.negatives,
        }
        return {key: int(of_images.sum()) for key, of_images in numbers.items()}


class AnomalyTable(CountsTable[AnomalyCounts], Reducing):
    """Anomaly counts of the images of one method; `of_set` has the normal images of the whole set, if these are few."""

    metrics: tuple[Metric, ...] = METRICS
    counts = AnomalyCounts

    def __init__(self, per_image: Mapping[str, AnomalyCounts], of_set: AnomalyCounts | None = None) -> None:
        super().__init__(per_image)
        self._of_set = of_set
        of_pixels: Any = protocols()["pixels"]()
        self.pixels = of_pixels.table(_Pixels(per_image), of_set=of_set.pixels if of_set else None)

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """The table of pixels, counts by threshold (see `Thresholded`), components, and a column per image.

        The latter say how often an image is in a sum, as a median is not computed from sums.
        """
        return {
            "pixels": self.pixels,
            "above": self.thresholded.above,
            "equal": self.thresholded.equal,
            "overlap": self.thresholded.overlap,
            "components": self.facts.components,
            "rates": self.thresholded.rates,
            "image": eye_array(self.images, format="csr"),
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        areas = pro_areas(of["above"], of["equal"], of["overlap"], of["components"])
        return self._completed(
            {
                **self._of_pixels(self.pixels.scored(of["pixels"])),
                **self.scored_images(of["image"]),
                **dict(zip(("aupro", "aupro_05"), areas, strict=True)),
                **self._scored_pimo(of["rates"], of["image"]),
            },
            len(of),
        )

    def _completed(self, values: Mapping[str, FloatArray], rows: int) -> Mapping[str, FloatArray]:
        """Return metrics by label, nan where there is no value."""
        return {**dict.fromkeys((metric.label for metric in METRICS), np.full(rows, np.nan)), **values}

    def _of_pixels(self, values: FloatArray) -> dict[str, FloatArray]:
        """Select the metrics of pixels that the protocol reports from all of the pixel table, shape (R, metrics)."""
        by_label = self.pixels.by_label(values)
        return {key: by_label[key] for key in _OF_PIXELS}

    def scored_images(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Compute the metrics of images as cases; `weights` say how often each image counts, shape (R, images)."""
        positives, negatives = weights @ self.facts.positives, weights @ self.facts.negatives
        best, areas = measured_curves(np.ascontiguousarray(positives), np.ascontiguousarray(negatives))
        both = positives.any(axis=1) & negatives.any(axis=1)
        _, tp, fp, total, _ = best.T
        area = dict(zip(AREAS, areas.T, strict=False))
        with np.errstate(invalid="ignore"):  # without anomalous images
            f = 2 * tp / (total + tp + fp)
        values = {"image_auc_roc": area["auc_roc"], "image_average_precision": area["average_precision"], "image_f": f}
        return {key: np.where(both, value, np.nan) for key, value in values.items()}

    def _scored_pimo(self, rates: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
        """Compute mean, median and share at 0 of AUPIMO from the sums of `rates`, one row per sum of images."""
        normal = weights @ self.facts.normal
        values = np.full((len(_OF_PIMO), len(weights)), np.nan)
        times = weights[:, self.facts.anomalous > 0]
        for row in np.flatnonzero((normal > 0) & times.any(axis=1)):
            gains = pimo_weights(np.cumsum(rates[row]) / normal[row])
            if gains is not None:
                values[:, row] = pimo_values(self.thresholded.recalls @ gains, times[row])
        return dict(zip(_OF_PIMO, values, strict=True))

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself, at every score."""
        all_images = np.ones((1, self.images))
        values = self._of_pixels(self.pixels.estimates[np.newaxis]) | self.scored_images(all_images)
        values |= {"aupro": np.array([self.pro.areas[0]]), "aupro_05": np.array([self.pro.areas[1]])}
        if not self.pimo.reason and self.facts.anomalous.any():
            measured = pimo_values(self._pimo_of_images, self.facts.anomalous[self.facts.anomalous > 0])
            values |= {key: np.array([value]) for key, value in zip(_OF_PIMO, measured, strict=True)}
        if self.images == 1:
            values["image_score"] = self.facts.score
        row: FloatArray = self.laid_out(self._completed(values, 1))[0]
        return row

    @cached_property
    def pro(self) -> Pro:
        """The PRO curve of all images."""
        return measured_pro(self.per_image)

    @cached_property
    def pimo(self) -> Pimo:
        """Thresholds of AUPIMO, of the whole set."""
        return measured_pimo(self.per_image if self._of_set is None else {"": self._of_set})

    @cached_property
    def _pimo_of_images(self) -> FloatArray:
        """AUPIMO of each anomalous image."""
        images = zip(self.facts.anomalous, self.ordered, strict=True)
        return np.array([self.pimo.area(counts) for anomalous, counts in images if anomalous])

    @cached_property
    def facts(self) -> Facts:
        """What is known of each image."""
        anomalous_scores: list[FloatArray] = []
        normal_scores: list[FloatArray] = []
        numbers = np.zeros((5, self.images))
        for image, counts in enumerate(self.ordered):
            anomalous_scores.append(counts.anomalous_images)
            normal_scores.append(counts.normal_images)
            numbers[:, image] = (
                counts.components,
                counts.total_anomalous > 0,
                counts.normal_images.size,
                np.concatenate([counts.anomalous_images, counts.normal_images]).max(initial=-math.inf),
                max(map(float, (*counts.scores[:1], *counts.found_scores[:1])), default=0.0),
            )
        distinct = np.unique(np.concatenate([np.empty(0), *anomalous_scores, *normal_scores]))
        return Facts(_cases(anomalous_scores, distinct), _cases(normal_scores, distinct), *numbers)

    @cached_property
    def thresholded(self) -> Thresholded:
        """Count each image at the thresholds that are used when images are left out."""
        from segbench.protocols.anomalies.kernels import add_between, cells_of

        most = int(np.clip(_CELLS // max(self.images, 1), _FEWEST, _MOST))
        pro_thresholds, only_some = chosen_pro(self.pro, most)
        pimo_thresholds = chosen_pimo(self.pimo, most)
        cells = cells_of(pro_thresholds)
        above = np.zeros((self.images, pro_thresholds.size + 1), np.int64)
        equal = np.zeros((self.images, pro_thresholds.size), np.int64)
        overlap = np.zeros((self.images, pro_thresholds.size))
        rates, recalls = np.zeros((self.images, pimo_thresholds.size)), []
        for image, counts in enumerate(self.ordered):
            add_between(counts.scores, counts.normal, cells, above[image], equal[image])
            if counts.total_anomalous:
                shares = counts.anomalous / counts.component_sizes
                overlap[image] = _reaching(pro_thresholds, counts.found_scores, shares)
                pixels = _reaching(pimo_thresholds, counts.found_scores, counts.anomalous)
                recalls.append(np.cumsum(pixels) / counts.total_anomalous)
            if counts.normal_images.size:
                is_normal = counts.image_sizes > 0
                shares = counts.normal[is_normal] / counts.image_sizes[is_normal]
                rates[image] = _reaching(pimo_thresholds, counts.scores[is_normal], shares)
        if only_some:
            equal += above[:, :-1]
            above[:, :-1] = 0
        recalls_of_images = np.array(recalls, np.float64).reshape(-1, pimo_thresholds.size)
        return Thresholded(above, equal, overlap, rates, recalls_of_images)

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """Positives of each image for pixels, components for PRO, and anomalous images for PIMO."""
        return {
            **self._of_pixels(self.pixels.weights_by_metric),
            **dict.fromkeys(("aupro", "aupro_05"), self.facts.components),
            **dict.fromkeys(_OF_PIMO, self.facts.anomalous),
        }

    def measure_images(self) -> FloatArray:
        """Measure each image alone, by the normal images of the set."""
        areas = np.array([measured_pro({"": counts}).areas for counts in self.ordered]).reshape(-1, len(LIMITS))
        pimo = np.full(self.images, np.nan)
        pimo[self.facts.anomalous > 0] = self._pimo_of_images
        values = {"aupro": areas[:, 0], "aupro_05": areas[:, 1], "aupimo": pimo, "image_score": self.facts.score}
        return self.laid_out(self._completed(self._of_pixels(self.pixels.measure_images()) | values, self.images))

    @property
    def totals(self) -> Mapping[str, int]:
        """Components, images and pixels."""
        return {**self.facts.totals, **self.pixels.totals}

    def why_undefined(self, metric: Metric) -> Message:
        totals = self.totals
        if not totals["components"]:
            return Message("no-anomalous-pixels", "no anomalous pixels")
        key = metric.key
        if key.startswith("image_") and not totals["normal_images"]:
            return Message("no-normal-images", "no normal images")
        if key.startswith("aupimo"):
            return self.pimo.reason
        if key.startswith("aupro"):
            return Message("no-normal-pixels", "no normal pixels")
        of_pixels = next(metric for metric in self.pixels.metrics if metric.key == key)
        return self.pixels.why_undefined(of_pixels)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say that maps are of several scales, or of several categories, each with a model of its own."""
        return (*note_on_scales(self.facts.highest.tolist()), *self._note_on_categories())

    def _note_on_categories(self) -> tuple[Note, ...]:
        """Name the top folders that contain both normal and anomalous images, if there are several."""
        folders = [name.partition("/")[0] if "/" in name else "" for name in self.names]
        with_normal = set(compress(folders, self.facts.normal.tolist()))
        with_anomalous = set(compress(folders, self.facts.anomalous.tolist()))
        categories = sorted((with_normal & with_anomalous) - {""})
        if len(categories) < 2:
            return ()
        pooled = Message(
            "several-categories",
            "scores of {count} categories are pooled as those of one model: {categories}; {by_folder} measures each by "
            "itself",
            count=len(categories),
            categories=first_names(categories, _NAMED),
            by_folder=Either("result.parts('group', by='folder')", "--group-by folder"),
        )
        return (Note(pooled),)

    @property
    def reduced(self) -> AnomalyCounts:
        """The normal images pooled, with the highest scores alone, as single images need them for AUPIMO."""
        lowest = self.pimo.thresholds[-1] if self.pimo.thresholds.size else math.inf
        three_scores = self.pixels.reduced.scores[:3]  # show that predictions are no masks
        no_pixels, empty = np.zeros(three_scores.size, np.int64), np.empty(0)
        scores_alone = AnomalyCounts(
            three_scores, no_pixels, no_pixels, empty, no_pixels[:0], no_pixels[:0], empty, empty
        )
        return AnomalyCounts.sum([scores_alone, *(of_normal_images(counts, lowest) for counts in self.ordered)])

    @property
    def drawn(self) -> AnomalyCurve:
        return AnomalyCurve(self.pixels.drawn, self.pro, self._pimo_line)

    @property
    def chosen_points(self) -> str:
        """How many of the scores `drawn` has, in words."""
        return self.pixels.chosen_points

    @property
    def curve(self) -> AnomalyCurve:
        """The ROC and PR curve of pixels, with those of PRO and PIMO."""
        return AnomalyCurve(self.pixels.curve, self.pro, self._pimo_line)

    @property
    def _pimo_line(self) -> Line:
        """Shared FPR, and the mean recall of anomalous images there; nothing where AUPIMO is undefined."""
        if self.pimo.reason or not self.facts.anomalous.any():
            return np.empty(0), np.empty(0)
        shared_fpr = np.cumsum(self.thresholded.rates.sum(axis=0)) / self.facts.normal.sum()
        return shared_fpr, self.thresholded.recalls.mean(axis=0)

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of pixels off at the positions `at`, see `Table`."""
        return self.pixels.heights(space, at, of["pixels"])


def _cases(scores: Sequence[FloatArray], distinct: FloatArray) -> Any:
    """Return the scores of each image as a sparse matrix (images, distinct scores) of ones; columns are falling."""
    rows = np.repeat(np.arange(len(scores)), [of_image.size for of_image in scores])
    columns = distinct.size - 1 - np.searchsorted(distinct, np.concatenate([np.empty(0), *scores]))
    return csr_array((np.ones(rows.size), (rows, columns)), shape=(len(scores), distinct.size))


def _reaching(thresholds: FloatArray, scores: FloatArray, weights: FloatArray | IntArray) -> FloatArray:
    """Add up the weights of scores at the highest of falling thresholds that each score reaches."""
    index = np.searchsorted(-thresholds, -scores.astype(np.float64))
    return np.bincount(index, weights, thresholds.size + 1)[: thresholds.size].astype(np.float64, copy=False)

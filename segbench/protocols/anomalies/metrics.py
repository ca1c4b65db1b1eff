"""The metrics of the anomaly protocol, and the table that computes them from the counts of its images.

Estimates take every distinct score. Where images are left out or resampled, PRO and PIMO are measured at a choice of
thresholds, if there are very many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
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
from segbench.curves.pooled import measured_curves
from segbench.protocols.anomalies.counts import AnomalyCounts
from segbench.protocols.anomalies.curves import (
    LIMITS,
    RATES,
    AnomalyCurve,
    Pimo,
    Pro,
    chosen_pimo,
    chosen_pro,
    highest,
    measured_pimo,
    measured_pro,
    pimo_values,
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
        note="area under the PRO curve up to a false positive rate of 30 %",
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
_OF_PIXELS = ("auc_roc", "average_precision", "ods_f", "ods_threshold")
_CELLS, _FEWEST, _MOST = 2**22, 2**9, 2**12


class _Pixels(Mapping[str, ScoreCounts]):
    """Counts of images as the pixel protocol has them."""

    def __init__(self, images: Mapping[str, AnomalyCounts]) -> None:
        self._images = images

    def __getitem__(self, name: str) -> ScoreCounts:
        return self._images[name].pixels

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Give an image's counts of some scores, see `segbench.core.pooling.Ranged`."""
        return self._images[name].pixels_between(lowest, below)

    def __iter__(self) -> Iterator[str]:
        return iter(self._images)

    def __len__(self) -> int:
        return len(self._images)


class Thresholded(NamedTuple):
    """Each image at the thresholds at which images are left out, shape (images, thresholds).

    Normal pixels between and at the thresholds of PRO, and shares of components found; of PIMO the false positive rates
    of normal images, and the recall of anomalous ones.
    """

    above: IntArray
    equal: IntArray
    found: FloatArray
    rates: FloatArray
    recalls: FloatArray


class Facts(NamedTuple):
    """What is known of each image: its scores as cases, components, whether it is anomalous or normal, and maxima."""

    positives: Any
    negatives: Any
    components: FloatArray
    anomalous: FloatArray
    normal: FloatArray
    score: FloatArray
    highest: FloatArray


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
        """The table of pixels, counts by threshold (see `Thresholded`), components, and which image is there.

        The latter, as a median does not come from sums.
        """
        at = self.thresholded
        return {
            "pixels": self.pixels,
            "above": at.above,
            "equal": at.equal,
            "found": at.found,
            "components": self.facts.components,
            "rates": at.rates,
            "image": eye_array(self.images, format="csr"),
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        areas = pro_areas(of["above"], of["equal"], of["found"], of["components"])
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
        """Name the metrics of pixels that the protocol reports, given all of them, shape (R, metrics)."""
        by_label = self.pixels.by_label(values)
        return {key: by_label[key] for key in _OF_PIXELS}

    def scored_images(self, weights: FloatArray) -> dict[str, FloatArray]:
        """Measure images as cases."""
        positives, negatives = (weights @ part for part in self.facts[:2])
        best, areas = measured_curves(np.ascontiguousarray(positives), np.ascontiguousarray(negatives))
        both = positives.any(axis=1) & negatives.any(axis=1)
        with np.errstate(invalid="ignore"):  # without anomalous images
            f = 2 * best[:, 1] / (best[:, 3] + best[:, 1] + best[:, 2])
        found = {"image_auc_roc": areas[:, 0], "image_average_precision": areas[:, 3], "image_f": f}
        return {key: np.where(both, value, np.nan) for key, value in found.items()}

    def _scored_pimo(self, rates: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
        """Measure AUPIMO of each image, and of all."""
        from segbench.protocols.anomalies.kernels import pimo_weights

        normal = weights @ self.facts.normal
        values = np.full((3, len(weights)), np.nan)
        anomalous = self.facts.anomalous > 0
        times = weights[:, anomalous]
        gains = np.zeros(rates.shape[1])
        for row in np.flatnonzero((normal > 0) & times.any(axis=1)):
            shared = np.cumsum(rates[row]) / normal[row]
            if pimo_weights(shared, *RATES, gains):
                values[:, row] = pimo_values(self.thresholded.recalls @ gains, times[row])
        return dict(zip(("aupimo", "aupimo_median", "aupimo_zero"), values, strict=True))

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself, at every score."""
        everything = np.ones((1, self.images))
        values = self._of_pixels(self.pixels.estimates[np.newaxis]) | self.scored_images(everything)
        values |= {"aupro": np.array([self.pro.areas[0]]), "aupro_05": np.array([self.pro.areas[1]])}
        if not self.pimo.reason and self.facts.anomalous.any():
            measured = pimo_values(self._pimo_of_images, self.facts.anomalous[self.facts.anomalous > 0])
            keys = "aupimo", "aupimo_median", "aupimo_zero"
            values |= {key: np.array([value]) for key, value in zip(keys, measured, strict=True)}
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
        counts = zip(self.facts.anomalous, self.ordered, strict=True)
        return np.array([self.pimo.area(one) for anomalous, one in counts if anomalous])

    @cached_property
    def facts(self) -> Facts:
        """What is known of each image."""
        scores: list[list[FloatArray]] = [[], []]
        facts = np.zeros((5, self.images))
        for place, one in enumerate(self.ordered):
            for kind, images in zip(scores, (one.anomalous_images, one.normal_images), strict=True):
                kind.append(images)
            own = np.concatenate([one.anomalous_images, one.normal_images])
            facts[:, place] = (
                one.components,
                one.total_anomalous > 0,
                one.normal_images.size,
                own.max(initial=-math.inf),
                max(map(float, (*one.scores[:1], *one.found_scores[:1])), default=0.0),
            )
        distinct = np.unique(np.concatenate([np.empty(0), *scores[0], *scores[1]]))
        matrices = []
        for kind in scores:
            rows = np.repeat(np.arange(self.images), [images.size for images in kind])
            places = distinct.size - 1 - np.searchsorted(distinct, np.concatenate([np.empty(0), *kind]))
            matrices.append(csr_array((np.ones(rows.size), (rows, places)), shape=(self.images, distinct.size)))
        return Facts(*matrices, *facts)

    @cached_property
    def thresholded(self) -> Thresholded:
        """Count each image at the thresholds where images are left out."""
        from segbench.protocols.anomalies.kernels import add_between, places_of

        most = int(np.clip(_CELLS // max(self.images, 1), _FEWEST, _MOST))
        scores, joined = chosen_pro(self.pro, most)
        places = places_of(scores)
        pimo = chosen_pimo(self.pimo, most)
        above, equal = (np.zeros((self.images, size), np.int64) for size in (scores.size + 1, scores.size))
        found = np.zeros((self.images, scores.size))
        rates, recalls = np.zeros((self.images, pimo.size)), []
        for place, one in enumerate(self.ordered):
            add_between(one.scores, one.normal, places, above[place], equal[place])
            if one.total_anomalous:
                shares_found = one.anomalous / one.component_sizes
                cells = np.searchsorted(-scores, -one.found_scores.astype(np.float64))
                found[place] = np.bincount(cells, shares_found, scores.size + 1)[: scores.size]
                cells = np.searchsorted(-pimo, -one.found_scores.astype(np.float64))
                pixels = np.bincount(cells, one.anomalous, pimo.size + 1)[: pimo.size]
                recalls.append(np.cumsum(pixels) / one.total_anomalous)
            if one.normal_images.size:
                own = one.image_sizes > 0
                cells = np.searchsorted(-pimo, -one.scores[own].astype(np.float64))
                rates[place] = np.bincount(cells, one.normal[own] / one.image_sizes[own], pimo.size + 1)[: pimo.size]
        if joined:
            equal += above[:, :-1]
            above[:, :-1] = 0
        of_anomalous = np.array(recalls, np.float64).reshape(-1, pimo.size)
        return Thresholded(above, equal, found, rates, of_anomalous)

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """Positives of each image for pixels, components for PRO, and anomalous images for PIMO."""
        return {
            **self._of_pixels(self.pixels.weights_by_metric),
            **dict.fromkeys(("aupro", "aupro_05"), self.facts.components),
            **dict.fromkeys(("aupimo", "aupimo_median", "aupimo_zero"), self.facts.anomalous),
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
        facts = self.facts
        of_images = (facts.components.sum(), facts.positives.sum(), facts.negatives.sum())
        keys = (metric.key for metric in TOTALS)
        return dict(zip(keys, (*map(int, of_images), *self.pixels.totals.values()), strict=True))

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
        """Name the top folders that hold normal and anomalous images each, if there are several."""
        tops = [name.partition("/")[0] if "/" in name else "" for name in self.names]
        of_kinds = [
            {top for top, is_there in zip(tops, kind.tolist(), strict=True) if top and is_there}
            for kind in (self.facts.normal, self.facts.anomalous)
        ]
        categories = sorted(of_kinds[0] & of_kinds[1])
        if len(categories) < 2:
            return ()
        said = Message(
            "several-categories",
            "scores of {count} categories are pooled as those of one model: {categories}; {by_folder} measures each by "
            "itself",
            count=len(categories),
            categories=first_names(categories, _NAMED),
            by_folder=Either("result.parts('group', by='folder')", "--group-by folder"),
        )
        return (Note(said),)

    @property
    def reduced(self) -> AnomalyCounts:
        """The normal images pooled, with the highest scores alone, as single images need them for AUPIMO."""
        lowest = self.pimo.thresholds[-1] if self.pimo.thresholds.size else math.inf
        some = self.pixels.reduced.scores[:3]  # which tell that predictions are no masks
        nothing, empty = np.zeros(some.size, np.int64), np.empty(0)
        no_pixels = AnomalyCounts(some, nothing, nothing, empty, nothing[:0], nothing[:0], empty, empty)
        return AnomalyCounts.sum([no_pixels, *(highest(one, lowest) for one in self.ordered)])

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
        at = self.thresholded
        return np.cumsum(at.rates.sum(axis=0)) / self.facts.normal.sum(), at.recalls.mean(axis=0)

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read the curve of pixels off at some places, see `Table`."""
        return self.pixels.heights(space, at, of["pixels"])

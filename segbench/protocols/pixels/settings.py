"""The pixel protocol: every pixel is a case, its label from the ground truth, its score from the prediction.

Conventions
-----------
1. ``score >= threshold`` is positive; equal scores enter together.
2. Integer predictions are levels: score = value / maximum of the type (255, 65535); bool is 0 or 1. Floats are scores
   as they are, of any range. Nothing is stretched to a minimum or maximum.
3. Every distinct score is counted. With ``quantize=16`` float scores in [0, 1] are first rounded to levels of 16 bits,
   as image files hold them: score = rint(65535 score) / 65535, after scaling and inverting; likewise with 8.
4. Void pixels and pixels outside the field of view are counted as ignored and nowhere else.
5. Several annotators are counted together by a rule that has to be named (`segbench.inputs.label_rules`); without one
   an image with several is refused.

References
----------
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011 (pooling over images).
Davis, Goadrich: The Relationship Between Precision-Recall and ROC Curves. ICML 2006 (counts behind both curves).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.messages import Note, Setting
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    Quantize,
    as_distinct,
    as_real,
    check_settings,
    listed,
    option,
    option_like,
    read_numbers,
    set_fields,
)
from segbench.inputs.label_rules import AnnotatorRule, Positive, brought_together
from segbench.inputs.scored_masks import ScoredMasks, ScoredPixels
from segbench.protocols.states import OF_MASKS, State, states_of_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import FloatArray
    from segbench.core.pictures import Pictures
    from segbench.core.scores import ScoreCounts
    from segbench.core.table import CachedPool
    from segbench.protocols.pixels.image_set import Block, ImageSet
    from segbench.protocols.pixels.metrics import PixelTable


@dataclass(frozen=True, kw_only=True)
class Pixels(Protocol, can.Verb, can.Pooling, can.OnDevice, can.Pictured):
    """Settings of the pixel protocol.

    Parameters
    ----------
    positive : str, float or sequence of float, optional
        Which ground-truth values are positive: ``255``, ``(1, 3)``, ``">=128"``. Numbers are kept as the text that the
        command line takes, ``"255"`` and ``"1,3"``. Beside whole numbers ground truth of floats must hold such, too.
        None: the set must hold exactly two values, and the larger is positive.
    void : tuple of float
        Ground-truth values of pixels that are left out and counted as ignored; one, or several.
    invert : bool
        Low predictions mean positive (black on white): levels become 255 - value (65535 - value), floats 1 - value.
    quantize : {8, 16}, optional
        Round float scores in [0, 1] to levels of 8 or 16 bits, half to even, after `invert`: results files are small,
        and memory does not grow with the number of pixels. Levels and masks stay as they are. The thresholds of `at`
        and of a tuning set are rounded likewise. None: every distinct score is counted.
    annotators : {"any", "all", "majority", "each"}, optional
        How several ground truths of an image count together. ``"any"``: positive where at least one annotator says so;
        ``"all"``: where all do; ``"majority"``: where more than half do, a tie being negative; ``"each"``: every pixel
        counts once per annotator, so counts are the sum of those against each annotator alone. Annotators are ignored
        where they marked the pixel void; a pixel that is void for all is left out. With one ground truth all four are
        the same.
        None: an image with several is refused.
    at : float or sequence of float
        Scores at which precision, recall, F, IoU, specificity, accuracy and MCC are measured, too, pooled and as means
        over images: ``f@0.5``, ``mean_image_f@0.5``.
    calibration : bool
        Measure how far scores are from probabilities, too: ``brier``, ``ece``, ``mce``, ``ace``.
    thresholds : tuple of float
        Thresholds chosen on a tuning set, at which the curve and what is read off it are measured instead of at every
        distinct score; `at` and `calibration` take all scores. `evaluate` sets them (`segbench.tuned_thresholds`).
    thresholds_source : str
        Where these come from. Methods are compared at thresholds of one source, each at its own.

    Raises
    ------
    ArgumentError
        If `positive` or `annotators` is not a rule, or `quantize` is neither 8 nor 16.

    Examples
    --------
    >>> Pixels(positive=">=128").signature_fields()["positive"]
    '>=128'
    """

    name: ClassVar[str] = "pixels"
    reads: ClassVar[Reading] = ScoredMasks.reads
    counts = counts_in("segbench.core.scores", "ScoreCounts")
    states_called: ClassVar[Mapping[int, str]] = OF_MASKS
    title: ClassVar[str] = "Each pixel is scored separately against the ground truth."
    examples: ClassVar[tuple[str, ...]] = (
        "GT ours=PRED theirs=PRED2 -o results.segbench",
        "GT PRED --intervals 95",
        "GT PRED --at 0.5 --positive 255",
    )

    positive: Positive | None = option_like(ScoredMasks, "positive")
    void: tuple[float, ...] = option_like(ScoredMasks, "void")
    invert: bool = option_like(ScoredMasks, "invert")
    quantize: Quantize | None = option_like(ScoredMasks, "quantize")
    annotators: AnnotatorRule | None = option_like(ScoredMasks, "annotators")
    at: tuple[float, ...] = option(
        "Add precision, recall, F, IoU, specificity, accuracy and MCC at these scores: 0.5, or 0.3,0.5.",
        (),
        metavar="SCORES",
        read=read_numbers,
        example="0.3,0.5",
        measuring="union",
        none="none takes them away",
    )
    calibration: bool = option(
        "Add the calibration of scores in [0, 1]: Brier score, ECE, MCE and ACE.", False, rare=True, measuring="any"
    )
    thresholds: tuple[float, ...] = field(default=(), metadata={"measuring": "own"})
    thresholds_source: str = field(default="", metadata={"measuring": "apart"})

    def __post_init__(self) -> None:
        check_settings(self)
        at = as_distinct(self.at, "at", "(0.5,)", as_real)
        thresholds = tuple(map(float, listed(self.thresholds, "thresholds", "(0.2, 0.5)")))
        source = (self.thresholds_source or "given") if thresholds else ""
        set_fields(self, at=at, thresholds=thresholds, thresholds_source=source)
        take_settings(self)

    @cached_property
    def inputs(self) -> ScoredMasks:
        masks: ScoredMasks = inputs_of(ScoredMasks, self)
        return masks

    def signature_fields(self) -> dict[str, str]:
        fields = {
            "positive": str(self.positive or "larger"),
            "void": written(self.void) or "none",
            "invert": "yes" if self.invert else "no",
            "quantize": str(self.quantize or ""),
            "at": written(self.at),
            "calibration": "15 bins" if self.calibration else "",
            "annotators": self.annotators or "",
            "thresholds": self._thresholds_text,
        }
        return {name: text for name, text in fields.items() if text}

    @property
    def _thresholds_text(self) -> str:
        """The source of the thresholds of a tuning set, with their digest; empty without such thresholds."""
        if not self.thresholds:
            return ""
        digest = hashlib.sha256(struct.pack(f"<{len(self.thresholds)}d", *self.thresholds)).hexdigest()[:8]
        return f"{self.thresholds_source}, thresholds {digest}"

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.pixels.calibration import METRICS as CALIBRATION
        from segbench.protocols.pixels.fixed_thresholds import metrics_at
        from segbench.protocols.pixels.metrics import METRICS, TOTALS

        return (*METRICS, *metrics_at(self.at), *(CALIBRATION if self.calibration else ()), *TOTALS)

    def table(
        self,
        per_image: Mapping[str, ScoreCounts],
        *,
        of_set: Counts | None = None,
        rest: Counts | None = None,
        kept: CachedPool | None = None,
    ) -> PixelTable:
        from segbench.protocols.pixels.image_set import ImageSet
        from segbench.protocols.pixels.metrics import PixelTable

        unnamed, whole_set = cast("ScoreCounts | None", rest), cast("ScoreCounts | None", of_set)
        images = ImageSet(per_image, unnamed, kept)
        if not self.thresholds:
            return PixelTable(images, whole_set, self.blocks(images, whole_set))
        at_thresholds = {name: self._at_thresholds(counts) for name, counts in per_image.items()}
        unnamed_at_thresholds = None if unnamed is None else self._at_thresholds(unnamed)
        return PixelTable(ImageSet(at_thresholds, unnamed_at_thresholds), whole_set, self.blocks(images, None))

    @property
    def kept_numbers(self) -> Mapping[str, NDArray[Any]]:
        from segbench.protocols.pixels.metrics import KEPT

        return KEPT

    def _at_thresholds(self, counts: ScoreCounts) -> ScoreCounts:
        """Return the counts at the thresholds of a tuning set, which are rounded as scores are."""
        from segbench.core.levels import rounded

        return counts.at(rounded(self.thresholds, self.quantize), source=self.thresholds_source)

    def blocks(self, images: ImageSet, of_set: ScoreCounts | None) -> list[Block]:
        """Return the blocks of columns that settings add to the table of these images."""
        from segbench.protocols.pixels.calibration import Calibration
        from segbench.protocols.pixels.fixed_thresholds import FixedThresholds

        blocks: list[Block] = []
        if self.at:
            blocks.append(FixedThresholds(images, self.at, self.quantize))
        if self.calibration:
            blocks.append(Calibration(images, of_set))
        return blocks

    def turned(self, counts: ScoreCounts) -> ScoreCounts:
        return replace(counts, positives=counts.negatives, negatives=counts.positives)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.pixels.counting import count_pixels

        pixels = self.inputs.interpret(sample)
        counts = count_pixels(pixels)
        return Counted(counts, pixels.facts, (*pixels.notes, *self.doubts(counts)))

    def doubts(self, counts: ScoreCounts) -> tuple[Note, ...]:
        """Return notes on scores that are not from 0 to 1 although the thresholds `at` are."""
        from segbench.core.levels import doubts_on_cuts

        if not self.at or not counts.scores.size:
            return ()
        lowest, highest = float(counts.scores[-1]), float(counts.scores[0])
        if self.invert:
            lowest, highest = 1 - highest, 1 - lowest
        return doubts_on_cuts(self.at, Setting("at", self.at), lowest, highest)

    def count_tensors(self, labels: Any, scores: Any, valid: Any, called: tuple[str, str]) -> Counted | None:
        from segbench.protocols.pixels.tensors import count_tensors

        return count_tensors(self, labels, scores, valid, called)

    def pictures(self, sample: Sample, counts: ScoreCounts, thresholds: FloatArray) -> Pictures:
        """Return an image for the report page: its labels, and how many thresholds each score reaches."""
        import numpy as np

        from segbench.core.levels import in_type_of, scores_of
        from segbench.core.pictures import Pictures

        pixels = self.inputs.interpret(sample)
        states = self._states(pixels, -np.inf, counts)
        labels = np.full(states.shape, 2, np.uint8)
        labels[states == State.TRUE], labels[states == State.FALSE] = 1, 0
        comparable = in_type_of(counts.scores.dtype, thresholds)
        reached = np.searchsorted(comparable, scores_of(pixels.scores), side="right").astype(np.uint8)
        # Positive pixels come before all others, the same for every method; among negatives the highest scores.
        ranks = np.select([labels == 1, labels == 0], [thresholds.size + 2, 1 + reached.astype(np.int64)], 0)
        at_thresholds = counts.at(thresholds)
        tp = np.cumsum(at_thresholds.positives)[: thresholds.size][::-1].tolist()
        fp = np.cumsum(at_thresholds.negatives)[: thresholds.size][::-1].tolist()
        note = "Colours: the majority of annotators. Metrics: every annotator counts."
        return Pictures(
            labels,
            ranks,
            reached,
            counts={"tp": tp, "fp": fp, "positives": counts.total_positives},
            note=note if self.annotators == "each" else "",
        )

    def states(self, sample: Sample, threshold: float, counts: ScoreCounts | None = None) -> NDArray[np.uint8]:
        """Return the state of each pixel at a threshold; under ``annotators="each"`` the majority decides."""
        return self._states(self.inputs.interpret(sample), threshold, counts)

    def _states(self, pixels: ScoredPixels, threshold: float, counts: ScoreCounts | None) -> NDArray[np.uint8]:
        """Return the state of each pixel of an interpreted image."""
        import numpy as np

        from segbench.core.levels import in_type_of, rounded

        ((labels, valid),) = brought_together(pixels.labelled, "majority")
        scores = pixels.scores
        threshold = float(in_type_of(scores.dtype, rounded(threshold, pixels.bits)))
        full = np.iinfo(scores.dtype).max if scores.dtype.kind == "u" else 1
        all_positive = counts is not None and not counts.negatives.any()
        return states_of_labels(labels | all_positive, scores / np.float64(full) >= threshold, valid)

"""Boundary maps that annotators drew, or the borders of their label maps, and soft maps or label maps beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Note, Setting
from segbench.core.protocol import InputSettings, Interpreted, SoftMaps
from segbench.core.sample import Reading, Sample, Side
from segbench.core.settings import as_whole, check_settings, option, set_fields
from segbench.inputs.label_rules import (
    ONE_ANNOTATOR,
    Labelled,
    Positive,
    RuleWithoutVoid,
    counted,
    numbered_by,
    optional_rule,
    perhaps_swapped,
    rule_option,
    suggested_positive,
)
from segbench.inputs.sides import DrawnMasks, SeveralAnnotators
from segbench.loaders.reading import ANNOTATORS, BOUNDARIES

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray, FloatArray
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles

_THINNED = Note(Message("thinned", "{side} thinned"), "ground truth")


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnBoundaries(Interpreted):
    """The boundaries of an image as they are drawn."""

    drawn: Sequence[BoolArray]
    """The boundary map of each annotator, shape (H, W)."""

    @property
    def drawn_masks(self) -> Sequence[Labelled]:
        return [(boundaries, None) for boundaries in self.drawn]


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftBoundaries(DrawnBoundaries):
    """Boundaries as they are drawn, and a soft map of their size."""

    soft: Array
    """The soft map, high where boundary, of the type that it is stored in."""
    scores: FloatArray
    """The same, as floats."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionBoundaries(DrawnBoundaries):
    """Boundaries as they are drawn, and those of predicted label maps."""

    predicted: Sequence[BoolArray]
    """The boundaries of each label map."""


@dataclass(frozen=True, kw_only=True)
class BoundaryMaps(InputSettings, DrawnMasks, SoftMaps):
    """A boundary map or label map of each annotator, and a soft map; `segbench.Boundaries` describes the settings."""

    reads: ClassVar[Reading] = BOUNDARIES

    positive: Positive | None = rule_option(
        "Name the ground-truth values that are boundary: 255, '>=128' or 1,3.", shown="all but 0"
    )
    label_maps: bool = option(
        "Take the boundaries between the labels of ground-truth label maps.", False, panel="Ground truth", rare=True
    )
    thin_ground_truth: bool = option(
        "Thin the ground truth, too, where lines are drawn thick.", False, panel="Ground truth", rare=True
    )
    invert: bool = option(
        "Treat low predictions as boundary, for black edges on white.", False, of_predictions=True, rare=True
    )
    category: int | None = option(
        "Count the boundaries of one category of an SBD ground truth, from 1.", panel="Ground truth", rare=True
    )
    thresholds: int | tuple[float, ...] = 99
    """Thresholds of the protocol; a number of them is for scores from 0 to 1."""
    thin: bool = True
    """Whether the protocol thins maps, so that most of a thick line of the ground truth is missed."""
    nms: tuple[int, int, float] | None = None
    """How the protocol suppresses maps; only then is their range known."""

    def __post_init__(self) -> None:
        """Check and normalise the settings."""
        check_settings(self)
        set_fields(self, positive=optional_rule(self.positive))
        numbered: tuple[Side, ...] = ("ground truth",) if self.label_maps else numbered_by(self.positive)
        set_fields(self, reads=replace(self.reads, numbered=numbered))
        if self.category is not None:
            set_fields(self, category=as_whole(self.category, Setting("category", None), least=1))
        if self.positive is not None and self.label_maps:
            raise ArgumentError(
                Message(
                    "exclusive-settings",
                    "{setting} and {other} exclude each other: all labels of a label map count",
                    setting=Setting("positive", None),
                    other=Setting("label_maps", None),
                )
            )

    @property
    def several_annotators(self) -> SeveralAnnotators:
        return "counted"

    @property
    def in_unit_range(self) -> bool:
        """Whether thresholds are spread evenly from 0 to 1."""
        return isinstance(self.thresholds, int)

    @property
    def listed(self) -> tuple[float, ...]:
        """The thresholds, where they are given one by one."""
        return self.thresholds if isinstance(self.thresholds, tuple) else ()

    @property
    def misses_thick_lines(self) -> bool:
        """Whether predictions are thinned and ground truth is not, so that thick lines of it are missed."""
        return self.thin and not self.thin_ground_truth

    @property
    def needs_thin_lines(self) -> bool:
        """Whether thick ridges are cut and thinned as they are, without suppression."""
        return self.nms is None and self.thin

    def interpret(self, sample: Sample) -> SoftBoundaries | RegionBoundaries:
        """Return boundaries as they are drawn and predicted; a `DataError` says what is wrong with the files."""
        from segbench.core.levels import INVERTED, note_on_ones
        from segbench.inputs.lines import check_same_size, label_boundaries

        drawn = self.drawn(sample)
        thinned = (_THINNED,) if self.thin_ground_truth else ()
        if sample.labels_predicted:
            predicted = [label_boundaries(segmentation) for segmentation in sample.predictions]
            _require_one_size(drawn)
            for k, boundaries in enumerate(predicted):
                check_same_size(boundaries, drawn[0], f"prediction {k + 1}")
            return RegionBoundaries(drawn=drawn, predicted=predicted, notes=thinned)
        try:
            soft, scores = self._soft(sample)
            _require_one_size(drawn)
            check_same_size(scores, drawn[0])
        except DataError as error:
            raise DataError(sample.predicted_file, error.what, error.hint) from error
        notes = (*((INVERTED,) if self.invert else ()), *thinned)
        if isinstance(self.thresholds, int):
            notes += note_on_ones(sample.predictions[0])
        return SoftBoundaries(drawn=drawn, soft=soft, scores=scores, notes=notes)

    def summarize(self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Interpreted]) -> ImageSummary:
        """Summarize lines and scores, also where a run refuses these."""
        from segbench.inputs.line_summaries import summary_of_lines

        return summary_of_lines(
            self,
            self,
            sample,
            files,
            interpret,
            category=self.category or 1,
            label_maps=self.label_maps,
            suppressed=self.nms is not None,
        )

    def require_fit(self, scores: FloatArray) -> None:
        """Refuse scores, where they are cut, outside [0, 1] if thresholds are spread evenly there."""
        from segbench.inputs.lines import check_unit_range

        if isinstance(self.thresholds, int):
            check_unit_range(scores, "prediction")

    def _soft(self, sample: Sample) -> tuple[Array, FloatArray]:
        """Return the soft map in image size, high where boundary, as it is stored and as floats."""
        from segbench.core.levels import as_shares, mirrored, refuse_low_levels
        from segbench.inputs.lines import as_scores, sample_ucm2

        prediction = sample.predictions[0]
        if isinstance(self.thresholds, int):
            refuse_low_levels(sample.predicted_file, prediction)
        if prediction.shape != sample.ground_truths[0].shape:
            prediction = sample_ucm2(prediction)
        soft = as_shares(prediction, sample.predicted_file)
        if self.invert:
            soft = mirrored(soft)
        scores = as_scores(soft, "prediction")
        if self.nms is None:  # suppression changes scores
            self.require_fit(scores)
        return soft, scores

    def drawn(self, sample: Sample) -> list[BoolArray]:
        """Return the boundary map of each annotator as it is drawn."""
        import numpy as np

        if sample.without_truth:
            return [np.zeros(sample.ground_truths[0].shape, np.bool_)]
        if sample.categories_drawn or self.category is not None:
            return [np.ascontiguousarray(self._of_category(sample))]
        maps = zip(sample.truth_files, sample.ground_truths, strict=True)
        return [np.ascontiguousarray(self._boundary_map(file, drawn)) for file, drawn in maps]

    def _of_category(self, sample: Sample) -> BoolArray:
        """Return the boundaries of the category that was chosen."""
        name = sample.truth_file
        if not sample.categories_drawn:
            raise DataError(
                name,
                Message(
                    "no-categories",
                    "holds no boundaries of categories, but category {category} was selected",
                    category=self.category,
                ),
            )
        number = len(sample.ground_truths)
        if self.category is None or not 1 <= self.category <= number:
            problem = Message(
                "no-category", "holds boundaries of {categories} categories, and none was selected", categories=number
            )
            if self.category is not None:
                problem = Message(
                    "unknown-category",
                    "holds boundaries of {categories} categories, and {category} is none of them",
                    categories=number,
                    category=self.category,
                )
            fix = Message(
                "fix", "choose one of 1 to {categories}: {setting}", categories=number, setting=Setting("category", 1)
            )
            raise DataError(name, problem, fix)
        return sample.ground_truths[self.category - 1] != 0

    def _boundary_map(self, name: str, ground_truth: Array) -> BoolArray:
        """Return the boundaries in a file of one annotator."""
        import numpy as np

        from segbench.core.levels import refuse_nan
        from segbench.inputs.lines import label_boundaries

        refuse_nan(name, ground_truth)
        if self.label_maps:
            return label_boundaries(ground_truth)
        if self.positive is not None:
            return RuleWithoutVoid.parse(self.positive).labels(name, ground_truth)
        boundary: BoolArray = ground_truth != 0
        if ground_truth.dtype != np.bool_ and not np.all(ground_truth[boundary] == ground_truth.max()):
            values = np.unique(ground_truth)
            fix = Message(
                "alternatives",
                "{positive}; or {label_maps} if these are labels",
                positive=perhaps_swapped(ground_truth) + suggested_positive(values.tolist(), void=None),
                label_maps=Setting("label_maps", True),
            )
            raise DataError(
                name,
                Message(
                    "several-values",
                    "{count} distinct values ({values}), expected 0 and at most one other in a boundary map",
                    **counted(values),
                ),
                fix,
            )
        return boundary


@dataclass(frozen=True, kw_only=True)
class AnnotatorMaps(InputSettings):
    """Boundary maps of several annotators, without a prediction."""

    reads: ClassVar[Reading] = ANNOTATORS

    boundaries: BoundaryMaps
    """What the ground truth of methods is beside which annotators are compared."""

    @property
    def why_not_arrays(self) -> Message:
        """Why images cannot come as arrays: a batch has no predictions of annotators."""
        return Message("from-files", "annotators are compared with each other from files (segbench.evaluate)")

    def interpret(self, sample: Sample) -> DrawnBoundaries:
        """Return what each annotator drew; a `DataError` says what is wrong with the files."""
        drawn = self.boundaries.drawn(sample)
        return DrawnBoundaries(drawn=drawn, notes=(ONE_ANNOTATOR,) if len(drawn) == 1 else ())


def _require_one_size(drawn: Sequence[BoolArray]) -> None:
    """Refuse maps of annotators that have different sizes."""
    from segbench.loaders.reading import require_same_size

    require_same_size([(f"ground truth of annotator {k}", boundaries.shape) for k, boundaries in enumerate(drawn)])

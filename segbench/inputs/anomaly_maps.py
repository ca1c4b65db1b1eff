"""Masks of what is anomalous, and maps with scores of any range; or a mask for each defect of an image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Message, Setting
from segbench.core.protocol import InputSettings, Interpreted, SoftMaps
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    Quantize,
    as_distinct,
    as_path,
    as_quantize,
    as_real,
    check_settings,
    option,
    option_like,
    set_fields,
)
from segbench.inputs.defects import Defect, as_defects, defects_of, read_defects
from segbench.inputs.label_rules import (
    Labelled,
    LabelRule,
    Positive,
    notes_on_values,
    numbered_by,
    optional_rule,
    refuse_exchanged,
    refuse_grey_and_void,
    refuse_scores,
    rule_option,
    take_one,
    where_not_void,
)
from segbench.inputs.scored_masks import ScoredMasks
from segbench.inputs.sides import DrawnMasks, SeveralAnnotators
from segbench.loaders.reading import MASKS

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles

NONZERO = ">0"
"""All values but 0, as VisA's masks need it."""

Scores = tuple[tuple[str, float], ...]
"""The score of each image by its name."""


def read_scores(table: Any) -> Scores:
    """Read the scores of images from the only other column of a CSV file, or take them from a mapping."""
    source: Setting | str = Setting("image_scores", None)
    if not isinstance(table, Mapping):
        from segbench.loaders.file_list import read_column

        source = as_path(table, source)
        table = read_column(source)
    scores = []
    for name, score in table.items():
        try:
            value = as_real(float(score), source)
        except (TypeError, ValueError, ArgumentError):
            raise ArgumentError(
                Message(
                    "not-finite",
                    "{source} holds the score {score} for {image}, expected a finite number",
                    source=source,
                    score=f"{score!r:.40}",
                    image=str(name),
                )
            ) from None
        scores.append((str(name), value))
    return tuple(sorted(scores))


@dataclass(frozen=True)
class DefectRule(LabelRule):
    """A rule for masks of defects; the rule for those of any values does not take scores either."""

    def labels(self, file: str, ground_truth: Array, valid: BoolArray | None = None) -> BoolArray:
        """Mark which pixels are anomalous."""
        if str(self) == NONZERO:
            refuse_scores(file, ground_truth, valid, NONZERO)
        return super().labels(file, ground_truth, valid)


@dataclass(frozen=True, eq=False, kw_only=True)
class AnomalyImage(Interpreted):
    """A mask and a map of scores of one size."""

    anomalous: BoolArray
    """Which pixels are anomalous and count, shape (H, W)."""
    valid: BoolArray | None
    """Which pixels count; None where all do."""
    scores: Array
    """Scores as floats, or as levels."""
    full: float
    """What levels are divided by to become scores; 0 of floats, which are scores."""
    file: str
    """What errors call the scores."""
    image_score: float | None = None
    """The score of the image, where a table has it."""
    defects: Sequence[Defect] | None = None
    """The defects of an image with anomalous pixels, where each has a mask; None where components count."""

    @property
    def drawn_masks(self) -> Sequence[Labelled]:
        return [(self.anomalous, self.valid)]


@dataclass(frozen=True, kw_only=True)
class AnomalyMaps(InputSettings, DrawnMasks, SoftMaps):
    """Masks of what is anomalous, and maps with scores of any range; `segbench.Anomalies` describes the settings."""

    reads: ClassVar[Reading] = replace(MASKS, name="anomalies", instances="masks")

    positive: Positive | None = rule_option(
        "Name the ground-truth values that are anomalous: '>0', 255 or '>=128'.", shown="all above 0"
    )
    void: tuple[float, ...] = option_like(ScoredMasks, "void")
    quantize: Quantize | None = option_like(ScoredMasks, "quantize")
    image_scores: Any = option(
        "Take the score of each image from a CSV file of names and scores.",
        (),
        metavar="FILE.csv",
        read=read_scores,
        of_predictions=True,
    )
    defects: Any = option(
        "Take each ground-truth file as a defect, as MVTec LOCO does, by defects_config.json or a folder of them.",
        (),
        metavar="FILE.json|FOLDER",
        read=read_defects,
        panel="Ground truth",
    )

    def __post_init__(self) -> None:
        """Check and normalise the settings, and read the files that they name."""
        check_settings(self)
        if isinstance(self.defects, (str, PathLike)):
            set_fields(self, defects=read_defects(self.defects))
        set_fields(self, defects=as_defects(self.defects), positive=optional_rule(self.positive))
        numbered, several = numbered_by(self.positive), bool(self.defects)
        set_fields(self, reads=replace(self.reads, numbered=numbered, annotators=several))
        set_fields(self, quantize=as_quantize(self.quantize), void=as_distinct(self.void, "void", "(255,)", as_real))
        if not isinstance(self.image_scores, tuple):
            set_fields(self, image_scores=read_scores(self.image_scores))

    @property
    def rule(self) -> DefectRule:
        """Which values are anomalous."""
        return DefectRule.parse(self.positive or NONZERO)

    @property
    def rule_is_named(self) -> bool:
        """Whether that is not the rule of the field."""
        return self.positive is not None

    @property
    def rule_is_guarded(self) -> bool:
        """Whether all above 0 are anomalous, unless they may be grey levels or void."""
        return self.positive is None and not self.defects

    @property
    def several_annotators(self) -> SeveralAnnotators:
        """Whether each ground truth is a defect."""
        return "counted" if self.defects else "refused"

    @property
    def in_unit_range(self) -> bool:
        """Whether scores are rounded."""
        return self.quantize is not None

    @property
    def in_any_range(self) -> bool:
        """Whether they are not."""
        return self.quantize is None

    @property
    def why_not_arrays(self) -> Message:
        """Why images cannot come as arrays: a table names them."""
        if not self.image_scores:
            return NOTHING
        return Message(
            "files-needed",
            "{setting} names images as files are named; evaluate folders with it, or give {otherwise}",
            setting=Setting("image_scores", None),
            otherwise=Setting("image_score", "max"),
        )

    @property
    def why_not_alone(self) -> Message:
        """Why an image cannot be counted by itself: each of its files may be a defect."""
        if not self.defects:
            return self.why_not_arrays
        return Message(
            "files-needed",
            "{setting} takes each file of an image as a defect: evaluate folders with it, or leave it out",
            setting=Setting("defects", None),
        )

    def interpret(self, sample: Sample) -> AnomalyImage:
        """Return which pixels are anomalous, which count, and scores; a `DataError` says what is wrong with files."""
        import numpy as np

        from segbench.loaders.reading import require_same_size

        if self.positive is None:
            refuse_exchanged(sample)
        anomalous, valid = self._labelled(sample)
        file, prediction = sample.predicted_file, sample.predictions[0]
        require_same_size([(sample.truth_file, anomalous.shape), (file, prediction.shape)])
        image_score = self._image_score(sample)
        notes = notes_on_values(self.positive, sample.ground_truths[:1], [(anomalous, valid)], self.void)
        scores, full = _scores_of(file, prediction, valid, self.quantize)
        counted = np.ascontiguousarray(anomalous if valid is None else anomalous & valid)
        defects = None
        if self.defects and not sample.without_truth and counted.any():
            defects = defects_of(sample, None if valid is None else ~valid, self.defects)
        return AnomalyImage(
            anomalous=counted,
            valid=valid,
            scores=scores,
            full=full,
            file=file,
            image_score=image_score,
            defects=defects,
            notes=notes,
        )

    def summarize(self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Interpreted]) -> ImageSummary:
        """Summarize masks and scores, also where a run refuses these."""
        from segbench.inputs.mask_summaries import summary_of_scores

        return summary_of_scores(self, self, sample, files, interpret)

    def _labelled(self, sample: Sample) -> tuple[BoolArray, BoolArray | None]:
        """Mark which pixels are anomalous, and which count, None for all."""
        import numpy as np

        from segbench.core.levels import refuse_nan

        truth, valid = sample.ground_truths[0], sample.field
        if len(sample.ground_truths) > 1 and not self.defects:
            raise DataError(
                sample.truth_file,
                Message(
                    "several-annotators",
                    "{annotators} annotators, expected one mask",
                    annotators=len(sample.ground_truths),
                ),
                Message(
                    "fix",
                    "{take_one}; of MVTec LOCO give {setting}",
                    take_one=take_one(),
                    setting=Setting("defects", None),
                ),
            )
        if sample.without_truth:
            return np.zeros(truth.shape, np.bool_), valid
        refuse_nan(sample.truth_file, truth)
        valid = where_not_void(truth, self.void, valid)
        if self.defects:
            return np.any(np.array(sample.ground_truths) > 0, axis=0), valid
        anomalous = self.rule.labels(sample.truth_file, truth, valid)
        if self.positive is None and truth.dtype.kind != "b":
            refuse_grey_and_void(sample.truth_file, truth, valid, self.void)
        return anomalous, valid

    @cached_property
    def _scores_in_table(self) -> dict[str, float]:
        """The scores of images by their names, with extensions and without."""
        by_file = {name.replace("\\", "/"): score for name, score in self.image_scores}
        return {PurePosixPath(name).with_suffix("").as_posix(): score for name, score in by_file.items()} | by_file

    def _image_score(self, sample: Sample) -> float | None:
        """Return the score of an image in the table; None without a table."""
        if not self.image_scores:
            return None
        if sample.name not in self._scores_in_table:
            raise DataError(
                sample.predicted_file,
                Message(
                    "no-score",
                    "no score of the image {image!r} in {setting}",
                    image=sample.name,
                    setting=Setting("image_scores", None),
                ),
                Message("fix", "add a row {image},SCORE", image=sample.name),
            )
        return self._scores_in_table[sample.name]


def _scores_of(name: str, prediction: Array, valid: BoolArray | None, quantize: Quantize | None) -> tuple[Array, float]:
    """Return the scores of a map as floats and 0, or levels, to which floats are rounded if wanted, and the highest."""
    import numpy as np

    from segbench.core.levels import are_levels, as_shares, quantized, refuse_unfit_to_round

    if prediction.dtype.kind not in "biuf":
        raise DataError(
            name,
            Message("no-numbers", "scores are of type {dtype}, expected numbers", dtype=str(prediction.dtype)),
            Message("fix", "save the map as an image or NPY"),
        )
    scores = as_shares(prediction, name, valid)
    if scores.dtype.kind == "f" and quantize:
        refuse_unfit_to_round(name, scores, [valid])
        scores = quantized(scores, quantize)
    if are_levels(scores.dtype):
        hard = scores.dtype == np.bool_
        return (scores.view(np.uint8), 1.0) if hard else (scores, float(np.iinfo(scores.dtype).max))
    return scores.astype(np.float32 if scores.dtype.itemsize <= 4 else np.float64, copy=False), 0.0

"""Settings of the anomaly protocol, and how the files of an image become what `count_map` takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from segbench.core import capabilities as can
from segbench.core.arguments import Quantize, as_path, as_quantize, as_real, check_settings, set_fields
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.expected import Expected, ExpectedScores
from segbench.core.messages import NOTHING, Message, Setting
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.options import option, option_like
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Reading, Sample
from segbench.inputs.annotators import take_one
from segbench.inputs.label_rules import (
    Positive,
    notes_on_values,
    numbered_by,
    optional_rule,
    refuse_exchanged,
    rule_option,
    void_values,
    where_not_void,
)
from segbench.inputs.scored_masks import ScoredMasks
from segbench.loaders.reading import MASKS
from segbench.protocols.anomalies.defects import (
    NONZERO,
    DefectRule,
    anomalous_pixels,
    as_defects,
    defects_of,
    read_defects,
)
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray
    from segbench.core.table import Table
    from segbench.protocols.anomalies.counts import AnomalyCounts

Scores = tuple[tuple[str, float], ...]
"""The score of each image by its name."""


def read_scores(table: Any) -> Scores:
    """Read the scores of images from the only other column of a CSV file, or take them from a mapping."""
    source: Setting | str = Setting("image_scores", None)
    if not isinstance(table, Mapping):
        from segbench.loaders.file_list import read_column

        source = as_path(table, source)
        table = read_column(source)
    found = []
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
        found.append((str(name), value))
    return tuple(sorted(found))


@dataclass(frozen=True, kw_only=True)
class Anomalies(
    Protocol, can.ApartByFolder, can.Verb, can.Checked, can.FromFiles, can.MeasuredBySet, can.Prepared, can.Pictured
):
    """Settings of the anomaly protocol.

    Parameters
    ----------
    positive : str, float or sequence of float, optional
        Which ground-truth values are anomalous, as in `Pixels`. None: all above 0, as ``">0"`` says, but masks with
        grey levels or a value that looks like void are refused.
    void : tuple of float
        Ground-truth values of pixels that are left out and counted as ignored; one, or several.
    quantize : {8, 16}, optional
        Round float scores in [0, 1] to levels of 8 or 16 bits, as `Pixels` does: counts of an image are small then.
    image_score : {"max", "top1"}
        The score of an image: the highest of its map, or the mean of the highest 1 % of its pixels.
    image_scores : path, or mapping of str to float, optional
        A CSV file with the name and the score of each image, which replaces `image_score`.
    defects : path, optional
        ``defects_config.json`` of MVTec LOCO, or the folder with one in each category: each ground-truth file is a
        defect, and AU-sPRO takes the place of AUPRO and of the metrics of pixels.

    Raises
    ------
    ArgumentError
        If a setting is out of range, `positive` is not a rule, or the file of scores cannot be read.

    Examples
    --------
    >>> Anomalies(image_score="top1").signature_fields()
    {'positive': '>0', 'void': 'none', 'image_score': 'top1'}
    """

    name: ClassVar[str] = "anomalies"
    reads: ClassVar[Reading] = replace(MASKS, name="anomalies")
    counts = counts_in("segbench.protocols.anomalies.counts", "AnomalyCounts")
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "found",
        State.FALSE: "false alarm",
        State.PARTNER: "missed part of a found component",
        State.MISSED: "missed component",
        State.IGNORED: "left out",
    }
    ranked_beside: ClassVar[str] = "image_score"  # normal images by their strongest false alarm
    title: ClassVar[str] = "Anomaly maps are scored against masks: AUPRO, AUPIMO, AUC-ROC and AP of pixels and images."
    examples: ClassVar[tuple[str, ...]] = (
        "GT PRED -o results.segbench",
        "GT PRED --negatives '*good*'",
        "GT PRED --image-scores scores.csv",
    )

    positive: Positive | None = rule_option(
        "Name the ground-truth values that are anomalous: '>0', 255 or '>=128'.", shown="all above 0"
    )
    void: tuple[float, ...] = option_like(ScoredMasks, "void")
    quantize: Quantize | None = option_like(ScoredMasks, "quantize")
    image_score: Literal["max", "top1"] = option(
        "Score an image by the highest score of its map, or the mean of the highest 1 %.", "max"
    )
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
        check_settings(self)
        if isinstance(self.defects, (str, PathLike)):
            set_fields(self, defects=read_defects(self.defects))
        set_fields(self, defects=as_defects(self.defects), positive=optional_rule(self.positive))
        numbered, several = numbered_by(self.positive), bool(self.defects)
        set_fields(self, reads=replace(self.reads, numbered=numbered, annotators=several))
        set_fields(self, quantize=as_quantize(self.quantize, Setting("quantize", None)), void=void_values(self.void))
        if not isinstance(self.image_scores, tuple):
            set_fields(self, image_scores=read_scores(self.image_scores))

    def signature_fields(self) -> dict[str, str]:
        score: str = self.image_score
        if self.image_scores:
            score = "table-" + hashlib.sha256(repr(self.image_scores).encode()).hexdigest()[:12]
        fields = {
            "positive": str(self.positive or NONZERO),
            "void": written(self.void) or "none",
            "image_score": score,
        }
        if self.defects:
            fields["defects"] = hashlib.sha256(repr(self.defects).encode()).hexdigest()[:12]
        return fields | ({"quantize": str(self.quantize)} if self.quantize else {})

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.anomalies.metrics import METRICS, TOTALS

        if self.defects:
            from segbench.protocols.anomalies.saturated import METRICS as OF_DEFECTS

            return (*OF_DEFECTS, *TOTALS[:3])
        return (*METRICS, *TOTALS)

    def table(self, per_image: Mapping[str, AnomalyCounts], *, of_set: Counts | None = None) -> Table:
        if self.defects:
            from segbench.protocols.anomalies.saturated import DefectTable

            return DefectTable(per_image)
        from segbench.protocols.anomalies.metrics import AnomalyTable

        return AnomalyTable(per_image, cast("AnomalyCounts | None", of_set))

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        Anomalies().count(Sample("compiled", (np.eye(2),), (np.eye(2, dtype=np.float32),)))

    @property
    def expected(self) -> Expected:
        scores = ExpectedScores(unit_range=self.quantize is not None, any_range=self.quantize is None)
        rule, of_masks = DefectRule.parse(self.positive or NONZERO), not self.defects
        unnamed = self.positive is None
        implied = unnamed and of_masks
        return Expected(
            rule=rule, implied=implied, unnamed_rule=unnamed, void=self.void, one_annotator=of_masks, scores=scores
        )

    @property
    def why_not_arrays(self) -> Message:
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
        if not self.defects:
            return self.why_not_arrays
        return Message(
            "files-needed",
            "{setting} takes each file of an image as a defect: evaluate folders with it, or leave it out",
            setting=Setting("defects", None),
        )

    def count(self, sample: Sample) -> Counted:
        from segbench.loaders.repairs import require_same_size
        from segbench.protocols.anomalies.counting import count_map

        if self.positive is None:
            refuse_exchanged(sample)
        anomalous, valid = self._labels(sample)
        file, prediction = sample.predicted_file, sample.predictions[0]
        require_same_size([(sample.truth_file, anomalous.shape), (file, prediction.shape)])
        score: Any = self.image_score
        if self.image_scores:
            known = {name.replace("\\", "/"): one for name, one in self.image_scores}
            known = {PurePosixPath(name).with_suffix("").as_posix(): one for name, one in known.items()} | known
            if sample.name not in known:
                raise DataError(
                    file,
                    Message(
                        "no-score",
                        "no score of the image {image!r} in {setting}",
                        image=sample.name,
                        setting=Setting("image_scores", None),
                    ),
                    Message("fix", "add a row {image},SCORE", image=sample.name),
                )
            score = known[sample.name]
        defects = None
        if self.defects and not sample.without_truth:
            left_out = None if valid is None else ~valid
            defects = partial(defects_of, sample, left_out=left_out, known=self.defects)
        settings = {"quantize": self.quantize, "image_score": score, "defects": defects}
        notes = notes_on_values(self.positive, sample.ground_truths[:1], [(anomalous, valid)], self.void)
        return Counted(count_map(file, anomalous, prediction, valid, **settings), notes=notes)

    def states(self, sample: Sample, threshold: float, counts: AnomalyCounts | None = None) -> NDArray[np.uint8]:
        """Tell false alarms, found pixels, and those missed in found components from components missed as a whole."""
        import numpy as np
        from scipy.ndimage import label

        from segbench.core.levels import rounded
        from segbench.protocols.anomalies.counting import soft_map

        anomalous, valid = self._labels(sample)
        scores, full = soft_map(sample.predicted_file, sample.predictions[0], valid, self.quantize)
        predicted = scores / np.float64(full or 1) >= float(rounded(threshold, self.quantize))
        counted = anomalous if valid is None else anomalous & valid
        components, _ = label(counted, np.ones((3, 3)))
        found = np.isin(components, np.unique(components[counted & predicted]))
        states = np.full(counted.shape, State.NOTHING, np.uint8)
        states[predicted & ~counted] = State.FALSE
        states[counted & predicted] = State.TRUE
        states[counted & ~predicted] = np.where(found, State.PARTNER, State.MISSED)[counted & ~predicted]
        if valid is not None:
            states[~valid] = State.IGNORED
        return states

    def _labels(self, sample: Sample) -> tuple[BoolArray, BoolArray | None]:
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
        return anomalous_pixels(sample.truth_file, truth, valid, self.positive, self.void), valid

"""Settings of the saliency protocol, and how the files of an image become what `count_map` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from segbench.core import capabilities as can
from segbench.core.arguments import check_settings, set_fields
from segbench.core.counts import counts_in
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedScores
from segbench.core.inputs import Facts
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.notes import Note
from segbench.core.numbers import written
from segbench.core.options import option
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Reading, Sample
from segbench.inputs.annotators import only_truth
from segbench.inputs.label_rules import (
    ManyValuesError,
    Positive,
    RuleWithoutVoid,
    half_among,
    numbered_by,
    perhaps_swapped,
    refuse_exchanged,
    rule_option,
    rule_text,
    suggested_without_void,
)
from segbench.loaders.reading import MASKS
from segbench.protocols.states import State, states_of_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.protocols.saliency.counts import SaliencyCounts
    from segbench.protocols.saliency.metrics import SaliencyTable

HALF = ">128"
"""The field's rule, for levels of 8 bits."""


@dataclass(frozen=True)
class MaskRule(RuleWithoutVoid):
    """A rule for levels; masks of one bit are taken as they are."""

    def labels(self, file: str, ground_truth: Array, valid: BoolArray | None = None) -> BoolArray:
        """Mark which pixels are salient; a mask that the rule cannot have been meant for is an error."""
        import numpy as np

        from segbench.core.arrays import distinct

        if ground_truth.dtype.kind == "b":
            return ground_truth
        found, highest = super().labels(file, ground_truth, valid), float(ground_truth.max(initial=0))
        if str(self) == HALF and ground_truth.dtype.kind in "iu" and highest > 255:
            half = int(np.iinfo(ground_truth.dtype).max) * 128 // 255
            if (found != (ground_truth > half)).any():
                problem = Message(
                    "rule-for-8-bits",
                    "levels of {dtype} up to {highest:g}, and the rule {rule} is for 8 bits",
                    dtype=str(ground_truth.dtype),
                    highest=highest,
                    rule=str(self),
                )
                if highest > half:
                    raise DataError(file, problem, _named(f">{half}"))
                raise ManyValuesError(file, problem, distinct(ground_truth).tolist(), suggested_without_void)
        if ground_truth.any() and not found.any():
            few = np.unique(ground_truth).size <= 2
            if few or highest <= 1:
                raise DataError(
                    file,
                    Message(
                        "no-positives",
                        "holds values up to {highest:g}, and the rule {rule} finds nothing salient",
                        highest=highest,
                        rule=str(self),
                    ),
                    perhaps_swapped(ground_truth) + _named(_rule_for(ground_truth)),
                )
        return found

    def note(self, ground_truth: Array, labels: BoolArray) -> tuple[Note, ...]:
        """Say that a mask with other values than 0 has no salient pixel."""
        if labels.any() or not ground_truth.any():
            return ()
        message = Message(
            "nothing-salient", "{side} is not blank, but the rule {rule} finds nothing salient", rule=str(self)
        )
        detail = Message("up-to", "up to {highest:g}", highest=ground_truth.max())
        return (Note(message, "ground truth", detail=detail),)


def _rule_for(ground_truth: Array) -> str:
    """Write a bound for values up to 1: the highest of two, or half of the scale."""
    import numpy as np

    values = np.unique(ground_truth).tolist()
    if len(values) > 2 and values[-1] > 0.5:
        return ">0.5"
    return f">={written(values[-1]) if len(values) <= 2 else half_among(values)}"


def _named(rule: str) -> Message:
    return Message("fix", "name what is salient: {setting}", setting=Setting("positive", rule))


@dataclass(frozen=True, kw_only=True)
class Saliency(Protocol, can.Verb, can.Checked, can.Pictured):
    """Settings of the saliency protocol.

    Parameters
    ----------
    positive : str, float or sequence of float
        Which ground-truth values are salient, as in `Pixels`. The field cuts masks above 128, since many have blurred
        borders. Masks of one bit are taken as they are.
    stretch : bool
        Stretch each map to [0, 1] by its own minimum and maximum, as the field's code does; else levels are divided by
        the maximum of their type, and floats must lie in [0, 1].

    Raises
    ------
    ArgumentError
        If a setting is out of range, or `positive` is not a rule.

    Examples
    --------
    >>> Saliency(stretch=False).signature_fields()
    {'positive': '>128', 'stretch': 'no'}
    """

    name: ClassVar[str] = "saliency"
    reads: ClassVar[Reading] = replace(MASKS, without_field="saliency compares whole images, without a field of view")
    counts = counts_in("segbench.protocols.saliency.counts", "SaliencyCounts")
    states_called: ClassVar[Mapping[int, str]] = {State.TRUE: "true", State.FALSE: "false", State.MISSED: "missed"}
    title: ClassVar[str] = "Saliency maps are compared with masks: S, E, F, weighted F and MAE, averaged over images."
    examples: ClassVar[tuple[str, ...]] = (
        "GT ours=PRED theirs=PRED2 -o results.segbench",
        "GT PRED --no-stretch",
    )

    positive: Positive = rule_option("Name the ground-truth values that are salient: '>128', 255 or 1.", HALF)
    stretch: bool = option("Use maps as they are, instead of stretching each to [0, 1].", True)

    def __post_init__(self) -> None:
        check_settings(self)
        set_fields(self, positive=rule_text(self.positive))
        set_fields(self, reads=replace(self.reads, numbered=numbered_by(self.positive)))

    def signature_fields(self) -> dict[str, str]:
        return {"positive": str(self.positive), "stretch": "yes" if self.stretch else "no"}

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.saliency.metrics import METRICS

        return METRICS

    def table(self, per_image: Mapping[str, SaliencyCounts]) -> SaliencyTable:
        from segbench.protocols.saliency.metrics import SaliencyTable

        return SaliencyTable(per_image)

    @property
    def expected(self) -> Expected:
        scores = ExpectedScores(unit_range=not self.stretch, stretched=self.stretch, pooled=False)
        rule = MaskRule.parse(self.positive)
        return Expected(rule=rule, unnamed_rule=self.positive == HALF, one_annotator=True, scores=scores)

    def require_readable(self, sample: Sample) -> Facts:
        if self.positive == HALF:
            refuse_exchanged(sample)
        self._labels(sample)
        return ()

    def count(self, sample: Sample) -> Counted:
        from segbench.loaders.repairs import require_same_size
        from segbench.protocols.saliency.counting import count_map, doubts_on_logits

        if self.positive == HALF:
            refuse_exchanged(sample)
        labels = self._labels(sample)
        file, prediction = sample.predicted_file, sample.predictions[0]
        require_same_size([(sample.truth_file, labels.shape), (file, prediction.shape)])
        counts = count_map(file, labels, prediction, stretch=self.stretch)
        rule, truth = MaskRule.parse(self.positive), sample.ground_truths[0]
        notes = (*rule.note(truth, labels), *rule.notes(truth, labels, None, None))
        return Counted(counts, notes=(*notes, *(doubts_on_logits(prediction) if self.stretch else ())))

    def states(self, sample: Sample, threshold: float, counts: SaliencyCounts | None = None) -> NDArray[np.uint8]:
        """Mark true, false and missed pixels at a threshold of the stretched map, truncated to 256 levels."""
        return self._pictures(sample, [threshold])[1][0]

    def pictures(self, sample: Sample, counts: SaliencyCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: states, F and E at each threshold."""
        import numpy as np

        from segbench.core.pictures import Pictures
        from segbench.protocols.saliency.counts import UNITS

        places = np.rint(thresholds * 255).astype(np.int64)
        labels, states = self._pictures(sample, thresholds.tolist())
        truth = np.where(labels, 255, 0).astype(np.uint8)
        curves = {"F": counts.f, "E": counts.e}
        return Pictures(
            truth, truth, states=states, metrics={name: curve[places] / UNITS for name, curve in curves.items()}
        )

    def _pictures(self, sample: Sample, cuts: Sequence[float]) -> tuple[BoolArray, list[NDArray[np.uint8]]]:
        """Give the labels, and the states at thresholds of the stretched map, truncated to 256 levels."""
        import numpy as np

        from segbench.protocols.saliency.counting import stretched

        labels = self._labels(sample)
        values = stretched(sample.predicted_file, sample.predictions[0], stretch=self.stretch)
        levels = (values * 255).astype(np.int64)
        return labels, [states_of_labels(labels, levels >= np.rint(cut * 255)) for cut in cuts]

    def _labels(self, sample: Sample) -> BoolArray:
        """Mark which pixels are salient."""
        import numpy as np

        truth = only_truth(sample, "mask")
        file = sample.truth_file
        if sample.field is not None and not sample.field.all():
            raise DataError(
                file,
                Message("field-of-view", "a field of view leaves pixels out, but saliency compares whole images"),
                Message("fix", "leave out {given}", given=Setting("field")),
            )
        if sample.without_truth:
            return np.zeros(truth.shape, np.bool_)
        return MaskRule.parse(self.positive).labels(file, truth)

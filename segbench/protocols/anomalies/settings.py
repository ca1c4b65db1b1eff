"""Settings of the anomaly protocol."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import Quantize, check_settings, option, option_like
from segbench.inputs.anomaly_maps import NONZERO, AnomalyMaps
from segbench.inputs.label_rules import Positive
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.table import Table
    from segbench.protocols.anomalies.counts import AnomalyCounts


@dataclass(frozen=True, kw_only=True)
class Anomalies(Protocol, can.ApartByFolder, can.Verb, can.MeasuredBySet, can.Pictured):
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
    reads: ClassVar[Reading] = AnomalyMaps.reads
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

    positive: Positive | None = option_like(AnomalyMaps, "positive")
    void: tuple[float, ...] = option_like(AnomalyMaps, "void")
    quantize: Quantize | None = option_like(AnomalyMaps, "quantize")
    image_score: Literal["max", "top1"] = option(
        "Score an image by the highest score of its map, or the mean of the highest 1 %.", "max"
    )
    image_scores: Any = option_like(AnomalyMaps, "image_scores")
    defects: Any = option_like(AnomalyMaps, "defects")

    def __post_init__(self) -> None:
        check_settings(self)
        take_settings(self)

    @cached_property
    def inputs(self) -> AnomalyMaps:
        return cast("AnomalyMaps", inputs_of(AnomalyMaps, self))

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
            from segbench.protocols.anomalies.defects import METRICS as OF_DEFECTS

            return (*OF_DEFECTS, *TOTALS[:3])
        return (*METRICS, *TOTALS)

    def table(self, per_image: Mapping[str, AnomalyCounts], *, of_set: Counts | None = None) -> Table:
        if self.defects:
            from segbench.protocols.anomalies.defects import DefectTable

            return DefectTable(per_image)
        from segbench.protocols.anomalies.metrics import AnomalyTable

        return AnomalyTable(per_image, cast("AnomalyCounts | None", of_set))

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        Anomalies().count(Sample("compiled", (np.eye(2),), (np.eye(2, dtype=np.float32),)))

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.anomalies.counting import count_map

        image = self.inputs.interpret(sample)
        return Counted(count_map(image, image_score=self.image_score), notes=image.notes)

    def states(self, sample: Sample, threshold: float, counts: AnomalyCounts | None = None) -> NDArray[np.uint8]:
        """Return the state of each pixel; those missed in found components differ from wholly missed components."""
        import numpy as np
        from scipy.ndimage import label

        from segbench.core.levels import rounded

        image = self.inputs.interpret(sample)
        anomalous, valid = image.anomalous, image.valid
        predicted = image.scores / np.float64(image.full or 1) >= float(rounded(threshold, self.quantize))
        components, _ = label(anomalous, np.ones((3,) * anomalous.ndim))
        in_found_component = np.isin(components, np.unique(components[anomalous & predicted]))
        states = np.full(anomalous.shape, State.NOTHING, np.uint8)
        states[predicted & ~anomalous] = State.FALSE
        states[anomalous & predicted] = State.TRUE
        states[anomalous & ~predicted & in_found_component] = State.PARTNER
        states[anomalous & ~predicted & ~in_found_component] = State.MISSED
        if valid is not None:
            states[~valid] = State.IGNORED
        return states

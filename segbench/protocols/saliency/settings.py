"""Settings of the saliency protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import counts_in
from segbench.core.metric import Metric
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import option_like
from segbench.inputs.label_rules import Positive
from segbench.inputs.saliency_maps import SaliencyMaps
from segbench.protocols.states import State, states_of_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.protocols.saliency.counts import SaliencyCounts
    from segbench.protocols.saliency.metrics import SaliencyTable


@dataclass(frozen=True, kw_only=True)
class Saliency(Protocol, can.Verb, can.Pictured):
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
    reads: ClassVar[Reading] = SaliencyMaps.reads
    counts = counts_in("segbench.protocols.saliency.counts", "SaliencyCounts")
    states_called: ClassVar[Mapping[int, str]] = {State.TRUE: "true", State.FALSE: "false", State.MISSED: "missed"}
    title: ClassVar[str] = "Saliency maps are compared with masks: S, E, F, weighted F and MAE, averaged over images."
    examples: ClassVar[tuple[str, ...]] = (
        "GT ours=PRED theirs=PRED2 -o results.segbench",
        "GT PRED --no-stretch",
    )

    positive: Positive = option_like(SaliencyMaps, "positive")
    stretch: bool = option_like(SaliencyMaps, "stretch")

    def __post_init__(self) -> None:
        take_settings(self)

    @cached_property
    def inputs(self) -> SaliencyMaps:
        return cast("SaliencyMaps", inputs_of(SaliencyMaps, self))

    def signature_fields(self) -> dict[str, str]:
        return {"positive": str(self.positive), "stretch": "yes" if self.stretch else "no"}

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.saliency.metrics import METRICS

        return METRICS

    def table(self, per_image: Mapping[str, SaliencyCounts]) -> SaliencyTable:
        from segbench.protocols.saliency.metrics import SaliencyTable

        return SaliencyTable(per_image)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.saliency.counting import count_map

        image = self.inputs.interpret(sample)
        return Counted(count_map(image), notes=image.notes)

    def states(self, sample: Sample, threshold: float, counts: SaliencyCounts | None = None) -> NDArray[np.uint8]:
        """Return the state of each pixel at a threshold of the stretched map, truncated to 256 levels."""
        return self._pictures(sample, [threshold])[1][0]

    def pictures(self, sample: Sample, counts: SaliencyCounts, thresholds: FloatArray) -> Pictures:
        """Return an image for the report page: states, F and E at each threshold."""
        import numpy as np

        from segbench.core.pictures import Pictures
        from segbench.protocols.saliency.counts import UNITS

        levels = np.rint(thresholds * 255).astype(np.int64)
        salient, states = self._pictures(sample, thresholds.tolist())
        truth = np.where(salient, 255, 0).astype(np.uint8)
        metrics = {"F": counts.f[levels] / UNITS, "E": counts.e[levels] / UNITS}
        return Pictures(truth, truth, states=states, metrics=metrics)

    def _pictures(self, sample: Sample, thresholds: Sequence[float]) -> tuple[BoolArray, list[NDArray[np.uint8]]]:
        """Return which pixels are salient, and their states at thresholds of the stretched map, cut to 256 levels."""
        import numpy as np

        image = self.inputs.interpret(sample)
        levels = (image.scores_of_pixels() * 255).astype(np.int64)
        states = [states_of_labels(image.salient, levels >= np.rint(threshold * 255)) for threshold in thresholds]
        return image.salient, states

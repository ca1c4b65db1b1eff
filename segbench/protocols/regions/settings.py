"""Settings of the region protocol; begin with `Regions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import counts_in
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import option, option_like, read_thresholds, set_fields
from segbench.inputs.region_maps import RegionMaps
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.inputs.region_maps import RegionImage
    from segbench.protocols.regions.counts import RegionCounts
    from segbench.protocols.regions.metrics import RegionTable


@dataclass(frozen=True, kw_only=True)
class Regions(Protocol, can.Verb, can.Official, can.Pictured):
    """Settings of the region protocol of BSDS500.

    Parameters
    ----------
    thresholds : int or tuple of float
        A number K or rising thresholds, of a ``ucm2``, as in `Boundaries`. Not used for label maps.
    void : tuple of int
        Ground-truth labels that are left out, one or several, for instance 0 where it is unlabelled. Pixels outside a
        field of view are left out, too.

    Raises
    ------
    ArgumentError
        If a setting is out of range.

    Examples
    --------
    >>> Regions(void=(0,)).signature_fields()
    {'thresholds': '99', 'void': '0'}
    """

    name: ClassVar[str] = "regions"
    reads: ClassVar[Reading] = RegionMaps.reads
    counts = counts_in("segbench.protocols.regions.counts", "RegionCounts")
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "covered by the region's best match",
        State.FALSE: "in the best match of another region",
        State.MISSED: "in a fragment that matches no region",
        State.IGNORED: "left out",
    }
    title: ClassVar[str] = (
        "Predicted regions are compared with those of each annotator: covering, Rand index, variation of information."
    )
    examples: ClassVar[tuple[str, ...]] = ("GT PRED -o results.segbench",)

    thresholds: int | tuple[float, ...] = option(
        "Cut a ucm2 at this number of thresholds, or at those listed: 0.25,0.5.",
        99,
        metavar="NUMBER|LIST",
        read=read_thresholds,
        example="0.25,0.5",
    )
    void: tuple[int, ...] = option_like(RegionMaps, "void")

    def __post_init__(self) -> None:
        from segbench.inputs.lines import number_or_list

        set_fields(self, thresholds=number_or_list(self.thresholds))
        take_settings(self)

    @cached_property
    def inputs(self) -> RegionMaps:
        return cast("RegionMaps", inputs_of(RegionMaps, self))

    def signature_fields(self) -> dict[str, str]:
        return {"thresholds": written(self.thresholds), "void": written(self.void) or "none"}

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.regions.metrics import METRICS

        return METRICS

    def table(self, per_image: Mapping[str, RegionCounts]) -> RegionTable:
        from segbench.protocols.regions.metrics import RegionTable

        return RegionTable(per_image)

    def official_files(self, per_image: Mapping[str, RegionCounts]) -> dict[str, str]:
        from segbench.protocols.regions.metrics import official_files

        return official_files(per_image)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.regions.counting import count_regions

        return Counted(count_regions(self.inputs.interpret(sample)))

    def pictures(self, sample: Sample, counts: RegionCounts, thresholds: FloatArray) -> Pictures:
        """Return an image for the report page: outlines and states of the regions at each threshold."""
        import numpy as np

        from segbench.core.pictures import Pictures, outline
        from segbench.protocols.regions.metrics import region_curve

        image = self.inputs.interpret(sample)
        truth = outline(image.truths[0])
        curve = region_curve(counts)
        indices = np.searchsorted(counts.thresholds, thresholds)
        predicted = _predicted_at(image, thresholds.tolist())
        return Pictures(
            truth,
            truth,
            states=_states(image, predicted),
            outlines=[outline(regions) for regions in predicted],
            metrics={name: values[indices] for name, values in curve.levels.items()},
        )

    def states(self, sample: Sample, threshold: float, counts: RegionCounts | None = None) -> NDArray[np.uint8]:
        """Return the state of each pixel against the first annotator at a threshold; see `region_states`."""
        image = self.inputs.interpret(sample)
        return _states(image, _predicted_at(image, [threshold]))[0]


def _predicted_at(image: RegionImage, thresholds: Sequence[float]) -> list[Array]:
    """Return the predicted regions at each threshold, as labels from 0."""
    from segbench.protocols.regions.counting import hierarchies_of, regions_at

    hierarchies = hierarchies_of(image)
    return [regions_at(hierarchies, image.thresholds, threshold) for threshold in thresholds]


def _states(image: RegionImage, predicted: Sequence[Array]) -> list[NDArray[np.uint8]]:
    """Return the states against the first annotator of the regions predicted at each threshold."""
    import numpy as np

    from segbench.protocols.regions.counting import dense, region_states

    truth, _ = dense(image.truths[0])
    kept = np.ones(truth.shape, np.bool_) if image.kept[0] is None else image.kept[0]
    return [region_states(regions, truth, kept) for regions in predicted]

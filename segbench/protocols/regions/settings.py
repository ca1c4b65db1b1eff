"""Settings of the region protocol, and how the files of an image become what it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from segbench.core import capabilities as can
from segbench.core.arguments import set_fields
from segbench.core.counts import counts_in
from segbench.core.errors import DataError
from segbench.core.expected import Expected
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.options import option, read_thresholds
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Reading, Sample
from segbench.inputs.label_rules import void_labels, void_option
from segbench.loaders.reading import REGIONS
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.protocols.regions.counts import RegionCounts
    from segbench.protocols.regions.metrics import RegionTable


@dataclass(frozen=True, kw_only=True)
class Regions(Protocol, can.Verb, can.Checked, can.Official, can.Pictured):
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
    reads: ClassVar[Reading] = REGIONS
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
    void: tuple[int, ...] = void_option(
        "Leave out pixels with these ground-truth labels: 0, or 0,255.", (), shown="none", metavar="LABELS"
    )

    def __post_init__(self) -> None:
        from segbench.inputs.lines import number_or_list

        set_fields(self, thresholds=number_or_list(self.thresholds), void=void_labels(self.void, least=0))

    def signature_fields(self) -> dict[str, str]:
        return {"thresholds": written(self.thresholds), "void": written(self.void) or "none"}

    @property
    def expected(self) -> Expected:
        return Expected()

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

        settings: dict[str, Any] = {"thresholds": self.thresholds, "void": self.void, "valid": sample.field}
        try:
            return Counted(count_regions(sample.ground_truths, sample.predictions, **settings))
        except DataError as error:
            raise DataError(_file_of(sample, error.path), error.what, error.hint) from error

    def pictures(self, sample: Sample, counts: RegionCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: outlines and states of the regions at each threshold."""
        import numpy as np

        from segbench.core.pictures import Pictures, outline
        from segbench.protocols.regions.metrics import region_curve

        truth = outline(sample.ground_truths[0])
        curve = region_curve(counts)
        places = np.searchsorted(counts.thresholds, thresholds)
        predicted = self.regions(sample, thresholds.tolist())
        return Pictures(
            truth,
            truth,
            states=[self._states_of(sample, regions) for regions in predicted],
            outlines=[outline(regions) for regions in predicted],
            metrics={name: values[places] for name, values in curve.levels.items()},
        )

    def states(self, sample: Sample, threshold: float, counts: RegionCounts | None = None) -> NDArray[np.uint8]:
        """Mark where the first annotator's regions were found at a threshold; see `region_states`."""
        return self._states_of(sample, self.regions(sample, [threshold])[0])

    def _states_of(self, sample: Sample, regions: Array) -> NDArray[np.uint8]:
        import numpy as np

        from segbench.protocols.regions.counting import dense, region_states

        truth, _ = dense(sample.ground_truths[0])
        kept = ~np.isin(sample.ground_truths[0], np.asarray(self.void))
        return region_states(regions, truth, kept if sample.field is None else kept & sample.field)

    def regions(self, sample: Sample, thresholds: Sequence[float]) -> list[Array]:
        """Give the predicted regions at each of some thresholds, as labels from 0; raises as `states`."""
        from segbench.protocols.regions.counting import hierarchies_of, regions_at

        hierarchies, cuts = hierarchies_of(sample.predictions, sample.ground_truths[0].shape, self.thresholds)
        return [regions_at(hierarchies, cuts, threshold) for threshold in thresholds]


def _file_of(sample: Sample, name: str) -> str:
    """Name the file in which the array lies."""
    if not name.startswith("ground truth"):
        return sample.predicted_file
    which = name.rpartition(" ")[2]
    return sample.truth_files[int(which)] if which.isdecimal() else sample.truth_file

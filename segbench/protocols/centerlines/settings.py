"""Settings of the centerlines protocol: which masks are compared, and by which skeleton."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample, refuse_other_dimensions
from segbench.core.settings import check_settings, option, option_like, set_fields
from segbench.inputs.cut_masks import CONNECTIVITY, CONNECTIVITY_OF_VOLUMES, CutMasks
from segbench.inputs.label_rules import Positive
from segbench.loaders.reading import MASKS
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.inputs.mask_pairs import MaskPair
    from segbench.protocols.centerlines.counts import CenterlineCounts
    from segbench.protocols.centerlines.metrics import CenterlineTable

Skeleton: TypeAlias = Literal["zhang", "lee", "thin", "medial-axis"]

_LEE, _DEFAULT = "lee", "zhang"
_MASKS = replace(MASKS, name="centerlines", part="Segmentation")  # a boundary has the centerlines of no object


@dataclass(frozen=True, kw_only=True)
class Centerlines(Protocol, can.Verb, can.FromCounts, can.Pictured):
    """Settings of the centerlines protocol: predictions are masks, or soft maps with `at` or `thresholds`.

    Parameters
    ----------
    at : float, optional
        Predictions are soft maps, and scores of at least this belong to the mask.
    thresholds : int or tuple of float, optional
        Predictions are soft maps, cut at a number of thresholds or at those listed, as in `Boundaries`.
    skeleton : {"zhang", "lee", "thin", "medial-axis"}
        The method of the skeletons: Zhang's and Lee's as ``skimage.morphology.skeletonize`` has them, that of
        `segbench.thin`, or of ``skimage.morphology.medial_axis``. clDice differs in the second decimal. Volumes have
        Lee's.
    connectivity : {8, 4, 26, 6}
        Which pixels of a component touch: at edges and corners, or at edges alone. Background is the other way round.
        Of volumes 26 in place of 8, and 6 in place of 4.
    positive : str, float or sequence of float, optional
        Which ground-truth values belong to the mask, as in `Pixels`. None: 0 does not, the only other does.
    void : sequence of int
        Ground-truth values of pixels that are background in both masks.

    Raises
    ------
    ArgumentError
        If a setting is out of range, or `at` and `thresholds` are both given.

    Examples
    --------
    >>> Centerlines(skeleton="lee", at=0.5).signature_fields()["skeleton"]
    'lee'
    """

    name: ClassVar[str] = "centerlines"
    reads: ClassVar[Reading] = _MASKS
    takes_volumes: ClassVar[bool] = True
    counts = counts_in("segbench.protocols.centerlines.counts", "CenterlineCounts")
    title: ClassVar[str] = "Centerlines of masks are compared: clDice and its parts, Betti and Euler errors."
    examples: ClassVar[tuple[str, ...]] = ("GT PRED --at 0.5", "GT PRED --thresholds 19 --skeleton lee")
    draws_lines: ClassVar[bool] = True
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "predicted centerline in the true mask",
        State.FALSE: "predicted centerline outside",
        State.PARTNER: "true centerline in the predicted mask",
        State.MISSED: "true centerline outside",
    }

    at: float | None = option_like(CutMasks, "at")
    thresholds: int | tuple[float, ...] | None = option_like(CutMasks, "thresholds")
    skeleton: Skeleton = option("Choose the method of the skeletons.", "zhang")
    connectivity: Literal[8, 4, 26, 6] = option(default=8, **CONNECTIVITY)
    positive: Positive | None = option_like(CutMasks, "positive")
    void: Sequence[int] = option_like(CutMasks, "void")

    def __post_init__(self) -> None:
        check_settings(self)
        if self.of_volumes:
            self._take_skeleton_of_volumes()
        take_settings(self)

    def _take_skeleton_of_volumes(self) -> None:
        """Take Lee's skeleton in place of Zhang's, which is the default; others are for images."""
        if self.skeleton not in (_LEE, _DEFAULT):
            raise ArgumentError(
                Message(
                    "not-of-volumes",
                    "{given} is a skeleton of images, and volumes have Lee's; give {skeleton}, or leave it out",
                    given=Setting("skeleton", self.skeleton),
                    skeleton=Setting("skeleton", _LEE),
                )
            )
        set_fields(self, skeleton=_LEE)

    @property
    def of_volumes(self) -> bool:
        """Whether voxels touch, and not pixels."""
        return self.connectivity in CONNECTIVITY_OF_VOLUMES.values()

    def for_volumes(self, *, with_header: bool = False) -> Self:
        """Return the protocol that measures volumes; spacings do not matter."""
        del with_header
        connectivity = CONNECTIVITY_OF_VOLUMES.get(self.connectivity, self.connectivity)
        return replace(self, connectivity=cast("Literal[26, 6]", connectivity))

    @cached_property
    def inputs(self) -> CutMasks:
        """A mask, and a predicted one or a soft map."""
        soft = self.at is not None or self.thresholds is not None
        reads = replace(_MASKS, levels=soft)  # masks may be of any type
        inputs: CutMasks = inputs_of(CutMasks, self, reads=reads, no_volumes="")
        return inputs

    def signature_fields(self) -> dict[str, str]:
        signature = {
            "skeleton": str(self.skeleton),
            "connectivity": str(self.connectivity),
            "positive": str(self.positive or "nonzero").replace(" ", ""),
            "void": written(self.void) or "none",
        }
        if self.at is not None:
            signature["at"] = written(self.at)
        if self.thresholds is not None:
            signature["thresholds"] = written(self.thresholds)
        return signature

    @classmethod
    def measuring(cls, counts: Counts) -> Centerlines:
        thresholds = cast("CenterlineCounts", counts).thresholds.tolist()
        of_volumes = cast("CenterlineCounts", counts).of_volumes
        return cls(thresholds=tuple(thresholds) if len(thresholds) > 1 else None, connectivity=26 if of_volumes else 8)

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.centerlines.metrics import METRICS, METRICS_OF_VOLUMES, at_best

        metrics = METRICS_OF_VOLUMES if self.of_volumes else METRICS
        return metrics if self.thresholds is None else at_best(metrics)

    def table(self, per_image: Mapping[str, CenterlineCounts]) -> CenterlineTable:
        from segbench.protocols.centerlines.metrics import CenterlineTable

        return CenterlineTable(per_image, self.metrics())

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        mask = np.ones((3, 3, 3) if self.of_volumes else (3, 3), np.bool_)
        self.count(Sample("compiled", (mask,), (mask,), volume=self.of_volumes))

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.centerlines.counting import count_masks, count_volumes

        masks: MaskPair = self.inputs.interpret(sample)
        maps = masks.truth, masks.predicted, masks.thresholds
        self.refuse_unfit(sample)
        if self.of_volumes:
            counts = count_volumes(*maps, connectivity=self.connectivity, affine=sample.affine)
        else:
            counts = count_masks(*maps, skeleton=self.skeleton, connectivity=self.connectivity)
        return Counted(counts, masks.facts, masks.notes)

    def refuse_unfit(self, sample: Sample) -> None:
        refuse_other_dimensions(sample, Setting("connectivity", self.connectivity) if self.of_volumes else None)

    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:
        """Mark which pixels of both centerlines lie in the other mask, at a threshold of soft maps over thresholds."""
        return self._states(sample, self.inputs.interpret(sample), [threshold])[0]

    def pictures(self, sample: Sample, counts: CenterlineCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: its centerlines at each threshold."""
        import numpy as np

        from segbench.core.levels import scores_of
        from segbench.core.pictures import Pictures

        masks: MaskPair = self.inputs.interpret(sample)
        truth = np.where(masks.truth, 255, 0).astype(np.uint8)
        index = np.searchsorted(counts.thresholds, thresholds) if self.thresholds is not None else [0]
        scores = scores_of(sample.predictions[0]).reshape(truth.shape)
        soft = np.rint(255 * np.clip(scores, 0, 1)).astype(np.uint8)
        return Pictures(
            truth,
            truth,
            states=self._states(sample, masks, thresholds.tolist()),
            soft=soft if self.inputs.soft else None,
            metrics={"clDice": counts.cldice[index], "P": counts.precision[index], "R": counts.sensitivity[index]},
        )

    def _states(self, sample: Sample, masks: MaskPair, cuts: Sequence[float]) -> list[NDArray[np.uint8]]:
        """Return the states at some thresholds; of masks and with `at` there is one, whatever they are."""
        import numpy as np

        predicted_masks = masks.predicted if self.thresholds is None else masks.at_scores(cuts)
        true_line = self._skeleton_of(masks.truth, sample)
        states_at_cuts = []
        for predicted in predicted_masks:
            predicted_line = self._skeleton_of(predicted, sample)
            states = np.full(masks.truth.shape, State.NOTHING, np.uint8)
            states[true_line] = np.where(predicted[true_line], State.PARTNER, State.MISSED)
            states[predicted_line] = np.where(masks.truth[predicted_line], State.TRUE, State.FALSE)
            states_at_cuts.append(states)
        return states_at_cuts

    def _skeleton_of(self, mask: BoolArray, sample: Sample) -> BoolArray:
        """Return the skeleton of a mask of an image or a volume."""
        if mask.ndim == 2:
            from segbench.protocols.centerlines.skeletons import skeleton_of

            return skeleton_of(mask, self.skeleton)
        from segbench.protocols.centerlines.volumes import skeleton_of_volume

        return skeleton_of_volume(mask, sample.affine)

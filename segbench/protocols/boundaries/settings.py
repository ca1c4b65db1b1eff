"""Settings of the boundary protocol: of methods (`Boundaries`), and of annotators among each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    check_settings,
    listed,
    option,
    option_like,
    read_numbers,
    read_thresholds,
    set_fields,
)
from segbench.inputs.boundary_maps import AnnotatorMaps, BoundaryMaps, RegionBoundaries, SoftBoundaries
from segbench.inputs.label_rules import Positive
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.protocols.boundaries.counts import BoundaryCounts
    from segbench.protocols.boundaries.metrics import BoundaryTable

TIES = "hash1"
"""Version of the rule that settles ties between matchings; see `match_boundaries`."""


_MOST_DIST = 0.2
"""Of the diagonal: ten times the largest tolerance in use, that of SBD."""
_OF_CRISPNESS: Mapping[str, Any] = {"radius": 2, "border": 5, "multiplier": 1.01, "smoothing": 0}


class _OfBoundaries(Protocol, can.Importable):
    """What methods and annotators have in common."""

    name: ClassVar[str] = "boundaries"
    counts = counts_in("segbench.protocols.boundaries.counts", "BoundaryCounts")
    title: ClassVar[str] = "Boundary pixels are matched one to one with each annotator's, within a tolerance."

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.boundaries.metrics import METRICS

        return METRICS

    @classmethod
    def published(cls, text: str) -> can.Published:
        """Read a published curve from JSON."""
        from segbench.protocols.boundaries.official import PublishedCurve

        return PublishedCurve.from_json(text)


@dataclass(frozen=True, kw_only=True)
class Boundaries(_OfBoundaries, can.Official, can.Verb, can.Companions, can.Pictured):
    """Settings of the boundary protocol of BSDS500.

    Parameters
    ----------
    max_dist : float or str
        Tolerance as a fraction of the image's diagonal: .0075 for BSDS500, .011 for NYUDv2, .02 for SBD; or in pixels
        up to 1000, the same for images of all sizes, as papers on cracks state it: ``"2px"``.
    thresholds : int or tuple of float
        A number K from 1 to 65535 for ``linspace(1 / (K + 1), 1 - 1 / (K + 1), K)``, as in the official code (up to the
        last bit ``k / (K + 1)``), or rising thresholds. `area_pr` depends on it. Not used for ``segs``.
    thin : bool
        Whether the map of each threshold is thinned first.
    nms : tuple of (int, int, float), optional
        Radius, border and multiplier of non-maximum suppression before anything else, as in `segbench.nms`, for the
        thick maps of networks: ``(1, 5, 1.01)``. None for none.
    smoothing : int
        Radius of the triangle filter run over the map before suppression, in pixels, from 0 to 100.
    positive : str, float or sequence of float, optional
        Which values of a ground-truth image are boundary, as in `Pixels`. None: the image holds 0 and at most one
        other value. Not used for ``.mat`` files.
    label_maps : bool
        Whether ground-truth images are label maps and their boundaries count, by BSDS500's double-grid rule.
    thin_ground_truth : bool
        Thin the ground truth, too, where lines are drawn thick: otherwise most of their pixels are missed.
    invert : bool
        Low predictions mean boundary (black on white).
    crispness : bool
        Measure how crisp maps are: the sum of a map after suppression (2, 5, 1.01, without smoothing) divided by the
        sum before, averaged over images.
    category : int, optional
        Which category counts, from 1, where ground truth holds boundaries category by category (``GTcls`` of SBD).

    Raises
    ------
    ArgumentError
        If a setting is out of range.

    Examples
    --------
    >>> Boundaries(nms=(1, 5, 1.01)).signature_fields()["nms"]
    '1,5,1.01,smoothing 1'
    """

    reads: ClassVar[Reading] = BoundaryMaps.reads
    draws_lines: ClassVar[bool] = True
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "true",
        State.FALSE: "false",
        State.MISSED: "missed",
        State.PARTNER: "ground truth that was found nearby",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "GT PRED --gt-pattern '*.#' --nms 1,5,1.01",
        "GT PRED --thresholds 9 --human",
    )

    max_dist: float | str = option(
        "Set the tolerance: a fraction of the image's diagonal, or pixels, 2px.", 0.0075, metavar="SHARE|PX", read=str
    )
    thresholds: int | tuple[float, ...] = option(
        "Set the number of thresholds, or list them: 0.25,0.5.",
        99,
        metavar="NUMBER|LIST",
        read=read_thresholds,
        example="0.25,0.5",
    )
    thin: bool = option("Do not thin the thresholded maps.", True)
    nms: tuple[int, int, float] | None = option(
        "Apply non-maximum suppression to thick maps first: radius,border,multiplier, as in 1,5,1.01.",
        metavar="R,B,M",
        read=read_numbers,
        example="1,5,1.01",
    )
    smoothing: int = 1
    positive: Positive | None = option_like(BoundaryMaps, "positive")
    label_maps: bool = option_like(BoundaryMaps, "label_maps")
    thin_ground_truth: bool = option_like(BoundaryMaps, "thin_ground_truth")
    invert: bool = option_like(BoundaryMaps, "invert")
    crispness: bool = option("Measure how much of each map suppression leaves (crispness).", False, rare=True)
    category: int | None = option_like(BoundaryMaps, "category")

    def __post_init__(self) -> None:
        from segbench.inputs.lines import as_radius, as_suppression, as_tolerance, number_or_list

        check_settings(self)
        set_fields(self, max_dist=as_tolerance(self.max_dist), thresholds=number_or_list(self.thresholds))
        if not isinstance(self.max_dist, str) and self.max_dist > _MOST_DIST:
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "{argument} is {value:g} of the diagonal, expected at most {expected}; "
                    "0.75 % is 0.0075, and 2px are 2 pixels",
                    argument=Setting("max_dist", None),
                    value=self.max_dist,
                    expected=_MOST_DIST,
                )
            )
        set_fields(self, smoothing=as_radius(self.smoothing, "smoothing"))
        if self.nms is not None:
            suppression = listed(self.nms, "nms", "(1, 5, 1.01)")
            if len(suppression) != 3:
                raise ArgumentError(
                    Message(
                        "wrong-value",
                        "{argument} is {value}, expected radius,border,multiplier as in 1,5,1.01",
                        argument=Setting("nms", None),
                        value=repr(self.nms),
                    )
                )
            set_fields(self, nms=as_suppression(*suppression))
        take_settings(self)

    @cached_property
    def inputs(self) -> BoundaryMaps:
        return cast("BoundaryMaps", inputs_of(BoundaryMaps, self))

    def signature_fields(self) -> dict[str, str]:
        suppression = f"{written(self.nms)},smoothing {self.smoothing}" if self.nms else "no"
        ground_truth = "label maps" if self.label_maps else str(self.positive or "nonzero")
        fields = {
            "max_dist": self.max_dist if isinstance(self.max_dist, str) else written(self.max_dist),
            "thresholds": written(self.thresholds),
            "thin": "yes" if self.thin else "no",
            "nms": suppression,
            "ground_truth": ground_truth,
            "invert": "yes" if self.invert else "no",
            "ties": TIES,
        }
        fields |= {name: "yes" for name in ("crispness", "thin_ground_truth") if getattr(self, name)}
        return fields if self.category is None else fields | {"category": str(self.category)}

    def table(self, per_image: Mapping[str, BoundaryCounts]) -> BoundaryTable:
        from segbench.protocols.boundaries.metrics import BoundaryTable

        return BoundaryTable(per_image, crispness=self.crispness)

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.boundaries.metrics import CRISPNESS

        return (*super().metrics(), CRISPNESS) if self.crispness else super().metrics()

    def crisp_pair(self) -> tuple[Protocol, Protocol]:
        """Return these settings, and those without suppression and thinning; both measure crispness."""
        return replace(self, crispness=True), replace(self, crispness=True, nms=None, thin=False)

    def prepare(self, say: Callable[[str], None]) -> None:
        from segbench.protocols.boundaries.counting import compile_kernels, kernels_cached

        if not kernels_cached():
            say("compiling for this machine, once ...")
            compile_kernels()

    def official_files(self, per_image: Mapping[str, BoundaryCounts]) -> dict[str, str]:
        from segbench.protocols.boundaries.official import official_files

        return official_files(per_image)

    def annotators_alone(self) -> Protocol:
        return Annotators(settings=self)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.boundaries.counting import count_boundaries, count_boundary_maps

        image = self.inputs.interpret(sample)
        truths = self.lines(image.drawn)
        if isinstance(image, RegionBoundaries):
            counts = count_boundary_maps(image.predicted, truths, max_dist=self.max_dist, thin=self.thin)
            return Counted(counts, notes=image.notes)
        try:
            scores, stored = self._suppressed(image)
            if self.nms is not None:
                self.inputs.require_fit(scores)
            settings: dict[str, Any] = {"max_dist": self.max_dist, "thin": self.thin}
            counts = count_boundaries(truths, scores, stored, thresholds=self.thresholds, **settings)
            if self.crispness:
                crispness, measured = _crispness(image)
                counts = replace(counts, crispness=crispness, maps=measured)
        except DataError as error:
            raise DataError(sample.predicted_file, error.what, error.hint) from error
        return Counted(counts, notes=image.notes)

    def lines(self, drawn: Sequence[BoolArray]) -> Sequence[BoolArray]:
        """Return the lines of each annotator, thinned if the settings say so."""
        if not self.thin_ground_truth:
            return drawn
        from segbench.imaging.thinning import thin

        return [thin(boundaries) for boundaries in drawn]

    def pictures(self, sample: Sample, counts: BoundaryCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: boundaries matched at each threshold, and the share of annotators."""
        import numpy as np

        from segbench.core.pictures import Pictures
        from segbench.protocols.boundaries.curve import boundary_curve

        image = self.inputs.interpret(sample)
        truth = np.rint(255 * np.mean(self.lines(image.drawn), axis=0)).astype(np.uint8)
        curve = boundary_curve(counts)
        index = np.minimum(np.searchsorted(counts.thresholds, thresholds), len(counts.thresholds) - 1)
        soft = None if isinstance(image, RegionBoundaries) else np.clip(self._suppressed(image)[0], 0, 1)
        return Pictures(
            truth,
            truth,
            states=self._states(image, thresholds.tolist()),
            soft=None if soft is None else np.rint(255 * soft).astype(np.uint8),
            metrics={"P": curve.precision[index], "R": curve.recall[index], "F": curve.f[index]},
        )

    def states(self, sample: Sample, threshold: float, counts: BoundaryCounts | None = None) -> NDArray[np.uint8]:
        """Mark found, false and missed pixels at a threshold, of label maps the place of one of them, from 1."""
        return self._states(self.inputs.interpret(sample), [threshold])[0]

    def _states(self, image: SoftBoundaries | RegionBoundaries, cuts: Sequence[float]) -> list[NDArray[np.uint8]]:
        """Mark found, false and missed pixels at some thresholds, see `states`."""
        from segbench.core.levels import in_type_of
        from segbench.protocols.boundaries.matching import boundary_states

        if isinstance(image, RegionBoundaries):
            maps = [image.predicted[int(cut) - 1] for cut in cuts]
        else:
            scores, stored = self._suppressed(image)
            maps = [scores >= cut for cut in in_type_of(stored, cuts)]
        lines = self.lines(image.drawn)
        return [boundary_states(predicted, lines, max_dist=self.max_dist, thin=self.thin) for predicted in maps]

    def _suppressed(self, image: SoftBoundaries) -> tuple[FloatArray, np.dtype[Any]]:
        """Return the scores that are cut, suppressed if the settings say so, and the type of which thresholds are."""
        if self.nms is None:
            return image.scores, image.soft.dtype
        from segbench.protocols.boundaries.suppression import nms

        radius, border, multiplier = self.nms
        scores = nms(image.scores, radius=radius, border=border, multiplier=multiplier, smoothing=self.smoothing)
        return scores, scores.dtype


def _crispness(image: SoftBoundaries) -> tuple[int, int]:
    """Measure what suppression leaves of a map, and count it; a blank one does not count."""
    from segbench.core.arrays import MEAN_UNITS
    from segbench.core.levels import scores_of
    from segbench.protocols.boundaries.suppression import nms

    soft = scores_of(image.soft)
    sum_before = float(soft.sum())
    if sum_before <= 0:
        return 0, 0
    sum_after = float(nms(soft, **_OF_CRISPNESS).sum())
    return round(sum_after / sum_before * MEAN_UNITS), 1


@dataclass(frozen=True, kw_only=True)
class Annotators(_OfBoundaries):
    """The human point: each annotator's boundaries as a prediction, against all others.

    Parameters
    ----------
    settings : Boundaries
        Tolerance, thinning and ground truth as for the methods beside it; thresholds and suppression do not matter.

    Examples
    --------
    >>> from segbench import evaluate
    >>> human = Annotators(settings=Boundaries())
    >>> result = evaluate("datasets/demo/edges/ground_truth", protocol=human, gt_pattern="*.#")
    >>> round(result.summary["ods_f"], 4), [*map(str, result.notes)]
    (0.9172, ['images with one annotator are left out (6 of 9 images)'])
    """

    reads: ClassVar[Reading] = AnnotatorMaps.reads
    instead_of_competing: ClassVar[str] = "compares annotators with each other"
    settings: Boundaries

    @cached_property
    def inputs(self) -> AnnotatorMaps:
        return AnnotatorMaps(boundaries=self.settings.inputs)

    def signature_fields(self) -> dict[str, str]:
        """Name the settings that the point depends on."""
        fields = replace(self.settings, nms=None, invert=False, crispness=False).signature_fields()
        return fields | {"thresholds": "annotators"}

    def table(self, per_image: Mapping[str, BoundaryCounts]) -> BoundaryTable:
        """Lay out the counts of the images that compare at least two annotators; the others add nothing."""
        from segbench.protocols.boundaries.metrics import BoundaryTable

        return BoundaryTable(per_image, with_pixels_only=True)

    def count(self, sample: Sample) -> Counted:
        """Count every annotator of an image against the others; an image of one annotator counts nothing."""
        import numpy as np

        from segbench.protocols.boundaries.counting import count_boundary_maps
        from segbench.protocols.boundaries.counts import BoundaryCounts

        image = self.inputs.interpret(sample)
        truths = [*self.settings.lines(image.drawn)]
        nothing = BoundaryCounts(np.ones(1), *np.zeros((4, 1), np.int64))
        if len(truths) == 1:
            return Counted(nothing, notes=image.notes)
        counts = [nothing]
        settings: dict[str, Any] = {"max_dist": self.settings.max_dist, "thin": self.settings.thin}
        for annotator, truth in enumerate(truths):
            others = truths[:annotator] + truths[annotator + 1 :]
            counts.append(count_boundary_maps([truth], others, **settings))
        return Counted(BoundaryCounts.sum(counts))

"""Settings of the boundary protocol, and how the files of an image become what it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from segbench.core import capabilities as can
from segbench.core.arguments import as_whole, check_settings, listed, set_fields
from segbench.core.counts import counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.expected import Expected, ExpectedLines, ExpectedScores
from segbench.core.inputs import Facts
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.notes import Note
from segbench.core.numbers import written
from segbench.core.options import option, read_numbers, read_thresholds
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Reading, Sample, Side
from segbench.inputs.annotators import ONE_ANNOTATOR
from segbench.inputs.label_rules import (
    LabelRule,
    Positive,
    RuleWithoutVoid,
    counted,
    numbered_by,
    optional_rule,
    perhaps_swapped,
    rule_option,
    suggested_positive,
)
from segbench.loaders.reading import ANNOTATORS, BOUNDARIES
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.protocols.boundaries.counts import BoundaryCounts
    from segbench.protocols.boundaries.metrics import BoundaryTable

TIES = "hash1"
"""Version of the rule that settles ties between matchings; see `match_boundaries`."""


_THINNED = Note(Message("thinned", "{side} thinned"), "ground truth")
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
class Boundaries(
    _OfBoundaries, can.Official, can.Crisp, can.Verb, can.Checked, can.Prepared, can.Annotated, can.Pictured
):
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

    reads: ClassVar[Reading] = BOUNDARIES
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
    crispness: bool = option("Measure how much of each map suppression leaves (crispness).", False, rare=True)
    category: int | None = option(
        "Count the boundaries of one category of an SBD ground truth, from 1.", panel="Ground truth", rare=True
    )

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
        set_fields(self, smoothing=as_radius(self.smoothing, "smoothing"), positive=optional_rule(self.positive))
        numbered: tuple[Side, ...] = ("ground truth",) if self.label_maps else numbered_by(self.positive)
        set_fields(self, reads=replace(self.reads, numbered=numbered))
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

    def signature_fields(self) -> dict[str, str]:
        suppressed = self.nms and f"{written(self.nms)},smoothing {self.smoothing}"
        ground_truth = "label maps" if self.label_maps else str(self.positive or "nonzero")
        fields = {
            "max_dist": self.max_dist if isinstance(self.max_dist, str) else written(self.max_dist),
            "thresholds": written(self.thresholds),
            "thin": "yes" if self.thin else "no",
            "nms": suppressed or "no",
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
        """Give these settings, and those without suppression and thinning; both measure crispness."""
        return replace(self, crispness=True), replace(self, crispness=True, nms=None, thin=False)

    def prepare(self, say: Callable[[str], None]) -> None:
        from segbench.protocols.boundaries.counting import compile_kernels, kernels_cached

        if not kernels_cached():
            say("compiling for this machine, once ...")
            compile_kernels()

    @property
    def expected(self) -> Expected:
        return Expected(
            rule=None if self.positive is None else LabelRule.parse(self.positive),
            scores=ExpectedScores(
                invert=self.invert,
                unit_range=isinstance(self.thresholds, int),
                listed=self.thresholds if isinstance(self.thresholds, tuple) else (),
            ),
            lines=ExpectedLines(
                label_maps=self.label_maps,
                category=self.category,
                thinned=self.thin and not self.thin_ground_truth,
                suppressed=self.nms is not None or not self.thin,
                suppression=self.nms is not None,
            ),
        )

    def official_files(self, per_image: Mapping[str, BoundaryCounts]) -> dict[str, str]:
        from segbench.protocols.boundaries.official import official_files

        return official_files(per_image)

    def annotators_alone(self) -> Protocol:
        return Annotators(settings=self)

    def count(self, sample: Sample) -> Counted:
        from segbench.core.levels import INVERTED, note_on_ones
        from segbench.inputs.lines import label_boundaries
        from segbench.protocols.boundaries.counting import count_boundaries, count_boundary_maps

        truths = self.boundary_maps(sample)
        if sample.labels_predicted:
            maps = [label_boundaries(segmentation) for segmentation in sample.predictions]
            counts = count_boundary_maps(maps, truths, max_dist=self.max_dist, thin=self.thin)
            return Counted(counts, notes=(_THINNED,) if self.thin_ground_truth else ())
        try:
            soft = self.soft_map(sample)
            counts = count_boundaries(truths, soft, thresholds=self.thresholds, max_dist=self.max_dist, thin=self.thin)
            if self.crispness:
                crispness, measured = self._crispness(sample)
                counts = replace(counts, crispness=crispness, maps=measured)
        except DataError as error:
            raise DataError(sample.predicted_file, error.what, error.hint) from error
        notes = (*([INVERTED] if self.invert else []), *([_THINNED] if self.thin_ground_truth else []))
        if isinstance(self.thresholds, int):
            notes += note_on_ones(sample.predictions[0])
        return Counted(counts, notes=notes)

    def _crispness(self, sample: Sample) -> tuple[int, int]:
        """Measure what suppression leaves of a map, and count it; a blank one does not count."""
        from segbench.core.arrays import MEAN_UNITS
        from segbench.core.levels import scores_of
        from segbench.protocols.boundaries.suppression import nms

        soft = scores_of(replace(self, nms=None).soft_map(sample))
        before = float(soft.sum())
        if before <= 0:
            return 0, 0
        kept = float(nms(soft, **_OF_CRISPNESS).sum())
        return round(kept / before * MEAN_UNITS), 1

    def pictures(self, sample: Sample, counts: BoundaryCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: boundaries matched at each threshold, and the share of annotators."""
        import numpy as np

        from segbench.core.levels import scores_of
        from segbench.core.pictures import Pictures
        from segbench.protocols.boundaries.curve import boundary_curve

        truth = np.rint(255 * np.mean(self.boundary_maps(sample), axis=0)).astype(np.uint8)
        curve = boundary_curve(counts)
        places = np.searchsorted(counts.thresholds, thresholds)
        soft = None if sample.labels_predicted else np.clip(scores_of(self.soft_map(sample)), 0, 1)
        return Pictures(
            truth,
            truth,
            states=[self.states(sample, threshold) for threshold in thresholds.tolist()],
            soft=None if soft is None else np.rint(255 * soft).astype(np.uint8),
            metrics={"P": curve.precision[places], "R": curve.recall[places], "F": curve.f[places]},
        )

    def states(self, sample: Sample, threshold: float, counts: BoundaryCounts | None = None) -> NDArray[np.uint8]:
        """Mark found, false and missed pixels at a threshold, of label maps the place of one of them, from 1."""
        from segbench.core.levels import in_type_of
        from segbench.inputs.lines import as_scores, label_boundaries
        from segbench.protocols.boundaries.matching import boundary_states

        if sample.labels_predicted:
            predicted = label_boundaries(sample.predictions[int(threshold) - 1])
        else:
            soft = self.soft_map(sample)
            predicted = as_scores(soft, "prediction") >= in_type_of(soft.dtype, threshold)
        return boundary_states(predicted, self.boundary_maps(sample), max_dist=self.max_dist, thin=self.thin)

    def require_readable(self, sample: Sample) -> Facts:
        self._drawn(sample)
        if not sample.labels_predicted:
            replace(self, nms=None).soft_map(sample)
        return ()

    def soft_map(self, sample: Sample) -> Array:
        """Give the map that is thresholded: of image size, high where boundary, suppressed if the settings say so."""
        from segbench.core.levels import as_shares, mirrored, refuse_low_levels
        from segbench.inputs.lines import sample_ucm2

        prediction = sample.predictions[0]
        if isinstance(self.thresholds, int):
            refuse_low_levels(sample.predicted_file, prediction)
        if prediction.shape != sample.ground_truths[0].shape:
            prediction = sample_ucm2(prediction)
        prediction = as_shares(prediction, sample.predicted_file)
        if self.invert:
            prediction = mirrored(prediction)
        if self.nms is None:
            return prediction

        radius, border, multiplier = self.nms
        from segbench.protocols.boundaries.suppression import nms

        return nms(prediction, radius=radius, border=border, multiplier=multiplier, smoothing=self.smoothing)

    def boundary_maps(self, sample: Sample) -> list[BoolArray]:
        """Give the boundary map of each annotator, thinned if the settings say so."""
        drawn = self._drawn(sample)
        if not self.thin_ground_truth:
            return drawn
        from segbench.protocols.boundaries.thinning import thin

        return [thin(one) for one in drawn]

    def _drawn(self, sample: Sample) -> list[BoolArray]:
        """Give the boundary map of each annotator as it is drawn."""
        if sample.without_truth:
            import numpy as np

            return [np.zeros(sample.ground_truths[0].shape, np.bool_)]
        if sample.categories_drawn or self.category is not None:
            return [self._of_category(sample)]
        return [self._boundary_map(*named) for named in zip(sample.truth_files, sample.ground_truths, strict=True)]

    def _of_category(self, sample: Sample) -> BoolArray:
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
class Annotators(_OfBoundaries, can.FromFiles, can.Reference):
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

    reads: ClassVar[Reading] = ANNOTATORS
    does: ClassVar[str] = "compares annotators with each other"
    why_not_arrays: ClassVar[Message] = Message(
        "from-files", "annotators are compared with each other from files (segbench.evaluate)"
    )

    settings: Boundaries

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

        truths = self.settings.boundary_maps(sample)
        counts = [BoundaryCounts(np.ones(1), *np.zeros((4, 1), np.int64))]
        if len(truths) == 1:
            return Counted(counts[0], notes=(ONE_ANNOTATOR,))
        settings: dict[str, Any] = {"max_dist": self.settings.max_dist, "thin": self.settings.thin}
        for k, truth in enumerate(truths):
            counts.append(count_boundary_maps([truth], truths[:k] + truths[k + 1 :], **settings))
        return Counted(BoundaryCounts.sum(counts))

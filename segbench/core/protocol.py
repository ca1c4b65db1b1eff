"""What a protocol is: settings that count an image, and the table that turns counts into metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric, headline, image_columns
from segbench.core.sample import Reads, Sample
from segbench.core.summary import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.pictures import Pictures
    from segbench.core.table import Table

Facts = tuple[float, ...]
"""What an image contributes to a decision that only the whole set can make, for instance the label values found."""

Kept = tuple[Summary, Any]
"""The summary of a run and its reduced pool, as a results file keeps them where pooling takes long."""

Settled = Mapping[Facts, Callable[[Any], Any]]
"""What the whole set decided: how the counts of images with certain facts change."""


@dataclass(frozen=True)
class Counted:
    """What a protocol makes of one image.

    Parameters
    ----------
    counts : Counts
        The counts of the image.
    facts : tuple of float
        What `Protocol.settle` needs to know of the image; empty where nothing is left open.
    notes : tuple of str
        What the settings changed in the data, and what was found in it, to be shown to the user.
    """

    counts: Any
    facts: Facts = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A sub-result, for instance of one class: its protocol, its settings, and its counts by image."""

    protocol: Protocol
    settings: Mapping[str, str]
    counts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the files of a run may hold under a protocol's settings, for `segbench.check`."""

    reads: Reads  # what files are read as
    rule: Any = None  # the `segbench.protocols.label_rules.LabelRule` that says which ground-truth values are positive
    void: tuple[float, ...] = ()  # ground-truth values left out
    invert: bool = False  # whether low predictions mean positive
    label_maps: bool = False  # whether the borders of label maps are the ground truth
    unit_range: bool = False  # whether scores outside [0, 1] are refused
    suppressed: bool = True  # whether maps are suppressed before they are counted, or need not be
    thinned: bool = False  # whether predictions are thinned, so that thick lines of the ground truth are missed
    stretched: bool = False  # whether each map is stretched to its own range, so that its range does not matter
    pooled: bool = True  # whether scores of different images are ranked together, so that lost ones matter
    takes_field: bool = True  # whether pixels can be left out by a field of view
    one_annotator: bool = False  # whether several annotators of an image are refused
    category: int | None = None  # which category counts, from 1, where ground truth is drawn category by category
    classes: Any = None  # the protocol of classes that have a map each
    counted_by: Any = None  # of label maps: the protocol; its counts show what is wrong with them

    @property
    def lines(self) -> bool:
        """Whether ground truth and predictions are lines."""
        return self.reads == "boundaries"

    @property
    def stacks(self) -> bool:
        """Whether a prediction may be a stack of maps, with axes that headers leave open."""
        return self.reads in ("classes", "labels")

    @property
    def soft(self) -> bool:
        """Whether predictions are soft maps with values that can be judged."""
        return self.reads in ("masks", "boundaries")


class Published(ABC):
    """Metrics published without images or counts."""

    @property
    @abstractmethod
    def summary(self) -> Summary:
        """The metrics, as far as they are known."""

    curve: Any = None
    """The curve, a `segbench.core.series.Series`, as far as it was printed; None where it was not."""

    @abstractmethod
    def to_json(self) -> str:
        """Write it as JSON, for results files; nan becomes null."""


class Protocol(ABC):
    """How images are counted and counts become metrics: a frozen dataclass of settings, with these methods.

    Fields with a help text (`segbench.core.options`) are options of the protocol's verb on the command line.

    `evaluate`, results files, workers, tables, comparisons, plots and the report ask the protocol and know none by
    name. A protocol of one's own derives from this class; see `segbench.protocols.registry` for the command line.
    """

    name: ClassVar[str]
    """What it is called in signatures, results files and on the command line."""
    reads: ClassVar[Reads]
    """What the loaders make of files."""
    counts: ClassVar[type[Counts]]
    """The type of the counts of an image."""
    takes_thresholds: ClassVar[bool] = False
    """Whether the thresholds of a tuning set can replace the scores themselves, which its `ScoreCounts` hold."""
    title: ClassVar[str]
    """What it measures, in one sentence."""
    variant_of: ClassVar[str] = ""
    """The protocol with the verb of this one, if it has none of its own: its required options select it."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Arguments that the help of the verb shows, without the verb."""
    competes: ClassVar[bool] = True
    """Whether its results are methods to be ranked; False for the agreement of annotators."""
    why_not_arrays: ClassVar[str] = ""
    """Why images cannot come as arrays, batch by batch; empty if they can."""
    reduces_tensors: ClassVar[bool] = False
    """Whether a stack of maps may be a tensor on a device, of which it copies no more than it needs."""
    takes_field: ClassVar[bool] = True
    """Whether pixels outside a field of view can be left out, where `reads` has one."""
    by_set: ClassVar[bool] = False
    """Whether the whole set decides how a single image is measured."""
    may_differ: ClassVar[frozenset[str]] = frozenset()
    """Fields of the signature in which runs that are compared may differ, since they change only predictions."""
    states_called: ClassVar[Mapping[int, str]] = MappingProxyType({})
    """What the states of `states` are called in legends, in their order there."""

    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """Give every metric and total, in the order in which they are reported; exactly one is the headline."""

    @abstractmethod
    def count(self, sample: Sample) -> Counted:
        """Count one image; a `DataError` says what is wrong with it."""

    @abstractmethod
    def table(
        self,
        per_image: Mapping[str, Any],
        *,
        rest: Counts | None = None,
        of_set: Counts | None = None,
        kept: Kept | None = None,
    ) -> Table:
        """Lay out the counts of one method, so that metrics can be measured.

        Parameters
        ----------
        per_image : mapping of str to Counts
            Counts by image name; rows come in sorted order of the names.
        rest : Counts, optional
            Pixels that came without the name of an image.
        of_set : Counts, optional
            Pooled counts of the whole set, where `per_image` is a part of it and the set decides how images are
            measured.
        kept : Summary and Counts, optional
            The summary and the reduced pool of these images, which a results file may keep.
        """

    @abstractmethod
    def signature_fields(self) -> dict[str, str]:
        """Give every setting that a metric depends on, as text."""

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """Make the protocol from the fields of a signature, as far as tables and metrics depend on them."""
        del fields
        return cls()

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: str = "", complete: bool = True, part: bool = False
    ) -> Settled:
        """Decide what only the whole set can decide.

        Parameters
        ----------
        facts : mapping of image name to Facts
            Of the images that have any.
        excluded_by : str
            The options that leave pixels out, for messages.
        complete : bool
            False while images are still to come: only what they cannot change is an error.
        part : bool
            Whether the images are a part of a set, which may lack what the whole set has.

        Returns
        -------
        mapping of Facts to callable
            How the counts of images with these facts change; images with other facts keep theirs.

        Raises
        ------
        DataError
            If the set leaves it open.
        """
        del facts, excluded_by, complete, part
        return {}

    @classmethod
    def measuring(cls, counts: Counts) -> Self:
        """Make the protocol with default settings that measures these counts."""
        del counts
        return cls()

    def parts(self, images: Mapping[str, Any], settings: Mapping[str, str]) -> Mapping[str, Part]:
        """Give sub-results by name, for instance one per class, of a run with these settings."""
        del images, settings
        return {}

    def added_up(self, images: Mapping[str, Any], settings: Mapping[str, str]) -> Part | None:
        """Give the sum of all parts, which plots draw; None for a protocol without parts."""
        del images, settings
        return None

    @classmethod
    def published(cls, text: str) -> Published:
        """Read what `Published.to_json` wrote."""
        del text
        raise ArgumentError(f"the {cls.name} protocol has no published metrics to import")

    def prepare(self, say: Callable[[str], None]) -> None:  # noqa: B027  most protocols compile nothing
        """Compile what workers need, before they start; `say` takes a message for the user where that takes long."""

    @property
    def expected(self) -> Expected:
        """What files may hold under these settings, for `segbench.check`."""
        return Expected(reads=self.reads, one_annotator=self.reads == "masks")

    def annotators_alone(self) -> Protocol | None:
        """Give the protocol that compares annotators with each other; None where there is none."""
        return None

    def count_tensors(self, labels: Any, scores: Any, valid: Any, *, of: str) -> Counted | None:  # noqa: ANN401  tensors
        """Count the pixels of tensors on their device; None where the protocol counts on the host alone.

        `of` is what errors put behind "labels" and "scores".
        """
        del labels, scores, valid, of
        return None

    def pictures(self, sample: Sample, counts: Any, thresholds: NDArray[np.float64]) -> Pictures:  # noqa: ANN401  of its type
        """Draw an image for the report page, at rising thresholds.

        By default at the states of each threshold, without metrics.
        """
        import numpy as np

        from segbench.core.pictures import Pictures

        states = [self.states(sample, threshold, counts) for threshold in thresholds.tolist()]
        truth = np.where(np.asarray(sample.ground_truths[0]) != 0, 255, 0).astype(np.uint8)
        return Pictures(truth, truth, states=states)

    @property
    def without_pictures(self) -> str:
        """Why there are no overlays of its images; empty if it has `states`."""
        return "was counted by a protocol without pictures" if type(self).states is Protocol.states else ""

    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:  # noqa: ANN401  of its type
        """Classify each pixel of an image at a threshold, for overlays.

        Returns
        -------
        array of uint8, shape (H, W)
            A `segbench.protocols.states.State` per pixel.

        Raises
        ------
        ArgumentError
            If the protocol has no pictures.
        """
        del sample, threshold, counts
        raise ArgumentError(f"the {self.name} protocol has no pictures")

    @cached_property
    def headline(self) -> Metric:
        """The metric that ranks methods."""
        return headline(self.metrics())

    @cached_property
    def image_headline(self) -> Metric:
        """The metric that ranks images: the headline, or the first that images have."""
        images = image_columns(self.metrics())
        return self.headline if self.headline.image_key else images[0]

    @cached_property
    def best_threshold(self) -> Metric | None:
        """The best threshold for all images, at which pictures are drawn; None where there is no single one."""
        return next((metric for metric in self.metrics() if metric.key and metric.kind == "threshold"), None)

    @cached_property
    def images_at_their_best(self) -> bool:
        """Whether each image is measured at its own best threshold."""
        return any(metric.kind == "threshold" and metric.image_key for metric in self.metrics())

"""What only some protocols can do: a small class each, for `Protocol.capability`, or `issubclass` before settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Message
from segbench.core.notes import Note
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Sample
from segbench.core.summary import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.pictures import Pictures
    from segbench.core.table import Kept, Table

Settled = Mapping[Facts, Callable[[Any], Any]]
"""What the whole set decided: how the counts of images with certain facts change."""


class Verb:
    """More about its command."""

    examples: ClassVar[tuple[str, ...]] = ()
    """Arguments that the help of the verb shows, without the verb."""


class Pictured(ABC):
    """Shows what became of each pixel of an image, in overlays and on the report page."""

    states_called: ClassVar[Mapping[int, str]] = MappingProxyType({})
    """What the states are called in legends, in their order there."""

    ranked_beside: ClassVar[str] = ""
    """The key for images by which the page ranks those that the headline leaves undefined, the highest first."""

    @abstractmethod
    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:  # noqa: ANN401  of its type
        """Classify each pixel at a threshold: a `segbench.protocols.states.State` per pixel, shape (H, W)."""

    def pictures(self, sample: Sample, counts: Any, thresholds: NDArray[np.float64]) -> Pictures:  # noqa: ANN401  of its type
        """Draw an image for the report page, at rising thresholds; by default at its states, without metrics."""
        import numpy as np

        from segbench.core.pictures import Pictures

        states = [self.states(sample, threshold, counts) for threshold in thresholds.tolist()]
        truth = np.where(np.asarray(sample.ground_truths[0]) != 0, 255, 0).astype(np.uint8)
        return Pictures(truth, truth, states=states)


class Volumes(ABC):
    """Measures volumes, of shape (depth, height, width), too, in which pixels depend on others."""

    @property
    @abstractmethod
    def of_volumes(self) -> bool:
        """Whether its settings are for volumes, and not for images."""

    @abstractmethod
    def for_volumes(self, *, with_header: bool = False) -> Any:  # noqa: ANN401  the protocol
        """Return the protocol that measures volumes; `with_header` says that files have spacings in their headers."""


class FromCounts(ABC):
    """Has settings that its counts show."""

    @classmethod
    @abstractmethod
    def measuring(cls, counts: Counts) -> Self:
        """Make the protocol that measures these counts."""


class OnDevice:
    """Takes tensors on a device, and copies no more of them than it needs."""

    def count_tensors(self, labels: Any, scores: Any, valid: Any, called: tuple[str, str]) -> Counted | None:  # noqa: ANN401  tensors
        """Count the pixels of tensors there; None where the host counts. They are `called` so in errors."""
        del labels, scores, valid, called
        return None


class MeasuredBySet(ABC):
    """Measures a single image as the whole set decides, such as at its best threshold."""

    @abstractmethod
    def table(self, per_image: Mapping[str, Any], *, of_set: Counts | None = None) -> Table:
        """Lay out counts as `Protocol.table`; `of_set` holds those of the whole set, of which these are a part."""


class TwoPasses(ABC):
    """Takes a setting, such as a threshold, from a run of another protocol over the whole set."""

    @property
    @abstractmethod
    def first(self) -> Protocol | None:
        """The protocol of that run; None where all settings are known."""

    @abstractmethod
    def after(self, summary: Summary) -> Protocol:
        """Return the protocol with the setting that the metrics of that run decide."""


class Pooling(MeasuredBySet):
    """Pools scores, so that pixels need no image, and many may be pooled once for all times."""

    @abstractmethod
    def table(
        self,
        per_image: Mapping[str, Any],
        *,
        of_set: Counts | None = None,
        rest: Counts | None = None,
        kept: Kept | None = None,
    ) -> Table:
        """Lay out counts beside the `rest`, pixels of unnamed images; `kept` is what a results file keeps of both."""

    @property
    @abstractmethod
    def kept_numbers(self) -> Mapping[str, NDArray[Any]]:
        """Arrays of the names, sizes and types that `Kept.numbers` of its table have."""


@dataclass(frozen=True)
class Part:
    """One of several things in the images of a run, such as a class: a protocol that measures it, and its counts.

    Signatures name it by `named`, before the settings of the protocol.
    """

    protocol: Protocol
    named: Mapping[str, str]
    counts: Mapping[str, Any]
    holds: Callable[[str], bool] | None = None
    """Whether an image of this name, counted or not, belongs to the part; None where all images do."""


@dataclass(frozen=True)
class Division:
    """Counts taken apart along an axis."""

    parts: Mapping[str, Part]
    pooled: Callable[[], Part] | str
    """Adds up all parts when it is called; or the reason why they do not add up."""
    averaged: bool = False
    """Whether the metrics of the whole are means over its parts already."""
    notes: tuple[Note, ...] = ()
    """What does not fit."""
    no_mean: str = ""
    """Why there is no result of means over the parts, beside that none has images; empty where there is one."""


class Divided(ABC):
    """Has several things in an image, such as classes, each with metrics of its own."""

    @property
    @abstractmethod
    def axes(self) -> tuple[str, ...]:
        """What there are several of under these settings: ``"class"``, ``"object"``; nothing of masks."""

    @abstractmethod
    def divided(self, axis: str, per_image: Mapping[str, Any]) -> Division:
        """Take counts by image name apart along one of the axes."""


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
        """Write it as JSON, for results files."""


class Importable(ABC):
    """Has metrics that papers publish without images, and results files keep."""

    @classmethod
    @abstractmethod
    def published(cls, text: str) -> Published:
        """Read what `Published.to_json` wrote."""


class Official(ABC):
    """Has results in the text files of an official benchmark."""

    @abstractmethod
    def official_files(self, per_image: Mapping[str, Any]) -> dict[str, str]:
        """Write counts by image: the content of each file by its name."""


class Companions(ABC):
    """Can be evaluated beside its methods in other ways: with annotators alone, and with maps as they are predicted."""

    @abstractmethod
    def annotators_alone(self) -> Protocol:
        """Return the protocol that compares the annotators of an image with each other: each against all others."""

    @abstractmethod
    def crisp_pair(self) -> tuple[Protocol, Protocol]:
        """Return the protocol, and the one without the suppression and thinning that make maps crisp."""


class ApartByFolder:
    """Has predictions of a model of its own in each folder of a data set, so that nothing is pooled over folders."""


def settled(
    protocol: Protocol,
    facts: Mapping[str, Facts],
    *,
    excluded_by: Message = NOTHING,
    complete: bool = True,
    part: bool = False,
) -> Settled:
    """Decide what only the whole set can: how counts change, by facts of images, see `segbench.core.inputs`."""
    turned = protocol.inputs.settle(facts, excluded_by=excluded_by, complete=complete, part=part)
    return dict.fromkeys(turned, protocol.turned)


def read_published(protocol: Protocol, text: str) -> Published:
    """Read what `Published.to_json` wrote for a protocol."""
    importable = protocol.capability(Importable)
    if importable is None:
        raise ArgumentError(
            Message(
                "not-published", "the {protocol} protocol has no published metrics to import", protocol=protocol.name
            )
        )
    return importable.published(text)


def states_called(protocol: Protocol) -> Mapping[int, str]:
    """Return the names of pixel states for legends; empty for a protocol without pictures."""
    pictured = protocol.capability(Pictured)
    return pictured.states_called if pictured else {}

"""What only some protocols can do: a small class each, for `Protocol.capability`, or `issubclass` before settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.expected import Expected
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Message
from segbench.core.notes import Note
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Sample, Side
from segbench.core.summary import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.pictures import Pictures
    from segbench.core.table import Kept, Table

Kind = TypeVar("Kind")

Settled = Mapping[Facts, Callable[[Any], Any]]
"""What the whole set decided: how the counts of images with certain facts change."""


class Verb:
    """More about its command."""

    examples: ClassVar[tuple[str, ...]] = ()
    """Arguments that the help of the verb shows, without the verb."""


class Prepared(ABC):
    """Has work to do once, before workers start."""

    @abstractmethod
    def prepare(self, say: Callable[[str], None]) -> None:
        """Compile what workers need; `say` takes a message for the user where that takes long."""


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


class Checked(ABC):
    """Knows what files may hold under its settings, for `segbench.check`."""

    @property
    @abstractmethod
    def expected(self) -> Expected:
        """What files may hold."""

    def require_readable(self, sample: Sample) -> Facts:
        """Refuse what `count` refuses of an image, as far as that costs little; return its facts, as far as known."""
        del sample
        return ()


class ByClass(ABC):
    """Has a soft map for each class."""

    labels: Sequence[int]
    """The label of each class in the ground truth."""

    @property
    @abstractmethod
    def class_names(self) -> tuple[str, ...]:
        """What the classes are called."""

    @property
    @abstractmethod
    def titles(self) -> tuple[str, ...]:
        """Each class with its label, as messages call it."""

    @property
    @abstractmethod
    def expected_of_one(self) -> Expected:
        """What the soft map of a class may hold."""

    @abstractmethod
    def place_of(self, tag: str) -> int | None:
        """Find the class that a folder is called after; None of no class."""

    @abstractmethod
    def interpret(self, sample: Sample) -> Any:  # noqa: ANN401  an `Interpreted` with these
        """Return the label map of an image as its `truth`, and the soft map of each class as `maps`."""


class TwoSided(ABC):
    """Refuses a set in which only one of two sides has pixels."""

    @abstractmethod
    def require_both_sides(self, facts: Mapping[str, Facts], where: str) -> None:
        """Refuse settings under which nothing in some images is positive, or nothing negative."""


class LeftOut(NamedTuple):
    """What predictions hold where pixels of an image are left out."""

    same: bool = True  # whether it is what the ground truth holds there
    zeros: int = 0  # pixels with label 0 in the ground truth, as stored, that are void
    classes: int = 0  # those of them where a class is predicted
    labels: tuple[int, ...] = ()  # labels that are void and are predicted, too, rising


class OnBackground(NamedTuple):
    """A number of one side that lies on the background of the other, where no object is."""

    number: int
    share: float  # of that background
    highest: bool  # whether it is the highest number of its map


class Numbered(ABC):
    """Expects a number for each object."""

    @abstractmethod
    def require_numbers(self, facts: Mapping[str, Facts]) -> None:
        """Refuse images that are masks instead, as far as their facts show it: a `DataError`."""

    @abstractmethod
    def on_background(self, sample: Sample) -> Mapping[Side, OnBackground | None]:
        """Find the number of each side that lies on most of the other side's background, None for none.

        A side is left out where the other has no background, or nothing but background.
        """


class Confusing(TwoSided):
    """Has a label in each pixel of both sides: a confusion matrix shows what is wrong with them."""

    void: Sequence[int] | None
    """Labels of the ground truth that are left out."""
    positive: Any = None
    predicted_positive: Any = None
    """The rules for what is positive in masks, and in those that are predicted; None for none."""
    gt_map: Any
    pred_map: Any
    """Labels that values as stored represent, as text."""

    @property
    @abstractmethod
    def masks(self) -> bool:
        """Whether they are masks, which have a positive class."""

    @abstractmethod
    def predicted_outside(self, sample: Sample) -> Mapping[int, NDArray[np.int64]]:
        """Count the pixels of each class by predicted labels that are not classes, rising."""

    @abstractmethod
    def left_out(self, sample: Sample) -> LeftOut:
        """Look at the pixels that are left out."""

    @abstractmethod
    def joined(self, sample: Sample) -> Mapping[str, list[int]]:
        """Give values that a remapping, by its setting, does not name, and that so join the classes of others."""

    def stored(self, sample: Sample) -> Any:  # noqa: ANN401  `segbench.inputs.numberings.StoredLabels`
        """Count the pairs of values of an image as they are stored; None of masks, which have no numbers."""

    def renumbered(self, stored: Any) -> Any:  # noqa: ANN401  a `segbench.inputs.numberings.Renumbered`
        """Find remappings that stored values need instead of those given; None for none."""


class FromCounts(ABC):
    """Has settings that its counts show."""

    @classmethod
    @abstractmethod
    def measuring(cls, counts: Counts) -> Self:
        """Make the protocol that measures these counts."""


class FromFiles(ABC):
    """Cannot take every image as arrays, batch by batch."""

    @property
    @abstractmethod
    def why_not_arrays(self) -> Message | str:
        """Why images cannot come as arrays; empty if they can."""

    @property
    def why_not_alone(self) -> Message | str:
        """Why `segbench.count` cannot count an image by itself; empty if it can."""
        return self.why_not_arrays


class OnDevice:
    """Takes tensors on a device, and copies no more of them than it needs."""

    def count_tensors(self, labels: Any, scores: Any, valid: Any, called: tuple[str, str]) -> Counted | None:  # noqa: ANN401  tensors
        """Count the pixels of tensors there; None where the host counts. They are `called` so in errors."""
        del labels, scores, valid, called
        return None


class SettledBySet(ABC):
    """Leaves open in an image what only the whole set decides."""

    @abstractmethod
    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> Settled:
        """Say how the counts of images with certain facts change; a `DataError` if the set leaves it open.

        `facts` are those of the images that have any. The set may not be `complete` yet, so that only what further
        images cannot change is an error, or a `part`, which may lack what the whole has. `excluded_by` names the
        options that leave pixels out, for messages.
        """

    def settle_alone(self, facts: Facts, file: str) -> Facts:
        """Decide for an image that belongs to no set, called `file` in messages, what it shows by itself.

        Returns the value that is positive where no rule says so, empty where there is none.
        """
        self.settle({file: facts}, part=True)
        return ()


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
        """Give the protocol with the setting that the metrics of that run decide."""


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


class Annotated(ABC):
    """Can compare the annotators of an image with each other."""

    @abstractmethod
    def annotators_alone(self) -> Protocol:
        """Give the protocol that does: each annotator against all others."""


class Crisp(ABC):
    """Can evaluate maps as they are predicted, too, without what makes them crisp."""

    @abstractmethod
    def crisp_pair(self) -> tuple[Protocol, Protocol]:
        """Give the protocol, and the one without suppression and thinning."""


class ApartByFolder:
    """Has predictions of a model of its own in each folder of a data set, so that nothing is pooled over folders."""


class Reference:
    """Has results that methods are compared with, and that are not ranked."""

    does: ClassVar[str]
    """What it does instead, in words."""


def inputs_as(protocol: Protocol, kind: type[Kind]) -> Kind | None:
    """Return the inputs of a protocol if they are of a kind, a class of this module; None if they are not."""
    return protocol.inputs if isinstance(protocol.inputs, kind) else None


def settled(
    protocol: Protocol,
    facts: Mapping[str, Facts],
    *,
    excluded_by: Message = NOTHING,
    complete: bool = True,
    part: bool = False,
) -> Settled:
    """Decide what only the whole set can decide, see `SettledBySet`; nothing where the protocol leaves nothing open."""
    by_set = protocol.capability(SettledBySet)
    if by_set:
        return by_set.settle(facts, excluded_by=excluded_by, complete=complete, part=part)
    turned = protocol.inputs.settle(facts, excluded_by=excluded_by, complete=complete, part=part)
    return dict.fromkeys(turned, protocol.turned)


def expected_in(protocol: Protocol) -> Expected:
    """Say what files may hold; of a protocol that does not say, anything that is read so."""
    checked = protocol.capability(Checked)
    return checked.expected if checked else protocol.inputs.expected


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


def competes(protocol: Protocol) -> bool:
    """Return whether its results are ranked."""
    return protocol.capability(Reference) is None


def states_called(protocol: Protocol) -> Mapping[int, str]:
    """Give what legends call the states of pixels; nothing of a protocol without pictures."""
    pictured = protocol.capability(Pictured)
    return pictured.states_called if pictured else {}

"""What a protocol is: its inputs, which say what files mean; its counts and its table; and what only some can do.

Begin with `Protocol`. Its `inputs` derive from `InputSettings`, of which `segbench.inputs` has one class for each thing
that ground truth and prediction can be. A capability is a small class from which a protocol derives that can do more;
`Protocol.capability` asks for it, or `issubclass` before there are settings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.messages import NOTHING, Message, Note, Setting, as_note
from segbench.core.metric import Metric, Summary
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    changed_options,
    options_of,
    refuse_unknown_settings,
    refuse_unnamed_settings,
    set_fields,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.pictures import Pictures
    from segbench.core.table import CachedPool, Table

Facts = tuple[float, ...]
"""What an image contributes to a decision that only the whole set can make, for instance the label values found."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Interpreted:
    """One image as a protocol counts it; each kind of inputs adds its arrays."""

    facts: Facts = ()
    """What `InputSettings.settle` needs to know of the image; empty where nothing is left open."""
    notes: tuple[Note, ...] = ()
    """What the settings changed in the data, and what is odd about it."""

    @property
    def drawn_masks(self) -> Sequence[tuple[Any, Any]]:
        """What is positive in each ground truth, or in all of them together, and where it counts (None: everywhere).

        Empty where ground truth is no mask.
        """
        return ()


@dataclass(frozen=True, kw_only=True)
class InputSettings:
    """Settings about files, and what files mean under them.

    Fields with a help text are options of each protocol that has them as `segbench.core.settings.option_like`.
    """

    reads: ClassVar[Reading]
    """How files become arrays, see `segbench.loaders.reading`."""

    def interpret(self, sample: Sample) -> Any:  # noqa: ANN401  an `Interpreted` of the kind of inputs
        """Return the arrays that a protocol counts; a `DataError` says what is wrong with the files."""
        del sample
        return Interpreted()

    def summarize(
        self,
        sample: Sample,
        files: Any,  # noqa: ANN401  `SampleFiles`
        interpret: Callable[[Sample], Any],
    ) -> Any:  # noqa: ANN401  an `ImageSummary`
        """Return the few numbers about an image that findings need, a `segbench.inputs.summaries.ImageSummary`.

        They are those of the arrays that `interpret` returns, which is that of these inputs in the words of a run. None
        where nobody says which numbers: then values are summarized as they are.
        """
        del sample, files, interpret

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Decide what only the whole set decides; return the facts of images that are counted the other way round.

        `facts` are those of the images that have any. The set may not be `complete` yet, so that only what further
        images cannot change is an error, or a `part`, which may lack what the whole has. `excluded_by` names the
        options that leave pixels out, for messages. A `DataError` says why the set leaves it open.
        """
        del facts, excluded_by, complete, part
        return frozenset()

    def settle_alone(self, facts: Facts, file: str) -> Facts:
        """Decide for an image that belongs to no set, called `file` in messages, what it shows by itself.

        Returns the value that is positive where no rule says so, empty where there is none.
        """
        self.settle({file: facts}, part=True)
        return ()

    @property
    def why_not_arrays(self) -> Message | str:
        """Why images cannot come as arrays, batch by batch; empty if they can."""
        return ""

    @property
    def why_not_alone(self) -> Message | str:
        """Why `segbench.count` cannot count an image by itself; empty if it can."""
        return self.why_not_arrays

    @property
    def instead_of_soft_maps(self) -> Message | str:
        """How to count soft maps where numbers of objects are expected; empty where these are regions, or none."""
        return ""


class SoftMaps:
    """Inputs whose predictions are soft maps."""

    invert: bool | None = None
    """Whether low scores mean positive; None where no setting says so."""
    stretch: bool = False
    """Whether each map is stretched to its own range, so that its range does not matter."""

    @property
    def as_masks(self) -> bool:
        """Whether predictions of two values alone are evaluated as masks."""
        return False

    @property
    def pooled(self) -> bool:
        """Whether scores of different images are ranked together, so that lost ones matter."""
        return True

    @property
    def soft(self) -> bool:
        """Whether predictions are soft maps under these settings."""
        return True

    @property
    def in_unit_range(self) -> bool:
        """Whether scores outside [0, 1] are refused."""
        return False

    @property
    def in_any_range(self) -> bool:
        """Whether scores far below 0 are as good as any, and not logits that were forgotten."""
        return False

    @property
    def cuts(self) -> tuple[float, ...]:
        """Thresholds that make masks of soft maps, so that nothing else of a score matters."""
        return ()

    @property
    def marks(self) -> tuple[float, ...]:
        """Thresholds at which something is measured, beside all others; those that cut, where there are any."""
        return self.cuts

    @property
    def listed(self) -> tuple[float, ...]:
        """Thresholds of a curve, where they are not spread evenly from 0 to 1."""
        return ()


def soft_maps_of(inputs: InputSettings) -> SoftMaps | None:
    """Return inputs whose predictions are soft maps; None of others."""
    return inputs if isinstance(inputs, SoftMaps) and inputs.soft else None


@dataclass(frozen=True, kw_only=True)
class AsRead(InputSettings, SoftMaps):
    """Arrays as they are read, of any meaning."""

    reads: Reading  # type: ignore[misc]  # of the protocol

    @property
    def soft(self) -> bool:
        """Whether soft maps are read."""
        return self.reads.soft


def inputs_of(kind: type[Any], protocol: Any, **others: Any) -> Any:  # noqa: ANN401  a kind of `InputSettings`
    """Make inputs from the settings of a protocol that they share with it, and from `others`."""
    names = [setting.name for setting in fields(kind) if setting.init and setting.name not in others]
    shared = {name: getattr(protocol, name) for name in names if hasattr(protocol, name)}
    return kind(**shared, **others)


def take_settings(protocol: Any) -> None:  # noqa: ANN401  a `Protocol`
    """Keep the settings about files as the inputs of a protocol read them, and how files are read."""
    inputs = protocol.inputs
    names = [setting.name for setting in fields(inputs) if hasattr(protocol, setting.name)]
    read = {name: getattr(inputs, name) for name in names}
    set_fields(protocol, **read | {"reads": inputs.reads})


Capability = TypeVar("Capability")


@dataclass(frozen=True)
class Counted:
    """What a protocol makes of one image.

    Parameters
    ----------
    counts : Counts
        The counts of the image.
    facts : tuple of float
        What `InputSettings.settle` needs to know of the image; empty where nothing is left open.
    notes : tuple of Note, or of str
        What the settings changed in the data, and what was found in it, to be shown to the user; texts become notes.
    """

    counts: Any
    facts: Facts = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Turn texts, which a protocol of your own may give, into notes."""
        object.__setattr__(self, "notes", tuple(map(as_note, self.notes)))


class Protocol(ABC):
    """How images are counted and counts become metrics: a frozen dataclass of settings, with these members.

    Fields with a help text (`segbench.core.settings`) are options of the protocol's verb on the command line. What only
    some protocols can do is a class below, from which these derive, too: a capability.

    `evaluate`, results files, workers, tables, comparisons, plots and the report ask the protocol and know none by
    name. A protocol of your own derives from this class; see `segbench.protocols.registry` for the command line.
    """

    name: ClassVar[str]
    """What it is called in signatures, results files and on the command line."""
    title: ClassVar[str]
    """What it measures, in one sentence."""
    reads: ClassVar[Reading]
    """How files become arrays, one of `segbench.loaders.reading`."""
    counts: ClassVar[type[Counts]]
    """The type of the counts of an image."""
    instead_of_competing: ClassVar[str] = ""
    """What it does instead, in words, if its results are not ranked among those of methods; empty if they are."""

    def __new__(cls, *unnamed: object, **settings: object) -> Self:
        """Refuse unknown settings, and say which were meant; make another class where settings choose it."""
        if unnamed:
            refuse_unnamed_settings(cls, unnamed[0])
        other: Any = cls.class_for(settings)
        if other is not cls:
            made: Self = other(**settings)
            return made
        refuse_unknown_settings(cls, settings)
        return super().__new__(cls)

    @classmethod
    def class_for(cls, settings: Mapping[str, Any]) -> type[Protocol]:
        """Return the class that these settings choose, such as a kind with settings of its own; by default this one."""
        del settings
        return cls

    @property
    def inputs(self) -> InputSettings:
        """What the files of an image mean under these settings, one of ``segbench.inputs``; by default what is read."""
        return AsRead(reads=self.reads)

    takes_volumes: ClassVar[bool] = False
    """Whether it measures volumes, of shape (depth, height, width), too, in which voxels depend on others."""

    @property
    def of_volumes(self) -> bool:
        """Whether its settings are for volumes, and not for images."""
        return False

    @property
    def why_not_alone(self) -> Message | str:
        """Why `segbench.count` cannot count an image by itself; empty if it can."""
        return self.inputs.why_not_alone

    @property
    def expects_volumes(self) -> bool:
        """Whether its settings say that arrays of three axes are volumes, and no batches."""
        return self.of_volumes

    def for_volumes(self, *, with_header: bool = False) -> Self:
        """Return the protocol that measures volumes; `with_header` says that files have spacings in their headers."""
        del with_header
        return self

    def for_instances(self, scored: Callable[[], bool]) -> Protocol:
        """Return the protocol that measures instances that may overlap, as files list them; most measure maps."""
        del scored
        return self

    @property
    def adds_tiles(self) -> bool:
        """Whether the counts of the tiles of an image add up to those of the image."""
        return bool(self.counts.of_tiles)

    @property
    def distance_unit(self) -> str:
        """What distances are in, if not pixels: results in different units do not share a table."""
        return ""

    @property
    def usual_unit(self) -> str:
        """Which images the benchmark takes from one video, as ``unit`` takes it; empty where images are independent."""
        return ""

    @abstractmethod
    def signature_fields(self) -> dict[str, str]:
        """Return every setting of counting that a metric depends on, as text, and of measuring what is worded here."""

    @property
    def settings_as_text(self) -> dict[str, str]:
        """All settings that a metric depends on, for signatures: also those of measuring that are not worded."""
        worded, measuring = self.signature_fields(), self.measuring_settings()
        changed = changed_options(self, measuring - worded.keys())
        return worded | changed

    def refuse_unfit(self, sample: Sample) -> None:  # noqa: B027  most settings fit all images
        """Refuse an image that a setting does not fit, whatever its files mean: a `DataError` says why."""

    @classmethod
    def chosen_by(cls, typed: Mapping[str, Any]) -> bool:
        """Return whether options of a verb, by their parameters, choose this one of its protocols.

        By default those do that it needs; the first protocol of a verb is taken where none is chosen.
        """
        return any(option_field.default is MISSING and name in typed for name, option_field in options_of(cls).items())

    def measuring_settings(self) -> frozenset[str]:
        """Return the names of the settings that change no counts, only the table, see `segbench.core.settings`."""
        settings = fields(self)  # type: ignore[arg-type]  # protocols are dataclasses
        return frozenset(setting.name for setting in settings if setting.metadata.get("measuring"))

    def has_setting(self, name: str, value: Any) -> bool:  # noqa: ANN401  of any field
        """Return whether a setting already has a value, of those that are of measuring at least for other counts."""
        known = {setting.name for setting in fields(self) if setting.metadata.get("measuring")}  # type: ignore[arg-type]  # as above
        try:
            return name in known and bool(replace(self, **{name: value}) == self)  # type: ignore[type-var]  # as above
        except ArgumentError:
            return False

    def with_settings(self, **settings: Any) -> Self:  # noqa: ANN401  values of fields
        """Return the protocol that measures the same counts with other settings of measuring."""
        measuring = self.measuring_settings()
        settings = {
            name: value for name, value in settings.items() if name in measuring or not self.has_setting(name, value)
        }
        counting = [name for name in settings if name not in measuring]
        if counting:
            known = ", ".join(sorted(measuring)) or "none"
            raise ArgumentError(
                Message(
                    "not-measuring",
                    "{given} is no setting of measuring of {protocol}, which are: {known}; {fix}",
                    given=Setting(counting[0], None),
                    protocol=self.name,
                    known=known,
                    fix="count again with it" if hasattr(self, counting[0]) else "correct its name",
                )
            )
        changed: Self = replace(self, **settings)  # type: ignore[type-var]  # protocols are dataclasses
        return changed

    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """Return every metric and total, in the order in which they are reported; exactly one is the headline."""

    def metrics_of(self, per_image: Mapping[str, Any]) -> tuple[Metric, ...]:
        """Return the same for counts by image name, on which it may depend what tables show: volumes, or images."""
        del per_image
        return self.metrics()

    @abstractmethod
    def count(self, sample: Sample) -> Counted:
        """Count one image; a `DataError` says what is wrong with it."""

    @abstractmethod
    def table(self, per_image: Mapping[str, Any]) -> Table:
        """Lay out the counts of one method by image name, so that metrics can be measured."""

    def turned(self, counts: Any) -> Any:  # noqa: ANN401  of its type
        """Count an image the other way round, as the whole set decides, see `inputs.settle`."""
        raise NotImplementedError(f"{type(self).__name__} has inputs that may turn counts, and must say how")

    def prepare(self, say: Callable[[str], None]) -> None:  # noqa: B027  most need nothing
        """Do work once, before workers start: compile what they need; `say` takes a message where that takes long."""

    @property
    def competes(self) -> bool:
        """Whether its results are ranked."""
        return not self.instead_of_competing

    def measured_with(self, image: str) -> str:
        """Return what is left out with this image if it is missing, such as its sequence; by default itself."""
        return image

    def capability(self, kind: type[Capability]) -> Capability | None:
        """Return the protocol as a capability, such as `Pictured`; None if it lacks that."""
        return self if isinstance(self, kind) else None


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

    classes_drawn: Sequence[str] = ()
    """What pictures of label maps tell apart by colours, in the order of `segbench.core.pictures.Pictures.classes`."""

    draws_lines: ClassVar[bool] = False
    """Whether states are lines, such as boundaries, and not areas."""

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

    def thresholds_of(self, table: Table) -> tuple[NDArray[np.float64], float] | None:  # noqa: ARG002  of this one
        """Return rising thresholds for pictures, and the best of them; None where the curve has them, or none has."""
        return None


class FromCounts(ABC):
    """Has settings that its counts show."""

    @classmethod
    @abstractmethod
    def measuring(cls, counts: Counts) -> Self:
        """Make the protocol that measures these counts."""


class OnDevice:
    """Takes tensors on a device, and copies no more of them than it needs."""

    def count_tensors(self, labels: Any, scores: Any, valid: Any, called: tuple[str, str]) -> Counted | None:  # noqa: ANN401  tensors
        """Count the pixels of tensors on their device; None where the host counts. Errors call them as in `called`."""
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
        """The protocol of the first run; None where all settings are known."""

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
        kept: CachedPool | None = None,
    ) -> Table:
        """Lay out counts beside the `rest`, pixels of unnamed images; `kept` is what a results file keeps of both."""

    @property
    @abstractmethod
    def kept_numbers(self) -> Mapping[str, NDArray[Any]]:
        """Arrays of the names, sizes and types that `CachedPool.numbers` of its table have."""


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
        """Divide counts by image name along one of the axes."""


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
        """Rebuild the published metrics from `Published.to_json`."""


class Official(ABC):
    """Has results in the text files of an official benchmark."""

    @abstractmethod
    def official_files(self, per_image: Mapping[str, Any]) -> dict[str, str]:
        """Return the content of each file by its name, from counts by image."""


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
    """Decide what only the whole set can: how counts change, by facts of images; see `InputSettings.settle`."""
    turned = protocol.inputs.settle(facts, excluded_by=excluded_by, complete=complete, part=part)
    return dict.fromkeys(turned, protocol.turned)


def read_published(protocol: Protocol, text: str) -> Published:
    """Rebuild the published metrics of a protocol from `Published.to_json`."""
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

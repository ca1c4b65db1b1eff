"""What a protocol is: settings that count an image, and the table that turns counts into metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.guesses import refuse_unknown_settings
from segbench.core.inputs import AsRead, Facts, InputSettings
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.notes import Note, as_note
from segbench.core.options import changed_options, fields_with
from segbench.core.sample import Reading, Sample

if TYPE_CHECKING:
    from segbench.core.table import Table

Capability = TypeVar("Capability")


@dataclass(frozen=True)
class Counted:
    """What a protocol makes of one image.

    Parameters
    ----------
    counts : Counts
        The counts of the image.
    facts : tuple of float
        What `segbench.core.inputs.InputSettings.settle` needs to know of the image; empty where nothing is left open.
    notes : tuple of Note, or of str
        What the settings changed in the data, and what was found in it, to be shown to the user; texts become notes.
    """

    counts: Any
    facts: Facts = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Make notes of texts, as a protocol of one's own may give them."""
        object.__setattr__(self, "notes", tuple(map(as_note, self.notes)))


class Protocol(ABC):
    """How images are counted and counts become metrics: a frozen dataclass of settings, with these members.

    Fields with a help text (`segbench.core.options`) are options of the protocol's verb on the command line. What only
    some protocols can do is a class of `segbench.core.capabilities`, from which these derive, too.

    `evaluate`, results files, workers, tables, comparisons, plots and the report ask the protocol and know none by
    name. A protocol of one's own derives from this class; see `segbench.protocols.registry` for the command line.
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

    def __new__(cls, *_: object, **settings: object) -> Self:
        """Refuse settings that there are not, and say which were meant."""
        refuse_unknown_settings(cls, settings)
        return super().__new__(cls)

    @property
    def inputs(self) -> InputSettings:
        """What the files of an image mean under these settings, one of ``segbench.inputs``; by default what is read."""
        return AsRead(reads=self.reads)

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

    def measuring_settings(self) -> frozenset[str]:
        """Return the names of the settings that change no counts, only the table, see `segbench.core.options`."""
        return fields_with(self, "measuring")

    def with_settings(self, **settings: Any) -> Self:  # noqa: ANN401  values of fields
        """Return the protocol that measures the same counts with other settings of measuring."""
        if counting := [name for name in settings if name not in self.measuring_settings()]:
            known = ", ".join(sorted(self.measuring_settings())) or "none"
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
        """Name the images that are left out with this one if it is missing, such as its sequence: none but itself."""
        return image

    def capability(self, kind: type[Capability]) -> Capability | None:
        """Return the protocol as a capability, a class of `segbench.core.capabilities`; None if it lacks that."""
        return self if isinstance(self, kind) else None

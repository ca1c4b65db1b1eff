"""What the files of an image mean: settings about files, and what they make of a `Sample`.

`segbench.inputs` has one class for each thing that ground truth and prediction can be. A protocol names the one that
its settings ask for as its `inputs`, and counts what that interprets; `check` looks through the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from segbench.core.arguments import set_fields
from segbench.core.messages import NOTHING, Message
from segbench.core.notes import Note
from segbench.core.sample import Reading, Sample

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

    Fields with a help text are options of each protocol that has them as `segbench.core.options.option_like`.
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
    """Make inputs of the settings of a protocol that have the names of its own, and of `others`."""
    names = [setting.name for setting in fields(kind) if setting.init and setting.name not in others]
    return kind(**{name: getattr(protocol, name) for name in names if hasattr(protocol, name)}, **others)


def take_settings(protocol: Any) -> None:  # noqa: ANN401  a `Protocol`
    """Keep the settings about files as the inputs of a protocol read them, and how files are read."""
    inputs = protocol.inputs
    read = {
        setting.name: getattr(inputs, setting.name) for setting in fields(inputs) if hasattr(protocol, setting.name)
    }
    set_fields(protocol, **read | {"reads": inputs.reads})

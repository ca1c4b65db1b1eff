"""What was asked for, as far as it decides what is wrong: the settings of any protocol in one small type."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import ClassVar

from segbench.loaders.repairs import Repairs
from segbench.protocols.classes import Classes
from segbench.protocols.labels import LabelRule
from segbench.protocols.pixels import Pixels
from segbench.sample import Reads

_NO_REPAIRS = Repairs()


class Settings(typing.Protocol):
    """Settings of a protocol."""

    name: ClassVar[str]
    reads: ClassVar[Reads]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked for.

    Parameters
    ----------
    reads : {"masks", "boundaries", "annotators", "regions", "classes"}
        What the files are read as.
    rule : LabelRule, optional
        Which ground-truth values are positive.
    void : tuple of float
        Ground-truth values left out.
    invert : bool
        Whether low predictions mean positive.
    label_maps : bool
        Whether the borders of label maps are the ground truth.
    unit_range : bool
        Whether scores outside [0, 1] are refused.
    suppressed : bool
        Whether maps are suppressed before they are counted, or need not be.
    one_annotator : bool
        Whether several annotators of an image are refused.
    category : int, optional
        Which category counts, from 1, where ground truth is drawn category by category.
    classes : Classes, optional
        The classes that have a map each.
    repairs : Repairs
        What may be done to predictions.
    """

    reads: Reads
    rule: LabelRule | None = None
    void: tuple[float, ...] = ()
    invert: bool = False
    label_maps: bool = False
    unit_range: bool = False
    suppressed: bool = True
    one_annotator: bool = False
    category: int | None = None
    classes: Classes | None = None
    repairs: Repairs = _NO_REPAIRS

    @property
    def lines(self) -> bool:
        """Whether ground truth and predictions are lines."""
        return self.reads == "boundaries"

    @property
    def soft(self) -> bool:
        """Whether predictions are soft maps whose values can be judged."""
        return self.reads in ("masks", "boundaries")


def asked_of(protocol: Settings, repairs: Repairs = _NO_REPAIRS) -> Asked:
    """Read the settings of a protocol, and the repairs asked for.

    Raises
    ------
    ArgumentError
        If repairs have no meaning for the protocol.
    """
    repairs.check(protocol.reads)
    if isinstance(protocol, Pixels):
        return Asked(
            reads=protocol.reads,
            rule=None if protocol.positive is None else LabelRule.parse(protocol.positive),
            void=protocol.void,
            invert=protocol.invert,
            repairs=repairs,
            one_annotator=protocol.annotators is None,
        )
    if isinstance(protocol, Classes):
        void = tuple(map(float, protocol.void))
        return Asked(reads=protocol.reads, classes=protocol, void=void, invert=protocol.invert)
    if protocol.name == "boundaries":
        from segbench.protocols.boundaries import Boundaries

        if not isinstance(protocol, Boundaries):
            return Asked(reads=protocol.reads)
        return Asked(
            reads=protocol.reads,
            rule=None if protocol.positive is None else LabelRule.parse(protocol.positive),
            invert=protocol.invert,
            label_maps=protocol.label_maps,
            category=protocol.category,
            repairs=repairs,
            unit_range=isinstance(protocol.thresholds, int),
            suppressed=protocol.nms is not None,
        )
    return Asked(reads=protocol.reads, repairs=repairs)

"""What was asked for, as far as it decides what is wrong: the settings of any protocol in one small type."""

from __future__ import annotations

from dataclasses import dataclass

from segbench.core.protocol import Protocol
from segbench.core.sample import Reads
from segbench.loaders.repairs import Repairs
from segbench.protocols.label_rules import LabelRule
from segbench.protocols.pixels.classes import Classes

_NO_REPAIRS = Repairs()


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
    counted_by : Protocol, optional
        Of label maps: the protocol, which says what cannot be counted.
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
    counted_by: Protocol | None = None
    repairs: Repairs = _NO_REPAIRS

    @property
    def lines(self) -> bool:
        """Whether ground truth and predictions are lines."""
        return self.reads == "boundaries"

    @property
    def stacks(self) -> bool:
        """Whether a prediction may be a stack, whose axes headers do not tell apart."""
        return self.reads in ("classes", "labels")

    @property
    def soft(self) -> bool:
        """Whether predictions are soft maps whose values can be judged."""
        return self.reads in ("masks", "boundaries")


def asked_of(protocol: Protocol, repairs: Repairs = _NO_REPAIRS) -> Asked:
    """Read the settings of a protocol by the names that protocols share, and the repairs asked for."""
    repairs.check(protocol.reads)
    positive = getattr(protocol, "positive", None)
    soft_lines = protocol.reads == "boundaries"
    return Asked(
        reads=protocol.reads,
        rule=None if positive is None else LabelRule.parse(positive),
        void=tuple(map(float, getattr(protocol, "void", ()))) if protocol.reads in ("masks", "classes") else (),
        invert=getattr(protocol, "invert", False),
        label_maps=getattr(protocol, "label_maps", False),
        category=getattr(protocol, "category", None),
        unit_range=soft_lines and isinstance(getattr(protocol, "thresholds", None), int),
        suppressed=not soft_lines or getattr(protocol, "nms", None) is not None,
        one_annotator=protocol.reads == "masks" and getattr(protocol, "annotators", None) is None,
        classes=protocol if isinstance(protocol, Classes) else None,
        counted_by=protocol if protocol.reads == "labels" else None,
        repairs=repairs if protocol.reads in ("masks", "boundaries", "regions", "labels") else _NO_REPAIRS,
    )

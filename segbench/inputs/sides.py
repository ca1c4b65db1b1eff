"""What rules about files ask of inputs with masks: how ground truth shows what is positive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from segbench.inputs.label_rules import LabelRule

SeveralAnnotators = Literal["counted", "ruled", "refused"]
"""Whether several ground truths of an image are counted, are refused unless a setting says how, or are refused."""


class DrawnMasks:
    """Inputs whose ground truth shows by its values what is positive."""

    positive: Any = None
    void: Sequence[float] | None = None
    """Values that are left out; None where there is no such setting."""

    @property
    def several_annotators(self) -> SeveralAnnotators:
        """What becomes of several ground truths of an image."""
        return "refused"

    @property
    def by_image(self) -> bool:
        """Whether all values but 0 are positive without a rule, whatever other images hold."""
        return False

    @property
    def rule(self) -> LabelRule | None:
        """The rule that says which values are positive; None where their number alone decides."""
        return None if self.positive is None else LabelRule.parse(self.positive)

    @property
    def rule_is_named(self) -> bool:
        """Whether somebody named that rule, which is no default of the field."""
        return self.rule is not None

    @property
    def rule_is_guarded(self) -> bool:
        """Whether images with grey levels, or with a value that looks like void, are refused in spite of a rule."""
        return False

    @property
    def void_values(self) -> tuple[float, ...] | None:
        """The values that are left out; None where there is no such setting."""
        return None if self.void is None else tuple(map(float, self.void))


def masks_of(inputs: Any) -> DrawnMasks | None:
    """Return inputs whose ground truth shows by its values what is positive; None of others."""
    return inputs if isinstance(inputs, DrawnMasks) else None

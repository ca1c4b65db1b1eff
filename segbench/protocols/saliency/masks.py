"""Which pixels of a ground truth are salient, and what is refused since the rule does not fit its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segbench.core.errors import DataError
from segbench.core.interface import format_setting
from segbench.protocols.label_rules import LabelRule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HALF = ">128"
"""The field's rule, for levels of 8 bits."""


@dataclass(frozen=True)
class MaskRule(LabelRule):
    """A rule for levels; masks of one bit are taken as they are."""

    def labels(self, file: str, ground_truth: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark which pixels are salient; a mask that the rule cannot have been meant for is an error."""
        import numpy as np

        if ground_truth.dtype.kind == "b":
            return ground_truth
        found, highest = self.positive(ground_truth), float(ground_truth.max(initial=0))
        if str(self) == HALF and ground_truth.dtype.kind in "iu" and highest > 255:
            half = int(np.iinfo(ground_truth.dtype).max) * 128 // 255
            if (found != (ground_truth > half)).any():
                what = f"levels of {ground_truth.dtype} up to {highest:g}, and the rule {self} is for 8 bits"
                raise DataError(file, what, _named(f">{half}"))
        if ground_truth.any() and not found.any():
            few = np.unique(ground_truth).size <= 2
            if few or highest <= 1:
                what = f"holds values up to {highest:g}, and the rule {self} finds nothing salient"
                raise DataError(file, what, _named(f">={highest:g}" if few else ">0.5"))
        return found

    def note(self, ground_truth: NDArray[Any], labels: NDArray[np.bool_]) -> tuple[str, ...]:
        """Say that a mask with other values than 0 has no salient pixel."""
        if labels.any() or not ground_truth.any():
            return ()
        what = f"ground truth is not blank, but the rule {self} finds nothing salient"
        return (f"{what} [up to {ground_truth.max():g}]",)


def _named(rule: str) -> str:
    return f"name what is salient: {format_setting('positive', rule)}"

"""Which pixels of a ground truth are salient, and what is refused since the rule does not fit its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segbench.core.errors import DataError
from segbench.core.interface import given
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
        if ground_truth.dtype.kind == "b":
            return ground_truth
        found = self.positive(ground_truth)
        if str(self) == HALF and ground_truth.dtype.kind in "iu":
            self._require_bytes(file, ground_truth, found)
        if not found.any() and ground_truth.any():
            self._require_many(file, ground_truth)
        return found

    def _require_bytes(self, file: str, ground_truth: NDArray[Any], found: NDArray[np.bool_]) -> None:
        """Refuse levels of more than 8 bits, of which 128 is not half, where that makes a difference."""
        import numpy as np

        most, half = int(ground_truth.max()), int(np.iinfo(ground_truth.dtype).max) * 128 // 255
        if most > 255 and (found != (ground_truth > half)).any():
            what = f"levels of {ground_truth.dtype} up to {most}, and the rule {self} is for 8 bits"
            raise DataError(file, what, _named(f">{half}"))

    def _require_many(self, file: str, ground_truth: NDArray[Any]) -> None:
        """Refuse a mask of one or two values, or of shares, where the rule finds nothing."""
        import numpy as np

        values = np.unique(ground_truth)
        highest = float(values[-1])
        if values.size <= 2 or highest <= 1:
            what = f"holds values up to {highest:g}, and the rule {self} finds nothing salient"
            raise DataError(file, what, _named(f">={highest:g}" if values.size <= 2 else ">0.5"))

    def note(self, ground_truth: NDArray[Any], labels: NDArray[np.bool_]) -> tuple[str, ...]:
        """Say that a mask with other values than 0 has no salient pixel."""
        if labels.any() or not ground_truth.any():
            return ()
        what = f"ground truth is not blank, but the rule {self} finds nothing salient"
        return (f"{what} [up to {ground_truth.max():g}]",)


def _named(rule: str) -> str:
    return f"name what is salient: {given('positive', rule)}"

"""Where the images of a run lie, and how their names pair."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All it takes to find the images of a run again: folders or files, and the patterns that pair their names.

    Parameters
    ----------
    ground_truth : str
        A folder, or one file.
    prediction : str, optional
        The same; None where annotators are compared with each other.
    field : str, optional
        A folder of masks, nonzero where pixels count, or one mask for all images.
    gt_pattern, pred_pattern, field_pattern : str
        ``*`` stands for the image's name and ``#`` for the tag of an annotator (`gt_pattern`) or of one of several
        scales (`pred_pattern`: ``"*/#"`` is a folder of label maps an image); see `Pattern.parse`.
    negatives : str
        Predictions whose name this shell pattern fits (``"good/*"``) need no ground truth: all their pixels are
        negative. Empty for none.
    """

    ground_truth: str
    prediction: str | None = None
    field: str | None = None
    gt_pattern: str = "*"
    pred_pattern: str = "*"
    field_pattern: str = "*"
    negatives: str = ""

    def absolute(self) -> Self:
        """Give the same places wherever one stands."""
        return replace(
            self,
            ground_truth=_absolute(self.ground_truth),
            prediction=None if self.prediction is None else _absolute(self.prediction),
            field=None if self.field is None else _absolute(self.field),
        )

    def to_json(self) -> str:
        """Write them as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))


def _absolute(place: str) -> str:
    return str(Path(place).absolute())

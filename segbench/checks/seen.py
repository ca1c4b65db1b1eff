"""What is kept of an image that was looked into: a few numbers, of which findings are made."""

from __future__ import annotations

from dataclasses import dataclass

from segbench.checks.label_maps import LabelProbe
from segbench.core.errors import DataError
from segbench.protocols.predicted_labels import MANY_LEVELS, LabelsSeen

MOST_VALUES = MANY_LEVELS
"""How many distinct values are kept: enough to tell labels from grey levels."""


@dataclass(frozen=True, kw_only=True)
class TruthProbe:
    """What one ground truth holds.

    Parameters
    ----------
    values : tuple of float
        Distinct values where pixels count, rising, void left out; at most `MOST_VALUES`.
    positive_share : float
        Share of positive pixels.
    blocks, blocks_outside : float
        Share of positive, and of other, pixels that lie in a block of 2 x 2 of their kind; 0 where there are none.
    nan, ignored : int
        How many pixels are NaN, and how many are left out as void or outside the field of view.
    """

    file: str
    values: tuple[float, ...]
    positive_share: float
    blocks: float
    blocks_outside: float
    nan: int
    ignored: int = 0


@dataclass(frozen=True, kw_only=True)
class ScoreProbe:
    """What one prediction holds.

    Parameters
    ----------
    dtype : str
        As stored.
    pixels : int
        How many pixels count.
    lowest, highest : float
        Of the finite values, as stored.
    whole : bool
        Whether all values are whole numbers.
    values : tuple of float
        Distinct values, rising; at most `MOST_VALUES`.
    not_finite : int
        NaN and infinite values.
    auc : float
        Area under the ROC curve; nan without both classes.
    bright : bool
        Whether more than half of the pixels lie above half of the scale.
    top : tuple of (int, int)
        Positive and negative pixels at the top of the scale, the end that means positive.
    blocks : float
        Share of the pixels above half of the highest score that lie in a block of 2 x 2 such pixels.
    """

    file: str
    dtype: str
    pixels: int
    lowest: float
    highest: float
    whole: bool
    values: tuple[float, ...]
    not_finite: int
    auc: float
    bright: bool
    top: tuple[int, int]
    blocks: float

    @property
    def constant(self) -> bool:
        """Whether all pixels have one score."""
        return len(self.values) == 1


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What one image holds.

    Parameters
    ----------
    image : str
        Its name.
    failure : DataError, optional
        Why it cannot be read; then there is nothing else.
    truths : tuple of TruthProbe
        One an annotator; empty where ground truth is label maps. Where there is no ground truth, one without values.
    scores : ScoreProbe, optional
        Of a soft prediction.
    label_map : LabelProbe, optional
        Of a single predicted map of regions.
    coloured : tuple of str
        The files whose colour was turned to grey.
    may_hold_labels : bool
        Whether the prediction is to be judged as a label map: a single map where a soft map is expected.
    labels : LabelsSeen, optional
        Of such a prediction that may be a label map; None where it is not.
    prediction : str
        The file of such a prediction.
    """

    image: str
    failure: DataError | None = None
    truths: tuple[TruthProbe, ...] = ()
    scores: ScoreProbe | None = None
    label_map: LabelProbe | None = None
    coloured: tuple[str, ...] = ()
    may_hold_labels: bool = False
    labels: LabelsSeen | None = None
    prediction: str = ""

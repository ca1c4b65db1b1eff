"""What settings of objects may be, and the text that counts have for what they are of; light to import."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

Kind = Literal["instances", "panoptic", "components", "scored"]

INSTANCES, PANOPTIC, COMPONENTS = "instances", "panoptic", "components"
SCORED: Literal["scored"] = "scored"

MEAN_OVER = tuple(Fraction(k, 20) for k in range(10, 20))
"""The thresholds of IoU that metrics called mean are means over: .5, .55 to .95."""

OF_COMPONENTS = tuple(Fraction(k, 20) for k in range(5, 16))
"""The thresholds of SMIYC's component measure: .25, .3 to .75."""

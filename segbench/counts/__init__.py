"""Integer counts of images: they add with ``+``, and every number is derived from them.

The sum of counts does not depend on order or grouping, so any number of workers gives the same totals.
"""

from segbench.counts.boundaries import BoundaryCounts
from segbench.counts.classes import ClassCounts
from segbench.counts.regions import RegionCounts
from segbench.counts.scores import ScoreCounts
from segbench.counts.thresholds import Thresholds

__all__ = ["BoundaryCounts", "ClassCounts", "RegionCounts", "ScoreCounts", "Thresholds"]

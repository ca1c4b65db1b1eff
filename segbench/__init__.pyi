from .counts import BoundaryCounts as BoundaryCounts
from .counts import ScoreCounts as ScoreCounts
from .errors import ArgumentError as ArgumentError
from .errors import DataError as DataError
from .errors import SegbenchError as SegbenchError

"""Counts to numbers: curves, areas, F-measures, bounds.

Every function takes counts and nothing else, so a figure can be drawn again from a results file without an image.
"""

from segbench.curves.areas import auc_pr, auc_roc, average_precision
from segbench.curves.bands import Band, curve_band
from segbench.curves.comparison import Comparison, Difference, compare
from segbench.curves.conversion import ConfusionPoints, from_pr, from_roc
from segbench.curves.curve import Curve, pr_curve, roc_curve
from segbench.curves.dominance import Dominance, RecallRange, dominates
from segbench.curves.explain import AreaExplanation, explain_areas
from segbench.curves.fmeasure import BestF, best_f, fpr_at_tpr
from segbench.curves.gain import GainCurve, pr_gain_curve
from segbench.curves.hull import achievable_pr_curve, roc_hull
from segbench.curves.intervals import Intervals
from segbench.curves.operating import OperatingPoint, at_tpr, best_iou, precision_at_recall, recall_at_precision
from segbench.curves.permutation import holm
from segbench.curves.resampling import bootstrap
from segbench.curves.summary import Summary, pixel_image_figures, pixel_summary
from segbench.curves.tables import Table, pixel_table
from segbench.curves.tuning import thresholds_from

__all__ = [
    "AreaExplanation",
    "Band",
    "BestF",
    "Comparison",
    "ConfusionPoints",
    "Curve",
    "Difference",
    "Dominance",
    "GainCurve",
    "Intervals",
    "OperatingPoint",
    "RecallRange",
    "Summary",
    "Table",
    "achievable_pr_curve",
    "at_tpr",
    "auc_pr",
    "auc_roc",
    "average_precision",
    "best_f",
    "best_iou",
    "bootstrap",
    "compare",
    "curve_band",
    "dominates",
    "explain_areas",
    "fpr_at_tpr",
    "from_pr",
    "from_roc",
    "holm",
    "pixel_image_figures",
    "pixel_summary",
    "pixel_table",
    "pr_curve",
    "pr_gain_curve",
    "precision_at_recall",
    "recall_at_precision",
    "roc_curve",
    "roc_hull",
    "thresholds_from",
]

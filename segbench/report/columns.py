"""Which figures tables show, what the field calls them, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from segbench.curves.boundary_summary import IMAGE_KEYS

Direction = Literal["highest", "lowest", "none"]


@dataclass(frozen=True)
class Column:
    """One column: the key of a figure, what the field calls it, and whether a higher figure is better.

    Where a terminal is too narrow for all, those to spare are left out, 1 before 2; 0 always stays.
    """

    key: str
    title: str
    best: Direction = "none"
    spare: int = 0


COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "pixels": (
        Column("ods_f", "ODS", "highest"),
        Column("ods_precision", "P", spare=7),
        Column("ods_recall", "R", spare=6),
        Column("ods_threshold", "at"),
        Column("iou", "IoU", "highest", spare=1),
        Column("ois_f", "OIS", "highest"),
        Column("mean_image_f", "mean", "highest", spare=3),
        Column("auc_pr", "AUC-PR", "highest"),
        Column("auc_pr_achievable", "hull*", "highest", spare=1),
        Column("average_precision", "AP", "highest", spare=4),
        Column("auc_roc", "AUC-ROC", "highest", spare=5),
        Column("fpr_at_95_tpr", "FPR95", "lowest", spare=2),
    ),
    "classes": (
        Column("classes_present", "classes"),
        Column("macro_ods_f", "macro ODS", "highest"),
        Column("macro_iou", "IoU", "highest", spare=1),
        Column("macro_ois_f", "OIS", "highest", spare=5),
        Column("macro_auc_pr", "AUC-PR", "highest"),
        Column("macro_average_precision", "AP", "highest"),
        Column("macro_auc_roc", "AUC-ROC", "highest", spare=4),
        Column("macro_fpr_at_95_tpr", "FPR95", "lowest", spare=2),
        Column("micro_ods_f", "micro ODS", "highest"),
        Column("micro_auc_pr", "AUC-PR", "highest", spare=6),
        Column("micro_average_precision", "AP", "highest", spare=3),
        Column("micro_auc_roc", "AUC-ROC", "highest", spare=1),
    ),
    "boundaries": (
        Column("ods_f", "ODS", "highest"),
        Column("ods_precision", "P", spare=7),
        Column("ods_recall", "R", spare=6),
        Column("ods_threshold", "at"),
        Column("ois_f", "OIS", "highest"),
        Column("ois_precision", "P", spare=3),
        Column("ois_recall", "R", spare=2),
        Column("mean_image_f", "mean", "highest", spare=4),
        Column("area_pr", "AP", "highest"),
        Column("area_pr_extended", "AP ext*", "highest", spare=1),
        Column("r50", "R50", "highest", spare=5),
    ),
    "regions": (
        Column("covering_ods", "cover ODS", "highest"),
        Column("covering_ods_threshold", "at"),
        Column("covering_ois", "OIS", "highest"),
        Column("covering_best", "best", "highest", spare=6),
        Column("pri_ods", "PRI ODS", "highest"),
        Column("pri_ois", "OIS", "highest", spare=5),
        Column("voi_ods", "VOI ODS", "lowest"),
        Column("voi_ois", "OIS", "lowest", spare=4),
        Column("voi_split", "split", spare=2),
        Column("voi_merge", "merge", spare=1),
        Column("are_ods", "ARE ODS", "lowest"),
        Column("are_ois", "OIS", "lowest", spare=3),
    ),
}
IMAGE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "pixels": (
        "f",
        "precision",
        "recall",
        "threshold",
        "iou",
        "auc_roc",
        "auc_pr",
        "average_precision",
        "positives",
        "negatives",
        "ignored",
    ),
    "classes": (
        "classes_present",
        "macro_f",
        "macro_iou",
        "macro_auc_pr",
        "macro_average_precision",
        "macro_auc_roc",
        "micro_f",
        "micro_threshold",
        "micro_auc_pr",
        "micro_average_precision",
        "micro_auc_roc",
        "pixels",
        "ignored",
    ),
    "boundaries": IMAGE_KEYS,
    "regions": ("covering", "threshold", "covering_best", "covering_of_prediction", "pri", "voi", "are"),
}
"""The figures of an image, by their keys."""

HEADLINES: Mapping[str, str] = {
    "pixels": "ods_f",
    "classes": "macro_ods_f",
    "boundaries": "ods_f",
    "regions": "covering_ods",
}
"""The figure by which methods are ranked."""

FOOTNOTES: Mapping[str, tuple[str, ...]] = {
    "pixels": (
        "ODS, OIS, mean: best F of the pool, of each image pooled, of each image averaged; P, R, at, IoU: of the ODS",
        "* achievable AUC-PR: thresholds chosen on the very images it describes, so optimistic",
    ),
    "classes": (
        "macro: the mean over the classes that the ground truth holds (classes), each at its own best threshold",
        "micro: of all classes added up, every pixel a case of each class, at one threshold for all",
    ),
    "boundaries": (
        "ODS, OIS, mean: best F of the pool, of each image pooled, of each image averaged; P, R, at: beside each",
        "AP: Area_PR as BSDS measures it; * the curve first extended to recall 1, another rule and another number",
    ),
    "regions": (
        "cover: area covered, each ground-truth region by its best overlap; best: each at its own threshold",
        "VOI in bits, split and merge of its ODS; ARE: adapted Rand error; both are best where lowest",
    ),
}


def optimistic_notes(protocol: str) -> tuple[str, ...]:
    """Say which figures of a protocol were chosen on the images they describe; for tables that travel alone.

    Examples
    --------
    >>> optimistic_notes("boundaries")
    ()
    """
    return tuple(note for note in FOOTNOTES[protocol] if "optimistic" in note)

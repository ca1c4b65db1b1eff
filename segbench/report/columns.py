"""Which figures tables show, what the field calls them, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Direction = Literal["highest", "lowest", "none"]


@dataclass(frozen=True)
class Column:
    """One column: the key of a figure, what the field calls it, and whether a higher figure is better."""

    key: str
    title: str
    best: Direction = "none"


COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "pixels": (
        Column("ods_f", "ODS", "highest"),
        Column("ods_precision", "P"),
        Column("ods_recall", "R"),
        Column("ods_threshold", "at"),
        Column("ois_f", "OIS", "highest"),
        Column("mean_image_f", "mean", "highest"),
        Column("auc_pr", "AUC-PR", "highest"),
        Column("auc_pr_achievable", "hull*", "highest"),
        Column("average_precision", "AP", "highest"),
        Column("auc_roc", "AUC-ROC", "highest"),
        Column("fpr_at_95_tpr", "FPR95", "lowest"),
    ),
    "boundaries": (
        Column("ods_f", "ODS", "highest"),
        Column("ods_precision", "P"),
        Column("ods_recall", "R"),
        Column("ods_threshold", "at"),
        Column("ois_f", "OIS", "highest"),
        Column("ois_precision", "P"),
        Column("ois_recall", "R"),
        Column("mean_image_f", "mean", "highest"),
        Column("area_pr", "AP", "highest"),
        Column("area_pr_extended", "AP ext*", "highest"),
        Column("r50", "R50", "highest"),
    ),
    "regions": (
        Column("covering_ods", "cover ODS", "highest"),
        Column("covering_ods_threshold", "at"),
        Column("covering_ois", "OIS", "highest"),
        Column("covering_best", "best", "highest"),
        Column("pri_ods", "PRI ODS", "highest"),
        Column("pri_ois", "OIS", "highest"),
        Column("voi_ods", "VOI ODS", "lowest"),
        Column("voi_ois", "OIS", "lowest"),
        Column("voi_split", "split"),
        Column("voi_merge", "merge"),
        Column("are_ods", "ARE ODS", "lowest"),
        Column("are_ois", "OIS", "lowest"),
    ),
}
IMAGE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "pixels": (
        "f",
        "precision",
        "recall",
        "threshold",
        "auc_roc",
        "auc_pr",
        "average_precision",
        "positives",
        "negatives",
        "ignored",
    ),
    "boundaries": ("f", "precision", "recall", "threshold", "area_pr"),
    "regions": ("covering", "threshold", "covering_best", "covering_of_prediction", "pri", "voi", "are"),
}
"""The figures of an image, by their keys."""

HEADLINES: Mapping[str, str] = {"pixels": "ods_f", "boundaries": "ods_f", "regions": "covering_ods"}
"""The figure by which methods are ranked."""

FOOTNOTES: Mapping[str, tuple[str, ...]] = {
    "pixels": (
        "ODS, OIS, mean: best F of the pool, of each image pooled, of each image averaged; P, R, at: of the ODS",
        "* achievable AUC-PR: thresholds chosen on the very images it describes, so optimistic",
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

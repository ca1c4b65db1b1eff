"""Which figures tables show, what the field calls them, and which way is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


@dataclass(frozen=True)
class Footnote:
    """What some columns mean; named by their titles where it has no label of its own."""

    keys: tuple[str, ...]
    text: str
    label: str = ""


_BEST_F = (
    (
        Footnote(("ods_f",), "best F with one threshold for all images"),
        Footnote(("ois_f",), "each image at its own, counts pooled"),
    ),
    (Footnote(("mean_image_f",), "average of per-image best F"),),
)
_VOI, _ARE = ("voi_ods", "voi_ois"), ("are_ods", "are_ois")
FOOTNOTES: Mapping[str, tuple[tuple[Footnote, ...], ...]] = {
    "pixels": (
        _BEST_F[0],
        (*_BEST_F[1], Footnote(("ods_precision", "ods_recall", "ods_threshold", "iou"), "of the ODS")),
        (
            Footnote(
                ("auc_pr_achievable",), "achievable AUC-PR, optimistic: thresholds were tuned on these same images"
            ),
        ),
    ),
    "classes": (
        (
            Footnote(
                ("macro_ods_f", "macro_ois_f"),
                "mean over the classes in the ground truth, each at its own best threshold",
                "macro",
            ),
        ),
        (Footnote(("micro_ods_f", "micro_auc_pr"), "all classes pooled, every pixel counted once per class", "micro"),),
    ),
    "boundaries": (
        _BEST_F[0],
        (
            *_BEST_F[1],
            Footnote(
                ("ods_precision", "ods_recall", "ods_threshold", "ois_precision", "ois_recall"), "of the F before them"
            ),
        ),
        (
            Footnote(("area_pr",), "Area_PR as BSDS measures it"),
            Footnote(("area_pr_extended",), "of the curve extended to recall 1, not comparable with AP"),
        ),
    ),
    "regions": (
        (
            Footnote(("covering_ods", "covering_ois"), "each ground-truth region covered by its best overlap", "cover"),
            Footnote(("covering_best",), "each region at its own threshold"),
        ),
        (
            Footnote(_VOI, "variation of information in bits", "VOI"),
            Footnote(("voi_split", "voi_merge"), "its parts at the ODS"),
        ),
        (Footnote(_ARE, "adapted Rand error", "ARE"), Footnote((*_VOI, *_ARE), "lowest is best", "VOI, ARE")),
    ),
}
"""Lines below a table."""


def footnotes(protocol: str, keys: Collection[str] | None = None) -> tuple[str, ...]:
    """Give the lines below a table of a protocol, for the columns it shows; by default all.

    Examples
    --------
    >>> footnotes("pixels", ["ods_f", "ods_threshold"])
    ('ODS: best F with one threshold for all images', 'at: of the ODS')
    """
    lines = []
    for line in FOOTNOTES[protocol]:
        parts = []
        for note in line:
            shown = dict.fromkeys(
                column.title
                for column in COLUMNS[protocol]
                if column.key in note.keys and (keys is None or column.key in keys)
            )
            if shown:
                parts.append(f"{note.label or ', '.join(shown)}: {note.text}")
        if parts:
            lines.append("; ".join(parts))
    return tuple(lines)


def optimistic_notes(protocol: str) -> tuple[str, ...]:
    """Say which metrics of a protocol were tuned on the images they describe; for tables that are read elsewhere.

    Examples
    --------
    >>> optimistic_notes("boundaries")
    ()
    """
    return tuple(note for note in footnotes(protocol) if "optimistic" in note)

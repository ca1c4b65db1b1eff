"""Tables of figures: a line a method, or a line an image; for the terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from segbench.aggregator.result import Result
from segbench.curves import Intervals, Summary


@dataclass(frozen=True)
class Column:
    """One column: the key of a figure, what the field calls it, and whether a higher figure is better."""

    key: str
    title: str
    best: Literal["highest", "lowest", "none"] = "none"


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
    "classes": (
        Column("classes_present", "classes"),
        Column("macro_ods_f", "macro ODS", "highest"),
        Column("macro_ois_f", "OIS", "highest"),
        Column("macro_auc_pr", "AUC-PR", "highest"),
        Column("macro_average_precision", "AP", "highest"),
        Column("macro_auc_roc", "AUC-ROC", "highest"),
        Column("macro_fpr_at_95_tpr", "FPR95", "lowest"),
        Column("micro_ods_f", "micro ODS", "highest"),
        Column("micro_auc_pr", "AUC-PR", "highest"),
        Column("micro_average_precision", "AP", "highest"),
        Column("micro_auc_roc", "AUC-ROC", "highest"),
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
IMAGE_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "classes": tuple(
        Column(key, key)
        for key in (
            "classes_present",
            "macro_f",
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
        )
    ),
    "pixels": tuple(
        Column(key, key)
        for key in (
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
        )
    ),
    "boundaries": tuple(Column(key, key) for key in ("f", "precision", "recall", "threshold", "area_pr")),
    "regions": tuple(
        Column(key, key)
        for key in ("covering", "threshold", "covering_best", "covering_of_prediction", "pri", "voi", "are")
    ),
}
HEADLINES: Mapping[str, str] = {
    "pixels": "ods_f",
    "classes": "macro_ods_f",
    "boundaries": "ods_f",
    "regions": "covering_ods",
}
"""The figure by which methods are ranked."""

FOOTNOTES: Mapping[str, tuple[str, ...]] = {
    "pixels": (
        "ODS, OIS, mean: best F of the pool, of each image pooled, of each image averaged; P, R, at: of the ODS",
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


def number(value: float, bounds: tuple[float, float] | None = None) -> str:
    """Write a figure as the field does: four digits, no leading zero; bounds as ``.8123 ±.0002``.

    Examples
    --------
    >>> number(0.81234), number(1.0), number(1234), number(math.nan), number(0.5, (0.4998, 0.5001))
    ('.8123', '1.0000', '1234', '-', '.5000 ±.0002')
    """
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "-"
    text = _short(value)
    if bounds is None or not math.isfinite(value):
        return text
    # Of what is shown, not of the value behind it, so that the exact figure lies within what is printed.
    spread = max(bounds[1] - float(text), float(text) - bounds[0])
    rounded_up = math.ceil(round(spread * 10_000, 6)) / 10_000
    return f"{text} ±{_short(rounded_up)}"


def _short(value: float) -> str:
    if value != 0 and abs(value) < 5e-5:
        return f"{value:.2g}"
    text = f"{value:.4f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-").startswith("0.") else text


def names_of(results: Sequence[Result]) -> list[str]:
    """Name the method of each result; of runs that share a name, with the settings in which they differ."""
    names = []
    for result in results:
        namesakes = [other for other in results if other.method == result.method]
        alike = [other.settings for other in namesakes if other.protocol == result.protocol]
        keys = dict.fromkeys(key for settings in alike for key in settings)
        told = [
            f"{key}:{result.settings.get(key, 'none')}"
            for key in keys
            if len({settings.get(key) for settings in alike}) > 1
        ]
        if len(alike) < len(namesakes):
            told.insert(0, result.protocol)
        names.append(f"{result.method} ({', '.join(told)})" if told else result.method)
    return names


def by_protocol(results: Sequence[Result]) -> dict[str, list[int]]:
    """Give the places of the results of each protocol."""
    places: dict[str, list[int]] = {}
    for place, result in enumerate(results):
        places.setdefault(result.protocol, []).append(place)
    return places


def cell(summary: Summary, column: Column) -> str:
    """Write one figure of a summary."""
    return number(summary[column.key], summary.bounds.get(column.key))


def best_of(results: Sequence[Result], column: Column) -> float:
    """Find the best figure of a column; NaN where the column has none."""
    values = [result.summary[column.key] for result in results]
    defined = [value for value in values if not math.isnan(value)]
    if column.best == "none" or not defined:
        return math.nan
    return max(defined) if column.best == "highest" else min(defined)


def optimistic_notes(protocol: str) -> tuple[str, ...]:
    """Say which figures of a protocol were chosen on the images they describe; for tables that travel alone.

    Examples
    --------
    >>> optimistic_notes("boundaries")
    ()
    """
    return tuple(note for note in FOOTNOTES[protocol] if "optimistic" in note)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], form: str, *, notes: Sequence[str] = ()) -> str:
    """Write rows of text as ``"csv"``, ``"markdown"`` or ``"latex"`` (booktabs), with notes below the latter two."""
    if form == "csv":
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([header, *rows])
        return lines.getvalue()
    from tabulate import tabulate

    style = {"markdown": "github", "latex": "latex_booktabs"}[form]
    table: str = tabulate(rows, header, tablefmt=style, disable_numparse=True)
    # In LaTeX a comment, for a caption is the author's; in Markdown a star would begin a list.
    below = [f"% {note}\n" if form == "latex" else "\n" + note.replace("*", "\\*", 1) + "\n" for note in notes]
    return table + "\n" + "".join(below)


def method_rows(
    results: Sequence[Result], *, intervals: Sequence[Intervals] = (), exact: bool
) -> tuple[list[str], list[list[str]]]:
    """Give header and rows of a table with a line a method, for results of one protocol.

    With `exact`, every key of the summary is a column and figures keep all their digits, for other programs; results
    may then be of several protocols, and columns that are not a protocol's stay empty. Intervals, one a result, are
    columns of their own then, and stand behind the figure otherwise: ``.8123 [.7901, .8302]``.
    """
    if exact:
        return _exact_rows(results, intervals)
    columns = COLUMNS[results[0].protocol]
    rows = [
        [name, *(cell(result.summary, column) for column in columns)]
        for name, result in zip(names_of(results), results, strict=True)
    ]
    for row, drawn in zip(rows, intervals, strict=False):
        for place, column in enumerate(columns, start=1):
            if not math.isnan(drawn.get(column.key, (math.nan, math.nan))[0]):
                row[place] += " [{}, {}]".format(*map(number, drawn[column.key]))
    return ["method", *(column.title for column in columns)], rows


def _exact_rows(results: Sequence[Result], intervals: Sequence[Intervals]) -> tuple[list[str], list[list[str]]]:
    keys = list(dict.fromkeys(key for result in results for key in result.summary))
    bounded = [key for key in keys if any(key in drawn for drawn in intervals)]
    ends = [f"{key}_{end}" for key in bounded for end in ("low", "high")]
    header = ["method", *keys, *ends, "images", "failed", "signature"]
    rows = []
    for place, result in enumerate(results):
        figures = [_digits(result.summary.get(key, math.nan)) for key in keys]
        limits = [_digits(end) for key in bounded for end in intervals[place].get(key, (math.nan, math.nan))]
        totals = [str(len(result.counts)), str(len(result.failed)), result.signature]
        rows.append([result.method, *figures, *limits, *totals])
    return header, rows


def image_rows(results: Sequence[Result], *, exact: bool) -> tuple[list[str], list[list[str]]]:
    """Give header and rows of a table with a line an image and method; of several protocols only where `exact`."""
    columns = list(dict.fromkeys(column for result in results for column in IMAGE_COLUMNS[result.protocol]))
    rows = []
    for method, result in zip(names_of(results), results, strict=True):
        for name, figures in result.per_image.items():
            known = [(figures.get(column.key, math.nan), figures.bounds.get(column.key)) for column in columns]
            cells = [_digits(figure) if exact else number(figure, bounds) for figure, bounds in known]
            rows.append([method, name, *cells])
    return ["method", "image", *(column.title for column in columns)], rows


def _digits(value: float) -> str:
    return "" if math.isnan(value) else repr(value)

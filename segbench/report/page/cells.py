"""Tables of metrics and remarks on them, as the template shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape

from segbench.core.grouping import grouped
from segbench.core.messages import Note
from segbench.core.metric import Metric
from segbench.core.numbers import exact, number
from segbench.report.metric_table import MetricTable, TableRow
from segbench.report.remarks import Remark

_NAN = float("nan")
_WRONG = ("failed", "ranked-apart", "in-no-part", "outdated")
_MERGED = ("no-interval", "undefined")
"""Kinds of notes that list metrics behind a reason, of which several stand in one line."""


def laid_out(table: MetricTable, names: int, title: str = "", *, sorted_by: str = "") -> dict[str, Any]:
    """Return the variables of the template for a table with columns of names; `sorted_by` is the key that sorts it."""
    text = table.text()
    return {
        "title": title,
        "sorted_by": sorted_by,
        "table": table,
        "heading": text.heading(range(names, len(text.header))),
        "marks": {metric.key: table.marks(metric.key) for metric in table.columns},
    }


def value_cell(row: TableRow, metric: Metric, mark: str = "") -> Markup:
    """Write the cell of a metric: its value, with all digits for sorting, and the interval below."""
    key = metric.key
    value = row.summary.get(key, _NAN)
    why = row.summary.undefined.get(key)
    low, high = row.intervals.get(key, (_NAN, _NAN))
    deviation = row.sd.get(key, _NAN)
    css = f' class="{mark}"' if mark else ""
    title = f' title="undefined: {escape(why)}"' if why else ""
    written = metric.written(value) + (f" ± {number(deviation)}" if exact(deviation) else "")
    ends = f"<small>{metric.written(low)}–<wbr>{metric.written(high)}</small>" if exact(low) else ""  # noqa: RUF001  a range
    return Markup(f'<td data-v="{exact(value)}"{css}{title}><span>{written}</span>{ends}</td>')  # noqa: S704  numbers


def titled(note: Note, names: Mapping[str, str]) -> Note:
    """Return a note that calls metrics by these names where what it says of one begins with its key."""
    of_metrics = (
        (key, f"{names.get(key, key)}{text.removeprefix(key)}" if text.startswith(key) else text)
        for key, text in note.metrics
    )
    return replace(note, metrics=tuple(of_metrics))


def written_remarks(
    remarks: Sequence[Remark], names: Mapping[str, str], hide: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Write remarks for the template, what is wrong first: without paths, metrics by their names."""
    merged = grouped((_alike(remark), remark) for remark in remarks).values()
    written = [_written(several, names, hide) for several in merged]
    return sorted(written, key=lambda remark: remark["kind"] != "wrong")


def _alike(remark: Remark) -> object:
    """Return what remarks that stand in one line have in common."""
    return (remark.note.kind, remark.note.before) if remark.note.kind in _MERGED else remark


def _written(several: Sequence[Remark], names: Mapping[str, str], hide: Callable[[str], str]) -> dict[str, Any]:
    """Write remarks that differ in reason and metrics alone as one."""
    first, *others = (titled(remark.note, names) for remark in several)
    text = first.written("options")
    details = [line.written("options") for remark in several for line in remark.details]
    for note in others:  # what is said of them stands once
        text += f"; {replace(note, before='').written('options')}"
    if several[0].kind in ("run", "failed"):  # only what reading files said names paths
        text, details = hide(text), [*map(hide, details)]
    is_wrong = several[0].kind == "failed" or first.kind in _WRONG
    return {"kind": "wrong" if is_wrong else "", "text": text, "details": details}

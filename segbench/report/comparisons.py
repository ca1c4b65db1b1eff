"""Comparisons of methods as tables and JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence

from rich.console import Console

from segbench.curves import Comparison, Difference
from segbench.report.documents import finite
from segbench.report.tables import number
from segbench.report.terminal import empty_table, print_whole

SHOWN: Mapping[str, tuple[str, ...]] = {
    "pixels": ("ods_f", "ois_f", "mean_image_f", "auc_pr", "auc_roc"),
    "classes": (
        "macro_ods_f",
        "macro_auc_pr",
        "macro_average_precision",
        "macro_auc_roc",
        "micro_ods_f",
        "micro_auc_pr",
    ),
    "boundaries": ("ods_f", "ois_f", "mean_image_f", "area_pr", "r50"),
    "regions": ("covering_ods", "covering_ois", "covering_best", "pri_ods", "voi_ods", "are_ods"),
}
"""The figures that tables show; JSON and CSV hold all."""

_HEADER = ("figure", "a", "b", "of a", "of b", "a - b", "p", "p (Holm)", "wins", "ties", "losses")


def comparison_json(comparison: Comparison, *, signature: str) -> str:
    """Write a comparison as JSON: ``differences``, one object a figure and pair, ``rank_shares``, how it was drawn.

    What is not defined is null, with the reason under ``undefined``.
    """
    first = next(iter(comparison.intervals.values()))
    document = {
        "schema": 1,
        "signature": f"{signature}|{first.signature}|permutations:{comparison.permutations}",
        "images": comparison.images,
        "level": first.level,
        "permutations": comparison.permutations,
        "exact": comparison.exact,
        "differences": [_finite_row(row) for row in comparison.differences],
        "undefined": dict(comparison.undefined),
        "optimistic": [figure for figure in comparison.rank_shares if figure.endswith("auc_pr_achievable")],
        "rank_shares": {
            figure: {method: [finite(share) for share in shares] for method, shares in methods.items()}
            for figure, methods in comparison.rank_shares.items()
        },
        "notes": list(comparison.notes),
    }
    return json.dumps(document, indent=2) + "\n"


def comparison_rows(
    comparison: Comparison, *, figures: Sequence[str] | None, exact: bool
) -> tuple[list[str], list[list[str]]]:
    """Give header and rows of a table with a line a figure and pair.

    Parameters
    ----------
    comparison : Comparison
    figures : sequence of str, optional
        Which to show; None for all.
    exact : bool
        Every field with all its digits, for other programs.
    """
    rows = [row for row in comparison.differences if figures is None or row.figure in figures]
    if figures is not None:
        rows.sort(key=lambda row: figures.index(row.figure))
    if exact:
        names = [field.name for field in dataclasses.fields(Difference)]
        return names, [[_plain(getattr(row, name)) for name in names] for row in rows]
    return list(_HEADER), [_short_row(row) for row in rows]


def show_comparison(comparison: Comparison, console: Console, *, figures: Sequence[str], signature: str) -> None:
    """Print a comparison: differences with intervals and p-values, then how often each method is first."""
    header, rows = comparison_rows(comparison, figures=figures, exact=False)
    table = empty_table()
    for place, title in enumerate(header):
        table.add_column(title, justify="left" if place < 3 else "right", no_wrap=True)
    previous = ""
    for row in rows:
        if previous not in ("", row[0]) and len(rows) > len(figures):
            table.add_row()
        table.add_row(*row)
        previous = row[0]
    print_whole(table, console)
    first = next(iter(comparison.intervals.values()))

    def say(text: str, style: str = "dim") -> None:
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    for figure in [figure for figure in figures if figure not in comparison.undefined][:1]:
        shares = sorted(comparison.rank_shares[figure].items(), key=lambda item: -item[1][0])
        say(
            f"first, or equal to it, by {figure} in replicates: "
            + ", ".join(f"{name} {share[0]:.1%}" for name, share in shares)
        )
    images = "1 image" if comparison.images == 1 else f"{comparison.images} images"
    ways = "all" if comparison.exact else f"{comparison.permutations}"
    say(
        f"a - b: the difference with its {100 * first.level:g} % interval over {images}; "
        f"p: two-sided, {ways} ways of swapping images between a and b; Holm: corrected for the number of pairs"
    )
    for reason in dict.fromkeys(comparison.undefined.values()):
        without = [figure for figure in figures if comparison.undefined.get(figure) == reason]
        if without:
            say(f"undefined ({reason}): {', '.join(without)}", "yellow")
    for figure in [figure for figure in figures if figure.endswith("auc_pr_achievable")]:
        say(f"{figure}: of hulls whose thresholds were chosen on the very images they describe: optimistic")
    for note in comparison.notes:
        say(note, "yellow")
    say(f"{signature}|{first.signature}|permutations:{comparison.permutations}")


def _short_row(row: Difference) -> list[str]:
    ends = "" if math.isnan(row.low) else f" [{_signed(row.low)}, {_signed(row.high)}]"
    return [
        row.figure,
        row.a,
        row.b,
        number(row.estimate_a),
        number(row.estimate_b),
        _signed(row.difference) + ends,
        number(row.p_value),
        number(row.p_holm),
        str(row.wins),
        str(row.ties),
        str(row.losses),
    ]


def _signed(value: float) -> str:
    return number(value) if math.isnan(value) or value <= 0 else f"+{number(value)}"


def _plain(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else repr(value)


def _finite_row(row: Difference) -> dict[str, float | str | None]:
    return {key: value if isinstance(value, str) else finite(value) for key, value in dataclasses.asdict(row).items()}

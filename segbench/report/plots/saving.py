"""Plots of every kind, and as files: PDF and SVG keep lines as lines and text as text, the same bytes every time."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from segbench.aggregator.result import Result, as_results, names_of, parts_if_any
from segbench.aggregator.writing import write_file
from segbench.core.errors import ArgumentError
from segbench.core.messages import Either, Message, Setting
from segbench.drawing.axes import as_axes, centre, new_axes
from segbench.drawing.captions import caption_of
from segbench.drawing.charts import COLUMN
from segbench.drawing.letters import draw_as_outlines
from segbench.drawing.numerals import numerals_as
from segbench.drawing.written import FONTS, WRITTEN, families_for
from segbench.report.plots.kinds import KINDS, kind_of
from segbench.report.plots.methods import Kind, usual_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = tuple(WRITTEN)
FIGURE = "figure"
"""The plot of images, which is a page of pictures with a size of its own: see `segbench.report.figure`."""
_DPI = 200
_BY_WIDTH: Sequence[tuple[float, Mapping[str, Any]]] = (
    (COLUMN, {"font.size": 8, "lines.linewidth": 1.2, "lines.markersize": 4.5}),
    (10, {}),
    (math.inf, {"font.size": 18, "lines.linewidth": 3, "lines.markersize": 11, "axes.linewidth": 1.4}),
)
"""Settings of pictures up to a width in inches: a column of a paper, its whole width, and a slide."""


def plot(
    results: Result | Sequence[Result],
    kind: str,
    *,
    ax: Axes | None = None,
    digits: int | None = None,
    leading_zeros: bool = False,
    **options: Any,  # noqa: ANN401
) -> Axes:
    """Draw results as ``segbench plot --kind`` does; kinds with options have functions of their own, as `plot_pr`.

    Parameters
    ----------
    results : Result or sequence of Result
        Of one protocol, which has this kind; the best method comes first in the legend.
    kind : str
        Such as ``"f"``, ``"comparison"`` or ``"nsd"``; ``docs/plots.md`` shows all.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    digits : int, optional
        Decimal places of metrics in legends and beside rows; four if left out.
    leading_zeros : bool
        Write 0.7971 instead of .7971, along axes, too.
    **options
        Of most kinds ``metric``, and of those with intervals ``level``.
        Of ``"figure"``, the images of a paper: ``images`` (folder of photographs), ``rows="worst:2,disagree:1,best:1"``
        or names of images, ``style="errors"`` (``"contours"``, ``"labels"``), ``transpose``, ``metric``,
        ``threshold``, ``crops=["NAME:x,y,w,h"]``, ``width`` (inches, or a venue such as ``"cvpr-column"``) and
        ``names={"ours": "Ours"}``. It has axes of its own, whose unit is a point; see ``docs/figure.md``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For an unknown kind, no results, results that have no such plot, or an option that the kind does not take.
    DataError
        If of a figure nothing can be drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import evaluate
    >>> result = evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net")
    >>> ax = plot(result, "f", ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel(), ax.get_legend_handles_labels()[1]
    ('Threshold', 'F', ['[F=.8000] net'])
    """
    if kind == FIGURE:
        from segbench.report.figure.drawing import draw_grid
        from segbench.report.figure.grid import FigureSettings, grid_of

        known = [setting.name for setting in fields(FigureSettings)]
        _refuse_options(kind, options, known)
        with numerals_as(digits, zeros=leading_zeros):
            return draw_grid(grid_of(results, FigureSettings(**options)), ax)
    _refuse_options(kind, options, kind_of(kind).options)
    with numerals_as(digits, zeros=leading_zeros):
        return kind_of(kind).draw(as_results(results), ax=as_axes(ax), **options)


def _refuse_options(kind: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse options that a kind of plot does not take."""
    for name in options.keys() - {*known}:
        raise ArgumentError(
            Message(
                "unknown-setting",
                "a plot of kind {kind} does not take {option!r}; it takes {known}",
                kind=kind,
                option=name,
                known=["ax", *known],
            )
        )


class SavedPlot(NamedTuple):
    """A plot that was written: its kind, and what its caption should say."""

    kind: Kind
    caption: list[str]


def save_plot(
    results: Sequence[Result],
    path: Path,
    *,
    kind: str | None = None,
    metric: str | None = None,
    level: float | None = None,
    size: tuple[float, float] | None = None,
    grey: bool = False,
    digits: int | None = None,
    zeros: bool = False,
    say: Callable[[str], None] | None = None,
) -> SavedPlot:
    """Draw results into a file, perhaps in greys; `say` is told of names that cannot be drawn."""
    if path.suffix.lower() not in FORMATS:
        raise ArgumentError(
            Message(
                "other-suffix",
                "{path}: plots are written as {known}; give a name that ends in one of these",
                path=str(path),
                known=list(FORMATS),
            )
        )
    chosen = kind or usual_kind(results)
    plot = kind_of(chosen)
    options = _options_of(chosen, plot, metric, level)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    suffix = path.suffix.lower()
    settings: dict[Any, Any] = {**FONTS, **(_settings_for(size[0]) if size else {})}
    with mpl.rc_context(settings), warnings.catch_warnings(), numerals_as(digits, zeros=zeros):
        # `families_for` says what they say, once.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        families = families_for(_names_in(results), suffix, say)
        mpl.rcParams["font.family"] = families
        # Not pyplot: what is only written must neither stay in memory nor ask for a window.
        figure = Figure(figsize=size, dpi=_DPI, layout="constrained")  # letters are as wide as when they are measured
        ax = plot.draw(results, ax=new_axes(figure, may_grow=not size), **options)
        if size:
            centre(ax)
        if grey:
            from segbench.drawing.greys import draw_in_greys

            draw_in_greys(figure)
        if suffix == ".pdf" and not mpl.rcParams["text.usetex"]:
            draw_as_outlines(figure, families)
        written = WRITTEN[suffix]
        drawn = io.BytesIO()
        kind_of_file = suffix.removeprefix(".")
        figure.savefig(drawn, format=kind_of_file, dpi=_DPI, bbox_inches=None if size else "tight", metadata=written)
    write_file(path, drawn.getvalue(), hint="name another file")
    return SavedPlot(plot, caption_of(ax))


def _options_of(name: str, kind: Kind, metric: str | None, level: float | None) -> dict[str, Any]:
    """Return the keywords of a kind of plot; refuse those that it does not take."""
    if level is not None and not kind.level:
        raise ArgumentError(
            Message(
                "no-bands",
                "a plot of kind {kind} has no bands; leave out {option}",
                kind=name,
                option=Either("level", "--intervals"),
            )
        )
    if metric is not None and not kind.metric:
        raise ArgumentError(
            Message(
                "no-choice",
                "a plot of kind {kind} has a metric of its own; leave out {option}, or draw one of {known}",
                kind=name,
                option=Setting("metric", None),
                known=[other for other in KINDS if kind_of(other).metric],
            )
        )
    options: dict[str, Any] = {} if level is None else {kind.level: level}
    return options if metric is None else {**options, "metric": metric}


def _names_in(results: Sequence[Result]) -> list[str]:
    """Return the texts that plots of results may have beside those of segbench."""
    names = [*names_of(results), *(name for result in results for name in parts_if_any(result, "class"))]
    return names + [metric.name for result in results for metric in result.metrics]


def _settings_for(width: float) -> dict[str, Any]:
    """Return the settings for a picture of a width in inches, except those that the user has changed."""
    import matplotlib as mpl

    chosen: dict[Any, Any] = dict(mpl.rcParams)
    defaults: dict[Any, Any] = dict(mpl.rcParamsDefault)
    settings = next(settings for limit, settings in _BY_WIDTH if width < limit)
    return {key: value for key, value in settings.items() if chosen[key] == defaults[key]}

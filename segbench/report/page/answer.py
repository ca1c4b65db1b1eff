"""The answer first: which method is best, by how much, and how certain that is, as ``segbench compare`` says it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from segbench.aggregator.comparing import compare_results, differing_repairs
from segbench.aggregator.result import Result, names_of
from segbench.core.errors import SegbenchError
from segbench.core.grouping import grouped
from segbench.core.messages import Note, notes_about
from segbench.core.metric import Metric, headline
from segbench.core.names import first_names
from segbench.core.numbers import DIGITS, digits_within, number
from segbench.drawing.axes import fitted
from segbench.report.page.cells import titled
from segbench.report.page.lines import FOLDED, LineAxis
from segbench.report.page.svg import NOTHING_DRAWN
from segbench.report.plots.methods import Method
from segbench.report.ranking import best_first, competing_sets, why_apart
from segbench.statistics.answer import Answer, Standing, interval_text, p_number
from segbench.statistics.comparison import Comparison, compared
from segbench.statistics.intervals import FEW_IMAGES
from segbench.statistics.pairs import Test

_MOST_NAMED = 4
_DIGITS_OF_P = 3
_IN_PAIRS = 60  # methods of which each pair's p-value is shown


@dataclass(frozen=True)
class Line:
    """A method in the answer: its value and by how much the best one leads it, each written, with its drawing.

    `differs` says whether the difference to the best is significant, `tally` what the signed-rank test counts.
    """

    method: int
    value: str
    drawing: Markup
    letter: str = ""
    lead: str = ""
    lead_drawing: Markup = NOTHING_DRAWN
    p: str = ""
    differs: bool = False
    tally: str = ""
    better_than: str = ""


@dataclass(frozen=True)
class PairOfMethods:
    """What is known of two methods, the first of which stands in a row: who is better, p, wins, ties and losses."""

    better: str
    p: str
    tally: str


@dataclass(frozen=True)
class Opening:
    """What the page says first: the verdict, how certain it is, a line for each method, and what was compared."""

    headline: str
    details: tuple[str, ...]
    notes: tuple[str, ...] = ()
    values: LineAxis | None = None
    leads: LineAxis | None = None
    lines: tuple[Line, ...] = ()
    comparison: Comparison | None = None
    answer: Answer | None = None

    @property
    def first(self) -> Standing | None:
        """The best of the methods that are compared; None without a comparison."""
        return None if self.answer is None else self.answer.standings[0]

    @property
    def paired(self) -> tuple[Standing, ...]:
        """The methods to show against each other, the best first; none where lines or a reason say it all."""
        if self.answer is None or len(self.answer.standings) < 3 or self.answer.pairs.reason:
            return ()
        return self.answer.standings[:_IN_PAIRS]

    def pair(self, row: Standing, column: Standing) -> PairOfMethods:
        """Say what is known of two methods."""
        assert self.answer is not None  # noqa: S101  for types alone: without one there are no standings
        better = row.method if column.letter in row.better_than else ""
        better = column.method if row.letter in column.better_than else better
        tally = "-".join(map(str, self.answer.tally(row, column))) if self.answer.ranked else ""
        return PairOfMethods(
            better, p_number(self.answer.p_values[row.method, column.method], digits=_DIGITS_OF_P), tally
        )


def compared_results(
    results: Sequence[Result], *, level: float, replicates: int, seed: int, test: Test
) -> tuple[Comparison | None, str]:
    """Compare results of one protocol by the names that the page shows; None where that cannot be done, and why."""
    counted = _counted(names_of(results), results)
    if len(counted) < 2:
        return None, ""
    try:
        return compare_results(counted, level=level, replicates=replicates, seed=seed, test=test), ""
    except SegbenchError as error:  # other settings, or other ground truth
        return None, error.written("options")


def opening_of(methods: Sequence[Method], comparison: Comparison | None, why: str = "") -> Opening:
    """Answer from results of one protocol, their intervals, and their comparison or why there is none."""
    results = [method.result for method in methods]
    metric = headline(results[0].metrics)
    first_set = competing_sets(results)[0]
    leading = [
        methods[k]
        for k in best_first(results, metric.key)
        if k in first_set and results[k].competes and not math.isnan(_value(methods[k], metric))
    ]
    if not leading:
        return Opening(f"{metric.name} is not defined for any method", ())
    counted = _counted([method.name for method in methods], results)
    verdict, details = _best(leading, metric), []
    answer = None if comparison is None else comparison.answer()
    if comparison is None or answer is None:
        best = leading[0].intervals
        details += _of_one(leading[0], metric) if len(leading) == 1 else []
        details += [f"Not compared: {why}."] if why else []
        notes: list[Note] = [*(differing_repairs(counted) if counted else ())]
        notes += notes_about(best.notes, [metric.key]) if best and best.images else ()
    else:
        if leading[0].name in comparison.methods:
            verdict = answer.verdict
        else:
            details.append(f"{answer.verdict}.")
        details += _certainty(comparison, answer)
        notes = [*comparison.disagreements(compared(comparison), titles=True)]
        notes += comparison.notes_about([answer.metric.key])
    titles = {metric.key: metric.name for metric in results[0].metrics}
    remarks = tuple(sentence(titled(note, titles).written("options"), methods) for note in notes)
    details += _left_out(methods, [result.method for result in counted], leading[0].result, metric)
    shown = _lines(methods, answer.metric if answer else metric, answer)
    return Opening(verdict, tuple(details), remarks, **shown, comparison=comparison, answer=answer)


def _counted(names: Sequence[str], results: Sequence[Result]) -> list[Result]:
    """Return the results, by these names, that can be compared image by image: the largest set that competes."""
    competing = [k for k in competing_sets(results)[0] if results[k].competes]
    named = [(names[k], results[k]) for k in competing if results[k].counts and not results[k].unnamed]
    # Those that have their name keep what they have computed.
    return [result if result.method == name else replace(result, method=name) for name, result in named]


def _value(method: Method, metric: Metric) -> float:
    return float(method.result.summary.get(metric.key, math.nan))


def _written(method: Method, metric: Metric) -> str:
    """Write the metric of a method with its unit, in the digits that its interval allows; all where none is known."""
    digits = digits_within(*method.interval(metric.key))
    return metric.with_unit(number(_value(method, metric), digits=digits))


def _best(methods: Sequence[Method], metric: Metric) -> str:
    """Say which method is best where nothing was tested; what is printed equal is equal."""
    values = [round(_value(method, metric), DIGITS) for method in methods]
    level = [method.name for method, value in zip(methods, values, strict=True) if value == values[0]]
    first = _written(methods[0], metric)
    if len(methods) == 1:
        return f"{methods[0].name}: {metric.name} {first}"
    if len(level) > 1:
        return f"{', '.join(level[:-1])} and {level[-1]} are tied: {metric.name} {first}"
    difference = abs(_value(methods[0], metric) - _value(methods[1], metric))
    ahead = metric.with_unit(number(difference, digits=digits_within(*methods[0].interval(metric.key))))
    return f"{methods[0].name} has the best {metric.name}, {first}, {ahead} ahead of {methods[1].name}, without a test"


def _left_out(methods: Sequence[Method], counted: Collection[str], first: Result, metric: Metric) -> Iterator[str]:
    """Name the methods that have the metric and were not compared, with the reason."""
    known = [method for method in methods if method.name not in counted and not math.isnan(_value(method, metric))]
    reasons = grouped((_why_left_out(method.result, first), method.name) for method in known)
    for reason, names in reasons.items():
        if reason and len(methods) > 1:
            yield f"Not compared: {first_names(names, _MOST_NAMED)} ({reason})."
    for method in known:
        if not method.result.competes:
            yield f"{method.name}, not ranked: {metric.name} {_written(method, metric)}."


def _why_left_out(result: Result, first: Result) -> str:
    if result.published:
        return "published without images"
    if result.unnamed:
        return "images without names"
    differing, _ = why_apart((first, result), ((0,), (1,)))
    return f"counted with other {differing}" if differing and result.competes and result.counts else ""


def _of_one(method: Method, metric: Metric) -> list[str]:
    """Return a sentence on the interval of a method that is compared with none."""
    low, high = method.interval(metric.key)
    drawn = method.intervals
    if drawn is None or math.isnan(low):
        return []
    digits = digits_within(low, high)
    ends = f"{number(low, digits=digits)} to {metric.with_unit(number(high, digits=digits))}"
    return [f"{100 * drawn.level:g} % interval {ends} over {drawn.sample_size}."]


def _certainty(comparison: Comparison, answer: Answer) -> Iterator[str]:
    """Say what more images would take, how often the best method is first, and by which metrics others are better."""
    yield from (f"{text}." for text in answer.sentences()[1:])
    if not answer.pairs.reason and len(answer.standings) < 3:  # of more the matrix says it
        yield f"p is that of the {answer.pairs.test} over {comparison.over(comparison.sample_size)}."
    first = answer.standings[0].method
    of_first = {name: ranks[0] for name, ranks in comparison.ranks(answer.metric.key).items()}
    # Resamples of few images are too much alike to say how sure a place is.
    if comparison.images >= FEW_IMAGES and not math.isnan(of_first[first]):
        percent = f"{100 * of_first[first]:.1f}".removesuffix(".0")
        with_others = ", alone or with others," if round(sum(of_first.values()), 9) > 1 else ""
        resamples = f"{comparison.replicates} resamples of the {comparison.noun}s"
        yield f"{first} is first{with_others} in {percent} % of {resamples}."


def sentence(text: str, methods: Sequence[Method]) -> str:
    """Write a text as a sentence; the name of a method or the key of a metric at its beginning stays as it is."""
    names = {method.name for method in methods} | {method.result.method for method in methods}
    keys = {metric.key for method in methods for metric in method.result.metrics if metric.key}
    written = text if text.startswith(tuple(names | keys)) else f"{text[0].upper()}{text[1:]}"
    return f"{written}."


def _lines(methods: Sequence[Method], metric: Metric, answer: Answer | None) -> dict[str, Any]:
    """Return the axes and the lines of the answer: methods in its order, then those that were not compared."""
    number_of = {method.name: k for k, method in enumerate(methods)}
    standings = {number_of[standing.method]: standing for standing in (answer.standings if answer else ())}
    order = [*standings, *(k for k in range(len(methods)) if k not in standings)]
    order = [k for k in order if k in standings or not math.isnan(_value(methods[k], metric))]
    values = [(_value(methods[k], metric), *methods[k].interval(metric.key)) for k in order]
    defined = [ends for ends in values if not math.isnan(ends[0])]
    if not defined:
        return {}
    axis = LineAxis(metric.quantity, *fitted(defined[:FOLDED], metric.range))
    leads, lead_axis = _leads(standings, metric, answer)
    lines = []
    for k in order:
        ends = methods[k].interval(metric.key)
        value = _written(methods[k], metric)
        value += "" if math.isnan(ends[0]) else f" {interval_text(ends, digits_within(*ends))}"
        shown = axis.drawn(axis.interval(_value(methods[k], metric), ends))
        lines.append(Line(k, value, shown) if k not in leads else replace(leads[k], value=value, drawing=shown))
    return {"values": axis, "leads": lead_axis, "lines": tuple(lines)}


def _leads(
    standings: Mapping[int, Standing], metric: Metric, answer: Answer | None
) -> tuple[dict[int, Line], LineAxis | None]:
    """Return by how much the best method leads each other one, in lines without values, and the axis of the leads."""
    if answer is None:
        return {}, None
    first, *others = standings
    known = {k: answer.lead(standings[first], standings[k]) for k in others}
    ends = [(lead, *interval, 0.0) for lead, interval in known.values() if not math.isnan(lead)]
    title = f"{metric.name}, difference{f' ({metric.measured_in})' if metric.measured_in else ''}"
    axis = LineAxis(title, *fitted(ends[: FOLDED - 1], None), marked=0.0) if ends else None
    lines = {}
    for k, standing in standings.items():
        line = Line(k, "", NOTHING_DRAWN, standing.letter, better_than=answer.beats(standing))
        if axis is not None and k == first:
            line = replace(line, lead_drawing=axis.drawn(()))
        elif axis is not None:
            lead, interval = known[k]
            differs = bool(answer.side(standings[first].method, standing.method))
            digits = digits_within(*interval)
            text = metric.with_unit(number(lead, digits=digits))
            text += "" if math.isnan(interval[0]) else f" {interval_text(interval, digits)}"
            line = replace(
                line,
                lead="-" if math.isnan(lead) else text,
                lead_drawing=axis.drawn(axis.interval(lead, interval, hollow=not differs)),
                p=p_number(answer.p_values[standings[first].method, standing.method], digits=_DIGITS_OF_P),
                differs=differs,
                tally="-".join(map(str, answer.tally(standings[first], standing))) if answer.ranked else "",
            )
        lines[k] = line
    return lines, axis

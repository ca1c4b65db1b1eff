"""The answer first: which method is best, by how much, and how certain that is, as ``segbench compare`` says it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from segbench.aggregator.comparing import compare_results, differing_repairs
from segbench.aggregator.result import Result, names_of
from segbench.core.errors import SegbenchError
from segbench.core.grouping import grouped
from segbench.core.messages import Note, notes_about
from segbench.core.metric import Metric, headline
from segbench.core.names import first_names
from segbench.core.numbers import DIGITS, digits_within, number, signed
from segbench.drawing.axes import fitted
from segbench.report.page.charts import rows
from segbench.report.page.svg import Scale, dot, drawing, line
from segbench.report.plots.methods import Method
from segbench.report.ranking import best_first, competing_sets, why_apart
from segbench.statistics.answer import IN_MATRIX, Answer, Standing, interval_text, tally_text
from segbench.statistics.comparison import Comparison, compared
from segbench.statistics.intervals import FEW_IMAGES
from segbench.statistics.pairs import Test

_MOST_NAMED = 4
_ROW = 40.0


@dataclass(frozen=True)
class Opening:
    """What the page says first: the verdict, how certain it is, a chart of the metric, and what was compared."""

    headline: str
    details: tuple[str, ...]
    forest: Markup
    comparison: Comparison | None = None

    @property
    def answer(self) -> Answer | None:
        """The answer by the metric that ranks methods; None without a comparison."""
        return None if self.comparison is None else self.comparison.answer()

    @property
    def matrix(self) -> tuple[Standing, ...]:
        """The methods to show against each other, the best first; none where a sentence or a reason says it all."""
        if self.answer is None or len(self.answer.standings) < 3:
            return ()
        return () if self.answer.pairs.reason else self.answer.standings[:IN_MATRIX]

    def compared(self, row: Standing, column: Standing) -> str:
        """Say what is known of two methods, for the cell of the matrix."""
        if self.answer is None:
            return ""
        side = self.answer.side(row.method, column.method)
        if not side:
            return f"{row.method} and {column.method}: no significant difference{self._ranks(row, column)}"
        better = "better" if side > 0 else "worse"
        return f"{row.method} is {better} than {column.method}{self._ranks(row, column)}"

    def _ranks(self, row: Standing, column: Standing) -> str:
        """Write estimate, wins, ties and losses of the signed-rank test; nothing of another."""
        if self.answer is None or not self.answer.ranked:
            return ""
        lead = f"it leads by {signed(self.answer.ahead(row, column))} ({self.answer.pairs.differs_by})"
        return f"; {lead}, {tally_text(self.answer.tally(row, column))}"


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
    forest = _forest(methods, metric)
    first_set = competing_sets(results)[0]
    leading = [
        methods[k]
        for k in best_first(results, metric.key)
        if k in first_set and results[k].competes and not math.isnan(_value(methods[k], metric))
    ]
    if not leading:
        return Opening(f"{metric.name} is not defined for any method", (), forest)
    counted = _counted([method.name for method in methods], results)
    verdict, details = _best(leading, metric), []
    if comparison is None:
        best = leading[0].intervals
        details += _of_one(leading[0], metric) if len(leading) == 1 else []
        details += [f"Not compared: {why}."] if why else []
        notes: list[Note] = [*(differing_repairs(counted) if counted else ())]
        notes += notes_about(best.notes, [metric.key]) if best and best.images else ()
    else:
        answer = comparison.answer()
        if leading[0].name in comparison.methods:
            verdict = answer.verdict
        else:
            details.append(f"{answer.verdict}.")
        details += _certainty(comparison)
        notes = [*comparison.disagreements(compared(comparison), titles=True)]
        notes += comparison.notes
    details += [sentence(note.written("options"), methods) for note in notes]
    details += _left_out(methods, [result.method for result in counted], leading[0].result, metric)
    return Opening(verdict, tuple(details), forest, comparison)


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


def _certainty(comparison: Comparison) -> Iterator[str]:
    """Say what more images would take, how often the best method is first, and by which metrics others are better."""
    answer = comparison.answer()
    yield from (f"{text}." for text in answer.sentences()[1:])
    if not answer.pairs.reason and len(answer.standings) < 3:  # of more the matrix says it
        yield f"p is that of the {answer.pairs.test} over {comparison.over(comparison.sample_size)}."
    first = answer.standings[0].method
    of_first = {name: ranks[0] for name, ranks in comparison.rank_shares[answer.metric.key].items()}
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


def _forest(methods: Sequence[Method], metric: Metric) -> Markup:
    """Draw the headline of each method with its interval, in the order of the table."""
    known = {k: method.interval(metric.key) for k, method in enumerate(methods)}
    ends = {k: pair for k, pair in known.items() if not math.isnan(_value(methods[k], metric))}
    if not ends:
        return Markup("")
    texts = {}
    for k, (low, high) in ends.items():
        texts[k] = _written(methods[k], metric) + (
            "" if math.isnan(low) else f" {interval_text((low, high), digits_within(low, high))}"
        )

    def draw(k: int, x: Scale, top: float) -> list[Markup]:
        middle = top + 28.0
        low, high = x.at(ends[k]).tolist()
        whisker = [] if math.isnan(low) else [line(low, middle, high, middle, css="whisker")]
        return [*whisker, dot(x.place(_value(methods[k], metric)), middle, 5.0)]

    values = [(_value(methods[k], metric), *pair) for k, pair in ends.items()]
    axis = fitted(values, metric.range)
    parts, height = rows(methods, metric.quantity, axis, texts, draw, high=_ROW)
    named = f"{metric.name} of each method with its interval; the values are in the table of methods"
    return drawing(parts, height, named)

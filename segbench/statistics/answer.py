"""The answer of a comparison by one metric: which methods are best, and which cannot be told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.integers import FloatArray
from segbench.core.metric import Metric
from segbench.core.names import first_names
from segbench.core.numbers import DIGITS, many, number, point_first
from segbench.core.text_table import TextTable, aligned
from segbench.statistics.comparison import Comparison
from segbench.statistics.measured import Found, Interval

SHOWN = 20
"""Methods in a printed table; of more the best are shown."""
IN_MATRIX = 12
"""Methods in a printed matrix of differences."""
_NAMED = 2
_NAMED_PAIRS = 4
_LEAST_P = 1e-4
_MOST_NEEDED = 1_000_000
_STARS = ((0.001, "***"), (0.01, "**"))


@dataclass(frozen=True)
class Standing:
    """A method and how it stands.

    Parameters
    ----------
    method : str
    letter : str
        By which others refer to it: a, b, .. z, aa, ..
    estimate : float
    interval : tuple of float and float
        Of the method alone; nan where there is none.
    better_than : tuple of str
        The letters of the methods that it is significantly better than, after Holm's correction.
    """

    method: str
    letter: str
    estimate: float
    interval: Interval
    better_than: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """Methods by one metric, the best first.

    Parameters
    ----------
    comparison : Comparison
    metric : Metric
    standings : tuple of Standing
        The best first, undefined ones last.
    """

    comparison: Comparison
    metric: Metric
    standings: tuple[Standing, ...]

    @cached_property
    def p_values(self) -> dict[tuple[str, str], float]:
        """Holm's p-value of each pair of methods, both ways round; nan where it has none."""
        pairs = self.comparison.pairs(self.metric.key)
        found = zip(itertools.combinations(self.comparison.methods, 2), pairs.corrected.tolist(), strict=True)
        return {pair: p for (a, b), p in found for pair in ((a, b), (b, a))}

    @property
    def leader(self) -> str:
        """The method that is significantly better than all others for which the metric is defined; empty for none."""
        first, *others = self.standings
        defined = [one for one in others if not math.isnan(one.estimate)]
        return first.method if 0 < len(defined) == len(first.better_than) else ""

    @property
    def not_worse(self) -> tuple[str, ...]:
        """The best method and all that cannot be told apart from it, the best first."""
        first, *others = self.standings
        defined = [one for one in others if not math.isnan(one.estimate) and one.letter not in first.better_than]
        return (first.method, *(one.method for one in defined))

    @property
    def verdict(self) -> str:
        """One sentence: who leads, by how much and how surely; or who cannot be told apart."""
        first, second = self.standings[:2]
        title, images = self.metric.name, many(self.comparison.images, "image")
        if math.isnan(first.estimate):
            return f"{title} is undefined for every method"
        if math.isnan(second.estimate):
            return f"{title} is defined for {first.method} alone"
        reason = self.comparison.pairs(self.metric.key).reason
        if reason:
            return f"{first.method} has the best {title}, {number(first.estimate)}, without a test: {reason}"
        if self.leader:
            ahead = number(abs(first.estimate - second.estimate))
            others = "" if len(first.better_than) == 1 else "; it is significantly better than every other method"
            p = p_text(self.p_values[first.method, second.method])
            return f"{first.method} leads {second.method} by {ahead} {title} ({p}){others}"
        return f"No clear winner by {title}: {_listed(self.not_worse)} cannot be told apart on {images}"

    @property
    def needed(self) -> str:
        """About how many images the best two methods would take to be told apart; empty where they are, or too many."""
        first, second = self.standings[:2]
        names = [one.method for one in self.standings]
        if second.method not in self.not_worse:
            return ""
        pairs, methods = self.comparison.pairs(self.metric.key), list(self.comparison.methods)
        places = sorted((methods.index(names[0]), methods.index(names[1])))
        place = list(itertools.combinations(range(len(methods)), 2)).index((places[0], places[1]))
        images = pairs.images_needed(place)
        if not self.comparison.images < images <= _MOST_NEEDED:
            return ""
        ahead = number(abs(first.estimate - second.estimate))
        return f"a difference of {ahead} would need about {int(float(f'{images:.1g}'))} images"

    def sentences(self) -> list[str]:
        """Give the verdict, and what it would take to know more."""
        return [self.verdict, *([f"{self.needed[0].upper()}{self.needed[1:]}"] if self.needed else [])]

    def table(self, *, digits: int = DIGITS) -> TextTable:
        """Give a row per method, the best first, with the letters of those it is significantly better than."""
        level = f"{100 * self.comparison.level:g} %"
        shown = self.standings[:SHOWN]
        letters = {one.letter for one in shown}
        rows = [
            [
                one.letter,
                one.method,
                number(one.estimate, digits=digits),
                *(number(end, digits=digits) for end in one.interval),
                _better_than(one, letters, len(self.standings)),
            ]
            for one in shown
        ]
        notes = [f"the best {SHOWN} of {len(self.standings)} methods"] if len(self.standings) > SHOWN else []
        lower = ", lower is better" if self.metric.better == "lower" else ""
        notes.append(f"{self.metric.name}{lower}; better than: significantly, after Holm's correction for all pairs")
        header = ["", "method", self.metric.name, f"{level} low", f"{level} high", "better than"]
        return TextTable(header, rows, names=2, notes=tuple(notes))

    def matrix(self, *, digits: int = 3) -> TextTable:
        """Give the differences of the best methods, row minus column, with stars where they are significant."""
        shown = self.standings[:IN_MATRIX]
        least = 1 - self.comparison.level
        rows = []
        for row in shown:
            cells = [
                "" if row is column else self._difference(row, column, least=least, digits=digits) for column in shown
            ]
            rows.append([row.letter, row.method, *cells])
        of = f"of the best {IN_MATRIX} methods, " if len(self.standings) > IN_MATRIX else ""
        note = f"{of}row minus column; {star_key(least)}, after Holm's correction"
        return TextTable([self.metric.name, "", *(one.letter for one in shown)], rows, names=2, notes=(note,))

    def _difference(self, row: Standing, column: Standing, *, least: float, digits: int) -> str:
        difference = row.estimate - column.estimate
        if math.isnan(difference):
            return "-"
        text = point_first(f"{difference:+.{digits}f}")
        return text + stars(self.p_values[row.method, column.method], least)

    def tables(self) -> list[TextTable]:
        """Give the table of methods, and for three or more the matrix."""
        return [self.table(), self.matrix()] if len(self.standings) > 2 else [self.table()]

    def __str__(self) -> str:
        """Print the verdict and the tables."""
        parts = ["\n".join(self.sentences())]
        for table in self.tables():
            sides = "<" * table.names + ">" * (len(table.header) - table.names)
            parts.append("\n".join([aligned([table.header, *table.rows], sides), *table.notes]))
        return "\n\n".join(parts)


def answer(comparison: Comparison, metric: Metric) -> Answer:
    """Rank the methods of a comparison by one metric, with the letters of those that each is better than."""
    place, pairs = comparison.place(metric.key), comparison.pairs(metric.key)
    names = list(comparison.methods)
    estimates = dict(zip(names, pairs.estimates.tolist(), strict=True))
    order = sorted(names, key=lambda name: (_rank(metric, estimates[name]), name))
    letters = {name: letter_of(k) for k, name in enumerate(order)}
    better: dict[str, list[str]] = {name: [] for name in names}
    won = _won(comparison, metric)
    for winners, losers, sign in zip(pairs.pairs, pairs.pairs[::-1], (1, -1), strict=True):
        some = won == sign
        for winner, loser in zip(winners[some].tolist(), losers[some].tolist(), strict=True):
            better[names[winner]].append(names[loser])
    ranks = {name: k for k, name in enumerate(order)}
    standings = []
    for name in order:
        found: Found = comparison.measured[name].interval(place)
        beaten = tuple(letters[loser] for loser in sorted(better[name], key=ranks.__getitem__))
        standings.append(Standing(name, letters[name], estimates[name], found.ends, beaten))
    return Answer(comparison, metric, tuple(standings))


def disagreements(comparison: Comparison, keys: Sequence[str], *, titles: bool = False) -> list[str]:
    """Give one line on pairs in which each method is significantly better by some metric; nothing without such pairs.

    Metrics are those of the keys and the one that ranks methods, called by their keys or by their titles.
    """
    metrics = [metric for metric in comparison.metrics if metric.headline or metric.key in keys]
    called = [metric.name if titles else metric.key for metric in metrics]
    won = np.array([_won(comparison, metric) for metric in metrics])
    found = []
    for place in np.flatnonzero((won > 0).any(axis=0) & (won < 0).any(axis=0)).tolist():
        a, b = (comparison.methods[methods[place]] for methods in comparison.pairs(metrics[0].key).pairs)
        better, worse = (
            ", ".join(name for name, one in zip(called, won[:, place], strict=True) if one == sign) for sign in (1, -1)
        )
        found.append(f"{a} is better than {b} by {better} but worse by {worse}")
    return [f"metrics disagree, each significantly: {first_names(found, _NAMED_PAIRS, '; ')}"] if found else []


def _won(comparison: Comparison, metric: Metric) -> FloatArray:
    """Give 1 where the first method of a pair is significantly better, -1 where the second is, else 0."""
    pairs = comparison.pairs(metric.key)
    significant = pairs.corrected <= 1 - comparison.level
    won: FloatArray = np.where(significant, metric.direction * np.sign(pairs.differences), 0)
    return won


def _rank(metric: Metric, estimate: float) -> float:
    return math.inf if math.isnan(estimate) else -metric.direction * estimate


def letter_of(place: int) -> str:
    """Give a, b, .. z, aa, ab, .. for 0, 1, .."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def stars(p: float, least: float) -> str:
    """Mark a p-value: one star up to `least`, two up to .01, three up to .001."""
    if math.isnan(p) or p > least:
        return ""
    return next((text for limit, text in _STARS if p <= limit < least), "*")


def star_key(least: float) -> str:
    """Say what `stars` mean."""
    return f"* p at most {number(least, digits=2)}" + (", ** .01, *** .001" if least > _STARS[-1][0] else "")


def p_number(p: float, *, digits: int = DIGITS) -> str:
    """Write a p-value for a table: ``.0123``, ``< .0001``, ``-`` for none; none is printed smaller."""
    return f"< {number(_LEAST_P)}" if p < _LEAST_P else number(p, digits=digits)


def p_text(p: float) -> str:
    """Write a p-value for a sentence: ``p = .0123``, ``p < .0001``."""
    return "no p-value" if math.isnan(p) else f"p {p_number(p)}" if p < _LEAST_P else f"p = {p_number(p)}"


def _better_than(standing: Standing, letters: set[str], methods: int) -> str:
    """Write letters, or that it is better than all."""
    beaten = standing.better_than
    if len(beaten) == methods - 1 > 1:
        return "all"
    shown = [letter for letter in beaten if letter in letters]
    more = len(beaten) - len(shown)
    return " ".join([*shown, *([f"and {more} more"] if more else [])]) or "-"


def _listed(names: Sequence[str]) -> str:
    """Name two methods, and how many more there are."""
    if len(names) <= _NAMED + 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{first_names(names, _NAMED)}"

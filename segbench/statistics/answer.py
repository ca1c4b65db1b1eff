"""The answer of a comparison by one metric: which methods are best, and which cannot be told apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.metric import Metric
from segbench.core.names import first_names
from segbench.core.numbers import DIGITS, many, number, point_first, verb
from segbench.core.text_table import WIDTH, TextTable, remarks_html, table_html
from segbench.statistics.measured import Found, Interval
from segbench.statistics.pairs import Pairs, Tally
from segbench.statistics.run_means import told_of_runs

SHOWN = 20
"""Methods in a printed table; of more the best are shown."""
IN_MATRIX = 12
"""Methods in a printed matrix of differences."""
_NAMED = 2
_LEAST_P = 1e-4
_CLEARLY = 0.01


@dataclass(frozen=True)
class Standing:
    """A method, its value with the interval of the method alone, and which methods it is better than."""

    method: str
    letter: str  # by which others refer to it: a, b, .. z, aa, ..
    estimate: float
    found: Found
    better_than: tuple[str, ...]  # the letters of those that it is significantly better than, after Holm's correction


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Methods by one metric, the best first."""

    methods: tuple[str, ...]  # in the order of `pairs`
    pairs: Pairs
    level: float  # of confidence: differences are significant where Holm's p is at most 1 - level
    classes: int  # how many comparisons were corrected together, one per class; 1 for one by itself
    instead_of: str = ""  # the metric that ranks methods, where the test does not apply to it but to this one

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The methods, one that beats all others first, the rest by value, undefined ones last."""
        # On what both have, a method may beat one with a better value.
        estimates, place = self.pairs.estimates.tolist(), self.pairs.place
        won, (one, other) = self.pairs.won(self.level), self.pairs.pairs
        beaten = np.bincount(np.append(one[won > 0], other[won < 0]), minlength=len(estimates))
        others = int(np.count_nonzero(~np.isnan(estimates))) - 1
        order = sorted(
            range(len(estimates)),
            key=lambda k: (not 0 < others == beaten[k], _rank(self.metric, estimates[k]), self.methods[k]),
        )
        ranks = {k: rank for rank, k in enumerate(order)}
        better: list[list[int]] = [[] for _ in order]
        for winners, losers, sign in zip(self.pairs.pairs, self.pairs.pairs[::-1], (1, -1), strict=True):
            for winner, loser in zip(winners[won == sign].tolist(), losers[won == sign].tolist(), strict=True):
                better[winner].append(ranks[loser])
        return tuple(
            Standing(
                self.methods[k],
                letter_of(ranks[k]),
                estimates[k],
                self.pairs.measured[k].interval(place),
                tuple(map(letter_of, sorted(better[k]))),
            )
            for k in order
        )

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.pairs.metric

    @cached_property
    def p_values(self) -> dict[tuple[str, str], float]:
        """Holm's p-value of each pair of methods, both ways round; nan where it has none."""
        found = zip(itertools.combinations(self.methods, 2), self.pairs.corrected.tolist(), strict=True)
        return {pair: p for (a, b), p in found for pair in ((a, b), (b, a))}

    @property
    def leader(self) -> str:
        """The method that is significantly better than all others for which the metric is defined; empty for none."""
        return self.standings[0].method if len(self._defined) > 1 and len(self.not_worse) == 1 else ""

    @property
    def _defined(self) -> list[Standing]:
        return [one for one in self.standings if not math.isnan(one.estimate)]

    @property
    def not_worse(self) -> tuple[str, ...]:
        """The best method and all that cannot be told apart from it, the best first."""
        first = self.standings[0]
        alike = [one.method for one in self._defined[1:] if one.letter not in first.better_than]
        return (first.method, *alike)

    @property
    def verdict(self) -> str:
        """One sentence: who leads, by how much and how surely; or who cannot be told apart."""
        return f"{self._verdict}{self.why_judged_by}"

    @property
    def why_judged_by(self) -> str:
        """Say at the end of a sentence why not the metric that ranks methods decides; empty where it does."""
        if not self.instead_of:
            return ""
        means = f"mean over {self.pairs.measured[0].table.noun}s"
        return f"; judged by {self.metric.name}, the first {means}, since {self.instead_of} is none"

    @property
    def _verdict(self) -> str:
        first, second = self.standings[:2]
        title, images = self.metric.name, many(self.pairs.measured[0].images, self.pairs.noun)
        if math.isnan(first.estimate):
            return f"{title} is undefined for every method"
        if math.isnan(second.estimate):
            return f"{title} is defined for {first.method} alone"
        reason = self.pairs.reason
        if reason:
            value = number(first.estimate)
            tied = [one.method for one in self._defined if number(one.estimate) == value]
            who = f"{_listed(tied)} share" if len(tied) > 1 else f"{first.method} has"
            best = "best" if self.metric.better else "highest"
            return f"{who} the {best} {title}, {value}, without a test ({reason})"
        if self.leader:
            ahead = number(self._ahead(first, second))
            others = "" if len(self._defined) == _NAMED else "; it is significantly better than every other method"
            evidence = self.evidence(first, second, leads=True)
            if self._ranked and self.metric.direction * (first.estimate - second.estimate) < 0:
                others += f"; the mean of {second.method} is better"
            return f"{first.method} leads {second.method} by {ahead} {title} ({evidence}){others}"
        if ahead_of_first := [one.method for one in self._defined[1:] if first.letter in one.better_than]:
            by = f"by the {self.pairs.test}" if self._ranked else "on what both have"
            better = f"{_listed(ahead_of_first)} {verb(len(ahead_of_first), 'are')} better {by}"
            return f"No clear winner by {title}: {first.method} has the best value, but {better}"
        p = ""
        if len(self._defined) == _NAMED:
            pair = self._pair(first, second)
            lacking = self.pairs.why_none(pair).get("p_value", "")
            p = f" ({self.evidence(first, second)}{f': {lacking}' if lacking else ''})"
        elif self._ranked:
            p = f" ({'; '.join(filter(None, (self.pairs.test, self.never)))})"
        rivals = [one for one in self._defined[1:] if one.method in self.not_worse]
        if any(self._pair(first, one) in self.pairs.common for one in rivals):
            images = f"the {self.pairs.noun}s that {'both' if len(rivals) == 1 else 'each two'} have"
        return f"No clear winner by {title}: {_listed(self.not_worse)} cannot be told apart on {images}{p}"

    def _p_text(self, one: Standing, other: Standing) -> str:
        """Write the p-value of two methods, and of how many runs it is."""
        names = one.method, other.method
        told = told_of_runs({name: self.pairs.measured[self.methods.index(name)].table for name in names})
        return "; ".join(filter(None, (p_text(self.p_values[names]), told)))

    @property
    def _ranked(self) -> bool:
        """Whether the signed-rank test decides, which has its own estimate of a difference."""
        return bool(self.pairs.differs_by) and not self.pairs.reason

    @cached_property
    def never(self) -> str:
        """Why no difference can be significant; empty where some can."""
        return self.pairs.why_never_significant(self.level)

    def side(self, method: str, other: str) -> int:
        """Return 1 if a method is significantly better than another, -1 if it is worse, else 0."""
        letters = {standing.method: standing.letter for standing in self.standings}
        better = {standing.method: standing.better_than for standing in self.standings}
        return (letters[other] in better[method]) - (letters[method] in better[other])

    def evidence(self, first: Standing, second: Standing, *, leads: bool = False) -> str:
        """Write p of a pair; of the signed-rank test also its estimate, unless said before, and wins, ties, losses."""
        p = self._p_text(first, second)
        if not self._ranked:
            return p
        estimate = self._ahead(first, second)
        if math.isnan(estimate):
            return f"{self.pairs.test}, {p}"
        ahead, behind = (first, second) if estimate >= 0 or leads else (second, first)
        tested, counted = f"{self.pairs.test}, {p}", tally_text(self.tally(ahead, behind))
        if leads:
            return f"{self.pairs.differs_by}; {tested}; {counted}"
        counted = f"{self.pairs.differs_by} {number(abs(estimate))} in favour of {ahead.method}, {counted}"
        return "; ".join(filter(None, (tested, counted, self.never)))

    def tally(self, one: Standing, other: Standing) -> Tally:
        """Count the images that a method wins, on which it is equal, and that it loses against another."""
        pair = self._pair(one, other)
        tally = self.pairs.tally(pair)
        return tally if self.methods[self.pairs.pairs[0][pair]] == one.method else Tally(*reversed(tally))

    def _pair(self, one: Standing, other: Standing) -> int:
        return self.pairs.pair(self.methods.index(one.method), self.methods.index(other.method))

    def _ahead(self, one: Standing, other: Standing) -> float:
        """By how much one method is better than another, on what both have."""
        pair = self._pair(one, other)
        side = 1 if self.methods[self.pairs.pairs[0][pair]] == one.method else -1
        return side * self.metric.direction * float(self.pairs.differences[pair])

    @property
    def needed(self) -> str:
        """About how many images the best two methods would take to be told apart; empty where they are, or too many."""
        first, second = self.standings[:2]
        if second.method not in self.not_worse or first.letter in second.better_than:
            return ""
        pair, ahead = self._pair(first, second), number(abs(self._ahead(first, second)))
        images = float(f"{self.pairs.images_needed(pair, self.level):.1g}")
        of_images, of_trainings = self.pairs.errors_of_sources(pair)
        sources = f"trainings vary it by {number(of_trainings)}, {self.pairs.noun}s by {number(of_images)}"
        if images == math.inf and of_trainings > of_images:
            return f"more {self.pairs.noun}s alone would not make a difference of {ahead} significant: {sources}"
        if not self.pairs.measured[0].images < images < math.inf:
            return ""
        rather = f"; {sources}, so more runs would help more" if of_trainings > of_images else ""
        units = f"{int(images)} {self.pairs.noun}s"
        return f"a difference of {ahead} would need about {units} to be significant{rather}"

    def sentences(self) -> list[str]:
        """Give the verdict, and what it would take to know more."""
        return [self.verdict, *([f"{self.needed[0].upper()}{self.needed[1:]}"] if self.needed else [])]

    @property
    def correction(self) -> str:
        """For which p-values Holm's correction is made, in words; empty where there is a single one."""
        if len(self.standings) == _NAMED and self.classes == 1:
            return ""
        return "after Holm's correction for all pairs" + (f" of all {self.classes} classes" if self.classes > 1 else "")

    @cached_property
    def places(self) -> dict[str, int]:
        """Place of each method by its letter, from 0."""
        return {one.letter: place for place, one in enumerate(self.standings)}

    def table(self, *, digits: int = DIGITS) -> TextTable:
        """Give a row per method, the best first: letter, metric, interval, and what it is significantly better than."""
        shown, total = self.standings[:SHOWN], len(self.standings)
        rows = [
            [
                one.letter,
                one.method,
                number(one.estimate, digits=digits),
                interval_text(one.found.ends, digits),
                self._better_than(one),
                *self._against_best(one, digits),
            ]
            for one in shown
        ]
        header = ["", "method", self.metric.name, f"{100 * self.level:g} % interval", "better than"]
        header += ["a leads by", "W-T-L"] if self._ranked else []
        notes = [f"the best {SHOWN} of {total} methods"] if total > SHOWN else []
        least = number(1 - self.level, digits=2)
        said = ["lower is better"] if self.metric.better == "lower" else []
        if not self.pairs.reason:
            test = f"p of the {self.pairs.test} at most {least}"
            said.append(f"better than: {test}{f', {self.correction}' if self.correction else ''}")
        notes += ["; ".join(said)] if said else []
        if self._ranked:
            counted = f"W-T-L: {self.pairs.measured[0].table.noun}s that a wins, ties and loses"
            notes.append(f"a leads by: {self.pairs.differs_by} of the differences; {counted}")
        return TextTable(header, rows, names=2, notes=tuple(notes)).fitted(1)

    def _against_best(self, standing: Standing, digits: int) -> list[str]:
        """Write by how much the first method leads another, and its wins, ties and losses; of the signed-rank test."""
        if not self._ranked:
            return []
        first = self.standings[0]
        if standing is first or math.isnan(standing.estimate):
            return ["", ""]
        ahead = self._ahead(first, standing)
        return [number(ahead, digits=digits), "-".join(map(str, self.tally(first, standing)))]

    def _better_than(self, one: Standing) -> str:
        """Write the letters of printed methods, and the number of others; or that it is better than all."""
        beaten = one.better_than
        if len(beaten) == len(self.standings) - 1 > 1:
            return "all"
        shown = [letter for letter in beaten if self.places[letter] < SHOWN]
        more = [f"{len(beaten) - len(shown)} more"] if len(shown) < len(beaten) else []
        return " and ".join([*([letters_text(shown, self.places)] if shown else []), *more]) or "-"

    def matrix(self) -> TextTable:
        """Give by how much the best methods lead each other, row before column, with stars where significantly."""
        most = min(len(self._defined), IN_MATRIX)
        tables = (self._matrix(self._defined[:shown]) for shown in range(most, 1, -1))
        return next(table for table in tables if len(table.rows) == 1 or table.width <= WIDTH)

    def _matrix(self, shown: Sequence[Standing]) -> TextTable:
        least = 1 - self.level
        digits = _places(abs(shown[0].estimate - shown[-1].estimate))
        cells = [
            [self._lead(row, column, least, digits) if place > k else "" for place, column in enumerate(shown)][1:]
            for k, row in enumerate(shown[:-1])
        ]
        of = f"the best {len(shown)} methods: " if len(self.standings) > len(shown) else ""
        note = f"{of}by how much the row leads the column"
        note += f", {self.pairs.differs_by}" if self._ranked else ""
        if not self.pairs.reason:
            note += f"; {star_key(least)} (Holm)"
        header = [self.metric.name, *(one.letter for one in shown[1:])]
        named = [[f"{one.letter} {one.method}", *row] for one, row in zip(shown, cells, strict=False)]
        table = TextTable(header, named, notes=(note,)).fitted(0)
        if table.width <= WIDTH:
            return table
        header[0] = ""
        return TextTable(header, [[one.letter, *row] for one, row in zip(shown, cells, strict=False)], notes=(note,))

    def _lead(self, row: Standing, column: Standing, least: float, digits: int) -> str:
        ahead = self._ahead(row, column)
        text = "-" if math.isnan(ahead) else point_first(f"{round(ahead, digits) + 0:.{digits}f}")  # never -0
        return text + stars(self.p_values[row.method, column.method], least)

    def tables(self, *, digits: int = DIGITS) -> list[TextTable]:
        """Give the table of methods, and for three or more the matrix."""
        table = self.table(digits=digits)
        has_matrix = len(self._defined) > _NAMED and not np.isnan(self.pairs.differences).all()
        return [table, self.matrix()] if has_matrix else [table]

    def __str__(self) -> str:
        """Print the verdict and the tables."""
        return "\n\n".join(["\n".join(self.sentences()), *map(str, self.tables())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Give both as notebooks show them."""
        return remarks_html(*self.sentences()) + "".join(map(table_html, self.tables()))


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
    """Mark a p-value: one star up to `least`, two up to .01."""
    if math.isnan(p) or p > least:
        return ""
    return "**" if p <= _CLEARLY < least else "*"


def star_key(least: float) -> str:
    """Say what `stars` mean."""
    return f"* p at most {number(least, digits=2)}" + (", ** .01" if least > _CLEARLY else "")


def p_number(p: float, *, digits: int = DIGITS) -> str:
    """Write a p-value for a table: ``.0123``, ``< .0001``, ``-`` for none; none is printed smaller."""
    return f"< {number(_LEAST_P)}" if p < _LEAST_P else number(p, digits=digits)


def p_text(p: float) -> str:
    """Write a p-value for a sentence: ``p = .0123``, ``p < .0001``."""
    return "no p-value" if math.isnan(p) else f"p {p_number(p)}" if p < _LEAST_P else f"p = {p_number(p)}"


def tally_text(tally: Tally) -> str:
    """Write wins, ties and losses: ``9 wins, 1 tie, 2 losses``."""
    losses = "1 loss" if tally.losses == 1 else f"{tally.losses} losses"
    return f"{many(tally.wins, 'win')}, {many(tally.ties, 'tie')}, {losses}"


def letters_text(letters: Sequence[str], places: Mapping[str, int], between: str = " ") -> str:
    """Write letters of methods, three or more in a row as ``c-f``."""
    written: list[str] = []
    for _, run in itertools.groupby(enumerate(letters), lambda at: places[at[1]] - at[0]):
        some = [letter for _, letter in run]
        written += [f"{some[0]}-{some[-1]}"] if len(some) > _NAMED else some
    return between.join(written)


def interval_text(ends: Interval, digits: int = DIGITS) -> str:
    """Write an interval in brackets; a dash where there is none."""
    return "-" if math.isnan(ends[0]) else f"[{number(ends[0], digits=digits)}, {number(ends[1], digits=digits)}]"


def _places(largest: float) -> int:
    """Give the decimal places of differences up to this one: three digits, one more below 1."""
    return 3 if largest < 1 else max(2 - int(math.log10(largest)), 0)


def _listed(names: Sequence[str]) -> str:
    """Name two methods, and how many more there are."""
    if len(names) > _NAMED + 1:
        return first_names(names, _NAMED)
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

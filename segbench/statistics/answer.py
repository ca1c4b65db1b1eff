"""The answer of a comparison by one metric: which methods are best, and which cannot be told apart.

Numbers come from `segbench.statistics.pairs`; here they become sentences and tables.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.metric import Metric
from segbench.core.names import first_names
from segbench.core.numbers import DIGITS, digits_within, many, number, number_within, of_all, point_first, verb
from segbench.core.table import Table
from segbench.core.text_table import WIDTH, TextTable, remarks_html, table_html
from segbench.statistics.measured import FoundInterval, Interval
from segbench.statistics.pairs import Pairs, Tally
from segbench.statistics.runs import told_of_runs

SHOWN = 20
"""Methods in a printed table; of more the best are shown."""
IN_MATRIX = 12
"""Methods in a printed matrix of differences."""
_NAMED = 2
_LEAST_P = 1e-4
_CLEARLY = 0.01
_DIGITS_OF_P = 3


@dataclass(frozen=True)
class Standing:
    """A method, its value with the interval of the method alone, and which methods it is better than."""

    method: str
    letter: str  # by which others refer to it: a, b, .. z, aa, ..
    estimate: float
    interval: FoundInterval
    better_than: tuple[str, ...]  # the letters of those that it is significantly better than, after Holm's correction


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """Methods by one metric, the best first."""

    methods: tuple[str, ...]  # in the order of `pairs`
    pairs: Pairs
    level: float  # of confidence: differences are significant where Holm's p is at most 1 - level
    of_all: str  # of what Holm's correction is for all pairs, such as " of all 3 classes"; empty for one comparison
    instead_of: str = ""  # the metric that ranks methods, where the test does not apply to it but to this one

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The methods, one that beats all others first, the rest by value, undefined ones last."""
        # On what both have, a method may beat one with a better value.
        estimates = self.pairs.estimates.tolist()
        first, second = self.pairs.pairs
        won = self.pairs.won(self.level)
        wins = np.bincount(np.append(first[won > 0], second[won < 0]), minlength=len(estimates))
        rivals = int(np.count_nonzero(~np.isnan(estimates))) - 1
        beats_all = (wins == rivals) & (rivals > 0)
        order = sorted(
            range(len(estimates)), key=lambda k: (not beats_all[k], _rank(self.metric, estimates[k]), self.methods[k])
        )
        ranks = {k: rank for rank, k in enumerate(order)}
        better: list[list[int]] = [[] for _ in order]
        for winners, losers, sign in ((first, second, 1), (second, first, -1)):
            for winner, loser in zip(winners[won == sign].tolist(), losers[won == sign].tolist(), strict=True):
                better[winner].append(ranks[loser])
        return tuple(
            Standing(
                self.methods[k],
                letter_of(ranks[k]),
                estimates[k],
                self.pairs.measured[k].interval(self.pairs.column),
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
        p_of_pairs = zip(itertools.combinations(self.methods, 2), self.pairs.corrected.tolist(), strict=True)
        return {pair: p for (a, b), p in p_of_pairs for pair in ((a, b), (b, a))}

    @property
    def leader(self) -> str:
        """The method that is significantly better than all others for which the metric is defined; empty for none."""
        return self.standings[0].method if len(self._defined) > 1 and len(self.not_worse) == 1 else ""

    @property
    def _defined(self) -> list[Standing]:
        return [standing for standing in self.standings if not math.isnan(standing.estimate)]

    @property
    def not_worse(self) -> tuple[str, ...]:
        """The best method and all that cannot be told apart from it, the best first."""
        first = self.standings[0]
        not_worse = [standing.method for standing in self._defined[1:] if standing.letter not in first.better_than]
        return (first.method, *not_worse)

    @property
    def verdict(self) -> str:
        """One sentence: who leads, by how much and how surely, or who cannot be told apart; and who lacks values."""
        sentences = (self.lack_more, f"{self._verdict}{self.why_judged_by}", self.lacking)
        return "; ".join(filter(None, sentences))

    @property
    def why_judged_by(self) -> str:
        """Say at the end of a sentence why not the metric that ranks methods decides; empty where it does."""
        if not self.instead_of:
            return ""
        means = f"mean over {self.pairs.noun}s"
        return f"; judged by {self.metric.name}, the first {means}, since {self.instead_of} is none"

    @property
    def _verdict(self) -> str:
        """Say who leads, or who cannot be told apart."""
        first, second = self.standings[:2]
        title = self.metric.name
        if math.isnan(first.estimate):
            return f"{title} is undefined for every method"
        if math.isnan(second.estimate):
            return f"{title} is defined for {first.method} alone"
        reason = self.pairs.reason
        if reason:
            value = self.metric.with_unit(number_within(first.estimate, *first.interval.ends))
            tied = [
                standing.method for standing in self._defined if number(standing.estimate) == number(first.estimate)
            ]
            who = f"{_listed(tied)} share" if len(tied) > 1 else f"{first.method} has"
            best = "best" if self.metric.better else "highest"
            return f"{who} the {best} {title}, {value}, without a test ({reason})"
        if self.leader:
            pair = self._pair(first, second)
            ahead = self.amount(pair, self.ahead(first, second))
            on = f" on {self.compared_on(pair)}" if self.is_restricted(pair) else ""
            others = "" if len(self._defined) == _NAMED else "; it is significantly better than every other method"
            evidence = self.evidence(first, second, leads=True)
            return f"{first.method} leads {second.method} by {ahead}{on} ({evidence}){others}"
        ahead_of_first = [rival.method for rival in self._defined[1:] if first.letter in rival.better_than]
        if ahead_of_first:
            by = f"by the {self.pairs.test}" if self.ranked else "on what both have"
            better = f"{_listed(ahead_of_first)} {verb(len(ahead_of_first), 'are')} better {by}"
            return f"{self.begin('No')} clear winner by {title}: {first.method} has the best value, but {better}"
        p = ""
        if len(self._defined) == _NAMED:
            pair = self._pair(first, second)
            lacking = self.pairs.why_none(pair).get("p_value", "")
            p = f" ({self.evidence(first, second)}{f': {lacking}' if lacking else ''})"
        elif self.ranked:
            p = f" ({'; '.join(filter(None, (self.pairs.test, self.never)))})"
        rivals = [self._pair(first, rival) for rival in self._defined[1:] if rival.method in self.not_worse]
        images = self.compared_on(rivals[0])
        if len(rivals) > 1 and any(map(self.is_restricted, rivals)):
            images = f"the {self._value_noun}s that each two have"
        return f"{self.begin('No')} clear winner by {title}: {self._alike} on {images}{p}"

    @property
    def _alike(self) -> str:
        """Say which methods cannot be told apart, or only not from the best one."""
        first, *others = (standing for standing in self._defined if standing.method in self.not_worse)
        letters = {standing.letter for standing in others}
        if any(letters.intersection(standing.better_than) for standing in others):
            return f"{_listed([standing.method for standing in others])} cannot be told apart from {first.method}"
        return f"{_listed(self.not_worse)} cannot be told apart"

    @property
    def _table(self) -> Table:
        return self.pairs.measured[0].table

    @property
    def _value_noun(self) -> str:
        """What has a value of the metric: an image, or of classes each mask."""
        return self._table.value_noun or self.pairs.noun

    @cached_property
    def _ends(self) -> FloatArray:
        """The interval of each difference, shape (2, pairs)."""
        return np.array(self.pairs.intervals(self.level))

    def amount(self, pair: int, ahead: float) -> str:
        """Write by how much a method of a pair is better: with its unit, in the digits that the interval allows."""
        return self.metric.amount(number_within(abs(ahead), *self._ends[:, pair]), better=ahead >= 0)

    def is_restricted(self, pair: int) -> bool:
        """Return whether a pair is compared on less than all that its methods have."""
        return pair in self.pairs.lacking or pair in self.pairs.common

    def compared_on(self, pair: int) -> str:
        """Say on what a pair is compared: all images, or those that both methods have."""
        images = many(self._table.images, self.pairs.noun)
        lacking = self.pairs.lacking.get(pair)
        if lacking is None:
            return f"what both have of {images}" if self.is_restricted(pair) else images
        number_of = many(lacking.both, self._value_noun)
        if self._value_noun == self.pairs.noun:
            number_of = f"{lacking.both} of {images}"
        return f"the {number_of} that both have"

    @cached_property
    def _most_unlike(self) -> tuple[str, ...]:
        """The two methods whose numbers of values that they lack differ most clearly; none where that may be chance."""
        p_values = self.pairs.lacking_corrected
        pair = int(p_values.argmin())
        by_chance = p_values[pair] > 1 - self.level
        return () if by_chance else tuple(self.methods[numbers[pair]] for numbers in self.pairs.pairs)

    @property
    def lack_more(self) -> str:
        """Say which method lacks values in significantly more images than which other; empty where none does."""
        if not self._most_unlike:
            return ""
        pair = self.pair_of(*self._most_unlike)
        counts = zip(self.pairs.lacking[pair].lacking, self._most_unlike, strict=True)
        (more, worse), (fewer, better) = sorted(counts, reverse=True)
        p = float(self.pairs.lacking_corrected[pair])
        return f"{self._lacks(worse, more)}, {better} in {fewer or 'none'} ({p_text(p)})"

    def begin(self, word: str) -> str:
        """Write the first word of a sentence, which goes on after `lack_more`."""
        return word.lower() if self.lack_more else word

    @property
    def lacking(self) -> str:
        """Say in how many images other methods lack a value that some method has."""
        counts = dict(zip(self.methods, self.pairs.lacking_of_methods.tolist(), strict=True))
        lacking = [name for name, count in counts.items() if count and name not in self._most_unlike]
        lacking.sort(key=lambda name: (-counts[name], name))
        if not lacking:
            return ""
        listed = [f"{name} in {counts[name]}" for name in lacking[: _NAMED + 1]]
        if len(counts) == _NAMED == len(self._defined) and not self.pairs.reason:
            lacks = self._table.lacks(self.metric)  # the sentence has said of how many images
            listed[0] = f"{lacking[0]} {lacks} in {counts[lacking[0]]}"
        else:
            listed[0] = self._lacks(lacking[0], counts[lacking[0]])
        more = [f"{len(lacking) - len(listed)} more methods in fewer"] if len(lacking) > len(listed) else []
        return ", ".join([*listed, *more])

    def _lacks(self, method: str, count: int) -> str:
        """Say in how many images a method has no value."""
        number_of = many(count, self._value_noun)
        if self.pairs.noun == self._value_noun:
            number_of = of_all(count, self._table.images, self.pairs.noun)
        return f"{method} {self._table.lacks(self.metric)} in {number_of}"

    def pair_of(self, a: str, b: str) -> int:
        """Number the pair of two methods."""
        return self.pairs.pair(self.methods.index(a), self.methods.index(b))

    def _p_text(self, first: Standing, second: Standing) -> str:
        """Write the p-value of two methods, and of how many runs it is."""
        names = first.method, second.method
        told = told_of_runs({name: self.pairs.measured[self.methods.index(name)].table for name in names})
        return "; ".join(filter(None, (p_text(self.p_values[names]), told)))

    @property
    def ranked(self) -> bool:
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

    def on_pair(self, a: str, b: str) -> str:
        """Say on what two methods are compared if that is not all there is, and why without a test if so."""
        pair = self.pair_of(a, b)
        if math.isnan(self.pairs.differences[pair]):
            return self.verdict
        reason = self.pairs.why_none(pair).get("p_value")
        test = f"without a test ({reason})" if reason else self.never
        on = f"on {self.compared_on(pair)}" if self.is_restricted(pair) else ""
        return "; ".join(filter(None, (self.lack_more, test, on, self.lacking)))

    def evidence(self, first: Standing, second: Standing, *, leads: bool = False) -> str:
        """Write p of a pair; of the signed-rank test also its estimate, unless said before, and wins, ties, losses."""
        p = self._p_text(first, second)
        if not self.ranked:
            return p
        estimate = self.ahead(first, second)
        if math.isnan(estimate):
            return f"{self.pairs.test}, {p}"
        ahead, behind = (first, second) if estimate >= 0 or leads else (second, first)
        test = f"{self.pairs.test}, {p}"
        tally = tally_text(self.tally(ahead, behind))
        if leads:
            by_mean = self.metric.direction * (first.estimate - second.estimate)
            better = first if by_mean > 0 else second
            against = f"the mean of {better.method} is better" if by_mean * estimate < 0 else ""
            return "; ".join(filter(None, (self.pairs.differs_by, test, tally, against)))
        favour = f"{self.pairs.differs_by} {number(abs(estimate))} in favour of {ahead.method}, {tally}"
        return "; ".join(filter(None, (test, favour, self.never)))

    def tally(self, standing: Standing, other: Standing) -> Tally:
        """Count the images that a method wins, on which it is equal, and that it loses against another."""
        pair = self._pair(standing, other)
        tally = self.pairs.tally(pair)
        return tally if self.methods[self.pairs.pairs[0][pair]] == standing.method else Tally(*reversed(tally))

    def _pair(self, standing: Standing, other: Standing) -> int:
        return self.pair_of(standing.method, other.method)

    def ahead(self, standing: Standing, other: Standing) -> float:
        """Return by how much one method is better than another, on what both have."""
        pair, sign = self._pair(standing, other), self._sign(standing, other)
        return sign * float(self.pairs.differences[pair])

    def lead(self, standing: Standing, other: Standing) -> tuple[float, Interval]:
        """Return by how much one method is better than another, as `ahead` does, and the interval of that."""
        sign = self._sign(standing, other)
        low, high = sorted((sign * self._ends[:, self._pair(standing, other)]).tolist())
        return self.ahead(standing, other), (low, high)

    def _sign(self, standing: Standing, other: Standing) -> int:
        """Return 1 where the difference of a pair is by how much the first is better, or -1."""
        is_first = self.methods[self.pairs.pairs[0][self._pair(standing, other)]] == standing.method
        return self.metric.direction if is_first else -self.metric.direction

    @property
    def needed(self) -> str:
        """About how many images the best two methods would take to be told apart; empty where they are, or too many."""
        first, second = self.standings[:2]
        if second.method not in self.not_worse or first.letter in second.better_than:
            return ""
        pair, difference = self._pair(first, second), abs(self.ahead(first, second))
        ahead = self.metric.with_unit(number(difference, digits=digits_within(0, difference)))
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
        """Return the verdict, and about how many images it would take to find a difference."""
        return [self.verdict, *([f"{self.needed[0].upper()}{self.needed[1:]}"] if self.needed else [])]

    @property
    def correction(self) -> str:
        """For which p-values Holm's correction is made, in words; empty where there is a single one."""
        if len(self.standings) == _NAMED and not self.of_all:
            return ""
        return f"after Holm's correction for all pairs{self.of_all}"

    @property
    def on_correction(self) -> str:
        """What Holm's correction does, for those who do not know it; empty where no p-value is corrected."""
        if not self.correction or self.pairs.reason:
            return ""
        explained = "Holm's correction raises each p by the number of pairs, so that the chance of any false difference"
        return f"{explained} is at most {100 * (1 - self.level):.2g} %"

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Rank of each method by its letter, from 0."""
        return {standing.letter: rank for rank, standing in enumerate(self.standings)}

    def table(self, *, digits: int = DIGITS) -> TextTable:
        """Return one row per method, the best first: letter, metric, interval, and the methods it beats."""
        shown, total = self.standings[:SHOWN], len(self.standings)
        rows = [
            [
                standing.letter,
                standing.method,
                number(standing.estimate, digits=digits),
                interval_text(standing.interval.ends, digits),
                self.beats(standing),
                *self._against_best(standing, digits),
            ]
            for standing in shown
        ]
        header = ["", "method", self.metric.column_name, f"{100 * self.level:g} % interval", "better than"]
        header += ["a leads by", "W-T-L"] if self.ranked else []
        notes = [f"the best {SHOWN} of {total} methods"] if total > SHOWN else []
        least = number(1 - self.level, digits=2)
        legend = ["lower is better"] if self.metric.better == "lower" else []
        if not self.pairs.reason:
            test = f"p of the {self.pairs.test} at most {least}"
            legend.append(f"better than: {test}{f', {self.correction}' if self.correction else ''}")
        notes += ["; ".join(legend)] if legend else []
        if self.ranked:
            counted = f"W-T-L: {self.pairs.measured[0].table.noun}s that a wins, ties and loses"
            notes.append(f"a leads by: {self.pairs.differs_by} of the differences; {counted}")
        return TextTable(header, rows, names=2, notes=tuple(notes)).fitted(1)

    def _against_best(self, standing: Standing, digits: int) -> list[str]:
        """Write by how much the first method leads another, and its wins, ties and losses; of the signed-rank test."""
        if not self.ranked:
            return []
        first = self.standings[0]
        if standing is first or math.isnan(standing.estimate):
            return ["", ""]
        ahead = self.ahead(first, standing)
        return [number(ahead, digits=digits), "-".join(map(str, self.tally(first, standing)))]

    def beats(self, standing: Standing) -> str:
        """Write the letters of printed methods, and the number of others; or that it is better than all."""
        beaten = standing.better_than
        if len(beaten) == len(self.standings) - 1 > 1:
            return "all"
        shown = [letter for letter in beaten if self.ranks[letter] < SHOWN]
        more = [f"{len(beaten) - len(shown)} more"] if len(shown) < len(beaten) else []
        return " and ".join([*([letters_text(shown, self.ranks)] if shown else []), *more]) or "-"

    def matrix(self) -> TextTable:
        """Return the lead of each of the best methods (row) over each other (column), with stars where significant."""
        most = min(len(self._defined), IN_MATRIX)
        tables = (self._matrix(self._defined[:shown]) for shown in range(most, 1, -1))
        return next(table for table in tables if len(table.rows) == 1 or table.width <= WIDTH)

    def _matrix(self, shown: Sequence[Standing]) -> TextTable:
        least = 1 - self.level
        digits = _decimals(abs(shown[0].estimate - shown[-1].estimate))
        cells = [
            [self._lead(row, column, least, digits) if rank > k else "" for rank, column in enumerate(shown)][1:]
            for k, row in enumerate(shown[:-1])
        ]
        note = "by how much the row leads the column"
        if len(self.standings) > len(shown):
            note = f"the best {len(shown)} methods: {note}"
        note += f", {self.pairs.differs_by}" if self.ranked else ""
        if not self.pairs.reason:
            note += f"; {star_key(least)} (Holm)"
        header = [self.metric.column_name, *(standing.letter for standing in shown[1:])]
        named = [[f"{standing.letter} {standing.method}", *row] for standing, row in zip(shown, cells, strict=False)]
        table = TextTable(header, named, notes=(note,)).fitted(0)
        if table.width <= WIDTH:
            return table
        header[0] = ""
        return TextTable(
            header, [[standing.letter, *row] for standing, row in zip(shown, cells, strict=False)], notes=(note,)
        )

    def _lead(self, row: Standing, column: Standing, least: float, digits: int) -> str:
        ahead = self.ahead(row, column)
        text = "-" if math.isnan(ahead) else point_first(f"{round(ahead, digits) + 0:.{digits}f}")  # never -0
        return text + stars(self.p_values[row.method, column.method], least)

    def tables(self, *, digits: int = DIGITS) -> list[TextTable]:
        """Return the table of methods, and for three or more the matrix of their differences."""
        table = self.table(digits=digits)
        has_matrix = len(self._defined) > _NAMED and not np.isnan(self.pairs.differences).all()
        return [table, self.matrix()] if has_matrix else [table]

    def __str__(self) -> str:
        """Print the verdict and the tables."""
        text = "\n\n".join(["\n".join(self.sentences()), *map(str, self.tables())])
        return "\n".join(filter(None, (text, self.on_correction)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the verdict and the tables as HTML for notebooks."""
        tables = "".join(map(table_html, self.tables()))
        return remarks_html(*self.sentences()) + tables + remarks_html(*filter(None, [self.on_correction]))


def _rank(metric: Metric, estimate: float) -> float:
    return math.inf if math.isnan(estimate) else -metric.direction * estimate


def letter_of(rank: int) -> str:
    """Return the letter of a rank: a, b, .. z, aa, ab, .. for 0, 1, .."""
    letters = ""
    rank += 1
    while rank:
        rank, digit = divmod(rank - 1, 26)
        letters = chr(ord("a") + digit) + letters
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
    """Write a p-value for a sentence: ``p = .012``, ``p < .0001``."""
    if math.isnan(p):
        return "no p-value"
    return f"p {p_number(p)}" if p < _LEAST_P else f"p = {p_number(p, digits=_DIGITS_OF_P)}"


def tally_text(tally: Tally) -> str:
    """Write wins, ties and losses: ``9 wins, 1 tie, 2 losses``."""
    losses = "1 loss" if tally.losses == 1 else f"{tally.losses} losses"
    return f"{many(tally.wins, 'win')}, {many(tally.ties, 'tie')}, {losses}"


def letters_text(letters: Sequence[str], rank_of: Mapping[str, int], between: str = " ") -> str:
    """Write letters of methods, three or more in a row as ``c-f``."""
    written: list[str] = []
    # Ranks in a row rise as their positions do.
    for _, run in itertools.groupby(enumerate(letters), lambda numbered: rank_of[numbered[1]] - numbered[0]):
        consecutive = [letter for _, letter in run]
        written += [f"{consecutive[0]}-{consecutive[-1]}"] if len(consecutive) > _NAMED else consecutive
    return between.join(written)


def interval_text(ends: Interval, digits: int = DIGITS) -> str:
    """Write an interval in brackets; a dash where there is none."""
    return "-" if math.isnan(ends[0]) else f"[{number(ends[0], digits=digits)}, {number(ends[1], digits=digits)}]"


def _decimals(largest: float) -> int:
    """Return the number of decimal places for differences up to the largest: three digits, one more below 1."""
    return 3 if largest < 1 else max(2 - int(math.log10(largest)), 0)


def _listed(names: Sequence[str]) -> str:
    """Name two methods, and how many more there are."""
    if len(names) > _NAMED + 1:
        return first_names(names, _NAMED)
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

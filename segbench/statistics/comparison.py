"""Paired comparison of methods on the same images: differences, intervals, p-values, wins and ranks.

Everything is computed when it is needed: a comparison of hundreds of methods takes no resamples.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, get_args

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, Setting, as_message, joined, notes_about
from segbench.core.metric import Metric, refuse_outside
from segbench.core.names import few_names, first_names
from segbench.core.settings import check_choice
from segbench.core.table import Table
from segbench.core.text_table import data_frame, remarks_html
from segbench.curves.pooled import AT_THE_MASK
from segbench.statistics.answer import Answer
from segbench.statistics.failures import on_differences, on_distances
from segbench.statistics.intervals import Intervals, intervals_of, notes_on
from segbench.statistics.measured import Measured, as_draws, as_level
from segbench.statistics.pairs import Pairs, SignedRankTests, Test, TTests
from segbench.statistics.runs import told_of_runs, with_trainings
from segbench.statistics.signed_rank import TIED
from segbench.statistics.units import unknown_units

if TYPE_CHECKING:
    import pandas as pd

Ranks = Mapping[str, tuple[float, ...]]

_NAMED_PAIRS = 4


@dataclass(frozen=True)
class Difference:
    """One metric of one pair of methods, a minus b.

    Parameters
    ----------
    metric, a, b : str
        Names.
    estimate_a, estimate_b, difference : float
        Of what both methods have, see docs/comparing.md; nan where a metric is undefined.
    low, high : float
        Interval of the difference over images or units, with runs also over trainings or folds; not corrected for the
        number of pairs: it excludes 0 exactly where `p_value` is below 1 - level. nan where there is none.
    p_value, p_holm : float
        Two-sided, of Student's t; and corrected by Holm for the number of pairs. nan where there is none.
    standard_error, freedom : float
        Standard error of the difference and its degrees of freedom; nan where there is no p-value, and freedom also
        beside a single run, which has several.
    wins, ties, losses : int
        Images (or units) with a better value for a, the same, or a better one for b, each by its own counts. One on
        which the metric is undefined is none of these.
    both, lacking_a, lacking_b : int
        Images (of means over classes masks) in which both have a value, and in which only a, or only b lacks one though
        something is there: with distances, it finds nothing.
    p_lacking : float
        Whether one of the two lacks more: exact and two-sided, of McNemar; over units, of the sign test. 1 where
        neither does.
    hodges_lehmann, hodges_lehmann_low, hodges_lehmann_high : float
        Hodges-Lehmann estimate of the differences of images or units, with its interval, not corrected for the number
        of pairs; nan for metrics that are no means over images, and where images are too few.
    signed_rank_p, signed_rank_p_holm : float
        Two-sided, of the signed-rank test; and corrected by Holm for the number of pairs. nan where there is none.
    """

    metric: str
    a: str
    b: str
    estimate_a: float
    estimate_b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    standard_error: float
    freedom: float
    wins: int
    ties: int
    losses: int
    both: int
    lacking_a: int
    lacking_b: int
    p_lacking: float
    hodges_lehmann: float = math.nan
    hodges_lehmann_low: float = math.nan
    hodges_lehmann_high: float = math.nan
    signed_rank_p: float = math.nan
    signed_rank_p_holm: float = math.nan

    def by(self, test: Test) -> Difference:
        """Return the row with what a test has as difference (the Hodges-Lehmann estimate), interval and p-values.

        The t-test is what rows have as they are.
        """
        if test == "t-test":
            return self
        return replace(
            self,
            difference=self.hodges_lehmann,
            low=self.hodges_lehmann_low,
            high=self.hodges_lehmann_high,
            p_value=self.signed_rank_p,
            p_holm=self.signed_rank_p_holm,
        )

    def swapped(self) -> Difference:
        """Return the difference b minus a instead of a minus b; p-values and ties stay."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            estimate_a=self.estimate_b,
            estimate_b=self.estimate_a,
            difference=0 - self.difference,  # as -x would be -0.0 of 0
            low=0 - self.high,
            high=0 - self.low,
            wins=self.losses,
            losses=self.wins,
            hodges_lehmann=0 - self.hodges_lehmann,
            hodges_lehmann_low=0 - self.hodges_lehmann_high,
            hodges_lehmann_high=0 - self.hodges_lehmann_low,
            lacking_a=self.lacking_b,
            lacking_b=self.lacking_a,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods compared on the same images: what is random are images or units, and where methods have runs, these.

    Parameters
    ----------
    measured : mapping of str to Measured
        The methods, in the order given, each with its images, or units, and its runs.
    metrics : tuple of Metric
        What is compared.
    general_notes : tuple of Note
        What to say beside the tables but for few images that decide a difference, which `notes` has, too.
    undefined : mapping of str to Message
        By metric, why it is undefined for some method, named with the reason.
    beside : tuple of Comparison
        Comparisons that are read together with this one, for instance of the other classes: p-values are corrected for
        all pairs of all of them.
    parts : str
        What these are of: ``"classes"``, ``"groups"``.
    test : {"t-test", "signed-rank"}
        Which test decides the answer; `differences` have both.
    """

    measured: Mapping[str, Measured]
    metrics: tuple[Metric, ...]
    general_notes: tuple[Note, ...] = ()
    undefined: Mapping[str, Message] = field(default_factory=dict)
    beside: tuple[Comparison, ...] = ()
    parts: str = ""
    test: Test = "t-test"
    _t_tests: dict[str, TTests] = field(default_factory=dict, init=False)
    _signed_rank_tests: dict[str, SignedRankTests] = field(default_factory=dict, init=False)
    _ranks: dict[str, Ranks] = field(default_factory=dict, init=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, in the order given."""
        return tuple(self.measured)

    @property
    def _first(self) -> Measured:
        return next(iter(self.measured.values()))

    @property
    def images(self) -> int:
        """Number of images, or of units of images."""
        return self._first.images

    @property
    def noun(self) -> str:
        """What is drawn at random: "image", or what else the rows of the tables are, such as "patient"."""
        return self._first.noun

    @property
    def number_of_images(self) -> int:
        """Number of images, which units hold together."""
        return self._first.table.number_of_images

    @property
    def sample_size(self) -> str:
        """How many images there are, or units of images, in words."""
        return self._first.table.sample_size

    def over(self, rows: str) -> str:
        """Say over what intervals and p-values are, given the images or units in words: ``60 images and trainings``."""
        return with_trainings(rows, (method.table for method in self.measured.values()))

    @property
    def level(self) -> float:
        """Confidence level of the intervals; differences are significant where Holm's p is below 1 - level."""
        return self._first.level

    @property
    def replicates(self) -> int:
        """Number of the resamples behind ranks, and behind intervals of metrics that jump between thresholds."""
        return self._first.replicates

    @property
    def signature(self) -> str:
        """How differences were tested, and how resamples were drawn."""
        first = self._first
        differences = "signed-rank" if self.test == "signed-rank" else "jackknife"
        return f"differences:{differences}-{100 * first.level:g}|resamples:{first.replicates}-{first.seed}"

    def metric(self, key: str | None = None) -> Metric:
        """Return a metric by its key.

        Parameters
        ----------
        key : str, optional
            Such as ``"auc_pr"``; by default that of the metric that ranks methods. Of the signed-rank test, it is the
            first that is a mean over images where that one is none.

        Returns
        -------
        Metric

        Raises
        ------
        ArgumentError
            If it is not compared.
        """
        if key is None:
            return self._ranking
        for metric in self.metrics:
            if metric.key == key:
                return metric
        known = [metric.key for metric in self.metrics]
        raise ArgumentError(
            Message("unknown-metric", "{metric!r} is not compared; expected one of {known}", metric=key, known=known)
        )

    @property
    def _ranking(self) -> Metric:
        """The metric that ranks methods, or the first that the test applies to."""
        headline = next(metric for metric in self.metrics if metric.headline)
        if self.test == "t-test" or headline.mean_over_images:
            return headline
        return next(metric for metric in self.metrics if metric.mean_over_images)

    def place(self, key: str) -> int:
        """Number the column of a metric in the tables of the methods."""
        return [metric.key for metric in self._first.table.metrics].index(self.metric(key).key)

    def pairs(self, key: str, test: Test | None = None) -> Pairs:
        """Return all pairs of methods by one metric, as arrays, with a test; by default the one that decides."""
        return self.t_tests(key) if (test or self.test) == "t-test" else self.signed_rank_tests(key)

    def t_tests(self, key: str) -> TTests:
        """Return all pairs of methods by one metric, as arrays, with the t-test."""
        if key not in self._t_tests:
            beside = partial(_t_tests_of, self.beside, key)
            self._t_tests[key] = TTests(self.metric(key), tuple(self.measured.values()), self.place(key), beside)
        return self._t_tests[key]

    def signed_rank_tests(self, key: str) -> SignedRankTests:
        """Return all pairs of methods by one metric, as arrays, with the signed-rank test."""
        if key not in self._signed_rank_tests:
            methods, beside = tuple(self.measured.values()), partial(_signed_rank_tests_of, self.beside, key)
            self._signed_rank_tests[key] = SignedRankTests(self.metric(key), methods, self.place(key), beside)
        return self._signed_rank_tests[key]

    def rows(self, key: str, *, against: str | None = None, tallied: bool = True) -> list[Difference]:
        """Return the difference of each pair of methods by one metric, pair by pair in the order given.

        With `against`, return that of each other method minus the one of this name. p-values are corrected for all
        pairs in both cases.
        Images are not measured where they need not be `tallied`, nor for the test: wins, ties and losses are 0 then,
        and the signed-rank test has no values.
        """
        pairs, names = self.t_tests(key), self.methods
        low, high = pairs.intervals(self.level)
        tallied = tallied or self.test == "signed-rank"
        signed_rank_values = self._signed_rank_values(key) if tallied else np.full((pairs.p_values.size, 5), np.nan)
        differences = []
        for pair, (first, second) in enumerate(zip(*(numbers.tolist() for numbers in pairs.pairs), strict=True)):
            if against not in (None, names[first], names[second]):
                continue
            a, b = pairs.measured_of(pair)
            error, lacking = float(pairs.standard_errors[pair]), pairs.lacking_of(pair)
            row = Difference(
                key,
                names[first],
                names[second],
                float(a.table.estimates[pairs.column]),
                float(b.table.estimates[pairs.column]),
                float(pairs.differences[pair]),
                float(low[pair]),
                float(high[pair]),
                float(pairs.p_values[pair]),
                float(pairs.corrected[pair]),
                error,
                math.nan if math.isnan(error) else float(pairs.freedom[pair]),
                *(pairs.tally(pair) if tallied else (0, 0, 0)),
                lacking.both,
                *lacking.lacking,
                lacking.p_value,
                *signed_rank_values[pair].tolist(),
            )
            differences.append(row.swapped() if against == row.a else row)
        return differences

    def _signed_rank_values(self, key: str) -> FloatArray:
        """Return estimate, both ends, p and Holm's p of the signed-rank test of each pair, shape (pairs, 5)."""
        pairs = self.signed_rank_tests(key)
        low, high = pairs.intervals(self.level)
        return np.column_stack([pairs.differences, low, high, pairs.p_values, pairs.corrected])

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What to say beside the tables of the metrics that these show."""
        keys = compared(self)
        return *self.general_notes, *self._on_few_images(keys), *self.on_single_runs(keys[:1])

    def notes_about(self, keys: Sequence[str]) -> tuple[Note, ...]:
        """Say what must be known beside the metrics of some keys."""
        return *notes_about(self.general_notes, keys), *self._on_few_images(keys), *self.on_single_runs(keys)

    def _on_few_images(self, keys: Sequence[str]) -> tuple[Note, ...]:
        """Say which images decide differences, and of which means the images may not show the failures."""
        tests = {key: self.t_tests(key) for key in keys}
        return *on_differences(tests, self.methods), *on_distances(tests)

    def why_none(self, key: str, a: str, b: str, test: Test | None = None) -> dict[str, Message]:
        """Say why two methods lack a difference, an interval or a p-value by a metric; empty where they have all."""
        pairs = self.pairs(key, test)
        return pairs.why_none(pairs.pair(self.methods.index(a), self.methods.index(b)))

    def measured_of(self, key: str, a: str, b: str) -> tuple[Measured, Measured]:
        """Return two methods, measured on the values of a metric that both have."""
        pairs = self.pairs(key)
        number_a, number_b = self.methods.index(a), self.methods.index(b)
        first, second = pairs.measured_of(pairs.pair(number_a, number_b))
        return (first, second) if number_a < number_b else (second, first)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """One `Difference` per pair and metric, pair by pair in the order given, metric by metric."""
        by_metric = [self.rows(metric.key) for metric in self.metrics]
        return tuple(row for pair in zip(*by_metric, strict=True) for row in pair)

    @cached_property
    def intervals(self) -> Mapping[str, Intervals]:
        """Each method's own intervals, of all metrics."""
        return {name: intervals_of(method) for name, method in self.measured.items()}

    @cached_property
    def rank_shares(self) -> Mapping[str, Ranks]:
        """By metric and method, the share of resamples in which the method is first, second, and so on.

        Equals share the better rank; nan where no resample defines the metric for all methods, and where pairs are not
        all compared on the same images.
        """
        return {metric.key: self.ranks(metric.key) for metric in self.metrics}

    def ranks(self, key: str) -> Ranks:
        """Return by method the share of resamples in which it is first, second, and so on, by one metric."""
        if key not in self._ranks:
            self._ranks[key] = _rank_shares(self, key)
        return self._ranks[key]

    def answer(self, key: str | None = None) -> Answer:
        """Say which method is best by one metric, and how sure that is."""
        metric, ranking = self.metric(key), self._ranking
        headline = next((metric.name for metric in self.metrics if metric.headline), "")
        instead_of = "" if ranking.headline or metric is not ranking else headline
        of_all = f" of all {1 + len(self.beside)} {self.parts}" if self.beside else ""
        return Answer(self.methods, self.pairs(metric.key), self.level, of_all, instead_of)

    def disagreements(self, keys: Sequence[str], *, titles: bool = False) -> list[Note]:
        """Return one note on pairs in which each method is significantly better by some metric, if there are any.

        Metrics are those of the keys and the one that ranks methods, called by their keys or by their titles.
        """
        metrics = [metric for metric in self.metrics if metric.headline or metric.key in keys]
        metric_names = [metric.name if titles else metric.key for metric in metrics]
        won = np.array([self.pairs(metric.key).won(self.level) for metric in metrics])
        contradictions = []
        for pair in np.flatnonzero((won > 0).any(axis=0) & (won < 0).any(axis=0)).tolist():
            a, b = (self.methods[methods[pair]] for methods in self.pairs(metrics[0].key).pairs)
            better, worse = (
                ", ".join(name for name, side in zip(metric_names, won[:, pair], strict=True) if side == sign)
                for sign in (1, -1)
            )
            contradictions.append(f"{a} is better than {b} by {better} but worse by {worse}")
        pairs = first_names(contradictions, _NAMED_PAIRS, "; ")
        message = Message("metrics-disagree", "metrics disagree, each significantly: {pairs}", pairs=pairs)
        return [Note(message)] if contradictions else []

    def on_single_runs(self, keys: Sequence[str]) -> list[Note]:
        """Return one line where methods of one run differ significantly, which says nothing of other trainings."""
        for comparison, key in itertools.product((self, *self.beside), keys):
            pairs = comparison.pairs(key)
            first, second = pairs.pairs
            single = pairs.has_one_run
            if (single[first] & single[second] & (pairs.won(self.level) != 0)).any():
                message = Message(
                    "single-runs",
                    "significant for these predictions, one run of each method; several runs ({several}) cover other "
                    "trainings",
                    several=Either("compare({'ours': [run1, run2], ...})", "ours@1=PRED1 ours@2=PRED2"),
                )
                return [Note(message)]
        return []

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair and metric, with the fields of `Difference`.

        Takes pandas, which segbench does not install by itself.
        """
        rows = [asdict(row) for row in self.differences]
        return data_frame(rows, "", range(len(rows)))  # type: ignore[arg-type]  # rows have no names

    def __str__(self) -> str:
        """Print the answer by the metric that ranks methods, and the notes."""
        return "\n".join([str(self.answer()), *map(str, self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the answer and the notes as HTML for notebooks."""
        return self.answer()._repr_html_() + remarks_html(*self.notes)


# No lambdas do this, so that comparisons can be pickled.
def _t_tests_of(comparisons: Sequence[Comparison], key: str) -> list[TTests]:
    """Return the t-tests of some comparisons."""
    return [comparison.t_tests(key) for comparison in comparisons]


def _signed_rank_tests_of(comparisons: Sequence[Comparison], key: str) -> list[SignedRankTests]:
    """Return the signed-rank tests of some comparisons."""
    return [comparison.signed_rank_tests(key) for comparison in comparisons]


def _rank_shares(comparison: Comparison, key: str) -> Ranks:
    methods, metric, column = comparison.methods, comparison.metric(key), comparison.place(key)
    undefined = dict.fromkeys(methods, (math.nan,) * len(methods))
    if key in comparison.undefined or comparison.pairs(key).common:
        return undefined
    draws = metric.direction * np.array([method.draws[:, column] for method in comparison.measured.values()])
    draws = draws[:, ~np.isnan(draws).any(axis=0)]
    if not draws.size:
        return undefined
    ranks = ((draws > drawn + TIED).sum(axis=0) for drawn in draws)
    shares = np.array([np.bincount(method_ranks, minlength=len(methods)) for method_ranks in ranks])
    return dict(zip(methods, map(tuple, (shares / draws.shape[1]).tolist()), strict=True))


def compare(
    tables: Mapping[str, Table],
    *,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
    test: Test = "t-test",
) -> Comparison:
    """Compare methods by their tables, of the same images and the same metrics; see `segbench.compare`."""
    check_choice(test, Setting("test", None), get_args(Test))
    if len(tables) < 2:
        raise ArgumentError(
            Message(
                "too-few-methods",
                "{methods}: a comparison needs at least two methods",
                methods=list(tables) or ["no method"],
            )
        )
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    for table in tables.values():
        refuse_outside(table.metrics, table.estimates.tolist())
    beside = tuple(tables.values())
    measured = {name: Measured(table, level, replicates, seed, beside) for name, table in tables.items()}
    first = next(iter(measured.values()))
    metrics = {
        column: metric for column, metric in enumerate(first.table.metrics) if metric.key and metric.kind == "score"
    }
    undefined = {}
    for column, metric in metrics.items():
        lacking = [
            (as_message(table.why_undefined(metric)), name)
            for name, table in tables.items()
            if math.isnan(table.estimates[column])
        ]
        if lacking:
            undefined[metric.key] = by_reason(lacking)
    with_masks = [name for name, table in tables.items() if AT_THE_MASK in table.notes]
    notes = [AT_THE_MASK.said_of(few_names(with_masks, len(tables)))] if 0 < len(with_masks) < len(tables) else []
    if any(method.over_common(other) is not method for method, other in itertools.permutations(measured.values(), 2)):
        restricted = Message(
            "on-common-values",
            "means over images: pairs leave out images of which one method has no value, as it misses what is there",
        )
        notes.append(Note(restricted))
    notes += unknown_units(first)
    if test == "signed-rank":
        _refuse_ranks([*tables.values()], metrics.values())
    column_of = {metric.key: column for column, metric in metrics.items()}
    runs = told_of_runs(tables)
    if runs:
        rows = f"{first.noun}s"
        over = Message(
            "over-trainings",
            "{runs}: p-values, and intervals of several runs, are over {rows} and trainings",
            runs=runs,
            rows=rows,
        )
        if any(table.folds for table in tables.values()):
            over = Message(
                "over-folds",
                "{runs}: where folds vary more than {rows}, p-values and intervals are over folds",
                runs=runs,
                rows=rows,
            )
        notes.append(Note(over))
    methods_by_note = grouped((note, name) for name, method in measured.items() for note in notes_on(method, column_of))
    for note, names in methods_by_note.items():
        notes.append(note if len(names) == len(tables) else note.said_of(few_names(names, len(tables))))
    return Comparison(measured, tuple(metrics.values()), tuple(notes), undefined, test=test)


def _refuse_ranks(tables: Sequence[Table], metrics: Iterable[Metric]) -> None:
    """Refuse the signed-rank test of tables whose rows it cannot rank, or without a mean over them."""
    reasons = [table.why_no_ranks for table in tables if table.why_no_ranks]
    if any(table.folds for table in tables):
        why = Message(
            "ranks-of-folds", "the signed-rank test takes images as independent, and those of a fold share a training"
        )
    elif reasons:
        why = reasons[0]
    elif not any(metric.mean_over_images for metric in metrics):
        why = Message(
            "ranks-without-mean",
            "the signed-rank test is for means over {noun}s, and no metric here is one",
            noun=tables[0].noun,
        )
    else:
        return
    raise ArgumentError(why.extended("; leave out {given}", given=Setting("test", "signed-rank")))


def together(comparisons: Sequence[Comparison], parts: str) -> list[Comparison]:
    """Correct comparisons that are read together, such as those of several classes, for all pairs of all of them."""
    others = (tuple(other for other in comparisons if other is not comparison) for comparison in comparisons)
    return [
        replace(comparison, beside=beside, parts=parts) for comparison, beside in zip(comparisons, others, strict=True)
    ]


def by_reason(lacking: Iterable[tuple[Message, str]]) -> Message:
    """Say for which methods each reason holds."""
    return joined(reason.extended(" for {methods}", methods=names) for reason, names in grouped(lacking).items())


def compared(comparison: Comparison) -> list[str]:
    """Return the keys of the metrics that tables show; JSON and CSV hold all."""
    return [metric.key for metric in comparison.metrics if metric.compared] or [
        metric.key for metric in comparison.metrics
    ]

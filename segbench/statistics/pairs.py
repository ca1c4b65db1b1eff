"""All pairs of methods by one metric: differences on the same images, with intervals and p-values.

There are two tests. The signed-rank test (`segbench.statistics.signed_rank`) takes the differences of images, or of
what else the rows of a table are. The t-test takes pseudo-values (`segbench.statistics.variance`): those of two
methods are subtracted image by image. What is tested, and what not, is in docs/comparing.md; beside that:

- Where pseudo-values differ by the same amount in every image, p is as in a test of signs.
- A difference of biased metrics (ECE, ACE, MCE) is tested where both methods have clearly more than the bias: beside a
  calibrated method, intervals held the difference in .6 of simulated sets.
- Metrics that jump have quantiles of the difference in resamples and no p-value, see `segbench.statistics.measured`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.messages import NOTHING, Message, as_message
from segbench.core.metric import Metric
from segbench.core.numbers import many, number, verb
from segbench.core.table import CELLS_AT_ONCE
from segbench.statistics.measured import Measured, widened
from segbench.statistics.signed_rank import (
    TIED,
    fewest_differences,
    hodges_lehmann,
    side_of_ranks,
    signed_rank_p,
    walsh_interval,
)
from segbench.statistics.variance import Component, Variance, standard_error

Test = Literal["t-test", "signed-rank"]

FEWEST_IMAGES = 6
"""Below this many images, differences have neither interval nor p-value."""
_THE_SAME = 1e-10
_MOST_NEEDED = 1_000_000
_POWER = 0.8  # with which so many images show a difference


class Tally(NamedTuple):
    """Images that the first of two methods wins, on which they are equal, and that it loses."""

    wins: int
    ties: int
    losses: int


class Lacking(NamedTuple):
    """Values of a pair of methods that both have, and that one of the two lacks where something is there."""

    both: int
    lacking: tuple[int, int]  # values that the first, and that the second method alone lacks
    p_value: float  # exact and two-sided, of McNemar: whether one of the two lacks more


@dataclass(frozen=True, eq=False)
class Pairs(ABC):
    """The differences of all pairs of methods by one metric, in the order of `itertools.combinations`, and their test.

    Each test derives from this class: `TTests` and `SignedRankTests`.
    """

    test: ClassVar[str]
    """What sentences call the test."""
    differs_by: ClassVar[str] = ""
    """What a difference is, where it is not that of the values of the two methods."""

    metric: Metric
    measured: Sequence[Measured]  # the methods, on the same images
    column: int  # the column of the metric in their tables
    beside: Callable[[], Sequence[Pairs]] = tuple  # gives the pairs that p-values are corrected for together with these

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """The numbers of the two methods of each pair."""
        first, second = np.triu_indices(len(self.measured), 1)
        return first, second

    def pair(self, a: int, b: int) -> int:
        """Number the pair of two methods."""
        first, second = sorted((a, b))
        return first * (2 * len(self.measured) - first - 1) // 2 + second - first - 1

    @property
    def noun(self) -> str:
        """What is drawn at random, in the singular."""
        return self.measured[0].noun

    @property
    def _enough(self) -> Message:
        """How many images, or units, differences need."""
        return Message(
            "enough",
            "differences have intervals and p-values from {least} {noun}s on",
            least=FEWEST_IMAGES,
            noun=self.noun,
        )

    @cached_property
    def has_one_run(self) -> BoolArray:
        """Which methods are a single training, so that nothing is known of others; folds are several."""
        return np.array([method.table.runs == 1 and not method.table.folds for method in self.measured])

    @cached_property
    def estimates(self) -> FloatArray:
        """The metric of each method."""
        return np.array([method.table.estimates[self.column] for method in self.measured])

    @cached_property
    def common(self) -> Mapping[int, Self]:
        """By number, the pairs of methods that are not measured on the same, each by itself and on what both have."""
        restricted: dict[int, Self] = {}
        if not self.measured[0].table.may_be_restricted(self.metric):
            return restricted
        for pair, (first, second) in enumerate(zip(*self.pairs, strict=True)):
            methods = self.measured[first], self.measured[second]
            fewer = methods[0].over_common(methods[1]), methods[1].over_common(methods[0])
            if any(self._changes_on(*of_method) for of_method in zip(methods, fewer, strict=True)):
                restricted[pair] = replace(self, measured=fewer, beside=tuple)
        return restricted

    @cached_property
    def lacking(self) -> Mapping[int, Lacking]:
        """By number, the pairs of methods of which one lacks values that the other has, though something is there."""
        return self._lacking_in_pairs[0]

    def lacking_of(self, pair: int) -> Lacking:
        """Return the same of any pair."""
        if pair in self.lacking:
            return self.lacking[pair]
        both = self.measured[0].images
        if self.measured[0].table.may_be_restricted(self.metric):
            first, second = (self._values[numbers[pair]] for numbers in self.pairs)
            both = int(np.minimum(first, second).sum())
        return Lacking(both, (0, 0), 1.0)

    @cached_property
    def lacking_of_methods(self) -> IntArray:
        """How many values each method lacks that some other has, though something is there, shape (methods,)."""
        return self._lacking_in_pairs[1].sum(axis=1)

    @cached_property
    def _values(self) -> list[IntArray]:
        """How many values each row of each method has in a mean over images."""
        return [measured.table.values_in(self.metric) for measured in self.measured]

    @cached_property
    def _lacking_in_pairs(self) -> tuple[dict[int, Lacking], IntArray]:
        """What pairs lack; and the most values of each row that a method lacks beside another, (methods, rows)."""
        pairs, of_methods = dict[int, Lacking](), np.zeros((len(self.measured), self.measured[0].images), np.int64)
        if not self.measured[0].table.may_be_restricted(self.metric):
            return pairs, of_methods
        for pair, (first, second) in enumerate(zip(*map(np.ndarray.tolist, self.pairs), strict=True)):
            a, b = self.measured[first], self.measured[second]
            fewer = a.over_common(b), b.over_common(a)
            if fewer == (a, b):
                continue
            common = [measured.table.values_in(self.metric) for measured in fewer]
            lost_by_b, lost_by_a = self._values[first] - common[0], self._values[second] - common[1]
            if lost_by_a.any() or lost_by_b.any():
                counts = int(lost_by_a.sum()), int(lost_by_b.sum())
                p = sign_test(lost_by_a - lost_by_b)
                pairs[pair] = Lacking(int(np.minimum(*common).sum()), counts, p)
                of_methods[first] = np.maximum(of_methods[first], lost_by_a)
                of_methods[second] = np.maximum(of_methods[second], lost_by_b)
        return pairs, of_methods

    @cached_property
    def lacking_corrected(self) -> FloatArray:
        """Holm's p-values of McNemar's tests, one per pair; 1 where neither method lacks what the other has."""
        p_values = np.ones(self.pairs[0].size)
        for pair, lacking in self.lacking.items():
            p_values[pair] = lacking.p_value
        return holm(p_values)

    def _changes_on(self, whole: Measured, fewer: Measured) -> bool:
        """Return whether a method is measured otherwise on fewer values."""
        before, after = (measured.jackknife.pseudo[:, self.column] for measured in (whole, fewer))
        return fewer is not whole and not np.array_equal(before, after, equal_nan=True)

    def _with_common(self, values: NDArray[Any], statistic: Callable[[Self], NDArray[Any]]) -> NDArray[Any]:
        """Replace the values of pairs that are not measured on the same."""
        for pair, restricted in self.common.items():
            values[pair] = statistic(restricted)[0]
        return values

    def measured_of(self, pair: int) -> tuple[Measured, Measured]:
        """Return both methods of a pair, measured on the values that both have."""
        if pair in self.common:
            first, second = self.common[pair].measured
        else:
            first, second = (self.measured[numbers[pair]] for numbers in self.pairs)
        return first, second

    @property
    @abstractmethod
    def reason(self) -> Message:
        """Why no pair has a p-value; empty where some may have one."""

    @property
    @abstractmethod
    def differences(self) -> FloatArray:
        """By how much the first method of each pair has a higher value than the second; nan where undefined."""

    @property
    @abstractmethod
    def p_values(self) -> FloatArray:
        """Two-sided p-value of each difference; nan where it has none."""

    @abstractmethod
    def intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return both ends of the interval of each difference; nan where it has none."""

    @abstractmethod
    def why_none(self, pair: int) -> dict[str, Message]:
        """Say why a pair lacks a difference, an interval or a p-value; empty where it has all three."""

    @property
    def signs(self) -> FloatArray:
        """To which side each difference lies: 1, -1 or 0."""
        signs: FloatArray = np.sign(self.differences)
        return signs

    @cached_property
    def corrected(self) -> FloatArray:
        """Holm's correction of the p-values for the number of pairs, and of the tests beside them."""
        return holm(np.concatenate([self.p_values, *(pairs.p_values for pairs in self.beside())]))[: self.p_values.size]

    def won(self, level: float) -> FloatArray:
        """Return 1 where the first method of a pair is significantly better, -1 where the second is, else 0."""
        won: FloatArray = np.where(self.corrected <= 1 - level, self.metric.direction * self.signs, 0)
        return won

    def tally(self, pair: int) -> Tally:
        """Count the images that each method of a pair wins, on what both have."""
        first, second = (measured.of_images[:, self.column] for measured in self.measured_of(pair))
        ahead = self.metric.direction * (first - second)
        outcomes = ahead > TIED, np.abs(ahead) <= TIED, ahead < -TIED
        return Tally(*(int(np.count_nonzero(part)) for part in outcomes))

    def images_needed(self, pair: int, level: float) -> float:
        """Estimate how many images like these make the difference of a pair significant; inf if that is not known."""
        del pair, level
        return math.inf

    def errors_of_sources(self, pair: int) -> tuple[float, float]:
        """Return the standard errors that images alone would give a difference, and trainings; nan if not known."""
        del pair
        return math.nan, math.nan

    @cached_property
    def most_that_differ(self) -> int:
        """In how many rows the values of two methods differ, of the pair with the most of them."""
        tallies = (self.tally(pair) for pair in range(self.pairs[0].size))
        return max(tally.wins + tally.losses for tally in tallies)

    def why_never_significant(self, level: float) -> str:
        """Say why no pair can be significant, however much they differ; empty where some can."""
        del level
        return ""


class TTests(Pairs):
    """Pairs tested by the jackknife: each difference beside its standard error, as Student's t."""

    test = "paired jackknife t-test"

    @cached_property
    def differences(self) -> FloatArray:
        """The first method of each pair minus the second; nan where undefined for one of the two."""
        first, second = self.pairs
        return self._with_common(
            self.estimates[first] - self.estimates[second], lambda restricted: restricted.differences
        )

    @cached_property
    def _images_counted(self) -> IntArray:
        """How many images weigh something in the metric of each method, as those without positives not in a mean F."""
        return np.array([method.jackknife.counted[self.column] for method in self.measured])

    @cached_property
    def reason(self) -> Message:
        """Why no pair has a p-value; empty where some may have one."""
        return self._reason_of_all or self._too_few(self._images_counted_in_pairs.max())

    @cached_property
    def _reason_of_all(self) -> Message:
        """Why none has one, if that has the same reason for all pairs; else empty."""
        if self.measured[0].images < FEWEST_IMAGES:
            images = self.measured[0].images
            number = many(images, self.noun)
            return Message("too-few", "{number}: {enough}", number=number, images=images, enough=self._enough)
        if self.metric.spread in ("jumps", "erratic"):
            return Message("jumps", "it jumps when {noun}s change, so it has no p-value", noun=self.noun)
        reasons = [method.undefined_without(self.column) for method in self.measured]
        return reasons[0] if all(reasons) else NOTHING

    @cached_property
    def _images_counted_in_pairs(self) -> IntArray:
        """How many images weigh something in the metric of either method of each pair."""
        first, second = self.pairs
        return np.maximum(self._images_counted[first], self._images_counted[second])

    def _too_few(self, counted: int) -> Message:
        """Say that a difference has neither interval nor p-value, if so few images do; empty of enough."""
        if counted >= FEWEST_IMAGES:
            return NOTHING
        number = many(self.measured[0].images, self.noun)
        return Message(
            "too-few",
            "{counted} of {number} count in it: {enough}",
            counted=counted,
            number=number,
            enough=self._enough,
        )

    @cached_property
    def _differences_of_images(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The standard error of each difference and the least and greatest difference of its pseudo-values."""
        first, second = self.pairs
        pseudo = np.array([method.jackknife.pseudo[:, self.column] for method in self.measured])
        tested = np.empty((3, first.size))
        step = max(CELLS_AT_ONCE // pseudo.shape[1], 1)
        for start in range(0, first.size, step):
            block = slice(start, start + step)
            differences = pseudo[first[block]] - pseudo[second[block]]
            tested[:, block] = standard_error(differences.T), differences.min(axis=1), differences.max(axis=1)
        return tested[0], tested[1], tested[2]

    @cached_property
    def variance(self) -> Variance:
        """The variance of each difference of methods measured on the same, from all sources."""
        return Variance(self._from_images.with_folds(*self._from_folds), *self._from_trainings)

    @cached_property
    def _from_images(self) -> Component:
        """What images add to each difference; they may weigh otherwise in the other method: the less freedom counts."""
        first, second = self.pairs
        freedom = np.array([method.jackknife.freedom_of_differences[self.column] for method in self.measured])
        return Component(self._differences_of_images[0], np.minimum(freedom[first], freedom[second]))

    @cached_property
    def _from_folds(self) -> tuple[FloatArray, FloatArray]:
        """By how much the variance over whole folds exceeds that over images, and its degrees of freedom.

        Where two methods have other folds, what either exceeds it by adds up.
        """
        first, second = self.pairs
        excess, freedom = np.zeros(first.size), np.full(first.size, np.inf)
        for folds in dict.fromkeys(method.table.folds for method in self.measured if method.table.folds):
            pseudo = np.array([method.without_folds(folds)[:, self.column] for method in self.measured])
            has_these = np.array([method.table.folds == folds for method in self.measured])
            pairs = np.flatnonzero(has_these[first] | has_these[second])
            error = standard_error((pseudo[first[pairs]] - pseudo[second[pairs]]).T)
            exceeding = np.maximum(error**2 - self._from_images.error[pairs] ** 2, 0)
            excess[pairs] += exceeding
            freedom[pairs] = np.where(exceeding > 0, np.minimum(freedom[pairs], pseudo.shape[1] - 1), freedom[pairs])
        return excess, freedom

    @property
    def _from_trainings(self) -> tuple[tuple[Component, ...], BoolArray]:
        """What trainings of either method add to each difference, and where one method is taken to vary as the other.

        That is one of a single run: its variance is that of a training of the other, R times that of the mean over R.
        """
        first, second = self.pairs
        runs = np.array([method.table.runs for method in self.measured])
        single = self.has_one_run
        variances = np.array([method.table.run_variances[self.column] for method in self.measured])
        components = []
        for method, rival in ((first, second), (second, first)):
            with_rival = np.where(single[rival], 1 + runs[method], 1)
            error = np.sqrt(variances[method] * with_rival)
            components.append(Component(error, np.maximum(runs[method] - 1.0, 1)))
        return tuple(components), single[first] != single[second]

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Standard error of each difference; nan where it has no p-value."""
        first, second = self.pairs
        if self.reason:
            return np.full(first.size, np.nan)
        by_chance = np.array([bool(method.hardly_above_0(self.column)) for method in self.measured])
        untested = by_chance[first] | by_chance[second] | (self._images_counted_in_pairs < FEWEST_IMAGES)
        errors = np.where(untested, np.nan, self.variance.error)
        return self._with_common(errors, lambda restricted: restricted.standard_errors)

    @cached_property
    def freedom(self) -> FloatArray:
        """Degrees of freedom of each difference; nan where images and trainings keep their own."""
        return self._with_common(self.variance.freedom.copy(), lambda restricted: restricted.freedom)

    @cached_property
    def p_values(self) -> FloatArray:
        """Two-sided p-value of each difference; nan where it has none."""
        p_values = np.where(np.isnan(self.standard_errors), np.nan, self.variance.p_values(self.differences))
        first, second = self.pairs
        counted = np.minimum(self._images_counted[first], self._images_counted[second])
        by_signs = np.where(self._is_zero, 1.0, 2.0 ** (1 - counted))
        p_values[self._is_constant] = by_signs[self._is_constant]
        return self._with_common(p_values, lambda restricted: restricted.p_values)

    def why_none(self, pair: int) -> dict[str, Message]:
        """Say why a pair lacks a difference, an interval or a p-value; empty where it has all three."""
        first, second = (self.measured[numbers[pair]] for numbers in self.pairs)
        if pair in self.common:
            restricted = self.common[pair]
            estimates = [method.table.estimates[self.column] for method in (first, second)]
            if np.isnan(restricted.differences[0]) and not np.isnan(estimates).any():
                lacking = Message("none-in-common", "no {noun} in which both have a value", noun=self.noun)
                return dict.fromkeys(("difference", "interval", "p_value"), lacking)
            return restricted.why_none(0)
        for table in (first.table, second.table):
            if math.isnan(table.estimates[self.column]):
                undefined = as_message(table.why_undefined(self.metric))
                return dict.fromkeys(("difference", "interval", "p_value"), undefined)
        if self.reason and self.metric.spread == "jumps":
            of_method = first.why_none(self.column) or second.why_none(self.column)
            return {"p_value": self.reason} | ({"interval": of_method} if of_method else {})
        of_method = first.why_untested(self.column) or second.why_untested(self.column)
        of_fold = first.undefined_without_fold(self.column, second.table.folds)
        of_fold = of_fold or second.undefined_without_fold(self.column, first.table.folds)
        reason = self._reason_of_all or of_method or of_fold or self._too_few(self._images_counted_in_pairs[pair])
        if reason:
            return dict.fromkeys(("interval", "p_value"), reason)
        has_no_spread = self._is_constant[pair] & ~self._is_zero[pair]
        no_spread = Message("no-spread", "the same difference in every {noun}", noun=self.noun)
        return {"interval": no_spread} if has_no_spread else {}

    def intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return both ends of the interval of each difference; nan where it has none."""
        low, high = self._quantiles(level) if self.metric.spread == "jumps" else self._reached(level)
        if self.metric.range is not None:
            widest = self.metric.range[1] - self.metric.range[0]
            low, high = np.maximum(low, -widest), np.minimum(high, widest)
        for pair, restricted in self.common.items():
            (low[pair],), (high[pair],) = restricted.intervals(level)
        return low, high

    def _reached(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of the jackknife."""
        reach = np.where(np.isnan(self.standard_errors), np.nan, self.variance.reach(level))
        reach[self._is_constant] = np.where(self._is_zero[self._is_constant], 0.0, np.nan)
        middle = np.where(self._is_zero, 0.0, self.differences)
        return middle - reach, middle + reach

    def _quantiles(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals of resamples."""
        first, second = self.pairs
        ends = np.full((2, first.size), np.nan)
        drawn = [None if method.why_none(self.column) else method.draws[:, self.column] for method in self.measured]
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            if drawn[a] is not None and drawn[b] is not None:
                ends[:, k] = np.nanquantile(drawn[a] - drawn[b], [(1 - level) / 2, (1 + level) / 2])
        wider = widened(ends[1] - ends[0], self.variance.reach_of_trainings(level))
        return ends[0] - wider, ends[1] + wider

    @cached_property
    def _is_constant(self) -> NDArray[np.bool_]:
        """Which differences of pseudo-values are the same in every image, and in trainings."""
        error, least, greatest = self._differences_of_images
        has_no_other_source = self.variance.error <= np.maximum(error, _THE_SAME)
        return ~np.isnan(self.standard_errors) & has_no_other_source & (greatest - least <= _THE_SAME)

    @cached_property
    def _is_zero(self) -> NDArray[np.bool_]:
        """Which of them are 0 in every image."""
        _, least, greatest = self._differences_of_images
        return self._is_constant & (np.maximum(np.abs(least), np.abs(greatest)) <= _THE_SAME)

    def images_needed(self, pair: int, level: float) -> float:
        """Estimate how many images like these make the difference of a pair significant; inf if more than a million."""
        # Significant as Holm's correction asks for now: of the pairs with a p-value no smaller than that of this one.
        from scipy.special import ndtri

        p_values = np.concatenate([self.p_values, *(pairs.p_values for pairs in self.beside())])
        least = (1 - level) / max(int(np.count_nonzero(p_values >= self.p_values[pair])), 1)
        images = np.geomspace(2, _MOST_NEEDED, 4000)
        variance = self.variance_of(pair, images)
        enough = abs(self.differences[pair]) >= variance.reach(1 - least) + float(ndtri(_POWER)) * variance.error
        is_tested = self.differences[pair] and not math.isnan(self.standard_errors[pair])
        return float(images[enough.argmax()]) if is_tested and enough.any() else math.inf

    def variance_of(self, pair: int, images: FloatArray) -> Variance:
        """Return the variance of a difference over other numbers of images; what trainings add stays as it is."""
        if pair in self.common:
            return self.common[pair].variance_of(0, images)
        current, images_now = self._from_images.at(pair), self.measured[0].images
        freedom = np.maximum((current.freedom + 1) / images_now * images - 1, 2)
        of_images = Component(current.error * np.sqrt(images_now / images), freedom)
        of_folds = (values[pair] for values in self._from_folds)
        trainings, apart = self._from_trainings
        return Variance(of_images.with_folds(*of_folds), tuple(part.at(pair) for part in trainings), apart[pair])

    def errors_of_sources(self, pair: int) -> tuple[float, float]:
        """Return the standard errors of a difference that images alone would give it, and trainings alone."""
        if pair in self.common:
            return self.common[pair].errors_of_sources(0)
        return float(self.variance.images.error[pair]), float(self.variance.error_of_trainings[pair])


class SignedRankTests(Pairs):
    """Pairs tested by the signs and ranks of their differences in each image, or in what else the rows of a table are.

    A difference is the Hodges-Lehmann estimate. Rows in which one of the two methods has no value are left out.
    """

    test = "signed-rank test"
    differs_by = "Hodges-Lehmann estimate"

    @cached_property
    def reason(self) -> Message:
        """Why no pair has a p-value: the rows of a table have no ranks, or the metric is no mean over them."""
        tables = [measured.table for measured in self.measured]
        of_tables = next(filter(None, (table.why_no_ranks for table in tables)), "")
        if of_tables:
            return Message("no-ranks", "{why}", why=of_tables)
        if self.metric.mean_over_images:
            return NOTHING
        return Message("no-ranks", "the signed-rank test is for means over {noun}s", noun=tables[0].noun)

    def differences_of_rows(self, pair: int) -> FloatArray:
        """Return the difference of a pair in each row; nan where one of the two has no value."""
        if pair in self.common:
            return self.common[pair].differences_of_rows(0)
        first, second = self.pairs
        differences: FloatArray = self._values_of_rows[first[pair]] - self._values_of_rows[second[pair]]
        return differences

    @cached_property
    def _values_of_rows(self) -> list[FloatArray]:
        """The values of each method in each row."""
        return [np.ascontiguousarray(measured.of_images[:, self.column]) for measured in self.measured]

    def _by_pair(self, statistic: Callable[[FloatArray], float]) -> FloatArray:
        """Compute a statistic of the differences of each pair; nan where the test does not apply."""
        pairs = self.pairs[0].size
        if self.reason:
            return np.full(pairs, np.nan)
        return np.array([statistic(self.differences_of_rows(pair)) for pair in range(pairs)])

    @cached_property
    def differences(self) -> FloatArray:
        """The Hodges-Lehmann estimate of each pair; nan where it has none."""
        return self._by_pair(hodges_lehmann)

    @cached_property
    def p_values(self) -> FloatArray:
        """Two-sided p-value of each pair; nan where it has none."""
        return self._by_pair(signed_rank_p)

    @cached_property
    def signs(self) -> FloatArray:
        """To which side each difference lies; where the estimate is 0, the side of the larger sum of ranks."""
        signs = np.sign(self.differences)
        for pair in np.flatnonzero(signs == 0).tolist():
            signs[pair] = side_of_ranks(self.differences_of_rows(pair))
        return signs

    def intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return both ends of the interval of Walsh averages; nan of too few differences."""
        pairs = self.pairs[0].size
        if self.reason:
            return np.full(pairs, np.nan), np.full(pairs, np.nan)
        ends = np.array([walsh_interval(self.differences_of_rows(pair), level) for pair in range(pairs)])
        return ends[:, 0], ends[:, 1]

    def why_none(self, pair: int) -> dict[str, Message]:
        """Say why a pair lacks an estimate, an interval or a p-value; empty where it has all three."""
        lacking = self.reason
        undefined = [
            self.measured[numbers[pair]].table for numbers in self.pairs if np.isnan(self.estimates[numbers[pair]])
        ]
        if not lacking and undefined:
            lacking = as_message(undefined[0].why_undefined(self.metric))
        noun, level = self.measured[0].table.noun, self.measured[0].level
        rows = int(np.count_nonzero(~np.isnan(self.differences_of_rows(pair))))
        if not (lacking or rows):
            lacking = Message("none-in-common", "no {noun} in which both have a value", noun=noun)
        if lacking:
            return dict.fromkeys(("difference", "interval", "p_value"), lacking)
        fewest = fewest_differences(level)
        if rows < fewest:
            few = Message(
                "too-few",
                "{number}: intervals of {level:.10g} % take at least {least}",
                number=many(rows, noun),
                images=rows,
                level=100 * level,
                least=fewest,
            )
            return {"interval": few}
        return {}

    def why_never_significant(self, level: float) -> str:
        """Say how many differences are not 0, if no p-value of so few can be significant after Holm's correction."""
        together = [self, *cast("Sequence[SignedRankTests]", self.beside())]
        tests = sum(int(np.count_nonzero(~np.isnan(pairs.p_values))) for pairs in together)
        if not tests or np.nanmin(self.corrected) <= 1 - level:
            return ""
        most = max(pairs.most_that_differ for pairs in together)
        fewest = fewest_differences(level, tests)
        if not 0 < most < fewest:
            return ""
        least = number(1 - level, digits=2)
        if tests == 1:
            few = f"{many(most, 'difference')} {verb(most, 'are')} not 0"
            return f"{few}, and with fewer than {fewest} p cannot be {least} or less"
        few = f"at most {many(most, 'difference')} of a pair {verb(most, 'are')} not 0"
        return f"{few}, and with fewer than {fewest} none of {tests} p-values can be {least} or less"


def sign_test(differences: FloatArray | IntArray) -> float:
    """Return the exact two-sided p-value of as many differences above as below 0: of yes and no, McNemar's."""
    from scipy.special import bdtr

    above, below = np.count_nonzero(differences > 0), np.count_nonzero(differences < 0)
    return min(2 * float(bdtr(min(above, below), above + below, 0.5)), 1.0) if above + below else 1.0


def holm(p_values: FloatArray) -> FloatArray:
    """Correct p-values for being several, by Holm 1979; nan are left out of the number."""
    corrected = np.full(p_values.size, np.nan)
    order = np.argsort(p_values)[: int(np.sum(~np.isnan(p_values)))]
    tests_left = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * tests_left), 1.0)
    return corrected

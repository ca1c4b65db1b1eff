"""Ground truth to labels: which values are positive, which are void, and how annotators are brought together.

Conventions
-----------
A rule names the positive values; everything else that is not void is negative. Without a rule a whole set must hold
exactly two values, and the larger is positive: anything else would be a guess.

Several annotators of an image are ignored where they marked the pixel void; one of these rules is applied to the
others. A pixel that is void for every annotator is left out and counted as ignored, under ``each`` once an annotator.
With one annotator all rules count the same.

any
    Positive where at least one annotator says so.
all
    Positive where all annotators say so.
majority
    Positive where more than half of the annotators say so; a tie is negative.
each
    Every pixel is counted once an annotator: the counts are the sum of the counts against each annotator alone. A pixel
    that 2 of 5 call positive adds 2 positives and 3 negatives, as a soft label of .4 would.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import NOTHING, Message, Note, Setting, alternatives, joined
from segbench.core.numbers import many, written
from segbench.core.sample import SIDES
from segbench.core.settings import as_distinct, as_real, as_whole, option, read_void

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.core.protocol import Facts
    from segbench.core.sample import Sample, Side


Positive = str | float | Sequence[float]
"""Which values are positive: a rule as text, a value, or several values."""

VOIDS = (255.0, 65535.0)
"""What data sets write for void: the highest level of 8 and of 16 bits."""
UNLABELLED = -1.0
"""What arrays hold where nobody labelled."""
OFTEN_VOID = (*VOIDS, UNLABELLED)
"""What label maps hold for void, which has no sign in images."""
LABELS_BELOW = 64.0
"""Labels are small numbers, of few dozens of classes; next to them 255 is not a class."""
MANY_LEVELS = 33
"""Distinct values from which an image of ground truth is taken for grey levels, and not for labels."""
MOST_LABELS = 1 << 12
"""Distinct values up to which a file may be a map of labels or of numbered objects."""
SOFT = 0.1
"""Share of pixels far from both ends of the range that soft maps have in some image; blurred masks have below .02."""
HALOS = 0.01
"""Share of such pixels that JPEG of quality 75 leaves in masks at most; sharp soft maps have more in most images."""
NEAR_AN_END = 32.0
"""How far ringing of JPEG moves a level away from 0 or 255 where it is mild."""

_COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_OPPOSITE = {">=": "<", "<": ">=", "<=": ">", ">": "<="}
_RULE = re.compile(r"\s*(>=|<=|>|<)\s*(\S+)\s*")
ORDER = "ground truth comes first, predictions second"
MIND_THE_ORDER = Message("fix", "mind the order: {order}", order=ORDER)
_MIDDLES = (0.5, 127, 127.5, 128, 32767, 32767.5, 32768)
_HALVES = {"0.5": (0, 1), "128": (128, 255), "32768": (32768, 65535)}
BOTH_SIDES = "give ground truth that shows what is to be found, and what is not"
_EXPECTED_RULE = "expected a value (255), several (1,3) or a bound ('>=128')"


@dataclass(frozen=True)
class LabelRule:
    """Which ground-truth values are positive: a comparison such as ``>=128``, or a list such as ``1,3``."""

    with_void: ClassVar[bool] = True  # whether the protocol has a setting for void

    comparison: str
    values: tuple[float, ...]

    @classmethod
    def parse(cls, rule: Positive, name: str = "positive") -> Self:
        """Read a rule as written on the command line, or from numbers; `name` is the argument that errors name."""
        text = rule if isinstance(rule, str) else _numbers(rule, name)
        compared = _RULE.fullmatch(text)
        comparison, numbers = (compared[1], compared[2]) if compared else ("=", text)
        try:
            values = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            values = ()
        if not values or any(map(math.isnan, values)) or (compared and len(values) > 1):
            problem = Message(
                "wrong-rule", "{given} is not a rule; {expected}", given=Setting(name, text), expected=_EXPECTED_RULE
            )
            raise ArgumentError(problem)
        return cls(comparison, values)

    def __str__(self) -> str:
        """Write the rule as it is written on the command line."""
        return f"{self.comparison.removeprefix('=')}{written(self.values)}"

    @property
    def at_half(self) -> bool:
        """Whether it cuts shares, or levels of 8 or 16 bits, in the middle, as soft maps of that scale are cut."""
        return self.comparison != "=" and self.values[0] in _MIDDLES

    @property
    def needs_exact_values(self) -> bool:
        """Whether values that compression with loss moved a little change sides; a mask's 255 has a note of its own."""
        if self.comparison == "=":
            return self.values != (255.0,)
        return not NEAR_AN_END < self.values[0] < 255 - NEAR_AN_END

    def bound_was_meant(self, predictions: Array) -> bool:
        """Return whether it is a single value that no or few pixels of a soft map have: a share, or half of a scale."""
        import numpy as np

        if self.comparison != "=" or len(self.values) > 1:
            return False
        (value,), levels = self.values, np.unique(predictions).size
        if not value.is_integer():
            return levels > 2 or (predictions.dtype.kind in "iu" and levels > 1)
        return value in _MIDDLES and levels >= MANY_LEVELS

    def labels(self, file: str, ground_truth: Array, valid: BoolArray | None = None) -> BoolArray:
        """Mark which pixels of a file are positive; a value among scores, where they count, is refused."""
        if self.comparison == "=" and all(map(float.is_integer, self.values)):
            refuse_scores(file, ground_truth, valid, str(self), void=self.with_void)
        return self.positive(ground_truth)

    def positive(self, ground_truth: Array) -> BoolArray:
        """Mark which pixels are positive."""
        if self.comparison == "=":
            return equals_any(ground_truth, self.values)
        import numpy as np

        # Comparing whole numbers as floats takes several times as long; a bound is not rounded to float32.
        bound = self.values[0]
        whole = bound.is_integer() and ground_truth.dtype.kind in "iu"
        return _COMPARISONS[self.comparison](ground_truth, int(bound) if whole else np.float64(bound))

    def chosen(self, values: Sequence[float]) -> list[float]:
        """Return those of some values that are positive."""
        import numpy as np

        stored = np.array(values, np.float64)
        chosen: list[float] = stored[self.positive(stored)].tolist()
        return chosen

    def notes(
        self, ground_truth: Array, positive: BoolArray, valid: BoolArray | None, void: Sequence[float] | None
    ) -> tuple[Note, ...]:
        """Say which values beside the named ones count as negative, although they look like void, or like positives."""
        if self.comparison != "=" or ground_truth.dtype.kind not in "iuf" or not ground_truth.size:
            return ()
        from segbench.core.arrays import distinct

        others = ground_truth * (~positive if valid is None else valid & ~positive)
        least = 1 if {*self.values}.intersection(VOIDS) else float(half_of(255))
        if others.min() >= 0 and others.max() < least:
            return ()
        negative = [value for value in distinct(others).tolist() if value not in self.values]
        values = sorted({*negative, *self.values})
        like_void = [value for value in negative if value < 0 or (value == values[-1] and ends_in_void(values))]
        rule = Setting("positive", str(self))
        if like_void and len(negative) > 1:
            message = Message(
                "void-as-negative",
                "{values} {number:verb count} as negative beside {given}",
                values=listed(like_void),
                number=len(like_void),
                given=rule,
            )
            if void is not None:
                left_out = Setting("void", sorted({*void, *like_void}))
                message = message.extended("; void values are left out by {void}", void=left_out)
            return (Note(message, "ground truth"),)
        half = half_of(values[-1])
        grey = are_grey_levels(values)
        if values[-1] in VOIDS and grey and float(half) <= negative[-1] < values[-1]:
            message = Message(
                "grey-as-negative",
                "grey levels from {half} count as negative beside {given}; {positive} takes them as positive",
                half=half,
                given=rule,
                positive=Setting("positive", f">={half}"),
            )
            return (Note(message, "ground truth", detail=listed(negative[::-1])),)
        if has_third_value(values) and not grey and values[1:] == [negative[-1], *self.values]:
            message = Message(
                "value-as-negative", "{value:g} counts as negative beside {given}; ", value=values[1], given=rule
            )
            if void is not None:
                left_out = Setting("void", sorted({*void, values[1]}))
                message = message.extended("{void} leaves it out, ", void=left_out)
            as_positive = Setting("positive", written(values[1:]))
            return (Note(message.extended("{positive} takes it as positive", positive=as_positive), "ground truth"),)
        return ()

    def other_side(self, values: Sequence[float]) -> str:
        """Write the rule under which what is negative here is positive, given the values that occur."""
        if self.comparison == "=":
            return written([value for value in values if value not in self.values])
        return f"{_OPPOSITE[self.comparison]}{written(self.values)}"

    def shown_by(self, ground_truth: Array, positive: BoolArray) -> tuple[float, ...]:
        """Return a few values that show which sides of the rule an image holds: its ends, and one of either side."""
        if not ground_truth.size:
            return ()
        values, marked = ground_truth.reshape(-1), positive.reshape(-1)
        shown = values.min(), values.max(), values[marked.argmax()], values[marked.argmin()]
        return tuple(sorted(set(map(float, shown))))

    def require_both_sides(
        self,
        facts: Mapping[str, tuple[float, ...]],
        *,
        left_out_by: Message = NOTHING,
        where: str = "the whole set",
    ) -> None:
        """Refuse a rule that leaves no positive, or no negative, pixel in a set, by what `shown_by` found."""
        import numpy as np

        values = np.array(sorted({value for of_image in facts.values() for value in of_image}))
        positive = self.positive(values)
        if not values.size or (positive.any() and not positive.all()):
            return
        problem = Message(
            "no-positives",
            "{rule} leaves no {lacking} pixel in {where}, which holds {values}",
            rule=Setting("positive", str(self)),
            lacking="negative" if positive.any() else "positive",
            where=where,
            values=first_of(values),
        )
        hint = suggested_positive(values.tolist()) if values.size > 1 else left_out(left_out_by) or BOTH_SIDES
        raise DataError("ground truth", problem, hint)


class RuleWithoutVoid(LabelRule):
    """A rule of a protocol that leaves no values out."""

    with_void: ClassVar[bool] = False


Advice = Callable[[Sequence[float], Sequence[float]], Message]
"""Turns the rising values of a file, and those of the other side of its image, into a hint."""


class ManyValuesError(DataError):
    """A file holds more values than expected; what they may mean, those of the whole set show better.

    `advise` turns its values, and those of the `other_side`, into a hint. Very many values are not kept.
    """

    def __init__(
        self, path: str, problem: Message, values: Sequence[float], advise: Advice, other_side: Sequence[float] = ()
    ) -> None:
        super().__init__(path, problem, advise(values, other_side))
        self.stored = tuple(values) if len(values) <= MOST_LABELS else ()
        self.other_side = tuple(other_side) if len(other_side) <= MOST_LABELS else ()
        self.advise = advise

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the message."""
        return DataError, (self.path, self.what, self.hint)

    def of_set(self, values: Sequence[float], other_side: Sequence[float]) -> DataError:
        """Return the error with advice on the values of a set."""
        return DataError(self.path, self.what, self.advise(values, other_side))


def rule_of_other_side(
    rule: LabelRule | None, values: Sequence[float], other_side: Sequence[float]
) -> LabelRule | None:
    """Return the rule of the other side if it fits the rising values of this side, whose numbers mean the same.

    They do if the other side has all of them, or if both are small labels of which this side shows more. Levels of
    soft maps are on both sides by chance. A rule that selects none of the values, or all of them, is of no use.
    """
    if rule is None or min(len(values), len(other_side)) < 3:
        return None
    own, others = {*values}, {*other_side}
    same = own <= others or (others <= own and values[-1] < LABELS_BELOW)
    labels = rule.comparison == "=" or len(own | others) < MANY_LEVELS
    if not (same and labels and 0 < len(rule.chosen(values)) < len(values)):
        return None
    return rule


def numbered_by(positive: Positive | None, predicted_positive: Positive | None = None) -> tuple[Side, ...]:
    """Name the sides whose values are labels, as far as rules for masks pick them by their exact values."""
    rules = zip(SIDES, (positive, predicted_positive), strict=True)
    return tuple(side for side, rule in rules if rule is not None and LabelRule.parse(rule).needs_exact_values)


def rule_text(rule: Positive, name: str = "positive") -> str:
    """Write a rule as the command line takes it, without blanks; anything else is refused."""
    LabelRule.parse(rule, name)
    return rule.replace(" ", "") if isinstance(rule, str) else _numbers(rule, name)


def notes_on_values(
    positive: Positive | None, ground_truths: Sequence[Array], drawn: Sequence[Labelled], void: Sequence[float] | None
) -> tuple[Note, ...]:
    """Say what is odd beside the values that a rule names, if any, see `LabelRule.notes`; None for no `void` at all."""
    if positive is None:
        return ()
    rule = LabelRule.parse(positive)
    notes_of_annotators = (
        rule.notes(truth, *labelled, void) for truth, labelled in zip(ground_truths, drawn, strict=True)
    )
    return tuple(dict.fromkeys(note for notes in notes_of_annotators for note in notes))


AS_POSITIVE = "same"
"""The rule for predictions that hold the values of the ground truth."""


def optional_rule(rule: Positive | None, name: str = "positive") -> str | None:
    """Write a rule, see `rule_text`; None for none."""
    return None if rule is None else rule_text(rule, name)


def rule_option(text: str, default: Any = None, *, of_predictions: bool = False, **others: Any) -> Any:
    """Declare an option that is a rule."""
    panel = "Protocol" if of_predictions else "Ground truth"
    return option(text, default, metavar="VALUES", read=str, panel=panel, of_predictions=of_predictions, **others)


def void_option(text: str, default: Any = None, *, shown: str, metavar: str = "VALUES") -> Any:
    """Declare an option of values that are left out."""
    return option(text, default, metavar=metavar, panel="Ground truth", read=read_void, shown=shown, example="0,255")


def void_labels(values: Any, *, least: int | None = None) -> tuple[int, ...]:
    """Read the labels that are left out."""
    return as_distinct(values, "void", "(255,)", partial(as_whole, least=least))


def _numbers(rule: float | Sequence[float], name: str) -> str:
    import numpy as np

    values: Any = rule
    several = np.iterable(values) and not isinstance(values, bytes)
    try:
        values = tuple(values) if several else (values,)
        numbers = [as_real(value, name) for value in values]
    except ArgumentError:
        numbers = []
    if not numbers:
        value = f"{rule!r:.60}"
        raise ArgumentError(
            Message(
                "wrong-rule",
                "{argument}={value} is not a rule; {expected}",
                argument=name,
                value=value,
                expected=_EXPECTED_RULE,
            )
        )
    return written(numbers)


def equals_any(array: Array, values: tuple[float, ...]) -> BoolArray:
    """Mark which pixels hold one of a few values."""
    import numpy as np

    equal: BoolArray = np.zeros(array.shape, dtype=np.bool_)
    for value in values:
        # A whole number compared as such keeps integer arrays from being turned into floats; small floats are widened,
        # for NumPy would round the value to their type.
        whole = array.dtype.kind in "iu" and value.is_integer()
        equal |= array == (int(value) if whole else np.float64(value))
    return equal


def where_not_void(truth: Array, void: Sequence[float], valid: BoolArray | None) -> BoolArray | None:
    """Mark where pixels count, of those that are valid; None for everywhere."""
    if not void:
        return valid
    not_void = ~equals_any(truth, tuple(map(float, void)))
    return not_void if valid is None else valid & not_void


def two_values(
    names: Sequence[str],
    ground_truths: Sequence[Array],
    valids: Sequence[BoolArray | None],
    void: Sequence[float] = (),
) -> tuple[list[BoolArray], tuple[float, ...]]:
    """Label an image without a rule: the larger of the two values that its annotators hold together is positive.

    `void` are the values left out, which advice names again.
    """
    import numpy as np

    distinct = [_one_or_two_values(*annotation, void) for annotation in zip(names, ground_truths, valids, strict=True)]
    values = distinct[0] if len(distinct) == 1 else tuple(sorted(set().union(*distinct)))
    if len(values) > 2:
        problem = Message(
            "several-values",
            "{annotators} annotators hold {count} distinct values ({values}), expected two",
            annotators=len(names),
            **counted(np.array(values)),
        )
        raise DataError(names[0], problem, _name_positive(f">={values[1]:g}"))
    if len(values) < 2:
        return [np.zeros(truth.shape, np.bool_) for truth in ground_truths], values
    return [_equal(truth, values[1]) for truth in ground_truths], values


def _equal(truth: Array, value: float) -> BoolArray:
    """Mark where ground truth has a value; of few bits it is compared as it is stored, which is quicker."""
    import numpy as np

    if truth.dtype == np.bool_:
        return truth
    if truth.dtype == np.uint8 and 0 <= value <= 255 and value.is_integer():
        return truth == np.uint8(value)
    return truth == value


def _one_or_two_values(
    name: str, ground_truth: Array, valid: BoolArray | None, void: Sequence[float]
) -> tuple[float, ...]:
    import numpy as np

    if ground_truth.dtype == np.bool_:
        return 0.0, 1.0
    counted_labels = ground_truth if valid is None else ground_truth[valid]
    if counted_labels.size == 0:
        return ()
    lowest, highest = counted_labels.min(), counted_labels.max()
    neighbours = counted_labels.dtype.kind in "iu" and int(highest) - int(lowest) <= 1
    if not neighbours and not ((counted_labels == lowest) | (counted_labels == highest)).all():
        from segbench.inputs.interpolated import refuse_interpolated

        distinct = np.unique(counted_labels)
        cut = Message("fix", "{rule}, if these are shares", rule=Setting("positive", ">=0.5"))
        refuse_interpolated(name, ground_truth, cut)
        raise ManyValuesError(name, _expected_two(distinct), distinct.tolist(), partial(suggested_beside, void=void))
    return tuple(dict.fromkeys((float(lowest), float(highest))))


def are_grey_levels(values: Sequence[float]) -> bool:
    """Return whether rising values look like grey levels: many that reach half of a scale, or all near its ends."""
    many = len(values) >= MANY_LEVELS and half_of(values[-1]) != "N"
    return many or (_near_the_ends(values) and max(values, default=0) > 128)  # half of 255


def _near_the_ends(values: Sequence[float]) -> bool:
    return all(min(value, abs(255 - value)) <= NEAR_AN_END for value in values)


def grey_levels_positive(values: Sequence[float], *, lossy: bool = False) -> Message:
    """Write the rule for rising grey levels; whole numbers in the middle of the scale may number objects instead."""
    half = Setting("positive", f">={half_among(values)}")
    if lossy or _near_the_ends(values) or any(value % 1 for value in values):
        return Message("fix", "{half}", half=half)
    return Message("alternatives", "{half}; or {all}, if values number objects", half=half, all=all_but(values[0]))


def ends_in_void(values: Sequence[float]) -> bool:
    """Return whether the highest of several rising values looks like void beside labels."""
    if len(values) < 3 or values[-2] >= LABELS_BELOW:
        return False
    return values[-1] in VOIDS or (values[-2] < 2 * len(values) and is_apart(values[-1], values[-2]))


def is_apart(value: float, highest: float) -> bool:
    """Return whether a value of 8 bits is so far above the highest label that it marks what nobody labelled."""
    return highest + LABELS_BELOW <= value <= VOIDS[0]


def has_third_value(values: Sequence[float]) -> bool:
    """Return whether rising values are those of a mask and one between them, which may be void."""
    return len(values) == 3 and values[0] == 0 and values[-1] in VOIDS


def suggested_positive(values: Sequence[float], *, void: Sequence[float] | None = ()) -> Message:
    """Say which settings give ground truth of more values than two meaning: rising values, all or some of them.

    `void` are the values left out so far; where it is None, there is no such setting, and such values are negative.
    """
    *others, highest = values
    if values[0] == UNLABELLED and len(values) > 2:
        return _suggested_beside_unlabelled(values[1:], void=void)
    if void is None and (ends_in_void(values) or has_third_value(values)):
        unsure, sure = (highest, others[-1]) if ends_in_void(values) else (values[1], highest)
        return Message(
            "alternatives",
            "{sure} if {unsure:g} is void, or {all} if it is positive",
            sure=Setting("positive", sure),
            unsure=unsure,
            all=Setting("positive", f">{values[0]:g}"),
        )
    if ends_in_void(values):
        fixes = [_leave_out(highest, void or ()), _name_positive(f"{others[-1]:g}")]
        return alternatives(fixes) if len(others) == 2 else joined(fixes, ", and ")
    if has_third_value(values):
        return alternatives([_leave_out(values[1], void or ()), _name_positive(f">={half_of(highest)}")])
    if are_grey_levels(values) or any(value % 1 for value in values):
        rule = grey_levels_positive(values)
        return Message("fix", "say which values are positive, for instance {rule}", rule=rule)
    return alternatives([_name_positive(written(highest)), all_but(values[0])], ", or ")


def _suggested_beside_unlabelled(labels: Sequence[float], *, void: Sequence[float] | None) -> Message:
    """Say the same of rising labels beside -1."""
    if void is None:
        return suggested_positive(labels, void=None)
    fixes = [_leave_out(UNLABELLED, void)]
    if len(labels) > 2:
        fixes.append(suggested_positive(labels, void=(*void, UNLABELLED)))
    return joined(fixes, ", and ")


def suggested_beside(
    values: Sequence[float], _predicted: Sequence[float] = (), *, void: Sequence[float] = ()
) -> Message:
    """Say what `suggested_positive` says, whatever is predicted."""
    return suggested_positive(values, void=void)


def suggested_without_void(values: Sequence[float], _predicted: Sequence[float] = ()) -> Message:
    """Say the same for a protocol that has no setting for void."""
    return suggested_positive(values, void=None)


def all_but(lowest: float) -> Message:
    """Write the rule that makes all values above the lowest positive: all objects of maps that number them."""
    rule = Setting("positive", f">{lowest:g}")
    return Message("fix", "{rule} for all but {lowest:g}", rule=rule, lowest=lowest)


def _leave_out(value: float, void: Sequence[float]) -> Message:
    """Say how a value is left out beside those that are."""
    out = Setting("void", sorted({*void, value}))
    return Message("fix", "if {value:g} is void, leave it out: {void}", value=value, void=out)


def _name_positive(rule: str) -> Message:
    """Say how positive values are named, with a rule as an example."""
    return Message("fix", "say which values are positive, for instance {rule}", rule=Setting("positive", rule))


def perhaps_swapped(ground_truth: Array, *predictions: Array) -> Message:
    """Begin an advice with the order of the two where the first holds scores or grey levels, and predictions masks."""
    import numpy as np

    from segbench.core.arrays import is_whole

    levels = bool(predictions) and np.unique(ground_truth).size >= MANY_LEVELS and share_between(ground_truth) > HALOS
    scores = np.unique(ground_truth).size > 2 and not is_whole(ground_truth)  # two may be those of colours
    swapped = (levels or scores) and all(np.unique(prediction).size == 2 for prediction in predictions)
    if not swapped:
        return NOTHING
    return Message("perhaps-swapped", "if this is a prediction, mind the order: {order}; or ", order=ORDER)


def share_between(values: Array) -> float:
    """Estimate the share of pixels whose value is not within a tenth of the range from its ends, by a sample."""
    import numpy as np

    sampled = values.reshape(-1)[:: max(1, values.size // 4096)].astype(np.float64)
    lowest, highest = sampled.min(initial=np.inf), sampled.max(initial=-np.inf)
    margin = (highest - lowest) / 10
    return float(np.mean((sampled > lowest + margin) & (sampled < highest - margin))) if margin > 0 else 0.0


def refuse_exchanged(sample: Sample) -> None:
    """Refuse a soft map as ground truth of a mask, where no rule says which of its values are positive."""
    import numpy as np

    truth, predicted = sample.ground_truths[0], sample.predictions[0]
    soft = truth.dtype.kind != "b" and share_between(truth) > SOFT and np.unique(truth).size >= MANY_LEVELS
    if soft and np.unique(predicted).size == 2:
        problem = Message("exchanged", "is a soft map, and the prediction has two values: they look swapped")
        raise DataError(sample.truth_file, problem, MIND_THE_ORDER)


def refuse_scores(file: str, ground_truth: Array, valid: BoolArray | None, rule: str, *, void: bool = True) -> None:
    """Refuse numbers that are not whole, where they count, in ground truth of which a rule for labels is written."""
    import numpy as np

    from segbench.core.arrays import is_whole
    from segbench.core.levels import refuse_nan

    counted_labels = ground_truth if valid is None else ground_truth[np.broadcast_to(valid, ground_truth.shape)]
    if is_whole(counted_labels):
        return
    refuse_nan(file, counted_labels)
    values = np.unique(counted_labels)
    problem = Message(
        "not-whole",
        "holds {count} distinct values ({values}), expected whole numbers beside {rule}",
        **counted(values),
        rule=Setting("positive", rule),
    )
    raise DataError(
        file, problem, perhaps_swapped(values) + suggested_positive(values.tolist(), void=() if void else None)
    )


def refuse_grey_and_void(file: str, ground_truth: Array, valid: BoolArray | None, void: Sequence[float]) -> None:
    """Refuse ground truth without a rule of which grey levels, or a value that looks like void, would be positive."""
    from segbench.core.arrays import distinct

    values = distinct(ground_truth if valid is None else ground_truth[valid])
    numbers = values.tolist()
    if len(numbers) > 2 and (are_grey_levels(numbers) or ends_in_void(numbers) or has_third_value(numbers)):
        raise DataError(file, _expected_two(values), suggested_positive(numbers, void=void))


def _expected_two(values: Array) -> Message:
    """Say how many values there are."""
    return Message("several-values", "{count} distinct values ({values}), expected two", **counted(values))


def may_be_mask(truth: BoolArray, ones: Array) -> bool:
    """Return whether ones mark about as much as there is: soft maps where all is missed may end at level 1, too."""
    import numpy as np

    return 0 < int(np.count_nonzero(truth)) <= 2 * int(np.count_nonzero(ones))


def half_of(highest: float) -> str:
    """Return half of the scale of values up to this one: of shares, levels of 8 or 16 bits; N where it is unclear."""
    return next((half for half, (least, full) in _HALVES.items() if least <= highest <= full), "N")


def half_among(values: Sequence[float]) -> str:
    """Return half of the scale of rising values, or a bound nearer to them if half has all of them on one side."""
    lowest, highest = values[0], values[-1]
    half = half_of(highest)
    bounds = [highest / 2 if half == "N" else float(half), highest / 2, (lowest + highest) / 2]
    return written(next((bound for bound in bounds if lowest < bound <= highest), highest))


def settled_positive(
    facts: Mapping[str, Facts], *, excluded_by: Message, complete: bool, part: bool
) -> frozenset[Facts]:
    """Decide which value is positive; images that hold it alone are counted the other way round."""
    values = set().union(*facts.values())
    if not values or (len(values) < 2 and not complete):
        return frozenset()
    if len(values) == 2:
        return frozenset({(max(values),)})
    holders = grouped((value, name) for name, of_image in facts.items() for value in of_image)
    listing = "; ".join(
        f"{value:g} in {many(len(names), 'image')} ({names[0]!r}{', ...' if len(names) > 1 else ''})"
        for value, names in sorted(holders.items())
    )
    if len(holders) > 2:
        hint = _name_positive(f">={sorted(holders)[1]:g}")
    elif excluded_by:
        hint = left_out(excluded_by)
    else:
        hint = _both_sides_or(_name_in_whole(min(holders)), part=part)
    problem = Message(
        "several-values",
        "the set holds {count:many distinct value}, expected two: {listing}",
        count=len(holders),
        listing=listing,
        values=sorted(holders),
    )
    raise DataError("ground truth", problem, hint)


def _name_in_whole(alone: float) -> Message:
    """Say how to name the positive value of a set of which a part holds one alone."""
    if alone:
        return Message("fix", "say which value is positive in the whole: {rule}", rule=Setting("positive", alone))
    return Message(
        "fix",
        "say which value is positive in the whole: {one} for 0 and 1, {highest} for 0 and 255",
        one=Setting("positive", 1),
        highest=Setting("positive", 255),
    )


def _both_sides_or(name: Message, *, part: bool) -> Message:
    """Say that ground truth should show both sides, or how to name the positive value, which comes first for a part."""
    if part:
        return Message("fix", "{name}; or {both}", name=name, both=BOTH_SIDES)
    both = {"both": BOTH_SIDES, "images": Setting("images"), "name": name}
    return Message("fix", "{both}; for a part of a set ({images}) {name}", **both)


def positive_alone(values: Facts, file: str) -> Facts:
    """Return the positive value of an image that belongs to no set: the larger one beside 0; none where 0 is alone."""
    if not values or values == (0.0,):
        return ()
    if len(values) == 2 and values[0] == 0:
        return values[1:]
    problem = Message(
        "several-values",
        "holds {count:many distinct value} ({values}), expected 0 and one larger value",
        count=len(values),
        values=first_of(values),
    )
    rule = Setting("positive", values[-1])
    raise DataError(file, problem, Message("fix", "say which value is positive: {rule}", rule=rule))


def require_two_classes(
    facts: Mapping[str, tuple[float, ...]],
    labels: Sequence[int],
    where: str,
    count: Callable[[int, int], Message],
) -> None:
    """Refuse label maps that hold but one of several classes beside void, as masks of 0 and 255 do.

    `count` says how to count a label that is void as a class that has no pixels.
    """
    labels_present = {value for values in facts.values() for value in values}
    classes, left_out = labels_present.intersection(labels), sorted(labels_present.difference(labels))
    if len(labels) < 2 or len(classes) != 1 or not left_out:
        return
    problem = Message(
        "one-class",
        "class {label} alone has pixels in {where}, and void leaves out {void}",
        label=int(*classes),
        where=where,
        void=first_of(left_out),
    )
    other = next(label for label in labels if label not in classes)
    raise DataError("ground truth", problem, count(int(left_out[-1]), other))


def leaving_out(settings: Mapping[str, str], field: str | None) -> Message:
    """Write the options that leave pixels out, as they were given: of the fields of a signature, and of the inputs."""
    options = []
    if settings.get("void", "none") != "none":
        void: Sequence[float] = read_void(settings["void"])
        options.append(Setting("void", void[0] if len(void) == 1 else tuple(void)))
    if field is not None:
        options.append(Setting("field", field))
    return joined(options, " and ") if options else NOTHING


def left_out(by: Message) -> Message:
    """Say that options may have left out all other values; nothing where none did."""
    return Message("fix", "perhaps {given} left out every other value; give another, or none", given=by) if by else by


def first_of(values: Array | Sequence[float]) -> tuple[float | str, ...]:
    """Return values as messages hold them, the first eight of many and three dots, numbers in six digits."""
    shown = tuple(float(f"{value:g}") for value in values[:8])
    return (*shown, "...") if len(values) > 8 else shown


def counted(values: Array) -> dict[str, Any]:
    """Return the number of distinct values and the first of them, for a message."""
    return {"count": values.size, "values": first_of(values)}


def listed(values: Array | Sequence[float]) -> str:
    """Write values one after another, the first eight of many."""
    shown = ", ".join(f"{value:g}" for value in values[:8])
    return f"{shown}, ..." if len(values) > 8 else shown


ONE_ANNOTATOR = Note(Message("one-annotator", "images with one annotator are left out"))
"""The note on an image that cannot show how well annotators agree."""


AnnotatorRule: TypeAlias = Literal["any", "all", "majority", "each"]


Labelled: TypeAlias = "tuple[BoolArray, BoolArray | None]"
"""Labels, True where positive, and where they count; None for everywhere."""


def take_one() -> Message:
    """Return the remedy where an image has several ground truths, and only one can be counted."""
    pattern = Setting("gt_pattern", "*_manual1")
    return Message("fix", "take one of them by its name, such as {pattern}, or one column of a list", pattern=pattern)


def only_truth(sample: Sample, expected: str) -> Array:
    """Return the ground truth of an image that must have one alone."""
    if len(sample.ground_truths) > 1:
        number = len(sample.ground_truths)
        problem = Message(
            "annotators", "{number} annotators, expected one {expected}", number=number, expected=expected
        )
        raise DataError(sample.truth_file, problem, take_one())
    return sample.ground_truths[0]


def brought_together(annotators: Sequence[Labelled], rule: AnnotatorRule | None) -> list[Labelled]:
    """Combine the labels of several annotators into one map; ``each`` keeps them apart."""
    if len(annotators) == 1 or rule == "each":
        return list(annotators)
    import numpy as np

    votes: Array = np.zeros(annotators[0][0].shape, np.int32)
    voters: Array = np.zeros_like(votes)
    for labels, valid in annotators:
        voters += True if valid is None else zero_or_one(valid)
        votes += zero_or_one(labels) if valid is None else zero_or_one(labels) & zero_or_one(valid)
    if rule == "any":
        positive = votes > 0
    elif rule == "all":
        positive = votes == voters
    else:
        positive = 2 * votes > voters
    return [(positive, voters > 0)]


def zero_or_one(mask: BoolArray) -> BoolArray:
    """Store True as the byte 1: NumPy takes any byte for True, and arrays of Pillow's 1-bit images hold 255."""
    import numpy as np

    stored = mask.view(np.uint8)
    return stored != 0 if stored.max(initial=0) > 1 else mask

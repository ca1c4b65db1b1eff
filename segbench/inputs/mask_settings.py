"""Settings that protocols of a mask and its prediction share; light to import."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from segbench.core.arguments import as_real, set_fields
from segbench.core.capabilities import Settled, SettledBySet
from segbench.core.errors import DataError
from segbench.core.expected import Expected, ExpectedScores
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Message, Setting, alternatives
from segbench.core.numbers import number, written
from segbench.core.options import read_void, read_whole
from segbench.inputs.label_rules import LabelRule, numbered_by, optional_rule


def _read_score(text: str) -> Any:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        return text


CONNECTIVITY: Mapping[str, Any] = {
    "help": "Choose which pixels touch: 8, at corners, too, or 4.",
    "metavar": "8|4",
    "read": read_whole,
    "example": "8",
    "rare": True,
}
AT: Mapping[str, Any] = {
    "help": "Cut soft predictions: scores of at least this belong to the mask.",
    "metavar": "SCORE",
    "read": _read_score,
    "of_predictions": True,
}
POSITIVE: Mapping[str, Any] = {
    "help": "Name the ground-truth values that belong to the mask: 255, '>=128' or 1,3.",
    "metavar": "VALUES",
    "read": str,
    "panel": "Ground truth",
    "shown": "all but 0",
}
VOID: Mapping[str, Any] = {"metavar": "VALUES", "panel": "Ground truth", "read": read_void, "example": "0,255"}


class ThresholdOfSet(float):
    """A threshold that the scores of the whole set decided: it is on their scale, whatever that is."""


_SEVERAL = 0.2
"""From two images and this share of all on, masks of 0 and 1 beside soft maps are no accident."""


class CutMasks(SettledBySet):
    """Makes masks of soft maps by thresholds."""

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> Settled:
        """Refuse thresholds of which no mask is left: integer masks of 0 and 1, or all scores up to 1 and cut above.

        A few masks of 0 and 1 among others may be levels that are all but 0.
        """
        highest, cuts = [max(values) for values in facts.values() if values], cuts_of(self)
        if not complete or not highest or not cuts:
            return {}
        low = [value for value in highest if value < min(1, *cuts)]
        if not low or len(low) < min(len(highest), max(2, _SEVERAL * len(highest))):
            if above := above_scores(cuts, _name_of_cuts(self)) if max(highest) <= 1 else None:
                raise DataError("predictions", *above)
            return {}
        if len(low) < len(highest):
            what = Message(
                "mixed-levels",
                "{images} of {total} hold integers of at most 1, which is a score of {score}, and others more",
                images=len(low),
                total=len(highest),
                score=number(max(low)),
            )
            hint = "save all predictions on one scale, masks as 0 and the highest level"
            raise DataError("predictions", what, hint)
        score = number(max(low))
        what = Message("low-levels", "hold integers of at most 1, which is a score of {score}", score=score)
        fixes = [Message("fix", "masks of 0 and 1 need no threshold: leave out {given}", given=format_cuts(self))]
        if min(cuts) <= 1:
            fixes.append(Message("fix", "or for files give {scale}", scale=Setting("scale", 1, of="Repairs")))
        raise DataError("predictions", what, alternatives(fixes, "; "))


def above_scores(cuts: Sequence[float], name: str) -> tuple[Message, Message] | None:
    """Say what is wrong with thresholds above all scores up to 1, and what to do; None where they are not.

    `name` is that of the setting. Half a level below a level parts it from all lower ones.
    """
    if not cuts or min(cuts) <= 1:
        return None
    bits, places = (8, 4) if max(cuts) <= 255 else (16, 6)  # 255 is the highest level of 8 bits
    full = 2**bits - 1
    given, shares = list(cuts), [round((math.ceil(cut) - 0.5) / full, places) for cut in cuts]
    one = name == "at"
    above = Setting(name, given[0] if one else given)
    what = Message("above-scores", "have scores up to 1, and {given} is above all of them", given=above)
    if max(cuts) > full:
        return what, Message("fix", "give a score from 0 to 1")
    hint = Message(
        "fix",
        "levels of {bits} bits are divided by {full}: for levels from {levels} give {shares}",
        bits=bits,
        full=full,
        levels=written(given),
        shares=Setting(name, shares[0] if one else shares),
    )
    return what, hint


def settle_mask(settings: Any, *words: str) -> None:
    """Check `at`, which may be one of some words, and `positive`."""
    if settings.at is not None and settings.at not in words and not isinstance(settings.at, ThresholdOfSet):
        expected = " or ".join(["a score", *map(repr, words)])
        set_fields(settings, at=as_real(settings.at, Setting("at", None), expected, least=-1e300, most=1e300))
    set_fields(settings, positive=optional_rule(settings.positive))
    set_fields(settings, reads=replace(settings.reads, numbered=numbered_by(settings.positive)))


def cuts_of(settings: Any) -> tuple[float, ...]:
    """Give the thresholds chosen beforehand: `at`, or a list of them."""
    given = getattr(settings, "thresholds", None) if settings.at is None else (settings.at,)
    return given if isinstance(given, tuple) and "best" not in given else ()


def format_cuts(settings: Any) -> Setting:
    """Return these thresholds as they are given."""
    name = _name_of_cuts(settings)
    return Setting(name, getattr(settings, name))


def _name_of_cuts(settings: Any) -> str:
    return "thresholds" if settings.at is None else "at"


def expected_of_mask(settings: Any, scores: ExpectedScores | None) -> Expected:
    """Give what files may hold under these settings."""
    if scores and (cuts := cuts_of(settings)):
        scores = replace(scores, at=cuts, cut=True)
    rule = None if settings.positive is None else LabelRule.parse(settings.positive)
    void = tuple(map(float, settings.void or ()))
    return Expected(rule=rule, nonzero=True, void=void, one_annotator=True, scores=scores)

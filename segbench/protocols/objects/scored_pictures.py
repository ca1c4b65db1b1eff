"""Pictures of scored objects at a threshold of score: which are found at IoU .5, which are missed, and which false.

Begin with `scored_pictures`. Detections are matched by falling score, so that those with at least some score are
matched alike whatever has less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.instances import Instances, decode_mask
from segbench.core.numbers import number
from segbench.core.pictures import Pictures
from segbench.core.sample import Sample
from segbench.protocols.objects.scored_counting import DetectionMatch, Rules, match_at_half
from segbench.protocols.states import State

_THICK = 300  # from this side on, outlines are two pixels wide
_LETTERS = 11
_NAMED = 8
_DIGITS = 2


def scored_states(sample: Sample, settings: Any, threshold: float) -> NDArray[np.uint8]:
    """Outline the instances of an image at a threshold, detections with their scores and IoU."""
    image = settings.inputs.interpret(sample)
    drawn = _DrawnImage(image.truth, image.predicted, settings.rules)
    return drawn.states(threshold, with_texts=True)


def scored_pictures(sample: Sample, settings: Any, thresholds: FloatArray) -> Pictures:
    """Draw an image for the report page: its objects, the highest scores of its pixels, and outlines at thresholds."""
    image = settings.inputs.interpret(sample)
    drawn = _DrawnImage(image.truth, image.predicted, settings.rules)
    truth = np.zeros(image.truth.size, np.uint8)
    for mask in drawn.true_masks:
        truth[mask] = 255
    for outline in drawn.true_outlines:
        truth[outline] = 127
    cuts = thresholds.tolist()
    numbers = np.array([drawn.numbers_at(threshold) for threshold in cuts], np.float64).reshape(-1, 3)
    tp, fp, missed = numbers.T
    with np.errstate(invalid="ignore"):
        metrics = {"P": tp / (tp + fp), "R": tp / (tp + missed), "F": 2 * tp / (2 * tp + fp + missed)}
    return Pictures(
        truth,
        truth,
        states=[drawn.states(threshold) for threshold in cuts],
        soft=drawn.highest_scores(),
        metrics=metrics,
        words=[drawn.in_words(threshold) for threshold in cuts],
    )


class _DrawnImage:
    """The instances of an image, matched once for all thresholds."""

    def __init__(self, truth: Instances, predicted: Instances, rules: Rules) -> None:
        self._truth, self._predicted = truth, predicted
        self._names = {**truth.names, **predicted.names}
        self._matches = match_at_half(truth, predicted, rules)
        self.true_masks = _masks(truth)
        self.true_outlines = [_outline(mask) for mask in self.true_masks]
        self._masks = _masks(predicted)
        self._outlines = [_outline(mask) for mask in self._masks]

    def _at(self, threshold: float) -> list[DetectionMatch]:
        """Return the detections of at least this score."""
        return [match for match in self._matches if self._score(match) >= threshold]

    def _score(self, match: DetectionMatch) -> float:
        scores: Any = self._predicted.scores
        return float(scores[match.detection])

    def _missed(self, matches: Iterable[DetectionMatch]) -> list[int]:
        """Return the objects that count and that no detection takes."""
        taken = {match.taken for match in matches}
        return [k for k in np.flatnonzero(~self._truth.crowds).tolist() if k not in taken]

    def numbers_at(self, threshold: float) -> tuple[int, int, int]:
        """Count true and false detections and missed objects."""
        matches = self._at(threshold)
        states = [self._state(match) for match in matches]
        return states.count(State.TRUE), states.count(State.FALSE), len(self._missed(matches))

    def _state(self, match: DetectionMatch) -> State:
        """Say what became of a detection."""
        if match.taken < 0:
            return State.FALSE
        return State.IGNORED if self._truth.crowds[match.taken] else State.TRUE

    def states(self, threshold: float, *, with_texts: bool = False) -> NDArray[np.uint8]:
        """Return the state of each pixel: outlines, of which errors lie on top, and perhaps scores with IoU."""
        matches = self._at(threshold)
        missed = set(self._missed(matches))
        layers: dict[State, list[BoolArray]] = {state: [] for state in _LAYERS}
        for k, outline in enumerate(self.true_outlines):
            state = State.IGNORED if self._truth.crowds[k] else State.MISSED if k in missed else State.PARTNER
            layers[state].append(outline)
        for match in matches:
            layers[self._state(match)].append(self._outlines[match.detection])
        states = np.full(self._truth.size, State.NOTHING, np.uint8)
        for state in _LAYERS:
            for outline in layers[state]:
                states[outline] = state
        if with_texts:
            _write(states, [self._label(match) for match in matches])
        return states

    def _label(self, match: DetectionMatch) -> tuple[str, State, BoolArray]:
        """Return what is written at a detection: its score, and in brackets its IoU where it is matched."""
        text = number(self._score(match), digits=_DIGITS)
        if match.taken >= 0:
            text += f" ({number(match.overlap, digits=_DIGITS)})"
        return text, self._state(match), self._outlines[match.detection]

    def highest_scores(self) -> NDArray[np.uint8]:
        """Return the highest score of the detections on each pixel as grey levels, from the lowest above 0 to white."""
        levels = np.zeros(self._truth.size, np.uint8)
        if not self._matches:
            return levels
        scores = np.array([self._score(match) for match in self._matches])
        low, high = min(0.0, float(scores.min())), max(1.0, float(scores.max()))
        greys = np.rint(32 + 223 * (scores - low) / (high - low)).astype(np.uint8)
        for k in np.argsort(scores, kind="stable").tolist():
            levels[self._masks[self._matches[k].detection]] = greys[k]
        return levels

    def in_words(self, threshold: float) -> str:
        """List the true, false and missed instances of a threshold."""
        matches = self._at(threshold)
        lists: dict[str, list[str]] = {"true": [], "false": [], "left out": []}
        kinds = {State.TRUE: "true", State.FALSE: "false", State.IGNORED: "left out"}
        for match in sorted(matches, key=lambda match: -self._score(match)):
            label = int(self._predicted.classes[match.detection])
            text = f"{self._called(label)} {number(self._score(match), digits=_DIGITS)}"
            if match.taken >= 0:
                text += f" (IoU {number(match.overlap, digits=_DIGITS)})"
            lists[kinds[self._state(match)]].append(text)
        missed = sorted(self._called(int(self._truth.classes[k])) for k in self._missed(matches))
        numbered = [(len(list(same)), name) for name, same in groupby(missed)]
        lists["missed"] = [name if count == 1 else f"{count} {name}" for count, name in numbered]
        return "; ".join(f"{kind}: {_shortened(texts)}" for kind, texts in lists.items() if texts)

    def _called(self, label: int) -> str:
        return self._names.get(label, f"class {label}")


_LAYERS = (State.IGNORED, State.PARTNER, State.TRUE, State.MISSED, State.FALSE)
"""From the lowest outlines to those on top."""


def _shortened(texts: Sequence[str]) -> str:
    """List the first of some texts."""
    more = [f"{len(texts) - _NAMED} more"] if len(texts) > _NAMED else []
    return ", ".join([*texts[:_NAMED], *more])


def _masks(side: Instances) -> list[BoolArray]:
    """Return the masks of a side, of what is a box alone the box as it is drawn."""
    starts = [0, *side.ends.tolist()]
    return [decode_mask(side.runs[start:end], side.size) for start, end in pairwise(starts)]


def _outline(mask: BoolArray) -> BoolArray:
    """Return the outermost pixels of a mask, those at the border of the image included."""
    width = 2 if max(mask.shape) >= _THICK else 1
    padded = np.pad(mask, width)
    inside = mask.copy()
    height_of, width_of = mask.shape
    for step in range(-width, width + 1):
        rows, columns = slice(width + step, width + step + height_of), slice(width + step, width + step + width_of)
        inside &= padded[rows, width : width + width_of] & padded[width : width + height_of, columns]
    outline: BoolArray = mask & ~inside
    return outline


def _write(states: NDArray[np.uint8], labels: Sequence[tuple[str, State, BoolArray]]) -> None:
    """Write texts in the colours of their states on a bare ground, each at the top left of its outline.

    One that would cover another, which comes before it, is left out.
    """
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(_LETTERS)
    picture = Image.fromarray(states, "L")
    pen = ImageDraw.Draw(picture)
    pen.fontmode = "1"  # no grey levels, which would be other states
    written = np.zeros(states.shape, np.bool_)
    for text, state, outline in labels:
        rows, columns = np.nonzero(outline)
        if not rows.size:
            continue
        width, height = (int(side) + 2 for side in font.getbbox(text)[2:])
        x = max(0, min(int(columns.min()), states.shape[1] - width))
        y = max(0, min(int(rows.min()) - height, states.shape[0] - height))
        if written[y : y + height, x : x + width].any():
            continue
        written[y : y + height, x : x + width] = True
        pen.rectangle((x, y, x + width - 1, y + height - 1), fill=int(State.NOTHING))
        pen.text((x + 1, y), text, fill=int(state), font=font)
    states[...] = np.asarray(picture)

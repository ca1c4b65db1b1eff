"""Which numbering the labels of files have: that of the classes, one that a map turns into it, or ids of instances.

Conventions
-----------
Values are compared as stored, never as a given map makes them. Either side may need no map, the map given for it or for
the other side, or one that a data set of the same classes comes with, such as labelIds of Cityscapes for its trainIds.
Two maps are right if, under them, more than twice as many pixels agree as under those given, by more than chance makes
of the pixels that count (their square root), and more than a quarter of these, in at least two classes, and if they
leave no true label without a class or void.

Values from 1000 that are a known label times 1000 and a number are ids of instances, however few agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.messages import Either, Message, Setting, joined
from segbench.inputs.class_names import classes_of
from segbench.inputs.label_maps import INSTANCES, LabelMaps
from segbench.inputs.label_rules import UNLABELLED, VOIDS
from segbench.inputs.label_values import Remapping, pairs_text, shift_to_zero

_FEWEST_CLASSES = 3

_parsed = cache(Remapping.parse)


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredLabels:
    """How many pixels have each pair of values as stored: true ones in rows and predicted ones in columns."""

    truth: IntArray  # distinct values, rising
    predicted: IntArray
    pixels: IntArray
    by_place: bool = False  # whether the predicted ones are places in stacks of scores, which no map changes

    @classmethod
    def of(cls, maps: LabelMaps, valid: BoolArray | None) -> StoredLabels:
        """Count the pairs of values in two label maps, where pixels are valid."""
        stored = [_values_and_places(label_map.stored_values, valid) for label_map in maps]
        (truth, rows), (predicted, columns) = stored
        pairs = np.bincount(rows * predicted.size + columns, minlength=truth.size * predicted.size)
        pixels = pairs.reshape(truth.size, predicted.size)
        return cls(truth=truth, predicted=predicted, pixels=pixels, by_place=maps.predicted.by_place)

    @classmethod
    def of_pairs(cls, truth: IntArray, predicted: IntArray, pixels: IntArray) -> StoredLabels:
        """Count pairs of values that are listed, each with its pixels."""
        (truth, rows), (predicted, columns) = (np.unique(side, return_inverse=True) for side in (truth, predicted))
        table = np.zeros((truth.size, predicted.size), np.int64)
        np.add.at(table, (rows, columns), pixels)
        return cls(truth=truth, predicted=predicted, pixels=table)

    @classmethod
    def sum(cls, parts: Sequence[StoredLabels]) -> StoredLabels:
        """Add up the pairs of several images."""
        truth, predicted = (np.unique(np.concatenate([getattr(part, side) for part in parts])) for side in _SIDES)
        pixels = np.zeros((truth.size, predicted.size), np.int64)
        for part in parts:
            pixels[np.ix_(np.searchsorted(truth, part.truth), np.searchsorted(predicted, part.predicted))] += (
                part.pixels
            )
        by_place = all(part.by_place for part in parts)
        return cls(truth=truth, predicted=predicted, pixels=pixels, by_place=by_place)

    def by_class(self, gt_map: str, classes: Sequence[int]) -> tuple[IntArray, list[int]]:
        """Count the pixels of each class under a map of the ground truth, by predicted values as stored.

        The values come with the counts: those of the classes first, and a last column for none.
        """
        values = [*classes, *np.setdiff1d(self.predicted, classes).tolist()]
        columns = [values.index(value) for value in self.predicted.tolist()]
        matrix = np.zeros((len(classes), len(values) + 1), np.int64)
        for label, pixels in zip(_labels_of(self.truth, gt_map).tolist(), self.pixels, strict=True):
            if label in classes:
                matrix[classes.index(label), columns] += pixels
        return matrix, values


_SIDES = ("truth", "predicted")


def _values_and_places(labels: Array, valid: BoolArray | None) -> tuple[IntArray, IntArray]:
    """Return the distinct values of a label map, rising, and the place of each pixel's value among them."""
    flat = (labels if valid is None else labels[valid]).reshape(-1)
    if flat.dtype.kind != "u" or flat.dtype.itemsize > 2:
        values, indices = np.unique(flat, return_inverse=True)
        return values.astype(np.int64), indices.reshape(-1)
    occurs = np.bincount(flat, minlength=1) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[flat]


@dataclass(frozen=True, kw_only=True)
class Numberings:
    """The maps under which both sides have the numbers of the classes, and how many pixels then agree."""

    maps: tuple[str, str]  # of the ground truth and of predictions
    instances: tuple[int, int]  # of each side an id of an instance, 0 where it holds none
    right: int
    counted: int
    classes: int  # how many are predicted right more often than as any other
    void_stored: bool  # whether the ground truth holds a void value that its map does not name

    def fix(self, current_maps: tuple[str, str]) -> Message:
        """Name the settings that differ from those given, and what no setting does."""
        names = ("gt_map", "pred_map")
        changed = joined(
            (
                Setting(name, text)
                for name, text, current in zip(names, self.maps, current_maps, strict=True)
                if text != current
            ),
            " and ",
        )
        of_sides = (("the ground truth", self.instances[0]), ("predictions", self.instances[1]))
        sides = [side for side, instance in of_sides if instance]
        if not sides:
            return changed
        saved = Message(
            "fix",
            "save labels of {sides: and }, numpy.where(ids < {multiple}, ids, ids // {multiple})",
            sides=sides,
            multiple=INSTANCES,
        )
        objects = Either("Objects()", "segbench objects")
        evaluate = Message("fix", "or evaluate instances with {objects}", objects=objects)
        return joined([joined([saved, changed], ", and give "), evaluate])

    def what(self, current_maps: tuple[str, str]) -> Message:
        """Say which numbers the sides have that the given maps do not expect."""
        parts = []
        for side, name, text, old, instance in zip(
            ("the ground truth", "predictions"),
            ("gt_map", "pred_map"),
            self.maps,
            current_maps,
            self.instances,
            strict=True,
        ):
            subject = {"side": side, "seem": "seems" if name == "gt_map" else "seem"}
            if instance:
                parts.append(
                    Message(
                        "renumbered",
                        "{side} {seem} to hold ids of instances ({instance} for label {label})",
                        **subject,
                        instance=instance,
                        label=instance // INSTANCES,
                    )
                )
            elif text != old and not text:
                parts.append(
                    Message(
                        "renumbered",
                        "{side} {seem} to have the numbers of the classes already, which {map} changes",
                        **subject,
                        map=Setting(name, None),
                    )
                )
            elif text != old:
                parts.append(Message("renumbered", "{side} {seem} to have other numbers than the classes", **subject))
        return joined(parts, ", and ")


@dataclass(frozen=True, kw_only=True)
class Renumbered:
    """The numberings that stored values show, with another that is as likely, and the maps given."""

    current_maps: tuple[str, str]
    likely: Numberings
    otherwise: Numberings | None = None

    @property
    def what(self) -> Message:
        """What is wrong."""
        if self.otherwise is None:
            return self.likely.what(self.current_maps)
        return Message("renumbered", "the ground truth and predictions seem to have different numbers")

    @property
    def fix(self) -> Message:
        """Which settings mend it."""
        fix = self.likely.fix(self.current_maps)
        if self.otherwise is None:
            return fix
        return Message(
            "fix",
            "if label 0 of the ground truth is a class, {fix}; if it is void, {otherwise}",
            fix=fix,
            otherwise=self.otherwise.fix(self.current_maps),
        )


def maps_to_try(labels: Sequence[int], in_use: tuple[str, str]) -> tuple[str, ...]:
    """List the maps that either side may need; one, which changes nothing, where no other is known."""
    maps = tuple(dict.fromkeys(("", *in_use, *known_maps(tuple(labels)))))
    if len(maps) > 1 and (shift := shift_to_zero(labels)):
        maps += tuple(text for text in (shift, f"{shift},0=255") if text not in maps)
    return maps


def find_numberings(
    stored: StoredLabels, labels: Sequence[int], void: Sequence[int], gt_map: str, pred_map: str
) -> Renumbered | None:
    """Compare stored values under the maps that may be right; None if those given are."""
    given_maps = (gt_map, "" if stored.by_place else pred_map)
    maps = maps_to_try(labels, given_maps)
    instances = _instance(stored.truth, maps, labels, void), _instance(stored.predicted, maps, labels, void)
    if len(labels) < _FEWEST_CLASSES or not stored.pixels.any() or (len(maps) == 1 and not any(instances)):
        return None
    now = _numberings(stored, given_maps, (0, 0), labels)
    expected = set(void) | set(labels)
    unlabelled = {0} if min(labels) == 1 else set()  # beside classes from 1, which advice leaves out as void
    countable = (expected | unlabelled).issuperset(_labels_of(stored.truth, gt_map).tolist())
    right = now.right if countable else 0
    true_values = _plain(stored.truth, instances[0])
    of_truth = [text for text in _possible(maps, given_maps[0], labels) if not _joins(text, stored.truth, labels)]
    of_truth = [text for text in of_truth if expected.issuperset(_labels_of(true_values, text).tolist())]
    of_predictions = [""]
    if not stored.by_place:
        possible = _possible(maps, given_maps[1], labels)
        of_predictions = [text for text in possible if not _joins(text, stored.predicted, labels)]
    right_numberings = []
    for pair in product(of_truth, of_predictions):
        numbering = _numberings(stored, pair, instances, labels, void)
        by_chance = math.sqrt(numbering.counted)
        clear = numbering.right > 2 * right + by_chance or (
            pair == ("", "") and _already_remapped(stored, given_maps, labels)
        )
        agree = any(instances) or (clear and 4 * numbering.right > numbering.counted and numbering.classes > 1)
        if agree and (pair != given_maps or any(instances)):
            right_numberings.append(numbering)
    return _most_likely(right_numberings, given_maps, stored, void)


def _already_remapped(stored: StoredLabels, given_maps: tuple[str, str], labels: Sequence[int]) -> bool:
    """Return whether neither side has a value that maps alone name, and the true one a value that they alone give.

    Of a class, predictions must show it: pixels without a label may have its number.
    """
    for text, side in zip(given_maps, _SIDES, strict=True):
        mapping = _parsed(text)
        targets = {*mapping.labels.values(), *([mapping.others] if mapping.others is not None else [])}
        if not {*getattr(stored, side).tolist()}.isdisjoint(mapping.labels.keys() - targets):
            return False
        if side == "truth":
            given_alone = [value for value in stored.truth.tolist() if value in targets.difference(mapping.labels)]
    shown = [value for value in given_alone if value not in labels or _is_predicted(stored, value)]
    return bool(shown) and len(shown) == len(given_alone)


def _is_predicted(stored: StoredLabels, value: int) -> bool:
    """Return whether pixels of a value are predicted as this value more often than as any other."""
    pixels = stored.pixels[stored.truth == value].sum(axis=0)
    return bool(pixels[stored.predicted == value].sum() == pixels.max(initial=0) > 0)


def _most_likely(
    numberings: Sequence[Numberings], given_maps: tuple[str, str], stored: StoredLabels, void: Sequence[int]
) -> Renumbered | None:
    """Choose the maps under which most pixels agree; of as many those that count fewest, which leave out void."""
    likely = [numbering for numbering in numberings if not numbering.void_stored] or numberings
    if not likely:
        return None
    best = max(
        likely,
        key=lambda numbering: (numbering.right, -numbering.counted, [*map(str.__eq__, numbering.maps, given_maps)]),
    )
    others = [
        numbering for numbering in likely if numbering.maps[0] == given_maps[0] and 2 * numbering.right > best.right
    ]
    leaves_out_0 = _parsed(given_maps[0]).labels.get(0) in void and 0 in stored.truth
    unsure = best.maps[0] != given_maps[0] and leaves_out_0 and not np.isin(stored.truth, void).any()
    otherwise = max(others, key=lambda numbering: numbering.right) if unsure and others else None
    return Renumbered(current_maps=given_maps, likely=best, otherwise=otherwise)


def _possible(maps: Iterable[str], given_map: str, labels: Sequence[int]) -> Iterator[str]:
    """List the maps that a side may need; one that only leaves classes out, and moves none, is meant."""
    moves = any(value != label and label in labels for value, label in _parsed(given_map).labels.items())
    return (text for text in maps if text == given_map or moves or not given_map)


def _joins(text: str, values: IntArray, labels: Sequence[int]) -> bool:
    """Return whether a map gives labels the numbers of stored values that it does not name."""
    return not _parsed(text).ambiguous.intersection(labels).isdisjoint(values.tolist())


def _numberings(
    stored: StoredLabels,
    maps: tuple[str, str],
    instances: tuple[int, int],
    labels: Sequence[int],
    void: Sequence[int] = (),
) -> Numberings:
    """Count what agrees under two maps."""
    true_labels = _labels_of(_plain(stored.truth, instances[0]), maps[0])
    predicted_labels = _labels_of(_plain(stored.predicted, instances[1]), maps[1])
    classes = np.array(labels)[:, np.newaxis]
    distinct, indices = np.unique(predicted_labels, return_inverse=True)
    by_class = np.zeros((distinct.size, len(labels)), np.int64)
    np.add.at(by_class, indices, ((true_labels == classes) @ stored.pixels).T)
    right = np.where(distinct == classes, by_class.T, 0).max(axis=1)
    named_values = _parsed(maps[0])
    unnamed_void = np.isin(stored.truth, void) & ~np.isin(stored.truth, [*named_values.labels])
    return Numberings(
        maps=maps,
        instances=instances,
        right=int(right.sum()),
        counted=int(by_class.sum()),
        classes=int(np.count_nonzero((right > 0) & (right == by_class.max(axis=0)))),
        void_stored=bool(maps[0]) and named_values.others is None and bool(unnamed_void.any()),
    )


def _labels_of(values: IntArray, text: str) -> IntArray:
    """Return the label of each value under a map."""
    mapping = _parsed(text)
    return np.array([mapping.label_of(value) for value in values.tolist()], np.int64)


def _plain(values: IntArray, instance: int) -> IntArray:
    """Return values as labels where they are ids of instances."""
    return np.where(values < INSTANCES, values, values // INSTANCES) if instance else values


def _instance(values: IntArray, maps: Iterable[str], labels: Sequence[int], void: Sequence[int]) -> int:
    """Return one of the values that are ids of instances, 0 if any of the large ones is something else."""
    if min(values.tolist(), default=0) < UNLABELLED:  # as in images of CT
        return 0
    known = {*labels, *(value for text in maps for value in _parsed(text).labels)}
    large = [value for value in values.tolist() if value >= INSTANCES and value not in {*void, *VOIDS}]
    return large[-1] if large and all(v not in known and v // INSTANCES in known for v in large) else 0


@cache
def known_maps(labels: tuple[int, ...]) -> tuple[str, ...]:
    """List the maps that data sets come with and that give labels the numbers of these classes, or take them away."""
    from segbench.loaders.presets import presets

    maps = []
    for preset in presets().values():
        texts = {str(preset.options[name]) for name in ("gt_map", "pred_map") if name in preset.options}
        classes = {*classes_of(str(preset.options["classes"]))[0]} if texts else set()
        for text in sorted(texts):
            pairs = {value: label for value, label in _parsed(text).labels.items() if label in classes}
            if classes == {*labels}:
                maps.append(text)
            elif pairs.keys() == {*labels} and len({*pairs.values()}) == len(pairs):
                maps.append(pairs_text({label: value for value, label in pairs.items()}))
    return tuple(dict.fromkeys(maps))

"""Where the images of a run are, and which prediction belongs to which ground truth: nothing left out in silence.

A file's name is its path within the folder without extension, sub-folders kept, in posix form; where names hold more
than that (``01_manual1``, ``4680.6``) a pattern says which part it is.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import accumulate, chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

from segbench.core.arguments import as_path
from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import format_setting, setting
from segbench.core.names import first_names
from segbench.core.numbers import many, of_all, verb
from segbench.core.sample import Reading
from segbench.loaders.decoded import Source, listed, shown
from segbench.loaders.file_list import Images, as_images, column_of, has_fields, leave_out_missing, read_list, select
from segbench.loaders.hints import (
    Names,
    annotator_pattern,
    in_other_folders,
    matching_patterns,
    nearest,
    numbered_otherwise,
)
from segbench.loaders.images import EXTENSIONS
from segbench.loaders.listing import is_file, list_place
from segbench.loaders.source import Entries, LocalFile, method_name, read_header, split_extension
from segbench.loaders.source import SampleFiles as SampleFiles  # noqa: PLC0414  which others import from here

Place = str | PathLike[str] | None

_BESIDE_LIST = frozenset({"pairs", "column", "images", "allow_missing", "group_by", "groups"})


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Paths and name patterns of a run.

    Parameters
    ----------
    ground_truth : str
        A folder, an archive (or a folder of them), or one file; empty where `pairs` is given.
    prediction : str, optional
        The same; None where annotators are compared with each other.
    field : str, optional
        A folder of masks, nonzero where pixels count, or one mask for all images.
    gt_pattern, pred_pattern, field_pattern : str
        ``*`` is the image's name and ``#`` the tag of an annotator (`gt_pattern`) or of one of several scales or
        classes (`pred_pattern`: ``"*/#"`` is one folder of label maps per image, ``"#/*"`` one per class).
    negatives : str
        Predictions with a name that fits this shell pattern (``"good/*"``) need no ground truth: all their pixels are
        negative. Empty for none.
    photographs : str, optional
        The images of the test set themselves, where they are known: they say which images fit `negatives`, and which
        size these have.
    pairs : str, optional
        A file list, in place of all the above; with the columns of docs/inputs.md.
    column : str, optional
        Its column of predictions; None where annotators are compared with each other.
    images : tuple of str
        Names and shell patterns of the images that the run is restricted to; empty for all.
    allow_missing : bool
        Leave out images without a prediction instead of refusing them.
    group_by : str
        What puts images into groups: ``"folder"``, or a column of a CSV file; empty for no groups.
    groups : tuple of (str, str)
        The images with their groups, as the CSV file had them.
    category : str
        What the names of images begin with, as a folder: the part of a data set in which these images are.
    merged : tuple of Inputs
        Where the images of further parts are, if the run was put together of several.
    """

    ground_truth: str = ""
    prediction: str | None = None
    field: str | None = None
    gt_pattern: str = "*"
    pred_pattern: str = "*"
    field_pattern: str = "*"
    negatives: str = ""
    photographs: str | None = None
    pairs: str | None = None
    column: str | None = None
    images: tuple[str, ...] = ()
    allow_missing: bool = False
    group_by: str = ""
    groups: tuple[tuple[str, str], ...] = ()
    category: str = ""
    merged: tuple[Inputs, ...] = ()

    def check(self, reads: Reading) -> None:
        """Refuse places that have no meaning for what a protocol reads: an `ArgumentError` says which and why."""
        if reads.alone and not self.alone:
            raise ArgumentError(f"{reads.name} are compared with each other; leave out the prediction")
        if self.alone and not reads.alone:
            raise ArgumentError("no prediction is given; only Annotators(...) works without one")
        if reads.without_field and self.has_fields():
            hint = (
                f"leave out {format_setting('field')}"
                if self.pairs is None
                else "take the column 'field' out of the list"
            )
            raise ArgumentError(f"{reads.without_field}: {hint}")
        if reads.without_negatives and self.negatives:
            hint = f"an image without ground truth has no {reads.without_negatives}"
            raise ArgumentError(f"{format_setting('negatives')} has no meaning for {reads.name}: {hint}")

    @property
    def alone(self) -> bool:
        """Whether there are no predictions, as where annotators are compared with each other."""
        return self.prediction is None if self.pairs is None else self.column is None

    @property
    def predictions(self) -> str:
        """Where the predictions are, as one text; empty if there are none."""
        return (self.prediction or "") if self.pairs is None else " ".join(filter(None, (self.pairs, self.column)))

    def has_fields(self) -> bool:
        """Return whether images have a field of view, by the header of the list where there is one."""
        return self.field is not None or (self.pairs is not None and has_fields(self.pairs))

    def beside_list(self) -> tuple[str, ...]:
        """Name the fields that are set although a file list takes their place."""
        return tuple(
            each.name
            for each in fields(self)
            if each.name not in _BESIDE_LIST and getattr(self, each.name) != each.default
        )

    def absolute(self) -> Self:
        """Give the same places as absolute paths."""
        return self.with_places(lambda place: str(Path(place).absolute()))

    def with_places(self, change: Callable[[str], str]) -> Self:
        """Give them with each place changed."""
        places = {key: getattr(self, key) for key in ("ground_truth", "prediction", "field", "photographs", "pairs")}
        changed: dict[str, Any] = {key: change(place) for key, place in places.items() if place}
        return replace(self, **changed, merged=tuple(part.with_places(change) for part in self.merged))

    def to_json(self) -> str:
        """Write them as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        content = json.loads(text)
        parts = [content, *content["merged"]]
        lists = [{"images": tuple(part["images"]), "groups": tuple(map(tuple, part["groups"]))} for part in parts]
        whole, *others = (cls(**part | own | {"merged": ()}) for part, own in zip(parts, lists, strict=True))
        return replace(whole, merged=tuple(others))


def find_inputs(
    ground_truth: Place,
    prediction: Place,
    reads: Reading,
    *,
    pairs: Place,
    field: Place,
    images: Images,
    method: str | None,
    **options: Any,  # noqa: ANN401  patterns and flags, as fields of Inputs
) -> Inputs:
    """Say where the images of a run are, by folders with patterns or by a file list and the column of a method."""
    places = {"ground_truth": ground_truth, "prediction": prediction, "field": field}
    given: dict[str, Any] = {name: as_path(place, name) for name, place in places.items() if place is not None}
    inputs = Inputs(**given, images=() if images is None else as_images(images), **options)
    if pairs is None:
        if ground_truth is None:
            raise ArgumentError("give folders of ground truth and predictions, or a list of pairs")
        return inputs
    listed = as_path(pairs, "pairs")
    beside = inputs.beside_list()
    if beside:
        raise ArgumentError(f"a list of pairs holds all files: leave out {', '.join(beside)}")
    column = None if reads.alone else column_of(listed, method)
    return replace(inputs, pairs=listed, column=column)


def method_of(inputs: Inputs) -> str:
    """Name the method after its column or the place of its predictions."""
    if inputs.pairs is not None and inputs.column is not None:
        return inputs.column.partition(":")[2] or method_name(inputs.pairs)
    return "human" if inputs.prediction is None else method_name(inputs.prediction)


_NAMED = 5
_NEARLY_ALL = 4
"""So many pairs for each name without a partner mean that patterns are right and files are missing."""
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Pattern:
    """A pattern made ready for matching; make it with `Pattern.parse`."""

    text: str
    regex: re.Pattern[str]  # for a posix path within the folder, without extension; groups: name and perhaps tag
    extension: str = ""  # the only one to take, in lower case; empty for every known one

    @classmethod
    def parse(cls, text: str, field: str, *, tagged: bool = False) -> Pattern:
        """Check a pattern, a field of `Inputs`, and make it ready."""
        if text.count("*") != 1:
            raise ArgumentError(
                f"{format_setting(field, text)} has {text.count('*')} *, expected one, in place of the image's name"
            )
        if text.count("#") > tagged:
            at_most = "at most one, in place of an annotator's or a scale's tag"
            expected = at_most if tagged else "none: there is one mask per image"
            raise ArgumentError(f"{format_setting(field, text)} has {text.count('#')} #, expected {expected}")
        extension = next((e for e in EXTENSIONS if text.lower().endswith(e)), "")
        body = text[: len(text) - len(extension)].replace(os.sep, "/").removeprefix("./")
        if "*" not in body:
            raise ArgumentError(f"{format_setting(field, text)} has no * before its extension, expected one")
        groups = {"*": "(?P<name>.+)", "#": "(?P<tag>[^/]+?)"}
        regex = "".join(groups.get(c) or re.escape(c) for c in body)
        return cls(text, re.compile(regex, re.DOTALL), extension)

    def match(self, stem: str, extension: str) -> tuple[str, str] | None:
        """Give an image's name and tag, which may be empty, or None where the file does not fit."""
        if self.extension and extension != self.extension:
            return None
        found = self.regex.fullmatch(stem)
        return None if found is None else (found["name"], found.groupdict().get("tag", ""))


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Give a sort key under which numbers count as numbers."""
    parts = filter(None, _DIGITS.split(text))
    return tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts)


class _Named(NamedTuple):
    """The files at a place by the names of images."""

    entries: Entries
    numbers: Mapping[str, tuple[int, ...]]  # in `entries`, in natural order of their tags
    tags: Mapping[int, str]  # of files, if the pattern has any
    notes: tuple[str, ...] = ()


class _Column:
    """The files of each of some images at a place."""

    def __init__(self, named: _Named, images: Sequence[str]) -> None:
        self._entries, self._tags = named.entries, named.tags
        self._numbers, self._ends = array("I"), array("I", [0])
        for name in images:
            self._numbers.extend(named.numbers.get(name, ()))
            self._ends.append(len(self._numbers))

    def _of(self, image: int) -> Sequence[int]:
        return self._numbers[self._ends[image] : self._ends[image + 1]]

    def sources(self, image: int) -> list[Source]:
        return [self._entries.source(k) for k in self._of(image)]

    def tags(self, image: int) -> tuple[str, ...]:
        return tuple(self._tags[k] for k in self._of(image)) if self._tags else ()


def _one_of(files: _Column | Source | None, image: int) -> Source | None:
    """Give the file of an image, or the one for all."""
    return next(iter(files.sources(image)), None) if isinstance(files, _Column) else files


class PairedFiles(Sequence[SampleFiles]):
    """The files of images in columns, since there may be millions; each `SampleFiles` is made when asked for."""

    def __init__(
        self,
        names: Sequence[str],
        truths: _Column,
        predictions: _Column | None,
        field: _Column | Source | None,
        sized_as: _Column | Source | None,
    ) -> None:
        self.names, self._truths, self._predictions = names, truths, predictions
        self._field, self._sized_as = field, sized_as

    def __getitem__(self, k: Any) -> Any:  # noqa: ANN401  a number, or a slice
        if isinstance(k, slice):
            return [self[place] for place in range(*k.indices(len(self)))]
        name, k = self.names[k], k if k >= 0 else k + len(self)
        truths, of_predictions = tuple(self._truths.sources(k)), self._predictions
        prediction, *scales = of_predictions.sources(k) if of_predictions else truths[:1]
        tags = of_predictions.tags(k) if of_predictions else ()
        field, sized_as = _one_of(self._field, k), None if truths else _one_of(self._sized_as, k)
        return SampleFiles(name, truths, prediction, field, tuple(scales), tags, sized_as)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Pairing:
    """What the folders of a run have in common and what not; names are sorted."""

    inputs: Inputs
    files: Sequence[SampleFiles] = ()
    notes: tuple[str, ...] = ()  # files left out, to be shown to the user
    missing: tuple[str, ...] = ()  # ground truths without a prediction
    extra: tuple[str, ...] = ()  # predictions without a ground truth
    without_field: tuple[str, ...] = ()
    other_fields: tuple[str, ...] = ()  # masks of other names than the images, where some images have none
    unknown: tuple[str, ...] = ()  # chosen names and patterns that fit no image, with the nearest name
    left_out: tuple[str, ...] = ()  # ground truths without a prediction, where these are allowed
    total: int = 0  # images of the set, if the run is restricted to a part of them
    problem: DataError | None = None  # why nothing can be paired
    no_negatives: bool = False  # whether predictions without ground truth cannot be counted as negative

    def signature_fields(self) -> dict[str, str]:
        """Say which part of the images is counted, and whether of their pixels; empty where all are."""
        chosen = len(self.files) + len(self.left_out)
        first = next((one for one in self.files if not self.inputs.pairs or one.field), None)
        field = {"field": "yes"} if first and first.field else {}
        subset = {"subset": f"{chosen} of {self.total}"} if self.total > chosen else {}
        return field | subset | ({"missing": f"{len(self.left_out)} of {chosen}"} if self.left_out else {})

    @property
    def counted(self) -> str:
        """What messages call the images of which some lack a prediction."""
        return "image" if self.inputs.negatives else "ground truth"

    @property
    def names(self) -> Sequence[str]:
        """The names of the images."""
        return self.files.names if isinstance(self.files, PairedFiles) else [files.name for files in self.files]

    def require_complete(self) -> Self:
        """Insist that every image has a partner; a `DataError` names those that have none."""
        if self.missing or self.extra or self.without_field or self.unknown:
            methods = methods_below(self, pair) if not self.files else {}
            raise several_methods(self.inputs, methods) if methods else _unpaired(self)
        if self.problem:
            raise self.problem
        return self


class FilesByName(Mapping[str, SampleFiles]):
    """The files of the images of pairings by name, of those in several that of the last; made when asked for."""

    def __init__(self, pairings: Sequence[Pairing]) -> None:
        self._files = [pairing.files for pairing in pairings]
        self._starts = [0, *accumulate(map(len, self._files))]
        names = chain.from_iterable(pairing.names for pairing in pairings)
        self._places = {name: k for k, name in enumerate(names)}

    def __getitem__(self, name: str) -> SampleFiles:
        k = self._places[name]
        part = bisect_right(self._starts, k) - 1
        return self._files[part][k - self._starts[part]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def pair(inputs: Inputs) -> Pairing:
    """Find the files of every image, of several categories of all, and list what lacks a partner."""
    if inputs.merged:
        parts = [
            pair(replace(part, allow_missing=inputs.allow_missing))
            for part in (replace(inputs, merged=()), *inputs.merged)
        ]
        return _joined(inputs, parts)
    pairing = _of_category(inputs) if inputs.category else _paired(inputs)
    if not inputs.allow_missing or not pairing.missing or not pairing.files:
        return pairing
    left_out, chosen = pairing.missing, len(pairing.files) + len(pairing.missing)
    without = f"{verb(len(left_out), 'have')} no prediction and {verb(len(left_out), 'are')} left out"
    note = f"{of_all(len(left_out), chosen, 'image')} {without}: {first_names(left_out, _NAMED)}"
    return replace(pairing, missing=(), left_out=left_out, notes=(*pairing.notes, note))


_NAMES = ("missing", "extra", "without_field", "other_fields", "left_out")


def _of_category(inputs: Inputs) -> Pairing:
    """Pair the images of a category, whose names begin with it."""
    start = f"{inputs.category}/"
    chosen = tuple(name.removeprefix(start) for name in inputs.images if name.startswith(start))
    if inputs.images and not chosen:
        return Pairing(inputs)
    pairing = replace(_paired(replace(inputs, images=chosen)), inputs=inputs)
    names: dict[str, Any] = {key: tuple(start + name for name in getattr(pairing, key)) for key in _NAMES}
    files = tuple(one._replace(name=start + one.name) for one in pairing.files)
    return replace(pairing, files=files, notes=tuple(f"{inputs.category}: {note}" for note in pairing.notes), **names)


def _joined(inputs: Inputs, parts: Sequence[Pairing]) -> Pairing:
    """Put the images of several categories together."""
    names: dict[str, Any] = {
        key: tuple(chain.from_iterable(getattr(part, key) for part in parts))
        for key in (*_NAMES, "files", "notes", "unknown")
    }
    problem = next((part.problem for part in parts if part.problem), None)
    return Pairing(inputs, **names, total=sum(part.total for part in parts), problem=problem)


def methods_below(pairing: Pairing, find: Callable[[Inputs], Pairing]) -> dict[str, Pairing]:
    """Pair the sub-folders of a prediction folder where the folder itself does not pair with the ground truth.

    They are methods by name, at least two; empty where the folder pairs or is not a folder on disk.
    """
    inputs = pairing.inputs
    place = inputs.prediction
    if pairing.files or place is None or not inputs.ground_truth:
        return {}
    try:
        with os.scandir(place) as entries:
            below = sorted((entry.name, entry.path) for entry in entries if entry.is_dir())
    except (OSError, ValueError):
        return {}
    found: dict[str, Pairing] = {}
    for name, path in below if len(below) > 1 else ():
        with suppress(DataError):
            found[shown(name)] = find(replace(inputs, prediction=path))
    found = {name: each for name, each in found.items() if each.files}
    return found if len(found) > 1 else {}


def part_below(inputs: Inputs, folders: Collection[str]) -> str | None:
    """Find the sub-folder of predictions that has the name of a folder above the ground truth, such as a category."""
    truth, prediction = (Path(os.path.abspath(place)) for place in (inputs.ground_truth, str(inputs.prediction)))  # noqa: PTH100  of '..', too
    above = (place for place in (truth, *truth.parents) if place not in (prediction, *prediction.parents))
    return next((place.name for place in above if place.name in folders), None)


def several_methods(inputs: Inputs, methods: Collection[str]) -> DataError:
    """Refuse a folder with predictions of several methods, or of several parts of a data set, as those of one."""
    place, first = _shown(inputs.prediction), next(iter(methods))
    same = part_below(inputs, methods)
    if same is None:
        what = f"holds the predictions of {len(methods)} methods in sub-folders: {', '.join(methods)}"
        once = setting("give each sub-folder as a method", "call evaluate once per sub-folder")
        return DataError(place, what, f"{once}, as in {place}/{first}")
    what = f"holds {', '.join(methods)} in sub-folders, and the ground truth is that of {same}"
    own = shlex.quote(f"{method_name(str(inputs.prediction))}={place}/{same}")
    alone = setting(own, format_setting("prediction", f"{place}/{same}"))
    return DataError(
        place, what, f"give each sub-folder if these are methods, otherwise its predictions alone: {alone}"
    )


def _paired(inputs: Inputs) -> Pairing:
    patterns = (
        Pattern.parse(inputs.gt_pattern, "gt_pattern", tagged=True),
        Pattern.parse(inputs.pred_pattern, "pred_pattern", tagged=True),
        Pattern.parse(inputs.field_pattern, "field_pattern"),
    )
    if inputs.pairs is not None:
        return _from_list(inputs, inputs.pairs)
    ground_truth, field = inputs.ground_truth, inputs.field
    prediction = ground_truth if inputs.prediction is None else inputs.prediction
    one_field = LocalFile(field) if field is not None and is_file(field) else None
    if is_file(ground_truth) and is_file(prediction):
        if field is not None and not one_field:
            raise DataError(_shown(field), "expected a file, as the others are", "give one mask")
        truth = LocalFile(ground_truth)
        name = shown(split_extension(truth.name)[0])
        unknown = _with_nearest(select(inputs.images, {name})[1], (name,))
        return Pairing(inputs, (SampleFiles(name, (truth,), LocalFile(prediction), one_field),), unknown=unknown)
    of_truth = _named(ground_truth, patterns[0])
    of_prediction = of_truth._replace(notes=()) if inputs.prediction is None else _named(prediction, patterns[1])
    of_field = None if field is None or one_field else _named(field, patterns[2])
    truths, predictions = of_truth.numbers, of_prediction.numbers
    truth_notes, prediction_notes = of_truth.notes, of_prediction.notes
    listed = inputs.photographs if inputs.negatives else None
    photographs = None if listed is None else _named(listed, Pattern.parse("*", "photographs"))
    known = predictions.keys() | (photographs.numbers.keys() if photographs else set())
    blank = {
        name
        for name in known - truths.keys()
        if any(fnmatchcase(name, pattern) for pattern in inputs.negatives.split(","))
    }
    total, unknown = 0, tuple[str, ...]()
    if inputs.images:
        names = truths.keys() | predictions.keys() | blank
        chosen, unfit = select(inputs.images, names)
        total, unknown = len(truths.keys() | blank), _with_nearest(unfit, sorted(names))
        truths = {name: truths[name] for name in truths.keys() & chosen}
        predictions = {name: predictions[name] for name in predictions.keys() & chosen}
        blank &= chosen
    wanted = truths.keys() | blank
    common = sorted(wanted & predictions.keys())
    blank &= predictions.keys()
    files = PairedFiles(
        common,
        _Column(of_truth, common),
        None if inputs.prediction is None else _Column(of_prediction, common),
        _Column(of_field, common) if of_field else one_field,
        _sizes_of_blank(of_truth, photographs, common) if blank else None,
    )
    if blank:
        images, match = many(len(blank), "image"), verb(len(blank), "match")
        count = verb(len(blank), "count")
        truth_notes += (f"{images} without ground truth {match} {inputs.negatives!r} and {count} as negative",)
    elif inputs.negatives:
        prediction_notes += (f"no prediction without ground truth matches the negatives, {inputs.negatives!r}",)
    without_field = tuple(name for name in common if name not in of_field.numbers) if of_field else ()
    return Pairing(
        inputs,
        files,
        (*truth_notes, *prediction_notes, *(of_field.notes if of_field else ())),
        tuple(sorted(wanted - predictions.keys())),
        tuple(sorted(predictions.keys() - wanted)),
        without_field,
        tuple(sorted(of_field.numbers.keys() - set(common))) if of_field and without_field else (),
        unknown,
        total=total,
    )


def _sizes_of_blank(truths: _Named, photographs: _Named | None, images: Sequence[str]) -> _Column | Source | None:
    """Give files of the sizes of images without ground truth: their photographs, or a ground truth if all are alike.

    Photographs that were scaled apart from the ground truth do not tell.
    """
    both = next((name for name in truths.numbers if photographs and name in photographs.numbers), None)
    if photographs and (both is None or _shape(truths, both) == _shape(photographs, both)):
        return _Column(photographs, images)
    shapes: dict[tuple[int, int] | None, Source] = {}
    for name, (first, *_) in truths.numbers.items():
        shapes.setdefault(_shape(truths, name), truths.entries.source(first))
        if len(shapes) > 1 or None in shapes:
            return None
    return next(iter(shapes.values()), None)


def _shape(named: _Named, image: str) -> tuple[int, int] | None:
    """Give the size of the first file of an image, as far as its header shows it."""
    with suppress(DataError):  # which counting says
        return read_header(named.entries.source(named.numbers[image][0]), "ground truth").shape
    return None


def _from_list(inputs: Inputs, place: str) -> Pairing:
    found = read_list(place, inputs.column, images=inputs.images, allow_missing=inputs.allow_missing)
    total = len(found.names) if inputs.images else 0
    unknown = _with_nearest(found.unknown, found.names)
    return Pairing(inputs, found.files, found.notes, found.missing, unknown=unknown, total=total)


def _with_nearest(unknown: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    close = nearest(unknown, names)
    return tuple(f"{name} (nearest: {close[name]})" if name in close else name for name in unknown)


def _named(folder: str, pattern: Pattern) -> _Named:
    entries, notes = list_place(folder)
    found: dict[str, tuple[int, ...]] = {}
    tags: dict[int, str] = {}
    unfit = 0
    for k, (stem, suffix) in enumerate(zip(entries.stems, entries.suffixes, strict=True)):
        match = pattern.match(stem, suffix.lower())
        if match is None:
            unfit += 1
        else:
            name = shown(unicodedata.normalize("NFC", match[0]))
            found[name] = (*found.get(name, ()), k)
            if match[1]:
                tags[k] = match[1]
    if not found:
        example = shown(entries.stems[0])
        raise DataError(
            _shown(folder),
            f"none of {many(unfit, 'file')} matches the pattern {pattern.text!r} (the first is {example!r})",
            "in a pattern * is the image's name; the extension may be left out",
        )
    doubles = []
    for name in [name for name, numbers in found.items() if len(numbers) > 1]:
        found[name] = tuple(sorted(found[name], key=lambda k: natural(tags.get(k, ""))))
        counts = Counter(map(tags.get, found[name]))
        doubles += [entries.source(k) for k in found[name] if counts[tags.get(k)] > 1]
    if doubles:
        raise DataError(
            _shown(folder),
            f"{len(doubles)} files share their name with another:{listed([*map(shown, doubles)])}",
            "remove all but one, or say which to take with a pattern such as '*.png'",
        )
    if unfit:
        notes += (f"{_shown(folder)}: {many(unfit, 'file')} left out because they do not match {pattern.text!r}",)
    return _Named(entries, found, tags, notes)


def _unpaired(pairing: Pairing) -> DataError:
    inputs, total = pairing.inputs, len(pairing.files) + len(pairing.missing)
    folder, without_field = _shown(inputs.field), pairing.without_field
    close = _with_nearest(pairing.missing, pairing.extra)
    lacking = {
        unmatched(pairing.unknown): pairing.unknown,
        f"{of_all(len(close), total, pairing.counted, 'have')} no prediction": close,
        f"{many(len(pairing.extra), 'prediction')} {verb(len(pairing.extra), 'have')} no ground truth": pairing.extra,
        f"{many(len(without_field), 'image')} {verb(len(without_field), 'have')} no mask in {folder}": without_field,
    }
    where = f"{_shown(inputs.prediction)} against {_shown(inputs.ground_truth)}"
    if inputs.pairs or inputs.prediction is None:
        where = _shown(inputs.pairs or inputs.ground_truth)
    what = "".join(f"{said}:{listed(names)}" for said, names in lacking.items() if names)
    return DataError(where, what, pairing_hint(pairing))


def unmatched(unknown: Sequence[str]) -> str:
    """Say how many names and patterns match no image."""
    what = "name or pattern matches" if len(unknown) == 1 else "names or patterns match"
    return f"{len(unknown)} {what} no image"


def pattern_of_annotators(pairing: Pairing) -> str | None:
    """Find the pattern under which ground truths without prediction are several annotators of the images predicted."""
    predicted = (*pairing.extra, *(files.name for files in pairing.files))
    return annotator_pattern(pairing.missing, predicted) if pairing.inputs.gt_pattern == "*" else None


def pairing_hint(pairing: Pairing) -> str:
    """Say what makes the names pair: patterns where some do, else in general."""
    if pairing.unknown and not (pairing.missing or pairing.extra or pairing.without_field):
        return "name images without the extension of their files, or give a pattern such as 'c*' or a file of names"
    if pattern := pattern_of_annotators(pairing):
        return f"they look like several annotators of an image: {format_setting('gt_pattern', pattern)}"
    if not pairing.missing and not pairing.extra:
        patterns = matching_patterns(Names(pairing.without_field, ()), Names(pairing.other_fields, ()))
        fitting = [of_mask for of_image, of_mask in patterns if of_image == "*"]
        if len(fitting) == 1:
            return f"try {format_setting('field_pattern', pairing.inputs.field_pattern.replace('*', fitting[0]))}"
        return f"add the masks, or say which part of a mask's name is the image's: {format_setting('field_pattern')}"
    return _hint_on_names(pairing)


def _hint_on_names(pairing: Pairing) -> str:
    """Say what makes ground truth and predictions pair, or which of them to leave out."""
    paired = [files.name for files in pairing.files if files.ground_truths]
    names = Names(pairing.missing, paired), Names(pairing.extra, paired)
    if otherwise := numbered_otherwise(*names):
        return f"{otherwise}: rename the files of one side, or list which belong together: {format_setting('pairs')}"
    nearly_all = len(paired) >= _NEARLY_ALL * (len(pairing.missing) + len(pairing.extra))
    patterns = [_as_settings(pairing.inputs, found) for found in ([] if nearly_all else matching_patterns(*names))]
    named = ", or ".join(patterns)
    if patterns and (not paired or (pairing.missing and pairing.extra)):
        return f"try {named}" if len(patterns) == 1 else f"name the files that are meant: {named}"
    if not patterns and in_other_folders(*names):
        same = "names differ in their folders alone: put the files of both sides into the same folders"
        return "; ".join([f"{same}, or list which belong together: {format_setting('pairs')}", *_leaving_out(pairing)])
    general = "add or remove files so that names pair, or say which part of a file's name is the image's: "
    general += f"{format_setting('gt_pattern')} and {format_setting('pred_pattern')}"
    if nearly_all:
        return "; ".join([*_leaving_out(pairing), "or add or remove files so that all names pair"])
    return "; ".join(
        [f"if the files without a partner are those meant, {named}" if patterns else general, *_leaving_out(pairing)]
    )


def _leaving_out(pairing: Pairing) -> list[str]:
    """Say how to count the images that pair, where there are any."""
    if not pairing.files:
        return []
    leave_out = [leave_out_missing()] if pairing.missing else []
    if not pairing.extra:
        return leave_out
    others = f"{format_setting('images')} restricts the run to the images named, here those with a ground truth"
    normal = _pattern_of_extra(pairing)
    if normal and not pairing.missing and not pairing.inputs.negatives:
        counted = f"{format_setting('negatives', normal)} counts all their pixels as negative"
        if pairing.no_negatives:
            counted = "save ground truth of zeros for them"
        leave_out.append(f"if these images hold nothing to find, {counted}")
        others = f"{format_setting('images', (f'!{normal}',))} leaves them out"
    return [*leave_out, others]


def _pattern_of_extra(pairing: Pairing) -> str:
    """Write a pattern of folders that all predictions without ground truth have, and no others; empty if none does."""
    folders = {name.rpartition("/")[0] for name in pairing.extra}
    last = {folder.rpartition("/")[2] for folder in folders}
    pattern = f"{folders.pop()}/*" if len(folders) == 1 else f"*/{last.pop()}/*"
    fits = "," not in pattern and all(fnmatchcase(name, pattern) for name in pairing.extra)
    return shown(pattern) if fits and not any(fnmatchcase(name, pattern) for name in pairing.names) else ""


def _as_settings(inputs: Inputs, found: tuple[str, str]) -> str:
    """Write patterns that pair the names left by those given, put into these."""
    given = inputs.gt_pattern, inputs.pred_pattern
    wanted = (
        format_setting(f"{side}_pattern", shown(pattern.replace("*", part)))
        for side, pattern, part in zip(("gt", "pred"), given, found, strict=True)
        if part != "*"
    )
    return setting(" ", ", ").join(wanted)


def _shown(place: object) -> str:
    return shown(place)

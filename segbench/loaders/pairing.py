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
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import accumulate, chain, product
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, joined
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.sample import Reading
from segbench.core.settings import as_path
from segbench.loaders.file_list import Images, as_images, column_of, has_fields, leave_out_missing, read_list, select
from segbench.loaders.hints import (
    Names,
    PatternPair,
    annotator_pattern,
    base_name,
    differing_case,
    in_other_folders,
    matching_patterns,
    names_by_base,
    nearest,
    numbered_otherwise,
    own_folder,
)
from segbench.loaders.images import EXTENSIONS, read_header
from segbench.loaders.instance_sources import FORMATS, ImageSizes, holds_whole_set, list_instances, read_size
from segbench.loaders.listing import (
    Entries,
    FileColumn,
    Listing,
    NamedFiles,
    PairedFiles,
    SampleFiles,
    list_place,
    listed_once,
)
from segbench.loaders.source import OF_VOLUMES, LocalFile, Source, is_archive, method_name, shown, split_suffix

Place = str | PathLike[str] | None

_NO_SIZES = ImageSizes()
_BESIDE_LIST = frozenset({"pairs", "column", "images", "allow_missing"})


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
    sizes : str, optional
        A folder of photographs that have the sizes of images, or one size, ``"640x480"``, for files of instances that
        do not tell them.
    pairs : str, optional
        A file list, in place of all the above; with the columns of docs/inputs.md.
    column : str, optional
        Its column of predictions; None where annotators are compared with each other.
    images : tuple of str
        Names and shell patterns of the images that the run is restricted to; empty for all.
    allow_missing : bool
        Leave out images without a prediction instead of refusing them.
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
    sizes: str | None = None
    pairs: str | None = None
    column: str | None = None
    images: tuple[str, ...] = ()
    allow_missing: bool = False
    category: str = ""
    merged: tuple[Inputs, ...] = ()

    def check(self, reads: Reading) -> None:
        """Refuse places that have no meaning for what a protocol reads: an `ArgumentError` says which and why."""
        if reads.alone and not self.alone:
            raise ArgumentError(
                Message(
                    "needless-prediction",
                    "{name} are compared with each other; leave out the prediction",
                    name=reads.name,
                )
            )
        if self.alone and not reads.alone:
            raise ArgumentError(
                Message("missing-prediction", "no prediction is given; only Annotators(...) works without one")
            )
        if reads.without_field and self.has_fields():
            in_list = "take the column 'field' out of the list"
            fix = Message("fix", "leave out {given}", given=Setting("field")) if self.pairs is None else in_list
            raise ArgumentError(Message("needless-field", "{reason}: {fix}", reason=reads.without_field, fix=fix))
        if reads.without_negatives and self.negatives:
            raise ArgumentError(
                Message(
                    "needless-negatives",
                    "{given} has no meaning for {name}: an image without ground truth has no {lacking}",
                    given=Setting("negatives"),
                    name=reads.name,
                    lacking=reads.without_negatives,
                )
            )

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
            setting.name
            for setting in fields(self)
            if setting.name not in _BESIDE_LIST and getattr(self, setting.name) != setting.default
        )

    def absolute(self) -> Self:
        """Return the same inputs with absolute paths."""
        return self.with_places(lambda path: str(Path(path).absolute()))

    def with_places(self, change: Callable[[str], str]) -> Self:
        """Return the inputs with each path changed."""
        paths = {key: getattr(self, key) for key in ("ground_truth", "prediction", "field", "photographs", "pairs")}
        paths["sizes"] = self.sizes if self.sizes and read_size(self.sizes) is None else None
        changed: dict[str, Any] = {key: change(path) for key, path in paths.items() if path}
        return replace(self, **changed, merged=tuple(part.with_places(change) for part in self.merged))

    def to_json(self) -> str:
        """Write them as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        content = json.loads(text)
        parts = [content, *content["merged"]]
        whole, *others = (cls(**part | {"images": tuple(part["images"]), "merged": ()}) for part in parts)
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
    sizes: Place = None,
    **options: Any,  # noqa: ANN401  patterns and flags, as fields of Inputs
) -> Inputs:
    """Say where the images of a run are, by folders with patterns or by a file list and the column of a method."""
    arguments = {"ground_truth": ground_truth, "prediction": prediction, "field": field, "sizes": sizes}
    paths: dict[str, Any] = {
        name: as_path(argument, name) for name, argument in arguments.items() if argument is not None
    }
    inputs = Inputs(**paths, images=() if images is None else as_images(images), **options)
    if pairs is None:
        if ground_truth is None:
            raise ArgumentError(
                Message("missing-inputs", "give folders of ground truth and predictions, or a list of pairs")
            )
        return inputs
    listed = as_path(pairs, "pairs")
    beside = inputs.beside_list()
    if beside:
        raise ArgumentError(
            Message("exclusive-settings", "a list of pairs holds all files: leave out {needless}", needless=beside)
        )
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
                Message(
                    "wrong-pattern",
                    "{given} has {count} *, expected one, in place of the image's name",
                    given=Setting(field, text),
                    count=text.count("*"),
                )
            )
        if text.count("#") > tagged:
            at_most = "at most one, in place of an annotator's or a scale's tag"
            raise ArgumentError(
                Message(
                    "wrong-pattern",
                    "{given} has {count} #, expected {expected}",
                    given=Setting(field, text),
                    count=text.count("#"),
                    expected=at_most if tagged else "none: there is one mask per image",
                )
            )
        endings = [ending for ending in EXTENSIONS if text.lower().endswith(ending)]
        extension = max(endings, key=len, default="")
        body = text[: len(text) - len(extension)].replace(os.sep, "/").removeprefix("./")
        if "*" not in body:
            raise ArgumentError(
                Message(
                    "wrong-pattern", "{given} has no * before its extension, expected one", given=Setting(field, text)
                )
            )
        groups = {"*": "(?P<name>.+)", "#": "(?P<tag>[^/]+?)"}
        regex = "".join(groups.get(c) or re.escape(c) for c in body)
        return cls(text, re.compile(regex, re.DOTALL), extension)

    def match(self, stem: str, extension: str) -> tuple[str, str] | None:
        """Return an image's name and tag, which may be empty, or None where the file does not fit."""
        if self.extension and extension != self.extension:
            return None
        matched = self.regex.fullmatch(stem)
        return None if matched is None else (matched["name"], matched.groupdict().get("tag", ""))


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a sort key under which numbers count as numbers."""
    parts = filter(None, _DIGITS.split(text))
    return tuple((False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts)


@dataclass(frozen=True)
class Pairing:
    """What the folders of a run have in common and what not; names are sorted."""

    inputs: Inputs
    files: Sequence[SampleFiles] = ()
    notes: tuple[Note, ...] = ()  # files left out, to be shown to the user
    missing: tuple[str, ...] = ()  # ground truths without a prediction
    extra: tuple[str, ...] = ()  # predictions without a ground truth
    without_field: tuple[str, ...] = ()
    other_fields: tuple[str, ...] = ()  # masks of other names than the images, where some images have none
    unknown: tuple[str, ...] = ()  # chosen names and patterns that fit no image, with the nearest name
    left_out: tuple[str, ...] = ()  # ground truths without a prediction, where these are allowed
    notes_on_left_out: tuple[Note, ...] = ()  # which these are
    total: int = 0  # images of the set, if the run is restricted to a part of them
    problem: DataError | None = None  # why nothing can be paired
    by_base_name: bool = False  # whether files pair without their folders, which one side alone has
    no_negatives: bool = False  # whether predictions without ground truth cannot be counted as negative

    def signature_fields(self) -> dict[str, str]:
        """Say which part of the images is counted, and whether of their pixels; empty where all are."""
        with_field = self.inputs.field is not None
        if self.inputs.pairs:
            with_field = any(image.field for image in self.files)
        signature = {"field": "yes"} if with_field else {}
        if self.total or self.left_out:
            chosen = len(self.files) + len(self.left_out)
            if self.total > chosen:
                signature["subset"] = f"{chosen} of {self.total}"
            if self.left_out:
                signature["missing"] = f"{len(self.left_out)} of {chosen}"
        return signature

    @property
    def counted(self) -> str:
        """What messages call the images of which some lack a prediction."""
        return "image" if self.inputs.negatives else "ground truth"

    @property
    def names(self) -> Sequence[str]:
        """The names of the images."""
        return self.files.names if isinstance(self.files, PairedFiles) else [files.name for files in self.files]

    @cached_property
    def names_of_sides(self) -> tuple[Names, Names]:
        """The names of ground truth and of predictions."""
        paired = [files.name for files in self.files if files.ground_truths]
        return Names(self.missing, paired), Names(self.extra, paired)

    @property
    def nearly_all(self) -> bool:
        """Whether so many names pair that patterns are right."""
        return len(self.names_of_sides[0].paired) >= _NEARLY_ALL * (len(self.missing) + len(self.extra))

    @cached_property
    def advised(self) -> tuple[AdvisedPatterns, ...]:
        """Patterns under which more names pair, each tried on the files; those of all files alone if there are any."""
        return () if self.nearly_all else _advised_patterns(self)

    @property
    def incomplete(self) -> bool:
        """Whether some image lacks a partner, or nothing can be paired."""
        return bool(self.missing or self.extra or self.without_field or self.unknown or self.problem)

    def require_complete(self) -> Self:
        """Insist that every image has a partner; a `DataError` names those that have none."""
        if self.missing or self.extra or self.without_field or self.unknown:
            methods = methods_in_sub_folders(self)
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
    message = Message(
        "predictions-missing",
        "{images} of {total:many image} {images:verb have} no prediction and {images:verb are} left out: {names}",
        images=len(left_out),
        total=chosen,
        names=first_names(left_out, _NAMED),
    )
    return replace(pairing, missing=(), left_out=left_out, notes_on_left_out=(Note(message),))


_NAMES = ("missing", "extra", "without_field", "other_fields", "left_out")


def _of_category(inputs: Inputs) -> Pairing:
    """Pair the images of a category, whose names begin with it."""
    start = f"{inputs.category}/"
    chosen = tuple(name.removeprefix(start) for name in inputs.images if name.startswith(start))
    if inputs.images and not chosen:
        return Pairing(inputs)
    pairing = replace(_paired(replace(inputs, images=chosen)), inputs=inputs)
    names: dict[str, Any] = {key: tuple(start + name for name in getattr(pairing, key)) for key in _NAMES}
    files = tuple(image._replace(name=start + image.name) for image in pairing.files)
    notes = tuple(note.said_of(inputs.category) for note in pairing.notes)
    return replace(pairing, files=files, notes=notes, **names)


def _joined(inputs: Inputs, parts: Sequence[Pairing]) -> Pairing:
    """Put the images of several categories together."""
    names: dict[str, Any] = {
        key: tuple(chain.from_iterable(getattr(part, key) for part in parts))
        for key in (*_NAMES, "files", "notes", "notes_on_left_out", "unknown")
    }
    problem = next((part.problem for part in parts if part.problem), None)
    return Pairing(inputs, **names, total=sum(part.total for part in parts), problem=problem)


def methods_below(pairing: Pairing, find: Callable[[Inputs], Pairing]) -> dict[str, Pairing]:
    """Pair the sub-folders of a prediction folder where the folder itself does not pair with the ground truth.

    They are methods by name, at least two; empty where the folder pairs or is not a folder on disk.
    """
    if pairing.files:
        return {}
    methods: dict[str, Pairing] = {}
    for name, path in _folders_below(pairing.inputs):
        with suppress(DataError):
            methods[name] = find(replace(pairing.inputs, prediction=path))
    methods = {name: of_method for name, of_method in methods.items() if of_method.files and not _joins(of_method)}
    return methods if len(methods) > 1 else {}


def _joins(of_folder: Pairing) -> bool:
    """Return whether all ground truths are in a folder that predictions lack, whose sub-folder may be another one."""
    if of_folder.files and not of_folder.by_base_name:
        return False
    truths, predictions = of_folder.names_of_sides
    own = own_folder(truths.all)
    return bool(own) and (of_folder.by_base_name or own_folder(predictions.all) != own)


def _folders_below(inputs: Inputs) -> list[tuple[str, str]]:
    """List the names and paths of at least two sub-folders of the predictions; empty if these are no folder on disk."""
    if inputs.prediction is None or not inputs.ground_truth:
        return []
    try:
        with os.scandir(inputs.prediction) as entries:
            below = sorted((shown(child.name), child.path) for child in entries if child.is_dir())
    except (OSError, ValueError):
        return []
    return below if len(below) > 1 else []


def _patterns_of_methods(pairing: Pairing) -> dict[str, Message]:
    """Find the patterns, as settings, under which all files of each sub-folder pair; at least two, by name."""
    patterns: dict[str, Message] = {}
    for name, path in _folders_below(pairing.inputs):
        with suppress(DataError):
            of_folder = pair(replace(pairing.inputs, prediction=path))
            if len(of_folder.missing) != len(of_folder.extra) or _joins(of_folder):
                continue
            complete = [advised.settings for advised in of_folder.advised if advised.is_right]
            if complete or not of_folder.missing:
                patterns[name] = complete[0] if complete else NOTHING
    return patterns if len(patterns) > 1 else {}


def methods_in_sub_folders(pairing: Pairing) -> dict[str, Message]:
    """Find the methods whose predictions lie in sub-folders, with the patterns that each needs; at least two."""
    if pairing.files or not pairing.extra:
        return {}
    with listed_once():
        return dict.fromkeys(methods_below(pairing, pair), NOTHING) or _patterns_of_methods(pairing)


def part_below(inputs: Inputs, folders: Collection[str]) -> str | None:
    """Find the sub-folder of predictions that has the name of a folder above the ground truth, such as a category."""
    truth, prediction = (Path(os.path.abspath(path)) for path in (inputs.ground_truth, str(inputs.prediction)))  # noqa: PTH100  of '..', too
    above = (folder for folder in (truth, *truth.parents) if folder not in (prediction, *prediction.parents))
    return next((folder.name for folder in above if folder.name in folders), None)


def several_methods(inputs: Inputs, methods: Mapping[str, Message]) -> DataError:
    """Refuse a folder with predictions of several methods, or of several parts of a data set, as those of one.

    `methods` has the patterns that each needs, as settings.
    """
    folder, first = _shown(inputs.prediction), next(iter(methods))
    patterns = next(iter(methods.values()))
    same = part_below(inputs, methods)
    if same is None:
        problem = Message(
            "several-methods",
            "holds the predictions of {count} methods in sub-folders: {folders}",
            count=len(methods),
            folders=tuple(methods),
        )
        if len({*methods.values()}) > 1:
            by_method = [joined([f"{folder}/{name}", pattern], " ") for name, pattern in methods.items()]
            return DataError(
                folder, problem, Message("fix", "evaluate each with its own patterns: {methods:; }", methods=by_method)
            )
        example = f"{folder}/{first}"
        if not patterns:
            once = Either("call evaluate once per sub-folder", "give each sub-folder as a method")
            return DataError(folder, problem, Message("fix", "{once}, as in {example}", once=once, example=example))
        in_python = Message(
            "fix",
            "call evaluate once per sub-folder, as in {example}, with {patterns}",
            example=example,
            patterns=patterns,
        )
        arguments = _as_arguments(inputs, methods)
        typed = Message("fix", "give {arguments} {patterns}", arguments=arguments, patterns=patterns)
        return DataError(folder, problem, Message("fix", "{each}", each=Either(in_python, typed)))
    problem = Message(
        "several-parts",
        "holds {folders} in sub-folders, and the ground truth is that of {part}",
        folders=tuple(methods),
        part=same,
    )
    own = shlex.quote(f"{method_name(str(inputs.prediction))}={folder}/{same}")
    hint = Message(
        "fix",
        "give each sub-folder if these are methods, otherwise its predictions alone: {alone}",
        alone=Either(Setting("prediction", f"{folder}/{same}"), joined([own, methods[same]], " ")),
    )
    return DataError(folder, problem, hint)


def _as_arguments(inputs: Inputs, methods: Collection[str]) -> str:
    """Write sub-folders of predictions as a shell takes them: a glob if there is nothing else."""
    folder = str(inputs.prediction)
    if len(os.listdir(folder)) == len(methods):  # noqa: PTH208  a str is enough
        return f"{shlex.quote(_shown(folder))}/*"
    return " ".join(shlex.quote(f"{_shown(folder)}/{name}") for name in methods)


def is_file(path: str) -> bool:
    """Whether a place is one image or array, not a folder or what is read as one."""
    is_single_file = os.path.exists(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112  a str, which may hold a null
    return is_single_file and not is_archive(path) and not holds_whole_set(path)


def _listed(path: str, truth: NamedFiles | None, sizes: ImageSizes) -> Listing:
    """List a place; files of instances take what they do not tell of images from the ground truth, and from `sizes`."""
    try:
        listing = list_place(path)
    except DataError:
        instances = list_instances(path, truth, sizes)
        if instances is None:
            raise
        return instances
    beside = None if listing.left_out.isdisjoint(FORMATS) else list_instances(path, truth, sizes)
    return beside or listing


def _sizes(inputs: Inputs) -> ImageSizes:
    """Return the sizes of images that were given: one for all, or photographs."""
    size = read_size(inputs.sizes or "")
    return ImageSizes(size, (inputs.sizes or inputs.photographs) if size is None else None)


def _two_files(inputs: Inputs, prediction: str, field: LocalFile | None, sizes: ImageSizes) -> Pairing:
    """Pair two files, whatever their names."""
    name = shown(split_suffix(LocalFile(inputs.ground_truth).name)[0])
    unknown = _with_nearest(select(inputs.images, {name})[1], (name,))
    truth = _single(inputs.ground_truth, None, sizes)
    only = Entries(lambda _: truth)
    only.add(name)
    predicted_name = split_suffix(LocalFile(prediction).name)[0]
    predicted = _single(prediction, NamedFiles(only, {predicted_name: (0,)}, {}), sizes)
    return Pairing(inputs, (SampleFiles(name, (truth,), predicted, field),), unknown=unknown)


def _single(path: str, truth: NamedFiles | None, sizes: ImageSizes) -> Source:
    """Return the source of one image; of a file of instances that which reads it."""
    listing = list_instances(path, truth, sizes)
    return LocalFile(path) if listing is None else listing.entries.source(0)


def _paired(inputs: Inputs) -> Pairing:
    patterns = (
        Pattern.parse(inputs.gt_pattern, "gt_pattern", tagged=True),
        Pattern.parse(inputs.pred_pattern, "pred_pattern", tagged=True),
        Pattern.parse(inputs.field_pattern, "field_pattern"),
    )
    if inputs.pairs is not None:
        return _from_list(inputs, inputs.pairs)
    ground_truth, field, sizes = inputs.ground_truth, inputs.field, _sizes(inputs)
    prediction = ground_truth if inputs.prediction is None else inputs.prediction
    one_field = LocalFile(field) if field is not None and is_file(field) else None
    if is_file(ground_truth) and is_file(prediction):
        if field is not None and not one_field:
            problem = Message("not-a-file", "expected a file, as the others are")
            raise DataError(_shown(field), problem, "give one mask")
        return _two_files(inputs, prediction, one_field, sizes)
    of_truth = _named(ground_truth, patterns[0], sizes=sizes)
    of_prediction = of_truth._replace(notes=())
    if inputs.prediction is not None:
        of_prediction = _named(prediction, patterns[1], _endings_of_volumes(of_truth), truth=of_truth, sizes=sizes)
    of_field = None if field is None or one_field else _named(field, patterns[2])
    truths, predictions = of_truth.numbers, of_prediction.numbers
    truth_notes, prediction_notes = of_truth.notes, of_prediction.notes
    named_by_base = _named_by_base(inputs, truths.keys(), predictions.keys())
    if named_by_base:
        predicted_name, truth_name = min(named_by_base.items())
        message = Message(
            "paired-without-folders",
            "files pair without their folders, which only one side has: {truth} and {prediction}",
            truth=truth_name,
            prediction=predicted_name,
        )
        prediction_notes += (Note(message),)
        predictions = {named_by_base.get(name, name): numbers for name, numbers in predictions.items()}
        of_prediction = of_prediction._replace(numbers=predictions)
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
    true_names = truths.keys() | blank
    common = sorted(true_names & predictions.keys())
    blank &= predictions.keys()
    files = PairedFiles(
        common,
        FileColumn(of_truth, common),
        None if inputs.prediction is None else FileColumn(of_prediction, common),
        FileColumn(of_field, common) if of_field else one_field,
        _sizes_of_blank(of_truth, photographs, common) if blank else None,
    )
    if blank:
        message = Message(
            "negatives",
            "{images:many image} without ground truth {images:verb match} {pattern!r} and {images:verb count} as "
            "negative",
            images=len(blank),
            pattern=inputs.negatives,
        )
        truth_notes += (Note(message),)
    elif inputs.negatives:
        message = Message(
            "no-negatives",
            "no prediction without ground truth matches the negatives, {pattern!r}",
            pattern=inputs.negatives,
        )
        prediction_notes += (Note(message),)
    without_field = tuple(name for name in common if name not in of_field.numbers) if of_field else ()
    return Pairing(
        inputs,
        files,
        (*truth_notes, *prediction_notes, *(of_field.notes if of_field else ())),
        tuple(sorted(true_names - predictions.keys())),
        tuple(sorted(predictions.keys() - true_names)),
        without_field,
        tuple(sorted(of_field.numbers.keys() - set(common))) if of_field and without_field else (),
        unknown,
        total=total,
        by_base_name=bool(named_by_base),
    )


def _named_by_base(inputs: Inputs, truths: AbstractSet[str], predictions: AbstractSet[str]) -> dict[str, str]:
    """Map predictions to the ground truth of their base name, if that alone pairs all images of the run."""
    if inputs.prediction is None or inputs.negatives or not predictions.isdisjoint(truths):
        return {}
    by_base = names_by_base(truths, predictions)
    chosen = select(inputs.images, truths)[0] if by_base and inputs.images else truths
    others = len(predictions) - len(by_base)
    complete = chosen and {*by_base.values()}.issuperset(chosen) and (inputs.images or not others)
    return by_base if complete else {}


def _sizes_of_blank(
    truths: NamedFiles, photographs: NamedFiles | None, images: Sequence[str]
) -> FileColumn | Source | None:
    """Return files of the sizes of images without ground truth: their photographs, or a ground truth if all are alike.

    Photographs that were scaled apart from the ground truth do not tell.
    """
    both = next((name for name in truths.numbers if photographs and name in photographs.numbers), None)
    if photographs and (both is None or _shape(truths, both) == _shape(photographs, both)):
        return FileColumn(photographs, images)
    shapes: dict[tuple[int, int] | None, Source] = {}
    for name, (first, *_) in truths.numbers.items():
        shapes.setdefault(_shape(truths, name), truths.entries.source(first))
        if len(shapes) > 1 or None in shapes:
            return None
    return next(iter(shapes.values()), None)


def _shape(named: NamedFiles, image: str) -> tuple[int, int] | None:
    """Return the size of the first file of an image, as far as its header shows it."""
    with suppress(DataError):  # which counting says
        return read_header(named.entries.source(named.numbers[image][0]), "ground truth").shape
    return None


def _from_list(inputs: Inputs, list_path: str) -> Pairing:
    file_list = read_list(list_path, inputs.column, images=inputs.images, allow_missing=inputs.allow_missing)
    total = len(file_list.names) if inputs.images else 0
    unknown = _with_nearest(file_list.unknown, file_list.names)
    return Pairing(inputs, file_list.files, file_list.notes, file_list.missing, unknown=unknown, total=total)


def _with_nearest(unknown: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    close = nearest(unknown, names)
    return tuple(f"{name} (nearest: {close[name]})" if name in close else name for name in unknown)


def _endings_of_volumes(named: NamedFiles) -> frozenset[str]:
    """Return the extensions of files of which a header says that they are volumes."""
    return OF_VOLUMES & {named.entries.suffixes[k].lower() for numbers in named.numbers.values() for k in numbers}


def _with_endings(
    numbers: tuple[int, ...], entries: Entries, tags: Mapping[int, str], endings: frozenset[str]
) -> tuple[int, ...]:
    """Return of the files of an image those with these extensions, if there is one for each tag; else all."""
    kept = tuple(k for k in numbers if entries.suffixes[k].lower() in endings)
    one_each = Counter(map(tags.get, kept)) == Counter(set(map(tags.get, numbers)))
    return kept if one_each else numbers


def _one_file_each(
    numbers_by_name: dict[str, tuple[int, ...]], entries: Entries, tags: Mapping[int, str], endings: frozenset[str]
) -> tuple[Counter[str], list[Source]]:
    """Sort the files of each image by their tags; count files left out beside others, and list equal names."""
    beside: Counter[str] = Counter()
    doubles: list[Source] = []
    for name in [name for name, numbers in numbers_by_name.items() if len(numbers) > 1]:
        numbers = numbers_by_name[name]
        kept = _with_endings(numbers, entries, tags, endings)
        beside.update(entries.suffixes[k].lower() for k in set(numbers).difference(kept))
        numbers_by_name[name] = tuple(sorted(kept, key=lambda k: natural(tags.get(k, ""))))
        counts = Counter(map(tags.get, numbers_by_name[name]))
        doubles += [entries.source(k) for k in numbers_by_name[name] if counts[tags.get(k)] > 1]
    return beside, doubles


def _named(
    folder: str,
    pattern: Pattern,
    endings: frozenset[str] = frozenset(),
    *,
    truth: NamedFiles | None = None,
    sizes: ImageSizes = _NO_SIZES,
) -> NamedFiles:
    """Find the files of images; of several with one name those with these extensions, as nnU-Net writes NPZ beside."""
    entries, notes, _ = _listed(folder, truth, sizes)
    numbers_by_name: dict[str, tuple[int, ...]] = {}
    tags: dict[int, str] = {}
    unfit = 0
    for k, (stem, suffix) in enumerate(zip(entries.stems, entries.suffixes, strict=True)):
        match = pattern.match(stem, suffix.lower())
        if match is None:
            unfit += 1
        else:
            name = match[0]
            if not (name.isascii() and name.isprintable()):
                name = shown(unicodedata.normalize("NFC", name))
            numbers_by_name[name] = (*numbers_by_name.get(name, ()), k)
            if match[1]:
                tags[k] = match[1]
    if not numbers_by_name:
        example = shown(entries.stems[0])
        hint: Message | str = "in a pattern * is the image's name; the extension may be left out"
        spelled = _with_last_extension(folder, pattern) if pattern.extension else []
        if spelled:
            example += shown(entries.suffixes[0])
            hint = Message(
                "fix",
                "names end in two extensions, and a pattern with one of them means the last: write {pattern!r}",
                pattern=spelled[0],
            )
        problem = Message(
            "unfit-pattern",
            "none of {files:many file} matches the pattern {pattern!r} (the first is {first!r})",
            files=unfit,
            pattern=pattern.text,
            first=example,
        )
        raise DataError(_shown(folder), problem, hint)
    beside, doubles = _one_file_each(numbers_by_name, entries, tags, endings)
    if doubles:
        problem = Message(
            "repeated-names",
            "{count} files share their name with another:\n  {problems:\n  }\n",
            count=len(doubles),
            problems=[*map(shown, doubles)],
        )
        raise DataError(
            _shown(folder), problem, "remove all but one, or say which to take with a pattern such as '*.png'"
        )
    if beside:
        message = Message(
            "files-beside-volumes",
            "{place}: {files:many file} left out beside volumes of the same names: {endings}",
            place=_shown(folder),
            files=beside.total(),
            endings=[f"{ending} ({count})" for ending, count in sorted(beside.items())],
        )
        notes += (Note(message),)
    if unfit:
        message = Message(
            "files-unmatched",
            "{place}: {files:many file} left out because they do not match {pattern!r}",
            place=_shown(folder),
            files=unfit,
            pattern=pattern.text,
        )
        notes += (Note(message),)
    return NamedFiles(entries, numbers_by_name, tags, notes)


def _unpaired(pairing: Pairing) -> DataError:
    inputs, total = pairing.inputs, len(pairing.files) + len(pairing.missing)
    folder, without_field = _shown(inputs.field), pairing.without_field
    close = _with_nearest(pairing.missing, pairing.extra)
    lacking = [
        (pairing.unknown, unmatched(pairing.unknown)),
        (
            close,
            Message(
                "no-prediction",
                "{lacking} no prediction",
                lacking=of_all(len(close), total, pairing.counted, "have"),
                count=len(close),
                total=total,
            ),
        ),
        (
            pairing.extra,
            Message(
                "no-ground-truth",
                "{count:many prediction} {count:verb have} no ground truth",
                count=len(pairing.extra),
            ),
        ),
        (
            without_field,
            Message(
                "no-mask",
                "{count:many image} {count:verb have} no mask in {folder}",
                count=len(without_field),
                folder=folder,
            ),
        ),
    ]
    where = f"{_shown(inputs.prediction)} against {_shown(inputs.ground_truth)}"
    if inputs.pairs or inputs.prediction is None:
        where = _shown(inputs.pairs or inputs.ground_truth)
    problem = Message(
        "unpaired",
        "{lists:\n}\n",
        lists=[
            Message("list", "{said}:\n  {names:\n  }", said=message, names=names) for names, message in lacking if names
        ],
        unknown=pairing.unknown,
        missing=pairing.missing,
        extra=pairing.extra,
        without_field=without_field,
    )
    return DataError(where, problem, pairing_hint(pairing))


def unmatched(unknown: Sequence[str]) -> Message:
    """Say how many names and patterns match no image."""
    if len(unknown) == 1:
        return Message("unknown-images", "1 name or pattern matches no image", count=1)
    return Message("unknown-images", "{count} names or patterns match no image", count=len(unknown))


class AdvisedPatterns(NamedTuple):
    """Patterns that were tried on the files."""

    patterns: PatternPair
    settings: Message
    pairs_all: bool  # whether every file of both sides has a partner under them

    @property
    def is_right(self) -> bool:
        """Whether they pair everything, and no folder with another one."""
        return self.pairs_all and not self.patterns.joined_folders

    @property
    def said(self) -> Message:
        """The settings, with the condition under which they are right."""
        if self.patterns.joined_folders is None:
            return self.settings
        truth, prediction = map(shown, self.patterns.joined_folders)
        return Message(
            "fix",
            "{settings}, if {prediction} holds the predictions of {truth}",
            settings=self.settings,
            prediction=prediction,
            truth=truth,
        )


def _advised_patterns(pairing: Pairing) -> tuple[AdvisedPatterns, ...]:
    """Find patterns by names, also by names without folders, and try them on the files."""
    if pairing.inputs.pairs or pairing.inputs.prediction is None:
        return ()
    truths, predictions = pairing.names_of_sides
    with listed_once():
        advised = [*filter(None, (_tried(pairing, patterns) for patterns in matching_patterns(truths, predictions)))]
        if not pairing.files and not any(tried.pairs_all for tried in advised):
            bases = [Names([*map(base_name, of_side.alone)], ()) for of_side in (truths, predictions)]
            by_base = filter(None, (_tried(pairing, patterns) for patterns in matching_patterns(*bases)))
            advised = [*(tried for tried in by_base if tried.pairs_all), *advised]
    return tuple(tried for tried in advised if tried.is_right) or tuple(advised)


def _tried(pairing: Pairing, parts: PatternPair) -> AdvisedPatterns | None:
    """Put patterns into those given and pair by them; None if nothing pairs, or files end in several extensions."""
    inputs = pairing.inputs
    gt_patterns = _spellings(inputs.ground_truth, inputs.gt_pattern, parts.gt)
    pred_patterns = _spellings(str(inputs.prediction), inputs.pred_pattern, parts.pred)
    trials = [_trial(pairing, PatternPair(gt, pred)) for gt, pred in product(gt_patterns, pred_patterns)]
    tried = [advised for advised in trials if advised]
    return next((advised for advised in tried if advised.pairs_all or len(tried) == 1), None)


def _trial(pairing: Pairing, patterns: PatternPair) -> AdvisedPatterns | None:
    """Pair by patterns; None if nothing pairs."""
    inputs = pairing.inputs
    changed: dict[str, Any] = {"gt_pattern": patterns.gt, "pred_pattern": patterns.pred, "allow_missing": False}
    others = tuple(replace(other, **changed) for other in inputs.merged)
    try:
        trial = pair(replace(inputs, **changed, merged=others))
    except (ArgumentError, DataError):
        return None
    if not trial.files:
        return None
    pairs_all = {len(trial.files)} == {len(of_side.all) for of_side in pairing.names_of_sides}
    return AdvisedPatterns(patterns, _as_settings(inputs, patterns), pairs_all)


def _spellings(folder: str, pattern_text: str, part: str) -> list[str]:
    """Put a part of a pattern into the one given, with the extension of files where it would be taken for one."""
    try:
        pattern = Pattern.parse(pattern_text.replace("*", part), "pattern", tagged=True)
    except ArgumentError:  # names that hold a *
        return []
    if not pattern.extension or Pattern.parse(pattern_text, "pattern", tagged=True).extension:
        return [pattern.text]
    return _with_last_extension(folder, pattern)


def _with_last_extension(folder: str, pattern: Pattern) -> list[str]:
    """Spell a pattern that ends like an extension, ``*.jpg`` for ``a.jpg.png``, with the extensions of such files."""
    entries = list_place(folder).entries
    extensions = [suffix.lower() for suffix in entries.suffixes]
    spellings = [Pattern.parse(pattern.text + last, "pattern", tagged=True) for last in sorted({*extensions})]
    return [spelled.text for spelled in spellings if any(map(spelled.match, entries.stems, extensions))]


def pattern_of_annotators(pairing: Pairing) -> str | None:
    """Find the pattern under which ground truths without prediction are several annotators of the images predicted."""
    if not pairing.missing or pairing.inputs.gt_pattern != "*":
        return None
    if any(advised.is_right for advised in pairing.advised):
        return None
    return annotator_pattern(pairing.missing, (*pairing.extra, *(files.name for files in pairing.files)))


def condition_of_annotators(pairing: Pairing, pattern: str) -> str:
    """Say when folders are those of annotators, and not of sequences or categories; empty for other patterns."""
    if not pattern.startswith("#/"):
        return ""
    folders = sorted({name.partition("/")[0] for name in pairing.missing})
    return f"if {first_names(folders, _NAMED)} are annotators of the same images"


def pairing_hint(pairing: Pairing) -> Message:
    """Say what makes the names pair: patterns where some do, else in general."""
    if pairing.unknown and not (pairing.missing or pairing.extra or pairing.without_field):
        return Message("fix", "name images, or folders of them, or give a pattern such as 'c*' or a file of names")
    if pattern := pattern_of_annotators(pairing):
        advice = Setting("gt_pattern", pattern)
        condition = condition_of_annotators(pairing, pattern)
        if not condition:
            return Message("fix", "they look like several annotators of an image: {pattern}", pattern=advice)
        otherwise = "otherwise name the files that are meant: " + _named_patterns(pairing) if pairing.advised else ""
        return joined([Message("fix", "{condition}: {pattern}", condition=condition, pattern=advice), otherwise])
    if pairing.missing or pairing.extra:
        return _hint_on_names(pairing)
    inputs = pairing.inputs
    patterns = matching_patterns(Names(pairing.without_field, ()), Names(pairing.other_fields, ()))
    of_masks = [
        spelled
        for fitting in patterns
        if fitting.gt == "*"
        for spelled in _spellings(str(inputs.field), inputs.field_pattern, fitting.pred)
    ]
    if len(of_masks) == 1:
        return Message("fix", "try {pattern}", pattern=Setting("field_pattern", shown(of_masks[0])))
    return Message(
        "fix",
        "add the masks, or say which part of a mask's name is the image's: {pattern}",
        pattern=Setting("field_pattern"),
    )


def _named_patterns(pairing: Pairing) -> Message:
    """Write the patterns that were tried."""
    return Message("alternatives", "{patterns:, or }", patterns=[tried.said for tried in pairing.advised])


def _hint_on_names(pairing: Pairing) -> Message:
    """Say what makes ground truth and predictions pair, or which of them to leave out."""
    names, advised = pairing.names_of_sides, pairing.advised
    paired = names[0].paired
    if right := next((tried for tried in advised if tried.is_right), None):
        return "try " + right.said
    by_list = Message("fix", "list which belong together: {pairs}", pairs=Setting("pairs"))
    if otherwise := numbered_otherwise(*names) or differing_case(*names):
        return Message(
            "fix", "{otherwise}: rename the files of one side, or {by_list}", otherwise=otherwise, by_list=by_list
        )
    patterns = _named_patterns(pairing)
    if advised and (not paired or (pairing.missing and pairing.extra)):
        return "try " + patterns if len(advised) == 1 else "name the files that are meant: " + patterns
    if not advised and in_other_folders(*names):
        same = Message(
            "other-folders",
            "names differ in their folders alone: put the files of both sides into the same folders, or {by_list}",
            by_list=by_list,
        )
        return joined([same, *_leaving_out(pairing)])
    if pairing.nearly_all:
        return joined([*_leaving_out(pairing), "or add or remove files so that all names pair"])
    general = Message(
        "fix",
        "add or remove files so that names pair, or say which part of a file's name is the image's: "
        "{gt_pattern} and {pred_pattern}, or {by_list}",
        gt_pattern=Setting("gt_pattern"),
        pred_pattern=Setting("pred_pattern"),
        by_list=by_list,
    )
    if_meant = "if the files without a partner are those meant, " + patterns
    return joined([if_meant if advised else general, *_leaving_out(pairing)])


def _leaving_out(pairing: Pairing) -> list[Message]:
    """Say how to count the images that pair, where there are any."""
    if not pairing.files:
        return []
    leave_out = [leave_out_missing()] if pairing.missing else []
    if not pairing.extra:
        return leave_out
    others = Message(
        "fix",
        "{images} restricts the run to the images named, here those with a ground truth",
        images=Setting("images"),
    )
    normal = _pattern_of_extra(pairing)
    if normal and not pairing.missing and not pairing.inputs.negatives:
        negatives = Setting("negatives", normal)
        counted = Message("fix", "{negatives} counts all their pixels as negative", negatives=negatives)
        if pairing.no_negatives:
            counted = Message("fix", "save ground truth of zeros for them")
        leave_out.append("if these images hold nothing to find, " + counted)
        others = Message("fix", "{images} leaves them out", images=Setting("images", (f"!{normal}",)))
    return [*leave_out, others]


def _pattern_of_extra(pairing: Pairing) -> str:
    """Write a pattern of folders that all predictions without ground truth have, and no others; empty if none does."""
    folders = {name.rpartition("/")[0] for name in pairing.extra}
    last = {folder.rpartition("/")[2] for folder in folders}
    pattern = f"{folders.pop()}/*" if len(folders) == 1 else f"*/{last.pop()}/*"
    fits = "," not in pattern and all(fnmatchcase(name, pattern) for name in pairing.extra)
    return shown(pattern) if fits and not any(fnmatchcase(name, pattern) for name in pairing.names) else ""


def _as_settings(inputs: Inputs, patterns: PatternPair) -> Message:
    """Write the patterns that are not those given."""
    gt = Setting("gt_pattern", shown(patterns.gt)) if patterns.gt != inputs.gt_pattern else ""
    pred = Setting("pred_pattern", shown(patterns.pred)) if patterns.pred != inputs.pred_pattern else ""
    between = Either(", ", " ") if gt and pred else ""
    return Message("fix", "{gt}{between}{pred}", gt=gt, between=between, pred=pred)


def _shown(path: object) -> str:
    return shown(path)

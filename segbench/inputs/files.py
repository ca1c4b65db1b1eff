"""The files of every image, as a protocol reads them; of several classes, soft maps in a folder each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from segbench.core.errors import LISTED, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Note, Setting, joined
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.protocol import Protocol
from segbench.core.sample import DescribedFiles
from segbench.inputs.scored_classes import ScoredClasses
from segbench.loaders.images import STACKS
from segbench.loaders.instance_sources import InstanceSource
from segbench.loaders.listing import SampleFiles, list_place
from segbench.loaders.pairing import Inputs, Pairing, is_file, methods_below, pair, part_below
from segbench.loaders.source import shown

_LOOKED_AT = 50
"""Images of which one has to hold an instance."""
ClassOf = Callable[[str], int | None]


def find_files(inputs: Inputs, protocol: Protocol) -> Pairing:
    """Pair the files of every image; what keeps them from being paired at all is ``pairing.problem``."""
    reads = protocol.reads
    try:
        inputs.check(reads)
        if isinstance(reads, DescribedFiles):
            inputs = reads.located(inputs)
        if isinstance(classes := protocol.inputs, ScoredClasses):
            pairing = _class_maps(inputs, classes.titles, classes.place_of)
        else:
            pairing = pair(inputs)
            if isinstance(reads, DescribedFiles):
                pairing = reads.completed(pairing)
            if reads.sequences and pairing.by_base_name:
                _refuse_joined_sequences(pairing)
            if reads.whole_folders:
                pairing = _of_whole_folders(pairing, reads.whole_folders)
    except DataError as error:
        return Pairing(inputs, problem=error)
    return replace(pairing, no_negatives=True) if reads.without_negatives else pairing


def for_instances(protocol: Protocol, pairings: Iterable[Pairing]) -> Protocol:
    """Return the protocol that measures instances if files list them, else the protocol as it is."""
    predictions = [pairing.files for pairing in pairings if pairing.files]
    if not any(isinstance(files[0].prediction, InstanceSource) for files in predictions):
        return protocol
    return protocol.for_instances(lambda: _are_scored(predictions))


def _are_scored(predictions: Iterable[Sequence[SampleFiles]]) -> bool:
    """Return whether predicted instances have scores; methods that detect nothing fit those that have."""
    known = {scored for scored in map(_have_scores, predictions) if scored is not None}
    return True in known or not known


def _have_scores(images: Sequence[SampleFiles]) -> bool | None:
    """Return whether predicted instances have scores, by the first image that has any; None where none has."""
    for files in images[:_LOOKED_AT]:
        source = files.prediction
        try:
            scored = source.scored() if isinstance(source, InstanceSource) else None
        except DataError:  # which counting says
            continue
        if scored is not None:
            return scored
    return None


def _refuse_joined_sequences(pairing: Pairing) -> None:
    """Refuse frames of several sequences in one folder, where only their names say to which they belong."""
    inputs = pairing.inputs
    sequences = sorted({name.rpartition("/")[0] for name in pairing.names})
    if len(sequences) > 1:
        problem = Message(
            "joined-sequences",
            "holds frames of {number} sequences in one folder: {sequences}",
            number=len(sequences),
            sequences=first_names(sequences, LISTED),
        )
        raise DataError(shown(inputs.prediction or ""), problem, "put those of each sequence into a folder of its name")


def _of_whole_folders(pairing: Pairing, otherwise: Message | str) -> Pairing:
    """Refuse to leave out images of folders of which others are counted, and say what to do `otherwise`."""
    whole = pair(replace(pairing.inputs, images=(), allow_missing=True))
    counted = {files.name for files in pairing.files}
    folders = {name.rpartition("/")[0] for name in counted}
    others = {files.name for files in whole.files}.union(whole.left_out) - counted.union(pairing.missing)
    cut = sorted(name for name in others if name.rpartition("/")[0] in folders)
    if cut:
        problem = Message(
            "cut-sequences",
            "{number:many image} of sequences that are counted would be left out: {images}",
            number=len(cut),
            images=first_names(cut, LISTED),
        )
        images = Setting("images", "name/*")
        fix = Message("fix", "choose whole sequences, {images}, with a prediction of every image", images=images)
        where = shown(pairing.inputs.prediction or pairing.inputs.pairs or "")
        raise DataError(where, problem, joined([fix, otherwise]))
    return pairing


def find_methods(pairing: Pairing, protocol: Protocol) -> dict[str, Pairing]:
    """Pair the folders of several methods, which classes and categories are not, below the prediction folder."""
    methods = methods_below(pairing, lambda inputs: find_files(inputs, protocol))
    classes = protocol.inputs if isinstance(protocol.inputs, ScoredClasses) else None
    if classes and any(classes.place_of(name) is not None for name in methods):
        return {}  # a folder per class, of which some do not pair
    return {} if part_below(pairing.inputs, methods) else methods


def _class_maps(inputs: Inputs, names: Sequence[str], class_of: ClassOf) -> Pairing:
    """Pair the maps of each image in the order of the classes; folders called after these need no pattern."""
    pairing = pair(inputs)
    unpaired = not pairing.files or pairing.by_base_name
    folders = inputs.pred_pattern == "*" and inputs.prediction and unpaired
    if folders and _has_class_folders(str(inputs.prediction), class_of):
        pairing = pair(replace(inputs, pred_pattern="#/*"))
    where = shown(inputs.prediction or inputs.pairs or "")
    try:
        return _in_class_order(pairing, names, class_of, where)
    except DataError as error:
        return replace(pairing, problem=error)


def _has_class_folders(prediction: str, class_of: ClassOf) -> bool:
    if is_file(prediction):
        return False
    parted = (file.stem.partition("/") for file in list_place(prediction).entries)
    return any(class_of(folder) is not None for folder, slash, _ in parted if slash)


def _in_class_order(pairing: Pairing, names: Sequence[str], class_of: ClassOf, where: str) -> Pairing:
    if not any(files.tags for files in pairing.files):
        note = Note(Message("order-of-classes", "maps of the classes, in this order: {classes}", classes=tuple(names)))
        several = any(files.scales or files.prediction.suffix.lower() in STACKS for files in pairing.files)
        return replace(pairing, notes=(*pairing.notes, note)) if several and len(names) > 1 else pairing
    tags = dict.fromkeys(tag for files in pairing.files for tag in files.tags)
    class_of_tag = {tag: index for tag in tags if (index := class_of(tag)) is not None}
    _refuse_doubles(names, class_of_tag, where)
    foreign = [tag for tag in tags if tag not in class_of_tag]
    every = set(range(len(names)))
    incomplete = {
        files.name: [names[index] for index in sorted(lacking)]
        for files in pairing.files
        if (lacking := every.difference(map(class_of_tag.get, files.tags)))
    }
    if incomplete:
        raise _missing(pairing, incomplete, len(names), foreign, where)
    tags_in_order = sorted(class_of_tag, key=class_of_tag.__getitem__)
    message = Message(
        "predictions-by-class",
        "predictions by class: {named}",
        named=tuple(f"{shown(tag)} is {names[class_of_tag[tag]]}" for tag in tags_in_order),
        predictions=tuple(map(shown, tags_in_order)),
        classes=tuple(names[class_of_tag[tag]] for tag in tags_in_order),
    )
    notes = (*pairing.notes, Note(message))
    if foreign:
        message = Message(
            "predictions-of-no-class",
            "predictions left out because they belong to no class: {names}",
            names=tuple(map(shown, foreign)),
        )
        notes += (Note(message),)
    return replace(pairing, files=tuple(_ordered(files, class_of_tag) for files in pairing.files), notes=notes)


def _ordered(files: SampleFiles, class_of_tag: dict[str, int]) -> SampleFiles:
    by_tag = dict(zip(files.tags, (files.prediction, *files.scales), strict=True))
    tags = sorted((tag for tag in by_tag if tag in class_of_tag), key=class_of_tag.__getitem__)
    first, *others = (by_tag[tag] for tag in tags)
    return files._replace(prediction=first, scales=tuple(others), tags=tuple(tags))


def _refuse_doubles(names: Sequence[str], class_of_tag: dict[str, int], where: str) -> None:
    tags_in_order = grouped((index, tag) for tag, index in class_of_tag.items())
    doubled = {names[index]: tags for index, tags in tags_in_order.items() if len(tags) > 1}
    if doubled:
        problem = Message(
            "several-maps",
            "several predictions of one class ({maps})",
            maps="; ".join(f"{name}: {', '.join(map(shown, tags))}" for name, tags in doubled.items()),
            classes=list(doubled),
        )
        raise DataError(where, problem, "keep one of each")


def _missing(
    pairing: Pairing, incomplete: dict[str, list[str]], classes: int, foreign: Sequence[str], where: str
) -> DataError:
    by_classes = grouped((tuple(lacking), image) for image, lacking in incomplete.items())
    lines = [
        f"\n  {', '.join(classes_lacking)}: missing for {first_names(list(map(shown, images)), LISTED)}"
        for classes_lacking, images in by_classes.items()
    ]
    if foreign:
        lines.insert(0, f"\n  (found, but not a class: {', '.join(map(shown, foreign))})")
    problem = Message(
        "missing-maps",
        "{images} maps of some of the {classes} classes:{lines}\n",
        images=of_all(len(incomplete), len(pairing.files), "image", "lack"),
        classes=classes,
        lines="".join(lines),
        incomplete=len(incomplete),
        total=len(pairing.files),
        lacking=[(classes_lacking, images[:LISTED]) for classes_lacking, images in by_classes.items()],
    )
    setting = Either("Classes(labels=...)", "--classes")
    hint = Message("fix", "write a map for every class, or name those present: {classes}", classes=setting)
    return DataError(where, problem, hint)

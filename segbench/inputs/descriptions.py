"""JSON files of COCO's panoptic format: which segments an image has, and of which classes.

A JSON describes the folder of its name beside it, or the one in which it alone is. What it says of an image travels
with the image's file, so that a change of it is a change of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from segbench.core.errors import DataError
from segbench.core.messages import Message, Setting, joined
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.sample import Maps
from segbench.inputs.class_regions import RESERVED
from segbench.inputs.instance_maps import INSTANCE_MAPS, InstanceMaps
from segbench.inputs.object_kinds import INSTANCES
from segbench.loaders.listing import SampleFiles, once
from segbench.loaders.pairing import Inputs, Pairing
from segbench.loaders.source import WRITE_AGAIN, LocalFile, Source, read_json, shown

LARGEST_ID = 2**24 - 1
_LARGEST_LABEL = 10**9
_LARGEST_BYTES = 2**30
_NAMED = 3
_SHOWN = 10
_HINT = "see docs/objects.md for an example"
_FORMAT = f"expected COCO's panoptic format: annotations of file_name and segments_info, and categories; {_HINT}"


class Described(LocalFile):
    """The file of an image with what a JSON says of it, as JSON."""

    segments: bytes

    @classmethod
    def of(cls, file: LocalFile, segments: bytes) -> Described:
        """Put them together."""
        described = cls(file)
        described.segments = segments
        return described

    def read_bytes(self) -> bytes:
        """Return the whole content with its segments at the end, so that digests are of both."""
        return super().read_bytes() + self.segments

    def within(self, folder: Path) -> Described:
        """Return the same file with an absolute path, where it is relative to a folder."""
        return Described.of(super().within(folder), self.segments)


@dataclass(frozen=True)
class _Json:
    """A JSON that was read: the segments of each image by the name of its file, and the classes by label."""

    path: str
    segments: Mapping[str, list[Any]]
    classes: Mapping[int, tuple[str, bool]]

    def entry(self, file: LocalFile, classes: Mapping[int, tuple[str, bool]]) -> bytes | None:
        """Return what it says of an image, with the classes of its segments; None if it says nothing."""
        parts = Path(file).parts[::-1]
        names = ["/".join(parts[k::-1]) for k in range(min(_NAMED, len(parts)))]
        segments = next((self.segments[name] for name in names if name in self.segments), None)
        if segments is None:
            return None
        used = sorted({label for _, label, *_ in segments if label in classes})
        return json.dumps({"segments": segments, "classes": [[label, *classes[label]] for label in used]}).encode()


@dataclass(frozen=True, kw_only=True)
class ObjectMaps(InstanceMaps):
    """Label maps with a JSON beside them, pairs of maps of classes and instances, or plain label maps."""

    def truths(self, data: bytes, path: Source) -> Maps:
        """Decode the map, and what is known of its segments."""
        return _described(data, path) or super().truths(data, path)

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Decode the map, and what is known of its segments; of two maps that of instances last."""
        path = files.prediction
        if maps := _described(contents[path], path):
            return maps
        if files.scales and "inst" in path.name.lower():
            scales = (path, *files.scales[1:])
            files = files._replace(prediction=files.scales[0], scales=scales, tags=files.tags[::-1])
        return super().predictions(files, contents)

    def located(self, inputs: Inputs) -> Inputs:
        """Return the folder of images that a JSON describes, where a place is a JSON, or a folder of both."""
        prediction = inputs.prediction and _images_of(inputs.prediction)
        return replace(inputs, ground_truth=_images_of(inputs.ground_truth), prediction=prediction)

    def completed(self, pairing: Pairing) -> Pairing:
        """Add what the JSON files say; plain label maps stay as they are."""
        true = {files.ground_truths[0] for files in pairing.files}
        predicted = {files.prediction for files in pairing.files}
        problems: list[DataError] = []
        jsons = _jsons_of(true, pairing.inputs.ground_truth, problems)
        if not jsons:
            return pairing
        descriptions = [description for description in jsons.values() if description]
        no_categories = Message("no-categories", "has no categories")
        without_classes = [description.path for description in descriptions if not description.classes]
        problems += [DataError(path, no_categories, _FORMAT) for path in without_classes]
        classes = {label: name for description in descriptions for label, name in description.classes.items()}
        described = _entries(true, jsons, classes, problems)
        described |= _entries(predicted, _jsons_of(predicted, pairing.inputs.prediction, problems), classes, problems)
        if problems:
            return replace(pairing, problem=pairing.problem or _together(problems))
        return replace(
            pairing,
            files=tuple(
                files._replace(
                    ground_truths=(described[files.ground_truths[0]],), prediction=described[files.prediction]
                )
                for files in pairing.files
            ),
        )


def _together(problems: Sequence[DataError]) -> DataError:
    """Return all problems as one error, with a line for each."""
    if len(problems) == 1:
        return problems[0]
    lines = [
        Message("problem", "{file}: {problem}", file=error.path, problem=problem)
        for error in problems
        for problem in error.values.get("problems", (error.what,))
    ]
    problem = Message("wrong-jsons", "have {count} problems:\n  {problems:\n  }\n", count=len(lines), problems=lines)
    return DataError("JSON files", problem, joined(dict.fromkeys(error.hint for error in problems)))


def _described(data: bytes, path: Source) -> Maps | None:
    """Decode a file with its entry; None of one without."""
    if not isinstance(path, Described):
        return None
    from segbench.loaders.images import decode

    decoded = decode(data[: len(data) - len(path.segments)], path, role="ids")
    return Maps((decoded.array,), decoded.notes, lossy=decoded.lossy, about=json.loads(path.segments))


def _images_of(path_text: str) -> str:
    """Return the folder that a JSON describes; any other place as it is."""
    path = Path(path_text)
    if path.suffix.lower() == ".json" and path.is_file():
        beside, own = path.with_suffix(""), path.parent
        return str(beside) if beside.is_dir() else str(own) if any(own.glob("*.png")) else path_text
    jsons = sorted(path.glob("*.json"))
    inside = jsons[0].with_suffix("") if path_text and len(jsons) == 1 else path
    return str(inside) if inside.is_dir() and inside != path else path_text


def _jsons_of(files: Iterable[Source], root: str | None, problems: list[DataError]) -> dict[Path, _Json | None]:
    """Read the JSON of each folder of files: that beside it, or the only one in it; or of a folder above, to the root.

    Above the root lies what belongs to others. None stands for one that cannot be read, which is a problem.
    """
    jsons: dict[Path, _Json | None] = {}
    top = Path(root or "-")
    for folder in sorted({Path(file).parent for file in files if isinstance(file, LocalFile)}):
        for parent in (folder, *(above for above in folder.parents if top in (above, *above.parents))):
            beside = parent.parent / f"{parent.name}.json"
            inside = [beside] if beside.is_file() else sorted(parent.glob("*.json"))
            if len(inside) == 1:
                try:
                    jsons[folder] = once("segments", str(inside[0]), _read)
                except DataError as error:
                    jsons[folder] = None
                    if all((error.path, error.what) != (known.path, known.what) for known in problems):
                        problems.append(error)
                break
    return jsons


def _entries(
    files: Collection[Source],
    jsons: Mapping[Path, _Json | None],
    classes: Mapping[int, tuple[str, bool]],
    problems: list[DataError],
) -> dict[Source, Described]:
    """Return each file with its segments; all that is missing or unknown is a problem."""
    described: dict[Source, Described] = {}
    missing = []
    for folder in sorted({Path(str(file)).parent for file in files} - jsons.keys()):
        problem = Message(
            "no-json",
            "has no {file} beside it, and {inside:many JSON file} in it, expected one with the classes of its "
            "segments, as the ground truth has",
            file=f"{shown(folder)}.json",
            inside=len(list(folder.glob("*.json"))),
        )
        problems.append(DataError(shown(folder), problem, f"write one of them, and unpack archives; {_HINT}"))
    for file in files:
        if description := jsons.get(Path(str(file)).parent):
            if isinstance(file, LocalFile) and (segments_json := description.entry(file, classes)):
                described[file] = Described.of(file, segments_json)
            else:
                missing.append(Path(str(file)).name)
    read = [description for description in jsons.values() if description]
    paths = ", ".join(sorted({description.path for description in read}))
    if missing:
        problem = Message(
            "no-annotation",
            "{lack} no segments_info: {images}",
            lack=of_all(len(missing), len(files), "image", "have"),
            images=first_names(sorted(missing), _SHOWN),
        )
        fix = Message("fix", "add an annotation with the file_name of each")
        known = next((shown(name) for description in read for name in description.segments), "")
        if known:
            fix = Message("fix", "add an annotation with the file_name of each, as {file} has one", file=known)
        problems.append(DataError(paths, problem, fix))
    strange = {
        label: Message("unknown-category", "category {label}, in {image}", label=label, image=shown(name))
        for description in read
        for name, segments in description.segments.items()
        for _, label, *_ in segments
        if classes and label not in classes
    }
    if strange:
        problem = Message(
            "unknown-categories",
            "has categories that the ground truth does not list:\n  {problems:\n  }\n",
            problems=[strange[label] for label in sorted(strange)],
        )
        problems.append(DataError(paths, problem, _HINT))
    return described


def _read(path: str) -> _Json:
    """Read a JSON, and list all that is wrong with it."""
    content = read_json(path, _LARGEST_BYTES, "segments of images", hint="split it", otherwise=WRITE_AGAIN)
    annotations = content.get("annotations") if isinstance(content, dict) else None
    _refuse_detections(path, content if annotations is None else annotations)
    if not isinstance(annotations, list) or not all(isinstance(annotation, dict) for annotation in annotations):
        raise DataError(shown(path), Message("no-annotations", "has no list of annotations"), _FORMAT)
    problems: list[Message] = []
    segments: dict[str, list[Any]] = {}
    without: list[str] = []
    for number, annotation in enumerate(annotations, start=1):
        name, infos = annotation.get("file_name"), annotation.get("segments_info")
        if not isinstance(name, str) or not isinstance(infos, list):
            without.append(f"annotation {number}")
            continue
        if name in segments:
            problems.append(Message("doubled-annotation", "two annotations of {image}", image=shown(name)))
        segments[name] = [_segment(info) for info in infos]
        if None in segments[name]:
            lacking = Message(
                "wrong-segment",
                "{image}: a segment lacks an id from 1 to {most}, or a category_id",
                image=shown(name),
                most=LARGEST_ID,
            )
            problems.append(lacking)
            continue
        doubled = [number for number, times in Counter(info[0] for info in segments[name]).items() if times > 1]
        problems += [
            Message("doubled-segment", "{image}: two segments have the id {id}", image=shown(name), id=number)
            for number in doubled
        ]
    if without:
        unnamed = Message(
            "wrong-annotations",
            "{lack} file_name or segments_info: {annotations}",
            lack=of_all(len(without), len(annotations), "annotation", "lack"),
            annotations=first_names(without, _SHOWN),
            count=len(without),
            total=len(annotations),
        )
        problems.insert(0, unnamed)
    try:
        categories = [*map(_category, content.get("categories", ()))]
    except (KeyError, TypeError, ValueError, OverflowError):
        lacking = Message(
            "wrong-categories",
            "categories lack an id from 0 to {most}, a name, or isthing of 0 or 1",
            most=_LARGEST_LABEL - 1,
        )
        problems.append(lacking)
        categories = []
    times = Counter(shared for label, (name, _) in categories for shared in (f"the id {label}", f"the name {name}"))
    twice = [shared for shared, number in times.items() if number > 1]
    problems += [Message("doubled-category", "two categories have {shared}", shared=shared) for shared in twice]
    if problems:
        faults = tuple(dict.fromkeys(problems))
        problem = Message("wrong-json", "is not as it should be:\n  {problems:\n  }\n", problems=faults)
        raise DataError(shown(path), problem, _FORMAT)
    return _Json(path, segments, dict(categories))


def _refuse_detections(path: str, annotations: Any) -> None:
    """Refuse annotations, or results, of COCO's detections, which have one entry for each object."""
    first = annotations[0] if isinstance(annotations, list) and annotations else None
    if not isinstance(first, dict) or "segments_info" in first or not {"segmentation", "bbox"} & first.keys():
        return
    problem = Message(
        "detections",
        "holds {objects:many object} in COCO's detection format, expected its panoptic format",
        objects=len(annotations),
    )
    fix = Message(
        "fix",
        "draw the objects of each image as ids in a PNG, and list them in segments_info; {see}; or draw numbered "
        "objects and give {kind}",
        see=_HINT,
        kind=Setting("kind", INSTANCES),
    )
    raise DataError(shown(path), problem, fix)


def _segment(info: Any) -> list[int | None] | None:
    """Return id, category, whether it is a crowd, and its area if it is known; None for anything else."""
    if not isinstance(info, dict):
        return None
    numbers: Sequence[Any] = info.get("id"), info.get("category_id"), info.get("iscrowd", 0), info.get("area", 0)
    whole = all(
        isinstance(number, (int, float)) and abs(number) < _LARGEST_LABEL and number == int(number)
        for number in numbers
    )
    if not whole or not 0 < numbers[0] <= LARGEST_ID:
        return None
    number, label, crowd, area = map(int, numbers)
    return [number, label, int(crowd != 0), area if "area" in info else None]


def _category(category: Mapping[str, Any]) -> tuple[int, tuple[str, bool]]:
    """Return the label of a category, its name without what no name of a class may hold, and whether it has things."""
    label, name = int(category["id"]), "".join(";" if mark in RESERVED else mark for mark in str(category["name"]))
    if not 0 <= label < _LARGEST_LABEL or not name.strip() or category["isthing"] not in (0, 1):
        raise ValueError(label, name)
    return label, (f"class {name}" if name.isdecimal() else name.strip(), bool(category["isthing"]))


PANOPTIC_MAPS = ObjectMaps(**{**vars(INSTANCE_MAPS), "name": "panoptic maps"})

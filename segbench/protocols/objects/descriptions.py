"""JSON files of COCO's panoptic format: which segments an image has, and of which classes.

A JSON describes the folder of its name beside it, or the one in which it alone is. What it says of an image travels
with the image's file, so that a change of it is a change of the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from segbench.core.errors import DataError
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.sample import Maps
from segbench.loaders.decoded import Source, listed, shown
from segbench.loaders.listing import once
from segbench.loaders.pairing import Inputs, Pairing, SampleFiles
from segbench.loaders.source import LocalFile, is_url, read_bounded
from segbench.protocols.class_names import RESERVED
from segbench.protocols.objects.reading import INSTANCE_MAPS, InstanceMaps

LARGEST_ID = 2**24 - 1
_LARGEST_LABEL = 10**9
_LARGEST_BYTES = 2**30
_NAMED = 3
_FORMAT = "expected COCO's panoptic format: annotations of file_name and segments_info, and categories"
_HINT = "see docs/objects.md for an example"


class Described(LocalFile):
    """The file of an image with what a JSON says of it, as JSON."""

    entry: bytes

    @classmethod
    def of(cls, file: LocalFile, entry: bytes) -> Described:
        """Put them together."""
        described = cls(file)
        described.entry = entry
        return described

    def read_bytes(self) -> bytes:
        """Give the whole content with the entry at its end, so that digests are of both."""
        return super().read_bytes() + self.entry

    def within(self, folder: Path) -> Described:
        """Give the same file with an absolute path, where it is relative to a folder."""
        return Described.of(super().within(folder), self.entry)


@dataclass(frozen=True)
class _Json:
    """A JSON that was read: the segments of each image by the name of its file, and the classes by label."""

    path: str
    segments: Mapping[str, list[Any]]
    classes: Mapping[int, tuple[str, bool]]

    def entry(self, file: LocalFile, classes: Mapping[int, tuple[str, bool]]) -> bytes | None:
        """Give what it says of an image, with the classes of its segments; None if it says nothing."""
        parts = Path(file).parts[::-1]
        names = ["/".join(parts[k::-1]) for k in range(min(_NAMED, len(parts)))]
        found = next((self.segments[name] for name in names if name in self.segments), None)
        if found is None:
            return None
        used = sorted({label for _, label, *_ in found if label in classes})
        return json.dumps({"segments": found, "classes": [[label, *classes[label]] for label in used]}).encode()


@dataclass(frozen=True, kw_only=True)
class ObjectMaps(InstanceMaps):
    """Label maps with a JSON beside them, pairs of maps of classes and instances, or plain label maps."""

    def truths(self, data: bytes, path: Source) -> Maps:
        """Give the map, and what is known of its segments."""
        return _described(data, path) or super().truths(data, path)

    def predictions(self, files: SampleFiles, contents: Mapping[Source, bytes]) -> Maps:
        """Give the map, and what is known of its segments; of two maps that of instances last."""
        path = files.prediction
        if found := _described(contents[path], path):
            return found
        if files.scales and "inst" in path.name.lower():
            files = replace(files, prediction=files.scales[0], scales=(path, *files.scales[1:]), tags=files.tags[::-1])
        return super().predictions(files, contents)

    def located(self, inputs: Inputs) -> Inputs:
        """Give the folder of images that a JSON describes, where a place is a JSON, or a folder of both."""
        prediction = inputs.prediction and _images_of(inputs.prediction)
        return replace(inputs, ground_truth=_images_of(inputs.ground_truth), prediction=prediction)

    def completed(self, pairing: Pairing) -> Pairing:
        """Add what the JSON files say; plain label maps stay as they are."""
        inputs = pairing.inputs
        true = {one.ground_truths[0]: one.name for one in pairing.files}
        jsons = _jsons_of(true, inputs.ground_truth)
        if not jsons:
            return super().completed(pairing)
        predicted = {one.prediction: one.name for one in pairing.files}
        try:
            classes = _classes_of(jsons)
            found = _entries(true, jsons, classes)
            found |= _entries(predicted, _jsons_of(predicted, inputs.prediction), classes)
        except DataError as error:
            return replace(pairing, problem=pairing.problem or error)
        files = (
            replace(one, ground_truths=(found[one.ground_truths[0]],), prediction=found[one.prediction])
            for one in pairing.files
        )
        return replace(pairing, files=tuple(files))


def _described(data: bytes, path: Source) -> Maps | None:
    """Decode a file with its entry; None of one without."""
    if not isinstance(path, Described):
        return None
    from segbench.loaders.images import decode

    decoded = decode(data[: len(data) - len(path.entry)], path, role="ids")
    return Maps((decoded.array,), decoded.notes, about=json.loads(path.entry))


def _images_of(place: str) -> str:
    """Give the folder that a JSON describes; any other place as it is."""
    if not place or is_url(place):
        return place
    path = Path(place)
    if path.suffix.lower() == ".json":
        return str(path.with_suffix("") if path.with_suffix("").is_dir() else path.parent)
    jsons = sorted(path.glob("*.json")) if path.is_dir() else []
    inside = jsons[0].with_suffix("") if len(jsons) == 1 else None
    return str(inside) if inside and inside.is_dir() else place


def _jsons_of(files: Mapping[Source, str], root: str | None) -> dict[Path, _Json]:
    """Read the JSON of each folder of files: that beside it, or the only one in it; or of a folder above, to the root.

    Above the root lies what belongs to others.
    """
    found: dict[Path, _Json] = {}
    top = Path(root or "-")
    for folder in {Path(file).parent for file in files if isinstance(file, LocalFile)}:
        for place in (folder, *(above for above in folder.parents if top in (above, *above.parents))):
            beside = place.parent / f"{place.name}.json"
            inside = [beside] if beside.is_file() else sorted(place.glob("*.json"))
            if len(inside) == 1:
                found[folder] = once("segments", str(inside[0]), _read)
                break
    return found


def _classes_of(jsons: Mapping[Path, _Json]) -> dict[int, tuple[str, bool]]:
    """Give the classes that the ground truth lists."""
    classes: dict[int, tuple[str, bool]] = {}
    for one in jsons.values():
        classes |= one.classes
        if not one.classes:
            raise DataError(one.path, "has no categories", f"{_FORMAT}; {_HINT}")
    return classes


def _entries(
    files: Mapping[Source, str], jsons: Mapping[Path, _Json], classes: Mapping[int, tuple[str, bool]]
) -> dict[Source, Described]:
    """Give each file with its entry; all that is missing or unknown is listed in one error."""
    found: dict[Source, Described] = {}
    missing = []
    for file, name in files.items():
        if not isinstance(file, LocalFile):
            raise DataError(shown(file), "is not on disk, and its JSON is looked for there", "unpack it into a folder")
        folder = Path(file).parent
        if folder not in jsons:
            what = "has no JSON with the classes of its segments, and the ground truth has one"
            raise DataError(shown(folder), what, f"write {shown(folder)}.json, or one JSON in it; {_HINT}")
        if entry := jsons[folder].entry(file, classes):
            found[file] = Described.of(file, entry)
        else:
            missing.append(name)
    places = sorted({one.path for one in jsons.values()})
    if missing:
        what = f"{of_all(len(missing), len(files), 'image', 'have')} no segments_info: {first_names(missing, 10)}"
        raise DataError(", ".join(places), what, "add an annotation with the file_name of each")
    strange = {
        label: name
        for one in jsons.values()
        for name, segments in one.segments.items()
        for _, label, *_ in segments
        if label not in classes
    }
    if strange:
        each = [f"category {label}, in {shown(name)}" for label, name in sorted(strange.items())]
        raise DataError(", ".join(places), f"has categories that the ground truth does not list:{listed(each)}", _HINT)
    return found


def _read(place: str) -> _Json:
    """Read a JSON, and list all that is wrong with it."""
    try:
        content = json.loads(read_bounded(place, _LARGEST_BYTES, "segments of images", "split it"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(shown(place), f"is not JSON ({error})", "write the file again") from None
    annotations = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        raise DataError(shown(place), "has no list of annotations", f"{_FORMAT}; {_HINT}")
    if any("segments_info" not in one and "bbox" in one for one in annotations):
        what = "is in COCO's detection format, whose objects may overlap"
        raise DataError(shown(place), what, "convert it with detection2panoptic_coco_format.py of panopticapi")
    problems: list[str] = []
    segments: dict[str, list[Any]] = {}
    for number, one in enumerate(annotations, start=1):
        name, infos = one.get("file_name"), one.get("segments_info")
        if not isinstance(name, str) or not isinstance(infos, list):
            problems.append(f"annotation {number} lacks file_name or segments_info")
            continue
        if name in segments:
            problems.append(f"two annotations of {shown(name)}")
        segments[name] = [_segment(info) for info in infos]
        if None in segments[name]:
            problems.append(f"{shown(name)}: a segment lacks an id from 1 to {LARGEST_ID}, or a category_id")
            continue
        doubled = [number for number, times in Counter(info[0] for info in segments[name]).items() if times > 1]
        problems += [f"{shown(name)}: two segments have the id {number}" for number in doubled]
    try:
        classes = dict(map(_category, content.get("categories", ())))
    except (KeyError, TypeError, ValueError, OverflowError):
        problems.append(f"categories lack an id from 0 to {_LARGEST_LABEL - 1}, a name or isthing")
        classes = {}
    if problems:
        raise DataError(shown(place), f"is not as it should be:{listed(problems)}", f"{_FORMAT}; {_HINT}")
    return _Json(place, segments, classes)


def _segment(info: Any) -> list[int | None] | None:  # noqa: ANN401  of a JSON
    """Give id, category, whether it is a crowd, and its area if it is known; None for anything else."""
    if not isinstance(info, dict):
        return None
    numbers: Sequence[Any] = info.get("id"), info.get("category_id"), info.get("iscrowd", 0), info.get("area", 0)
    whole = all(isinstance(one, (int, float)) and abs(one) < _LARGEST_LABEL and one == int(one) for one in numbers)
    if not whole or not 0 < numbers[0] <= LARGEST_ID:
        return None
    number, label, crowd, area = map(int, numbers)
    return [number, label, int(crowd != 0), area if "area" in info else None]


def _category(category: Mapping[str, Any]) -> tuple[int, tuple[str, bool]]:
    """Give the label of a category, its name without what no name of a class may hold, and whether it has things."""
    label, name = int(category["id"]), "".join(";" if mark in RESERVED else mark for mark in str(category["name"]))
    if not 0 <= label < _LARGEST_LABEL or not name.strip():
        raise ValueError(label, name)
    return label, (f"class {name}" if name.isdecimal() else name.strip(), bool(category["isthing"]))


PANOPTIC_MAPS = ObjectMaps(**{**vars(INSTANCE_MAPS), "name": "panoptic maps"})

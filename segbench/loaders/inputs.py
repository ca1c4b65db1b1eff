"""Where the images of a run are, and how their names pair."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from typing import Any, Self

from segbench.core.arguments import as_path
from segbench.core.errors import ArgumentError
from segbench.core.interface import given
from segbench.core.sample import Reading
from segbench.loaders.file_list import Images, as_images, column_of, has_fields
from segbench.loaders.source import absolute, masked, method_name

Place = str | PathLike[str] | None

_BESIDE_LIST = frozenset({"pairs", "column", "images", "allow_missing"})


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All it takes to find the images of a run again: folders or files, and the patterns that pair their names.

    Parameters
    ----------
    ground_truth : str
        A folder, an archive (or a folder of them), a URL, or one file; empty where `pairs` is given.
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
    pairs : str, optional
        A file list, in place of all the above; see `segbench.loaders.file_list`.
    column : str, optional
        Its column of predictions; None where annotators are compared with each other.
    images : tuple of str
        Names and shell patterns of the images that the run is restricted to; empty for all.
    allow_missing : bool
        Leave out images without a prediction instead of refusing them.
    unchecked : bool
        Whether the command line counted them without its quick check.
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
    pairs: str | None = None
    column: str | None = None
    images: tuple[str, ...] = ()
    allow_missing: bool = False
    unchecked: bool = False
    merged: tuple[Inputs, ...] = ()

    def check(self, reads: Reading) -> None:
        """Refuse places that have no meaning for what a protocol reads: an `ArgumentError` says which and why."""
        if reads.alone and not self.alone:
            raise ArgumentError(f"{reads.name} are compared with each other; leave out the prediction")
        if self.alone and not reads.alone:
            raise ArgumentError("no prediction is given; only Annotators(...) works without one")
        if reads.without_field and self.has_fields():
            hint = f"leave out {given('field')}" if self.pairs is None else "take the column 'field' out of the list"
            raise ArgumentError(f"{reads.without_field}: {hint}")
        if reads.without_negatives and self.negatives:
            hint = f"an image without ground truth has no {reads.without_negatives}"
            raise ArgumentError(f"{given('negatives')} has no meaning for {reads.name}: {hint}")

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
        return self.with_places(absolute)

    def masked(self) -> Self:
        """Give the same places without users, passwords and queries of URLs, to be kept and shown."""
        return self.with_places(masked)

    def with_places(self, change: Callable[[str], str]) -> Self:
        """Give them with each place changed."""
        places = {key: getattr(self, key) for key in ("ground_truth", "prediction", "field", "pairs")}
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

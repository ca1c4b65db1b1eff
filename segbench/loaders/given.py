"""What a caller says of places, as `Inputs`: folders with patterns, or a file list with the column of a method."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath

from segbench.core.errors import ArgumentError
from segbench.core.sample import Reads
from segbench.loaders.archives import method_name
from segbench.loaders.file_list import column_of
from segbench.loaders.inputs import Inputs
from segbench.loaders.subset import Images, as_images

Place = str | PathLike[str] | None


def inputs_given(
    ground_truth: Place,
    prediction: Place,
    reads: Reads,
    *,
    pairs: Place,
    field: Place,
    gt_pattern: str,
    pred_pattern: str,
    field_pattern: str,
    negatives: str,
    method: str | None,
    images: Images = None,
    allow_missing: bool = False,
) -> Inputs:
    """Say where the images of a run lie."""
    inputs = Inputs(
        ground_truth="" if ground_truth is None else fspath(ground_truth),
        prediction=None if prediction is None else fspath(prediction),
        field=None if field is None else fspath(field),
        gt_pattern=gt_pattern,
        pred_pattern=pred_pattern,
        field_pattern=field_pattern,
        negatives=negatives,
        images=as_images(images),
        allow_missing=allow_missing,
    )
    if pairs is None:
        if ground_truth is None:
            raise ArgumentError("give folders of ground truth and predictions, or a list of pairs")
        return inputs
    beside = inputs.beside_list()
    if beside:
        raise ArgumentError(f"a list of pairs holds all files: give no {', '.join(beside)} beside it")
    column = None if reads == "annotators" else column_of(fspath(pairs), method)
    return replace(inputs, pairs=fspath(pairs), column=column)


def method_of(inputs: Inputs) -> str:
    """Name the method after its column or the place of its predictions."""
    if inputs.pairs is not None and inputs.column is not None:
        return inputs.column.partition(":")[2] or method_name(inputs.pairs)
    return "human" if inputs.prediction is None else method_name(inputs.prediction)

"""Summaries of images whose ground truth shows by its values what is positive, beside masks or soft maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.protocol import InputSettings, Interpreted, SoftMaps, soft_maps_of
from segbench.core.sample import Sample
from segbench.inputs.label_rules import equals_any, share_between
from segbench.inputs.predicted_labels import labels_seen
from segbench.inputs.sides import DrawnMasks, masks_of
from segbench.inputs.summaries import (
    ImageSummary,
    Ranking,
    ScoreSummary,
    TruthSummary,
    UncountedError,
    as_in_run,
    few_distinct,
    score_summary,
    summary_of_labels,
    summary_of_maps,
)
from segbench.loaders.listing import SampleFiles


class SummarizedTruth(NamedTuple):
    """What a ground truth holds, which pixels are positive and which count."""

    summary: TruthSummary
    positive: NDArray[np.bool_]
    valid: NDArray[np.bool_]


def summary_of_scores(
    inputs: InputSettings,
    soft_maps: SoftMaps,
    sample: Sample,
    files: SampleFiles,
    interpret: Callable[[Sample], Interpreted],
) -> ImageSummary:
    """Summarize an image with scores, also where a run refuses them."""
    image, refused = interpreted_or_refused(interpret, sample)
    masks, blank = masks_of(inputs), sample.without_truth
    annotations = [truth_of(sample, annotator, image, masks) for annotator in range(len(sample.ground_truths))]
    scores = None
    if not sample.labels_predicted:
        positive = np.logical_or.reduce([truth.positive for truth in annotations])
        counted = np.logical_or.reduce([truth.valid for truth in annotations])
        scores = scores_of(sample, positive, counted, soft_maps)
    truths = [truth.summary for truth in annotations if masks or blank]
    expects_scores = masks is not None and not blank
    return summary_of_maps(
        sample,
        files,
        truths=without_values(truths) if blank else tuple(truths),
        scores=scores,
        may_hold_labels=expects_scores,
        labels=labels_seen(sample, masks.void_values or ()) if masks and expects_scores else None,
        prediction=sample.prediction_file,
        facts=image.facts,
        refused=refused,
    )


def summary_of_masks(
    masks: DrawnMasks, sample: Sample, files: SampleFiles, image: Interpreted, ranking: Ranking | None
) -> ImageSummary:
    """Summarize an image with a predicted mask, given how that ranks pixels; what a rule draws is a ground truth."""
    annotators = range(len(sample.ground_truths)) if masks.rule else ()
    truths = tuple(truth_of(sample, annotator, image, masks).summary for annotator in annotators)
    return summary_of_labels(sample, files, image.facts, truths=truths, mask=ranking)


def summarized(
    inputs: InputSettings, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Interpreted]
) -> ImageSummary:
    """Summarize an image as its inputs do; of inputs without a summary, by whether the prediction is a soft map."""
    summary: ImageSummary | None = inputs.summarize(sample, files, interpret)
    if summary is not None:
        return summary
    if soft_maps := soft_maps_of(inputs):
        return summary_of_scores(inputs, soft_maps, sample, files, interpret)
    return summary_of_labels(sample, files, as_in_run(interpret, sample).facts)


def interpreted_or_refused(
    interpret: Callable[[Sample], Interpreted], sample: Sample
) -> tuple[Interpreted, UncountedError | None]:
    """Interpret an image; of one that a run refuses return nothing, and why."""
    try:
        return as_in_run(interpret, sample), None
    except UncountedError as error:
        return Interpreted(), error


def truth_of(
    sample: Sample,
    annotator: int,
    image: Interpreted,
    masks: DrawnMasks | None,
    guess: Callable[[NDArray[Any]], NDArray[np.bool_]] | None = None,
) -> SummarizedTruth:
    """Summarize one of the ground truths of an image; of a refused one without a rule `guess` what is positive."""
    array = sample.ground_truths[annotator]
    void = () if masks is None or sample.without_truth else masks.void_values or ()
    valid = np.ones(array.shape, np.bool_) if sample.field is None else sample.field.astype(np.bool_)
    if void:
        valid &= ~equals_any(array, void)
    values = few_distinct(array.reshape(-1) if valid.all() else array[valid])
    counted = valid
    if image.drawn_masks:
        positive, within = image.drawn_masks[min(annotator, len(image.drawn_masks) - 1)]
        counted = valid if within is None else valid & within
    elif guess and masks and not masks.rule:
        positive = guess(array)
    else:
        positive = _perhaps_positive(sample, annotator, values, valid, masks)
    summary = TruthSummary(
        image=sample.name,
        file=sample.truth_files[annotator],
        values=values,
        positive_share=float(positive[valid].mean()) if valid.any() else 0.0,
        nan=int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0,
        ignored=int(valid.size - np.count_nonzero(valid)),
        between=share_between(array),
        lossy=sample.lossy[0],
        nodata=tuple(value for value in sample.truth_nodata if value and value in values),
    )
    return SummarizedTruth(summary, positive, counted)


def _perhaps_positive(
    sample: Sample, annotator: int, values: Sequence[float], valid: NDArray[np.bool_], masks: DrawnMasks | None
) -> NDArray[np.bool_]:
    """Mark what may be positive in a ground truth that a run refuses, only to see which way scores run."""
    array = sample.ground_truths[annotator]
    if masks is None:  # of any meaning
        return np.zeros(array.shape, np.bool_)
    if masks.rule:
        try:
            return masks.rule.labels(sample.truth_files[annotator], array, valid)
        except DataError as error:
            raise UncountedError(error, sample) from None
    if array.dtype == np.bool_:
        return array
    marked: NDArray[np.bool_] = array > (values[0] + values[-1]) / 2 if len(values) > 1 else array != 0
    return marked


def without_values(truths: Sequence[TruthSummary]) -> tuple[TruthSummary, ...]:
    """Leave out the values of blank maps, which stand for a ground truth that there is not."""
    return tuple(replace(truth, values=()) for truth in truths)


def scores_of(
    sample: Sample, positive: NDArray[np.bool_], counted: NDArray[np.bool_], soft_maps: SoftMaps
) -> ScoreSummary:
    """Summarize the scores of an image, given which pixels are positive and which count."""
    soft = in_size(sample, positive.shape)
    names = sample.name, sample.prediction_file
    return replace(
        score_summary(names, soft, positive, counted, inverted=bool(soft_maps.invert)), lossy=sample.lossy[1]
    )


def in_size(sample: Sample, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a soft map in the size of its ground truth, also that of a contour map of double size."""
    soft = sample.predictions[0]
    if soft.shape == shape:
        return soft
    from segbench.inputs.lines import sample_ucm2

    return sample_ucm2(soft)

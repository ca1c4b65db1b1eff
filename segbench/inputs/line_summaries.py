"""Summaries of images whose ground truth is lines: how thick these are drawn, and how thick they are predicted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segbench.core.levels import as_shares
from segbench.core.protocol import Interpreted, SoftMaps
from segbench.core.sample import Sample
from segbench.inputs.lines import label_boundaries
from segbench.inputs.mask_summaries import (
    SummarizedTruth,
    in_size,
    interpreted_or_refused,
    scores_of,
    truth_of,
    without_values,
)
from segbench.inputs.predicted_labels import regions_in
from segbench.inputs.sides import DrawnMasks
from segbench.inputs.summaries import ImageSummary, ScoreSummary, summary_of_maps
from segbench.loaders.listing import SampleFiles

REACH = 2
"""How many pixels a predicted line may lie beside the drawn one."""


def summary_of_lines(
    masks: DrawnMasks,
    soft_maps: SoftMaps,
    sample: Sample,
    files: SampleFiles,
    interpret: Callable[[Sample], Interpreted],
    *,
    category: int,
    label_maps: bool,
    suppressed: bool,
) -> ImageSummary:
    """Summarize an image of lines, also where a run refuses it.

    Where ground truths are those of categories, one `category` counts. Lines may be the borders of `label_maps`, and
    soft maps may be `suppressed` before they are cut.
    """
    image, refused = interpreted_or_refused(interpret, sample)
    numbers = range(len(sample.ground_truths))
    if sample.categories_drawn:
        numbers = numbers[category - 1 :][:1]
    borders = label_boundaries if label_maps else None
    annotations = [truth_of(sample, number, image, masks, borders) for number in numbers]
    if not (label_maps or sample.without_truth):
        annotations = [_with_thickness(truth) for truth in annotations]
    truths = [truth.summary for truth in annotations]
    scores = (
        None if sample.labels_predicted else _scores_of_lines(sample, annotations, soft_maps, suppressed=suppressed)
    )
    summaries = tuple(truths)
    if sample.without_truth:
        summaries = without_values(truths)
    elif label_maps:
        summaries = ()
    return summary_of_maps(
        sample,
        files,
        truths=summaries,
        scores=scores,
        regions=() if sample.labels_predicted else regions_in(sample.predictions[0]),
        prediction=sample.prediction_file,
        facts=image.facts,
        refused=refused,
    )


def _with_thickness(truth: SummarizedTruth) -> SummarizedTruth:
    """Say how thick the lines of a ground truth are, and what lies outside them."""
    thick, blocks = _thick_share(truth.positive), _block_share(~truth.positive)
    return truth._replace(summary=replace(truth.summary, thick=thick, blocks_outside=blocks))


def _scores_of_lines(
    sample: Sample, drawn: Sequence[SummarizedTruth], soft_maps: SoftMaps, *, suppressed: bool
) -> ScoreSummary:
    """Summarize scores near lines, of ground truth that is mostly positive near what is not."""
    positive = np.logical_or.reduce([truth.positive for truth in drawn])
    counted = np.logical_or.reduce([truth.valid for truth in drawn])
    lines = ~positive if all(truth.summary.positive_share > 0.5 for truth in drawn) else positive
    scores = scores_of(sample, _grown(lines), counted, soft_maps)
    if scores.not_finite:
        return scores
    soft = in_size(sample, positive.shape)
    shares = as_shares(soft)
    ridges = soft.max() - shares if soft_maps.invert else shares
    blocks = _block_share(ridges > (ridges.min() if suppressed else ridges.max() / 2))
    return replace(scores, blocks=blocks)


def _thick_share(mask: NDArray[np.bool_]) -> float:
    """Return the squares of 2 x 2 pixels with at least three true ones, per true pixel."""
    rows = mask[1:].astype(np.uint8) + mask[:-1]
    thick = rows[:, 1:] + rows[:, :-1] >= 3
    return int(np.count_nonzero(thick)) / max(int(np.count_nonzero(mask)), 1)


def _block_share(mask: NDArray[np.bool_]) -> float:
    """Return the share of true pixels in blocks of 2 x 2 true pixels: near 0 for thin lines, near 1 for areas."""
    from scipy.ndimage import binary_opening

    return int(np.count_nonzero(binary_opening(mask, np.ones((2, 2))))) / max(int(np.count_nonzero(mask)), 1)


def _grown(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Let true pixels grow by `REACH` pixels to all eight sides."""
    from scipy.ndimage import binary_dilation

    wide: NDArray[np.bool_] = binary_dilation(mask, np.ones((2 * REACH + 1,) * 2))
    return wide

"""One image looked into: decoded once, and reduced to the few numbers that findings are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.checks.asked import Asked
from segbench.checks.label_maps import LabelProbe, label_probe
from segbench.checks.seen import MOST_VALUES, Probe, ScoreProbe, TruthProbe
from segbench.checks.shapes import block_share, grown
from segbench.core.errors import DataError
from segbench.core.levels import as_shares
from segbench.core.sample import Sample
from segbench.loaders.decoded import shown
from segbench.loaders.load import decode_sample, read
from segbench.loaders.pairing import SampleFiles
from segbench.protocols.label_rules import equals_any
from segbench.protocols.predicted_labels import labels_seen

MOST_PIXELS = 1 << 16
"""How many pixels order scores by: an area under the ROC curve to about a hundredth."""
REACH = 2
"""How far, in pixels, a predicted line may lie beside the drawn one and still count as the same here."""


def probe(files: SampleFiles, asked: Asked) -> Probe:
    """Look into one image."""
    try:
        return _looked_into(decode_sample(read(files), asked.reads, asked.repairs), files, asked)
    except DataError as error:
        return Probe(image=files.name, failure=error)


def _looked_into(sample: Sample, files: SampleFiles, asked: Asked) -> Probe:
    coloured = coloured_files(sample, files)
    if not asked.soft:
        return Probe(image=sample.name, label_map=_label_map(sample, asked), coloured=coloured)
    as_drawn = replace(asked, rule=None, void=(), label_maps=False) if sample.without_truth else asked
    drawn = [_truth(file, array, sample.field, as_drawn) for file, array in _named(sample, asked.category)]
    positive = np.logical_or.reduce([labels for _, labels, _ in drawn])
    counted = np.logical_or.reduce([valid for _, _, valid in drawn])
    scores = None
    if not sample.labels_predicted:
        soft = sample.predictions[0]
        if soft.shape != positive.shape:
            from segbench.protocols.boundaries.label_maps import sample_ucm2

            soft = sample_ucm2(soft)
        if asked.lines:
            positive = grown(~positive if _black_on_white(drawn) else positive, REACH)
        scores = score_probe(sample.prediction_file, soft, positive, counted, asked)
    truths = tuple(found for found, _, _ in drawn)
    if sample.without_truth:
        truths = tuple(replace(found, values=()) for found in truths)
    elif asked.label_maps:
        truths = ()
    judged = asked.reads == "masks" and not sample.without_truth
    return Probe(
        image=sample.name,
        truths=truths,
        scores=scores,
        coloured=coloured,
        may_hold_labels=judged,
        labels=labels_seen(sample, asked.void) if judged else None,
        prediction=sample.prediction_file,
    )


def coloured_files(sample: Sample, files: SampleFiles) -> tuple[str, ...]:
    """Name the files of a sample whose colour was turned to grey; of several predictions the first."""
    grey = [note for note in sample.notes if "colour turned to grey" in note]
    truth = [shown(path) for path in files.ground_truths[:1]] * any(note.startswith("ground truth") for note in grey)
    return (*truth, *[sample.prediction_file] * any(note.startswith("prediction") for note in grey))


def _label_map(sample: Sample, asked: Asked) -> LabelProbe | None:
    if asked.reads != "regions" or len(sample.predictions) != 1:
        return None
    (labels,) = sample.predictions
    is_one = labels.dtype.kind in "bui" and labels.shape == sample.ground_truths[0].shape and bool(labels.size)
    return label_probe(sample.prediction_file, labels) if is_one else None


def _named(sample: Sample, category: int | None) -> Iterable[tuple[str, NDArray[Any]]]:
    names = sample.ground_truth_files or (sample.name,) * len(sample.ground_truths)
    drawn = list(zip(names, sample.ground_truths, strict=True))
    return drawn[(category or 1) - 1 :][:1] if sample.categories_drawn else drawn


def _truth(
    file: str, array: NDArray[Any], field: NDArray[Any] | None, asked: Asked
) -> tuple[TruthProbe, NDArray[np.bool_], NDArray[np.bool_]]:
    """Give what a ground truth holds, which pixels are positive and which count."""
    valid = np.ones(array.shape, np.bool_) if field is None else field.astype(np.bool_)
    if asked.void:
        valid &= ~equals_any(array, asked.void)
    nan = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
    values = few_distinct(array[valid] if asked.void or field is not None else array.reshape(-1))
    if asked.label_maps:
        from segbench.protocols.boundaries.label_maps import label_boundaries

        labels = label_boundaries(array)
    elif asked.rule is not None:
        labels = asked.rule.positive(array)
    elif array.dtype == np.bool_:
        labels = array
    else:
        # Only to see which way scores run; grey levels are a finding of their own.
        labels = array > (values[0] + values[-1]) / 2 if len(values) > 1 else array != 0
    lines = asked.lines and not asked.label_maps
    found = TruthProbe(
        file=file,
        values=values,
        positive_share=float(labels[valid].mean()) if valid.any() else 0.0,
        blocks=block_share(labels) if lines else 0.0,
        blocks_outside=block_share(~labels) if lines else 0.0,
        nan=nan,
        ignored=int(valid.size - np.count_nonzero(valid)),
    )
    return found, labels, valid


def _black_on_white(drawn: list[tuple[TruthProbe, NDArray[np.bool_], NDArray[np.bool_]]]) -> bool:
    return all(found.positive_share > 0.5 for found, _, _ in drawn)


def score_probe(
    file: str, soft: NDArray[Any], positive: NDArray[np.bool_], counted: NDArray[np.bool_], asked: Asked
) -> ScoreProbe:
    """Look into a soft map, given which pixels are positive and which count."""
    kind = soft.dtype.kind
    flat, labels = (soft.reshape(-1), positive.reshape(-1)) if counted.all() else (soft[counted], positive[counted])
    bad = int(flat.size - np.isfinite(flat).sum()) if kind == "f" else 0
    if bad:
        keep = np.isfinite(flat)
        flat, labels = flat[keep], labels[keep]
    if not flat.size:
        flat, labels = np.zeros(1, soft.dtype), np.zeros(1, np.bool_)
    step = max(1, flat.size // MOST_PIXELS)
    auc = _auc(flat[::step], labels[::step])
    lowest, highest = float(flat.min()), float(flat.max())
    levels = kind in "iu"
    scale = float(np.iinfo(soft.dtype).max) if levels else 1.0
    # Floats beyond 1 have no end of a scale that they could have been clipped at.
    end = (flat == (0 if asked.invert else scale)) & (highest <= scale)
    above_half = np.count_nonzero(flat[::step] > max(scale, highest) / 2)
    shares = as_shares(soft)
    ridges = (soft.max() - shares if asked.invert else shares) if asked.lines and not bad else None
    return ScoreProbe(
        file=file,
        dtype=soft.dtype.name,
        pixels=flat.size,
        lowest=lowest,
        highest=highest,
        whole=kind != "f" or bool((flat[::step] == np.rint(flat[::step])).all()),
        values=few_distinct(flat),
        not_finite=bad,
        auc=1 - auc if asked.invert else auc,
        bright=(2 * above_half > flat[::step].size) != asked.invert,
        top=(int(np.count_nonzero(end & labels)), int(np.count_nonzero(end & ~labels))),
        blocks=0.0 if ridges is None or not ridges.max() else block_share(ridges > ridges.max() / 2),
    )


def few_distinct(values: NDArray[Any]) -> tuple[float, ...]:
    """Give the distinct values of an array, rising, of many only `MOST_VALUES` of them."""
    if values.dtype == np.bool_:
        values = values.view(np.uint8) != 0
    if values.dtype in (np.uint8, np.uint16):
        distinct = np.flatnonzero(np.bincount(values, minlength=1)).astype(np.float64)
    else:
        # Most float maps have many values among their first pixels; only the others are sorted whole.
        distinct = np.unique(values[:: max(1, values.size // 1024)])
        if distinct.size < MOST_VALUES:
            distinct = np.unique(values)
    if distinct.dtype.kind == "f":
        distinct = distinct[~np.isnan(distinct)]
    if distinct.size > MOST_VALUES:
        distinct = distinct[np.linspace(0, distinct.size - 1, MOST_VALUES, dtype=int)]
    return tuple(map(float, distinct))


def _auc(scores: NDArray[Any], labels: NDArray[np.bool_]) -> float:
    """Give the chance that a positive pixel outranks a negative one, ties counting half."""
    ranks = scores if scores.dtype in (np.uint8, np.uint16) else np.unique(scores, return_inverse=True)[1]
    ranked = int(ranks.max()) + 1
    positives, negatives = (np.bincount(ranks[chosen], minlength=ranked) for chosen in (labels, ~labels))
    pairs = int(positives.sum()) * int(negatives.sum())
    below = np.cumsum(negatives) - negatives / 2
    return float(positives @ below / pairs) if pairs else float("nan")

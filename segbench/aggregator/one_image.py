"""`segbench.count`: one image given as arrays, counted as `evaluate` and accumulators count it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from segbench.aggregator.batches import Batch, Called, CountOn, are_arrays, are_volumes, as_image, as_planes, on_host
from segbench.aggregator.instances import as_instance_batch
from segbench.core.counts import Counts, Origin
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, warn_of
from segbench.core.protocol import Counted, OnDevice, Protocol
from segbench.core.sample import Sample
from segbench.inputs.scored_classes import ScoredClasses
from segbench.inputs.scored_instances import ScoredInstances
from segbench.loaders.arrays import squeezed
from segbench.protocols.guesses import answering
from segbench.protocols.registry import as_protocol

_CALLED = Called("ground_truth", "prediction")


@answering
def count(
    ground_truth: Any,  # noqa: ANN401  whatever holds numbers
    prediction: Any,  # noqa: ANN401
    protocol: Protocol | str = "pixels",
    valid: Any = None,  # noqa: ANN401
) -> Any:  # noqa: ANN401  counts of the protocol
    """Count one image, as `evaluate` does.

    Parameters
    ----------
    ground_truth, prediction : array or tensor
        NumPy arrays, what becomes one, PyTorch tensors (with or without gradient, of any device), or anything with
        DLPack support in the host's memory. Numbers are read as in files: uint8 and uint16 scores are levels, floats
        are scores as they are. `Pixels` and `Labels` take any shape and count all that there is, `Labels` also scores
        of the classes along one more axis; `Classes` takes a label map (H, W) and scores (C, H, W); `Contours`,
        `Objects` and `Centerlines` also volumes (D, H, W); all others (H, W) or (1, H, W).
        A list or tuple of arrays as `ground_truth` is one for each annotator, for `Boundaries`, `Regions` and
        ``Pixels(annotators=...)``; nested lists of numbers are one array. Pixels that a NumPy array masks are counted
        as ignored, as those outside `valid` are.
    protocol : Protocol or str
        What counts as right, with its settings, or a name for its defaults, as in ``"boundaries"``.
    valid : array or tensor of bool, the shape of `ground_truth`, optional
        False where a pixel is left out. Not for `Boundaries` and `Saliency`.

    Returns
    -------
    Counts
        Of the type of the protocol, such as `ScoreCounts` of `Pixels`. They add with ``+``, and ``.metrics()`` measures
        them as ``result.per_image`` does.

    Raises
    ------
    ArgumentError
        If something cannot be read as an array, or settings need names or files.
    ArgumentError or DataError
        If shapes differ.
    DataError
        If an array holds values that the settings do not allow.

    Warns
    -----
    UserWarning
        If scores or labels are probably not what was meant, such as logits beside ``at=0.5``.

    Notes
    -----
    Where the images of a set together decide which value is positive, as masks without ``positive`` do, one image has
    to show it: bool is as it is, and numbers hold 0 and one larger value, which is positive, or 0 alone. Others need
    ``positive``. Counts in which different values were positive do not add up.

    Examples
    --------
    >>> import numpy as np
    >>> import segbench
    >>> counts = segbench.count([0, 1, 1], [0.2, 0.9, 0.2])  # of pixels
    >>> counts.scores.tolist(), counts.positives.tolist(), counts.negatives.tolist()
    ([0.9, 0.2], [1, 1], [0, 1])
    >>> segbench.count([0, 255, 255], [0.2, 0.9, 0.2], segbench.Pixels(positive=255)) == counts
    True
    >>> drawn = [np.array([0, 1, 1]), np.array([0, 1, 0])]
    >>> segbench.count(drawn, [0.2, 0.9, 0.2], segbench.Pixels(annotators="each")).positives.tolist()
    [2, 1]

    Label maps, and scores of their classes:

    >>> counts = segbench.count([0, 1, 1, 2, 255], [0, 1, 2, 2, 0], segbench.Labels(classes=3))
    >>> counts.matrix.tolist(), counts.ignored
    ([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0]], 1)
    >>> round(counts.metrics()["miou"], 4)
    0.6667
    >>> of_classes = segbench.count([[0, 1]], [[[0.9, 0.4]], [[0.1, 0.6]]], segbench.Classes(labels=range(2)))
    >>> of_classes.metrics()["macro_f"]
    1.0

    Boundaries and regions, of one annotator or several:

    >>> line = np.eye(8, dtype=bool)
    >>> counts = segbench.count([line, line], line * 0.9, segbench.Boundaries(thresholds=3, max_dist="1px"))
    >>> counts.matched_gt.tolist(), counts.total_pred.tolist()
    ([16, 16, 16], [8, 8, 8])
    >>> counts = segbench.count([[1, 1, 1, 2]], [[1, 1, 2, 2]], "regions")
    >>> counts.metrics()["covering"]  # 3 pixels covered by 2 / 3, 1 by 1 / 2
    0.625

    Masks, of salient, thin or anomalous things:

    >>> truth, predicted = np.zeros((2, 8, 9), bool)
    >>> truth[2:6, 2:6] = predicted[2:6, 2:7] = True
    >>> round(segbench.count(truth, predicted, "saliency").metrics()["mae"], 4)  # 4 of 72 pixels
    0.0556
    >>> metrics = segbench.count(truth, predicted, "contours").metrics()
    >>> metrics["hd"], metrics["nsd@2"], round(metrics["dice"], 4)
    (1.0, 1.0, 0.8889)
    >>> segbench.count(truth, predicted, "centerlines").metrics()["cldice"]
    1.0
    >>> anomalies = segbench.count(truth, predicted * 0.9, "anomalies")
    >>> anomalies.components, anomalies.total_normal, anomalies.metrics()["image_score"]
    (1, 56, 0.9)

    Numbered objects:

    >>> objects, merged = np.zeros((2, 8, 9), int)
    >>> objects[2:6, :4], objects[2:6, 5:], merged[2:6] = 1, 2, 1
    >>> metrics = segbench.count(objects, merged, "objects").metrics()
    >>> metrics["f1@0.5"], round(metrics["aji"], 4)
    (0.0, 0.4444)
    """
    rules = as_protocol(protocol)
    if rules.why_not_alone:
        raise ArgumentError(rules.why_not_alone)
    batch = _as_batch(rules, ground_truth, prediction, valid)
    if batch.volumes:
        rules = rules.for_volumes()
    counted = count_batch(rules, batch, _CALLED)
    positives = rules.inputs.settle_alone(counted.facts, _CALLED.labels)
    warn_of(counted.notes, stacklevel=3)
    counts: Counts = counted.counts
    return counts.of_origin(Origin(1, (rules,), positives))


def _as_batch(protocol: Protocol, ground_truth: Any, prediction: Any, valid: Any) -> Batch:  # noqa: ANN401  as above
    """Take the arrays of an image: all that there is where no pixel depends on others, else one of two dimensions."""
    reads = protocol.reads
    if isinstance(protocol.inputs, ScoredInstances):
        return as_instance_batch(ground_truth, prediction, valid, _CALLED)
    count_on: CountOn = "auto" if protocol.capability(OnDevice) else "host"
    if not reads.pixelwise and not are_arrays(ground_truth):
        truth = ground_truth if hasattr(ground_truth, "shape") else on_host(ground_truth, _CALLED.labels)
        axes = len(squeezed(tuple(truth.shape)))
        if protocol.takes_volumes and are_volumes(protocol, truth, one_image=True):
            batch = as_planes(truth, prediction, valid, count_on, one_image=True, any_shape=True, called=_CALLED)
            return replace(batch, volumes=True)
        if axes != 2 and protocol.counts.of_tiles and not isinstance(protocol.inputs, ScoredClasses):
            stack = _classes_first(truth, prediction)
            return as_planes(truth, stack, valid, count_on, one_image=True, any_shape=True, called=_CALLED)
        if axes == 3 and reads.annotators:
            raise ArgumentError(
                Message(
                    "other-shape",
                    "ground_truth has shape ({shape}), expected (height, width); give several annotators as a list of "
                    "arrays: list(ground_truth)",
                    shape=tuple(truth.shape),
                )
            )
    batch = as_image(ground_truth, prediction, valid, count_on=count_on, reads=reads, called=_CALLED)
    if batch.valid is not None and reads.without_field:
        raise ArgumentError(Message("no-field", "valid or masked pixels: {why}", why=reads.without_field))
    return batch


def _classes_first(truth: Any, stack: Any) -> Any:  # noqa: ANN401  arrays or tensors
    """Move the axis of classes of a batch (N, C, H, W), beside labels (N, H, W), to the front."""
    shape, labels = tuple(getattr(stack, "shape", ())), tuple(truth.shape)
    if len(labels) < 3 or len(shape) != len(labels) + 1 or (shape[0], *shape[2:]) != labels:
        return stack
    return stack.swapaxes(0, 1)


def count_batch(protocol: Protocol, batch: Batch, called: Called, name: str = "batch") -> Counted:
    """Count a batch as one image of some name: tensors where they lie."""
    on_device = protocol.capability(OnDevice) if batch.tensors else None
    counted = on_device and on_device.count_tensors(batch.labels, batch.scores, batch.valid, called)
    if counted:
        return counted
    truths = batch.labels if isinstance(batch.labels, tuple) else (batch.labels,)
    files, file = (called.labels,) * len(truths), called.scores
    sample = Sample(
        name,
        truths,
        (batch.scores,),
        batch.valid,
        ground_truth_files=files,
        prediction_file=file,
        volume=batch.volumes,
        about=batch.about or (None, None),
    )
    with np.errstate(invalid="ignore"):  # as where files are counted
        return protocol.count(sample)

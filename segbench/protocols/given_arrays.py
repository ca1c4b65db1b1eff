"""The two arrays of an image that functions such as `segbench.count_contours` are given."""

from __future__ import annotations

from typing import Any

from segbench.core.arrays import as_array, split_mask, where_counted
from segbench.core.errors import ArgumentError
from segbench.core.sample import Sample


def image_of(ground_truth: Any, prediction: Any, valid: Any, *, of_stacks: str, maps: bool = False) -> Sample:  # noqa: ANN401  whatever NumPy can read
    """Check two arrays of one shape; `of_stacks` is the advice for more dimensions, which predicted `maps` may have."""
    given_truth, hidden = split_mask(ground_truth, "ground_truth")
    given_prediction, unpredicted = split_mask(prediction, "prediction")
    truth, predicted = as_array(given_truth, "ground_truth"), as_array(given_prediction, "prediction")
    if truth.ndim != 2 or not truth.size:
        hint = f"; {of_stacks}" * (truth.ndim > 2)
        raise ArgumentError(f"ground_truth has shape {truth.shape}, expected (H, W){hint}")
    if predicted.shape != truth.shape and not (maps and predicted.ndim == 3):
        raise ArgumentError(f"ground_truth has shape {truth.shape}, prediction {predicted.shape}; expected the same")
    counted = where_counted(valid, (truth.shape,), (hidden, unpredicted))
    files = {"ground_truth_files": ("ground_truth",), "prediction_file": "prediction"}
    return Sample("image", (truth,), (predicted,), counted, **files)  # type: ignore[arg-type]  # texts


def counts_of(protocol: Any, ground_truth: Any, prediction: Any, valid: Any, **advice: Any) -> Any:  # noqa: ANN401  of each
    """Count two arrays as a protocol does that takes arrays, see `image_of`."""
    if why_not := getattr(protocol, "why_not_arrays", ""):
        raise ArgumentError(why_not)
    return protocol.count(image_of(ground_truth, prediction, valid, **advice)).counts

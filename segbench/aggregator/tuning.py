"""From the result of a tuning set to the thresholds of a test set."""

from __future__ import annotations

from dataclasses import replace

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message
from segbench.core.numbers import many
from segbench.core.scores import Thresholds
from segbench.curves.curve import thresholds_from


def tuned_thresholds(tuning: Result) -> Thresholds:
    """Return the thresholds of a result's ROC hull, which name the data they were chosen on.

    Parameters
    ----------
    tuning : Result
        Of the pixel protocol, on images other than those to be tested.

    Returns
    -------
    Thresholds
        To be given to `segbench.evaluate`; its ``source`` is ``"tuning set"`` with the number of images, and the digest
        of the ground truth they were chosen on.

    Raises
    ------
    ArgumentError
        If the result is of another protocol, or was itself measured at thresholds of which none is left.
    DataError
        If it has failed images, lacks positives or negatives, or holds two-valued predictions.

    Examples
    --------
    >>> from segbench import evaluate
    >>> tuning = evaluate([([0, 1, 1, 0, 1], [0.1, 0.9, 0.5, 0.5, 0.1])])
    >>> tuned_thresholds(tuning).values
    array([0.9, 0.1])
    """
    if tuning.averages_runs:
        raise ArgumentError(
            Message(
                "mean-over-runs",
                "{method} is a mean over runs, each of which has thresholds of its own; take those of one: "
                "result.parts('run')[{run!r}]",
                method=tuning.method,
                run=next(iter(tuning.runs)),
            )
        )
    counts = tuning.scores
    if counts is None:
        raise ArgumentError(
            Message(
                "other-protocol",
                "thresholds come from results of the {expected} protocol, and this is a result of {protocol}",
                expected="pixels",
                protocol=tuning.protocol,
            )
        )
    if tuning.failed:
        problem = Message(
            "failed-images",
            "{failed:many image} failed; the first: {first}",
            failed=len(tuning.failed),
            first=next(iter(tuning.failed.values())).sentence,
        )
        raise DataError("tuning set", problem, "fix or remove what failed")
    totals = counts.total_positives, counts.total_negatives
    if min(totals) == 0:
        problem = Message(
            "one-class",
            "{positives} positives and {negatives} negatives, and both are needed",
            positives=totals[0],
            negatives=totals[1],
        )
        raise DataError("tuning set", problem)
    if counts.two_valued:
        problem = Message("two-valued", "two-valued predictions, expected soft maps: masks have no threshold to choose")
        tuning_results = Either("thresholds=...", "--tuning-results")
        raise DataError("tuning set", problem, Message("leave-out", "leave out {option}", option=tuning_results))
    images = "unnamed images" if tuning.unnamed else many(len(tuning.counts), "image")
    thresholds = thresholds_from(counts, source="")
    return replace(thresholds, source=f"tuning set of {images}, data {tuning.data}")

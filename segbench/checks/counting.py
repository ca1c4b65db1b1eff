"""Every image is counted as a run does, which shows what stops that run and no inspection of single images foresees."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from segbench.aggregator.benchmark import evaluate_pairing
from segbench.checks.findings import About, Finding, failing, finding
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, joined
from segbench.core.protocol import Protocol
from segbench.inputs.label_rules import ManyValuesError
from segbench.inputs.nodata import count_decoded, decode_for
from segbench.inputs.summaries import UncountedError, as_in_run
from segbench.loaders.pairing import Pairing
from segbench.loaders.reading import Repairs, read

THREADS = min(8, os.cpu_count() or 1)
"""Threads that decode and count images: both let others run."""

_UNMEASURED = Message("fix", "give images in which what is measured occurs")


def refused_set(error: DataError) -> list[Finding]:
    """Return why a set as a whole is refused."""
    side: About = "ground truth" if error.path == "ground truth" else "prediction"
    message = Message("not-countable", "{path}: {reason}", path=error.path, reason=error.what, error=error.kind)
    return finding(message, error.hint, [], side=side, whole=True)


def uncounted_findings(failures: Mapping[str, DataError], total: int) -> list[Finding]:
    """List what cannot be counted, with advice that fits all images inspected, ground truth and predictions apart."""
    seen = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    found: list[Finding] = []
    for side, images in grouped((error.side, image) for image, error in seen.items()).items():
        errors: dict[str, DataError] = {image: seen[image].error for image in images}
        several = {image: error for image, error in errors.items() if isinstance(error, ManyValuesError)}
        values = sorted({value for error in several.values() for value in error.stored})
        other_side = sorted({value for error in several.values() for value in error.other_side})
        errors |= {image: error.of_set(values, other_side) for image, error in several.items() if error.stored}
        message = Message(
            "not-countable",
            "{count:many image} of {total} inspected cannot be counted with these settings",
            count=len(errors),
            total=total,
            errors=sorted({error.kind for error in errors.values()}),
        )
        found += failing(message, errors, side=side)
    return found


def counted_findings(pairing: Pairing, protocol: Protocol, repairs: Repairs, known: Collection[str]) -> list[Finding]:
    """Find what stops a run: images that cannot be counted, beside the `known`, and sets that leave metrics open."""
    try:
        with ThreadPoolExecutor(THREADS) as threads, warnings.catch_warnings(action="ignore"):
            result = evaluate_pairing(pairing, protocol, method="", repairs=repairs, executor=threads)
    except DataError as error:
        return refused_set(error)
    failures: dict[str, DataError] = {}
    for files in pairing.files:
        if files.name in result.failed and files.name not in known:
            try:  # for the error itself, which advises on the values of a set: a result keeps what it says of one image
                with np.errstate(invalid="ignore"):
                    as_in_run(partial(count_decoded, result.rules), decode_for(result.rules, read(files), repairs))
            except DataError as error:
                failures[files.name] = error
    if failures or known or not result.summary.empty:
        return uncounted_findings(failures, len(pairing.files))
    reasons = grouped((reason, key) for key, reason in result.summary.undefined.items())
    undefined = [
        Message("metrics", "{metrics} ({reason})", metrics=keys, reason=reason) for reason, keys in reasons.items()
    ]
    message = Message("undefined", "no metric is defined: {reasons}", reasons=joined(undefined))
    return finding(message, _UNMEASURED, [], side="ground truth", whole=True)

"""Which images are inspected: a few, evenly spread, and those that look damaged."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from segbench.checks.classes import probe_classes
from segbench.checks.countable import probe_counts
from segbench.checks.probes import Probe, probe
from segbench.checks.sizes import Surveyed
from segbench.core.capabilities import ByClass, Confusing, expected_in
from segbench.core.interface import carried
from segbench.core.protocol import Protocol
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs
from segbench.loaders.sizes import fixable

_MOST_ODD = 1000
"""Files of odd headers that are decoded, to say what is wrong with them."""
_WORTH_THREADS, _MOST_THREADS = 8, 8


def probes_of(
    samples: Sequence[SampleFiles], surveyed: Surveyed, protocol: Protocol, repairs: Repairs, sample: int | None
) -> list[Probe]:
    """Inspect some images, None for all, as evenly spread as the headers allow."""
    chosen = _chosen(samples, surveyed, sample)
    if not chosen:
        chosen = _repairable(samples, surveyed, sample)
        repairs = replace(repairs, crop=False, resize="nearest")
    inspect: Callable[[SampleFiles], Probe]
    if classes := protocol.capability(ByClass):
        inspect = partial(probe_classes, reads=protocol.reads, classes=classes)
    elif counted_by := protocol.capability(Confusing):
        inspect = partial(probe_counts, protocol=protocol, counted_by=counted_by, repairs=repairs)
    else:
        inspect = partial(probe, reads=protocol.reads, expected=expected_in(protocol), repairs=repairs)

    def inspected(files: SampleFiles) -> Probe:
        with np.errstate(invalid="ignore"):  # as where images are counted
            return inspect(files)

    if len(chosen) < _WORTH_THREADS:
        return list(map(inspected, chosen))
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:  # decoders let other threads run
        return list(threads.map(carried(inspected), chosen))


def _chosen(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose what is decoded: a few of the images that look sound, evenly spread, and those that look damaged."""
    unsound = {misfit.image for misfit in surveyed.misfits} | surveyed.broken.keys() | set(surveyed.odd)
    sound = [files for files in samples if files.name not in unsound]
    odd = [files for files in samples if files.name in surveyed.odd and files.name not in surveyed.broken]
    if sample is None:
        return [*sound, *odd]
    return [*_spread(sound, sample), *odd[:_MOST_ODD]]


def _repairable(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose a few images to inspect where all have a prediction of another size: their values may be wrong, too."""
    fit = {m.image for m in surveyed.misfits if m.role == "prediction" and fixable(m.shape, m.expected)}
    others = {m.image for m in surveyed.misfits if m.role != "prediction"}
    left = [files for files in samples if files.name in fit - others]
    return left if sample is None else _spread(left, sample)


def _spread(samples: Sequence[SampleFiles], count: int) -> list[SampleFiles]:
    count = min(count, len(samples))
    return [samples[place * len(samples) // count] for place in range(count)]

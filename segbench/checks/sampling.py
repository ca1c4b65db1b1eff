"""Which images are looked into: a few, evenly spread, and those that look damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from segbench.checks.asked import Asked
from segbench.checks.classes import probe_classes
from segbench.checks.labels import probe_labels
from segbench.checks.probes import probe
from segbench.checks.seen import Probe
from segbench.checks.sizes import Surveyed
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.sizes import mendable

_MOST_ODD = 1000
"""Files of odd headers that are decoded, to say what is wrong with them."""
_WORTH_THREADS, _MOST_THREADS = 8, 8


def probes_of(samples: Sequence[SampleFiles], surveyed: Surveyed, asked: Asked, sample: int | None) -> list[Probe]:
    """Look into some images, None for all, as evenly spread as what the headers told allows."""
    chosen = _chosen(samples, surveyed, sample)
    return _probes(chosen or _mendable(samples, surveyed, sample), asked, as_if_resized=not chosen)


def _chosen(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose what is decoded: a few of the images that look sound, evenly spread, and those that look damaged."""
    unsound = {misfit.image for misfit in surveyed.misfits} | surveyed.broken.keys() | set(surveyed.odd)
    sound = [files for files in samples if files.name not in unsound]
    odd = [files for files in samples if files.name in surveyed.odd and files.name not in surveyed.broken]
    if sample is None:
        return [*sound, *odd]
    return [*_spread(sound, sample), *odd[:_MOST_ODD]]


def _mendable(samples: Sequence[SampleFiles], surveyed: Surveyed, sample: int | None) -> list[SampleFiles]:
    """Choose a few images to look into where all have a prediction of another size: their values may be wrong, too."""
    fit = {m.image for m in surveyed.misfits if m.role == "prediction" and mendable(m.shape, m.expected)}
    others = {m.image for m in surveyed.misfits if m.role != "prediction"}
    left = [files for files in samples if files.name in fit - others]
    return left if sample is None else _spread(left, sample)


def _spread(samples: Sequence[SampleFiles], count: int) -> list[SampleFiles]:
    count = min(count, len(samples))
    return [samples[place * len(samples) // count] for place in range(count)]


def _probes(samples: Sequence[SampleFiles], asked: Asked, *, as_if_resized: bool) -> list[Probe]:
    """Decode a few images at a time: decoders let other threads run."""
    if as_if_resized:
        asked = replace(asked, repairs=replace(asked.repairs, crop=False, resize="nearest"))
    look = partial(probe_classes, classes=asked.classes) if asked.classes else probe
    if asked.counted_by is not None:
        look = partial(probe_labels, protocol=asked.counted_by)
    if len(samples) < _WORTH_THREADS:
        return [look(files, asked=asked) for files in samples]
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
        return list(threads.map(partial(look, asked=asked), samples))

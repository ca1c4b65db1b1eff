"""Predictions that are turned, or of the next images: as they are they rank pixels by chance, and another way well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isnan
from statistics import fmean, median, pstdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.checks.findings import Finding, Place, finding
from segbench.checks.inversion import INVERTED_BELOW
from segbench.checks.map_kinds import labels_as_scores
from segbench.checks.seen import Seen, rule
from segbench.checks.sizes import RENAME
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.sample import Sample
from segbench.inputs.mask_summaries import summarized
from segbench.inputs.nodata import decode_for, interpret_decoded
from segbench.inputs.summaries import Ranking
from segbench.loaders.reading import read

IN_A_ROW = 8
"""Images that are compared, one after another, for a shift of names pairs neighbours."""
_LEAST = 3
BAD = 0.7
"""Median AUC-ROC from which predictions belong where they are."""
FAR_BETTER, SPREADS = 0.03, 4
"""What AUC-ROC has to gain in two images of three: this, and so many times its spread over all else that was tried.
Thin lines gain little, but nothing else gains anything; smooth noise gains much, in some images, by everything."""

_TURNS: Mapping[str, tuple[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "mirrored left to right": ("[:, ::-1]", lambda soft: soft[:, ::-1]),
    "upside down": ("[::-1]", lambda soft: soft[::-1]),
    "turned by 180 degrees": ("[::-1, ::-1]", lambda soft: soft[::-1, ::-1]),
}


_TURNS_OF_VOLUMES: Mapping[str, tuple[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "mirrored left to right": ("[..., ::-1]", lambda soft: soft[..., ::-1]),
    "mirrored front to back": ("[:, ::-1]", lambda soft: soft[:, ::-1]),
    "upside down": ("[::-1]", lambda soft: soft[::-1]),
    "stored with the axes (x, y, z)": (".transpose(2, 1, 0)", lambda soft: soft.transpose(2, 1, 0)),
}


class _Compared(NamedTuple):
    """An image as it is, and with another prediction."""

    own: Ranking
    other: Ranking


def ranks_badly(rankings: Sequence[Ranking]) -> bool:
    """Return whether predictions rank pixels about by chance, and not the other way round."""
    aucs = [ranking.auc for ranking in rankings if not isnan(ranking.auc)]
    return bool(aucs) and INVERTED_BELOW <= median(aucs) < BAD


@rule("turned", "exchanged-images", needs=["rankings"], unless=[labels_as_scores])
def geometry(seen: Seen) -> list[Finding]:
    """Decode a few images in a row again where predictions rank pixels badly, and judge them turned."""
    if not ranks_badly(seen.rankings):
        return []
    files_of = {files.name: files for files in seen.pairing.files}
    first = min([*files_of].index(seen.rankings[0].image), max(len(files_of) - IN_A_ROW, 0))
    samples = []
    for files in [*files_of.values()][first : first + IN_A_ROW]:
        with suppress(DataError):
            samples.append(decode_for(seen.protocol, read(files), seen.repairs))
        if len(samples) >= _LEAST and samples[0].volume:  # which take much memory
            break

    interpret = partial(interpret_decoded, seen.protocol)

    def rank(sample: Sample) -> Ranking | None:
        try:
            summary = summarized(seen.inputs, sample, files_of[sample.name], interpret)
        except DataError:
            return None
        return summary.scores or summary.mask

    with np.errstate(invalid="ignore"):
        return _turned_or_exchanged(samples, rank)


def _turned_or_exchanged(samples: Sequence[Sample], rank: Callable[[Sample], Ranking | None]) -> list[Finding]:
    """Find that predictions of a few images in a row are turned, or paired with neighbours."""
    rankings: dict[int, Ranking] = {}
    for number, sample in enumerate(samples):
        ranking = rank(sample)
        if ranking and not isnan(ranking.auc):
            rankings[number] = ranking
    if len(rankings) < _LEAST or not ranks_badly([*rankings.values()]):
        return []

    def compared(change: Callable[[int], tuple[NDArray[Any], ...] | None]) -> list[_Compared]:
        pairs = []
        for number, ranking in rankings.items():
            maps, sample = change(number), samples[number]
            if maps and [soft.shape for soft in maps] == [soft.shape for soft in sample.predictions]:
                changed = rank(replace(sample, predictions=maps))
                pairs += [_Compared(ranking, changed)] if changed else []
        return pairs

    turns = _TURNS_OF_VOLUMES if samples[0].volume else _TURNS
    changes: dict[str | int, list[_Compared]] = {
        name: compared(lambda number, turn=turn: tuple(map(turn, samples[number].predictions)))  # type: ignore[misc]
        for name, (_, turn) in turns.items()
    }

    def of_neighbour(step: int) -> Callable[[int], tuple[NDArray[Any], ...] | None]:
        return lambda number: samples[number + step].predictions if 0 <= number + step < len(samples) else None

    steps = [step for step in range(_LEAST - len(samples), len(samples) - _LEAST + 1) if step]
    changes |= {step: compared(of_neighbour(step)) for step in steps}
    best = _far_better(changes)
    if best is None:
        return []
    pairs = changes[best]
    gain = Message(
        "gain",
        "the median AUC-ROC of {count} images is {auc_then:.2f} instead of {auc:.2f}",
        count=len(pairs),
        auc=median(pair.own.auc for pair in pairs),
        auc_then=median(pair.other.auc for pair in pairs),
    )
    if isinstance(best, str):
        message = Message("turned", "predictions look {turn}: turned back, {gain}", turn=best, gain=gain)
        fix = Message("fix", "save them turned back, as scores{turn}", turn=turns[best][0])
        return finding(message, fix, map(_place, pairs))
    message = Message(
        "exchanged-images",
        "predictions seem to be of other images: with that of the image {steps} {way} it, by name, {gain}",
        steps=abs(best),
        way="after" if best > 0 else "before",
        gain=gain,
    )
    return finding(message, RENAME, map(_place, pairs), side="names")


def _far_better(changes: Mapping[str | int, Sequence[_Compared]]) -> str | int | None:
    """Return the change that makes two images of three far better, of several the best; None if there is none."""
    medians = {
        change: median(pair.other.auc for pair in pairs) for change, pairs in changes.items() if len(pairs) >= _LEAST
    }
    if not medians:
        return None
    best = max(medians, key=lambda change: medians[change])
    pairs = changes[best]
    other_aucs = [pair.other.auc for change, others in changes.items() if change != best for pair in others]
    other_aucs += [pair.own.auc for pair in pairs]
    gain, usual = max(FAR_BETTER, SPREADS * pstdev(other_aucs)), fmean(other_aucs)
    better = sum(pair.other.auc >= max(pair.own.auc, usual) + gain for pair in pairs)
    return best if 3 * better >= 2 * len(pairs) else None


def _place(pair: _Compared) -> Place:
    detail = Message("detail", "AUC-ROC {auc:.2f}, {auc_then:.2f} then", auc=pair.own.auc, auc_then=pair.other.auc)
    return Place(pair.own.file, detail)

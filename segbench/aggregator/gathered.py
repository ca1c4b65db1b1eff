"""The counts an accumulator holds: those of named images packed, those of unnamed pixels pooled.

Which label is positive may be settled by images still to come, so counts of an image are kept apart by the label values
they rest on (see `Counted`) until figures are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from segbench.aggregator.codec import Counts, decode, encode
from segbench.aggregator.figures import PROTOCOLS
from segbench.counts import ScoreCounts
from segbench.counts.scores import Pool
from segbench.errors import ArgumentError
from segbench.protocols.counted import Counted, swapped
from segbench.protocols.labels import agree_on_positive

Repeated = Literal["refuse", "add", "once"]
LabelValues = tuple[float, ...]
Packed = Mapping[LabelValues, bytes]

_WITHOUT_NAME = "pixels without the name of an image"


class Gathered:
    """Counts of images by name, and of pixels without name, each by the label values found.

    Parameters
    ----------
    protocol : str
        Name of the protocol that counted.
    images : mapping of image name to packed counts by label values, optional
    unnamed : mapping of label values to packed counts, optional
    """

    def __init__(
        self,
        protocol: str,
        images: Mapping[str, Packed] | None = None,
        unnamed: Packed | None = None,
    ) -> None:
        self._pool = PROTOCOLS[protocol].pool
        self._images = dict(images or {})
        self._unnamed: dict[LabelValues, Pool] = {}
        for values, data in (unnamed or {}).items():
            self._unnamed.setdefault(values, Pool()).add(_scores(decode(data)))
        self._values = set().union(*self._found().values())

    def __len__(self) -> int:
        """Count the images."""
        return len(self._images)

    @property
    def any_unnamed(self) -> bool:
        """Whether there are pixels without name."""
        return bool(self._unnamed)

    def add(self, images: Iterable[tuple[str, Packed]], unnamed: Sequence[Counted], *, repeated: Repeated) -> None:
        """Add all of it, or nothing where something is refused.

        Raises
        ------
        ArgumentError
            For a name that is here, unless `repeated` says what that means.
        DataError
            If labels of more than two values have been found, and no rule says which are positive.
        """
        fresh: dict[str, Packed] = {}
        for name, packed in images:
            fresh[name] = self._joined(name, fresh.get(name, self._images.get(name)), packed, repeated)
        values = [*(values for held in fresh.values() for values in held), *(part.label_values for part in unnamed)]
        found = self._values.union(*values)
        if len(found) > 2:
            without = {_WITHOUT_NAME: _union([*self._unnamed, *(part.label_values for part in unnamed)])}
            agree_on_positive(self._found() | {name: _union(held) for name, held in fresh.items()} | without)
        self._values = found
        self._images.update(fresh)
        for part in unnamed:
            self._unnamed.setdefault(part.label_values, Pool()).add(_scores(part.counts))

    def packed(self) -> tuple[dict[str, Packed], dict[LabelValues, bytes]]:
        """Give all counts packed: what `Gathered` is made from again, or others add."""
        unnamed = {values: encode(pool.total()) for values, pool in self._unnamed.items()}
        return dict(self._images), unnamed

    def settled(self) -> tuple[dict[str, bytes], ScoreCounts | None]:
        """Give the packed counts of each image, and of pixels without name, now that the positive label is known.

        Raises
        ------
        DataError
            If the labels found leave it open.
        """
        positive = agree_on_positive(self._found()) if self._values else None
        images = {}
        for name, held in self._images.items():
            if len(held) == 1 and (positive,) not in held:
                (images[name],) = held.values()
            else:
                images[name] = encode(self._pool([_agreed(part, positive) for part in unpacked(held)]))
        if not self._unnamed:
            return images, None
        parts = (Counted(pool.total(), values) for values, pool in self._unnamed.items())
        return images, ScoreCounts.sum(_scores(_agreed(part, positive)) for part in parts)

    def _joined(self, name: str, held: Packed | None, fresh: Packed, repeated: Repeated) -> Packed:
        if held is None:
            return fresh
        if repeated == "refuse":
            raise ArgumentError(
                f"{name!r} was counted before; call reset() before the next epoch, or say what a repeated name means: "
                "repeated='add' for tiles of one image, repeated='once' for a sampler that repeats images"
            )
        if repeated == "once":
            if held != fresh:
                raise ArgumentError(f"{name!r} was counted before with other counts, so it is not the same image again")
            return held
        joined = dict(held)
        for values, data in fresh.items():
            joined[values] = encode(self._pool([decode(held[values]), decode(data)])) if values in held else data
        return joined

    def _found(self) -> dict[str, LabelValues]:
        unnamed = {_WITHOUT_NAME: _union(self._unnamed)} if self._unnamed else {}
        return {name: _union(held) for name, held in self._images.items()} | unnamed


def _union(values: Iterable[LabelValues]) -> LabelValues:
    return tuple(sorted({value for found in values for value in found}))


def unpacked(held: Packed) -> list[Counted]:
    """Unpack counts kept by label values."""
    return [Counted(decode(data), values) for values, data in held.items()]


def _agreed(part: Counted, positive: float | None) -> Counts:
    return swapped(_scores(part.counts)) if part.label_values == (positive,) else part.counts


def _scores(counts: Counts) -> ScoreCounts:
    if not isinstance(counts, ScoreCounts):
        raise ArgumentError("only pixels can do without names of images")
    return counts

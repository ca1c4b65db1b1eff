"""The counts an accumulator holds: those of named images packed, those of unnamed pixels pooled.

What the whole set decides, such as which label is positive, may be settled by images still to come, so counts of an
image are kept apart by the facts they rest on (see `segbench.core.protocol.Counted`) until metrics are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from segbench.aggregator.codec import decode, encode
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.protocol import Counted, Facts, Protocol, Settled
from segbench.core.scores import Pool, ScoreCounts

Repeated = Literal["refuse", "add", "once"]
Packed = Mapping[Facts, bytes]

_WITHOUT_NAME = "pixels without the name of an image"


class Gathered:
    """Counts of images by name, and of pixels without name, each by the facts they rest on.

    Parameters
    ----------
    protocol : Protocol
        The protocol that counted.
    images : mapping of image name to packed counts by facts, optional
    unnamed : mapping of facts to packed counts, optional
    """

    def __init__(
        self,
        protocol: Protocol,
        images: Mapping[str, Packed] | None = None,
        unnamed: Packed | None = None,
    ) -> None:
        self._protocol = protocol
        self._images = dict(images or {})
        self._unnamed: dict[Facts, Pool] = {}
        for facts, data in (unnamed or {}).items():
            self._unnamed.setdefault(facts, Pool()).add(_scores(decode(data)))

    def __len__(self) -> int:
        """Count the images."""
        return len(self._images)

    @property
    def any_unnamed(self) -> bool:
        """Whether there are pixels without name."""
        return bool(self._unnamed)

    def add(self, images: Iterable[tuple[str, Packed]], unnamed: Sequence[Counted], *, repeated: Repeated) -> None:
        """Add all of it, or nothing where something is refused."""
        fresh: dict[str, Packed] = {}
        for name, packed in images:
            fresh[name] = self._joined(name, fresh.get(name, self._images.get(name)), packed, repeated)
        without = _union([*self._unnamed, *(part.facts for part in unnamed)])
        found = self._found() | {name: _union(held) for name, held in fresh.items()}
        self._protocol.settle(found | ({_WITHOUT_NAME: without} if without else {}), complete=False)
        self._images.update(fresh)
        for part in unnamed:
            self._unnamed.setdefault(part.facts, Pool()).add(_scores(part.counts))

    def packed(self) -> tuple[dict[str, Packed], dict[Facts, bytes]]:
        """Give all counts packed: what `Gathered` is made from again, or others add."""
        unnamed = {facts: encode(pool.total()) for facts, pool in self._unnamed.items()}
        return dict(self._images), unnamed

    def settled(self) -> tuple[dict[str, bytes], ScoreCounts | None]:
        """Give the packed counts of each image, and of pixels without name, now that the set is complete."""
        settled = self._protocol.settle(self._found())
        images = {}
        for name, held in self._images.items():
            if len(held) == 1 and not settled.keys() & held.keys():
                (images[name],) = held.values()
            else:
                images[name] = encode(self._sum(_agreed(part, settled) for part in self.unpacked(held)))
        if not self._unnamed:
            return images, None
        parts = (Counted(pool.total(), facts) for facts, pool in self._unnamed.items())
        return images, ScoreCounts.sum(_scores(_agreed(part, settled)) for part in parts)

    def unpacked(self, held: Packed) -> list[Counted]:
        """Unpack counts kept by facts."""
        return [Counted(decode(data, self._protocol.counts), facts) for facts, data in held.items()]

    def _sum(self, counts: Iterable[Counts]) -> Counts:
        return self._protocol.counts.sum(counts)

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
        for facts, data in fresh.items():
            both = (
                [part.counts for part in self.unpacked({facts: held[facts]}) + self.unpacked({facts: data})]
                if facts in held
                else []
            )
            joined[facts] = encode(self._sum(both)) if both else data
        return joined

    def _found(self) -> dict[str, Facts]:
        unnamed = {_WITHOUT_NAME: _union(self._unnamed)} if self._unnamed else {}
        return {name: _union(held) for name, held in self._images.items()} | unnamed


def _union(known: Iterable[Facts]) -> Facts:
    return tuple(sorted({fact for facts in known for fact in facts}))


def _agreed(part: Counted, settled: Settled) -> Counts:
    counts: Counts = settled[part.facts](part.counts) if part.facts in settled else part.counts
    return counts


def _scores(counts: Counts) -> ScoreCounts:
    if not isinstance(counts, ScoreCounts):
        raise ArgumentError("only pixels can do without names of images")
    return counts

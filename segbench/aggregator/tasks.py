"""What one worker does: read an image's files once, count them, and answer with a few hundred bytes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

from segbench.aggregator.codec import encode
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.load import Digests, decode_sample, read
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.repairs import Repairs


@dataclass(frozen=True)
class Task:
    """One image to count; `known` is the digest of its files when they were counted before."""

    files: SampleFiles
    known: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of one image: packed counts, or a reason.

    Parameters
    ----------
    name : str
        The image.
    digest : str
        Content of all its files, empty if they could not be read.
    ground_truth_digest : str
        Content of its ground truth and field of view.
    counts : bytes, optional
        Packed counts; None where the image failed, or is unchanged since it was counted.
    facts : tuple of float
        What the whole set needs to know of the image, see `segbench.core.protocol.Counted`.
    failure : str
        Why there are no counts; empty if all is well.
    notes : tuple of str
        What was done to the data while reading and counting.
    seconds : float
        Time spent on the image.
    """

    name: str
    digest: str = ""
    ground_truth_digest: str = ""
    counts: bytes | None = None
    facts: tuple[float, ...] = ()
    failure: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def count_images(protocol: Protocol, repairs: Repairs, tasks: Sequence[Task]) -> list[Outcome]:
    """Count a few images; what is wrong with one does not touch the others."""
    return [_count_image(protocol, repairs, task) for task in tasks]


def _count_image(protocol: Protocol, repairs: Repairs, task: Task) -> Outcome:
    started = time.perf_counter()
    name = task.files.name
    try:
        raw = read(task.files)
        ground_truth_digest, digest = joint_digests(raw.digests)
        if digest == task.known:
            return Outcome(name, digest, ground_truth_digest)
        sample = decode_sample(raw, protocol.reads, repairs)
        image = protocol.count(sample)
        return Outcome(
            name,
            digest,
            ground_truth_digest,
            encode(image.counts),
            image.facts,
            notes=(*sample.notes, *image.notes),
            seconds=time.perf_counter() - started,
        )
    except DataError as error:
        return Outcome(name, failure=str(error))
    except Exception as error:  # noqa: BLE001  one image's trouble, foreseen or not, must not lose the others
        return Outcome(name, failure=f"{name}: {type(error).__name__}: {error}")


def joint_digests(digests: Digests) -> tuple[str, str]:
    """Give one digest for the ground truth and field of view of an image, and one for all its files."""
    ground_truth = _joint(*digests.ground_truths, digests.field)
    return ground_truth, _joint(ground_truth, digests.prediction, *digests.scales)


def _joint(*digests: str | None) -> str:
    return hashlib.sha256(",".join(map(str, digests)).encode()).hexdigest()

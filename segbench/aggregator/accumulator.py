"""Counts added up batch by batch, in a training loop or a notebook, and merged from any number of workers.

What the whole set decides, such as which label is positive, may be settled by images still to come, so counts of an
image are kept apart by the facts they rest on (see `segbench.core.protocol.Counted`) until metrics are computed.
"""

from __future__ import annotations

import hashlib
import threading
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, get_args

from segbench.aggregator.assembling import PackedCounts
from segbench.aggregator.batches import (
    BATCH_HINT,
    DIGEST_BITS,
    Batch,
    Called,
    CountOn,
    Name,
    are_volumes,
    as_batch,
    as_image,
    as_name,
    as_planes,
    content_of,
)
from segbench.aggregator.codec import EncodedCounts, decode, encode
from segbench.aggregator.instances import as_instance_batch, listed_batch
from segbench.aggregator.one_image import count_batch
from segbench.aggregator.records import UNNAMED, DataDigest, Digests, Outcome, Run, as_run, signature
from segbench.aggregator.result import Result
from segbench.aggregator.saving import finish
from segbench.aggregator.store import ResultsFile
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Note, Setting, warn_of
from segbench.core.names import MethodRun
from segbench.core.numbers import many
from segbench.core.protocol import Counted, Facts, OnDevice, Pooling, Protocol, Settled, settled
from segbench.core.scores import Pool, ScoreCounts
from segbench.core.settings import as_path, check_choice
from segbench.inputs.scored_instances import ScoredInstances
from segbench.loaders.arrays import squeezed
from segbench.loaders.source import shown
from segbench.protocols.guesses import answering, refuse_attribute
from segbench.protocols.pixels.metrics import WITHOUT_NAMES
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol

Repeated = Literal["refuse", "add", "once"]
Packed = Mapping[Facts, bytes]
"""Packed counts of one image by the facts they rest on; empty where they stay in the results file."""


class _HeldImage(NamedTuple):
    """What is held of an image."""

    content: int  # of the ground truth, see `content_of`; of tiles the sum
    packed: Packed


class DataSet(typing.Protocol):
    """Images by their places, such as a PyTorch data set."""

    def __len__(self) -> int:
        """Return the number of images."""

    def __getitem__(self, index: int, /) -> Any:  # noqa: ANN401  `Arrays` says of what
        """Return the image at an index."""


Arrays = Mapping[Any, Any] | Iterable[Any] | DataSet
"""Images as ``(labels, scores)`` or ``(labels, scores, valid)``, by name or one after the other."""

_EXPECTED = "expected (labels, scores) or (labels, scores, valid) for each image"
_NO_NAME = "accumulated"
_WITHOUT_NAME = "pixels without the name of an image"


class Accumulator:
    """Benchmark what a loop predicts, batch by batch, without files.

    Images become integer counts when they are given, and nothing else is kept, so any order of batches and any split
    over workers gives the same metrics, to the last bit those of `segbench.evaluate` on the same arrays in files.

    Parameters
    ----------
    protocol : Protocol or str, optional
        What counts as right, with its settings, or a name for the defaults, as in ``"boundaries"``; ``Pixels()`` if
        left out.
    method : str
        Name of the method in tables and plots.
    run : str
        Which training of the method, or which fold of a cross-validation, this is; empty where it has only one. Which
        images belong together, `Result.with_settings` of what `compute` returns says: ``unit="folder"``.
    repeated : {"refuse", "add", "once"}
        What a name means that was given before: an error, as when an epoch is counted twice; another part of the same
        image (tiles), so that counts of pixels, classes or labels are added; or the same image again, which counts
        once. The last is for samplers that fill up the last batch (PyTorch's ``DistributedSampler``); its counts must
        be the same both times.
    count_on : {"auto", "device", "host"}
        Where PyTorch tensors are counted: ``"auto"`` counts images of 512x512 pixels and more on their device, unless
        that is the CPU (or Apple's ``mps``, which lacks float64), as smaller ones are copied in less time; ``"device"``
        always counts by PyTorch's operations, on the CPU, too; ``"host"`` always copies tensors to the host's memory.
        The counts are the same. Of `Labels` stacks of scores are reduced to labels there,
        and these are counted on the host; of other protocols but `Pixels` tensors are always copied.
    results : path, optional
        Results file to which the counts of each batch go, so that large ones are not held in memory; `compute`
        completes the run there. Images need names that are given once.

    Raises
    ------
    ArgumentError
        For an unknown protocol or option; for settings that need files; for `results` with names that repeat.

    Notes
    -----
    - **Thread-safe**: any method may be called from any thread. Counting runs side by side, adding takes a lock.
    - **Pickles** hold the counts, compressed. Unpickle only what you wrote yourself, as always with Python's pickles.
    - **Memory** is that of the counts: a named image takes .5 to 2 KB with 8-bit levels, and about half the size of its
      scores with float32 (.5 MB for 512x512). Unnamed pixels are pooled, at 20 bytes per distinct score. With
      ``Pixels(quantize=16)`` it is that of 16-bit levels, and the pool takes at most 1.5 MB.
      With `results` it is that of one batch, and of packed counts of up to 64 KB.
    - Large images on a GPU are counted there and only counts are copied; counts are those of the host to the last bit.

    Examples
    --------
    >>> accumulator = Accumulator()
    >>> accumulator.update([[0, 1], [1, 1]], [[0.2, 0.9], [0.4, 0.8]], names=["a", "b"])
    >>> accumulator.update([[1, 0]], [[0.7, 0.3]], names=["c"])
    >>> result = accumulator.compute()
    >>> result.summary["ods_f"], result.summary["ods_threshold"], list(result.counts)
    (1.0, 0.4, ['a', 'b', 'c'])
    """

    @answering
    def __init__(
        self,
        protocol: Protocol | str = Pixels(),
        *,
        method: str = _NO_NAME,
        run: str = "",
        repeated: Repeated = "refuse",
        count_on: CountOn = "auto",
        results: str | PathLike[str] | None = None,
    ) -> None:
        protocol = as_protocol(protocol)
        if protocol.inputs.why_not_arrays:
            raise ArgumentError(protocol.inputs.why_not_arrays)
        check_choice(repeated, "repeated", get_args(Repeated))
        check_choice(count_on, "count_on", get_args(CountOn))
        if repeated == "add" and not protocol.adds_tiles:
            raise ArgumentError(
                Message(
                    "no-tiles",
                    "repeated='add': tiles do not add up in the {protocol} protocol; give whole images",
                    protocol=protocol.name,
                )
            )
        if results is not None and repeated != "refuse":
            problem = Message(
                "beside-results",
                "results keeps counts in a file as they come; leave out {given}",
                given=Setting("repeated", repeated),
            )
            raise ArgumentError(problem)
        self.protocol = protocol
        self.results = None if results is None else Path(as_path(results, "results"))
        self.method = method
        self.run = as_run(run)
        self.repeated: Repeated = repeated
        self.count_on: CountOn = count_on
        self._lock = threading.Lock()
        self._saved: set[Path] = set()  # results files that this accumulator saved in
        self._forget()

    @property
    def _label(self) -> MethodRun:
        """The method and its run."""
        return MethodRun(self.method, self.run)

    def _forget(self) -> None:
        self._images: dict[str, _HeldImage] = {}
        self._digests: dict[str, str] = {}  # of images in the results file
        # Of images that have any, so that each update does not read all images.
        self._image_facts: dict[str, Facts] = {}
        self._unnamed: dict[Facts, Pool] = {}
        self._notes: set[Note] = set()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write for a method of other packages."""
            refuse_attribute(self, name)

    def __repr__(self) -> str:
        """Say what is in it."""
        unnamed = " and unnamed pixels" if self._unnamed else ""
        return f"<Accumulator {str(self._label)!r} of {self.protocol!r}: {many(len(self._images), 'image')}{unnamed}>"

    @answering
    def update(
        self,
        labels: Any,  # noqa: ANN401  whatever holds numbers
        scores: Any,  # noqa: ANN401
        valid: Any = None,  # noqa: ANN401
        *,
        name: Name | None = None,
        names: Sequence[Name] | None = None,
    ) -> None:
        """Count a batch.

        Parameters
        ----------
        labels, scores : array or tensor
            Ground truth and prediction: NumPy arrays, what becomes one, PyTorch tensors, or anything with DLPack
            support in the host's memory; with or without gradient, contiguous or not. Numbers are read as in files:
            uint8 and uint16 scores are levels, wider integers are divided by their type's maximum, floats are
            scores as they are (float16 and bfloat16 are widened, which changes none).
            Of `Pixels` any shape, the same for both, and one ground truth per image. Of `Labels` and `Classes` label
            maps (B, H, W) beside scores (B, C, H, W) of the classes, or of `Labels` beside predicted label maps
            (B, H, W); without B for a single image. Of other protocols each image (H, W) or (1, H, W). Each image may
            also be a volume (D, H, W), but for `Boundaries`, `Regions` and `Saliency`; unless settings say so, a note
            does. Of `Boundaries` and `Regions` `labels` may be a list of images where there are several
            annotators, or an array (B, annotators, H, W), without B for a single image. Pixels that a NumPy array masks
            are counted as ignored, as those outside `valid` are; labels of several annotators may mask none.
        valid : array or tensor of bool, the shape of `labels`, optional
            False where a pixel is left out; it counts as ignored. Not for `Boundaries` and `Saliency`.
        name : str or int, optional
            The arrays are one image of that name.
        names : sequence of str or int, optional
            The first axis goes through images, and these are their names; numbers will do, for instance
            the index in the data set. With neither, pixels are pooled and images not distinguished: metrics over images
            (OIS, mean F, intervals) are undefined then. Only `Pixels` works without names.

        Raises
        ------
        ArgumentError
            If shapes differ, a name was given before, or something cannot be read as an array.
        DataError
            If scores are not finite, or labels do not fit the protocol. Nothing of the batch has been added then.
        """
        if name is not None and names is not None:
            raise ArgumentError(
                Message(
                    "excluding-arguments",
                    "name and names exclude each other: the arrays hold either one image, or one image per entry",
                )
            )
        if isinstance(names, (str, bytes)):
            raise ArgumentError(
                Message(
                    "not-names",
                    "names is {given!r}, expected one name per image; of a single image give name=",
                    given=str(names) if isinstance(names, bytes) else names,
                )
            )
        listed = None if names is None else list(names)
        reads = self.protocol.reads
        expected = self.protocol.expects_volumes
        batch = self._batch((labels, scores, valid), named=name is not None, names=listed)
        notes = dict.fromkeys(batch.notes if reads.levels else ())
        named: list[tuple[str, _HeldImage]] = []
        unnamed: list[Counted] = []
        if name is not None:
            images = iter([(as_name(name), batch)])
        elif listed is not None:
            images = batch.images(listed)
        else:
            if self.protocol.capability(Pooling) is None:
                raise ArgumentError(
                    Message(
                        "needs-names", "only the {protocol} protocol counts images without names", protocol="pixels"
                    )
                )
            images = iter(())
            unnamed = [self._count(batch)]
            notes |= dict.fromkeys(note.of_set for note in unnamed[0].notes)
        for image, part in images:
            counted = self._count(part, f" of {image!r}", image)
            on_axes = part.note_on_axes if reads.pixelwise or (part.volumes and not expected) else ()
            notes |= dict.fromkeys(note.of_set for note in (*counted.notes, *on_axes))
            named.append((image, _HeldImage(content_of(part), {counted.facts: encode(counted.counts)})))
        self._add(named, unnamed, notes)

    def merge(self, other: Accumulator) -> None:
        """Add the counts of another accumulator, for instance in another process; in any order the sum is the same.

        Parameters
        ----------
        other : Accumulator
            Of the same method, protocol and settings; it stays as it is.

        Raises
        ------
        ArgumentError
            If `other` has another method, another protocol or other settings, or holds the same images; nothing has
            been added then.

        Examples
        --------
        >>> one, other = Accumulator(), Accumulator()
        >>> one.update([0, 1], [0.2, 0.9], name="a")
        >>> other.update([0, 1], [0.6, 0.4], name="b")
        >>> one.merge(other)
        >>> one.compute().summary["ods_f"]
        0.8
        """
        if other is self:
            raise ArgumentError(
                Message("with-itself", "an accumulator cannot be merged with itself: everything would count twice")
            )
        if other.protocol != self.protocol:
            raise ArgumentError(
                Message(
                    "other-settings",
                    "merge takes counts of one protocol and its settings; {here} here, {there} there",
                    here=repr(self.protocol),
                    there=repr(other.protocol),
                )
            )
        if other._label != self._label:
            raise ArgumentError(
                Message(
                    "other-method",
                    "merge takes counts of one method; {here!r} here, {there!r} there: compute a result of each, "
                    "or name both alike",
                    here=str(self._label),
                    there=str(other._label),
                )
            )
        images, unnamed, notes = other._packed()
        stored = other._stored({})
        whole = (
            (name, _HeldImage(image.content, _with_stored_counts(name, image, stored)))
            for name, image in images.items()
        )
        self._add(whole, self._unpacked(unnamed), notes)

    def compute(self, *, results: str | PathLike[str] | None = None) -> Result:
        """Compute the result of everything added so far; more may be added later.

        Parameters
        ----------
        results : path, optional
            Results file to save it in, beside other methods; of one name and the same settings the last one stays. A
            `ReplacedRun` warning says if it lacks images of the one before or has another ground truth, and, without a
            `method`, if another accumulator saved that. Pixels without names stay without. The file works with
            `load_results` and the commands that read results files; pictures of the images cannot be drawn from it.

        Returns
        -------
        Result
            Its signature says ``source:arrays``, and its ``data`` part is a digest of the names of the images and the
            values of their ground truth, as numbers of whatever type, and of which pixels count. Of pixels without
            names it is one of their totals. It finds data that differ, but is no proof against forgery, as SHA-256 of
            files is.

        Raises
        ------
        DataError
            If nothing was added, or the labels found leave open which are positive; if the file cannot be written.

        Warns
        -----
        UserWarning
            Once, if scores or labels are probably not what was meant, such as logits beside ``at=(0.5,)``; `notes` of
            the result say the same.
        """
        return self._computed(None if results is None else Path(as_path(results, "results")), stacklevel=3)

    def _computed(self, results: Path | None, *, stacklevel: int) -> Result:
        """Compute the result, and save it where a file is named; warnings are those of the caller so many calls up."""
        with self._lock:
            packed, unnamed = self._settled()
            notes = tuple(sorted(self._notes, key=str))
            truths = {name: _digest(image.content) for name, image in self._images.items()}
        if not packed and unnamed is None:
            problem = Message("nothing-added", "nothing was added, so there is nothing to compute")
            raise DataError("accumulator", problem, "call update first")
        results = results or self.results
        counts = EncodedCounts(packed, self.protocol.counts)
        if unnamed is not None:
            truths[UNNAMED] = unnamed.ground_truth
        settings = self._run().fields
        images = len(packed) if unnamed is None else "unnamed"
        signed = signature(self.protocol.name, settings, DataDigest(sorted(truths.items())), images=images)
        result = Result(
            self.method,
            self.protocol,
            settings,
            signed,
            counts,
            truths=truths,
            notes=notes,
            unnamed=unnamed,
            run=self.run,
        )
        warn_of(notes, stacklevel=stacklevel)
        if results is None:
            return result
        to_save = packed.in_memory if isinstance(packed, PackedCounts) and results == self.results else packed
        if unnamed is not None:
            to_save = {**to_save, UNNAMED: encode(unnamed)}
        outcomes = [_outcome(name, data, truths[name]) for name, data in to_save.items()]
        digests = self._digests | {outcome.name: outcome.digest for outcome in outcomes}
        result = replace(result, digests=Digests(sorted(digests.items())))
        run = self._run(notes)
        with ResultsFile(results, create=True) as store:
            begun = store.begin(run)
            store.save(begun, run, outcomes)
            is_ours = self.method != _NO_NAME or results in self._saved
            finish(begun, run, result, of_another="" if is_ours else "another accumulator", stacklevel=stacklevel + 1)
        self._saved.add(results)
        if results == self.results:  # which holds what the set decided
            with self._lock:
                self._digests |= digests
                self._images |= {
                    outcome.name: self._images[outcome.name]._replace(packed={(): b""}) for outcome in outcomes
                }
        return result

    def reset(self) -> None:
        """Forget all counts, for the next epoch."""
        with self._lock:
            self._forget()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: settings and packed counts."""
        images, unnamed, notes = self._packed()
        settings = (self.protocol, self.method, self.run, self.repeated, self.count_on, self.results)
        return {"settings": settings, "counts": (images, unnamed, self._digests), "notes": sorted(notes, key=str)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore what `__getstate__` gave."""
        self.protocol, self.method, self.run, self.repeated, self.count_on, self.results = state["settings"]
        self._lock = threading.Lock()
        self._saved = set()
        self._forget()
        self._images, unnamed, self._digests = state["counts"]
        self._image_facts = _with_facts(self._images)
        self._pool(self._unpacked(unnamed))
        self._notes = set(state.get("notes", ()))

    def _batch(self, arrays: tuple[Any, Any, Any], *, named: bool, names: list[Name] | None) -> Batch:
        """Take the arrays of a single image, which is named, of several, or of pixels without names."""
        reads, count_on = self.protocol.reads, self.count_on if self.protocol.capability(OnDevice) else "host"
        if isinstance(self.protocol.inputs, ScoredInstances):
            return self._instances(arrays, named=named, listed=names is not None)
        if (named or names is not None) and are_volumes(self.protocol, arrays[0], one_image=named):
            batch = replace(as_planes(*arrays, count_on, one_image=named, any_shape=True), volumes=True)
            self._measure_volumes()
        elif named:
            batch = as_image(*arrays, count_on=count_on, reads=reads)
        elif reads.pixelwise:
            if reads.annotators:
                raise ArgumentError(
                    Message(
                        "needs-names", "several annotators of pixels are given image by image, as a list: give name="
                    )
                )
            batch = as_batch(*arrays, count_on, images=1 if names is None else len(names))
        elif names is None:
            raise ArgumentError(
                Message(
                    "needs-names",
                    "{protocol} are counted image by image: give name= or names=",
                    protocol=self.protocol.name,
                )
            )
        else:
            batch = as_planes(*arrays, count_on, one_image=False, annotators=reads.annotators)
        if batch.valid is not None and reads.without_field:
            raise ArgumentError(Message("no-field", "valid or masked pixels: {why}", why=reads.without_field))
        return batch

    def _instances(self, arrays: tuple[Any, Any, Any], *, named: bool, listed: bool) -> Batch:
        """Take the instances of one image, or of several."""
        called = Called()
        if not (named or listed):
            raise ArgumentError(
                Message(
                    "needs-names",
                    "{protocol} are counted image by image: give name= or names=",
                    protocol="scored objects",
                )
            )
        return as_instance_batch(*arrays, called) if named else listed_batch(*arrays, called)

    def _measure_volumes(self) -> None:
        """Take the protocol for volumes, unless images were counted by that for images."""
        with self._lock:
            if self.protocol.of_volumes:
                return
            of_volumes = self.protocol.for_volumes()
            if of_volumes == self.protocol:  # which counts both alike
                return
            if self._images:
                raise ArgumentError(
                    Message(
                        "mixed-dimensions",
                        "images of two dimensions were added before, and volumes are measured in three; "
                        "give each an accumulator of its own",
                    )
                )
            self.protocol = of_volumes

    def _count(self, batch: Batch, of_image: str = "", name: str = "batch") -> Counted:
        return count_batch(self.protocol, batch, Called(f"labels{of_image}", f"scores{of_image}"), name)

    def _add(self, images: Iterable[tuple[str, _HeldImage]], unnamed: Sequence[Counted], notes: Iterable[Note]) -> None:
        """Add all of it, or nothing where something is refused."""
        with self._lock:
            fresh: dict[str, _HeldImage] = {}
            for name, image in images:
                fresh[name] = self._joined(name, fresh.get(name, self._images.get(name)), image)
            new_facts = _with_facts(fresh)
            facts = self._facts() | new_facts
            unnamed_facts = _union_of_facts([*self._unnamed, *(part.facts for part in unnamed)])
            if unnamed_facts:
                facts[_WITHOUT_NAME] = unnamed_facts
            settled(self.protocol, facts, complete=False)
            if self.results is not None and unnamed:
                raise ArgumentError(
                    Message("needs-names", "results: {why}; give names to Accumulator.update", why=WITHOUT_NAMES)
                )
            self._images.update(fresh if self.results is None else self._saved_images(self.results, fresh))
            self._image_facts.update(new_facts)
            self._pool(unnamed)
            self._notes.update(notes)

    def _saved_images(self, path: Path, images: Mapping[str, _HeldImage]) -> dict[str, _HeldImage]:
        """Save images in the results file, and return them without the counts, which stay there."""
        run, outcomes = self._run(), []
        for name, image in images.items():
            ((facts, data),) = image.packed.items()
            outcomes.append(_outcome(name, data, _digest(image.content))._replace(facts=facts))
        with ResultsFile(path, create=True) as store:
            store.save(store.begin(run, fresh=not self._images), run, outcomes)
        self._digests |= {outcome.name: outcome.digest for outcome in outcomes}
        return {outcome.name: images[outcome.name]._replace(packed={outcome.facts: b""}) for outcome in outcomes}

    def _stored(self, in_memory: dict[str, bytes]) -> PackedCounts:
        """Return the counts in the results file together with those in memory."""
        return PackedCounts(Digests(sorted(self._digests.items())), in_memory, self.results, self._run())

    def _run(self, notes: tuple[Note, ...] = ()) -> Run:
        return Run.of(
            self.protocol, method=shown(self.method), run=self.run, settings={"source": "arrays"}, notes=notes
        )

    def _joined(self, name: str, before: _HeldImage | None, fresh: _HeldImage) -> _HeldImage:
        """Add the counts of an image to those counted before under its name."""
        if before is None:
            return fresh
        if self.repeated == "refuse":
            tiles = Message("tiles", "{add} for tiles of one image, ", add=Setting("repeated", "add"))
            raise ArgumentError(
                Message(
                    "counted-before",
                    "{image!r} was counted before; call reset() before the next epoch, or say in Accumulator what a "
                    "repeated name means: {tiles}{once} for a sampler that repeats images",
                    image=name,
                    tiles=tiles if self.protocol.adds_tiles else "",
                    once=Setting("repeated", "once"),
                )
            )
        if self.repeated == "once":
            if before != fresh:
                raise ArgumentError(
                    Message(
                        "not-same-image",
                        "{image!r} was counted before with other counts or another ground truth, so it is not the same "
                        "image again",
                        image=name,
                    )
                )
            return before
        joined = dict(before.packed)
        for facts, data in fresh.packed.items():
            parts = [decode(part, self.protocol.counts) for part in (joined[facts], data)] if facts in joined else []
            joined[facts] = encode(self.protocol.counts.sum(parts)) if parts else data
        return _HeldImage((before.content + fresh.content) & DIGEST_BITS, joined)

    def _pool(self, unnamed: Iterable[Counted]) -> None:
        for part in unnamed:
            self._unnamed.setdefault(part.facts, Pool()).add(part.counts)

    def _packed(self) -> tuple[dict[str, _HeldImage], Packed, set[Note]]:
        """Return all counts, packed, and the notes."""
        with self._lock:
            unnamed = {facts: encode(pool.total()) for facts, pool in self._unnamed.items()}
            return dict(self._images), unnamed, set(self._notes)

    def _unpacked(self, packed: Packed) -> list[Counted]:
        return [Counted(decode(data, self.protocol.counts), facts) for facts, data in packed.items()]

    def _facts(self) -> dict[str, Facts]:
        unnamed = {_WITHOUT_NAME: _union_of_facts(self._unnamed)} if self._unnamed else {}
        return self._image_facts | unnamed

    def _settled(self) -> tuple[Mapping[str, bytes], ScoreCounts | None]:
        """Return the packed counts of each image, and the counts of unnamed pixels, now that the set is complete."""
        facts = self._facts()
        # A few batches, as those that trainers try first, may hold no positive pixel.
        decided = settled(self.protocol, facts, part=len(_union_of_facts(facts.values())) < 2)
        images: dict[str, bytes] = {}
        stored = self._stored(images)
        for name, image in self._images.items():
            if len(image.packed) == 1 and not decided.keys() & image.packed.keys():
                (images[name],) = image.packed.values()
            else:
                parts = (
                    _counts_as_decided(part, decided)
                    for part in self._unpacked(_with_stored_counts(name, image, stored))
                )
                images[name] = encode(self.protocol.counts.sum(parts))
        if self.results is not None:
            stored.in_memory = {name: data for name, data in images.items() if data}
            return stored, None
        if not self._unnamed:
            return images, None
        pooled = (Counted(pool.total(), facts) for facts, pool in self._unnamed.items())
        return images, ScoreCounts.sum(_counts_as_decided(part, decided) for part in pooled)


def _outcome(name: str, data: bytes, truth: str) -> Outcome:
    """Return the outcome of an image for a results file; its digest is of the counts, as there are no files."""
    return Outcome(name, hashlib.sha256(data).hexdigest(), truth, data)


def _digest(content: int) -> str:
    return f"{content:016x}"


def _with_stored_counts(name: str, image: _HeldImage, stored: Mapping[str, bytes]) -> Packed:
    """Return the packed counts of an image, read from the results file if they are kept there."""
    return {facts: data or stored[name] for facts, data in image.packed.items()}


def _with_facts(images: Mapping[str, _HeldImage]) -> dict[str, Facts]:
    """Return the facts of the images that have any."""
    facts = {name: _union_of_facts(image.packed) for name, image in images.items()}
    return {name: image_facts for name, image_facts in facts.items() if image_facts}


def _union_of_facts(known: Iterable[Facts]) -> Facts:
    return tuple(sorted({fact for facts in known for fact in facts}))


def _counts_as_decided(part: Counted, decided: Settled) -> Any:  # noqa: ANN401  of its type
    return decided[part.facts](part.counts) if part.facts in decided else part.counts


def _unbatched(loader: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the images of the batches that a PyTorch ``DataLoader`` gives, one after another."""
    for batch in loader:
        if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
            raise ArgumentError(
                Message(
                    "not-arrays",
                    "the loader gives batches as {type}, {expected}",
                    type=type(batch).__name__,
                    expected=_EXPECTED,
                )
            )
        yield from zip(*batch, strict=True)


def _number_of(images: Any) -> int:  # noqa: ANN401  as above
    """Return how many images there are, of a loader those that it samples; 0 where that is not known."""
    sized = getattr(images, "sampler", images)
    with suppress(TypeError):  # of a stream, also where its type has a length
        return len(sized)
    return 0


def _refuse_batch(labels: Any, protocol: Protocol, image: object) -> None:  # noqa: ANN401  whatever holds numbers
    """Refuse an image without a name that may be a batch, unless settings say that it is a volume."""
    shape = tuple(getattr(labels, "shape", ()))
    of_any_shape = protocol.reads.pixelwise and len(squeezed(shape)) > 2
    if not protocol.expects_volumes and (of_any_shape or are_volumes(protocol, labels, one_image=True)):
        raise ArgumentError(
            Message(
                "perhaps-batch",
                "image {image} has shape ({shape}), which may be a batch or a volume; {batches}; "
                "give volumes by their names, {{name: (labels, scores)}}",
                image=str(image),
                shape=shape,
                batches=BATCH_HINT,
            )
        )


def evaluate_arrays(
    images: Arrays,
    protocol: Protocol,
    *,
    method: str | None,
    run: str = "",
    progress: Callable[[int, int], None] | None,
) -> Result:
    """Count images given as arrays, see `segbench.evaluate`."""
    data_set = images
    is_loader = getattr(data_set, "batch_sampler", None) is not None  # whose batches are taken apart
    if not isinstance(images, Iterable):
        if not (hasattr(images, "__len__") and hasattr(images, "__getitem__")):
            raise ArgumentError(
                Message(
                    "not-arrays",
                    "ground_truth is {given}, expected a path, or arrays: {expected}",
                    given=f"{images!r:.60}",
                    expected=_EXPECTED,
                )
            )
        images = map(images.__getitem__, range(len(images)))
    elif is_loader:
        images = _unbatched(images)
    may_hold_batches = not is_loader and not isinstance(images, Mapping)
    accumulator = Accumulator(protocol, method="arrays" if method is None else method, run=run)
    done = 0
    for name, arrays in images.items() if isinstance(images, Mapping) else enumerate(images):
        if not isinstance(arrays, (tuple, list)) or len(arrays) not in (2, 3):
            raise ArgumentError(
                Message(
                    "not-arrays",
                    "image {image} is given as {type}, {expected}",
                    image=repr(name),
                    type=type(arrays).__name__,
                    expected=_EXPECTED,
                )
            )
        if may_hold_batches:
            _refuse_batch(arrays[0], protocol, name)
        try:
            accumulator.update(*arrays, name=name)
        except ArgumentError as error:
            raise ArgumentError(f"image {name!r}: " + error.message) from error
        done += 1
        if progress:
            progress(done, _number_of(data_set) or done)
    if not done:
        raise ArgumentError(Message("no-images", "ground_truth holds no images, {expected}", expected=_EXPECTED))
    return accumulator._computed(None, stacklevel=5)  # noqa: SLF001  its own: the caller of evaluate

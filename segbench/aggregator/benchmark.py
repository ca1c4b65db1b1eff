"""Many images to one result: pair the files, count each image, pool what was counted."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from segbench.aggregator.codec import EncodedCounts, decode, decode_published, encode
from segbench.aggregator.executors import answers
from segbench.aggregator.figures import Protocol
from segbench.aggregator.rereading import protocol_to_json
from segbench.aggregator.result import Result
from segbench.aggregator.signature import data_digest, signature
from segbench.aggregator.store import ResultsFile, StoredRun
from segbench.aggregator.tasks import Outcome, Task, count_images
from segbench.counts import ScoreCounts, Thresholds
from segbench.counts.bins import bin_floor
from segbench.errors import ArgumentError, DataError
from segbench.loaders.archives import method_name
from segbench.loaders.decoded import shown
from segbench.loaders.file_list import column_of
from segbench.loaders.inputs import Inputs
from segbench.loaders.pairing import pair
from segbench.loaders.repairs import Repairs, idle
from segbench.protocols.counted import swapped
from segbench.protocols.labels import agree_on_positive
from segbench.protocols.pixels import Pixels
from segbench.sample import without_detail

_IMAGES_A_BATCH = 16
_BATCHES_WANTED = 64
_PIXELS = Pixels()
_NO_REPAIRS = Repairs()


class FailedImages(UserWarning):
    """Some images could not be counted and are missing from every figure."""


def evaluate(
    ground_truth: str | PathLike[str] | None = None,
    prediction: str | PathLike[str] | None = None,
    protocol: Protocol = _PIXELS,
    *,
    pairs: str | PathLike[str] | None = None,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    method: str | None = None,
    repairs: Repairs = _NO_REPAIRS,
    thresholds: Thresholds | None = None,
    results: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Benchmark one method: a folder of predictions against a folder of ground truth.

    Parameters
    ----------
    ground_truth, prediction : path or URL
        Two folders, whose files pair by name without extension, sub-folders kept; or two files. A ``.zip``, ``.tar`` or
        ``.tar.gz`` archive, a folder of such, or a URL (``"s3://bucket/gt"``, with the extra ``remote``) is read as a
        folder. `prediction` is None for `Annotators`, who are compared with each other.
    protocol : Pixels, Boundaries, Annotators or Regions, optional
        What counts as right, with its settings; ``Pixels()`` if left out.
    pairs : path or URL, optional
        A file list (CSV) in place of all these: columns ``name``, ``ground_truth`` (one an annotator), ``prediction``
        or ``prediction:METHOD``, and perhaps ``field``; paths in it are relative to its folder.
    field : path or URL, optional
        Folder of masks (fields of view), or one file: pixels where the mask is 0 are left out and counted as ignored.
    gt_pattern, pred_pattern, field_pattern : str
        How file names hold the name of the image, ``*`` standing for it: ``"*_manual1"``; in `gt_pattern` ``#`` stands
        for an annotator: ``"*.#"``, or ``"#/*"`` for a sub-folder each.
    negatives : str, optional
        Predictions whose name this shell pattern fits, as in ``"good/*"``, need no ground truth: all their pixels are
        negative.
    method : str, optional
        Name of the method; by default that of the prediction folder. Of a list of several methods, the one to take.
    repairs : Repairs, optional
        What may be done to predictions of another size or range; left out, they are refused. What was done stands in
        the signature and, with the number of images, in ``result.notes``.
    thresholds : Thresholds, optional
        Thresholds chosen on a tuning set (`segbench.tuned_thresholds`), at which the pixels protocol measures instead
        of at every distinct score: the honest use of a hull.
    results : path, optional
        Results file to keep the counts in. Images that lie there under the same settings and whose files have not
        changed are not counted again.
    executor : concurrent.futures.Executor, optional
        Where to count; by default here, one image after another. The result does not depend on it.
    progress : callable, optional
        Called with the number of images done and the number of all.

    Returns
    -------
    Result

    Raises
    ------
    ArgumentError
        If `pairs` is given beside folders, neither is given, a list leaves the method open, a URL needs a package that
        is not installed, or repairs have no meaning for the protocol.
    DataError
        If the folders do not pair (all of it listed), or ground-truth values leave open which are positive.
        What is wrong with a single image is listed in ``result.failed`` instead, with a `FailedImages` warning.
    """
    repairs.check(protocol.reads)
    inputs = Inputs(
        ground_truth="" if ground_truth is None else fspath(ground_truth),
        prediction=None if prediction is None else fspath(prediction),
        field=None if field is None else fspath(field),
        gt_pattern=gt_pattern,
        pred_pattern=pred_pattern,
        field_pattern=field_pattern,
        negatives=negatives,
    )
    if pairs is not None:
        if inputs != Inputs():
            raise ArgumentError("a list of pairs holds all files: give no folder, mask or pattern beside it")
        column = None if protocol.reads == "annotators" else column_of(fspath(pairs), method)
        inputs = Inputs(pairs=fspath(pairs), column=column)
    elif ground_truth is None:
        raise ArgumentError("give folders of ground truth and predictions, or a list of pairs")
    inputs = inputs.absolute()
    pairing = pair(inputs)
    method = shown(method or _method_of(inputs))
    fields = protocol.signature_fields() | repairs.signature_fields()
    fields |= {} if thresholds is None else {"thresholds": thresholds.source}
    cuts = () if thresholds is None else tuple(thresholds.values.tolist())
    outcomes: dict[str, Outcome] = {}
    with ExitStack() as stack:
        store = None if results is None else stack.enter_context(ResultsFile(Path(results), create=True))
        known: dict[str, Outcome] = {}
        if store:
            run = store.begin(
                method,
                protocol.name,
                fields,
                thresholds=cuts,
                inputs=inputs.masked(),
                protocol_json=protocol_to_json(protocol),
            )
            known = {outcome.name: outcome for outcome in store.outcomes(run) if outcome.counts}
        tasks = [Task(files, known[files.name].digest if files.name in known else None) for files in pairing.files]
        size = max(1, min(_IMAGES_A_BATCH, len(tasks) // _BATCHES_WANTED))
        batches = (tasks[start : start + size] for start in range(0, len(tasks), size))
        for batch in answers(executor, partial(count_images, protocol, repairs), batches):
            if store:
                store.save(run, batch)
            outcomes |= {
                outcome.name: outcome if outcome.counts or outcome.failure else known[outcome.name] for outcome in batch
            }
            if progress:
                progress(len(outcomes), len(tasks))
        result = assemble(
            method,
            protocol.name,
            fields,
            outcomes.values(),
            notes=pairing.notes,
            cuts=cuts,
            inputs=inputs.masked(),
            protocol_json=protocol_to_json(protocol),
        )
        if store:
            store.finish(run, outcomes, result.signature, pairing.notes)
    if result.failed:
        warnings.warn(
            f"{len(result.failed)} of {len(outcomes)} images could not be counted and are in no figure; "
            f"the first: {next(iter(result.failed.values()))}",
            FailedImages,
            stacklevel=2,
        )
    return result


def _method_of(inputs: Inputs) -> str:
    if inputs.pairs is not None and inputs.column is not None:
        return inputs.column.partition(":")[2] or method_name(inputs.pairs)
    return "human" if inputs.prediction is None else method_name(inputs.prediction)


def load_results(path: str | PathLike[str]) -> list[Result]:
    """Read the complete runs of a results file, in the order in which they were first made.

    Raises
    ------
    DataError
        If the file is none, or holds no complete run.
    """
    with ResultsFile(Path(path)) as store:
        results = [_result_of(run, store.outcomes(run.key)) for run in store.runs() if run.signature]
    if not results:
        raise DataError(str(path), "holds no complete run", "repeat the run; it goes on where it stopped")
    return results


def _result_of(run: StoredRun, outcomes: list[Outcome]) -> Result:
    if run.published:
        curve = decode_published(run.published)
        return Result(run.method, run.protocol, run.settings, run.signature, {}, notes=run.notes, published=curve)
    return assemble(
        run.method,
        run.protocol,
        run.settings,
        outcomes,
        notes=run.notes,
        cuts=run.thresholds,
        inputs=run.inputs,
        protocol_json=run.protocol_json,
    )


def assemble(
    method: str,
    protocol: str,
    settings: Mapping[str, str],
    outcomes: Iterable[Outcome],
    *,
    notes: tuple[str, ...] = (),
    cuts: tuple[float, ...] = (),
    inputs: Inputs | None = None,
    protocol_json: str = "",
) -> Result:
    """Put together what came of each image, in sorted order of names, cut at thresholds where there are any."""
    by_name = sorted(outcomes, key=lambda outcome: outcome.name)
    counted = {outcome.name: outcome for outcome in by_name if outcome.counts}
    truths = {name: outcome.ground_truth_digest for name, outcome in counted.items()}
    if cuts and settings["thresholds"].endswith(data_digest(truths)):
        notes = (*notes, "the tuning set is the test set: figures at its thresholds are optimistic")
    packed = _with_positive_agreed(counted)
    if cuts:
        packed, lowered = _cut(packed, Thresholds(np.array(cuts), settings["thresholds"]))
        notes = (*notes, *lowered)
    repeated = Counter(note for outcome in counted.values() for note in {without_detail(n): 0 for n in outcome.notes})
    unneeded = idle(settings, tuple(repeated)) if counted else ()
    return Result(
        method,
        protocol,
        settings,
        signature(protocol, settings, truths),
        EncodedCounts(packed),
        {outcome.name: outcome.failure for outcome in by_name if outcome.failure},
        (*notes, *(f"{note} ({count} of {len(counted)} images)" for note, count in repeated.items()), *unneeded),
        inputs,
        protocol_json,
        {name: outcome.digest for name, outcome in counted.items()},
        image_notes={name: outcome.notes for name, outcome in counted.items() if outcome.notes},
    )


def _cut(packed: dict[str, bytes], thresholds: Thresholds) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Count at thresholds; where they fall inside the bins of any image, at the lower edges of these, and say so."""
    edges = Thresholds(bin_floor(thresholds.values), thresholds.source)
    moved = not np.array_equal(edges.values, thresholds.values)
    lowered = moved and any(_scores_of(data).binned for data in packed.values())
    cuts = edges if lowered else thresholds
    notes = ("scores are in bins: thresholds of the tuning set moved down to the edges of theirs",) if lowered else ()
    return {name: encode(_scores_of(data).at(cuts)) for name, data in packed.items()}, notes


def _scores_of(data: bytes) -> ScoreCounts:
    counts = decode(data)
    if not isinstance(counts, ScoreCounts):
        raise ArgumentError("thresholds chosen on a tuning set are scores, which only the pixels protocol takes")
    return counts


def _with_positive_agreed(counted: Mapping[str, Outcome]) -> dict[str, bytes]:
    """Count as positive the images that hold nothing but the value which the set shows to be positive."""
    packed = {name: outcome.counts for name, outcome in counted.items() if outcome.counts}
    unruled = {name: outcome.label_values for name, outcome in counted.items() if outcome.label_values}
    if not unruled:
        return packed
    positive = agree_on_positive(unruled)
    for name, values in unruled.items():
        if values == (positive,):
            packed[name] = encode(swapped(_scores_of(packed[name])))
    return packed

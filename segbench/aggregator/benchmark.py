"""Many images to one result: pair the files, count each image, pool what was counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path

from segbench.aggregator.arrays import Arrays, evaluate_arrays
from segbench.aggregator.assembling import assemble
from segbench.aggregator.codec import EncodedCounts, decode, decode_summary
from segbench.aggregator.counting import count_all
from segbench.aggregator.inputs import find_files
from segbench.aggregator.records import StoredPool, StoredRun
from segbench.aggregator.replacing import finish
from segbench.aggregator.rereading import protocol_to_json
from segbench.aggregator.result import Result, partial_text
from segbench.aggregator.store import ResultsFile
from segbench.aggregator.tasks import Outcome
from segbench.core.errors import ArgumentError, DataError
from segbench.core.protocol import Protocol
from segbench.core.scores import ScoreCounts
from segbench.core.thresholds import Thresholds
from segbench.loaders.decoded import shown
from segbench.loaders.given import inputs_given, method_of
from segbench.loaders.listing import listed_once
from segbench.loaders.repairs import Repairs
from segbench.loaders.subset import Images
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol, protocol_of

_PIXELS = Pixels()
_NO_REPAIRS = Repairs()


class FailedImages(UserWarning):
    """Some images could not be counted and are missing from every figure."""


@listed_once()
def evaluate(
    ground_truth: str | PathLike[str] | Arrays | None = None,
    prediction: str | PathLike[str] | None = None,
    protocol: Protocol | str = _PIXELS,
    *,
    pairs: str | PathLike[str] | None = None,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    images: Images = None,
    allow_missing: bool = False,
    method: str | None = None,
    repairs: Repairs = _NO_REPAIRS,
    thresholds: Thresholds | None = None,
    results: str | PathLike[str] | None = None,
    fresh: bool = False,
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
        Or `ground_truth` alone holds arrays: a mapping of image name to ``(labels, scores)``, or an iterable of such
        pairs, which get the names ``"0"``, ``"1"``, and so on; ``(labels, scores, valid)`` leaves pixels out. Arrays
        mean what they mean to `Accumulator.update`. Of the other arguments only `protocol`, `method` and `progress` go
        with arrays.
    protocol : Protocol or str, optional
        What counts as right, with its settings, or a name for its defaults, such as ``"boundaries"``; by default
        ``Pixels()``.
    pairs : path or URL, optional
        A file list (CSV) in place of all these: columns ``name``, ``ground_truth`` (one an annotator), ``prediction``
        or ``prediction:METHOD``, and perhaps ``field``; paths in it are relative to its folder.
    field : path or URL, optional
        Folder of masks (fields of view), or one file: pixels where the mask is 0 are left out and counted as ignored.
        Not for boundaries.
    gt_pattern, pred_pattern, field_pattern : str
        How file names hold the name of the image, ``*`` standing for it: ``"*_manual1"``; in `gt_pattern` ``#`` stands
        for an annotator: ``"*.#"``, or ``"#/*"`` for a sub-folder each.
    negatives : str, optional
        Predictions whose name this shell pattern fits, as in ``"good/*"``, need no ground truth: all their pixels are
        negative, whatever the settings say of values. Pixels and boundaries only.
    images : sequence of str or path, optional
        Restrict the run to some images: names and shell patterns (``["coins", "c*"]``), or a text file with one per
        line (``#`` begins a comment). The others need no partner. The signature says how many are chosen
        (``subset:3 of 9``).
    allow_missing : bool
        Leave out ground-truth images without a prediction instead of refusing them. The signature says how many
        (``missing:2 of 9``) and a note names them.
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
        changed are not counted again, unless they failed.
    fresh : bool
        Forget what lies in `results` of this method and these settings, and count every image.
    executor : concurrent.futures.Executor, optional
        Where to count; by default here, one image after another. The result does not depend on it. `process_pool` and
        `dask_pool` give some.
    progress : callable, optional
        Called with the number of images done and the number of all.

    Returns
    -------
    Result
        Of arrays, its signature says ``source:arrays``.

    Raises
    ------
    ArgumentError
        If `protocol` is none, `pairs` is given beside folders, neither is given, a list leaves the method open, a URL
        needs a package that is not installed, or places or repairs have no meaning for the protocol. If arrays do not
        fit, or other arguments are given beside them.
    DataError
        If an image given as arrays cannot be counted, the folders do not pair (at most a hundred names are listed), the
        predictions are those of several methods in sub-folders, a name in `images` fits none, or ground-truth values
        leave open which are positive.
        What is wrong with a single image is listed in ``result.failed`` instead, with a `FailedImages` warning. A
        `ReplacedRun` warning says what became of a run of other images, or what was kept since none could be counted.
    WorkerError
        If the executor takes no more work.

    Examples
    --------
    >>> result = evaluate({"a": ([[0, 255]], [[0.2, 0.9]]), "b": ([[255, 0]], [[0.3, 0.7]])}, protocol="pixels")
    >>> round(result.summary["ods_f"], 3), list(result.counts)
    (0.8, ['a', 'b'])
    """
    protocol = as_protocol(protocol)
    if ground_truth is not None and not isinstance(ground_truth, (str, PathLike)):
        beside = {
            "prediction": prediction,
            "pairs": pairs,
            "field": field,
            **{
                name: None if pattern == "*" else pattern
                for name, pattern in (
                    ("gt_pattern", gt_pattern),
                    ("pred_pattern", pred_pattern),
                    ("field_pattern", field_pattern),
                )
            },
            "negatives": negatives or None,
            "repairs": None if repairs == _NO_REPAIRS else repairs,
            "thresholds": thresholds,
            "results": results,
            "executor": executor,
        }
        _refuse_beside_arrays([name for name, value in beside.items() if value is not None])
        return evaluate_arrays(ground_truth, protocol, method=method, progress=progress)
    _refuse_unfit(protocol, repairs, thresholds)
    inputs = inputs_given(
        ground_truth,
        prediction,
        protocol.reads,
        pairs=pairs,
        field=field,
        gt_pattern=gt_pattern,
        pred_pattern=pred_pattern,
        field_pattern=field_pattern,
        negatives=negatives,
        images=images,
        allow_missing=allow_missing,
        method=method,
    ).absolute()
    pairing = find_files(inputs, protocol)
    method = shown(method or method_of(inputs))
    fields = protocol.signature_fields() | repairs.signature_fields()
    fields |= {} if thresholds is None else {"thresholds": thresholds.source}
    fields |= pairing.signature_fields()
    cuts = () if thresholds is None else tuple(thresholds.values.tolist())
    kept_inputs, protocol_json = inputs.masked(), protocol_to_json(protocol)
    outcomes: list[Outcome] = []
    reused = 0
    with ExitStack() as stack:
        store = None if results is None else stack.enter_context(ResultsFile(Path(results), create=True))
        here: dict[str, Outcome] = {}
        elsewhere: dict[str, Outcome] = {}
        if store:
            run = store.begin(
                method,
                protocol.name,
                fields,
                thresholds=cuts,
                inputs=kept_inputs,
                protocol_json=protocol_json,
                notes=pairing.notes,
                images=len(pairing.files),
                fresh=fresh,
            )
            here, elsewhere = store.known(run), store.elsewhere(run)
        known = elsewhere | here
        for batch in count_all(protocol, repairs, pairing.files, known, executor):
            if store:
                store.save(run, [outcome for outcome in batch if outcome is not here.get(outcome.name)])
            outcomes += batch
            reused += sum(outcome is known.get(outcome.name) for outcome in batch)
            if progress:
                progress(len(outcomes), len(pairing.files))
        result = assemble(
            method,
            protocol,
            fields,
            outcomes,
            notes=pairing.notes,
            cuts=cuts,
            inputs=kept_inputs,
            protocol_json=protocol_json,
        )
        result = replace(result, reused=reused)
        if store:
            result = _in_file(result, str(store.path))
            finish(store, run, outcomes, result, pairing.notes)
    if result.failed:
        warnings.warn(
            f"{len(result.failed)} of {len(outcomes)} images could not be counted and are in no figure; "
            f"the first: {next(iter(result.failed.values()))}",
            FailedImages,
            stacklevel=2,
        )
    return result


def _refuse_beside_arrays(given: list[str]) -> None:
    if "prediction" in given:
        raise ArgumentError(
            "prediction is given beside arrays; give both as pairs, for instance evaluate(zip(labels, scores))"
        )
    if given:
        raise ArgumentError(f"{', '.join(given)}: for files, and ground_truth holds arrays; leave out, or write files")


def _refuse_unfit(protocol: Protocol, repairs: Repairs, thresholds: Thresholds | None) -> None:
    repairs.check(protocol.reads)
    if thresholds is not None and protocol.counts is not ScoreCounts:
        raise ArgumentError("thresholds chosen on a tuning set are scores, which only the pixels protocol takes")


def load_results(path: str | PathLike[str], *, partial: bool = False) -> list[Result]:
    """Read the complete runs of a results file, in the order in which they were first made.

    Parameters
    ----------
    path : path
        The results file.
    partial : bool
        Give also the results of runs that stopped half-way, on the images counted so far: ``result.partial`` says how
        many of how many. A run that repeats a complete one is left out until it is complete itself.

    Returns
    -------
    list of Result
        At least one.

    Raises
    ------
    DataError
        If the file is not a results file, or holds no such run.
    """
    with ResultsFile(Path(path)) as store:
        runs = store.runs(partial=partial)
        found = (_result_in(store, run, alone=len(runs) == 1) for run in runs)
        results = [result for result in found if result is not None]
        unfinished = [] if results or partial else store.unfinished()
    if not results:
        hint = "repeat the run; it goes on where it stopped"
        if unfinished:
            hint += "; load_results(path, partial=True) and segbench show give the images counted so far"
        raise DataError(str(path), f"holds no {'run' if partial else 'complete run'}", hint)
    return results


def stopped_runs(path: str | PathLike[str]) -> list[str]:
    """Name the methods of runs that stopped half-way, unless there is a complete one of the same."""
    with ResultsFile(Path(path)) as store:
        return [run.method for run in store.runs(partial=True) if not run.complete]


def _result_in(store: ResultsFile, run: StoredRun, *, alone: bool) -> Result | None:
    """Put a run together again; None for a partial one of images that contradict each other, unless it is alone."""
    outcomes, path = store.outcomes(run.key), str(store.path)
    if run.complete:
        return result_of(run, outcomes, path, store.pooled(run.key))
    try:
        return _partial_result(run, outcomes, path)
    except (ArgumentError, DataError):
        if alone:
            raise
        return None


def _partial_result(run: StoredRun, outcomes: list[Outcome], path: str) -> Result:
    """Put together what a run counted before it stopped."""
    partial = len(outcomes), run.images
    said = partial_text(partial)
    result = assemble(
        run.method,
        protocol_of(run.protocol, run.settings),
        {**run.settings, "partial": said},
        outcomes,
        notes=(*run.notes, f"the run stopped after {said} images; repeat it to count the rest"),
        cuts=run.thresholds,
        inputs=run.inputs,
        protocol_json=run.protocol_json,
    )
    signature = f"{result.signature.rpartition('|segbench:')[0]}|segbench:{run.version}"
    return _in_file(replace(result, signature=signature, partial=partial), path)


def result_of(run: StoredRun, outcomes: list[Outcome], path: str, pool: StoredPool | None = None) -> Result:
    """Put a run of a results file together again."""
    protocol = protocol_of(run.protocol, run.settings)
    if run.published:
        printed = protocol.published(run.published)
        return Result(
            run.method,
            run.protocol,
            run.settings,
            run.signature,
            {},
            notes=run.notes,
            published=printed,
            measured_by=protocol,
        )
    try:
        result = assemble(
            run.method,
            protocol,
            run.settings,
            outcomes,
            notes=run.notes,
            cuts=run.thresholds,
            inputs=run.inputs,
            protocol_json=run.protocol_json,
        )
    except (ArgumentError, DataError) as error:
        what = f"the run of {run.method!r} cannot be put together ({error})"
        raise DataError(path, what, "the file was changed or damaged: run again into a new file") from error
    signed = _in_file(replace(result, signature=run.signature), path)  # which names the version that counted
    if signed.data != result.data:
        what = f"the images of {run.method!r} are not those that its signature was made of"
        raise DataError(path, what, "the file was changed or damaged: run again into a new file")
    # What belongs to other images, or was changed, is passed over: it can be derived again.
    if pool is None or pool.digest != result.digest_of(pool.summary, pool.counts):
        return signed
    counts = decode(pool.counts)
    return replace(signed, kept=(decode_summary(pool.summary), counts)) if isinstance(counts, ScoreCounts) else signed


def _in_file(result: Result, path: str) -> Result:
    """Let errors name the file that counts come from."""
    counts = result.counts
    return replace(result, counts=counts.in_file(path)) if isinstance(counts, EncodedCounts) else result

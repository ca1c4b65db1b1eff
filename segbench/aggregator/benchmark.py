"""From many images to one result: pair the files, count each image, make the result, save it.

Begin with `evaluate_pairing`, which has the steps in order; `evaluate` reads the arguments of users.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import chain
from operator import attrgetter
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import cast, overload

from segbench.aggregator.accumulator import Arrays, evaluate_arrays
from segbench.aggregator.assembling import assemble
from segbench.aggregator.executors import count_all
from segbench.aggregator.methods import Place, Predictions, places_of, refuse_overlapping_runs
from segbench.aggregator.records import Outcome, Run, as_run
from segbench.aggregator.result import Result
from segbench.aggregator.saving import finish
from segbench.aggregator.store import ResultsFile, require_results_place
from segbench.aggregator.volumes import for_its_dimensions
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Note, warn_of
from segbench.core.names import MethodRun
from segbench.core.numbers import verb
from segbench.core.protocol import Pooling, Protocol, TwoPasses
from segbench.core.scores import Thresholds
from segbench.core.settings import as_path
from segbench.inputs.files import find_files, for_instances
from segbench.loaders.belonging import KINDS, UNIT, By, assignments, usual_units
from segbench.loaders.file_list import Images
from segbench.loaders.listing import listed_once
from segbench.loaders.pairing import Pairing, find_inputs, method_of
from segbench.loaders.reading import Repairs, as_repairs
from segbench.loaders.source import shown
from segbench.protocols.guesses import answering
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.registry import as_protocol


class FailedImages(UserWarning):
    """Some images could not be counted and are missing from every metric."""


@overload
def evaluate(
    ground_truth: str | PathLike[str] | Arrays | None = None,
    prediction: str | PathLike[str] | None = None,
    protocol: Protocol | str = Pixels(),
    *,
    pairs: str | PathLike[str] | None = None,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    sizes: str | PathLike[str] | None = None,
    images: Images = None,
    allow_missing: bool = False,
    group_by: By = None,
    unit: By = None,
    method: str | None = None,
    run: str = "",
    repairs: Repairs = Repairs(),
    thresholds: Thresholds | None = None,
    results: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result: ...


@overload
def evaluate(
    ground_truth: str | PathLike[str],
    prediction: Predictions,
    protocol: Protocol | str = Pixels(),
    *,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    sizes: str | PathLike[str] | None = None,
    images: Images = None,
    allow_missing: bool = False,
    group_by: By = None,
    unit: By = None,
    repairs: Repairs = Repairs(),
    results: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]: ...


@answering
def evaluate(
    ground_truth: str | PathLike[str] | Arrays | None = None,
    prediction: str | PathLike[str] | Predictions | None = None,
    protocol: Protocol | str = Pixels(),
    *,
    pairs: str | PathLike[str] | None = None,
    field: str | PathLike[str] | None = None,
    gt_pattern: str = "*",
    pred_pattern: str = "*",
    field_pattern: str = "*",
    negatives: str = "",
    sizes: str | PathLike[str] | None = None,
    images: Images = None,
    allow_missing: bool = False,
    group_by: By = None,
    unit: By = None,
    method: str | None = None,
    run: str = "",
    repairs: Repairs = Repairs(),
    thresholds: Thresholds | None = None,
    results: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result | list[Result]:
    """Benchmark a method, or several: folders of predictions against a folder of ground truth.

    Parameters
    ----------
    ground_truth, prediction : path
        Two folders with files that pair by name without extension, sub-folders kept; or two files. A ``.zip``,
        ``.tar`` or ``.tar.gz`` archive, or a folder of such, is read as a folder. `prediction` is None for
        `Annotators`, who are compared with each other.
        Several predictions are several methods: a mapping of name to path, ``{"ours": "pred", "theirs": "pred2"}``,
        where ``"ours@1"`` and ``"ours@2"`` are runs of one method; or a list of paths, named after their folders.
        Or `ground_truth` alone holds arrays: a mapping of image name to ``(labels, scores)``, or an iterable of such
        pairs, or a data set with ``len()`` and an index, or a PyTorch ``DataLoader`` of one, which get the names
        ``"0"``, ``"1"``, and so on; ``(labels, scores, valid)`` leaves pixels out. Arrays are read as by
        `Accumulator.update`, but without names none may be a batch, or a volume unless settings say that images are
        volumes, as ``spacing=(3, 0.78, 0.78)`` does. Of the other arguments only `protocol`,
        `group_by`, `unit`, `method`, `run`, `results` and `progress` go with arrays.
    protocol : Protocol or str, optional
        What counts as right, with its settings, or a name for its defaults, such as ``"boundaries"``; by default
        ``Pixels()``.
    pairs : path, optional
        A file list (CSV) in place of all these: columns ``name``, ``ground_truth`` (one per annotator), ``prediction``
        or ``prediction:METHOD``, and perhaps ``field``; paths in it are relative to its folder.
    field : path, optional
        Folder of masks (fields of view), or one file: pixels where the mask is 0 are left out and counted as ignored.
        Not for boundaries and saliency, which compare whole images.
    gt_pattern, pred_pattern, field_pattern : str
        How file names hold the name of the image, ``*`` in its place: ``"*_manual1"``; in `gt_pattern` ``#`` is
        an annotator: ``"*.#"``, or ``"#/*"`` for one sub-folder per annotator.
    negatives : str, optional
        Predictions with a name that fits this shell pattern, as in ``"good/*"``, need no ground truth: all their pixels
        are negative, whatever the settings say about values. Protocols that have nothing to count there refuse it.
    sizes : path or str, optional
        A folder of photographs that have the sizes of images, or one size, ``"640x480"``, for files of instances that
        do not tell them, such as YOLO's.
    images : sequence of str or path, optional
        Restrict the run to some images: names and shell patterns (``["coins", "c*"]``), or a text file with one per
        line (``#`` begins a comment); ``"!moon"`` leaves images out. The others need no partner. The signature says how
        many are chosen (``subset:3 of 9``).
    allow_missing : bool
        Leave out ground-truth images without a prediction instead of refusing them. The signature says how many
        (``missing:2 of 9``) and a note names them.
    group_by, unit : str, mapping of str to str, or function of the name, optional
        What puts images into groups, and which belong together, such as those of a patient; see `Result.with_settings`.
        By default there are no groups, and images are independent. The results file keeps both.
    method : str, optional
        Name of the method; by default that of the prediction folder. With a pairs file of several methods: which one.
    run : str
        Which training of the method, or which fold of a cross-validation, this is; results of several runs are joined
        by `segbench.join_runs`, and wherever methods are compared. Empty where the method has one set of predictions.
    repairs : Repairs, optional
        Resizing, cropping and scaling of predictions; none by default, and predictions of another size are refused.
        What was done is in the signature and, with the number of images, in ``result.notes``.
    thresholds : Thresholds, optional
        Thresholds chosen on a tuning set (`segbench.tuned_thresholds`), at which the pixels protocol measures instead
        of at every distinct score, for an unbiased area. ODS, OIS and mean F take the best of them on these images.
        They are those of one method, so several predictions take none.
    results : path, optional
        Results file to keep the counts in. Images that it holds under the same settings, with files that have not
        changed, are not counted again, unless they failed. A run of the same name and settings with predictions of
        another folder is not replaced unless they are the same files.
    fresh : bool
        Forget what `results` holds of this method and these settings, whatever the folder, and count every image.
    executor : concurrent.futures.Executor, optional
        Where to count; by default here, one image after another. The result does not depend on it. `process_pool` and
        `dask_pool` give some.
    progress : callable, optional
        Called with the number of images done and the number of all, of all methods.

    Returns
    -------
    Result or list of Result
        Of arrays, its signature says ``source:arrays``. Several predictions give a list, as `load_results` does, also
        where there is only one in it.

    Raises
    ------
    ArgumentError
        If `protocol` is unknown, `pairs` is given with folders, neither is given, a list leaves the method open, or
        places or repairs have no meaning for the protocol. If arrays do not
        fit, or other arguments are given as well.
    DataError
        If an image given as arrays cannot be counted, the folders do not pair (at most a hundred names are listed), the
        predictions are those of several methods in sub-folders, a name in `images` fits none, or ground-truth values
        leave open which are positive. Several predictions are all paired before any is counted.
        What is wrong with a single image is listed in ``result.failed`` instead, with a `FailedImages` warning. A
        `ReplacedRun` warning says what became of a run of other images, or what was kept since none could be counted.
    WorkerError
        If the executor accepts no more work.

    Warns
    -----
    UserWarning
        Once, if scores or labels are probably not what was meant, such as logits beside ``at=(0.5,)``; ``result.notes``
        say the same. What only files show, such as copies, is found by `segbench.check`.

    Examples
    --------
    >>> result = evaluate({"a": ([[0, 255]], [[0.2, 0.9]]), "b": ([[255, 0]], [[0.3, 0.7]])}, protocol="pixels")
    >>> round(result.summary["ods_f"], 3), list(result.counts)
    (0.8, ['a', 'b'])
    >>> demo = "datasets/demo/objects"
    >>> methods = {name: f"{demo}/predictions/{name}" for name in ("random_walker", "soft_otsu")}
    >>> evaluate(f"{demo}/ground_truth", methods, "pixels")
    [Result('random_walker', pixels, 9 images, ods_f 0.8465), Result('soft_otsu', pixels, 9 images, ods_f 0.6392)]
    """
    arguments = {**locals()}
    protocol = as_protocol(protocol)
    _refuse_unfit(protocol, repairs, thresholds, executor)
    if ground_truth is not None and not isinstance(ground_truth, (str, PathLike)):
        _refuse_beside_arrays(arguments)
        if results is not None:
            require_results_place(Path(as_path(results, "results")))
        result = evaluate_arrays(ground_truth, protocol, method=method, run=run, progress=progress)
        belonging = {name: arguments[name] for name in KINDS if arguments[name]}
        result = result.with_settings(**belonging) if belonging else result
        if results is not None:
            result.save(results)
        return result
    several = prediction if isinstance(prediction, (Mapping, list, tuple)) else None
    if several is not None:
        _refuse_beside_several(method=method, run=run, thresholds=thresholds, pairs=pairs)
    prediction_paths = places_of(several) if several is not None else {None: cast("Place | None", prediction)}
    pairings: dict[MethodRun, Pairing] = {}
    images_of: dict[MethodRun, int] = {}
    with listed_once():
        for name, prediction_path in prediction_paths.items():
            inputs = find_inputs(
                ground_truth,
                prediction_path,
                protocol.reads,
                pairs=pairs,
                field=field,
                gt_pattern=gt_pattern,
                pred_pattern=pred_pattern,
                field_pattern=field_pattern,
                negatives=negatives,
                sizes=sizes,
                images=images,
                allow_missing=allow_missing,
                method=method,
            ).absolute()
            called = MethodRun(method or method_of(inputs), run) if name is None else name
            pairings[called] = find_files(inputs, protocol)
        for called, pairing in pairings.items():
            images_of[called] = len(pairing.require_complete().names)
    if several is not None:
        refuse_overlapping_runs(pairings)
    total, done = sum(images_of.values()), 0
    evaluated = []
    for called, pairing in pairings.items():
        result = evaluate_pairing(
            pairing,
            protocol,
            method=called.method,
            run=called.run,
            repairs=repairs,
            thresholds=thresholds,
            results=results,
            fresh=fresh,
            executor=executor,
            belonging={name: arguments[name] for name in KINDS},
            progress=progress and partial(_report_progress, progress, done, total),
            warn=True,
        )
        evaluated.append(result)
        done += images_of[called]
    return evaluated[0] if several is None else evaluated


def _report_progress(progress: Callable[[int, int], None], before: int, total: int, done: int, _: int) -> None:
    """Report the images of a method that are done, with those of the methods before it."""
    progress(before + done, total)


def _refuse_beside_arrays(arguments: Mapping[str, object]) -> None:
    """Refuse arguments of `evaluate` that are for files where ground truth and prediction are given as arrays."""
    defaults = signature(evaluate).parameters
    for_files = set(defaults) - {"ground_truth", "protocol", *KINDS, "method", "run", "results", "progress"}
    misplaced = [name for name in arguments if name in for_files and arguments[name] is not defaults[name].default]
    if not misplaced:
        return
    hint = "leave out these arguments, or save the arrays as files"
    if "prediction" in misplaced:
        pairs_of = "evaluate([(labels, scores)]) for one image, evaluate(zip(labels, scores)) for many"
        hint = f"give pairs: {pairs_of}, and a protocol by its name: protocol="
    raise ArgumentError(
        Message(
            "for-files-only",
            "{arguments}: for files only, but ground_truth holds arrays; {hint}",
            arguments=misplaced,
            hint=hint,
        )
    )


def _refuse_beside_several(
    *, method: str | None, run: str, thresholds: Thresholds | None, pairs: str | PathLike[str] | None
) -> None:
    """Refuse arguments that are for one method where several predictions are given."""
    hints = {
        "method": (method, "prediction={'ours': PRED, 'theirs': PRED2} names each"),
        "run": (run, "prediction={'ours@1': PRED1, 'ours@2': PRED2} names runs"),
        "thresholds": (thresholds, "they are those of one method, so call evaluate once for each"),
        "pairs": (pairs, "the list names the files of each method, so leave out prediction"),
    }
    for name, (value, hint) in hints.items():
        if value:
            raise ArgumentError(
                Message(
                    "for-one-only",
                    "{argument} does not go with several predictions; {hint}",
                    argument=name,
                    hint=hint,
                )
            )


def evaluate_pairing(
    pairing: Pairing,
    protocol: Protocol,
    *,
    method: str,
    run: str = "",
    repairs: Repairs = Repairs(),
    thresholds: Thresholds | None = None,
    results: str | PathLike[str] | None = None,
    fresh: bool = False,
    executor: Executor | None = None,
    belonging: Mapping[str, By] = MappingProxyType({}),
    progress: Callable[[int, int], None] | None = None,
    warn: bool = False,
) -> Result:
    """Count images that were paired, see `evaluate`; `warn` of doubts, which a check before the run shows, too.

    Settings of `belonging`, such as ``group_by``, say what images belong to. Repairs, thresholds and the executor are
    those that `evaluate` or the command line checked.
    """
    names = pairing.require_complete().names
    protocol = for_instances(protocol, [pairing])
    protocol = for_its_dimensions(protocol, pairing, repairs)
    run, method = as_run(run), shown(method)
    first_pass = partial(
        evaluate_pairing,
        pairing,
        method=method,
        run=run,
        repairs=repairs,
        results=results,
        fresh=fresh,
        executor=executor,
        belonging=belonging,
    )
    protocol = _after_first_pass(protocol, method, first_pass)
    protocol = protocol if thresholds is None else protocol.with_settings(**thresholds.settings)
    usual, on_units = usual_units("" if belonging.get(UNIT) else protocol.usual_unit, names)
    assigned = usual | assignments(belonging, names)
    notes = (*pairing.notes, *on_units)
    record = Run.of(
        protocol,
        method=method,
        run=run,
        settings=repairs.signature_fields() | pairing.signature_fields(),
        notes=notes if run else (*notes, *pairing.notes_on_left_out),  # a run may be a fold
        inputs=pairing.inputs.absolute(),
        assigned=assigned,
        images=len(names),
    )
    outcomes: list[Outcome] = []
    done = reused = 0
    doubts: set[Note] = set()
    with ExitStack() as stack:
        path = begun = None
        if results is not None:
            path = Path(as_path(results, "results"))
            file = stack.enter_context(ResultsFile(path, create=True))
            begun = file.begin(record, fresh=fresh)
        known = partial(begun.file.known, begun) if begun else dict[str, str]().get
        for batch in count_all(protocol, repairs, pairing.files, known, executor):
            if begun:
                begun.file.save(begun, record, batch)
                reused += sum(outcome.unchanged for outcome in batch)
            else:
                outcomes += batch
            done += len(batch)
            noted = chain.from_iterable(map(attrgetter("notes"), batch))
            doubts.update(map(attrgetter("of_set"), filter(attrgetter("doubt"), noted)))
            if progress:
                progress(done, len(names))
        all_outcomes: Iterable[Outcome] = (
            begun.file.counted(begun, record, sorted(names)) if begun else sorted(outcomes, key=attrgetter("name"))
        )
        result = replace(assemble(record, all_outcomes, path), reused=reused)
        if begun:
            finish(begun, record, result, stacklevel=5)
    if result.failed:
        left_out = f" and {verb(len(result.failed), 'are')} left out of all metrics"
        warnings.warn(FailedImages(_failed_images(result, done, left_out)), stacklevel=4)
    if warn and doubts:
        warn_of(doubts, stacklevel=4)
    return result


def _after_first_pass(protocol: Protocol, method: str, evaluate: Callable[[Protocol], Result]) -> Protocol:
    """Return the protocol with what a first pass over the images decides; as it is where it needs none."""
    passes = protocol.capability(TwoPasses)
    if passes is None or not passes.first:
        return protocol
    first_pass = evaluate(passes.first)
    if first_pass.failed and not first_pass.counts:
        raise DataError(method, _failed_images(first_pass, len(first_pass.failed)))
    return passes.after(first_pass.summary)


def _failed_images(result: Result, images: int, left_out: str = "") -> Message:
    """Say how many images of all could not be counted, and why the first could not."""
    return Message(
        "failed-images",
        "{failed} of {images:many image} could not be counted{left_out}; the first: {first}",
        failed=len(result.failed),
        images=images,
        left_out=left_out,
        first=next(iter(result.failed.values())).sentence,
    )


def _refuse_unfit(
    protocol: Protocol, repairs: Repairs, thresholds: Thresholds | None, executor: Executor | None
) -> None:
    as_repairs(repairs, protocol.reads)
    if executor is not None and not hasattr(executor, "submit"):
        raise ArgumentError(
            Message(
                "not-executor",
                "executor is {given}, expected a pool of workers, such as process_pool(2) gives",
                given=f"{executor!r:.60}",
            )
        )
    untyped_thresholds: object = thresholds  # callers may have no type checker
    if untyped_thresholds is not None and not isinstance(untyped_thresholds, Thresholds):
        raise ArgumentError(
            Message(
                "not-thresholds",
                "thresholds is {given}, expected what tuned_thresholds(result) gives; thresholds of your own are a "
                "setting of the protocol: Pixels(at=(0.5,)), Boundaries(thresholds=99)",
                given=f"{untyped_thresholds!r:.60}",
            )
        )
    if thresholds is not None and protocol.capability(Pooling) is None:
        raise ArgumentError(
            Message(
                "not-of-protocol",
                "thresholds chosen on a tuning set are scores, which only the pixels protocol takes",
                protocol=protocol.name,
            )
        )

"""Results that others counted: the text files of the official benchmarks (`segbench.loaders.bsds_text`) to a `Result`.

A folder with ``<id>_ev1.txt`` holds counts and gives a result like our own, image by image. One with
``eval_bdry_thr.txt`` alone gives a published curve. The digest in the signature is that of these files, for what they
were counted against is not known.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.assembling import assemble
from segbench.aggregator.codec import encode
from segbench.aggregator.records import DataDigest, Outcome, Run, signature
from segbench.aggregator.result import Result
from segbench.aggregator.saving import finish
from segbench.aggregator.store import ResultsFile
from segbench.core.errors import LISTED, ArgumentError, DataError, Failure
from segbench.core.messages import Message, Note, joined
from segbench.core.metric import Summary
from segbench.core.names import first_names
from segbench.inputs.lines import as_thresholds
from segbench.loaders.bsds_text import BEST_KEYS, Evaluation, find_evaluations, read_rows
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, f_of
from segbench.protocols.boundaries.official import PublishedCurve
from segbench.protocols.boundaries.settings import Annotators, Boundaries

_HUMAN = re.compile(r"human(-\d+)?")
_PRINT_ROUNDING = 2e-6  # how far six digits take a metric
_F_ROUNDING = 1e-4
_MOST_PIXELS = 2**53
_TAKEN = ("ois_recall", "ois_precision", "ois_f")


def import_bsds(
    folder: str | PathLike[str], *, method: str | None = None, results: str | PathLike[str] | None = None
) -> list[Result]:
    """Read the results of the official boundary benchmark, or of anything that writes its files.

    Parameters
    ----------
    folder : path
        Holds ``<id>_ev1.txt``, or ``eval_bdry_thr.txt`` and ``eval_bdry.txt``, or ``<method>_bdry_thr.txt`` and
        ``<method>_bdry.txt`` of several methods; or folders that do, one a method.
    method : str, optional
        What to call it, where there is one; by default what its files or its folder are called.
    results : path, optional
        Results file to keep them in, beside what is there.

    Returns
    -------
    list of Result
        With counts of each image where there are ``*_ev1.txt``; else with ``Result.published``: its ODS and areas
        follow from the rows, and its OIS is the printed one.

    Raises
    ------
    DataError
        For files that are missing, damaged, or do not fit each other; all of them at once.
    ArgumentError
        If a name is given for several methods.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "2018_ev1.txt").write_text("0.5 4 6 4 5")
    ...     (result,) = import_bsds(folder, method="net")
    >>> result.curve.recall, result.curve.precision
    (array([0.66666667]), array([0.8]))
    """
    evaluations = find_evaluations(Path(folder))
    if method is not None and len(evaluations) > 1:
        listed = first_names([evaluation.name for evaluation in evaluations], LISTED)
        raise ArgumentError(
            Message(
                "one-name",
                "one name for {number} methods ({methods}); import them one by one, or unnamed",
                number=len(evaluations),
                methods=listed,
            )
        )
    imported: list[tuple[Result, list[Outcome]]] = []
    for evaluation in evaluations:
        name = method or evaluation.name
        imported.append(_counted(name, evaluation) if evaluation.counts else (_published(name, evaluation), []))
    if results is not None:
        with ResultsFile(Path(results), create=True) as store:
            for result, outcomes in imported:
                run = Run.of(
                    result.rules,
                    method=result.method,
                    settings=result.settings,
                    notes=result.notes,
                    published=result.published.to_json() if result.published else "",
                )
                begun = store.begin(run)
                store.save(begun, run, outcomes)
                finish(begun, run, result)
    return [result for result, _ in imported]


def _counted(method: str, evaluation: Evaluation) -> tuple[Result, list[Outcome]]:
    """Read the counts of every image."""
    counts = _all_counts(evaluation)
    digests = {name: _digest(path) for name, path in evaluation.counts.items()}
    outcomes = [Outcome(name, digests[name], digests[name], encode(image)) for name, image in sorted(counts.items())]
    settings, protocol, setting_notes = _settings(next(iter(counts.values())).thresholds, method)
    run = Run.of(protocol, method=method, settings=settings)
    result = assemble(run, outcomes)
    notes = (*setting_notes, *result.notes, *_disagreements(result.summary, evaluation.best, BEST_KEYS))
    return replace(result, notes=notes), outcomes


def _all_counts(evaluation: Evaluation) -> dict[str, BoundaryCounts]:
    """Read the counts of every image, and say all that is wrong with any."""
    problems: list[Failure] = []
    counts: dict[str, BoundaryCounts] = {}
    for name, path in evaluation.counts.items():
        try:
            counts[name] = _counts(path)
        except DataError as error:
            problems.append(error.failure)
            continue
        first, *_ = counts.values()
        if not np.array_equal(counts[name].thresholds, first.thresholds):
            others = Message(
                "other-thresholds",
                "has {thresholds} thresholds, other than {first}",
                thresholds=counts[name].thresholds.size,
                first=next(iter(counts)),
            )
            problems.append(Failure(str(path), others))
    if problems:
        message = Message(
            "unusable-files",
            "{number} of its files cannot be used:\n  {problems}\n",
            number=len(problems),
            problems=joined((problem.sentence for problem in problems), between="\n  "),
        )
        raise DataError(str(evaluation.folder), message, "fix or remove them")
    return counts


def _counts(path: Path) -> BoundaryCounts:
    rows = read_rows(path, (5,))
    pixels = rows[:, 1:]
    if not np.all((pixels >= 0) & (pixels < _MOST_PIXELS) & (pixels == np.rint(pixels))):
        problem = Message("not-whole", "holds counts that are not whole numbers, expected pixels")
        raise DataError(str(path), problem, "write the file again")
    try:
        return BoundaryCounts(_snapped(rows[:, 0]), *pixels.T.astype(np.int64))
    except ArgumentError as error:
        raise DataError(str(path), error.message) from error


def _published(method: str, evaluation: Evaluation) -> Result:
    """Read the curve of a method without counts."""
    printed = _best(evaluation.best)
    taken = {key: printed[key] for key in _TAKEN if not math.isnan(printed.get(key, math.nan))}
    assert evaluation.rows is not None  # noqa: S101  for types alone: what holds no counts has rows
    curve = _curve(evaluation.rows)
    if curve.thresholds.size == 1 and not math.isnan(printed.get("area_pr", math.nan)):
        taken["area_pr"] = printed["area_pr"]
    published = PublishedCurve(curve, taken)
    settings, protocol, setting_notes = _settings(curve.thresholds, method)
    settings = {**settings, "counts": "no"}
    notes = (*setting_notes, *_disagreements(published.summary, evaluation.best, (*BEST_KEYS[:3], "area_pr")))
    files = {path.name: _digest(path) for path in (evaluation.rows, evaluation.best) if path}
    signed = signature(Boundaries.name, settings, DataDigest(sorted(files.items())), images="unknown")
    return Result(method, protocol, settings, signed, {}, notes=notes, published=published)


def _curve(path: Path) -> BoundaryCurve:
    rows = read_rows(path, (3, 4))
    thresholds = _snapped(rows[:, 0]) if rows.shape[1] == 4 else np.full(len(rows), math.nan)
    if np.any(np.diff(thresholds) <= 0):
        problem = Message("not-increasing", "its thresholds are not increasing")
        raise DataError(str(path), problem, "sort its rows by threshold")
    *_, recall, precision, f = rows.T
    try:
        curve = BoundaryCurve(thresholds, recall, precision)
    except ArgumentError as error:
        raise DataError(str(path), error.message) from error
    contradicting = np.flatnonzero(np.abs(f - curve.f) > _F_ROUNDING)
    if contradicting.size:
        row = contradicting[0]
        problem = Message(
            "contradiction",
            "row {row} gives F {f:g}, but its recall and precision give {expected:g}",
            row=row + 1,
            f=f[row],
            expected=curve.f[row],
        )
        raise DataError(str(path), problem, "rows are: threshold (may be left out), recall, precision, F")
    return curve


def _best(path: Path | None) -> dict[str, float]:
    """Read the one row of ``eval_bdry.txt``, with or without threshold."""
    if path is None:
        return {}
    columns = read_rows(path, (7, 8))[0].tolist()
    printed = dict(zip(BEST_KEYS, columns[len(columns) - len(BEST_KEYS) :], strict=True))
    for best in ("ods", "ois"):
        recall, precision, f = (printed[f"{best}_{metric}"] for metric in ("recall", "precision", "f"))
        if not math.isnan(f) and not abs(f - float(f_of(recall, precision))) <= _F_ROUNDING:
            problem = Message(
                "contradiction",
                "gives F {f:g} for recall {recall:g} and precision {precision:g}",
                f=f,
                recall=recall,
                precision=precision,
            )
            hint = "its row is: threshold (may be left out), R P F at it, R P F of OIS, area"
            raise DataError(str(path), problem, hint)
    return printed


def _disagreements(summary: Summary, path: Path | None, keys: tuple[str, ...]) -> tuple[Note, ...]:
    """Say where a printed metric does not follow from the rows or counts beside it."""
    printed = _best(path)
    return tuple(
        Note(
            Message(
                "printed-otherwise",
                "{file} prints {metric} {printed:g}, its rows give {value:g}",
                file=path.name if path else "",
                metric=key,
                printed=printed[key],
                value=summary[key],
            )
        )
        for key in keys
        if key in printed and abs(printed[key] - summary[key]) > _PRINT_ROUNDING
    )


def _settings(
    thresholds: NDArray[np.float64], method: str
) -> tuple[dict[str, str], Boundaries | Annotators, tuple[Note, ...]]:
    """Return the settings that follow from the files, the protocol, and notes.

    Files do not say whether annotators are compared.
    """
    if _HUMAN.fullmatch(method) and np.array_equal(thresholds, [1.0]):
        note = Note(
            Message(
                "read-as-annotators",
                "called human with the single threshold 1, so read as annotators compared with each other, not as a "
                "method",
            )
        )
        return {"source": "imported", "thresholds": "annotators"}, Annotators(settings=Boundaries()), (note,)
    listed = ",".join(f"{value:g}" for value in thresholds)
    if np.isnan(thresholds).any():
        listed = f"{thresholds.size} unnamed"
    elif np.array_equal(thresholds, as_thresholds(thresholds.size)):
        listed = str(thresholds.size)
    return {"source": "imported", "thresholds": listed}, Boundaries(), ()


def _snapped(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take evenly spaced thresholds where the six digits of the file are those, so that 0.166667 is 1 / 6 again."""
    even = as_thresholds(thresholds.size)
    is_even = all(f"{exact:g}" == f"{printed:g}" for exact, printed in zip(even, thresholds, strict=True))
    return even if is_even else thresholds


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

"""The runs of each method among some results, joined; how is in `segbench.aggregator.result.joined`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import count

from segbench.aggregator.records import without_selection
from segbench.aggregator.result import Result, as_results, joined
from segbench.core.errors import ArgumentError, DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message


def join_runs(results: Iterable[Result]) -> list[Result]:
    """Join the results of the runs of each method to one result, as tables and comparisons do.

    Trainings of a method on the same images become the mean over runs: every metric of ``summary`` is a mean,
    ``result.sd`` has the standard deviation over runs, and intervals and tests know that another training would have
    given another network. Folds of a cross-validation, each on images of its own, are pooled: every image counts as
    its fold predicted it.

    Parameters
    ----------
    results : iterable of Result
        Those of runs (``evaluate(..., method="ours", run="1")``, or ``ours@1=PRED`` on the command line) are joined by
        the name of the method, the protocol and its settings. All others, single runs and those that stopped early
        stay as they are.

    Returns
    -------
    list of Result
        In the order in which methods first come. ``result.parts("run")`` has what was joined; its ``mean`` is the mean
        over runs or folds, its ``pooled`` all folds together (None of trainings).

    Raises
    ------
    DataError
        If runs of one method share some images, but not all; or are trainings measured on different ground truth.
    ArgumentError
        If a method has a result without a run beside those of its runs.

    Examples
    --------
    >>> from segbench import evaluate
    >>> trainings = [
    ...     evaluate({"a": ([0, 1, 1], [0.1, 0.9, 0.8])}, method="net", run="1"),
    ...     evaluate({"a": ([0, 1, 1], [0.1, 0.9, 0.0])}, method="net", run="2"),
    ... ]
    >>> (net,) = join_runs(trainings)
    >>> net
    Result('net', pixels, 1 image, 2 runs, ods_f 0.9000)
    >>> round(net.sd["ods_f"], 4), list(net.parts("run")), net.parts("run").pooled
    (0.1414, ['1', '2'], None)
    """
    all_results = as_results(results)
    keys = [
        (result.method, result.protocol, json.dumps(without_selection(result.settings), sort_keys=True))
        for result in all_results
    ]
    runs = grouped(
        (key, result) for key, result in zip(keys, all_results, strict=True) if result.run and not result.partial
    )
    _refuse_mixed(all_results, keys)
    by_method: dict[object, Result] = {}
    for number, (key, result) in enumerate(zip(keys, all_results, strict=True)):
        runs_of_method = runs.get(key, []) if result.run and not result.partial else []
        if len(runs_of_method) < 2:
            by_method[number] = result
        elif key not in by_method:
            by_method[key] = _joined(runs_of_method)
    return list(by_method.values())


def _joined(runs: list[Result]) -> Result:
    """Join results of one method; where a failed image keeps them from having the same images, say so."""
    named = {result.run: result for result in runs}
    if len(named) < len(runs):
        namesakes = Counter(result.run for result in runs)
        doubled = next(run for run, number in namesakes.items() if number > 1)
        raise ArgumentError(
            Message(
                "same-run",
                "two results are run {run} of {method}; give one another name: run='...'",
                run=doubled,
                method=runs[0].method,
            )
        )
    try:
        return joined(named)
    except (ArgumentError, DataError):
        failed = [(result.label, name, failure) for result in runs for name, failure in result.failed.items()]
        if not failed:
            raise
        label, name, failure = failed[0]
        problem = Message(
            "failed-in-run",
            "{image} failed in {run} ({failure}), so that its runs have different images",
            image=name,
            run=label,
            failure=failure.sentence,
        )
        again = Either(
            "fix it and evaluate it again", "fix it and repeat the run; segbench show --runs prints each run"
        )
        raise DataError(runs[0].method, problem, Message("repeat", "{again}", again=again)) from None


def _refuse_mixed(results: list[Result], keys: list[tuple[str, str, str]]) -> None:
    """Refuse a method that has a result by itself beside those of its runs."""
    names = grouped((key, result.run) for key, result in zip(keys, results, strict=True))
    for (method, *_), runs in names.items():
        if "" in runs and any(runs):
            free = next(str(number) for number in count(1) if str(number) not in runs)
            raise ArgumentError(
                Message(
                    "run-and-method",
                    "{method} has a result of its own beside those of its runs ({runs}); evaluate it as a run, too, "
                    "run={free!r}, or name it otherwise: dataclasses.replace(result, ...)",
                    method=method,
                    runs=[run for run in runs if run],
                    free=free,
                )
            )


def first_run(result: Result) -> Result:
    """Return the first of the trainings that a result is the mean of; the result itself where it is no mean."""
    return next(iter(result.runs.values())) if result.averages_runs else result

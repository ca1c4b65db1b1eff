"""What plots are given: one result or several, of one protocol, with names that tell classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.protocol import Protocol
from segbench.core.series import Series, Space


def _as_results(given: object) -> list[Result]:
    """Give a result, or several, as a list."""
    if isinstance(given, Result):
        return [given]
    if isinstance(given, Mapping):
        raise ArgumentError("results is a mapping, expected a list: give list(results.values())")
    results = []
    for each in given if isinstance(given, Iterable) else [given]:
        if not isinstance(each, Result):
            raise ArgumentError(f"expected results, as segbench.evaluate gives them, got {type(each).__name__}")
        results.append(each)
    return results


def of_one_protocol(given: object) -> list[Result]:
    """Take results to be drawn in one picture: several classes as all of them added up."""
    results = _as_results(given)
    one_protocol(results)
    return _classes_added_up(results)


def _classes_added_up(results: Sequence[Result]) -> list[Result]:
    """Put for results of several classes that of all added up, which is one of pixels; of one class name it.

    Put so, they look like results of pixels but are not comparable with these: ask `one_protocol` first.
    """
    return named_by_class(
        [
            replace(result.micro, method=f"{result.method}, classes added up") if classes_add_up(result) else result
            for result in results
        ]
    )


def classes_add_up(result: Result) -> bool:
    """Tell whether a result is drawn as the sum of its classes, or class by class."""
    return type(result.rules).added_up is not Protocol.added_up and bool(result.classes)


def named_by_class(results: Sequence[Result]) -> list[Result]:
    """Put the class into the names of methods where all results are of the same one; others are told apart by it."""
    classes = {result.settings.get("class", "micro") for result in results}
    if len(classes) != 1 or "micro" in classes:
        return list(results)
    return [replace(result, method=f"{result.method}, class {result.settings['class']}") for result in results]


def one_protocol(results: Sequence[Result]) -> str:
    """Give the protocol that all results have."""
    protocols = sorted({result.protocol for result in results})
    if len(protocols) != 1:
        if not protocols:
            raise ArgumentError("no results to draw")
        raise ArgumentError(
            f"curves of {' and '.join(protocols)} are not comparable; draw results of one protocol (--only)"
        )
    return protocols[0]


def curves_in(results: Sequence[Result], space: Space | None, what: str) -> list[Series | None]:
    """Give the curves of results of one protocol, to be drawn in a space, or against the threshold for None."""
    curves = [result.drawn for result in results]
    known = next((curve for curve in curves if curve is not None), None)
    if known is not None and (space is None or space in known.spaces):
        return curves
    if known is None:
        instead = "each image: --kind images (plot_images)"
    elif known.spaces:
        instead = "its precision-recall curve: --kind pr (plot_pr)"
    else:
        instead = f"its {known.measure} against the threshold: --kind f (plot_f_threshold)"
    raise ArgumentError(f"the {results[0].protocol} protocol has no {what}; draw {instead}")

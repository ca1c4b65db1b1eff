"""Settings of measuring as options of the verbs that read results files: nothing is counted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segbench.cli.options import Option, parameter_of, read_typed
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.options import flag_of, options_of
from segbench.protocols.registry import protocols, verb_of

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol

_NONE = "none"
_TUNING = "tuning_results"


@cache
def measuring_fields() -> Mapping[str, Mapping[type[Protocol], Field[Any]]]:
    """Return the options of measuring by the name of their field, with the field of each protocol that has it."""
    return grouped_fields([(field.name, kind, field) for kind in protocols().values() for field in _fields(kind)])


def grouped_fields(
    entries: Sequence[tuple[str, type[Protocol], Field[Any]]],
) -> Mapping[str, Mapping[type[Protocol], Field[Any]]]:
    """Group fields by name."""
    return {name: dict(of) for name, of in grouped((name, (kind, field)) for name, kind, field in entries).items()}


def _fields(kind: type[Protocol]) -> list[Field[Any]]:
    """List the settings of measuring of a protocol that are options."""
    return [field for field in options_of(kind).values() if "measuring" in field.metadata]


@cache
def measuring_options() -> Sequence[Option]:
    """Make the options, in a panel for the protocols that each is for."""
    made: list[Option] = []
    for name, of_kinds in measuring_fields().items():
        kind, field = next(iter(of_kinds.items()))
        flag = flag_of(field)
        panel = f"Measured otherwise: {', '.join(dict.fromkeys(verb_of(kind) for kind in of_kinds))}"
        if isinstance(field.default, bool):
            made += [
                _option(name, flag, panel, field.metadata["help"], is_flag=True),
                _option(f"no_{name}", f"--no-{name}", panel, f"Leave out what {flag} adds.", is_flag=True),
            ]
        else:
            option = _option(name, flag, panel, f"{field.metadata['help'].rstrip('.')}; {_NONE} takes it away.")
            option.value = parameter_of(kind, field).value
            made.append(option)
    help_text = f"Measure at thresholds chosen on a tuning set, by a results file of it; {_NONE} takes them away."
    tuning = _option(_TUNING, "--tuning-results", "Measured otherwise: pixels", help_text)
    tuning.value = "FILE"
    return [*made, tuning]


def _option(name: str, flag: str, panel: str, text: str, *, is_flag: bool = False) -> Option:
    """Make an option that only --help-all shows."""
    option = Option([name, flag], is_flag=is_flag, help=text)
    option.panel, option.rare = panel, True
    return option


def measured_as_typed(results: Sequence[Result], typed: Mapping[str, Any], path: Path) -> list[Result]:
    """Measure results with the options that were typed; each must apply to one of them at least."""
    measured = list(results)
    for name, text in typed.items():
        measured = _with_option(measured, name, text, path)
    return measured


def _with_option(results: Sequence[Result], name: str, text: Any, path: Path) -> list[Result]:  # noqa: ANN401  text or True
    """Measure the results that have a setting with the value that was typed."""
    if name == _TUNING:
        return _tuned(results, text, path)
    field = name.removeprefix("no_")
    known = measuring_fields()[field]
    applies = [field in result.rules.measuring_settings() and not result.published for result in results]
    if not any(applies):
        raise ArgumentError(_not_measured(field, text, results, path))
    changed = []
    for result, is_measured in zip(results, applies, strict=True):
        if is_measured:
            kind = next(kind for kind in known if issubclass(result.kind, kind))
            value = _value(kind, known[kind], text, taken_away=name != field)
            result = result.with_settings(**value)  # noqa: PLW2901  in its place
        changed.append(result)
    return changed


def _value(kind: type[Protocol], field: Field[Any], text: Any, *, taken_away: bool) -> dict[str, Any]:  # noqa: ANN401  text or True
    """Return the value of a field that was typed."""
    if isinstance(field.default, bool):
        return {field.name: not taken_away}
    if text == _NONE:
        return {field.name: () if isinstance(field.default, tuple) else field.default}
    return {field.name: read_typed(kind, field, text)}


def _not_measured(field: str, text: object, results: Sequence[Result], path: Path) -> str:
    """Say that no run is measured with a setting: it decides what is counted, or is for other protocols."""
    flag = flag_of(next(iter(measuring_fields()[field].values())))
    counting = [result.kind for result in results if field in {setting.name for setting in fields(result.kind)}]  # type: ignore[arg-type]
    if counting:
        command = f"segbench {verb_of(counting[0])} GT PRED {flag}{'' if text is True else f' {text}'}"
        return f"{flag} decides what is counted in the runs of {path}; count again: {command}"
    kinds = ", ".join(dict.fromkeys(verb_of(kind) for kind in measuring_fields()[field]))
    has = ", ".join(dict.fromkeys(result.protocol for result in results))
    return f"{flag} is for runs of {kinds}, and {path} holds runs of {has}; leave it out"


def _tuned(results: Sequence[Result], text: str, path: Path) -> list[Result]:
    """Measure results at the thresholds of a tuning set, each at those of the run of its name there."""
    from segbench.aggregator.assembling import load_results
    from segbench.aggregator.measuring import without_measuring
    from segbench.aggregator.records import SELECTION, without_selection
    from segbench.aggregator.tuning import tuned_thresholds

    def tells(result: Result) -> tuple[str, Mapping[str, str]]:
        return result.method, without_selection(without_measuring(result), *SELECTION, "field")

    applies = ["thresholds" in result.rules.measuring_settings() and not result.published for result in results]
    if not any(applies):
        raise ArgumentError(
            f"--tuning-results gives thresholds of scores, and {path} holds no run of soft maps of pixels"
        )
    runs = [] if text == _NONE else load_results(text)
    changed = []
    for result, is_measured in zip(results, applies, strict=True):
        if not is_measured:
            changed.append(result)
        elif text == _NONE:
            changed.append(result.with_settings(thresholds=(), thresholds_source=""))
        else:
            run = next((run for run in runs if tells(run) == tells(result)), None)
            if run is None:
                names = ", ".join(run.method for run in runs) or "none"
                raise ArgumentError(
                    f"{text} holds no run of {result.method} under the settings of {path} (it holds: {names}); "
                    "tune with the same options and names"
                )
            chosen = tuned_thresholds(run)
            changed.append(result.with_thresholds(chosen))
    return changed

"""Settings of measuring as options of the verbs that read results files: nothing is counted again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, get_type_hints

import click

from segbench.cli.options import Argument, Option, parameter_of, required
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message
from segbench.core.numbers import written
from segbench.core.settings import flag_of, option, options_of, value_of
from segbench.inputs.class_names import written_classes
from segbench.protocols.registry import protocols, verb_of

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.core.protocol import Protocol
    from segbench.loaders.belonging import Assignment

_NONE = "none"
_TUNING = "tuning_results"


@dataclass(frozen=True, kw_only=True)
class Belonging:
    """What images belong to: settings of measuring of every run."""

    group_by: str | None = option(
        "Add a row for each group of images, and the mean over groups: by their folder, a column of a CSV file, "
        "meta.csv:weather, or a pattern of names, #_*, with # for the group.",
        metavar="folder|FILE.csv:COLUMN|PATTERN",
        rare=True,
        measuring="apart",
        none="none takes them away",
    )
    unit: str | None = option(
        "Say which images belong together, as those of a patient or video do, so that intervals and tests are over "
        "units: their folder, a column of a CSV file, meta.csv:patient, or a pattern of names, #_slice*, with # for "
        "the unit and * for anything.",
        metavar="folder|FILE.csv:COLUMN|PATTERN",
        rare=True,
        measuring="apart",
        none="none takes them away",
    )


_OF_EVERY_RUN = {field.name: field for field in fields(Belonging)}


@cache
def measuring_fields() -> Mapping[str, Mapping[type[Protocol], Field[Any]]]:
    """Return the options of measuring by the name of their field, with the field of each protocol that has it."""
    by_name = grouped((field.name, (kind, field)) for kind in protocols().values() for field in _fields(kind))
    of_every_run = {field.name: dict.fromkeys(protocols().values(), field) for field in _OF_EVERY_RUN.values()}
    return of_every_run | {name: dict(of_kinds) for name, of_kinds in by_name.items()}


def _fields(kind: type[Protocol]) -> list[Field[Any]]:
    """List the settings of measuring of a protocol that are options."""
    return [field for field in options_of(kind).values() if "measuring" in field.metadata]


@cache
def measuring_options() -> Sequence[Option | Argument]:
    """Make the options, in a panel for the protocols that each is for."""
    made: list[Option | Argument] = []
    for name, of_kinds in measuring_fields().items():
        kind, field = next(iter(of_kinds.items()))
        panel = "Options" if name in _OF_EVERY_RUN else f"Other settings of {_listed(map(verb_of, of_kinds))}"
        hints = get_type_hints(Belonging if name in _OF_EVERY_RUN else kind)
        option = parameter_of(name, field, hints[name], "")
        option.default_text = ""  # it is that of the run
        text = field.metadata["help"]
        made.append(_placed(option, panel, f"{text.rstrip('.')}; {_taken(field)}." if _taken(field) else text))
        if isinstance(field.default, bool):
            no = Option([f"no_{name}", f"--no-{name}"], is_flag=True)
            made.append(_placed(no, panel, f"Leave out what {flag_of(field)} adds."))
    tuning = Option([_TUNING, "--tuning-results"])
    tuning.value = "FILE"
    text = f"Measure at thresholds chosen on a tuning set, by its results file; {_NONE} takes them away."
    return [*made, _placed(tuning, "Other settings of pixels", text)]


def _placed(option: Option | Argument, panel: str, text: str) -> Option | Argument:
    """Put an option into a panel that only --help-all shows."""
    option.panel, option.rare, option.help = panel, True, text
    return option


def _taken(field: Field[Any]) -> str:
    """Say what the word none does; empty where a setting does not take it."""
    return str(field.metadata.get("none", ""))


def _listed(words: Iterable[str]) -> str:
    """Write a few words as a list, each once."""
    return " and ".join(dict.fromkeys(words))


def measured_as_typed(results: Sequence[Result], typed: Mapping[str, Any], path: Path) -> list[Result]:
    """Measure results with the options that were typed; each must apply to one of them at least."""
    values: list[dict[str, Any]] = [{} for _ in results]
    for name, text in typed.items():
        if name != _TUNING:
            for of_result, value in zip(values, _values(results, name, text, path), strict=True):
                of_result.update(value)
    pairs = zip(results, values, strict=True)
    measured = [result.with_settings(**of_result) if of_result else result for result, of_result in pairs]
    if "unit" in typed:
        say_units(result.units for result in measured)
    return _tuned(measured, typed[_TUNING], path) if _TUNING in typed else measured


def say_units(units: Iterable[Assignment | None]) -> None:
    """Say on standard error how many units there are, with an example that shows whether they are those meant."""
    for described in dict.fromkeys(of_method.described for of_method in units if of_method):
        click.echo(described, err=True)


def _values(results: Sequence[Result], name: str, text: Any, path: Path) -> list[dict[str, Any]]:  # noqa: ANN401  text or True
    """Return the value of an option for each result, nothing for those that are not measured with it, or have it."""
    field = name.removeprefix("no_")
    known = measuring_fields()[field]
    values: list[dict[str, Any]] = [{} for _ in results]
    applies = False
    for result, of_result in zip(results, values, strict=True):
        setting = next((known[kind] for kind in known if issubclass(result.kind, kind)), None)
        if setting is None or result.published:
            continue
        value = _value(setting, text, taken_away=name != field)
        if field in result.measuring_settings:
            of_result.update(value)
        elif not result.rules.has_setting(field, value[field]):
            continue
        applies = True
    if not applies:
        raise ArgumentError(_not_measured(field, text, results, path))
    return values


def _value(field: Field[Any], text: Any, *, taken_away: bool) -> dict[str, Any]:  # noqa: ANN401  text or True
    """Return the value of a field that was typed."""
    if isinstance(field.default, bool):
        return {field.name: not taken_away}
    return {field.name: value_of(field, text)}


def _not_measured(field: str, text: Any, results: Sequence[Result], path: Path) -> Message:  # noqa: ANN401  text or True
    """Say that no run is measured with a setting: it decides what is counted, or is for other protocols."""
    kinds = list(measuring_fields()[field])
    flag = flag_of(measuring_fields()[field][kinds[0]])
    typed = flag if text is True else f"{flag} {text}"
    for result in results:
        own = {setting.name: setting for setting in options_of(result.kind).values()}
        if field in own and not result.published:
            return f"{typed}: " + _counted_again(result, own[field], text, path)
    if field in _OF_EVERY_RUN:
        return Message(
            "needs-names",
            "{typed}: the runs of {path} have no images with names, such as published ones; leave it out",
            typed=typed,
            path=str(path),
        )
    return Message(
        "not-of-protocol",
        "{option} is for runs of {verbs}, and {path} holds runs of {protocols}; leave it out",
        option=flag,
        verbs=_listed(map(verb_of, kinds)),
        path=str(path),
        protocols=_listed(result.protocol for result in results),
    )


def _counted_again(result: Result, field: Field[Any], text: Any, path: Path) -> Message:  # noqa: ANN401  text or True
    """Say how to count a run with a setting that measuring does not take, or why it has no meaning for the run."""
    if text == _NONE:
        return Message(
            "no-such-setting", "the runs of {path} have no such setting to take away; leave it out", path=str(path)
        )
    try:
        rules = replace(result.rules, **_value(field, text, taken_away=False))  # type: ignore[type-var]
    except ArgumentError as error:
        return Message(
            "impossible-setting",
            "the runs of {path} cannot have it. segbench {verb} says: {reason}",
            path=str(path),
            verb=verb_of(result.kind),
            reason=error.message,
        )
    return Message(
        "count-again",
        "the runs of {path} need counting again: {command}",
        path=str(path),
        command=_command_of(rules, field.name),
    )


def _command_of(rules: Protocol, asked: str) -> str:
    """Write the command that counts as a protocol does: with what is asked for, and settings of counting."""
    kind = type(rules)
    options = options_of(kind)
    plain = kind(**{options[name].name: getattr(rules, options[name].name) for name in required(kind)})
    words = ["segbench", verb_of(kind), "GT", "PRED"]
    for field in options.values():
        value = getattr(rules, field.name)
        differs = field.default is MISSING or value != getattr(plain, field.name)
        if differs and (field.name == asked or field.name not in rules.measuring_settings()):
            words.append(_option_text(rules, field, value))
    return " ".join(words)


def _option_text(rules: Protocol, field: Field[Any], value: Any) -> str:  # noqa: ANN401  of any setting
    """Write an option with the value of a protocol as it is typed."""
    if isinstance(value, bool):
        return flag_of(field)
    if field.metadata.get("metavar") == "FILE":
        return f"{flag_of(field)} FILE"
    if "write" in field.metadata:
        text = field.metadata["write"](value)
    elif "names" in field.metadata.get("also", ()):
        text = written_classes(value, rules.names)  # type: ignore[attr-defined]
    else:
        text = written(value) if isinstance(value, (tuple, float)) else str(value)
    return f"{flag_of(field)} {quote(text or _NONE)}"


def _tuned(results: Sequence[Result], text: str, path: Path) -> list[Result]:
    """Measure results at the thresholds of a tuning set, each at those of the run of its name there."""
    from segbench.aggregator.assembling import load_results
    from segbench.aggregator.measuring import without_measuring
    from segbench.aggregator.records import SELECTION, without_selection
    from segbench.aggregator.tuning import tuned_thresholds

    def tells(result: Result) -> tuple[str, Mapping[str, str]]:
        return result.label, without_selection(without_measuring(result), *SELECTION, "field")

    applies = ["thresholds" in result.rules.measuring_settings() and not result.published for result in results]
    if not any(applies):
        raise ArgumentError(
            Message(
                "not-of-protocol",
                "--tuning-results gives thresholds of scores, and {path} holds no run of soft maps of pixels",
                path=str(path),
            )
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
                raise ArgumentError(
                    Message(
                        "no-tuning-run",
                        "{path} holds no run of {missing} under the settings of {results} (it holds: {found}); "
                        "tune with the same options and names",
                        path=text,
                        missing=result.label,
                        results=str(path),
                        found=[run.label for run in runs] or ["none"],
                    )
                )
            chosen = tuned_thresholds(run)
            changed.append(result.with_thresholds(chosen))
    return changed

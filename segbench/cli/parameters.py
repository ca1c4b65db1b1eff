"""Groups of options: each is defined once, and a command is put together of those that apply to it.

A group is a frozen dataclass of which each field is annotated as a parameter of a Typer command is; the fields of a
protocol that are options (`segbench.core.options`) are a group, too. `command` makes a Typer command of a function that
takes an object of each group.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from segbench.cli.command import Command, epilog
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.core.options import Option
    from segbench.core.protocol import Protocol

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Group:
    """Parameters of a command, and what is made of their values.

    Parameters
    ----------
    parameters : sequence of inspect.Parameter
        As Typer reads them.
    build : callable
        Makes the object; takes the context of the command and the values by name.
    """

    parameters: Sequence[inspect.Parameter]
    build: Callable[[typer.Context, Values], Any]


def group(kind: type, panel: str, *, without: Collection[str] = (), **fixed: Any) -> Group:  # noqa: ANN401  values of its fields
    """Make a group of a dataclass, with its options in a panel of the help.

    Fields that are left out keep their defaults, `fixed` ones have their values.
    """
    assert is_dataclass(kind)  # noqa: S101  for types alone
    hints = get_type_hints(kind, include_extras=True)
    chosen = [each for each in fields(kind) if each.name not in {*without, *fixed}]
    parameters = [_parameter(each.name, _in_panel(hints[each.name], panel), each.default) for each in chosen]
    return Group(parameters, lambda _, values: kind(**values, **fixed))


def protocol_group(protocols: Sequence[type[Protocol]]) -> Group:
    """Make a group of the options of a verb's protocols, which gives the protocol with its settings."""
    from segbench.core.options import options_of

    merged: dict[str, dict[type[Protocol], Option]] = {}
    for kind in protocols:
        for each in options_of(kind):
            merged.setdefault(each.name, {})[kind] = each

    def build(context: typer.Context, values: Values) -> Protocol:
        return chosen_protocol(protocols, {name: value for name, value in values.items() if is_given(context, name)})

    return Group([_of_option(options) for options in merged.values()], build)


def chosen_protocol(protocols: Sequence[type[Protocol]], given: Values) -> Protocol:
    """Make the protocol of a verb from the options given; an option that only a variant has chooses the variant."""
    from segbench.core.options import options_of, protocol_from

    flags = {each.name: each.flag for kind in protocols for each in options_of(kind)}
    selecting = {kind: [each.name for each in options_of(kind) if each.required] for kind in protocols[1:]}
    chosen = next((kind for kind, names in selecting.items() if set(names) & set(given)), protocols[0])
    foreign = [flags[name] for name in given if name not in {each.name for each in options_of(chosen)}]
    if foreign and chosen is not protocols[0]:
        by = ", ".join(flags[name] for name in selecting[chosen])
        raise ArgumentError(f"{', '.join(foreign)} cannot be combined with {by}; leave one of them out")
    if foreign:
        needed = " or ".join(flags[name] for names in selecting.values() for name in names)
        raise ArgumentError(f"{', '.join(foreign)} can only be used with {needed}; add it")
    protocol: Protocol = protocol_from(chosen, given)
    return protocol


def command(
    function: Callable[..., None],
    groups: Mapping[str, Group],
    *,
    name: str,
    help: str,  # noqa: A002  as typer calls it
    examples: Sequence[str],
    option_names: Callable[[str], Collection[str]],
    defaults: Values | None = None,
) -> Command:
    """Make a command of a function."""

    def run(context: typer.Context, **values: Any) -> None:  # noqa: ANN401  of every option
        built = {
            name: each.build(context, {one.name: values[one.name] for one in each.parameters})
            for name, each in groups.items()
        }
        function(context, **built)

    parameters = [inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    parameters += [parameter for each in groups.values() for parameter in each.parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    settings = {"obj": option_names, "default_map": dict(defaults or {})}
    return as_command(run, name, examples, help=help, context_settings=settings)


def as_command(function: Callable[..., None], name: str, examples: Sequence[str], **others: Any) -> Command:  # noqa: ANN401  of Typer's command
    """Make a command of a function with the parameters that Typer reads."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    app.command(name, cls=Command, epilog=epilog(examples), **others)(function)
    made = typer.main.get_command(app)
    assert isinstance(made, Command)  # noqa: S101  for types alone
    return made


def is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option was typed or comes from a preset, and does not have its own default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def is_typed(context: typer.Context, name: str) -> bool:
    """Return whether an option was typed, and does not come from a preset or the defaults."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _in_panel(hint: Any, panel: str) -> Any:  # noqa: ANN401  annotations
    """Give the annotation of an option that is in a panel; an argument, and an option that names one, stay."""
    kind, info = get_args(hint)
    if not isinstance(info, OptionInfo) or info.rich_help_panel:
        return hint
    info = copy(info)  # other commands may have it in another panel
    info.rich_help_panel = panel
    return Annotated[kind, info]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:  # noqa: ANN401  of any type
    empty = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=empty)


def _of_option(options: Mapping[type[Protocol], Option]) -> inspect.Parameter:
    """Make a parameter of an option, which the protocols of a verb may share with different defaults."""
    from rich.markup import escape

    first = next(iter(options.values()))
    words = dict.fromkeys(each.default_text + _selected_by(kind) for kind, each in options.items() if each.default_text)
    in_words = "; ".join(words) if len(words) > 1 or first.default_in_words else ""
    info = typer.Option(
        first.flag,
        help=escape(first.help),
        metavar=first.metavar or None,
        rich_help_panel=first.panel,
        show_default=in_words or bool(words),
    )
    if first.kind is bool:
        return _parameter(first.name, Annotated[bool, info], False)
    kind: Any = StrEnum(first.name, {choice: choice for choice in first.choices}) if first.choices else first.kind
    default = kind(first.default_text) if words and not in_words else None
    return _parameter(first.name, Annotated[kind | None, info], default)


def _selected_by(kind: type[Protocol]) -> str:
    """Say which options select a variant of a verb's protocol."""
    from segbench.core.options import options_of
    from segbench.protocols.registry import verb_of

    flags = [each.flag for each in options_of(kind) if each.required] if verb_of(kind) != kind.name else []
    return f" with {' '.join(flags)}" if flags else ""

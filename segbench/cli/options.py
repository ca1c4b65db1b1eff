"""Options and arguments: each is a field of a dataclass, as those of protocols (`segbench.core.settings`) are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem

from segbench.core.errors import ArgumentError
from segbench.core.guesses import value_meant
from segbench.core.messages import Message
from segbench.core.settings import flag_of, made, option, options_of

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol

_PLACEHOLDERS: dict[Any, str] = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}
"""What the help writes for a value of a type."""


def argument(name: str, help: str, default: Any = MISSING, **others: Any) -> Any:  # noqa: A002, ANN401  as above
    """Declare an argument as a field."""
    return option(help, default, argument=True, metavar=name, **others)


class _Shown:
    """What the help shows of an option or argument, and completion with names of files where there is no other."""

    panel = "Options"
    rare = False
    complete: Callable[[click.Context], Collection[str]] | None = None
    value = ""
    """What is typed behind the flag."""
    limits = ""
    default_text = ""

    def row(self, context: click.Context) -> tuple[str, str]:
        """Return what is typed and its help, in which a preset's default replaces the option's own."""
        assert isinstance(self, click.Option | click.Argument)  # noqa: S101  for types alone
        default = (context.default_map or {}).get(self.name or "", self.default_text)
        words = "required" if self.required else "", self.limits, f"default: {default}" if default else ""
        remark = "; ".join(filter(None, words))
        flags = [", ".join(self.opts)] if isinstance(self, click.Option) else []
        return " ".join([*flags, self.value]).rstrip(), f"{self.help} [{remark}]" if remark else self.help or ""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete what `complete` gives, behind the last comma; choices, and names of files for all else."""
        if self.complete is not None:
            start, comma, prefix = incomplete.rpartition(",")
            known = self.complete(ctx)
            return [CompletionItem(f"{start}{comma}{word}") for word in known if word.startswith(prefix)]
        return super().shell_complete(ctx, incomplete) or [CompletionItem(incomplete, type="file")]  # type: ignore[misc]


class Option(_Shown, click.Option):
    """An option."""


class Argument(_Shown, click.Argument):
    """An argument."""

    panel = "Arguments"

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  as Click declares it
        """Return the argument as the usage line writes it: NAME..., or [NAME]."""
        return [(self.value if self.required else f"[{self.value}]") + ("..." if self.nargs < 0 else "")]


class OptionGroup(NamedTuple):
    """Options of a command, and what is made of those that were typed or come from a preset."""

    parameters: Sequence[click.Parameter]
    make: Callable[[Mapping[str, Any]], Any]

    def made(self, values: Mapping[str, Any]) -> Any:  # noqa: ANN401  what `make` gives
        """Make it of the values of all options of a command."""
        by_name = {parameter.name: values[parameter.name] for parameter in self.parameters if parameter.name}
        unset = (None, False, ())
        return self.make(
            {name: value for name, value in by_name.items() if not any(value is absent for absent in unset)}
        )


def group(kind: type, panel: str = "Options", *, without: Collection[str] = (), **fixed: Any) -> OptionGroup:  # noqa: ANN401  values of its fields
    """Make a group of a dataclass; fields that are left out keep their defaults, `fixed` ones have their values."""
    parameters = _parameters(kind, panel, {*without, *fixed})
    return OptionGroup([*parameters.values()], lambda typed: made(kind, typed, **fixed))


def protocol_group(protocols: Sequence[type[Protocol]]) -> OptionGroup:
    """Make a group of the options of a verb's protocols, which gives the protocol with its settings."""
    parameters: dict[str, Option | Argument] = {}
    for kind in protocols:
        for name, new in _parameters(kind, "Protocol").items():
            new.required = False
            known = parameters.setdefault(name, new)
            if new.default_text not in ("", known.default_text):
                known.default_text += f"; {new.default_text} with {' '.join(required(kind).values())}"
    return OptionGroup([*parameters.values()], lambda typed: chosen_protocol(protocols, typed))


def _parameters(kind: type, panel: str, without: Collection[str] = ()) -> dict[str, Option | Argument]:
    """Make the parameters of a dataclass, those of its own fields first."""
    hints = get_type_hints(kind)
    own_first = sorted(
        options_of(kind).items(), key=lambda named_field: named_field[1].name not in kind.__annotations__
    )
    return {
        name: parameter_of(name, field, hints[field.name], panel)
        for name, field in own_first
        if field.name not in without
    }


def chosen_protocol(protocols: Sequence[type[Protocol]], typed: Mapping[str, Any]) -> Protocol:
    """Make the protocol of a verb from the options given; an option that only a variant has chooses the variant."""
    flags = {name: flag_of(field) for kind in protocols for name, field in options_of(kind).items()}
    chosen = next((kind for kind in protocols[1:] if kind.chosen_by(typed)), protocols[0])
    foreign = ", ".join(flags[name] for name in typed if name not in options_of(chosen))
    if foreign and chosen is not protocols[0]:
        chosen_by = ", ".join(required(chosen).values())
        raise ArgumentError(
            Message(
                "excluding-options",
                "{options} cannot be combined with {others}; leave one of them out",
                options=foreign,
                others=chosen_by,
            )
        )
    if foreign:
        needed = " or ".join(flag for kind in protocols[1:] for flag in required(kind).values())
        raise ArgumentError(
            Message("needs-option", "{options} can only be used with {needed}; add it", options=foreign, needed=needed)
        )
    protocol: Protocol = made(chosen, typed)
    return protocol


class Choice(click.Choice[str]):
    """One of some values; another one is refused with the value that was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  as Click declares it
        """Read a value."""
        if isinstance(param, click.Option) and value not in self.choices:
            option = param.opts[-1]
            meant = value_meant(option.lstrip("-"), value, self.choices)
            if meant:
                self.fail(f"{value!r} is not one of {', '.join(self.choices)}; write {option} {meant}", param, ctx)
        return super().convert(value, param, ctx)


def required(kind: type) -> dict[str, str]:
    """Return the flags of options without default, by which a variant of a protocol is chosen."""
    return {name: flag_of(field) for name, field in options_of(kind).items() if field.default is MISSING}


def parameter_of(name: str, field: Field[Any], hint: Any, panel: str) -> Option | Argument:  # noqa: ANN401  a type
    """Make a parameter of a field."""
    about = field.metadata
    option_type, read = _without_none(hint), about.get("read")
    choices = tuple(map(str, get_args(option_type))) if get_origin(option_type) is Literal else about.get("choices", ())
    several = () if read or get_origin(option_type) is not tuple else get_args(option_type)
    kind = str if choices or read else several[0] if several else option_type
    if kind not in _PLACEHOLDERS:
        raise ArgumentError(
            Message(
                "unreadable-type",
                "the option {name!r} has the type {type}; add read=..., which makes it from text",
                name=field.name,
                type=str(hint),
            )
        )
    least, most = about.get("least"), about.get("most")
    settings: dict[str, Any] = {
        "required": field.default is MISSING,
        "metavar": about.get("metavar"),
        "callback": about.get("callback"),
        "is_eager": "callback" in about,
        "type": Choice(choices) if choices else None if kind is bool else kind,
    }
    if kind in (int, float):
        settings["type"] = (click.IntRange if kind is int else click.FloatRange)(least, most)
        settings["type"].name = "whole number" if kind is int else "number"  # for errors
    if several:
        settings["nargs"] = len(several) if ... not in several else -1 if "argument" in about else 1
    parameter: Option | Argument
    if "argument" in about:
        parameter = Argument([name], **settings)
    else:
        flags = (about.get("flag") or flag_of(field)).split()
        parameter = Option([name, *flags], is_flag=kind is bool or None, multiple=... in several, **settings)
        parameter.panel, parameter.rare = about.get("panel") or panel, about.get("rare", False)
    parameter.help, parameter.complete = about["help"], about.get("complete")
    parameter.value = about.get("metavar") or "|".join(choices) or _PLACEHOLDERS[kind]
    parameter.limits = "" if least is None else f"{least} or more" if most is None else f"{least} to {most}"
    plain = field.default not in (MISSING, None, (), "") and kind is not bool
    parameter.default_text = about.get("shown") or (str(field.default) if plain else "")
    return parameter


def _without_none(hint: Any) -> Any:  # noqa: ANN401  a type, as typing gives it
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, UnionType) and len(kinds) == 1 else hint

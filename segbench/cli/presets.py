"""``segbench presets``: the data sets that are known by name."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from segbench.loaders.presets import Preset


def presets(
    name: Annotated[str | None, typer.Argument(help="Preset, or .toml file.", show_default="list all presets")] = None,
) -> None:
    """List the presets, or describe one."""
    from segbench.loaders.presets import load_preset
    from segbench.loaders.presets import presets as shipped_presets

    if name is not None:
        typer.echo(_described(load_preset(name)))
        return
    known = shipped_presets()
    width = max(map(len, known))
    for preset in known.values():
        typer.echo(f"{preset.name:{width}}  {preset.title}")
    typer.echo("to describe one: segbench presets NAME; to run one: segbench run NAME ROOT PRED", err=True)


def _described(preset: Preset) -> str:
    rows = [("data set", preset.title), ("home", preset.home), ("cite", preset.cite), ("layout", preset.known_from)]
    rows += [
        (place.replace("_", " "), " or ".join(f"ROOT/{f}" for f in where)) for place, where in preset.layout.items()
    ]
    rows += [("protocols", ", ".join(preset.protocols))]
    folder = f"ROOT/{preset.layout['ground_truth'][0]}"
    rows += [("the same as", f"segbench {preset.protocols[0]} {folder} PRED{_flags(preset)}")]
    rows += [("note", preset.note)] if preset.note else []
    width = max(len(word) for word, _ in rows)
    return "\n".join(f"{word:{width}}  {text}" for word, text in rows)


def _flags(preset: Preset) -> str:
    words = [f"--field ROOT/{preset.layout['field'][0]}"] if "field" in preset.layout else []
    for option, value in preset.options.items():
        flag = f"--{option.replace('_', '-')}"
        words.append(flag if value is True else f"{flag} {shlex.quote(str(value))}")
    return "".join(f" {word}" for word in words)

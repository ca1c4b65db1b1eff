"""``segbench presets``, the data sets that are known by name, and what verbs take from one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import option_of

if TYPE_CHECKING:
    from segbench.loaders.presets import Preset


def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Preset, or .toml file.", show_default="list all presets")
    ] = None,
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
        words.append(option_of(option) + ("" if value is True else f" {shlex.quote(str(value))}"))
    return "".join(f" {word}" for word in words)


def defaults_of(preset: Preset, verb: str, names: Callable[[str], Collection[str]]) -> dict[str, Any]:
    """Give a preset's options as defaults of a verb's; a verb passes over those of the preset's other protocols.

    `names` gives the parameters of a verb.
    """
    if verb not in preset.protocols:
        raise ArgumentError(
            f"the preset {preset.name} is for {' and '.join(preset.protocols)}, not for {verb}; "
            f"run: segbench run {preset.name} ROOT PRED"
        )
    known = {name for each in preset.protocols for name in names(each)}
    strange = [option for option in preset.options if option not in known]
    if strange:
        what = f"[options] holds {', '.join(strange)}, which is not an option of segbench {preset.protocols[0]}"
        raise DataError(preset.name, what, f"see: segbench {preset.protocols[0]} --help")
    return {name: value if isinstance(value, bool) else str(value) for name, value in preset.options.items()}


def placed(name: str, root: str, field: str | None) -> tuple[str, str | None]:
    """Find ground truth and masks of a data set below its folder, and say where; a mask given by hand comes first."""
    from segbench.loaders.presets import load_preset
    from segbench.loaders.source import is_archive, is_url, masked

    preset = load_preset(name)
    if is_url(root) or (is_archive(root) and not Path(root).is_dir()):
        kind = "a URL" if is_url(root) else "an archive"
        raise ArgumentError(
            f"a preset finds ground truth below a folder on disk, and {masked(root)} is {kind}; "
            f"name the ground truth itself and type the options (segbench presets {preset.name})"
        )
    found = preset.place("ground_truth", Path(root)) or Path(root)
    masks = field or preset.place("field", Path(root))
    typer.echo(f"{preset.title}: ground truth in {found}" + (f", masks in {masks}" if masks else ""), err=True)
    if preset.source == "memory":
        typer.echo(f"this layout is {preset.known_from}", err=True)
    return str(found), None if masks is None else str(masks)

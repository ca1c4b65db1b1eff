"""``--preset``: a data set's options, which those given by hand come before."""

from __future__ import annotations

from pathlib import Path

import typer

from segbench.errors import DataError


def _take_over(context: typer.Context, name: str | None) -> str | None:
    """Make a preset's options the defaults of the command; those typed still come first."""
    if name is None:
        return None
    from segbench.loaders.presets import load_preset

    options = load_preset(name).options
    known = {parameter.name for parameter in context.command.params}
    strange = [option for option in options if option not in known]
    if strange:
        raise DataError(name, f"[options] holds {', '.join(strange)}, which is no option", "see: segbench run --help")
    context.default_map = {**(context.default_map or {}), **options}
    return name


PRESET = typer.Option(
    is_eager=True,
    callback=_take_over,
    help="A data set by name, or a .toml file; see: segbench presets. Other options come before those of the preset.",
    show_default=False,
)


def placed(name: str, root: str, field: str | None) -> tuple[str, str | None]:
    """Find ground truth and masks of a data set below its folder, and say where; a mask given by hand comes first.

    Raises
    ------
    DataError
        If the folder has none of the places that the preset names.
    """
    from segbench.loaders.presets import load_preset

    preset = load_preset(name)
    found = preset.place("ground_truth", Path(root)) or Path(root)
    masks = field or preset.place("field", Path(root))
    typer.echo(f"{preset.title}: ground truth in {found}" + (f", masks in {masks}" if masks else ""), err=True)
    if preset.source == "memory":
        typer.echo(f"this layout is {preset.known_from}", err=True)
    return str(found), None if masks is None else str(masks)

"""``--preset``: a data set's options, which those given by hand come before."""

from __future__ import annotations

from pathlib import Path

import typer

from segbench.core.errors import ArgumentError, DataError


def _take_over(context: typer.Context, name: str | None) -> str | None:
    """Make a preset's options the defaults of the command; those typed still come first.

    What only ``segbench run`` knows is passed over by the other verbs.
    """
    if name is None:
        return None
    from segbench.loaders.presets import load_preset

    options = load_preset(name).options
    verbs = getattr(context.find_root().command, "commands", {})
    known = {option.name for option in verbs.get("run", context.command).params}
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
    ArgumentError
        If the folder is an archive or a URL.
    DataError
        If the folder has none of the places that the preset names.
    """
    from segbench.loaders.archives import is_archive
    from segbench.loaders.presets import load_preset
    from segbench.loaders.urls import is_url, masked

    preset = load_preset(name)
    if is_url(root) or (is_archive(root) and not Path(root).is_dir()):
        kind = "a URL" if is_url(root) else "an archive"
        raise ArgumentError(
            f"--preset finds ground truth below a folder on disk, and {masked(root)} is {kind}; "
            f"name the ground truth itself and give the options by hand (segbench presets {preset.name})"
        )
    found = preset.place("ground_truth", Path(root)) or Path(root)
    masks = field or preset.place("field", Path(root))
    typer.echo(f"{preset.title}: ground truth in {found}" + (f", masks in {masks}" if masks else ""), err=True)
    if preset.source == "memory":
        typer.echo(f"this layout is {preset.known_from}", err=True)
    return str(found), None if masks is None else str(masks)

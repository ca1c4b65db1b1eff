"""Settings of the documentation; ``python -m sphinx -W --keep-going -n docs site`` builds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

import segbench

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_VALUES = {bool: "", int: "N", float: "X", str: "TEXT", list[str]: "TEXT", Path: "FILE"}
"""What the help writes for a value of a type."""

project = "segbench"
project_copyright = "the developers of segbench"
version = release = segbench.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
]
templates_path = ["_templates"]
default_role = "autolink"
highlight_language = "text"
smartquotes = False  # --option must stay as it is typed
nitpick_ignore_regex = [
    ("py:obj", r"[a-z_]+"),  # parameters
    ("py:obj", r"(segbench\.\w+|concurrent|skimage)\..*"),  # inner modules and other libraries
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the parameters' own text says types, with shapes
autosummary_generate = ["api"]
numpydoc_show_class_members = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = f"segbench {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app: Sphinx) -> None:
    """Add the tables of options, and the dark variants of pictures."""
    app.connect("source-read", _add_commands)
    app.add_transform(DarkPictures)
    app.add_transform(ShortCode)


class DarkPictures(SphinxTransform):
    """Show NAME-dark.png instead of NAME.png on dark pages, where there is one."""

    default_priority = 400

    def apply(self, **_: Any) -> None:  # noqa: ANN401  as Sphinx declares it
        """Put the dark picture beside each light one; Furo shows one of them."""
        for light in list(self.document.findall(nodes.image)):
            path = Path(light["uri"])
            other = path.with_stem(f"{path.stem}-dark")
            if (Path(__file__).parent / other).exists():
                dark = light.deepcopy()
                dark["uri"] = str(other)
                light["classes"].append("only-light")
                dark["classes"].append("only-dark")
                light.parent.insert(light.parent.index(light) + 1, dark)


class ShortCode(SphinxTransform):
    """Mark short code, which the style sheet keeps in one line: browsers break ``--option`` after its dashes."""

    default_priority = 400

    def apply(self, **_: Any) -> None:  # noqa: ANN401  as Sphinx declares it
        """Mark inline code of up to 24 characters."""
        for code in self.document.findall(nodes.literal):
            if len(code.astext()) <= 24:
                code["classes"].append("short")


def _add_commands(_: Sphinx, page: str, source: list[str]) -> None:
    if page == "command_line":
        source[0] += "\n" + "\n".join(commands())


def commands() -> Iterator[str]:
    """Give each command in Markdown: its help, a table for each group of options, and examples."""
    import typer

    from segbench.cli.command import commands_of
    from segbench.cli.commands import app

    context = typer.Context(typer.main.get_command(app), info_name="segbench")
    first: dict[str, str] = {}
    for name, made in commands_of(context).items():
        yield f"## segbench {name}\n\n{_escaped(made.help)}\n"
        panels: dict[str, dict[str, str]] = {}
        for parameter in made.params:
            panel, typed, meaning = _row(parameter)
            panels.setdefault(panel, {})[typed] = meaning
        for panel, rows in panels.items():
            shared = [typed for typed, meaning in rows.items() if first.get(typed) == meaning]
            shared = shared if len(shared) > 2 else []
            lines = [f"| {_words(typed)} | {meaning} |" for typed, meaning in rows.items() if typed not in shared]
            if shared:
                listed = ", ".join(f"`{typed.split()[0].rstrip(',')}`" for typed in shared)
                lines.append(f"| as for [segbench pixels](#segbench-pixels) | {listed} |")
            yield f"| {panel} | |\n|---|---|\n" + "\n".join(lines) + "\n"
        first = first or {typed: meaning for rows in panels.values() for typed, meaning in rows.items()}
        examples = [line for line in (made.epilog or "").split("\n\n") if line.startswith("segbench ")]
        if examples:
            yield "```sh\n" + "\n".join(line.replace("\\[", "[") for line in examples) + "\n```\n"


def _row(parameter: Any) -> tuple[str, str, str]:  # noqa: ANN401  of Typer's own copy of click
    """Give the group of a parameter, what is typed, and what that means."""
    default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    remark = "required" if parameter.required else f"default: {getattr(default, 'value', default)}"
    meaning = _escaped(parameter.help) + (f" ({_escaped(remark)})" if parameter.required or default else "")
    if parameter.param_type_name == "argument":
        return "Arguments", parameter.metavar, meaning
    kind = parameter.type_descriptor.annotation
    value = parameter.metavar or ("|".join(kind) if issubclass(kind, StrEnum) else _VALUES[kind])
    typed = ", ".join(sorted(parameter.opts, key=len)) + (f" {value}" if value else "")
    return parameter.rich_help_panel or "Options", typed.replace("|", "\\|"), meaning


def _words(typed: str) -> str:
    """Set each word that is typed as code, so that lines break between them."""
    return "`" + re.sub(r"(,?) ", r"`\1 `", typed) + "`"


def _escaped(text: str) -> str:
    """Let Markdown show a text as it is."""
    return re.sub(r"([*_<\[\]|`#])", r"\\\1", text.replace("\\[", "["))

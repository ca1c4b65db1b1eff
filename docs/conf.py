"""Settings of the documentation; ``python -m sphinx -W --keep-going -n docs site`` builds it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import segbench

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "segbench"
project_copyright = "the developers of segbench"
version = release = segbench.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
templates_path = ["_templates"]
default_role = "autolink"
highlight_language = "text"
smartquotes = False  # --option must stay as it is typed
nitpick_ignore_regex = [
    ("py:obj", r"[a-z_]+"),  # parameters
    ("py:obj", r"(segbench\.\w+|concurrent|skimage)\..*"),  # inner modules and other libraries
]

myst_heading_anchors = 3
autodoc_typehints = "none"  # the parameters' own text says types, with shapes
autosummary_generate = ["api"]
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"segbench {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app: Sphinx) -> None:
    """Let the page of commands end with what the program says of itself."""
    app.connect("source-read", _add_commands)


def _add_commands(_: Sphinx, page: str, source: list[str]) -> None:
    if page == "command_line":
        source[0] += commands()


def commands() -> str:
    """Give every command with its options, as Typer writes them down."""
    typer = [sys.executable, "-m", "typer", "segbench.cli.commands", "utils", "docs", "--name", "segbench"]
    written = subprocess.run(typer, capture_output=True, text=True, check=True).stdout  # noqa: S603  a fixed command
    return re.sub(r"(?m)(?<=`: )(.*)$", _as_typed, written[written.index("\n## ") :])


def _as_typed(help_: re.Match[str]) -> str:
    return re.sub(r"([*_<\[])", r"\\\1", help_[0])

"""Settings of the documentation: `python -m sphinx -W --keep-going -n docs site` builds it."""

import subprocess
import sys

import segbench

project = "segbench"
author = "The segbench developers"
project_copyright = "The segbench developers"
version = release = segbench.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
templates_path = ["_templates"]
exclude_patterns = ["images"]
default_role = "autolink"
highlight_language = "text"

myst_heading_anchors = 3
autodoc_typehints = "none"  # the sections on parameters say them, with shapes
autosummary_generate = ["api"]
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"segbench {release}"
html_copy_source = False


def setup(app):
    """Let the page of commands end with what the program says of itself."""
    app.connect("source-read", lambda _, page, source: source.__setitem__(0, source[0] + commands(page)))


def commands(page):
    """Give every command with its options, as Typer writes them down."""
    if page != "command_line":
        return ""
    typer = [sys.executable, "-m", "typer", "segbench.cli.main", "utils", "docs", "--name", "segbench"]
    written = subprocess.run(typer, capture_output=True, text=True, check=True).stdout
    return written[written.index("\n## ") :]

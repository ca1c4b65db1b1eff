"""Each package says what enters, what leaves, and where to begin reading; the page on architecture repeats it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("segbench/*/__init__.py"))


def words(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_on_architecture_has_the_paragraph_of_each_package(package):
    module = ROOT / "segbench" / package / "__init__.py"
    paragraph = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"**`{package}/`**: {words(paragraph)}" in words(page)

"""Words that readers of this field do not use are found: in README, docs, help, errors, docstrings and comments."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest
import typer

from segbench.cli.commands import app

ROOT = Path(__file__).resolve().parent.parent

BETTER = {
    r"anew": "again, recompute",
    r"mend(s|ed|ing)?": "fix",
    r"stand(s|ing)?": "is",
    r"(?:tells?|told)(?!( [\w ]{1,20})? (apart|from))": "shows, says",
    r"kept place": "saved path",
    r"lines? up|lined up": "match",
    r"look(s|ed|ing)? into": "inspect",
    r"behind the point": "decimal places",
    r"per cents?": "percent",
    r"(?<!there )is no(?! longer| more| such)": "is not a",
    r"(has|have|had) (its|their) way": "wins",
    r"whose|of which there": "rephrase the sentence",
    r"(?<!new )figures?(?! \d)": "metric; a figure is a picture",
    r"was asked|asked for": "settings, options",
    r"for granted": "assumptions",
    r"to draw from|is drawn from": "resample",
    r"nobody to compare": "has one annotator",
    r"knows? no": "is undefined",
    r"behind all this": "published",
    r"an? (line|row) an? \w+": "one row per",
    r"houses?|rooms": "packages and modules",
}
"""Patterns of words, and what to write instead."""

ALLOWED = {
    "docs/boundaries.md": [".figure.savefig("],
    "docs/comparing.md": ["row.figure"],
    "docs/extending.md": ["with no figure"],
    "docs/plots.md": ["fit in one figure", ">>> figure, (left", "plt.close(figure)"],
    "docs/research.md": ["ax.figure.savefig", "row.figure"],
    "docs/verify.md": ["  figure                     expected", "read off the figure"],
    "segbench/cli/commands.py": ["--figures ods_f"],
    "segbench/drawing/axes.py": ["Make a figure"],
    "segbench/report/page/template.html": ["<figure", "</figure>"],
    "segbench/drawing/legends.py": ["out of the figure"],
    "segbench/statistics/answer.py": ["tuple of Standing"],
    "segbench/verification/checks.py": ["table, figure or folder"],
}
"""Where such a word is right: text around it."""

LINKS = re.compile(r"\[([^]]*)\]\([^)]*\)")
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "segbench").rglob("data_sets/*.toml")),
    ROOT / "segbench" / "report" / "page" / "template.html",
]
MODULES = sorted((ROOT / "segbench").rglob("*.py"))


def old_words(text):
    for pattern, better in BETTER.items():
        for found in re.finditer(rf"(?i)\b(?:{pattern})(?!\w)", text):
            yield f"{found[0]!r} ({better}): {text[max(0, found.start() - 40) : found.end() + 40]!r}"


def texts_of(path):
    """Give lines and texts: those of a page, or strings, docstrings and comments of a module."""
    source = path.read_text("utf-8")
    if path.suffix != ".py":
        for number, line in enumerate(source.splitlines(), start=1):
            yield number, LINKS.sub(lambda link: link[1] or "", line)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            for number, line in enumerate(node.value.splitlines(), start=node.lineno):
                yield number, line
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("path", [*PAGES, *MODULES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_words_of_pages_and_messages(path):
    allowed = ALLOWED.get(path.relative_to(ROOT).as_posix(), [])
    texts = [(line, text) for line, text in texts_of(path) if not any(words in text for words in allowed)]
    assert [f"{path}:{line}: {each}" for line, text in texts for each in old_words(text)] == []


def test_words_of_help():
    group = typer.main.get_command(app)
    context = group.make_context("segbench", ["nothing"], resilient_parsing=True)
    made = [
        group,
        *(
            group.get_command(context, name).make_context(name, [], parent=context, resilient_parsing=True).command
            for name in group.list_commands(context)
        ),
    ]
    texts = [text for each in made for text in (each.help, each.epilog, *(getattr(p, "help", "") for p in each.params))]
    assert [found for text in texts if text for found in old_words(text.replace("--figures", ""))] == []

import io
import math

import hypothesis.strategies as st
import pytest
from cases import write_papers
from hypothesis import given
from rich.console import Console

from segbench import Pixels, evaluate
from segbench.report.tables import number
from segbench.report.terminal import show_results


def shown(results, width):
    console = Console(width=width, file=io.StringIO())
    show_results(results, console)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (0.5, None, ".5000"),
        (-0.25, None, "-.2500"),
        (12.5, None, "12.5000"),
        (0.00001, None, "1e-05"),
        (0.0, None, ".0000"),
        (7, None, "7"),
        (math.nan, None, "-"),
        (0.5, (0.49991, 0.50002), ".5000 ±.0001"),
    ],
)
def test_numbers_are_written_as_the_field_does(value, bounds, text):
    assert number(value, bounds) == text


@given(st.floats(0, 1), st.floats(0, 0.01), st.floats(0, 0.01))
def test_bounds_shown_hold_the_bounds_known(value, below, above):
    shown = number(value, (value - below, value + above))
    if "±" in shown:
        assert float(shown.split("±")[1]) >= max(below, above) - 1e-9


def test_a_narrow_terminal_cuts_no_digit(tmp_path):
    results = [evaluate(*write_papers(tmp_path), method="a method with a name longer than the terminal is wide")]
    text = shown(results, width=30)
    assert "…" not in text
    assert "a method with a name longer than the terminal is wide" in text


def test_markup_in_names_stays_text(tmp_path):
    results = [evaluate(*write_papers(tmp_path), Pixels(positive="7"), method="[red]me[/red] [/]")]
    assert "[red]me[/red] [/]" in shown(results, width=200)

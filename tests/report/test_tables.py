import io
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from cases import FIRST_SCORES, SECOND_SCORES, write_folder, write_papers
from hypothesis import given
from rich.console import Console

from segbench import Boundaries, Pixels, evaluate
from segbench.report.tables import image_rows, method_rows, names_of, number
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
    figure, spread = (float(text) for text in number(value, (value - below, value + above)).split("±"))
    assert figure - spread <= value - below + 1e-9
    assert figure + spread >= value + above - 1e-9


def test_a_narrow_terminal_cuts_no_digit(tmp_path):
    results = [evaluate(*write_papers(tmp_path), method="a method with a name longer than the terminal is wide")]
    text = shown(results, width=30)
    assert "…" not in text
    assert "a method with a name longer than the terminal is wide" in text


def test_markup_in_names_stays_text(tmp_path):
    results = [evaluate(*write_papers(tmp_path), Pixels(positive="7"), method="[red]me[/red] [/]")]
    assert "[red]me[/red] [/]" in shown(results, width=200)


class TestRunsOfOneName:
    @pytest.fixture
    def results(self, tmp_path):
        folders = write_papers(tmp_path)
        protocols = Pixels(), Pixels(invert=True), Boundaries(thresholds=3, positive="255")
        scores = tmp_path / "levels"
        write_folder(scores, {"first.png": np.uint8(255 * FIRST_SCORES), "second.png": np.uint8(255 * SECOND_SCORES)})
        return [evaluate(folders[0], scores, protocol, method="a") for protocol in protocols]

    def test_are_told_apart_by_what_differs(self, results):
        assert names_of(results) == ["a (pixels, invert:no)", "a (pixels, invert:yes)", "a (boundaries)"]
        assert names_of(results[:2]) == ["a (invert:no)", "a (invert:yes)"]
        assert names_of(results[1:2]) == ["a"]

    def test_csv_leaves_empty_what_is_of_another_protocol(self, results):
        header, rows = method_rows(results, exact=True, intervals=[run.intervals(replicates=9) for run in results])
        table = [dict(zip(header, row, strict=True)) for row in rows]
        assert [row["auc_pr"] == "" for row in table] == [False, False, True]
        assert [row["area_pr_low"] == "" for row in table] == [True, True, False]
        header, rows = image_rows(results, exact=True)
        assert header.count("f") == 1
        assert {row[0] for row in rows} == set(names_of(results))

    def test_each_protocol_has_a_table_in_the_terminal(self, results):
        text = shown(results, width=200)
        assert text.count("method ") == 2
        assert "a (invert:yes)" in text

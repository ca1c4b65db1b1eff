"""Tables for pandas."""

import math
import sys

import pytest
from refusing import refused

from segbench import ArgumentError, ScoreCounts, Summary, compare, intervals

pd = pytest.importorskip("pandas")


def images(hits):
    return {str(k): ScoreCounts([2, 1], [hits, 10 - hits], [k % 4, 20 - k % 4]) for k in range(12)}


def test_a_summary_has_a_row_per_metric():
    table = Summary({"ods_f": math.nan, "positives": 3}, undefined={"ods_f": "no positive pixels"}).to_dataframe()
    assert (table.index.name, list(table.columns)) == ("metric", ["value", "undefined"])
    assert table.loc["ods_f", "undefined"] == "no positive pixels"
    assert table.loc["positives", "value"] == 3


def test_intervals_have_a_row_per_metric():
    found = intervals(images(8))
    table = found.to_dataframe()
    assert list(table.columns) == ["value", "low", "high", "standard_error", "freedom", "undefined"]
    assert tuple(table.loc["ods_f", ["low", "high"]]) == found["ods_f"]
    assert "from 30 images on" in table.loc["ods_precision", "undefined"]


def test_a_comparison_has_a_row_per_pair_and_metric():
    found = compare({"good": images(8), "fair": images(7), "poor": images(6)})
    table = found.to_dataframe()
    assert len(table) == 3 * len(found.metrics)
    assert table.index.name is None
    row = table[(table["metric"] == "ods_f") & (table["a"] == "good") & (table["b"] == "poor")].iloc[0]
    assert row["difference"] == pytest.approx(row["estimate_a"] - row["estimate_b"])
    assert row["p_value"] <= row["p_holm"]


@pytest.mark.parametrize(
    "table", [Summary({"f": 0.5}), intervals(images(8)), compare({"a": images(8), "b": images(7)})]
)
def test_without_pandas_the_error_says_how_to_get_it(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with refused("not-installed", ArgumentError, package="pandas"):
        table.to_dataframe()

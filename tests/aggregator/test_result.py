"""What a result is turned into: plain numbers, data frames, text."""

import json
import math
import sys

import numpy as np
import pytest
from cases import write_papers
from refusing import refused

from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    Classes,
    FailedImages,
    Pixels,
    ScoreCounts,
    Summary,
    compare,
    evaluate,
)
from segbench.report.documents import json_document
from segbench.report.tables import TableSettings


@pytest.fixture
def result(tmp_path):
    return evaluate(*write_papers(tmp_path), method="net")


@pytest.fixture
def of_classes():
    labels = np.array([[0, 1], [2, 1]])
    accumulator = Accumulator(Classes(labels=[0, 1, 2]), method="net")
    accumulator.update(labels, np.stack([labels == label for label in range(3)]) * 0.5, name="a")
    return accumulator.compute()


class TestDict:
    def test_it_is_the_run_that_show_prints(self, result):
        assert result.to_dict() == json.loads(json_document([result]))["runs"][0]
        intervals = result.intervals(replicates=20)
        (shown,) = json.loads(json_document([result], TableSettings(intervals=[intervals])))["runs"]
        assert json.loads(json.dumps(result.to_dict(intervals=intervals))) == shown
        assert shown["signature"] == f"{result.signature}|{intervals.signature}"

    @pytest.mark.parametrize("protocol", [Pixels(), Pixels(quantize=8), Boundaries()])
    def test_it_holds_nothing_but_what_json_has(self, tmp_path, protocol):
        run = evaluate(*write_papers(tmp_path), protocol).to_dict()
        assert json.loads(json.dumps(run, allow_nan=False)) == run

    def test_what_is_undefined_is_none_with_its_reason(self):
        run = evaluate([([0, 0], [0.2, 0.9])], protocol=Pixels(positive=1)).to_dict()
        assert run["summary"]["auc_pr"] is None
        assert run["undefined"]["auc_pr"] == "no positive pixels"


class TestDataFrame:
    def test_without_pandas_the_error_says_how_to_get_it(self, result, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with refused("not-installed", ArgumentError, package="pandas"):
            result.to_dataframe()

    def test_one_row_for_the_method(self, result):
        pd = pytest.importorskip("pandas")
        table = result.to_dataframe()
        assert (list(table.columns), table.index.name, list(table.index)) == (list(result.summary), "method", ["net"])
        assert table.loc["net"].to_dict() == dict(result.summary)
        assert len(pd.concat([table, table])) == 2


class TestText:
    def test_a_summary_prints_a_metric_per_line_with_its_reason(self):
        summary = Summary(
            {"positives": 12, "ods_f": 0.81234, "auc_pr": math.nan, "ap": 0.5},
            undefined={"auc_pr": "two-valued predictions"},
            notes=("a note",),
        )
        assert str(summary).splitlines() == [
            "positives     12",
            "ods_f      .8123",
            "auc_pr         -  two-valued predictions",
            "ap         .5000",
            "a note",
        ]

    def test_a_result_prints_its_summary_and_signature(self, result):
        lines = str(result).splitlines()
        assert lines[0] == "net: pixels, 2 images"
        assert lines[-1] == result.signature
        assert "\n".join(lines[1:-1]) == str(result.summary)
        assert repr(result).startswith("Result('net', pixels, 2 images, ods_f ")

    def test_notes_and_failures_are_printed(self, tmp_path):
        truth, scores = write_papers(tmp_path)
        (scores / "first.npy").write_bytes(b"nothing")
        with pytest.warns(FailedImages):
            result = evaluate(truth, scores, Pixels(invert=True), method="net")
        assert str(result).startswith("net: pixels, 1 image, 1 failed\n")
        (note,) = result.notes
        assert note.kind == "inverted"
        assert f"\n{note}\n" in str(result)

    def test_a_comparison_prints_its_answer(self):
        def images(hits):
            return {str(k): ScoreCounts([2, 1], [hits, 10 - hits], [k % 4, 20 - k % 4]) for k in range(12)}

        comparison = compare({"good": images(8), "poor": images(6)})
        assert str(comparison).startswith(comparison.answer().verdict)
        assert repr(comparison) == str(comparison)

import os

import numpy as np
import pytest
from cases import write_texts
from noted import kinds
from refusing import refused

from segbench import (
    ArgumentError,
    BoundaryCounts,
    DataError,
    import_bsds,
    load_results,
)

BSDS500, CURVES = os.environ.get("SEGBENCH_BSDS500"), os.environ.get("SEGBENCH_CURVES")
FIGURES = ("ods_recall", "ods_precision", "ods_f", "ois_recall", "ois_precision", "ois_f", "area_pr")

FIRST = "0.25 8 10 3 6\n0.75 5 10 2 2\n"
SECOND = "0.25 2 10 1 4\n0.75 1 10 1 2\n"
ROWS = "0.25 0.5 0.4 0.444444\n0.75 0.3 0.75 0.428571\n"
BEST = "0.42929 0.431313 0.525253 0.473678 0.35 0.5 0.411765 0.1"


class TestCounts:
    def test_only_counts_suffice(self, tmp_path):
        (result,) = import_bsds(write_texts(tmp_path / "mine", a_ev1=FIRST, b_ev1=SECOND))
        assert (result.method, result.protocol, list(result.counts)) == ("mine", "boundaries", ["a", "b"])
        assert result.counts["a"] == BoundaryCounts([0.25, 0.75], [8, 5], [10, 10], [3, 2], [6, 2])
        assert result.signature.startswith("protocol:boundaries|source:imported|thresholds:0.25,0.75|images:2|data:")
        assert result.summary["ois_f"] == pytest.approx(0.411765, abs=1e-6)
        assert result.published is None
        assert result.notes == ()

    def test_even_thresholds_are_what_they_were(self, tmp_path):
        thresholds = ("0.166667", "0.333333", "0.5", "0.666667", "0.833333")
        (result,) = import_bsds(write_texts(tmp_path, a_ev1="".join(f"{t} 1 2 1 2\n" for t in thresholds)))
        assert result.counts["a"].thresholds.tolist() == np.linspace(1 / 6, 5 / 6, 5).tolist()
        assert "|thresholds:5|" in result.signature

    def test_print_that_says_otherwise_is_noted(self, tmp_path):
        right = write_texts(tmp_path / "right", a_ev1=FIRST, b_ev1=SECOND)
        figures = import_bsds(right)[0].summary
        row = " ".join(f"{figures[key]:.6g}" for key in FIGURES)
        write_texts(right, eval_bdry=row)
        assert import_bsds(right)[0].notes == ()
        write_texts(right, eval_bdry="0.9 0.9 0.9 0.35 0.5 0.411765 0")
        notes = [note.values for note in import_bsds(right)[0].notes if note.kind == "printed-otherwise"]
        (of_f,) = (values for values in notes if values["metric"] == "ods_f")
        assert (of_f["printed"], of_f["value"]) == (0.9, pytest.approx(figures["ods_f"]))

    def test_all_damaged_files_are_named_at_once(self, tmp_path):
        folder = write_texts(
            tmp_path,
            good_ev1=FIRST,
            words_ev1="a b c d e",
            short_ev1="0.5 1 2 3",
            ragged_ev1="0.5 1 2 1 2\n0.6 1 2",
            empty_ev1="\n",
            half_ev1="0.25 1.5 2 1 2\n0.75 1 2 1 2",
            less_ev1="0.25 3 2 1 2\n0.75 1 2 1 2",
            nan_ev1="0.25 nan 2 1 2\n0.75 1 2 1 2",
            falling_ev1="0.75 1 2 1 2\n0.25 1 2 1 2",
            other_ev1="0.25 1 2 1 2\n0.7 1 2 1 2",
        )
        (folder / "bytes_ev1.txt").write_bytes(b"\xff\xfe\x00")
        with refused("unusable-files", DataError, path=str(folder), number=10) as caught:
            import_bsds(folder)
        problems = [problem.values["path"] for problem in caught.value.values["problems"].values.values()]
        named = ("words", "short", "ragged", "empty", "half", "less", "nan", "falling", "other", "bytes")
        assert sorted(problems) == sorted(str(folder / f"{name}_ev1.txt") for name in named)


class TestPublished:
    def test_figures_follow_from_rows_and_ois_from_print(self, tmp_path):
        (result,) = import_bsds(write_texts(tmp_path / "HED", eval_bdry_thr=ROWS, eval_bdry=BEST))
        assert (result.method, len(result.counts), list(result.per_image)) == ("HED", 0, [])
        assert result.summary["ois_f"] == 0.411765
        assert result.summary["area_pr"] == pytest.approx(
            np.interp(np.arange(30, 51), [30, 50], [0.75, 0.4]).sum() / 100
        )
        assert result.summary.undefined["mean_image_f"].kind == "not-printed"
        assert (result.notes[-1].kind, result.notes[-1].values["metric"]) == ("printed-otherwise", "area_pr")
        with refused("published", ArgumentError, method="HED"):
            _ = result.pooled

    def test_without_print_ois_is_undefined(self, tmp_path):
        summary = import_bsds(write_texts(tmp_path, eval_bdry_thr=ROWS))[0].summary
        assert np.isnan(summary["ois_f"])
        assert summary.undefined["ois_f"].kind == "not-printed"
        assert summary["ods_f"] > 0.444444

    def test_rows_without_thresholds(self, tmp_path):
        rows = "".join(line.partition(" ")[2] for line in ROWS.splitlines(keepends=True))
        (result,) = import_bsds(write_texts(tmp_path, eval_bdry_thr=rows))
        assert np.isnan(result.summary["ods_threshold"])
        assert result.summary.undefined["ods_threshold"].kind == "no-thresholds"
        assert "|thresholds:2 unnamed|" in result.signature

    @pytest.mark.parametrize(
        ("name", "text", "kind", "values"),
        [
            (
                "eval_bdry_thr",
                "0.5 0.4 0.8 0.9",
                "contradiction",
                {"row": 1, "f": 0.9, "expected": pytest.approx(0.533333, abs=1e-6)},
            ),
            ("eval_bdry_thr", "0.5 1.4 0.8 0.9", "out-of-range", {"argument": "recall"}),
            ("eval_bdry_thr", "0.7 0.5 0.5 0.5\n0.5 0.5 0.5 0.5", "not-increasing", {}),
            ("eval_bdry_thr", "0.5", "wrong-line", {"line": 1, "found": 1}),
            ("eval_bdry", "0.1 0.2 0.3 0.4 0.5 0.6 0.7", "contradiction", {"f": 0.3, "recall": 0.1}),
        ],
    )
    def test_rows_that_cannot_be_are_refused(self, tmp_path, name, text, kind, values):
        with refused(kind, DataError, **values):
            import_bsds(write_texts(tmp_path, **{"eval_bdry_thr": ROWS, name: text}))

    def test_no_intervals(self, tmp_path):
        (result,) = import_bsds(write_texts(tmp_path, eval_bdry_thr=ROWS))
        drawn = result.intervals()
        assert list(drawn) == list(result.summary)
        assert np.isnan(drawn["ods_f"]).all()
        assert kinds(drawn.notes) == ["no-intervals"]


class TestFolders:
    def test_several_methods_side_by_side_and_in_sub_folders(self, tmp_path):
        flat = write_texts(tmp_path / "flat", A_bdry_thr=ROWS, A_bdry=BEST, B_bdry_thr=ROWS)
        assert [result.method for result in import_bsds(flat)] == ["A", "B"]
        write_texts(tmp_path / "deep" / "x%2Fy", eval_bdry_thr=ROWS)
        write_texts(tmp_path / "deep" / "z", a_ev1=FIRST)
        assert [result.method for result in import_bsds(tmp_path / "deep")] == ["x/y", "z"]
        with refused("one-name", ArgumentError, number=2):
            import_bsds(flat, method="mine")

    def test_nothing_to_read(self, tmp_path):
        with refused("no-results", DataError, path=str(tmp_path)):
            import_bsds(write_texts(tmp_path, notes="hello"))
        with refused("unreadable", DataError, path=str(tmp_path / "nowhere")):
            import_bsds(tmp_path / "nowhere")

    def test_a_results_file_gives_them_back(self, tmp_path):
        file = tmp_path / "r.segbench"
        write_texts(tmp_path / "in" / "counts", a_ev1=FIRST, b_ev1=SECOND)
        write_texts(tmp_path / "in" / "rows", eval_bdry_thr=ROWS, eval_bdry=BEST)
        write_texts(tmp_path / "in" / "unnamed", eval_bdry_thr="0.5 0.4 0.444444")
        made = import_bsds(tmp_path / "in", results=file)
        import_bsds(tmp_path / "in", results=file)
        read = load_results(file)
        assert len(read) == 3
        for before, after in zip(made, read, strict=True):
            assert (after.method, after.signature, after.notes) == (before.method, before.signature, before.notes)
            assert list(after.summary.values()) == pytest.approx(list(before.summary.values()), nan_ok=True, abs=0)
            assert dict(after.summary.undefined) == dict(before.summary.undefined)
            assert dict(after.counts) == dict(before.counts)
            assert np.array_equal(after.curve.recall, before.curve.recall)


class TestAnnotators:
    @pytest.mark.parametrize("folder", ["human", "human-2"])
    def test_the_human_point_comes_back_as_no_method(self, tmp_path, folder):
        rows = {"eval_bdry_thr": "1 0.5 0.5 0.5\n", "eval_bdry": "1 0.5 0.5 0.5 0.5 0.5 0.5 nan\n"}
        write_texts(tmp_path / folder, a_ev1="1 2 4 2 4\n", **rows)
        for kept in ("counts", "published"):
            (again,) = import_bsds(tmp_path / folder, results=tmp_path / f"{kept}.segbench")
            assert (again.method, again.competes) == (folder, False)
            assert bool(again.published) == (kept == "published")
            assert again.summary["ods_f"] == 0.5
            assert "read-as-annotators" in kinds(again.notes)
            assert not load_results(tmp_path / f"{kept}.segbench")[0].competes
            (tmp_path / folder / "a_ev1.txt").unlink(missing_ok=True)

    def test_other_names_and_thresholds_are_methods(self, tmp_path):
        assert import_bsds(write_texts(tmp_path / "binary", a_ev1="1 2 3 2 3\n"))[0].competes
        assert import_bsds(write_texts(tmp_path / "human", a_ev1="0.5 2 3 2 3\n"))[0].competes

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from cases import write_papers
from hypothesis import given, settings
from refusing import refused

from segbench import (
    ArgumentError,
    Boundaries,
    BoundaryCounts,
    DataError,
    Result,
    evaluate,
    export_bsds,
    import_bsds,
)
from segbench.loaders.bsds_text import as_file_name, from_file_name

# By hand: pooled 10 / 20 and 4 / 10 at .25, 6 / 20 and 3 / 4 at .75.
FIRST = BoundaryCounts([0.25, 0.75], [8, 5], [10, 10], [3, 2], [6, 2])
SECOND = BoundaryCounts([0.25, 0.75], [2, 1], [10, 10], [1, 1], [4, 2])


def result_of(counts, method="mine"):
    return Result(method, Boundaries(), {"thresholds": "list"}, "protocol:boundaries|data:0", counts)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@st.composite
def image_counts(draw, thresholds):
    totals = st.integers(0, 3_000_000)
    columns = []
    for _ in range(2):
        total = [draw(totals) for _ in thresholds]
        columns += [[draw(st.integers(0, most)) for most in total], total]
    return BoundaryCounts(thresholds, *columns)


class TestExport:
    def test_files_are_those_of_the_official_code(self, tmp_path):
        (folder,) = export_bsds([result_of({"2018": FIRST, "3063": SECOND})], tmp_path / "out")
        files = {name: text.decode() for name, text in contents(folder).items()}
        assert files["2018_ev1.txt"] == (
            "      0.25          8         10          3          6\n"
            "      0.75          5         10          2          2\n"
        )
        assert files["eval_bdry_thr.txt"] == (
            "      0.25        0.5        0.4   0.444444\n      0.75        0.3       0.75   0.428571\n"
        )
        assert files["eval_bdry_img.txt"] == (
            "         1       0.75        0.5          1   0.666667\n"
            "         2       0.25        0.2       0.25   0.222222\n"
        )
        *_, ois_recall, ois_precision, ois_f, area = files["eval_bdry.txt"].split()
        assert (ois_recall, ois_precision, ois_f) == ("0.35", "0.5", "0.411765")
        assert float(area) == pytest.approx(np.interp(np.arange(30, 51), [30, 50], [0.75, 0.4]).sum() / 100, abs=1e-6)

    def test_zeros_stay_zeros(self, tmp_path):
        nothing = BoundaryCounts([0.5], [0], [0], [0], [0])
        (folder,) = export_bsds([result_of({"a": nothing})], tmp_path)
        assert contents(folder)["eval_bdry_thr.txt"] == b"       0.5          0          0          0\n"
        assert contents(folder)["eval_bdry.txt"].split() == [b"0.5", *[b"0"] * 7]

    def test_counts_keep_their_digits(self, tmp_path):
        (folder,) = export_bsds([result_of({"a": BoundaryCounts([0.5], [1_234_567], [2_345_678], [1], [1])})], tmp_path)
        assert b"   1234567    2345678" in contents(folder)["a_ev1.txt"]

    def test_several_methods_have_a_folder_each(self, tmp_path):
        names = ["HED", "hed", "../out", "."]
        folders = export_bsds([result_of({"a": FIRST}, name) for name in names], tmp_path)
        assert [folder.name for folder in folders] == ["HED", "hed-2", "%2E.%2Fout", "%2E"]
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(folder.name for folder in folders)

    def test_no_name_leads_out_of_the_folder(self, tmp_path):
        names = ["train/1", "../../out", "/etc/passwd", "..", "C:\\out", "a\0b", "%2F", " .x"]
        (folder,) = export_bsds([result_of(dict.fromkeys(names, FIRST))], tmp_path / "deep" / "er")
        assert len(list(folder.glob("*_ev1.txt"))) == len(names)
        assert sorted(path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.txt")) == ["deep"] * 11

    def test_a_folder_with_other_images_is_refused(self, tmp_path):
        export_bsds([result_of({"old": FIRST})], tmp_path)
        with refused("other-images", DataError, path=str(tmp_path), files=("old_ev1.txt",)):
            export_bsds([result_of({"new": FIRST})], tmp_path)

    def test_files_with_the_same_content_may_be_written_again_and_others_are_kept(self, tmp_path):
        for _ in range(2):
            export_bsds([result_of({"a": FIRST})], tmp_path)
        before = contents(tmp_path)
        with refused("foreign", ArgumentError, files=3) as raised:
            export_bsds([result_of({"a": FIRST, "b": SECOND})], tmp_path)
        assert raised.value.values["path"] == str(tmp_path / "eval_bdry_img.txt")
        assert contents(tmp_path) == before

    def test_thresholds_must_differ_as_printed(self, tmp_path):
        close = BoundaryCounts([0.5, 0.50000001], [1, 1], [1, 1], [1, 1], [1, 1])
        with refused("equal-thresholds", DataError, path="thresholds"):
            export_bsds([result_of({"a": close})], tmp_path)

    def test_only_boundaries(self, tmp_path):
        pixels = evaluate(*write_papers(tmp_path))
        with refused("no-official-files", ArgumentError):
            export_bsds([pixels], tmp_path)

    def test_a_place_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").touch()
        with refused("unwritable", DataError, path=str(tmp_path / "file/a_ev1.txt")):
            export_bsds([result_of({"a": FIRST})], tmp_path / "file")

    @settings(max_examples=30)
    @given(st.data())
    def test_read_back_they_are_the_same_counts_and_files(self, tmp_path_factory, data):
        thresholds = data.draw(
            st.sampled_from([[1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6], [1, 2, 3], [0.5], [0.1234567, 0.2], [1e-9, 1e9]])
        )
        names = data.draw(st.lists(st.text(max_size=12), min_size=1, max_size=4, unique_by=as_file_name))
        names = [name for name in names if name.isprintable() and name] or ["a"]
        images = {name: data.draw(image_counts(thresholds)) for name in names}
        root = tmp_path_factory.mktemp("round")
        (first,) = export_bsds([result_of(images)], root / "first")
        (again,) = import_bsds(first)
        for name, counts in images.items():
            for part in ("matched_gt", "total_gt", "matched_pred", "total_pred"):
                assert np.array_equal(getattr(again.counts[name], part), getattr(counts, part))
        (second,) = export_bsds([again], root / "second")
        assert contents(first) == contents(second)


class TestFileNames:
    @given(st.text(min_size=1))
    def test_a_name_is_one_part_of_a_path_and_comes_back(self, name):
        written = as_file_name(name)
        assert from_file_name(written) == name
        assert written not in {"", ".", ".."}
        assert not set(written) & set('/\\:*?"<>|\0')
        assert Path(written).parts == (written,)

    def test_names_of_others_stay(self):
        for name in ("50%", "a%20b", "a%2fb", "%"):
            assert from_file_name(name) == name

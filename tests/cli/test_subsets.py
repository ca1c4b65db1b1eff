"""Some of the images of a set, and folders that hold several methods."""

import json
import shutil

import pytest
from methods import write_methods
from noted import advised
from refusing import insist, within

from segbench import evaluate, load_results


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A ground truth gt and the predictions of a and b, images im00 to im08, in the current folder."""
    write_methods(tmp_path, {"a": 2, "b": 1}, images=9)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs(answer):
    assert answer.code == 0, answer.err
    return json.loads(answer.out)["runs"]


class TestImages:
    @pytest.mark.parametrize("given", ["im00,im0[78]", "images.txt", "images"])
    def test_names_patterns_and_lists(self, segbench, folders, given):
        for name in ("images.txt", "images"):
            (folders / name).write_text("# three\nim00\nim0[78]\n")
        (run,) = runs(segbench("pixels", "gt", "a", "--images", given, "--format", "json"))
        assert run["images"] == 3
        assert "|subset:3 of 9|" in run["signature"]

    def test_a_name_that_begins_as_comments_do(self, segbench, folders):
        for place in ("gt", "a"):
            (folders / place / "im00.png").rename(folders / place / "#im.png")
        (folders / "images.txt").write_text("#im is a comment, and\n[#]im\n")
        (run,) = runs(segbench("pixels", "gt", "a", "--images", "images.txt", "--format", "json"))
        assert "|subset:1 of 9|" in run["signature"]

    @pytest.mark.usefixtures("folders")
    def test_unknown_names_stop_a_run_and_are_checked(self, segbench):
        nearest = "im001 (nearest: im01)"
        checked = segbench("check", "pixels", "gt", "a", "--images", "im001,im01", "--format", "json")
        assert checked.code == 1
        (finding,) = json.loads(checked.out)["reports"][0]["findings"]
        assert (finding["kind"], [file["file"] for file in finding["files"]]) == ("unknown-images", [nearest])
        stopped = segbench("pixels", "gt", "a", "--images", "im001,im01")
        assert stopped.code == 1
        insist(stopped.error, "check-failed", findings=("unknown-images",))
        (reason,) = stopped.error.values["reasons"]
        assert nearest in map(str, reason.values["lines"].values["files"])
        answer = segbench("pixels", "gt", "a", "--images", "im001,im01", "--no-check")
        unchecked = answer.error
        assert answer.code == 1
        insist(unchecked, "unpaired", path="a against gt", missing=(), extra=(), unknown=(nearest,))
        assert within(unchecked, "unknown-images") == {"count": 1}
        answer = segbench("pixels", "gt", "a", "--images", "gone.txt")
        assert answer.code == 1
        insist(answer.error, "missing", path="gone.txt", settings={"images": None})


class TestSeveralMethods:
    @pytest.fixture
    def parent(self, folders):
        for name in ("a", "b"):
            shutil.move(folders / name, folders / "preds" / name)
        return folders

    def test_each_sub_folder_is_a_method(self, segbench, parent):
        answer = segbench("pixels", "gt", "preds", "-o", "r.segbench", "--format", "json")
        assert [run["method"] for run in runs(answer)] == ["a", "b"]
        alone = evaluate("gt", "preds/a")
        assert load_results(parent / "r.segbench")[0].signature == alone.signature
        answer = segbench("check", "pixels", "gt", "preds")
        assert answer.code == 0, answer.out

    def test_methods_whose_names_need_a_pattern_are_named_with_it(self, segbench, parent):
        for file in (parent / "preds").rglob("*.*"):
            file.rename(file.with_stem(f"{file.stem}_soft"))
        checked = segbench("check", "pixels", "gt", "preds", "--format", "json")
        assert checked.code == 1
        (found,) = json.loads(checked.out)["reports"][0]["findings"]
        assert (found["kind"], advised(found["settings"])) == ("several-methods", {"pred_pattern": "*_soft"})
        answer = segbench("pixels", "gt", "preds")
        assert answer.code == 1
        settings = {"pred_pattern": "*_soft"}
        insist(answer.error, "check-failed", findings=("several-methods",), path="preds", settings=settings)
        (finding,) = answer.error.values["reasons"]
        assert finding.values["message"].values["methods"].values == {"count": 2, "folders": ("a", "b")}
        answer = segbench("pixels", "gt", "preds/a", "preds/b", "--pred-pattern", "*_soft", "--format", "json")
        assert [run["method"] for run in runs(answer)] == ["a", "b"]

    def test_beside_a_method_of_the_same_name(self, segbench, parent):
        shutil.copytree(parent / "preds/a", parent / "a")
        answer = segbench("pixels", "gt", "preds", "a")
        assert answer.code == 2
        insist(answer.error, "same-name", plural="methods", name="a")
        answer = segbench("pixels", "gt", "preds", "c=a", "--format", "json")
        assert [run["method"] for run in runs(answer)] == ["a", "b", "c"]

    def test_a_folder_per_class_is_one_method(self, segbench, parent):
        for name, label in (("a", 0), ("b", 255)):
            shutil.move(parent / "preds" / name, parent / "preds" / str(label))
        answer = segbench("pixels", "gt", "preds", "--classes", "0,255", "--void", "none", "--format", "json")
        assert [run["method"] for run in runs(answer)] == ["preds"]

"""Runs of some images of a set: their signatures, what is counted again, comparison, merging and re-reading."""

import shutil

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from refusing import refused

from segbench import (
    DataError,
    Inputs,
    Pixels,
    ReplacedRun,
    compare_results,
    evaluate,
    export_overlays,
    load_results,
    merge_results,
)
from segbench.report.ranking import competing_sets


@pytest.fixture
def folders(tmp_path):
    """A ground truth and the predictions of a and b, images im00 to im08."""
    return write_methods(tmp_path, {"a": 2, "b": 1}, images=9)


def fields(result):
    return dict(part.split(":", 1) for part in result.signature.split("|"))


class TestImages:
    def test_the_signature_says_how_many_are_chosen_and_the_digest_covers_them(self, folders, tmp_path):
        truth, pred, _ = folders
        some = evaluate(truth, pred, images=["im00", "im0[78]"])
        assert list(some.counts) == ["im00", "im07", "im08"]
        assert fields(some)["subset"] == "3 of 9"
        copies = [tmp_path / "copy" / place.name for place in (truth, pred)]
        for source, copy in zip((truth, pred), copies, strict=True):
            copy.mkdir(parents=True)
            for name in some.counts:
                shutil.copy(source / f"{name}.png", copy)
        alone = evaluate(*copies)
        assert alone.data == some.data
        assert dict(alone.summary) == dict(some.summary)
        assert "subset" not in fields(alone)
        assert evaluate(truth, pred, images=["*"]).signature == evaluate(truth, pred).signature

    def test_a_part_is_a_run_of_its_own_and_images_are_counted_once(self, folders, tmp_path, decoded):
        truth, pred, _ = folders
        file = tmp_path / "r.segbench"
        evaluate(truth, pred, images=["im0[0-3]"], results=file)
        decoded.clear()
        whole = evaluate(truth, pred, results=file)
        assert decoded == ["im04", "im05", "im06", "im07", "im08"]
        assert whole.reused == 4
        decoded.clear()
        assert evaluate(truth, pred, images=["im08"], results=file).reused == 1
        assert decoded == []
        kept = load_results(file)
        assert [fields(run).get("subset") for run in kept] == ["4 of 9", None, "1 of 9"]
        assert [len(run.counts) for run in kept] == [4, 9, 1]
        evaluate(truth, pred, results=file, fresh=True)
        assert len(decoded) == 9
        decoded.clear()
        shutil.copy(pred / "im01.png", pred / "im00.png")
        assert evaluate(truth, pred, images=["im00", "im08"], results=file).reused == 1
        assert decoded == ["im00"]

    def test_a_part_of_other_images_replaces_one_of_the_same_size_with_a_warning(self, folders, tmp_path):
        truth, pred, _ = folders
        for images in (["im00", "im01"], ["im01", "im00"]):
            evaluate(truth, pred, images=images, results=tmp_path / "r.segbench")
        with pytest.warns(ReplacedRun) as warned:
            evaluate(truth, pred, images=["im01", "im02"], results=tmp_path / "r.segbench")
        (message,) = warned[0].message.args
        assert (message.kind, message.values["run"]) == ("replaced-run", "a")

    def test_settings_and_pictures_are_read_from_the_file_again(self, folders, tmp_path):
        truth, pred, _ = folders
        evaluate(truth, pred, Pixels(positive="255"), images=["im0[0-3]"], results=tmp_path / "r.segbench")
        (kept,) = load_results(tmp_path / "r.segbench")
        assert kept.inputs.images == ("im0[0-3]",)
        (pred / "im08.png").unlink()
        export_overlays([kept], tmp_path / "overlays")
        assert len(list((tmp_path / "overlays").rglob("*.png"))) == 4

    def test_parts_of_one_set_merge_into_the_whole(self, folders, tmp_path):
        truth, pred, _ = folders
        parts = [tmp_path / name for name in ("first", "second", "third")]
        for part, images in zip(parts, ("im0[0-2]", "im0[3-5]", "im0[6-8]"), strict=True):
            evaluate(truth, pred, images=[images], results=part)
        (two,) = merge_results(parts[:2], tmp_path / "two")
        assert fields(two)["subset"] == "6 of 9"
        (whole,) = merge_results(parts, tmp_path / "all")
        assert whole.signature == evaluate(truth, pred).signature

    def test_parts_of_sets_of_one_size_that_are_not_one_set_are_refused(self, folders, tmp_path):
        truth, pred, _ = folders
        evaluate(truth, pred, images=["im0[0-6]"], results=tmp_path / "r")
        for folder in (truth, pred):
            for file in sorted(folder.iterdir()):
                file.rename(folder / f"x{file.name}")
        evaluate(truth, pred, images=["xim0[0-6]"], results=tmp_path / "s")
        with refused("too-many-images", DataError, path=str(tmp_path / "r"), method="a", images=14, total=9):
            merge_results([tmp_path / "r", tmp_path / "s"], tmp_path / "all")


class TestMissing:
    def test_a_run_with_fewer_predictions_replaces_the_earlier_with_a_warning(self, folders, tmp_path):
        truth, pred, _ = folders
        evaluate(truth, pred, results=tmp_path / "r.segbench")
        (pred / "im03.png").unlink()
        with pytest.warns(ReplacedRun) as warned:
            evaluate(truth, pred, allow_missing=True, results=tmp_path / "r.segbench")
        (message,) = warned[0].message.args
        assert (message.kind, message.values["run"]) == ("replaced-run", "a")
        assert (message.values["lacking"], message.values["images"]) == (1, 9)

    def test_a_run_with_more_predictions_replaces_the_earlier(self, folders, tmp_path, decoded):
        truth, pred, _ = folders
        file, away = tmp_path / "r.segbench", tmp_path / "away"
        away.mkdir()
        for name in ("im02.png", "im05.png"):
            shutil.move(pred / name, away)
        evaluate(truth, pred, results=file, allow_missing=True)
        for name in ("im02", "im05"):
            shutil.move(away / f"{name}.png", pred)
            decoded.clear()
            evaluate(truth, pred, results=file, allow_missing=True)
            assert decoded == [name]
        (kept,) = load_results(file)
        assert kept.signature == evaluate(truth, pred).signature

    def test_a_stopped_run_goes_on_with_more_predictions(self, folders, tmp_path, decoded):
        truth, pred, _ = folders
        shutil.move(pred / "im08.png", tmp_path)

        def stop(done, _total):
            if done == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evaluate(truth, pred, results=tmp_path / "r", allow_missing=True, progress=stop)
        shutil.move(tmp_path / "im08.png", pred)
        decoded.clear()
        evaluate(truth, pred, results=tmp_path / "r", allow_missing=True)
        assert len(decoded) == 5
        assert len(load_results(tmp_path / "r", partial=True)) == 1

    def test_methods_on_different_images_are_neither_compared_nor_ranked_together(self, folders):
        truth, a, b = folders
        (a / "im02.png").unlink()
        results = [evaluate(truth, folder, allow_missing=True) for folder in (a, b)]
        with refused("other-images", DataError, problems="b has im02, a has not", methods=("a", "b")):
            compare_results(results)
        assert competing_sets(results) == [[1], [0]]

    def test_methods_that_lack_the_same_images_are_compared(self, folders):
        truth, *methods = folders
        for folder in methods:
            (folder / "im02.png").unlink()
        first = evaluate(truth, methods[0], allow_missing=True)
        second = evaluate(truth, methods[1], images=["im0[013-8]"])
        assert compare_results([first, second], replicates=10).images == 8

    def test_parts_that_lack_predictions_merge_unless_they_share_images(self, folders, tmp_path):
        truth, pred, _ = folders
        (pred / "im02.png").unlink()
        for name, images in (("r", "im0[0-3]"), ("s", "im0[4-8]"), ("t", "im0[2-8]")):
            evaluate(truth, pred, images=[images], allow_missing=True, results=tmp_path / name)
        (whole,) = merge_results([tmp_path / "r", tmp_path / "s"], tmp_path / "all")
        assert whole.signature == evaluate(truth, pred, allow_missing=True).signature
        with refused("shared-images", DataError, path=str(tmp_path / "t"), method="a"):
            merge_results([tmp_path / "r", tmp_path / "t"], tmp_path / "more")


def test_a_list_of_names_is_written_first_and_last_however_many_batches_there_are(tmp_path, monkeypatch):
    for folder in ("gt", "pred"):
        write_folder(tmp_path / folder, {f"{k:02}.png": np.array([[0, 255]], np.uint8) for k in range(60)})
    written, to_json = [], Inputs.to_json
    monkeypatch.setattr(Inputs, "to_json", lambda inputs: written.append(inputs) or to_json(inputs))
    names = [f"{k:02}" for k in range(50)]
    evaluate(tmp_path / "gt", tmp_path / "pred", images=names, results=tmp_path / "r.segbench")
    assert len(written) == 2

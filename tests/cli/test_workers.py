import json
import re
import zipfile

import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, write_folder
from methods import write_methods
from noted import kinds, of_kind
from refusing import insist

from segbench import load_results
from segbench.aggregator.merging import lacking


class TestWhereImagesAreCounted:
    @pytest.mark.slow
    def test_makes_no_difference_to_the_last_byte(self, segbench, papers):
        alone = segbench("pixels", *papers, "--format", "json", "-j", "1")
        spread = segbench("pixels", *papers, "--format", "json", "-j", "2")
        assert (spread.code, spread.out) == (0, alone.out)

    @pytest.mark.parametrize(
        ("options", "code", "kind"),
        [
            (["--dask", "tcp://host:8786", "-j", "2"], 2, "excluding-options"),
            (["--dask", "nonsense"], 2, "not-an-address"),
        ],
    )
    def test_wrong_options(self, segbench, papers, options, code, kind):
        if options == ["--dask", "nonsense"]:
            pytest.importorskip("distributed", reason="distributed is not installed: pip install segbench[dask]")
        answer = segbench("pixels", *papers, *options)
        assert (answer.code, answer.out) == (code, "")
        insist(answer.error, kind)


@pytest.mark.slow
def test_a_dask_cluster_counts_the_same_and_a_damaged_first_image_is_no_fault_of_its_worker(segbench, papers, tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install segbench[dask]")
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as stored:
        for path in sorted(papers[1].iterdir()):
            stored.write(path, path.name)
    command = ["pixels", papers[0], archive, "--positive", 255, "--format", "json"]
    alone = segbench(*command, "-j", "1")
    threads = {"n_workers": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with distributed.LocalCluster(**threads) as cluster:
        place = cluster.scheduler_address
        assert segbench(*command, "--dask", place).out == alone.out
        archive.write_bytes(archive.read_bytes().replace(b"NUMPY", b"NUMBY", 1))
        answer = segbench(*command, "--dask", place)
    assert answer.code == 1
    assert json.loads(answer.out)["runs"][0]["failures"]["first"]["kind"] == "damaged"


def test_images_counted_before_are_told_from_those_counted_now(segbench, papers, tmp_path):
    command = ["pixels", *papers, "-o", tmp_path / "r.segbench"]
    assert "already" not in segbench(*command).err
    assert "2 images: all already counted with the same settings\n" in segbench(*command).err
    write_folder(papers[0], {"third.png": FIRST_TRUTH * 255})
    write_folder(papers[1], {"third.npy": FIRST_SCORES})
    assert re.search(r"^3 images: 2 already counted, 1 counted in \d+\.\d s$", segbench(*command).err, re.MULTILINE)
    (papers[0] / "third.png").write_bytes(b"junk")
    assert "3 images: 2 already counted, 1 counted in" in segbench(*command, "--no-check").err
    assert "already" not in segbench(*command, "--no-check", "--fresh").err


class TestNothingToShow:
    @pytest.mark.parametrize("protocol", ["pixels", "boundaries", "regions"])
    def test_where_every_image_failed_the_reason_stands_once(self, segbench, papers, protocol):
        for path in (papers[0] / "first.png", papers[0] / "second.png"):
            path.write_bytes(b"junk")
        answer = segbench(protocol, *papers, "--no-check")
        assert answer.code == 1
        assert re.search(r"2 images: is not a PNG file .*\(first: .*first\.png\)", answer.out)
        assert answer.out.count("is not a PNG file") == 1

    def test_different_reasons_stand_apart(self, segbench, papers):
        (papers[0] / "first.png").write_bytes(b"junk")
        (papers[1] / "second.npy").write_bytes(b"")
        out = segbench("pixels", *papers, "--no-check").out
        assert "2 images failed" in out
        assert "first.png: is not a PNG" in out
        assert re.search(r"\n  \S*second\.npy: ", out)


def test_parts_with_different_ground_truth_are_said_to_be_one_set(segbench, tmp_path):
    for name, image in (("a", "one"), ("b", "two")):
        gt = write_folder(tmp_path / name / "gt", {f"{image}.npy": FIRST_TRUTH})
        method = write_folder(tmp_path / name / "method", {f"{image}.npy": FIRST_SCORES})
        assert segbench("pixels", gt, method, "-o", tmp_path / f"{name}.segbench").code == 0
    parts = [tmp_path / "a.segbench", tmp_path / "b.segbench"]
    merged = segbench("merge", *parts, "-o", tmp_path / "all.segbench", "--join", "method")
    truths = f"{tmp_path / 'a' / 'gt'}, {tmp_path / 'b' / 'gt'}."
    assert truths in " ".join(merged.err.split())
    (joined,) = load_results(tmp_path / "all.segbench")
    assert [*joined.counts] == ["one", "two"]
    again = segbench("merge", tmp_path / "all.segbench", "-o", tmp_path / "copy.segbench")
    assert again.code == 0
    assert truths in " ".join(again.err.split())


def test_parts_with_other_options_are_said_to_be_two_runs(segbench, tmp_path):
    folders = write_methods(tmp_path, {"net": 2}, images=6)
    parts = [tmp_path / f"{number}.segbench" for number in range(2)]
    for part, images, options in zip(parts, ("im00,im01", "!im00,!im01"), ([], ["--positive", "255"]), strict=True):
        assert segbench("pixels", *folders, "--images", images, *options, "-o", part).code == 0
    err = segbench("merge", *parts, "-o", tmp_path / "all.segbench").err
    assert "net (positive:larger, subset:2 of 6): 2 images  protocol:pixels" in err
    other = "note: net is 2 runs, since their settings differ; count parts of one set with the same options\n"
    assert other in err


def test_a_merge_of_a_single_part_says_how_many_images_are_in_none(segbench, told, tmp_path):
    folders = write_methods(tmp_path, {"net": 2}, images=6)
    assert segbench("pixels", *folders, "--images", "im00,im01", "-o", tmp_path / "part").code == 0
    assert segbench("merge", tmp_path / "part", "-o", tmp_path / "all").code == 0
    (note,) = of_kind(told, "in-no-part")
    assert (note.values["images"], note.values["total"], note.before) == (4, 6, "net: ")


def test_a_merge_without_one_of_the_parts_says_how_many_images_are_in_none(segbench, told, tmp_path):
    folders = write_methods(tmp_path, {"net": 2}, images=6)
    parts = [tmp_path / f"{number}.segbench" for number in range(3)]
    for number, part in enumerate(parts):
        images = f"im0{number}*,im0{number + 3}*"
        assert segbench("pixels", *folders, "--positive", "255", "--images", images, "-o", part).code == 0
    assert segbench("merge", *parts[:2], "-o", tmp_path / "two.segbench").code == 0
    (two,) = load_results(tmp_path / "two.segbench")
    said = lacking(two)
    assert (said.kind, said.values["images"], said.values["total"]) == ("in-no-part", 2, 6)
    assert said in [note.message for note in told if note.before == "net: "]
    assert str(said) in segbench("show", tmp_path / "two.segbench").out
    assert not any(map(lacking, load_results(parts[0])))
    told.clear()
    assert segbench("merge", tmp_path / "two.segbench", parts[2], "-o", tmp_path / "all").code == 0
    assert said.kind not in kinds(told)
    assert not any(map(lacking, load_results(tmp_path / "all")))


def test_columns_of_other_thresholds_count_nothing_again(segbench, papers, counts_nothing, tmp_path):
    command = ["pixels", *papers, "-o", tmp_path / "r.segbench"]
    segbench(*command)
    anew = segbench("pixels", *papers, "--at", "0.5", "--format", "json")
    counts_nothing()
    assert segbench(*command, "--at", "0.5", "--format", "json").out == anew.out

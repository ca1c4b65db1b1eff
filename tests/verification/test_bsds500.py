import os
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import refused
from scipy.io import savemat

from segbench import Boundaries, DataError, Regions, evaluate, export_bsds
from segbench.verification.bsds500 import bsds500_part
from segbench.verification.checks import expected

BSDS500 = os.environ.get("SEGBENCH_BSDS500")
IMAGES = ("2018", "3063", "5096", "6046", "8068")
TESTS = {"test_1": ("ucm2", "br"), "test_2": ("png", "b"), "test_3": ("segs", "b"), "test_4": ("segs", "br")}
TESTS["test_5"] = ("segs", "r")
FLAT = {"ucm2": "ucm2", "png": "bench_png", "segs": "bench_segs", "gt": "groundTruth", "official": "official"}
RELEASE = {kind: f"bench/data/{kind}" for kind in ("ucm2", "png", "segs")}
RELEASE |= {"gt": "bench/data/groundTruth", "official": "bench/data"}


def checks_of(folder):
    return bsds500_part(folder).checks()


def states(checks):
    return {check.state for check in checks}


def write_mat(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, content)


def cells(arrays):
    column = np.empty((len(arrays), 1), object)
    for place, array in enumerate(arrays):
        column[place, 0] = array
    return column


def write_truth(folder, name, seed):
    """An annotator who draws one upright border; where it lies depends on the image."""
    labels = np.ones((8, 10), np.uint16)
    labels[:, 3 + seed :] = 2
    borders = np.zeros(labels.shape, np.uint8)
    borders[:, 3 + seed] = 1
    truth = np.array([[(labels, borders)]], dtype=[("Segmentation", "O"), ("Boundaries", "O")])
    write_mat(folder / f"{name}.mat", {"groundTruth": cells([truth])})


def write_ucm2(folder, name, seed):
    strengths = np.zeros((17, 21))
    strengths[:, 6 + 2 * seed] = 0.7
    strengths[8, :] = np.maximum(strengths[8, :], 0.3)
    write_mat(folder / f"{name}.mat", {"ucm2": strengths})


def write_examples(root, layout):
    """Five images in a layout; the official results are what comes out, written as the official code does."""
    for seed, name in enumerate(IMAGES):
        write_truth(root / layout["gt"], name, seed)
        write_ucm2(root / layout["ucm2"], name, seed)
        soft = np.zeros((8, 10), np.uint8)
        soft[:, 4] = 200
        (root / layout["png"]).mkdir(parents=True, exist_ok=True)
        iio.imwrite(root / layout["png"] / f"{name}.png", soft)
        maps = [np.ones((8, 10), np.uint16) for _ in range(5)]
        for scale in range(4):
            maps[scale][:, 2 + scale + seed % 2 :] = 2
        write_mat(root / layout["segs"] / f"{name}.mat", {"segs": cells(maps)})
    for test, (kind, letters) in TESTS.items():
        protocols = {"b": Boundaries() if kind == "segs" else Boundaries(thresholds=5), "r": Regions(thresholds=5)}
        results = [evaluate(root / layout["gt"], root / layout[kind], protocols[letter]) for letter in letters]
        export_bsds(results, root / layout["official"] / test)
    return root


@pytest.fixture(params=[("flat", ""), ("release", ""), ("release", "BSR/")], ids=["flat", "BSR", "above BSR"])
def examples(request, tmp_path):
    name, above = request.param
    layout = {kind: above + place for kind, place in (FLAT if name == "flat" else RELEASE).items()}
    return write_examples(tmp_path, layout), layout


def test_examples_in_every_layout(examples):
    checks = checks_of(examples[0])
    compared = [check for check in checks if check.group.startswith("test_")]
    assert states(compared) == {"as expected"}
    assert len(compared) == 4 * 9 + 3 * 12
    assert {check.group.split(":")[0] for check in compared} == set(TESTS)


def test_a_figure_and_a_line_that_differ_are_off(examples):
    root, layout = examples
    official = root / layout["official"]
    best = official / "test_1" / "eval_bdry.txt"
    row = best.read_text().split()
    best.write_text(" ".join([*row[:3], f"{float(row[3]) - 0.01:.6g}", *row[4:]]))
    lines = (official / "test_5" / "eval_cover_th.txt").read_text().splitlines()
    (official / "test_5" / "eval_cover_th.txt").write_text("\n".join([*lines[:-1], "1 0.123"]) + "\n")
    off = [check for check in checks_of(root) if check.state == "off"]
    assert [(check.group, check.what, check.source) for check in off] == [
        ("test_1: ucm2, boundaries", "ods_f", "eval_bdry.txt"),
        ("test_5: segs, regions", "lines that differ", "eval_cover_th.txt"),
    ]


def test_what_is_missing_is_not_checked_and_why(examples):
    root, layout = examples
    (root / layout["segs"] / "5096.mat").unlink()
    (root / layout["official"] / "test_1" / "eval_cover.txt").unlink()
    for path in (root / layout["official"] / "test_2").iterdir():
        path.unlink()
    (root / layout["official"] / "test_2").rmdir()
    checks = checks_of(root)
    missing = {(check.group, check.missing) for check in checks if check.state == "not checked"}
    segs = layout["segs"].rpartition("/")[2]
    for group in ("test_3: segs, boundaries", "test_4: segs, regions"):
        assert any(one == group and why.startswith("4 of 5 images lie in") and segs in why for one, why in missing)
    assert ("test_1: ucm2, regions", "there is no eval_cover.txt in test_1") in missing
    assert any(group == "test_2: png, boundaries" and "there is no folder" in why for group, why in missing)
    assert states(check for check in checks if check.group == "test_1: ucm2, boundaries") == {"as expected"}


class TestTestSet:
    @pytest.mark.parametrize(
        ("gt", "ucm2"),
        [
            ("BSDS500/data/groundTruth/test", "BSDS500/ucm2/test"),
            ("BSR/BSDS500/data/groundTruth/test", "BSR/BSDS500/ucm2/test"),
            ("data/groundTruth/test", "ucm2/test"),
            ("groundTruth/test", "ucm2/test"),
            ("groundTruth", "ucm2"),
        ],
    )
    def test_part_of_it_is_not_checked(self, tmp_path, gt, ucm2):
        for seed in range(3):
            write_truth(tmp_path / gt, f"{seed}", seed)
            write_ucm2(tmp_path / ucm2, f"{seed}", seed)
        write_ucm2(tmp_path / ucm2, "9", 0)
        part = bsds500_part(tmp_path)
        checks = part.checks()
        assert part.images == 0
        assert states(checks) == {"not checked"}
        assert len(checks) == 10
        assert checks[0].expected == 0.73
        assert {check.missing for check in checks} == {
            f"3 of 200 images lie in {'/'.join((tmp_path / ucm2).parts[-2:])} and have ground truth"
        }

    def test_all_of_it_is_counted(self, tmp_path, monkeypatch):
        monkeypatch.setitem(expected("bsds500")["test_set"], "images", 5)
        monkeypatch.setitem(expected("bsds500")["test_set"]["regions"], "covering_ods", "1.00")
        for seed, name in enumerate(IMAGES):
            write_truth(tmp_path / "groundTruth", name, seed)
            write_ucm2(tmp_path / "ucm2", name, seed)
        part = bsds500_part(tmp_path)
        told = []
        checks = {check.what: check for check in part.checks(progress=lambda *step: told.append(step))}
        assert part.images == 10
        assert told[-1] == (10, 10)
        assert len(checks) == 10
        # The strong upright border is where the annotator's is: the published figures are not those of these images.
        assert checks["covering_ods"].state == "as expected"
        assert checks["voi_ods"].state == "off"
        assert checks["voi_ods"].got == 0

    def test_the_results_of_the_release_are_compared_too(self, tmp_path, monkeypatch):
        monkeypatch.setitem(expected("bsds500")["test_set"], "images", 5)
        gt, ucm2 = tmp_path / "BSDS500/data/groundTruth/test", tmp_path / "BSDS500/ucm2/test"
        for seed, name in enumerate(IMAGES):
            write_truth(gt, name, seed)
            write_ucm2(ucm2, name, seed)
        official = tmp_path / "BSDS500/ucm2/test_eval"
        export_bsds([evaluate(gt, ucm2, protocol) for protocol in (Boundaries(), Regions())], official)
        (official / "eval_cover.txt").write_text("0.5 0.9 1 1\n")
        compared = [check for check in checks_of(tmp_path) if check.group.startswith("ucm2/test_eval")]
        assert len(compared) == 7 + 7
        assert [check.what for check in compared if check.state == "off"] == ["covering_ods"]

    @pytest.fixture
    def with_counts(self, tmp_path):
        """Three images, with official counts that are those found here, in an order of their own."""
        names = ("2018", "3063", "5096")
        for seed, name in enumerate(names):
            write_truth(tmp_path / "groundTruth", name, seed)
            write_ucm2(tmp_path / "ucm2", name, seed)
        counts = evaluate(tmp_path / "groundTruth", tmp_path / "ucm2", Boundaries()).counts
        folder = tmp_path / "official_counts"
        folder.mkdir()
        (folder / "test.txt").write_text("\n".join(names[::-1]))
        for place in (9, 49):
            rows = (" ".join(map(str, [0, 0, 0, *(row[place] for row in counts[name].rows)])) for name in names[::-1])
            (folder / f"test_fb_{(place + 1) / 100:.2f}.txt").write_text("\n".join(rows))
        return folder

    def test_official_counts_of_each_image_are_compared(self, with_counts):
        def compared():
            return [check for check in checks_of(with_counts.parent) if "official counts of 3 images" in check.group]

        assert len(compared()) == 5
        assert states(compared()) == {"as expected"}
        first = with_counts / "test_fb_0.10.txt"
        rows = [[int(text) for text in line.split()] for line in first.read_text().splitlines()]
        rows[0][4] += 1
        rows[1][3] += 1
        first.write_text("\n".join(" ".join(map(str, row)) for row in rows))
        wrong = {check.what: check.got for check in compared() if "places" in check.what and check.state == "off"}
        assert wrong == {"total_gt: places that differ": 1, "matched_gt: places lower": 1}

    @pytest.mark.parametrize(
        ("name", "content", "named", "kind", "values"),
        [
            ("test.txt", "2018 9 8", "test.txt", "unknown-images", {"count": 2, "first": "9"}),
            ("test.txt", "2018", "test_fb_0.10.txt", "other-length", {"found": 3, "expected": 1}),
            ("test_fb_0.105.txt", "0 0 0 1 1 1 1\n" * 3, "test_fb_0.105.txt", "no-threshold", {"prefix": "test_fb_"}),
            ("test_fb_0.50.txt", "1 2\n", "test_fb_0.50.txt", "wrong-line", {"line": 1, "found": 2}),
        ],
    )
    def test_official_counts_that_will_not_do_are_named(self, with_counts, name, content, named, kind, values):
        (with_counts / name).write_text(content)
        with refused(kind, DataError, path=str(with_counts / named), **values) as raised:
            checks_of(with_counts.parent)
        if kind == "wrong-line":
            assert raised.value.values["expected"].values["widths"] == (7,)

    def test_as_many_images_of_another_set_are_not_checked(self, tmp_path, monkeypatch):
        monkeypatch.setitem(expected("bsds500")["test_set"], "images", 2)
        for seed in range(2):
            write_truth(tmp_path / "groundTruth", f"{seed}", seed)
            write_ucm2(tmp_path / "ucm2", f"{seed}", seed)
        assert {check.missing for check in checks_of(tmp_path)} == {
            f"the 2 images in {tmp_path.name}/ucm2 are not those of the test set"
        }


class TestFoldersThatWillNotDo:
    def test_nothing_there(self, tmp_path):
        with refused("not-a-folder", DataError, path=str(tmp_path / "nowhere")):
            bsds500_part(tmp_path / "nowhere")
        (tmp_path / "file").touch()
        with refused("not-a-folder", DataError, path=str(tmp_path / "file")):
            bsds500_part(tmp_path / "file")

    def test_nothing_of_the_kind(self, tmp_path):
        (tmp_path / "groundTruth").mkdir()
        (tmp_path / "test_1").touch()
        with refused("no-known-values", DataError, path=str(tmp_path)):
            bsds500_part(tmp_path)

    def test_empty_folders_are_not_checked(self, tmp_path):
        for name in ("groundTruth", "ucm2", "official/test_1"):
            (tmp_path / name).mkdir(parents=True)
        assert states(checks_of(tmp_path)) == {"not checked"}

    def test_a_damaged_image_is_named(self, examples):
        root, layout = examples
        (root / layout["ucm2"] / "2018.mat").write_bytes(b"MATLAB 5.0 MAT-file, but not really")
        with refused("not-counted", DataError, path="ucm2", count=1) as raised:
            checks_of(root)
        (problem,) = raised.value.values["problems"]
        assert (problem.kind, problem.values["path"]) == ("damaged", str(root / layout["ucm2"] / "2018.mat"))

    def test_a_damaged_official_file_is_named(self, examples):
        root, layout = examples
        (root / layout["official"] / "test_3" / "eval_bdry_img.txt").write_bytes(b"\xff\xfe")
        named = root / layout["official"] / "test_3" / "eval_bdry_img.txt"
        with refused("not-text", DataError, path=str(named)):
            checks_of(root)


@pytest.mark.skipif(not BSDS500, reason="SEGBENCH_BSDS500 does not say where the data of BSDS500 are")
def test_the_official_examples():
    checks = [check for check in checks_of(Path(BSDS500)) if check.group.startswith("test_")]
    assert states(checks) == {"as expected"}
    assert len(checks) == 4 * 9 + 3 * 12

import csv
import json

import numpy as np
import pytest
from cases import write_folder, write_papers
from refusing import insist, within

from segbench.core.messages import Setting

# A diagonal of 20 pixels: --max-dist .05 is one pixel.
SHAPE = (12, 16)
ONE_PIXEL = ("--max-dist", "0.05")
KEYS = [
    "ods_f",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
    "area_pr",
]


def column(*places, value=255):
    drawn = np.zeros(SHAPE, np.uint8)
    drawn[:, list(places)] = value
    return drawn


RESULTS = ("show", "compare", "plot", "figure", "report", "overlay")
WITH_VOID = ("pixels", "labels", "regions", "contours", "centerlines", "anomalies", "objects")


@pytest.fixture
def folders(tmp_path):
    """Two images: one found a pixel off, one found at half its length."""
    truth = write_folder(tmp_path / "gt", {"near.png": column(5), "half.png": column(5)})
    half = column(5)
    half[6:] = 0
    return truth, write_folder(tmp_path / "pred", {"near.png": column(6), "half.png": half})


def run_of(segbench, *arguments):
    answer = segbench("boundaries", *arguments, "--format", "json")
    assert answer.code == 0, answer
    return json.loads(answer.out)["runs"]


class TestRun:
    def test_by_hand(self, segbench, folders):
        (run,) = run_of(segbench, *folders, *ONE_PIXEL)
        assert [key for key in run["summary"] if key in KEYS] == KEYS
        assert {"area_pr_extended", "r50"} <= run["summary"].keys()
        # 18 of 24 ground-truth pixels, 18 of 18 predicted ones.
        assert run["summary"]["ods_recall"] == pytest.approx(0.75)
        assert run["summary"]["ods_precision"] == 1.0
        assert run["summary"]["ois_f"] == pytest.approx(6 / 7)
        assert run["summary"]["mean_image_f"] == pytest.approx((1 + 2 / 3) / 2)
        assert "max_dist:0.05|thresholds:99|thin:yes|nms:no" in run["signature"]

    def test_nms(self, segbench, folders):
        soft = np.zeros(SHAPE)
        soft[:, 3:8] = [0.4, 0.8, 1.0, 0.8, 0.4]
        write_folder(folders[1], {"near.png": (255 * soft).astype(np.uint8), "half.png": column(5)})
        every = ("--max-dist", "0", "--no-thin", "--thresholds", "0.1")
        (thick,) = run_of(segbench, *folders, *every)
        (thin,) = run_of(segbench, *folders, *every, "--nms", "1,0,1.01")
        assert thick["summary"]["ods_precision"] < thin["summary"]["ods_precision"]
        assert "|nms:1,0,1.01,smoothing 1|" in thin["signature"]


class TestRefused:
    def test_thresholds_on_the_scale_of_levels(self, segbench, folders):
        answer = segbench("boundaries", *folders, "--thresholds", "50,100,150")
        assert (answer.code, answer.out) == (1, "")
        insist(answer.error, "check-failed", findings=("range",))
        assert within(answer.error, "above-scores")["given"].value == (50, 100, 150)
        (advised,) = answer.error.settings
        assert [255 * threshold for threshold in advised.value] == pytest.approx([49.5, 99.5, 149.5], abs=0.02)
        typed = advised.written("options").split()
        assert segbench("boundaries", *folders, *typed, *ONE_PIXEL).code == 0

    @pytest.mark.parametrize(
        ("flags", "kind", "values"),
        [
            (("--void", "255"), "option-of-others", {"typed": "--void", "commands": WITH_VOID}),
            (("--calibration",), "option-of-others", {"typed": "--calibration", "commands": ("pixels", *RESULTS)}),
            (("--nms", "1,5"), "wrong-value", {"argument": Setting("nms", None), "value": "(1.0, 5.0)"}),
            (("--nms", "1.5,5,1.01"), "wrong-value", {"argument": "radius", "value": "1.5"}),
            (("--nms", "a,b,c"), "wrong-option", {"option": "--nms", "typed": "a,b,c"}),
            (("--nms", "1,5,-1"), "wrong-value", {"argument": "multiplier", "value": "-1"}),
            (("--thresholds", "0"), "wrong-value", {"argument": Setting("thresholds", None), "value": "0"}),
            (("--thresholds", "0.5,0.2"), "wrong-value", {"argument": Setting("thresholds", None)}),
            (("--thresholds", "many"), "wrong-option", {"option": "--thresholds", "typed": "many"}),
            (("--max-dist", "-1"), "wrong-value", {"argument": Setting("max_dist", None), "value": "-1"}),
            (("--max-dist", "nan"), "wrong-value", {"argument": Setting("max_dist", None), "value": "nan"}),
            (
                ("--positive", "1", "--label-maps"),
                "exclusive-settings",
                {"setting": Setting("positive", None), "other": Setting("label_maps", None)},
            ),
        ],
    )
    def test_wrong_options_are_exit_code_2(self, segbench, folders, flags, kind, values):
        answer = segbench("boundaries", *folders, *flags)
        assert (answer.code, answer.out) == (2, "")
        insist(answer.error, kind, **values)

    def test_where_every_image_fails_the_failures_are_listed(self, segbench, folders):
        write_folder(folders[1], {"near.png": column(6)[:5], "half.png": column(6)[:5]})
        kept = folders[0].parent / "r.segbench"
        answer = segbench("boundaries", *folders, "-o", kept, "--no-check")
        assert answer.code == 1
        plotted = segbench("plot", kept, "-o", kept.with_suffix(".svg"))
        assert plotted.code == 1
        insist(plotted.error, "no-image", path="pred")
        (run,) = json.loads(segbench("show", kept, "--format", "json").out)["runs"]
        assert (run["images"], run["failed"]) == (0, 2)
        assert answer.out.count(".png") >= 2


class TestExportAndImport:
    @pytest.fixture
    def results(self, segbench, folders, tmp_path):
        file = tmp_path / "r.segbench"
        assert segbench("boundaries", *folders, *ONE_PIXEL, "-o", file).code == 0
        return file

    def test_there_and_back(self, segbench, results, tmp_path):
        assert segbench("export", results, "--bsds", tmp_path / "out").code == 0
        names = {path.name for path in (tmp_path / "out").iterdir()}
        assert names == {"near_ev1.txt", "half_ev1.txt", "eval_bdry.txt", "eval_bdry_thr.txt", "eval_bdry_img.txt"}
        answer = segbench("import", tmp_path / "out", "--name", "theirs", "-o", results, "--format", "json")
        assert answer.code == 0
        assert "report" in answer.err.split()
        ours, theirs = json.loads(segbench("show", results, "--format", "json").out)["runs"]
        assert (ours["method"], theirs["method"]) == ("pred", "theirs")
        assert ours["summary"] == theirs["summary"]
        assert "|source:imported|" in theirs["signature"]
        rows = segbench("show", results, "--per-image", "--format", "csv").out.splitlines()
        assert [row["image"] for row in csv.DictReader(rows)] == ["half", "near", "half", "near"]

    @pytest.mark.slow
    def test_a_published_curve_stands_beside_ours(self, segbench, results, tmp_path):
        folder = tmp_path / "HED"
        folder.mkdir()
        (folder / "eval_bdry_thr.txt").write_text("0.25 0.8 0.6 0.685714\n0.75 0.6 0.8 0.685714\n")
        assert segbench("import", folder, "-o", results).code == 0
        _, published = json.loads(segbench("show", results, "--format", "json").out)["runs"]
        assert (published["images"], published["summary"]["ois_f"]) == (0, None)
        assert "not printed" in published["undefined"]["ois_f"]
        assert published["summary"]["ods_f"] == pytest.approx(0.7, abs=1e-4)
        for form in ("table", "csv", "markdown", "latex"):
            assert "HED" in segbench("show", results, "--format", form).out
        shown = segbench("show", results, "--per-image").out
        assert "HED: published without images, so metrics of images are unknown" in shown
        assert "near" in shown
        assert segbench("show", results, "--intervals", 95).code == 0
        assert segbench("plot", results, "-o", tmp_path / "pr.svg").code == 0
        drawn = (tmp_path / "pr.svg").read_text()
        assert drawn.index("HED") < drawn.index("F=.7000")
        roc = segbench("plot", results, "-o", tmp_path / "roc.svg", "--kind", "roc")
        assert roc.code == 2
        insist(roc.error, "no-plot", protocol="boundaries")
        assert segbench("export", results, "--bsds", tmp_path / "out").code == 0
        assert (tmp_path / "out" / "near_ev1.txt").exists()  # of the only method with counts

    def test_what_is_wrong_is_said(self, segbench, results, tmp_path):
        assert segbench("export", results).code == 2
        assert segbench("import", tmp_path / "nowhere", "-o", results).code == 1
        pixels = tmp_path / "pixels.segbench"
        assert segbench("pixels", *write_papers(tmp_path / "papers"), "-o", pixels).code == 0
        answer = segbench("export", pixels, "--bsds", tmp_path / "out")
        assert answer.code == 2
        insist(answer.error, "no-official-files")
        assert not (tmp_path / "out").exists()


@pytest.fixture
def half_failed(segbench, folders, tmp_path):
    """Keep a sound method and one whose images are all of another size."""
    kept = tmp_path / "r.segbench"
    small = write_folder(tmp_path / "small", {name: column(5)[:4] for name in ("near.png", "half.png")})
    assert segbench("boundaries", *folders, small, *ONE_PIXEL, "--no-check", "-o", kept).code == 1
    return kept


def test_a_method_that_failed_keeps_no_other_from_being_exported(segbench, half_failed, tmp_path):
    answer = segbench("export", half_failed, "--bsds", tmp_path / "official")
    assert answer.code == 0, answer.err
    assert answer.err.startswith("small: ")
    assert (tmp_path / "official" / "near_ev1.txt").exists()


def test_export_of_some_runs_alone(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    assert segbench("boundaries", *folders, *ONE_PIXEL, "-o", kept).code == 0
    assert segbench("pixels", *folders, "-o", kept).code == 0
    assert segbench("export", kept, "--bsds", tmp_path / "out", "--only", "protocol:pixels").code == 2
    assert segbench("export", kept, "--bsds", tmp_path / "out", "--only", "protocol:boundaries").code == 0


def test_the_human_point_of_one_annotator_is_undefined_wherever_it_is_shown(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    answer = segbench("boundaries", *folders, *ONE_PIXEL, "--human", "-o", kept)
    assert answer.code == 1
    human = json.loads(segbench("show", kept, "--format", "json").out)["runs"][-1]
    assert (human["method"], set(human["undefined"].values())) == ("human", {"no boundaries of two annotators"})
    for kind in ("pr", "f", "images"):
        assert segbench("plot", kept, "--kind", kind, "-o", tmp_path / f"{kind}.png").code == 0
    assert segbench("show", kept, "--intervals", "95").code == 0
    assert segbench("report", kept, "-o", tmp_path / "r.html").code == 0
    assert segbench("export", kept, "--bsds", tmp_path / "official").code == 0

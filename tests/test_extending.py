"""What docs/extending.md adds: from outside the package, and by its diffs, applied to a copy of segbench."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import imageio.v3 as iio
import matplotlib.pyplot as plt
import numpy as np
import pytest
from refusing import refused
from scipy.ndimage import gaussian_filter

from segbench import ArgumentError, ScoreCounts, count, evaluate
from segbench.core.metric import Metric
from segbench.core.table import CountsTable
from segbench.report import plots
from segbench.report.plots.kinds import KINDS
from segbench.report.plots.saving import save_plot
from segbench.statistics.intervals import intervals

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "datasets/demo/objects"
PAGE = (ROOT / "docs/extending.md").read_text("utf-8")
MATTING = (ROOT / "docs/matting.md").read_text("utf-8")


DIFFS = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PROTOCOLS = {"found_objects": "found_objects_benchmark:FoundObjects", "specific": "specific_benchmark:Specific"}


def typed(first, last):
    """Return the code of the page that is typed from one line to another."""
    code = re.sub(r"^(>>>|\.\.\.) ?", "", PAGE[PAGE.index(first) : PAGE.index(last)], flags=re.MULTILINE)
    return code.replace("```python", "").replace("```", "")


def module_of(page):
    """Return the source of the module that a page saves."""
    typed_in = re.search(r"module = '''\n(.*?)^\.\.\. '''$", page, re.DOTALL | re.MULTILINE)[1]
    return re.sub(r"^\.\.\. ?", "", typed_in, flags=re.MULTILINE)


def modules_of_the_page():
    """Return the source of the page's modules by name."""
    return {
        "found_objects_benchmark": module_of(PAGE),
        "specific_benchmark": typed(">>> from dataclasses import", ">>> demo ="),
    }


def apply_diff(diff, root):
    """Apply a diff without line numbers: each hunk lies behind its anchor, and what it replaces is there once."""
    for old_path, path, hunks in re.findall(r"^--- (.*)\n\+\+\+ b/(.*)\n((?:(?!--- ).*\n)*)", diff, re.MULTILINE):
        if old_path == "/dev/null":
            (root / path).write_text(without("-", hunks), "utf-8")
            continue
        text = (root / path).read_text("utf-8")
        for anchor, lines in re.findall(r"^@@ (.*)\n((?:(?!@@).*\n)+)", hunks, re.MULTILINE):
            assert text.count(anchor) == 1, f"{path}: {text.count(anchor)} lines have {anchor!r}"
            before, _, after = text.partition(anchor)
            replaced = without("+", lines)
            assert after.count(replaced) == 1, (
                f"{path}: these lines are there {after.count(replaced)} times:\n{replaced}"
            )
            text = before + anchor + after.replace(replaced, without("-", lines))
        (root / path).write_text(text, "utf-8")


def without(sign, lines):
    """Return the lines of a hunk that it keeps, and adds or removes, without those of a sign."""
    return "".join(line[1:] or "\n" for line in lines.splitlines(keepends=True) if line[0] != sign)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Apply all diffs of the page to a copy of segbench, and return what runs it in a process of its own."""
    root = tmp_path_factory.mktemp("changed")
    shutil.copytree(ROOT / "segbench", root / "segbench")  # with what is compiled
    for name, source in modules_of_the_page().items():
        (root / f"{name}.py").write_text(source, "utf-8")
    metadata = root / "found_objects_benchmark-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: found-objects-benchmark\nVersion: 1.0\n")
    listed = "".join(f"{name} = {place}\n" for name, place in PROTOCOLS.items())
    (metadata / "entry_points.txt").write_text(f"[segbench.protocols]\n{listed}")
    for diff in DIFFS:
        apply_diff(diff, root)

    def printed(*arguments, code=0):
        command = [sys.executable, "-m", "segbench", *map(str, arguments)]
        answer = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": str(root)}, cwd=root, capture_output=True, text=True, check=False
        )
        assert answer.returncode == code, answer.stderr
        return answer.stderr if code else answer.stdout

    return printed


def measured(printed):
    """Return the only run that JSON shows."""
    (run,) = json.loads(printed)["runs"]
    return run


@pytest.fixture
def folders(tmp_path):
    """Write a label map, with a third class that neither side holds, and a prediction."""
    for side, labels in (("gt", [[0, 0, 1, 1]]), ("pred", [[0, 1, 1, 1]])):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / "a.npy", np.array(labels, np.uint8))
    return tmp_path / "gt", tmp_path / "pred"


@pytest.mark.slow
def test_the_diff_of_a_metric_shows_it_for_the_set_and_each_image(changed, folders, tmp_path):
    changed("pixels", *folders, "-o", tmp_path / "r.segbench")
    run = measured(changed("show", tmp_path / "r.segbench", "--per-image", "--format", "json"))
    assert (
        run["summary"]["balanced_accuracy"] == run["per_image"]["a"]["balanced_accuracy"] == 0.75
    )  # recall 1, spec .5


def test_the_diff_of_a_setting_of_counting_shows_it_in_help_and_signature(changed, folders):
    assert "--first-annotator" in changed("regions", "--help")
    assert (
        measured(changed("regions", *folders, "--first-annotator", "--format", "json"))["settings"]["annotators"]
        == "first"
    )


@pytest.mark.slow
def test_the_diff_of_a_setting_of_measuring_measures_what_was_counted(changed, folders, tmp_path):
    kept, merged = tmp_path / "r.segbench", tmp_path / "merged.segbench"
    command = ("labels", *folders, "--classes", "0-2", "-o", kept, "--format", "json")
    plain = measured(changed(*command))
    zero = measured(changed("show", kept, "--absent", "zero", "--format", "json"))
    assert plain["summary"]["miou"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert zero["summary"]["miou"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert zero["settings"] == plain["settings"] | {"absent": "zero"}
    assert measured(changed(*command, "--absent", "zero"))["summary"] == zero["summary"]  # counts nothing again
    changed("merge", kept, "-o", merged)
    assert measured(changed("show", merged, "--format", "json"))["summary"] == zero["summary"]


@pytest.mark.slow
def test_the_diff_of_a_setting_of_measuring_reaches_a_protocol_of_ones_own(changed, tmp_path):
    kept = tmp_path / "r.segbench"
    changed("found_objects", DEMO / "ground_truth", DEMO / "predictions" / "random_walker", "-o", kept)
    weighted = "b=" + str(DEMO / "predictions" / "random_walker")
    changed("found_objects", DEMO / "ground_truth", weighted, "--beta", "3", "-o", kept)
    run, _ = json.loads(changed("show", kept, "--beta", "2", "--format", "json"))["runs"]
    precision, recall = (run["summary"][key] for key in ("object_precision", "object_recall"))
    assert run["summary"]["object_f"] == pytest.approx(5 * precision * recall / (4 * precision + recall))
    assert run["settings"]["beta"] == "2"
    assert "but beta is 1 in random_walker, 3 in b;" in changed("compare", kept, code=2)


@pytest.mark.slow
def test_the_diff_of_a_plot_kind_offers_and_draws_it(changed, folders, tmp_path):
    changed("pixels", *folders, "-o", tmp_path / "r.segbench")
    changed("plot", tmp_path / "r.segbench", "--kind", "gap", "-o", tmp_path / "gap.svg")
    assert "from ODS to OIS" in (tmp_path / "gap.svg").read_text()


def test_the_diff_of_a_format_reads_it(changed, tmp_path):
    for side in ("gt", "pred"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.map").write_bytes(bytes(np.tri(64, dtype=np.uint8)))
    assert measured(changed("labels", tmp_path / "gt", tmp_path / "pred", "--format", "json"))["summary"]["iou"] == 1


def test_the_diff_of_a_rule_finds_what_it_says(changed, tmp_path):
    for side, suffix in (("gt", "png"), ("pred", "jpg")):
        (tmp_path / side).mkdir()
        for name in ("camera", "coins"):
            drawn = DEMO / ("ground_truth" if side == "gt" else "predictions/random_walker") / f"{name}.png"
            iio.imwrite(tmp_path / side / f"{name}.{suffix}", iio.imread(drawn))
    (report,) = json.loads(changed("check", tmp_path / "gt", tmp_path / "pred", "--format", "json"))["reports"]
    assert [finding["text"] for finding in report["findings"] if finding["kind"] == "lossy-scores"] == [
        "2 predictions of 2 inspected are stored with loss: scores are not as computed"
    ]


@pytest.fixture
def run(segbench, install):
    """Run segbench beside an installed package that adds the protocols of the page."""
    install(PROTOCOLS, **modules_of_the_page())

    def printed(*arguments):
        answer = segbench(*arguments)
        assert answer.code == 0, answer.err
        return answer.out

    return printed


@pytest.mark.parametrize(
    ("protocol", "options", "key"),
    [("found_objects", ["--overlap", "0.3"], "object_f"), ("specific", [], "specificity")],
)
def test_a_protocol_from_outside_goes_all_the_way(run, tmp_path, protocol, options, key):
    kept, page = tmp_path / "r.segbench", tmp_path / "report.html"
    predictions = [DEMO / "predictions" / name for name in ("random_walker", "soft_otsu")]
    shown = run(protocol, DEMO / "ground_truth", *predictions, *options, "-o", kept)
    assert "random_walker" in shown
    runs = json.loads(run("show", kept, "--format", "json", "--per-image"))["runs"]
    assert [one["protocol"] for one in runs] == [protocol] * 2
    assert 0 < runs[0]["summary"][key] <= 1
    assert 0 <= runs[0]["per_image"]["coins"][key] <= 1
    answers = json.loads(run("compare", kept, "--metrics", key, "--format", "json"))["answers"]
    ((row,),) = [answer["differences"] for answer in answers if answer["metric"] == key]
    assert row["difference"] == pytest.approx(runs[0]["summary"][key] - runs[1]["summary"][key])
    assert "soft_otsu" in run("compare", kept, "--metrics", key, "--replicates", "20")
    run("report", kept, "-o", page)
    assert f"<code>protocol:{protocol}|" in page.read_text("utf-8")


def test_a_metric_of_ones_own_stands_beside_those_of_settings(run, tmp_path):
    places = DEMO / "ground_truth", DEMO / "predictions" / "random_walker"
    for verb in ("specific", "pixels"):
        run(verb, *places, "--at", "0.5", "--calibration", "-o", tmp_path / "r.segbench")
    own, plain = json.loads(run("show", tmp_path / "r.segbench", "--per-image", "--format", "json"))["runs"]
    assert own["summary"].pop("specificity") == pytest.approx(0.8711, abs=1e-4)
    assert own["per_image"]["coins"].pop("specificity") == pytest.approx(0.9879, abs=1e-4)
    assert own["summary"] == plain["summary"]
    assert own["per_image"]["coins"] == plain["per_image"]["coins"]


def test_states_alone_give_overlays(run, tmp_path):
    run("found_objects", DEMO / "ground_truth", DEMO / "predictions" / "soft_otsu", "-o", tmp_path / "r.segbench")
    run("overlay", tmp_path / "r.segbench", "--image", "coins", "-o", tmp_path / "out")
    (picture,) = (tmp_path / "out").rglob("coins.png")
    colours = plt.imread(picture)
    assert np.unique(colours.reshape(-1, colours.shape[-1]), axis=0).shape[0] == 4  # true, false, missed, and the rest


@pytest.fixture
def matting(segbench, install, tmp_path, monkeypatch):
    """Install the protocol of docs/matting.md, draw its mattes, and return what runs segbench beside them."""
    (listed,) = re.findall(r"^```toml\n(.*?)^```", MATTING, re.DOTALL | re.MULTILINE)
    install(
        tomllib.loads(listed)["project"]["entry-points"]["segbench.protocols"], matting_benchmark=module_of(MATTING)
    )
    monkeypatch.chdir(tmp_path)
    for side, blur in {"mattes": 2, "wide": 3, "narrow": 1}.items():
        (tmp_path / side).mkdir()
        for name in ("camera", "coins", "horse"):
            mask = np.where(iio.imread(DEMO / f"ground_truth/{name}.png") > 0, 255.0, 0.0)
            iio.imwrite(tmp_path / side / f"{name}.png", np.rint(gaussian_filter(mask, blur)).astype(np.uint8))

    def ran(*arguments, code=0):
        answer = segbench(*arguments)
        assert answer.code == code, answer.out + answer.err
        return answer

    return ran


def matte_errors(folder, method):
    """Compute SAD and MSE of each image as the field defines them."""
    errors = []
    for path in sorted((folder / "mattes").iterdir()):
        alpha, predicted = (iio.imread(file) / 255 for file in (path, folder / method / path.name))
        unknown = (alpha > 0) & (alpha < 1)
        errors.append((abs(predicted - alpha)[unknown].sum() / 1000, ((predicted - alpha)[unknown] ** 2).mean()))
    return np.mean(errors, axis=0)


def test_the_protocol_with_inputs_of_its_own_runs_in_every_verb(matting, tmp_path):
    (commands,) = re.findall(r"^```sh\n(.*?)^```", MATTING, re.DOTALL | re.MULTILINE)
    printed = {command: matting(*command.split()[1:]).out for command in commands.splitlines()}
    assert "nothing found" in printed["segbench check matting mattes wide narrow"]
    for file in ("results", "merged"):
        runs = json.loads(matting("show", f"{file}.segbench", "--format", "json").out)["runs"]
        for run in runs:
            assert list(run["summary"].values()) == pytest.approx(matte_errors(tmp_path, run["method"]))
    assert json.loads(matting("matting", "mattes", "wide", "-j", "1", "--format", "json").out)["runs"][0] == runs[0]
    assert "without pictures" in matting("overlay", "results.segbench", "-o", "overlays", code=1).err
    assert (
        "no precision-recall curve" in matting("plot", "results.segbench", "--kind", "pr", "-o", "pr.svg", code=2).err
    )


def as_mask(levels):
    return np.where(levels > 127, 255, 0).astype(np.uint8)


def shares_with_nan(levels, where):
    return np.where(where(levels), np.nan, levels / 255)


@pytest.mark.parametrize(
    ("side", "change", "kind"),
    [
        ("mattes", as_mask, "not-countable"),
        ("mattes", lambda levels: levels.astype(np.float32), "not-countable"),
        ("mattes", lambda levels: levels / 255, ""),
        ("wide", lambda levels: levels.astype(np.float32), "range"),
        ("wide", lambda levels: shares_with_nan(levels, lambda of: of == 7), "not-finite"),
        ("wide", lambda levels: shares_with_nan(levels, lambda of: of == 0), ""),  # where nothing is unknown
        ("wide", lambda levels: 255 - levels, "inverted"),
        ("wide", as_mask, "few-levels"),
        ("wide", lambda levels: as_mask(levels) // 255, "levels-unscaled"),
        ("wide", lambda levels: levels * 0, "constant"),
    ],
    ids=["masks", "to-255", "shares", "scores-to-255", "nan", "nan-elsewhere", "inverted", "cut", "ones", "zero"],
)
def test_check_knows_the_inputs_of_ones_own(matting, tmp_path, side, change, kind):
    for path in (tmp_path / side).glob("*.png"):
        np.save(path.with_suffix(".npy"), change(iio.imread(path)))
        path.unlink()
    refused = int(kind in ("not-countable", "range", "not-finite"))
    (report,) = json.loads(matting("check", "matting", "mattes", "wide", "--format", "json", code=refused).out)[
        "reports"
    ]
    assert [finding["kind"] for finding in report["findings"]] == [kind] * bool(kind)
    assert report["errors"] == bool(refused)
    matting("matting", "mattes", "wide", "--no-check", "-j", "1", code=refused)


def test_counts_of_ones_own_are_measured_alone(install):
    install({"found_objects": "found_objects_benchmark:FoundObjects"}, **modules_of_the_page())
    counted = count(np.eye(4), np.eye(4), "found_objects")
    assert counted.metrics()["object_f"] == 1


def test_the_plot_kind_of_the_page_draws_and_names_another_kind(monkeypatch, tmp_path):
    added = re.search(r"^\+\+\+ b/segbench/report/plots/gap\.py\n((?:\+.*\n)+)", PAGE, re.MULTILINE)[1]
    (tmp_path / "gap.py").write_text(re.sub(r"^\+", "", added, flags=re.MULTILINE))
    monkeypatch.setattr(plots, "__path__", [*plots.__path__, str(tmp_path)])
    monkeypatch.setitem(KINDS, "gap", ("gap", "from ODS to OIS"))
    save_plot([evaluate({"a": (np.eye(4), np.eye(4) + np.tri(4))})], tmp_path / "a.svg", kind="gap")
    assert "from ODS to OIS" in (tmp_path / "a.svg").read_text()
    with refused("no-ois", ArgumentError, protocol="labels"):
        save_plot([evaluate({"a": (np.eye(4), np.eye(4))}, protocol="labels")], tmp_path / "b.svg", kind="gap")


def test_a_metric_that_leaves_its_range_is_named():
    class Percent(CountsTable[ScoreCounts]):
        metrics = (Metric(key="share", range=(0, 1)),)
        counts = ScoreCounts

        @property
        def columns(self):
            return {"images": np.ones(self.images)}

        def formulas(self, of):
            return {"share": 50 * of["images"]}

    table = Percent([{"a": ScoreCounts([1.0], [1], [0])}])
    for measure in (table.summary, lambda: intervals(table)):
        with refused("outside-range", ArgumentError, metric="share", value=50, low=0, high=1):
            measure()

"""The protocol and the metric of docs/extending.md, from outside the package, by the command line."""

import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from segbench import ArgumentError, ScoreCounts, evaluate
from segbench.core.metric import Metric
from segbench.core.table import CountsTable
from segbench.report import plots
from segbench.report.plots.kinds import KINDS
from segbench.report.plots.saving import save_plot
from segbench.statistics.intervals import intervals

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "datasets/demo/objects"
PAGE = (ROOT / "docs/extending.md").read_text("utf-8")


def typed(first, last):
    """Give the code of the page that is typed from one line to another."""
    code = re.sub(r"^(>>>|\.\.\.) ?", "", PAGE[PAGE.index(first) : PAGE.index(last)], flags=re.MULTILINE)
    return code.replace("```python", "").replace("```", "")


@pytest.fixture
def run(segbench, install):
    """Run segbench beside an installed package that adds the protocols of the page."""
    protocol = re.search(r"module = '''\n(.*?)^\.\.\. '''$", PAGE, re.DOTALL | re.MULTILINE)[1]
    install(
        {"found_objects": "found_objects_benchmark:FoundObjects", "specific": "specific_benchmark:Specific"},
        found_objects_benchmark=re.sub(r"^\.\.\. ?", "", protocol, flags=re.MULTILINE),
        specific_benchmark=typed(">>> from dataclasses import", ">>> demo ="),
    )

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


def test_the_plot_kind_of_the_page_draws_and_names_another_kind(monkeypatch, tmp_path):
    added = re.search(r"^\+\+\+ b/segbench/report/plots/gap\.py\n((?:\+.*\n)+)", PAGE, re.MULTILINE)[1]
    (tmp_path / "gap.py").write_text(re.sub(r"^\+", "", added, flags=re.MULTILINE))
    monkeypatch.setattr(plots, "__path__", [*plots.__path__, str(tmp_path)])
    monkeypatch.setitem(KINDS, "gap", ("gap", "from ODS to OIS"))
    save_plot([evaluate({"a": (np.eye(4), np.eye(4) + np.tri(4))})], tmp_path / "a.svg", kind="gap")
    assert "from ODS to OIS" in (tmp_path / "a.svg").read_text()
    with pytest.raises(ArgumentError, match="labels has no OIS; draw each image: plot_images"):
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
        with pytest.raises(ArgumentError, match="share is 50, expected 0 to 1"):
            measure()

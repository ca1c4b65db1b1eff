"""Protocols of one's own, without a curve and with one: tables, plots and the page need no change."""

import re
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import ClassVar

import matplotlib as mpl
import numpy as np
import pytest
from cases import write_folder
from pages import embedded, write_page
from refusing import refused

from segbench import Result, evaluate, plot, plot_images, plot_pr, plot_roc
from segbench.cli.printing import print_results
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric, Summary
from segbench.core.protocol import Counted, Protocol, Published
from segbench.core.sample import Reading
from segbench.core.series import Series
from segbench.core.table import Table
from segbench.loaders.reading import MASKS
from segbench.protocols import registry
from segbench.report.documents import json_document
from segbench.report.plots.saving import save_plot
from segbench.report.tables import TableSettings, threshold_table

CUTS = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True, eq=False)
class Hits(Counts):
    kind: ClassVar[str] = "hits"

    hits: np.ndarray
    pixels: int

    @classmethod
    def sum(cls, counts):
        counts = list(counts)
        return cls(np.sum([one.hits for one in counts], axis=0), sum(one.pixels for one in counts))

    @property
    def ground_truth(self):
        return f"{self.pixels} pixels"


@dataclass(frozen=True, eq=False)
class AccuracyCurve(Series):
    measure: ClassVar[str] = "accuracy"

    accuracy: np.ndarray

    @property
    def columns(self):
        return {"threshold": CUTS, "accuracy": self.accuracy}

    @property
    def caption(self):
        return f"accuracy {self.accuracy.max():.2f}"


class SpacedCurve(AccuracyCurve):
    @property
    def columns(self):
        rates = {"recall": np.array([1.0, 0.6, 0.2]), "precision": np.array([0.3, 0.6, 0.9])}
        return {**super().columns, **rates, "fpr": rates["precision"][::-1], "tpr": rates["recall"]}

    @property
    def spaces(self):
        return ("pr", "roc")


class AccuracyTable(Table):
    def __init__(self, sets, protocol):
        self.metrics = protocol.metrics()
        self._counts = [images[name] for images in sets for name in sorted(images)]
        self._draw = protocol.draw

    @property
    def columns(self):
        return {
            "hits": np.array([one.hits for one in self._counts]),
            "pixels": np.array([[one.pixels] for one in self._counts]),
        }

    def formulas(self, of):
        return {"accuracy": (of["hits"] / of["pixels"]).max(axis=1)}

    @property
    def curve(self):
        total = Hits.sum(self._counts)
        return self._draw and self._draw(total.hits / total.pixels)


@dataclass(frozen=True)
class Accuracy(Protocol):
    name: ClassVar[str] = "accuracy"
    reads: ClassVar[Reading] = MASKS
    counts: ClassVar[type] = Hits
    title: ClassVar[str] = "The share of pixels that are right."

    draw: ClassVar[type[Series] | None] = None

    def metrics(self):
        return (
            Metric(key="accuracy", title="ACC", better="higher", image_key="accuracy", headline=True, compared=True),
        )

    def count(self, sample):
        truth, scores = sample.ground_truths[0] > 0, sample.predictions[0]
        return Counted(Hits(np.array([np.sum((scores >= cut) == truth) for cut in CUTS]), truth.size))

    def table(self, *sets):
        return AccuracyTable(sets, self)

    def signature_fields(self):
        return {}


class WithCurve(Accuracy):
    draw = AccuracyCurve


class WithSpacedCurve(Accuracy):
    draw = SpacedCurve


class Printed(Published):
    summary = Summary({"accuracy": 0.75})

    def to_json(self):
        return "{}"


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    entry = SimpleNamespace(name="accuracy", value="own:Accuracy", load=lambda: Accuracy)
    monkeypatch.setattr(registry, "added_protocols", lambda: (entry,))
    for cached in (registry.protocols, registry.counts_types):
        cached.cache_clear()
    with mpl.rc_context({"backend": "agg"}):
        yield
    for cached in (registry.protocols, registry.counts_types):
        cached.cache_clear()


@pytest.fixture
def counted(tmp_path):
    random = np.random.default_rng(0)
    truth = random.random((2, 8, 8)) > 0.6
    gt = write_folder(tmp_path / "gt", {f"{k}.png": truth[k].astype(np.uint8) * 255 for k in range(2)})
    pred = write_folder(tmp_path / "pred", {f"{k}.npy": (truth[k] + random.random((8, 8))) / 2 for k in range(2)})

    def run(kind=Accuracy, **more):
        return evaluate(gt, pred, kind(), **more)

    return run


def test_without_a_curve_the_command_line_goes_on(segbench, counted, tmp_path):
    file = tmp_path / "r.segbench"
    counted(results=file)
    assert "ACC" in segbench("show", file).out
    answer = segbench("show", file, "--per-threshold")
    assert (answer.code, answer.out) == (2, "")
    assert segbench("report", file, "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.findall(r'data-kind="(.*?)"', page) == ["answer", "images"]
    assert segbench("plot", file, "-o", tmp_path / "images.png").code == 0
    assert segbench("plot", file, "-o", tmp_path / "f.png", "--kind", "f").code == 2


def test_without_a_curve_plots_say_what_can_be_drawn(counted):
    result = counted()
    assert result.curve is None
    for draw in (plot_pr, plot_roc, partial(plot, kind="f")):
        with refused("no-plot", ArgumentError, settings={"kind": "images"}, protocol="accuracy"):
            draw(result)
    assert plot_images(result).get_xlabel() == "ACC of each image"
    assert "<table>" in result._repr_html_()


def test_a_method_without_a_curve_stands_beside_one_with(counted, tmp_path):
    known = counted(WithCurve, method="counted")
    printed = Result("printed", Accuracy(), {}, known.signature, {}, published=Printed())
    table = threshold_table([known, printed]).text()
    assert len(table.rows) == 3
    (note,) = table.notes
    assert (note.kind, note.written()) == ("no-curve", "printed: no curve is known")
    assert len(threshold_table([known, printed], every=True).rows) == 3
    assert '"per_threshold": {}' in json_document([known, printed], TableSettings(rows="threshold"))
    (shown,) = embedded(write_page(tmp_path, [known, printed]).read_text("utf-8"), "data-")
    assert [bool(readings) for readings in shown["readings"]] == [True, False]


def test_its_own_curve_is_in_tables_plots_and_the_page(counted, tmp_path, capsys):
    result = counted(WithCurve)
    table = threshold_table([result]).text()
    assert table.header == ["method", "threshold", "accuracy"]
    assert [row for row, mark in table.marks.items() if mark == "best"] == [(int(result.curve.accuracy.argmax()), 2)]
    print_results([result], "csv", rows="threshold")
    assert capsys.readouterr().out.startswith("method,threshold,accuracy\n")
    ax = plot(result, "f")
    assert (ax.get_ylabel(), ax.lines[0].get_xdata().tolist()) == ("ACC", CUTS.tolist())
    save_plot([result], tmp_path / "own.png")
    with refused("no-plot", ArgumentError, settings={"kind": "f"}):
        plot_pr(result)
    (shown,) = embedded(write_page(tmp_path, [result]).read_text("utf-8"), "data-")
    assert shown["readings"][0]["accuracy"] == pytest.approx(result.curve.accuracy, rel=1e-5)


def test_its_own_curve_in_spaces_is_drawn_there(counted, tmp_path):
    result = counted(WithSpacedCurve)
    ax = plot_pr(result)
    assert ax.lines[-1].get_xdata().tolist() == [1.0, 0.6, 0.2]
    assert ax.get_legend_handles_labels()[1][0].startswith("[ACC=")
    assert plot_roc(result).get_xlabel() == "False positive rate"
    page = write_page(tmp_path, [result]).read_text("utf-8")
    (shown,) = embedded(page, "data-")
    assert shown["readings"][0]["recall"] == shown["readings"][0]["tpr"] == [1.0, 0.6, 0.2]
    assert re.findall(r'data-kind="(.*?)"', page) == ["answer", "pr", "roc", "threshold-accuracy", "images"]

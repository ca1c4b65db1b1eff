"""Presets name the metrics that papers print of a data set: the first columns of a run."""

import numpy as np
import pytest
from click.testing import CliRunner
from loaders.test_object_presets import write

import segbench
from segbench.cli.benchmark import option_names
from segbench.cli.commands import app
from segbench.cli.data import defaults_of
from segbench.protocols.registry import protocols_of

TRUTH = np.zeros((24, 32), np.uint8)
TRUTH[6:18, 8:24] = 255


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def columns_of(markdown):
    """Return the columns of a table in Markdown."""
    return [column.strip().replace("\\", "") for column in markdown.splitlines()[0].strip("|").split("|")]


@pytest.fixture
def shadows(tmp_path):
    write(tmp_path / "root/test_B/1-1.png", TRUTH)
    write(tmp_path / "pred/1-1.png", np.roll(TRUTH, 2, axis=0))
    return tmp_path / "root", tmp_path / "pred"


def test_they_come_first(shadows):
    columns = columns_of(run("run", "istd", *shadows, "--format", "markdown").stdout)
    assert columns[:4] == ["method", "BER", "R", "spec"]
    assert columns.count("BER") == 1
    assert "IoU" in columns[4]


def test_other_runs_are_printed_as_before(shadows):
    root, predictions = shadows
    header = run("labels", root / "test_B", predictions, "--positive", ">=128", "--format", "markdown").stdout
    assert header.split("|")[2].strip() == "IoU"


def test_metrics_without_a_column_are_called_by_their_keys(tmp_path):
    write(tmp_path / "root/masks/1.png", TRUTH)
    write(tmp_path / "pred/1.png", TRUTH)
    columns = columns_of(run("run", "etis", tmp_path / "root", tmp_path / "pred", "--format", "markdown").stdout)
    assert columns[1:5] == ["mean_dice", "mean_iou", "Fw", "S"]
    assert "specificity_max" in columns


@pytest.mark.parametrize("name", [name for name, preset in segbench.presets().items() if preset.columns])
def test_columns_are_metrics(name):
    preset = segbench.load_preset(name)
    for verb, keys in preset.columns.items():
        known = {metric.key for protocol in measuring(preset, verb) for metric in protocol.metrics()}
        assert not set(keys) - known


def measuring(preset, verb):
    """Return the protocols of a verb under the options of a preset that decide which metrics there are."""
    kinds = {"kind": preset.options["kind"]} if verb == "objects" else {}
    kinds |= {"sequences": True} if preset.options.get("sequences") else {}
    assert defaults_of(preset, verb, option_names)
    return [protocol(**kinds) for protocol in protocols_of(verb)[:1]]


@pytest.mark.parametrize("year", ["2016", "2017"])
def test_davis_fits_its_layout(tmp_path, year):
    for frame in range(4):
        truth = np.roll(TRUTH, frame, axis=1) if year == "2016" else np.roll(TRUTH, frame, axis=1) // 255
        for place in ("root/Annotations/480p", "pred"):
            write(tmp_path / place / f"blackswan/{frame:05}.png", truth)
    places = tmp_path / "root", tmp_path / "pred"
    ended = run("run", f"davis-{year}", *places, "-o", tmp_path / "r.segbench", "--format", "markdown")
    assert ended.exit_code == 0, ended.output
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert [result.summary[key] for key in ("j_and_f", "j", "f_davis")] == [1, 1, 1]
    assert columns_of(ended.stdout)[1:4] == ["J&amp;F", "J mean", "J recall"]


def test_wrong_columns(tmp_path, shadows):
    preset = tmp_path / "mine.toml"
    start = 'source = "files"\nprotocols = ["labels"]\n[layout]\nground_truth = ["test_B"]\n[columns]\n'
    preset.write_text(start + 'labels = ["iou", "wiou"]\n')
    ended = run("run", preset, *shadows, "--positive", ">=128", "--format", "markdown")
    assert ended.exit_code == 0
    assert "holds wiou, which this run lacks" in ended.stderr
    assert columns_of(ended.stdout)[1:3] == ["IoU", "Dice"]
    preset.write_text(start + 'pixels = ["ods_f"]\n')
    assert run("run", preset, *shadows).exception.kind == "wrong-preset"


def test_they_are_described():
    assert "dice_images, iou_images" in run("run", "kvasir-seg", "--info").stdout

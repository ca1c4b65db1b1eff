"""Every option of every command is given values that are none; the example in the message can be given instead."""

import re

import click
import numpy as np
import pytest
from cases import write_folder

from segbench.cli.command import CommandGroup
from segbench.cli.commands import app

MALFORMED = ("0.5x0.7", "abc", "-1")
COUNTING = ("pixels", "labels", "boundaries", "regions", "contours", "saliency", "anomalies", "centerlines", "objects")
OF_RESULTS = ("show", "compare", "plot", "report", "overlay", "export", "import", "merge")
COMMANDS = (*COUNTING, *OF_RESULTS, "nms", "verify", "demo")
PLACES = {  # what is typed before the option
    "show": ("{results}",),
    "compare": ("{results}", "--against", "a"),
    "plot": ("{results}", "-o", "{new}/plot.png"),
    "report": ("{results}", "-o", "{new}/page.html"),
    "overlay": ("{results}", "-o", "{new}/overlays"),
    "export": ("{results}", "--bsds", "{new}/export"),
    "import": ("{gt}", "-o", "{new}/imported.segbench"),
    "merge": ("{results}", "-o", "{new}/merged.segbench"),
    "nms": ("{pred}", "{new}/thin"),
    "verify": (),
    "demo": ("-o", "{new}/demo"),
}
BESIDE = {  # without which an option has no meaning
    ("labels", "--background"): ("--classes", "0-1"),
    ("contours", "--background"): ("--classes", "0-1"),
    ("contours", "--gt-map"): ("--classes", "0-1"),
    ("contours", "--pred-map"): ("--classes", "0-1"),
    ("objects", "--things"): ("--kind", "panoptic", "--divisor", "1000", "--classes", "0-31"),
    ("objects", "--divisor"): ("--kind", "panoptic"),
    ("objects", "--classes"): ("--kind", "panoptic", "--divisor", "1000"),
    ("show", "--sort"): ("--per-image",),
    **{("objects", each): ("--kind", "components") for each in ("--at", "--positive", "--min-true", "--min-predicted")},
    ("objects", "--hit-iou"): ("--kind", "components", "--at", "0.5"),
    ("objects", "--connectivity"): ("--kind", "components"),
    ("objects", "--dilate"): ("--kind", "components", "--min-size", "2"),
    ("objects", "--spacing"): ("--kind", "components", "--min-size", "2"),
}
WRITES = ("--output", "--dask", "--bsds", "--title", "--against")
"""Options that take any text, and those that another in `PLACES` is."""
_EXAMPLE = re.compile(r"(?:as in|write|such as|\(as) (?:--[a-z-]+ )?([^\s;:()]*\d[^\s;:()]*)")


def options_of(verb):
    with click.Context(app, info_name="segbench") as context:
        command = app.get_command(context, verb)
        assert not isinstance(command, CommandGroup)
    valued = [each for each in command.params if isinstance(each, click.Option) and not each.is_flag]
    return [each.opts[-1] for each in valued if each.opts[-1] not in WRITES]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A ground truth, predictions and a results file of two methods."""
    from segbench import evaluate

    root = tmp_path_factory.mktemp("malformed")
    mask = np.zeros((12, 16), np.uint8)
    mask[3:8, 4:11] = 1
    gt, pred = (write_folder(root / name, {"a.png": mask, "b.png": mask}) for name in ("gt", "pred"))
    results = root / "r.segbench"
    for method in ("a", "b"):
        evaluate(gt, pred, method=method, results=results)
    (root / "new").mkdir()
    return {"gt": gt, "pred": pred, "results": results, "new": root / "new"}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_value_that_is_none_is_said_at_once_and_the_example_can_be_given(segbench, places, verb, monkeypatch):
    monkeypatch.chdir(places["new"])  # where no file has the name of a value
    typed = [word.format(**places) for word in PLACES.get(verb, ("{gt}", "{pred}"))]
    for option in options_of(verb):
        beside = BESIDE.get((verb, option), ())
        for value in MALFORMED:
            answer = segbench(verb, *typed, *beside, f"{option}={value}")
            assert answer.code in (0, 1, 2), (option, value, answer)
            assert "invalid literal" not in answer.err
            assert "Error(" not in answer.err
            if answer.code != 2:
                continue
            assert option in answer.err or value in answer.err, (option, value, answer.err)
            for example in _EXAMPLE.findall(answer.err):
                again = segbench(verb, *typed, *beside, f"{option}={example.rstrip(',.')}")
                is_known = again.code != 2 or again.error.kind == "not-of-protocol"  # of pixels, which these runs are
                assert is_known, (option, value, answer.err, again.err)


@pytest.mark.parametrize("sizes", ["0.5x0.7", "0.5,0.7", "0.5 0.7", "0.5, 0.7", "0.5*0.7"])
def test_sizes_are_width_and_height(segbench, places, sizes):
    answer = segbench("contours", places["gt"], places["pred"], "--spacing", sizes)
    assert (answer.code, "|spacing:0.5x0.7|" in answer.out) == (0, True)


def test_sizes_of_volumes_are_not_for_images(segbench, places):
    answer = segbench("contours", places["gt"], places["pred"], "--spacing", "0.5x0.7x2")
    assert answer.code == 1
    assert "has 2 axes, and --spacing has 3 sizes: 0.5x0.7x2" in answer.err


@pytest.mark.parametrize("sizes", ["0.5x0.5", "0.5,0.5"])
def test_sizes_are_written_in_one_way(segbench, places, sizes):
    answer = segbench("contours", places["gt"], places["pred"], "--spacing", sizes)
    assert "|spacing:0.5x0.5|" in answer.out

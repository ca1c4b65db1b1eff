"""What messages say, word by word, in Python and at the command line; other tests compare kinds and values."""

import math

import numpy as np
import pytest
from core.test_styles import report_and_finding
from wording import texts

import segbench
from segbench import ArgumentError, Pixels, ScoreCounts
from segbench.core.messages import Setting


@pytest.mark.parametrize(
    ("setting", "argument", "option"),
    [
        (Setting("max_dist", None), "max_dist", "--max-dist"),
        (Setting("void"), "void=...", "--void"),
        (Setting("void", [np.float64(255), 0.5, np.inf]), "void=(255, 0.5, inf)", "--void 255,0.5,inf"),
        (Setting("void", (255.0,)), "void=(255,)", "--void 255"),
        (Setting("void", ()), "void=()", "--void none"),
        (Setting("void", (-1e300,)), "void=(-1e+300,)", "--void -1e+300"),
        (Setting("positive", ">=128"), "positive='>=128'", "--positive '>=128'"),
        (Setting("label_maps", True), "label_maps=True", "--label-maps"),
        (Setting("stretch", False), "stretch=False", "--no-stretch"),
        (Setting("scale", 255, of="Repairs"), "repairs=Repairs(scale=255)", "--scale 255"),
        (Setting("scale", of="Repairs", metavar="N"), "repairs=Repairs(scale=N)", "--scale N"),
    ],
)
def test_of_settings(setting, argument, option):
    assert texts(setting) == (argument, option)


FIXES = {
    "suffix": (
        "try gt_pattern='*_gt'",
        "try --gt-pattern '*_gt'",
    ),
    "annotators": (
        "gt_pattern='*.#', annotators='majority'",
        "--gt-pattern '*.#' --annotators majority",
    ),
    "a row less": (
        (
            "repairs=Repairs(crop=True) cuts off excess rows and columns, at the lower right only; or "
            "repairs=Repairs(resize='nearest') or 'bilinear' brings it to that size; without it nothing is changed"
        ),
        (
            "--crop cuts off excess rows and columns, at the lower right only; or --resize-predictions nearest or "
            "bilinear brings it to that size; without it nothing is changed"
        ),
    ),
    "size of ucm2": (
        "no option fixes that: save it as ucm2 in a .mat file, for Boundaries() or Regions()",
        "no option fixes that: save it as ucm2 in a .mat file, for segbench boundaries or segbench regions",
    ),
    "masks": (
        (
            "for IoU, Dice and MCC of masks use Labels(); for curves and areas save soft maps, before they are "
            "cut at a threshold"
        ),
        (
            "for IoU, Dice and MCC of masks use segbench labels GT PRED; for curves and areas save soft maps, "
            "before they are cut at a threshold"
        ),
    ),
    "32 bits": (
        "repairs=Repairs(scale=N) if N is the largest score, or save scores as floats",
        "--scale N if N is the largest score, or save scores as floats",
    ),
    "logits": (
        "repairs=Repairs(scale='sigmoid') for logits, or save others between 0 and 1",
        "--scale sigmoid for logits, or save others between 0 and 1",
    ),
    "NaN": (
        "write finite scores, or leave those pixels out with field=...",
        "write finite scores, or leave those pixels out with --field",
    ),
    "JPEG": (
        "positive='>=128'; or positive='>0' for all but 0, if values number objects",
        "--positive '>=128'; or --positive '>0' for all but 0, if values number objects",
    ),
    "void": (
        "void=(255,)",
        "--void 255",
    ),
    "other value": (
        "positive=... with a value that occurs: 0, 255",
        "--positive with a value that occurs: 0, 255",
    ),
    "areas": (
        "thin_ground_truth=True for lines; label_maps=True for the borders of filled areas",
        "--thin-ground-truth for lines; --label-maps for the borders of filled areas",
    ),
    "areas of a value": (
        "thin_ground_truth=True for lines; label_maps=True, without positive, for the borders of filled areas",
        "--thin-ground-truth for lines; --label-maps, without --positive, for the borders of filled areas",
    ),
    "one map": (
        (
            "evaluate label maps with Labels(classes='0-2'); or save the scores of each class, before argmax: a stack "
            "of all classes (NPY, NPZ), or one folder per class, pred_pattern='class_#/*', or name one file per class "
            "in a column of the list"
        ),
        (
            "evaluate label maps with segbench labels GT PRED --classes 0-2; or save the scores of each class, before "
            "argmax: a stack of all classes (NPY, NPZ), or one folder per class, --pred-pattern 'class_#/*', or name "
            "one file per class in a column of the list"
        ),
    ),
    "other labels": (
        "add labels to classes=... that the ground truth holds, too, or remap them: pred_map=...",
        "add labels to --classes that the ground truth holds, too, or remap them: --pred-map",
    ),
    "soft maps": (
        "give label maps, ucm2 or segs; soft maps are for Pixels() or Boundaries()",
        "give label maps, ucm2 or segs; soft maps are for segbench pixels or segbench boundaries",
    ),
}
"""How `MISTAKES` are fixed, in Python and with options."""


@pytest.mark.parametrize("mistake", FIXES)
def test_of_fixes(tmp_path, mistake):
    _, finding = report_and_finding(mistake, tmp_path)
    assert texts(finding.fix) == FIXES[mistake]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ScoreCounts([1], [1], [1], -1), "ignored is -1, expected a whole number from 0 to 72057594037927936"),
        (
            lambda: ScoreCounts([1], [0.5], [1]),
            "positives holds values that are not whole numbers; counts are integers",
        ),
        (lambda: ScoreCounts([1], [1e300], [1]), "positives holds 1e+300, beyond 64-bit integers"),
        (lambda: ScoreCounts([1], [-1], [1]), "positives holds -1; counts are not negative"),
        (lambda: segbench.Thresholds([math.nan], ""), "thresholds hold NaN; expected numbers"),
        (
            lambda: ScoreCounts.from_points([1], [1], 2, 2).operating_point(0.5),
            "curves given by points have no scores for thresholds",
        ),
        (
            lambda: Pixels(positive=-math.inf),
            "positive=-inf is not a rule; expected a value (255), several (1,3) or a bound ('>=128')",
        ),
    ],
)
def test_of_arrays(call, words):
    with pytest.raises(ArgumentError) as raised:
        call()
    assert str(raised.value) == words

"""What messages say, word by word, in Python and at the command line; other tests compare kinds and values."""

import math

import numpy as np
import pytest
from broken_folders import blobs, doubled, each, holed, renamed, ringing, two_annotators, with_value

import segbench
from segbench import ArgumentError, Boundaries, Classes, Labels, Pixels, Regions, ScoreCounts, check
from segbench.core.messages import Setting

FLOATS = {"extension": ".npy"}


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
    assert (str(setting), setting.written("options")) == (argument, option)


@pytest.mark.parametrize(
    ("change", "protocol", "kind", "in_python", "with_options"),
    [
        (
            renamed("truth", lambda name: f"{name}_gt"),
            Pixels(),
            "unpaired",
            "try gt_pattern='*_gt'",
            "try --gt-pattern '*_gt'",
        ),
        (
            two_annotators("*.#"),
            Pixels(),
            "annotator-names",
            "gt_pattern='*.#', annotators='majority'",
            "--gt-pattern '*.#' --annotators majority",
        ),
        (
            each("scores", lambda a: a[:-1]),
            Pixels(),
            "size-near",
            (
                "repairs=Repairs(crop=True) cuts off excess rows and columns, at the lower right only; or "
                "repairs=Repairs(resize='nearest') or 'bilinear' brings it to that size; without it nothing is changed"
            ),
            (
                "--crop cuts off excess rows and columns, at the lower right only; or --resize-predictions nearest or "
                "bilinear brings it to that size; without it nothing is changed"
            ),
        ),
        (
            each("scores", doubled),
            Pixels(),
            "size-ucm2",
            "no option fixes that: save it as ucm2 in a .mat file, for Boundaries() or Regions()",
            "no option fixes that: save it as ucm2 in a .mat file, for segbench boundaries or segbench regions",
        ),
        (
            each("scores", lambda a: (a > 128).astype(np.uint8)),
            Pixels(),
            "few-levels",
            (
                "for IoU, Dice and MCC of masks use Labels(); for curves and areas save soft maps, before they are "
                "cut at a threshold"
            ),
            (
                "for IoU, Dice and MCC of masks use segbench labels GT PRED; for curves and areas save soft maps, "
                "before they are cut at a threshold"
            ),
        ),
        (
            each("scores", lambda a: a.astype(np.int32), **FLOATS),
            Pixels(),
            "wide-integers",
            "repairs=Repairs(scale=N) if N is the largest score, or save scores as floats",
            "--scale N if N is the largest score, or save scores as floats",
        ),
        (
            each("scores", lambda a: a / np.float32(32) - 4, **FLOATS),
            Boundaries(),
            "range",
            "repairs=Repairs(scale='sigmoid') for logits, or save others between 0 and 1",
            "--scale sigmoid for logits, or save others between 0 and 1",
        ),
        (
            each("scores", holed, **FLOATS),
            Pixels(),
            "not-finite",
            "write finite scores, or leave those pixels out with field=...",
            "write finite scores, or leave those pixels out with --field",
        ),
        (
            each("truth", ringing),
            Pixels(),
            "grey-ground-truth",
            "positive='>=128'; or positive='>0' for all but 0, if values number objects",
            "--positive '>=128'; or --positive '>0' for all but 0, if values number objects",
        ),
        (each("truth", with_value(255, labels=True)), Pixels(), "void", "void=(255,)", "--void 255"),
        (
            each("truth", lambda a: a),
            Pixels(positive=7),
            "no-positives",
            "positive=... with a value that occurs: 0, 255",
            "--positive with a value that occurs: 0, 255",
        ),
        (
            None,
            Boundaries(),
            "thick-ground-truth",
            "thin_ground_truth=True for lines; label_maps=True for the borders of filled areas",
            "--thin-ground-truth for lines; --label-maps for the borders of filled areas",
        ),
        (
            None,
            Boundaries(positive=255),
            "thick-ground-truth",
            "thin_ground_truth=True for lines; label_maps=True, without positive, for the borders of filled areas",
            "--thin-ground-truth for lines; --label-maps, without --positive, for the borders of filled areas",
        ),
        (
            None,
            Classes(labels=range(3)),
            "class-maps",
            (
                "save the scores of each class, before argmax: a stack of all classes (NPY, NPZ), or one folder per "
                "class, pred_pattern='class_#/*', or name one file per class in a column of the list"
            ),
            (
                "save the scores of each class, before argmax: a stack of all classes (NPY, NPZ), or one folder per "
                "class, --pred-pattern 'class_#/*', or name one file per class in a column of the list"
            ),
        ),
        (
            None,
            Labels(classes=3),
            "outside-classes",
            "add labels to classes=... that the ground truth holds, too, or remap them: pred_map=...",
            "add labels to --classes that the ground truth holds, too, or remap them: --pred-map",
        ),
        (
            None,
            Regions(),
            "soft-map",
            "give label maps, ucm2 or segs; soft maps are for Pixels() or Boundaries()",
            "give label maps, ucm2 or segs; soft maps are for segbench pixels or segbench boundaries",
        ),
    ],
)
def test_of_fixes(tmp_path, change, protocol, kind, in_python, with_options):
    made = blobs()
    if change:
        change(made)
    gt, pred, *field = made.write(tmp_path)
    report = check(gt, pred, protocol, field=field[0] if field else None)
    (fix,) = (finding.fix for finding in report.findings if finding.kind == kind)
    assert (str(fix), fix.written("options")) == (in_python, with_options)


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

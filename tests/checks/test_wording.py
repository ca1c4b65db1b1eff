"""The sentences of findings that users read most, as Python and as the command line write them."""

import numpy as np
import pytest
from broken_folders import blobs, each, turn_by_exif
from checks import test_label_damage as labels
from checks.test_broken_folders import CASES, broken
from noted import of_kind
from PIL import Image
from wording import texts

import segbench

SAID = {
    "a name differs": (
        "1 of 6 ground truths has no prediction, 1 prediction without a ground truth",
        (
            "add or remove files so that names pair, or say which part of a file's name is the image's: "
            "gt_pattern=... and pred_pattern=..., or list which belong together: pairs=...; "
            "allow_missing=True leaves out images without a prediction; images=... restricts the run to the "
            "images named, here those with a ground truth"
        ),
        (
            "add or remove files so that names pair, or say which part of a file's name is the image's: "
            "--gt-pattern and --pred-pattern, or list which belong together: --pairs; --allow-missing leaves "
            "out images without a prediction; --images restricts the run to the images named, here those "
            "with a ground truth"
        ),
    ),
    "a suffix": (
        "6 of 6 ground truths have no prediction, 6 predictions without a ground truth",
        "try gt_pattern='*_gt'",
        "try --gt-pattern '*_gt'",
    ),
    "annotators as suffixes": (
        "12 ground truths look like several annotators of the predicted images",
        "gt_pattern='*.#'",
        "--gt-pattern '*.#'",
    ),
    "annotators by word": (
        "12 ground truths look like several annotators of the predicted images",
        "gt_pattern='*_manual#', annotators='majority'",
        "--gt-pattern '*_manual#' --annotators majority",
    ),
    "annotators in folders": (
        "12 ground truths look like several annotators of the predicted images",
        "if by1, by2 are annotators of the same images: gt_pattern='#/*', annotators='majority'",
        "if by1, by2 are annotators of the same images: --gt-pattern '#/*' --annotators majority",
    ),
    "annotators in a cell": (
        "6 images of 6 inspected have several annotators",
        (
            "ground truth of BSDS500: Boundaries(); else annotators='majority', any, all or each; or take one of them "
            "by its name, such as gt_pattern='*_manual1', or one column of a list"
        ),
        (
            "ground truth of BSDS500: segbench check boundaries GT PRED; else --annotators majority, any, all or "
            "each; or take one of them by its name, such as --gt-pattern '*_manual1', or one column of a list"
        ),
    ),
    "one name twice": (
        "pred: 2 files share their name with another",
        "remove all but one, or say which to take with a pattern such as '*.png'",
    ),
    "transposed": (
        "6 predictions have rows and columns swapped (6 of 6 images)",
        (
            "no option fixes that: swap rows and columns where the prediction is saved, or apply its EXIF "
            "orientation if it has one"
        ),
    ),
    "off by one": (
        "6 predictions are a little larger or smaller (6 of 6 images)",
        (
            "repairs=Repairs(crop=True) cuts off excess rows and columns, at the lower right only; or "
            "repairs=Repairs(resize='nearest') or 'bilinear' brings it to that size; without it nothing is "
            "changed"
        ),
        (
            "--crop cuts off excess rows and columns, at the lower right only; or --resize-predictions "
            "nearest or bilinear brings it to that size; without it nothing is changed"
        ),
    ),
    "half the size": (
        "6 predictions are larger or smaller by a whole factor (6 of 6 images)",
        "repairs=Repairs(resize='nearest') or 'bilinear' brings it to that size; without it nothing is changed",
        "--resize-predictions nearest or bilinear brings it to that size; without it nothing is changed",
    ),
    "double size": (
        "6 predictions have the size of a ucm2, 2 h + 1 and 2 w + 1 (6 of 6 images)",
        "no option fixes that: save it as ucm2 in a .mat file, for Boundaries() or Regions()",
        "no option fixes that: save it as ucm2 in a .mat file, for segbench boundaries or segbench regions",
    ),
    "unreadable": (
        "3 images of 6 cannot be read",
        "write the file again; download it again if a server sent a page instead of it, or convert it",
    ),
    "scores turned around": (
        "scores are higher on negatives than on positives (median AUC-ROC 0.00)",
        (
            "invert=True if predictions are inverted (low scores mean positive); or positive='0' if the "
            "ground truth is inverted (its other value is what is to be found)"
        ),
        (
            "--invert if predictions are inverted (low scores mean positive); or --positive 0 if the ground "
            "truth is inverted (its other value is what is to be found)"
        ),
    ),
    "masks turned around": (
        "scores are higher on negatives than on positives (median AUC-ROC 0.00), and most pixels are positive",
        (
            "positive='0' if the ground truth is inverted (its other value is what is to be found); or "
            "invert=True if predictions are inverted (low scores mean positive)"
        ),
        (
            "--positive 0 if the ground truth is inverted (its other value is what is to be found); or "
            "--invert if predictions are inverted (low scores mean positive)"
        ),
    ),
    "one map turned around": (
        "1 of 6 images looks inverted: scores are higher on negatives there, and on positives elsewhere",
        (
            "look at these images, and save the files that are inverted again, predictions or ground truth: "
            "no option turns only some"
        ),
    ),
    "black on white": (
        "scores are higher on negatives than on positives (median AUC-ROC 0.41), on a bright background",
        "invert=True",
        "--invert",
    ),
    "0 and 1 in 8 bits": (
        "predictions inspected contain only two values (0, 1), so they are evaluated as masks",
        (
            "for IoU, Dice and MCC of masks use Labels(); for curves and areas save soft maps, before they "
            "are cut at a threshold"
        ),
        (
            "for IoU, Dice and MCC of masks use segbench labels GT PRED; for curves and areas save soft "
            "maps, before they are cut at a threshold"
        ),
    ),
    "0 and 1 in 8 bits, boundaries": (
        "uint8 predictions inspected end at 1, so no score of these is above 1 / 255",
        "repairs=Repairs(scale=1)",
        "--scale 1",
    ),
    "8 bits in 16": (
        "uint16 predictions inspected end at 255, so no score of these is above 255 / 65535",
        "repairs=Repairs(scale=255)",
        "--scale 255",
    ),
    "floats a little above 1, boundaries": (
        "float scores range from 0 to 1.1, but they must lie between 0 and 1",
        "repairs=Repairs(scale=N) with the highest score that there can be",
        "--scale N with the highest score that there can be",
    ),
    "logits": (
        (
            "float scores range from -4 to 3.96875, like logits; thresholds are on that scale, and other "
            "metrics stay the same"
        ),
        "repairs=Repairs(scale='sigmoid') for logits, or save others between 0 and 1",
        "--scale sigmoid for logits, or save others between 0 and 1",
    ),
    "below 0 by resizing, boundaries": (
        "float scores range from -0.02 to 0.96, but they must lie between 0 and 1",
        "save scores between 0 and 1: clip them, if resizing moved them beyond",
    ),
    "clipped": (
        (
            "52 % of the pixels have the highest possible score, and 42 % of these are negative: no "
            "threshold separates them"
        ),
        (
            "if these predictions are of these images, and not mirrored or shifted, save scores before they "
            "are clipped, as floats or divided by their maximum"
        ),
    ),
    "grey levels of JPEG": (
        "6 ground truths of 6 inspected contain more than two grey levels",
        "positive='>=128'; or positive='>0' for all but 0, if values number objects",
        "--positive '>=128'; or --positive '>0' for all but 0, if values number objects",
    ),
    "soft maps for regions": (
        "6 predictions of 6 inspected look like soft maps: every grey level is read as a region",
        "give label maps, ucm2 or segs; soft maps are for Pixels() or Boundaries()",
        "give label maps, ucm2 or segs; soft maps are for segbench pixels or segbench boundaries",
    ),
    "all zero": (
        "2 predictions of 6 inspected are constant (2 all zero), although the ground truth has positives",
        "check that these files are complete",
    ),
    "one for three": (
        "3 predictions are the same as another one, byte for byte",
        "check that each belongs to its own image",
    ),
    "the ground truth": (
        "4 predictions of 6 are the ground truth itself (byte for byte)",
        "give the folder of predictions",
    ),
    "void": (
        "6 ground truths of 6 inspected contain labels and the value 255, which is not declared void",
        "void=(255,)",
        "--void 255",
    ),
    "a third grey value": (
        "6 ground truths of 6 inspected contain labels and the value 128, which is not declared void",
        "void=(128,) if 128 is void, or positive='128,255' if it is positive",
        "--void 128 if 128 is void, or --positive 128,255 if it is positive",
    ),
    "labels": (
        "6 ground truths of 6 inspected contain several labels",
        "positive=4, or positive='>0' for all but 0, or whichever labels are positive",
        "--positive 4, or --positive '>0' for all but 0, or whichever labels are positive",
    ),
    "0 and 1 beside 0 and 255": (
        (
            "the set holds 3 distinct values, expected two: 0 in 6 images ('ape', ...); 1 in 3 images ('ape', ...); "
            "255 in 3 images ('dog', ...)"
        ),
        "say which values are positive, for instance positive='>=1'",
        "say which values are positive, for instance --positive '>=1'",
    ),
    "0 and 1 beside 0 and 255, predicted": (
        "predicted masks do not agree on their two values: 0 and 1 in uint8, 0 and 255 in uint8",
        "save all in one type with the same two values; or evaluate them with Labels(), where all but 0 is positive",
        (
            "save all in one type with the same two values; or evaluate them with segbench labels GT PRED, "
            "where all but 0 is positive"
        ),
    ),
    "0 and 1 beside soft maps": (
        "3 of 6 uint8 predictions end at 1, which is a score of 1 / 255, and others go far above it",
        "save all predictions on one scale, masks as 0 and 255",
    ),
    "8 bits beside 16 in 16": (
        "3 of 6 uint16 predictions end at 255, which is a score of 255 / 65535, and others go far above it",
        "save all predictions on one scale, masks as 0 and 65535",
    ),
    "photographs": (
        "6 ground truths of 6 inspected have many colours, as photographs have",
        "give the masks: their folder, or a pattern that fits these alone, such as gt_pattern='*_mask'",
        "give the masks: their folder, or a pattern that fits these alone, such as --gt-pattern '*_mask'",
    ),
    "padded on all sides": (
        "6 predictions are a little larger or smaller (6 of 6 images)",
        (
            "if there is padding on all sides, remove it from the files first; otherwise "
            "repairs=Repairs(crop=True) cuts off excess rows and columns, at the lower right only; or "
            "repairs=Repairs(resize='nearest') or 'bilinear' brings it to that size; without it nothing is "
            "changed"
        ),
        (
            "if there is padding on all sides, remove it from the files first; otherwise --crop cuts off "
            "excess rows and columns, at the lower right only; or --resize-predictions nearest or bilinear "
            "brings it to that size; without it nothing is changed"
        ),
    ),
    "names one off": (
        (
            "6 predictions of 6 do not have the size of their ground truth but that of another one: names "
            "seem to pair different images"
        ),
        "compare images with their predictions, then rename the files, or list which belong together: pairs=...",
        "compare images with their predictions, then rename the files, or list which belong together: --pairs",
    ),
    "nothing positive": (
        "the set holds 1 distinct value, expected two: 0 in 6 images ('ape', ...)",
        (
            "give ground truth that shows what is to be found, and what is not; for a part of a set (images=...) say "
            "which value is positive in the whole: positive=1 for 0 and 1, positive=255 for 0 and 255"
        ),
        (
            "give ground truth that shows what is to be found, and what is not; for a part of a set (--images) say "
            "which value is positive in the whole: --positive 1 for 0 and 1, --positive 255 for 0 and 255"
        ),
    ),
    "NaN in ground truth": (
        "6 ground truths contain NaN",
        "give these pixels a value; if they do not count, one that is void: void=...",
        "give these pixels a value; if they do not count, one that is void: --void",
    ),
    "not finite": (
        "6 predictions of 6 inspected contain NaN or infinite scores",
        "write finite scores, or leave those pixels out with field=...",
        "write finite scores, or leave those pixels out with --field",
    ),
    "in colour": (
        "6 files of those inspected are in colour, and turned to grey",
        "save one channel; a colour map applied to scores cannot be undone",
    ),
    "wide integers": (
        "6 predictions of a wide integer type are read as levels (int32: value / 2147483647)",
        "repairs=Repairs(scale=N) if N is the largest score, or save scores as floats",
        "--scale N if N is the largest score, or save scores as floats",
    ),
    "floats beside levels": (
        "some predictions are floats, and others levels, which are divided (2 float32, 4 uint8)",
        "save all predictions in one type",
    ),
    "not suppressed": (
        "ridges are thick: 100 % of the strong pixels lie in blocks of 2 x 2 (median)",
        "nms=(1, 5, 1.01), or segbench.nms, as is usual for network outputs",
        "--nms 1,5,1.01, or segbench nms IN_DIR OUT_DIR, as is usual for network outputs",
    ),
    "ground truth black on white": (
        "93 % of the ground truth is boundary, as in black lines on white",
        "positive=0",
        "--positive 0",
    ),
    "ground truth drawn on both sides": (
        (
            "ground-truth lines are wider than a pixel, or filled, but predictions are thinned: even a "
            "perfect one has a low recall"
        ),
        "thin_ground_truth=True for lines; label_maps=True for the borders of filled areas",
        "--thin-ground-truth for lines; --label-maps for the borders of filled areas",
    ),
}
"""What was found, what fixes it in Python, and by options where these differ; of cases of broken folders."""


@pytest.mark.parametrize("name", SAID)
def test_the_sentences(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    (finding,) = segbench.check(*broken(case, tmp_path), case.verb).findings
    said, python, *options = SAID[name]
    found = [text.replace(f"{tmp_path}/", "") for text in texts(finding.message)]
    assert found == [said, said]
    assert texts(finding.fix) == (python, options[0] if options else python)


def swapped(root):
    truth, scores = blobs().write(root)
    return scores, truth


def as_jpeg(root):
    truth, scores = blobs().write(root)
    for path in [*scores.iterdir()]:
        mask = (np.asarray(Image.open(path)) >= 128).astype(np.uint8) * 255
        Image.fromarray(mask).save(path.with_suffix(".jpg"), quality=75)
        path.unlink()
    return truth, scores


def cut_in_part(root):
    made = blobs()
    each("scores", lambda scores: np.uint8(255) * (scores > 128), only=2)(made)
    return made.write(root)


def upside_down(root):
    made = blobs(shape=(120, 160))
    each("scores", lambda scores: scores[::-1])(made)
    return made.write(root)


def turned_by_exif(root):
    truth, scores = blobs().write(root)
    turn_by_exif(scores)
    return truth, scores


def labels_as_jpeg(root):
    truth = labels.write(root / "gt", labels.TRUTHS)
    return truth, labels.write(root / "pred", labels.TRUTHS, "jpg", labels.LOSSY["jpg"])


def values_of_the_ground_truth(root):
    rims = [np.array([255, 0, 128], np.uint8)[labels.disks(k) % 3] for k in range(4)]
    return labels.write(root / "gt", rims), labels.write(root / "pred", rims)


SAID_OF = {
    swapped: (
        "pixels",
        "exchanged",
        "the folders look swapped: the first contains soft maps, the second two-valued images",
        "ground truth comes first, predictions second; or, if the first number objects, positive='>0' for all but 0",
        (
            "ground truth comes first, predictions second; or, if the first number objects, --positive '>0' "
            "for all but 0"
        ),
    ),
    as_jpeg: (
        "pixels",
        "jpeg-masks",
        (
            "predictions look like masks saved as JPEG: only 0.027 % of the pixels are not near 0 or 255, "
            "and levels near these are noise of the compression, not scores"
        ),
        "save masks as PNG, or evaluate them cut at half: Labels(predicted_positive='>=128')",
        "save masks as PNG, or evaluate them cut at half: segbench labels GT PRED --predicted-positive '>=128'",
    ),
    cut_in_part: (
        "pixels",
        "masks-among-maps",
        "2 of 6 predictions are masks and the others soft maps, whose scores are ranked together",
        "save soft maps of all images, or masks of all",
    ),
    upside_down: (
        "pixels",
        "turned",
        "predictions look upside down: turned back, the median AUC-ROC of 6 images is 1.00 instead of 0.51",
        "save them turned back, as scores[::-1]",
    ),
    turned_by_exif: (
        "pixels",
        "orientation",
        "EXIF orientation differs within an image (2 files); it is not applied",
        "where stored pixels do not match, apply it: PIL.ImageOps.exif_transpose, mogrify -auto-orient",
    ),
    labels_as_jpeg: (
        segbench.Labels(classes="0-20"),
        "lossy-labels",
        "4 files of labels are stored with loss (JPEG), which changes values, mostly beside borders",
        "JPEG changes labels: save label maps as PNG where they are made; converted files keep the damage",
    ),
    values_of_the_ground_truth: (
        segbench.Contours(positive="0,128"),
        "not-countable",
        "4 images of 4 inspected cannot be counted with these settings",
        (
            "save predicted masks of what positive='0,128' names, as the ground truth holds the same values: "
            "numpy.isin(labels, [0,128]) * numpy.uint8(255)"
        ),
        (
            "save predicted masks of what --positive 0,128 names, as the ground truth holds the same values: "
            "numpy.isin(labels, [0,128]) * numpy.uint8(255)"
        ),
    ),
}
"""Of more folders: a protocol, the kind of the finding, what was found, and what fixes it, as above."""


@pytest.mark.parametrize("make", SAID_OF, ids=lambda make: make.__name__)
def test_the_sentences_of_other_mistakes(make, tmp_path):
    protocol, kind, said, python, *options = SAID_OF[make]
    findings = segbench.check(*make(tmp_path), protocol).findings
    (finding,) = of_kind(findings, kind)
    assert texts(finding.message) == (said, said)
    assert texts(finding.fix) == (python, options[0] if options else python)

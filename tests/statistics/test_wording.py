"""What messages of intervals and comparisons say, word by word; other tests compare kinds and values."""

import numpy as np
import pytest
from wording import texts_of_refusal

from segbench import (
    BoundaryCounts,
    LabelCounts,
    ScoreCounts,
    compare,
    compare_results,
    curve_band,
    evaluate,
    intervals,
)

COUNTS = ScoreCounts([0.9, 0.5], [1, 1], [0, 3])
IMAGES = dict.fromkeys("abcdef", COUNTS)
OTHERS = dict.fromkeys("bcdefg", COUNTS)
FOLDERS = {name: LabelCounts("0-1", [[10, 2, 0], [1, 3, 0]]) for name in ("a/1", "a/2")}
HARDER = IMAGES | {"a": ScoreCounts([0.9, 0.5], [1, 2], [0, 2])}
FEW = dict.fromkeys("xyz", COUNTS)


def of_groups():
    random = np.random.default_rng(0)
    pairs = {f"{k % 2}/{k}": (random.random((6, 6)) < 0.4, random.random((6, 6))) for k in range(12)}
    return [evaluate(pairs, method=name).parts("group", "folder").mean for name in "ab"]


@pytest.mark.parametrize(
    ("call", "in_python", "with_options"),
    [
        (
            lambda: compare({"ours": IMAGES, "theirs": OTHERS}),
            (
                "ours, theirs: methods are compared on the same images and ground truth, but ours has a, theirs has "
                "not; theirs has g, ours has not; predict the missing images, or compare on those that all methods "
                "have: common=True"
            ),
            (
                "ours, theirs: methods are compared on the same images and ground truth, but ours has a, theirs has "
                "not; theirs has g, ours has not; predict the missing images, or compare on those that all methods "
                "have: segbench compare --common"
            ),
        ),
        (
            lambda: compare({"ours": IMAGES, "theirs": HARDER}),
            (
                "ours, theirs: methods are compared on the same images and ground truth, but a has 2 positives and 3 "
                "negatives in ours, 3 positives and 2 negatives in theirs; count all methods against the same ground "
                "truth"
            ),
            None,
        ),
        (
            lambda: compare({"ours": [], "theirs": IMAGES}),
            "ours: found an empty list, expected a list of runs, each counts by the name of the image",
            None,
        ),
        (
            lambda: compare({"ours": IMAGES, "theirs": IMAGES}, test="wilcoxon"),
            "test is 'wilcoxon', expected 't-test' or 'signed-rank'; perhaps 'signed-rank' is meant",
            "--test is 'wilcoxon', expected 't-test' or 'signed-rank'; perhaps 'signed-rank' is meant",
        ),
        (
            lambda: intervals([IMAGES, OTHERS]),
            (
                "the method: runs 1 and 2 share 5 images, of 6 and 6; expected the same images in all (trainings) or "
                "in no two (folds); to compare trainings, count the images that all have: images=['b', 'c', 'd', 'e', "
                "'f']; to pool folds, take b, c, d, e, f out of one of them"
            ),
            (
                "the method: runs 1 and 2 share 5 images, of 6 and 6; expected the same images in all (trainings) or "
                "in no two (folds); to compare trainings, count the images that all have: --images b,c,d,e,f; to pool "
                "folds, take b, c, d, e, f out of one of them"
            ),
        ),
        (
            lambda: intervals([IMAGES, FEW, IMAGES]),
            (
                "the method: runs 1 and 3 are on the same images, others on different ones; expected the same images "
                "in all (trainings) or in no two (folds); of a cross-validation that was repeated, give the folds of "
                "one repetition"
            ),
            None,
        ),
        (
            lambda: intervals(FOLDERS, unit="folders"),
            (
                "unit='folders' is not understood, expected 'folder', a column of a CSV file, 'meta.csv:patient', or a "
                "pattern of names, '#_*'"
            ),
            (
                "--unit folders is not understood, expected 'folder', a column of a CSV file, 'meta.csv:patient', or a "
                "pattern of names, '#_*'"
            ),
        ),
        (
            lambda: intervals(FOLDERS, unit="#_*"),
            (
                "unit='#_*' gives no unit: images are a/1, a/2; the pattern is of whole names, with folders and "
                "without suffix, where * is anything"
            ),
            (
                "--unit '#_*' gives no unit: images are a/1, a/2; the pattern is of whole names, with folders and "
                "without suffix, where * is anything"
            ),
        ),
        (
            lambda: intervals(FOLDERS, unit="#/#"),
            "the pattern '#/#' has several #, expected one, which stands for the unit",
            None,
        ),
        (
            lambda: intervals(FOLDERS, unit={"a/1": "a"}),
            "the mapping of unit gives no unit to 1 of 2 images: a/2; name all images as they are called here",
            "the mapping of --unit gives no unit to 1 of 2 images: a/2; name all images as they are called here",
        ),
        (
            lambda: intervals(IMAGES, level=95),
            "level is 95, expected a number between 0 and 1, for instance 0.95",
            None,
        ),
        (
            lambda: curve_band(IMAGES, space="pi"),
            "space is 'pi'; expected 'roc' or 'pr'",
            None,
        ),
        (
            lambda: curve_band({"a": BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [16, 5])}, space="roc"),
            "boundary counts have no ROC curve: true negatives are undefined",
            None,
        ),
        (
            lambda: compare_results(of_groups(), test="signed-rank"),
            (
                "the signed-rank test is for means over images, and these are over groups; one group can be compared "
                "by itself; leave out test='signed-rank'"
            ),
            (
                "the signed-rank test is for means over images, and these are over groups; one group can be compared "
                "by itself; leave out --test signed-rank"
            ),
        ),
    ],
)
def test_of_what_is_refused(call, in_python, with_options):
    assert texts_of_refusal(call) == (in_python, with_options or in_python)

"""What messages about data with known values say, word by word; other tests compare kinds and values."""

from pathlib import Path

import pytest
from wording import texts_of_refusal

from segbench.verification.bsds500 import bsds500_part
from segbench.verification.published import published_part
from segbench.verification.saliency import saliency_part

EMPTY = Path("datasets/papers")


@pytest.mark.parametrize(
    ("call", "in_python", "with_options"),
    [
        (
            lambda: bsds500_part(Path("nowhere")),
            "nowhere: is not a folder; give the folder in which BSDS500 was unpacked",
            None,
        ),
        (
            lambda: bsds500_part(EMPTY),
            (
                "datasets/papers: contains no BSDS500 data that can be checked; expected bench/data with test_1 to "
                "test_5, or BSDS500/ucm2/test beside BSDS500/data/groundTruth/test, as in the release, or the folders "
                "groundTruth, ucm2, bench_png, bench_segs and official"
            ),
            None,
        ),
        (
            lambda: published_part(Path("nowhere")),
            "nowhere: cannot be listed (No such file or directory); give a folder of results",
            None,
        ),
        (
            lambda: published_part(EMPTY),
            (
                "datasets/papers: holds no results of the boundary benchmark; expected *_ev1.txt or *_bdry_thr.txt, "
                "here or in its sub-folders"
            ),
            None,
        ),
        (
            lambda: saliency_part(EMPTY),
            (
                "datasets/papers: contains no saliency maps with known values; expected ground_truth, "
                "predictions/METHOD, and official_per_image.csv or pysodmetrics_per_image.csv"
            ),
            None,
        ),
    ],
)
def test_of_what_is_refused(call, in_python, with_options):
    assert texts_of_refusal(call) == (in_python, with_options or in_python)

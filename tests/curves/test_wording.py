"""What messages about curves say, word by word; other tests compare kinds and values."""

import pytest
from wording import texts_of_refusal

from segbench import ScoreCounts, auc_pr, best_f, dominates, from_pr
from segbench.curves.curve import thresholds_from


@pytest.mark.parametrize(
    ("call", "in_python", "with_options"),
    [
        (
            lambda: auc_pr(ScoreCounts([1], [1], [1]), method="simpson"),
            "method is 'simpson'; expected 'exact', 'trapezoid' or 'linear'",
            None,
        ),
        (
            lambda: best_f(ScoreCounts([1], [1], [1]), beta=0),
            "beta is 0, expected a number from 1e-100 to 1e100",
            None,
        ),
        (
            lambda: from_pr([0], [0.5], positives=10, negatives=100),
            "recall 0 and precision 0.5 are not those of one confusion matrix; give points with both above 0",
            None,
        ),
        (
            lambda: from_pr([0.5], [0.01], positives=10, negatives=100),
            "a point reaches 5 true and 495 false positives, but there are 10 positives and 100 negatives",
            None,
        ),
        (
            lambda: from_pr([0.5], [0.318], positives=14, negatives=100),
            (
                "a point has 7 true and 15.0126 false positives, not whole numbers; give rates with more digits, or a "
                "tolerance in pixels"
            ),
            None,
        ),
        (
            lambda: from_pr([0.2, 0.4], [0.2, 0.8], positives=10, negatives=10),
            "true and false positives must not decrease from one point to the next",
            None,
        ),
        (
            lambda: from_pr([0.5, 0.6], [0.5], positives=10, negatives=100),
            "recall has shape (2), precision (1); expected two lists of one length",
            None,
        ),
        (
            lambda: dominates(ScoreCounts([1], [4], [9]), ScoreCounts([1], [4], [8])),
            "a has 4 positives and 9 negatives, b has 4 and 8; curves are compared over the same ground truth",
            None,
        ),
        (
            lambda: dominates(ScoreCounts([1], [4], [0]), ScoreCounts([1], [4], [0])),
            "4 positives and 0 negatives; both are needed",
            None,
        ),
        (
            lambda: thresholds_from(ScoreCounts([1], [0], [3])),
            "the tuning set has 0 positives and 3 negatives; both are needed",
            None,
        ),
        (
            lambda: thresholds_from(ScoreCounts.from_points([1], [1], 2, 2)),
            "the tuning curve was given by its points, so its thresholds are not known",
            None,
        ),
    ],
)
def test_of_what_is_refused(call, in_python, with_options):
    assert texts_of_refusal(call) == (in_python, with_options or in_python)

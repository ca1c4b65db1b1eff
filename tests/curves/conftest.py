import numpy as np
import pytest

from segbench.core.scores import ScoreCounts


def _counted(labels, scores):
    labels, scores = np.asarray(labels).ravel(), np.asarray(scores).ravel()
    assert labels.shape == scores.shape
    levels = np.unique(scores)[::-1]
    positives, negatives = (
        np.array([np.sum((scores == level) & (labels == is_positive)) for level in levels], dtype=np.int64)
        for is_positive in (1, 0)
    )
    return ScoreCounts(levels, positives, negatives)


@pytest.fixture(scope="session")
def counted():
    """Count labels and scores by the definition, one level at a time."""
    return _counted

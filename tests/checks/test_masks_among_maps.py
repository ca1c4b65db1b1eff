"""Masks among the soft maps of one method, whose scores are ranked together."""

import numpy as np
import pytest
from broken_folders import NAMES, blobs, each, lines


@pytest.fixture
def keys(check_findings, tmp_path):
    """Check folders; return the keys of the findings."""

    def check(made, verb="pixels"):
        return check_findings(verb, *made.write(tmp_path))[1].keys()

    return check


def cut(scores):
    return np.uint8(255) * (scores > 128)


@pytest.mark.parametrize("masks", [2, 4])
def test_are_named(segbench, keys, warned_of, tmp_path, masks):
    made = blobs()
    each("scores", cut, only=masks)(made)
    assert keys(made) == {"masks-among-maps"}
    assert segbench("pixels", tmp_path / "gt", tmp_path / "pred").err
    (finding,) = warned_of
    assert (finding.kind, finding.message.values) == ("masks-among-maps", {"count": masks, "total": 6})


def test_a_single_one_and_blank_ones_are_not(keys):
    made = blobs()
    each("scores", cut, only=1)(made)
    for name in NAMES[1:4]:  # nothing to find, and nothing found
        made.truth[name] = made.scores[name] = np.zeros_like(made.truth[name])
    assert keys(made) == set()


def test_saturated_maps_are_not(keys):
    made = blobs()
    each("scores", lambda scores: np.clip(8 * (scores.astype(int) - 128) + 128, 0, 255).astype(np.uint8), only=3)(made)
    assert "masks-among-maps" not in keys(made)
    assert "masks-among-maps" not in keys(lines(), "boundaries")


def test_saliency_ranks_no_images_together(keys):
    made = blobs()
    each("scores", cut, only=3)(made)
    assert "masks-among-maps" not in keys(made, "saliency")

"""What is noted of predictions is true of masks: their numbers are no scores."""

import numpy as np
import pytest
from cases import write_folder

import segbench

MASK = np.kron(np.eye(4, 5, dtype=np.int64), np.ones((6, 8), np.int64))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("full", [1, 255])
@pytest.mark.parametrize(
    "protocol",
    [segbench.Centerlines(), segbench.Contours(), segbench.Objects(kind="components"), segbench.Labels()],
    ids=lambda protocol: protocol.name,
)
def test_masks_of_wide_integers_are_no_levels(tmp_path, protocol, full):
    places = [write_folder(tmp_path / side, {"a.npy": MASK * full}) for side in ("gt", "pred")]
    assert segbench.evaluate(*places, protocol).notes == ()


def test_soft_maps_of_wide_integers_are(tmp_path):
    places = [write_folder(tmp_path / side, {"a.npy": MASK}) for side in ("gt", "pred")]
    with pytest.warns(UserWarning, match="int64"):
        notes = segbench.evaluate(*places, segbench.Pixels()).notes
    assert [note.kind for note in notes] == ["wide-levels"]

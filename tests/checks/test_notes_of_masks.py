"""What is noted of predictions is true of masks: their numbers are no scores."""

import warnings

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
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (note,) = segbench.evaluate(*places, segbench.Pixels()).notes
    assert [str(warning.message) for warning in warned] == [f"{note.side}: {note.message}"]
    assert (note.side, note.kind, note.values["dtype"]) == ("prediction", "wide-levels", "int64")

"""Labels that a rule names are no grey levels, whatever lies beside them."""

import numpy as np
import pytest
from cases import write_folder

import segbench

MASK = np.kron(np.eye(4, 5, dtype=np.uint8), np.ones((6, 8), np.uint8))
SOFT = (90 * MASK + np.arange(MASK.size).reshape(MASK.shape) % 150).astype(np.uint8)


@pytest.mark.parametrize(
    ("protocol", "kinds"),
    [
        (segbench.Saliency, []),
        (segbench.Pixels, ["void"]),
        (segbench.Boundaries, ["thick-ground-truth"]),
    ],
)
def test_a_label_beside_255(tmp_path, protocol, kinds):
    truth = MASK.copy()
    truth[-3:] = 255
    places = [write_folder(tmp_path / side, {"a.png": map_}) for side, map_ in (("gt", truth), ("pred", SOFT))]
    report = segbench.check(*places, protocol(positive=1))
    assert [finding.kind for finding in report.findings] == kinds

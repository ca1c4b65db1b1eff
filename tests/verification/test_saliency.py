"""Values of single images by other code: a miniature with known answers, and the 100 images of the official toolbox."""

import csv
import os
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import refused

from segbench import DataError
from segbench.verification.saliency import saliency_part

SOD = Path(os.environ.get("SEGBENCH_SOD", "nowhere"))
FILE = "official_per_image.csv"
HALF = {"method": "net", "image": "a", "mae": 0.125, "s_measure": 0.8112, "adaptive_f": 1.3 * 0.5 / 0.8}
"""The drawing of `tests/protocols/saliency/test_saliency.py`, with S to four digits only."""


def write(folder, *rows, curves=None):
    for name, pixels in (("ground_truth", [[0, 255], [0, 255]]), ("predictions/net", [[0, 128], [0, 255]])):
        (folder / name).mkdir(parents=True, exist_ok=True)
        iio.imwrite(folder / name / "a.png", np.array(pixels, np.uint8))
    if rows:
        with (folder / FILE).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    if curves is not None:
        np.savez(folder / "official_curves.npz", images=["a"], net_precision=curves, net_recall=curves)
    return folder


def checks_of(folder):
    return {(check.group, check.what): check for check in saliency_part(folder).checks()}


def test_values_are_recomputed_from_the_maps(tmp_path):
    row = HALF | {"mae": (127 / 255) / 4}
    checks = checks_of(write(tmp_path, row))
    assert checks["net", "mae"].state == checks["net", "f_adaptive"].state == "as expected"
    # Four digits are not enough, and the image that is off is found, too.
    assert checks["net", "s_measure"].state == checks["net", "its worst image"].state == "off"
    assert abs(checks["net", "s_measure"].difference) == abs(checks["net", "its worst image"].difference)


def test_curves_run_from_the_highest_threshold(tmp_path):
    falling = np.r_[np.ones(255), 0.5][np.newaxis]
    checks = checks_of(write(tmp_path, HALF, curves=falling))
    assert checks["net", "precision, 256 thresholds"].state == "as expected"
    assert checks["net", "recall, 256 thresholds"].got == 0.5


def test_what_is_missing_is_not_checked(tmp_path):
    checks = checks_of(write(tmp_path, HALF, HALF | {"image": "b"}, HALF | {"method": "other"}))
    assert {check.missing for check in checks.values()} == {
        "1 of 2 images lies in ground_truth and predictions/net",
        "0 of 1 image lie in ground_truth and predictions/other",
    }


def test_folders_that_will_not_do(tmp_path):
    with refused("no-known-values", DataError, path=str(tmp_path)):
        saliency_part(write(tmp_path))
    columns = ("mae", "s_measure", "adaptive_f")
    with refused("wrong-line", DataError, path=str(tmp_path / "official_per_image.csv"), line=2, columns=columns):
        saliency_part(write(tmp_path, {"method": "net", "image": "a", "mae": "none"}))
    curves = str(tmp_path / "official_curves.npz")
    with refused("wrong-shape", DataError, path=curves, method="net", shape=(1, 9), expected=(1, 256)):
        checks_of(write(tmp_path, HALF, curves=np.ones((1, 9))))
    (tmp_path / "official_curves.npz").write_bytes(b"no archive")
    with refused("no-curves", DataError, path=curves):
        checks_of(tmp_path)


@pytest.mark.skipif(not SOD.is_dir(), reason="SEGBENCH_SOD names no folder with the saliency images")
def test_the_official_values_of_100_images_and_three_methods():
    checks = saliency_part(SOD).checks()
    assert len(checks) == 42
    assert [check for check in checks if check.state != "as expected"] == []

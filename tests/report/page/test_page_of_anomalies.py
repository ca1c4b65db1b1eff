"""The page of anomaly maps: normal images are shown by their strongest false alarms, beside missed components."""

import re

import imageio.v3 as iio
import numpy as np
import pytest

from segbench import Anomalies, evaluate, export_report


@pytest.fixture
def page(tmp_path):
    """Return the page of three normal images, one with a strong false alarm, and two anomalous ones."""
    random = np.random.default_rng(0)
    for name, normal, high in (
        ("a", True, 90),
        ("b", True, 250),
        ("c", True, 120),
        ("d", False, 100),
        ("e", False, 200),
    ):
        mask, scores = np.zeros((40, 40), np.uint8), random.integers(0, 80, (40, 40), dtype=np.uint8)
        mask[10:20, 10:20] = 0 if normal else 255
        scores[12:18, 12:18] = high
        for folder, array in (("gt", mask), ("pred", scores)):
            (tmp_path / folder).mkdir(exist_ok=True)
            iio.imwrite(tmp_path / folder / f"{name}.png", array)
    result = evaluate(tmp_path / "gt", tmp_path / "pred", Anomalies())
    export_report(result, tmp_path / "r.html", most_panels=3, intervals=None)
    return (tmp_path / "r.html").read_text()


def test_the_strongest_false_alarm_has_a_row(page):
    assert re.search(r"<b>Nothing to find</b><span class=\"name\">b</span><small>highest score \.9804", page)


def test_pictures_hold_normal_and_anomalous_images(page):
    drawn = set(re.findall(r'data-image="(\w)"', page))
    assert {"b", "d"} <= drawn

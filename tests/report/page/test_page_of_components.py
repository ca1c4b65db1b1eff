"""The page of components of masks: it repeats the command with the settings that need each other."""

import imageio.v3 as iio
import numpy as np

from segbench import Objects, evaluate, export_report


def test_the_command_names_what_objects_are(tmp_path):
    mask = np.zeros((20, 30), np.uint8)
    mask[4:9, 5:12] = 255
    for folder in ("gt", "pred"):
        (tmp_path / folder).mkdir()
        iio.imwrite(tmp_path / folder / "a.png", mask)
    result = evaluate(tmp_path / "gt", tmp_path / "pred", Objects(kind="components", at=0.5, min_true=3))
    export_report(result, tmp_path / "r.html")
    assert "--kind components" in (tmp_path / "r.html").read_text()

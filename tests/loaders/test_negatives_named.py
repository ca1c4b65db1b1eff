"""Predictions without ground truth: the error names the option that counts them as negative, where they may be."""

import numpy as np
import pytest
from PIL import Image

from segbench import DataError, evaluate


def saved(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.eye(8, dtype=np.uint8) * 255).save(path)


def test_a_folder_of_normal_images_is_named(tmp_path):
    for k in range(3):
        saved(tmp_path / f"gt/broken/{k}.png")
        saved(tmp_path / f"pred/broken/{k}.png")
    saved(tmp_path / "pred/good/0.png")
    with pytest.raises(DataError, match=r"if these images hold nothing to find, negatives='good/\*' counts all"):
        evaluate(tmp_path / "gt", tmp_path / "pred")


def test_not_where_ground_truth_lacks_a_prediction(tmp_path):
    for name in ("gt/a", "gt/b", "gt/c", "pred/a", "pred/b", "pred/more/c"):
        saved(tmp_path / f"{name}.png")
    with pytest.raises(DataError) as caught:
        evaluate(tmp_path / "gt", tmp_path / "pred")
    assert "negatives" not in str(caught.value)

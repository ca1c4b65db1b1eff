"""Predictions without ground truth: the error names the option that counts them as negative, where they may be."""

import numpy as np
from PIL import Image
from refusing import refused

from segbench import DataError, evaluate


def saved(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.eye(8, dtype=np.uint8) * 255).save(path)


def test_a_folder_of_normal_images_is_named(tmp_path):
    for k in range(3):
        saved(tmp_path / f"gt/broken/{k}.png")
        saved(tmp_path / f"pred/broken/{k}.png")
    saved(tmp_path / "pred/good/0.png")
    with refused(
        "unpaired",
        DataError,
        extra=("good/0",),
        settings={"gt_pattern": ..., "pred_pattern": ..., "pairs": ..., "negatives": "good/*", "images": ("!good/*",)},
    ):
        evaluate(tmp_path / "gt", tmp_path / "pred")


def test_not_where_ground_truth_lacks_a_prediction(tmp_path):
    for name in ("gt/a", "gt/b", "gt/c", "pred/a", "pred/b", "pred/more/c"):
        saved(tmp_path / f"{name}.png")
    with refused("unpaired", DataError, missing=("c",), extra=("more/c",)) as caught:
        evaluate(tmp_path / "gt", tmp_path / "pred")
    assert "negatives" not in {advice.name for advice in caught.value.settings}

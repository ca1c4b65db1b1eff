"""Contours of overlapping regions of labels are those of the masks that they are."""

import json

import numpy as np
import pytest
from PIL import Image

import segbench as library
from segbench import Contours, count

BRATS = "WT=1+2+3,TC=1+3,ET=3"
MEMBERS = {"WT": (1, 2, 3), "TC": (1, 3), "ET": (3,)}


def drawn(seed, shape):
    """Draw a tumour in shells, and a prediction that is shifted, both with an ignored edge."""
    place = np.indices(shape) - np.reshape(shape, (-1, *[1] * len(shape))) / 2 + 0.3 * seed
    radius = np.sqrt((place**2).sum(axis=0))
    labels = np.select([radius < 1 + seed % 2, radius < 2.5, radius < 4], [3, 1, 2], 0).astype(np.uint8)
    predicted = np.roll(labels, 1 + seed % 2, axis=-1)
    labels[..., :1] = 4
    return labels, predicted


def alone(side, members, void):
    return (np.isin(side, members) & ~void).astype(np.uint8)


@pytest.mark.parametrize("shape", [(12, 15), (9, 10, 11)], ids=["images", "volumes"])
@pytest.mark.parametrize("surface", ["thin", "thick"])
def test_each_region_is_measured_as_its_mask(shape, surface):
    flat = len(shape) == 2
    surfaces = {"thin": "pixels" if flat else "voxels", "thick": "lengths" if flat else "areas"}
    rules = Contours(classes=BRATS, void=4, surface=surfaces[surface])
    of_masks = Contours(surface=surfaces[surface])
    images = {f"{seed}": drawn(seed, shape) for seed in range(3)}
    counts = {name: count(*pair, rules) for name, pair in images.items()}
    parts = rules.divided("class", counts).parts
    means = []
    for name, members in MEMBERS.items():
        expected = {
            image: count(*(alone(side, members, truth == 4) for side in (truth, predicted)), of_masks)
            for image, (truth, predicted) in images.items()
        }
        assert dict(parts[name].counts) == expected
        means.append(of_masks.table(expected).summary())
    summary = rules.table(counts).summary()
    for key in ("hd95", "dice", "nsd@2"):
        assert summary[key] == pytest.approx(np.mean([mean[key] for mean in means]))


def test_command(segbench, tmp_path):
    for seed in range(3):
        for folder, labels in zip(("gt", "pred"), drawn(seed, (12, 15)), strict=True):
            (tmp_path / folder).mkdir(exist_ok=True)
            Image.fromarray(labels).save(tmp_path / folder / f"{seed}.png")
    file = tmp_path / "r.segbench"
    folders = tmp_path / "gt", tmp_path / "pred"
    ran = segbench("contours", *folders, "--classes", BRATS, "--void", "4", "--background", "0", "-o", file)
    assert ran.code == 0
    assert f"classes:{BRATS}" in ran.out
    (run,) = json.loads(segbench("show", file, "--per-class", "--format", "json").out)["runs"]
    assert [*run["per_class"]] == ["WT", "TC", "ET"]
    (loaded,) = library.load_results(file)
    assert loaded.rules == Contours(classes=BRATS, void=4)
    assert loaded.parts("class")["TC"].summary["hd95"] > 0
    assert segbench("overlay", file, "-o", tmp_path / "overlays").code == 0
    assert segbench("check", "contours", *folders, "--classes", BRATS, "--void", "4").code == 0

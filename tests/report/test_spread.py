"""Mean and standard deviation, or median and quartiles, of metrics that are means over images."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest
from PIL import Image

from segbench import (
    Anomalies,
    Boundaries,
    Centerlines,
    Contours,
    Labels,
    Objects,
    Pixels,
    Regions,
    Saliency,
    evaluate,
    label_boundaries,
)

SIDE = 40


def square(start, size):
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[start : start + size, start : start + size] = 1
    return mask


def of_sizes(sizes, method="net", protocol=None):
    pairs = {f"{k}": (square(4, 20), square(4, size)) for k, size in enumerate(sizes)}
    return evaluate(pairs, protocol=protocol or Contours(), method=method)


def test_values_worked_by_hand():
    # Of a square 20 wide, one 10, 15, 19 and 20 wide at the same corner covers 1/4, 9/16, 361/400 and all.
    spread = of_sizes([10, 15, 19, 20], protocol=Labels()).spread["iou_images"]
    values = [0.25, 0.5625, 0.9025, 1.0]
    assert spread.images == 4
    assert spread.mean == pytest.approx(2.715 / 4)
    squares = sum((value - 2.715 / 4) ** 2 for value in values)
    assert spread.sd == pytest.approx(math.sqrt(squares / 3))
    assert (spread.lower, spread.median, spread.upper) == pytest.approx((0.484375, 0.7325, 0.926875))


def test_images_without_a_value_are_in_neither():
    result = of_sizes([18, 0, 19])  # 2 and 1 px off, and nothing
    spread = result.spread["hd95"]
    assert (spread.images, spread.mean, spread.median) == (2, 1.5, 1.5)
    assert result.spread["dice"].images == 3
    alone = of_sizes([18]).spread["hd95"]
    assert alone.images == 1
    assert math.isnan(alone.sd)
    assert "hd95" not in of_sizes([0]).spread


def random_pairs(kind, images=7):
    """Draw blobs, and what finds some of them, of maps of several sizes."""
    rng = np.random.default_rng(1)
    for _ in range(images):
        height, width = rng.integers(24, 40, 2)
        rows, columns = np.mgrid[:height, :width]
        centres = rng.integers(6, 20, (3, 2))
        truth, predicted = np.zeros((2, height, width))
        for number, (row, column) in enumerate(centres, 1):
            truth[np.hypot(rows - row, columns - column) < 4.5] = number
            predicted[np.hypot(rows - row - rng.integers(0, 3), columns - column) < 4] = number
        soft = np.clip(0.5 * (truth > 0) + 0.5 * rng.random(truth.shape), 0, 1)
        yield {
            "soft": ((truth > 0).astype(np.uint8), soft),
            "maps": (truth.astype(np.uint8), predicted.astype(np.uint8)),
            "masks": ((truth > 0).astype(np.uint8), (predicted > 0).astype(np.uint8)),
            "lines": (label_boundaries(truth.astype(np.uint8)), soft),
        }[kind]


MEANS = {
    "pixels": ("soft", Pixels(at=0.5), {"mean_image_f", "mean_image_f@0.5", "mean_image_mcc@0.5"}),
    "masks": ("masks", Labels(), {"iou_images", "dice_images", "miou_images"}),
    "labels": ("maps", Labels(classes=4), {"miou_images"}),
    "saliency": ("soft", Saliency(positive=">=1"), {"s_measure", "mae", "e_mean", "weighted_f", "f_max_of_image"}),
    "contours": ("masks", Contours(), {"dice", "hd95", "assd", "nsd@2", "boundary_iou"}),
    "classes": ("maps", Contours(classes="0-3"), {"dice_images", "hd95_images"}),
    "instances": ("maps", Objects(), {"aji", "aji_plus", "f1_images@0.5"}),
    "components": ("masks", Objects(kind="components"), {"lesion_f1_images"}),
    "centerlines": ("masks", Centerlines(), {"cldice_images", "betti0_error", "euler_error"}),
    "boundaries": ("lines", Boundaries(thresholds=5), {"mean_image_f"}),
    "regions": ("maps", Regions(), {"pri_ois", "voi_ois", "are_ois"}),
    "anomalies": ("soft", Anomalies(), set()),
}
POOLED = {
    "ods_f",
    "ois_f",
    "iou",
    "miou",
    "pixel_accuracy",
    "miou_classes",
    "f_max",
    "f1@0.5",
    "cldice",
    "pri_ods",
    "pq",
}


@pytest.mark.parametrize("name", MEANS)
def test_a_metric_has_a_spread_where_it_is_the_mean_of_the_values_of_images(name):
    kind, protocol, expected = MEANS[name]
    result = evaluate(list(random_pairs(kind)), protocol=protocol)
    assert expected <= result.spread.keys()
    assert not result.spread.keys() & POOLED
    for key, of_images in result.spread.items():
        assert of_images.mean == pytest.approx(result.summary[key], abs=1e-12), key


@pytest.fixture
def kept(segbench, tmp_path):
    """Return a results file of label masks and contours of two methods, the first without a prediction in one image."""
    for folder in ("gt", "some", "every"):
        (tmp_path / folder).mkdir()
    for k, (some, every) in enumerate(zip([10, 15, 19, 20, 0], [12, 12, 14, 18, 19], strict=True)):
        for folder, size in (("gt", 20), ("some", some), ("every", every)):
            Image.fromarray(255 * square(4, size)).save(tmp_path / folder / f"{k}.png")
    file, folders = tmp_path / "r.segbench", [tmp_path / folder for folder in ("gt", "some", "every")]
    assert segbench("labels", *folders, "-o", file).code == 0
    assert segbench("contours", *folders, "-o", file).code == 0
    return file


def shown(segbench, kept, *options):
    found = segbench("show", kept, "--only", "protocol:labels", *options)
    assert found.code == 0, found.err
    return found


def test_mean_and_standard_deviation_in_every_format(segbench, kept):
    values = [0.25, 0.5625, 0.9025, 1.0, 0.0]
    mean, sd = np.mean(values), np.std(values, ddof=1)
    written = f"{mean:.4f} ± {sd:.4f}".replace("0.", ".")
    table = shown(segbench, kept, "--spread", "sd").out
    assert written in table
    note = (
        "mean ± standard deviation over images, of metrics that are means over images; the others have none: IoU, Dice,"
    )
    assert note in table
    markdown = shown(segbench, kept, "--spread", "sd", "--metrics", "iou_images", "--format", "markdown").out
    assert re.search(rf"\| some +\| +{re.escape(written)} \|", markdown)
    assert written.replace("±", r"$\pm$") in shown(segbench, kept, "--spread", "sd", "--format", "latex").out
    rows = list(csv.DictReader(io.StringIO(shown(segbench, kept, "--spread", "sd", "--format", "csv").out)))
    (some,) = [row for row in rows if row["method"] == "some"]
    assert (float(some["iou_images"]), float(some["iou_images_sd"])) == pytest.approx((mean, sd))
    assert some["iou_images_images"] == "5"
    assert "iou_sd" not in some
    run = json.loads(shown(segbench, kept, "--spread", "sd", "--format", "json", "--metrics", "iou,iou_images").out)[
        "runs"
    ][0]
    assert list(run["spread"]) == ["iou_images"]
    assert run["spread"]["iou_images"] == pytest.approx(
        {"images": 5, "mean": mean, "sd": sd, "median": 0.5625, "lower": 0.25, "upper": 0.9025}
    )
    assert "spread" not in json.loads(shown(segbench, kept, "--format", "json").out)["runs"][0]


def test_medians_and_quartiles_take_the_place_of_means(segbench, kept):
    table = shown(segbench, kept, "--spread", "quartiles").out
    (some,) = [line for line in table.splitlines() if line.startswith("some")]
    assert some.split()[:3] == ["some", "-", "-"]  # pooled IoU and Dice have no median
    assert ".5625 [.2500, .9025]" in some
    assert "median [lower quartile, upper quartile] over images" in table
    rows = list(csv.DictReader(io.StringIO(shown(segbench, kept, "--spread", "quartiles", "--format", "csv").out)))
    (some,) = [row for row in rows if row["method"] == "some"]
    assert [float(some[f"iou_images_{part}"]) for part in ("median", "lower", "upper")] == [0.5625, 0.25, 0.9025]
    assert float(some["iou"]) > 0  # estimates stay


def test_the_best_median_is_marked(segbench, kept):
    # The mean IoU of the other is higher, .45 against .54, its median is not.
    options = "--metrics", "iou_images", "--format", "markdown"
    by_median = shown(segbench, kept, "--spread", "quartiles", *options).out
    assert "**.5625 [.2500, .9025]**" in by_median
    by_mean = shown(segbench, kept, "--spread", "sd", *options).out
    assert by_mean.count("**") == 2


def test_pooled_metrics_name_the_means_to_choose(segbench, kept):
    table = shown(segbench, kept, "--spread", "sd", "--metrics", "iou,dice").out
    assert "the others have none: IoU, Dice; further means: --metrics iou_images,dice_images," in table
    assert "±" not in table.splitlines()[1]


def test_parts_have_a_spread_and_their_mean_has_none(segbench, tmp_path):
    for folder in ("gt", "net"):
        for group in "xy":
            (tmp_path / folder / group).mkdir(parents=True)
            for k in range(3):
                size = 20 if folder == "gt" else 15 + k
                Image.fromarray(255 * square(4, size)).save(tmp_path / folder / group / f"{k}.png")
    file = tmp_path / "r"
    run = "contours", tmp_path / "gt", tmp_path / "net", "--group-by", "folder", "-o", file
    assert segbench(*run).code == 0
    table = segbench("show", file, "--spread", "sd", "--metrics", "dice").out
    lines = {line.split("  ")[0].strip(): line for line in table.splitlines()}
    assert "±" in lines["x"]
    assert "±" not in next(line for line in table.splitlines() if line.startswith("mean of"))


@pytest.mark.parametrize("options", [["--per-image"], ["--per-threshold"], ["--intervals", "95"]])
def test_what_does_not_go_together_is_refused(segbench, kept, options):
    assert segbench("show", kept, "--spread", "sd", *options).code == 2
    if "--intervals" in options:
        run = json.loads(shown(segbench, kept, "--spread", "sd", *options, "--format", "json").out)["runs"][0]
        assert run["spread"]["iou_images"]["images"] == 5
        assert "iou_images" in run["intervals"]

"""AU-sPRO of MVTec LOCO: saturation by hand, a direct computation, kinds of anomalies, and files that are refused."""

import json

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import parts_of, refused

from segbench import Accumulator, Anomalies, ArgumentError, FailedImages, evaluate
from segbench.core.messages import Setting

RULES = [
    {"defect_name": "missing", "pixel_value": 255, "saturation_threshold": 40, "relative_saturation": False},
    {"defect_name": "bent", "pixel_value": 254, "saturation_threshold": 0.5, "relative_saturation": True},
]


def config(path, rules=RULES):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rules if isinstance(rules, str) else json.dumps(rules))
    return path


def saved(folder, defects, maps):
    """Write the masks of defects and the maps of images; give both folders."""
    for name, masks in defects.items():
        for k, mask in enumerate(masks):
            path = folder / "ground_truth" / name / f"{k:03}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            iio.imwrite(path, mask)
    for name, scores in maps.items():
        path = folder / "maps" / f"{name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, scores)
    return folder / "ground_truth", folder / "maps"


def measured(folder, defects, maps, **options):
    protocol = Anomalies(defects=config(folder / "defects_config.json"), **options)
    return evaluate(*saved(folder, defects, maps), protocol, gt_pattern="*/#", negatives="good/*")


def row_defect(value, size, high, shape=(10, 20)):
    """Return the mask of a row of pixels, and a map with the first of them above all others."""
    mask, scores = np.zeros(shape, np.uint8), np.zeros(shape, np.float32)
    mask.flat[:size] = value
    scores.flat[:high] = 1
    return mask, scores


@pytest.mark.parametrize(
    ("value", "size", "high", "share"),
    [
        (255, 100, 40, 1),  # as many as saturate
        (255, 100, 10, 1 / 4),
        (255, 20, 10, 1 / 2),  # smaller than its threshold: all pixels
        (254, 100, 50, 1),  # half of them
        (254, 101, 25, 1 / 2),  # int(50.5)
    ],
)
def test_a_defect_saturates(tmp_path, value, size, high, share):
    mask, scores = row_defect(value, size, high)
    result = measured(tmp_path, {"logical_anomalies/0": [mask]}, {"logical_anomalies/0": scores, "good/0": 0 * scores})
    # Then all other pixels come together: a straight line from the share to 1, up to .05.
    assert result.summary["auspro_05"] == pytest.approx(share + (1 - share) * 0.05 / 2, abs=1e-12)


def random_set(seed=1):
    random = np.random.default_rng(seed)
    defects, maps = {}, {}
    for kind in ("logical_anomalies", "structural_anomalies", "good"):
        for k in range(4):
            name, scores = f"{kind}/{k:03}", random.integers(0, 200, (40, 50)).astype(np.float32)
            for j in range(0 if kind == "good" else 1 + k % 2):
                mask = np.zeros(scores.shape, np.uint8)
                y, x = random.integers(0, 25, 2)
                mask[y : y + 9, x : x + 12] = (255, 254)[(j + k) % 2]
                scores[mask > 0] += random.integers(0, 150)
                defects.setdefault(name, []).append(mask)
            maps[name] = scores
    return defects, maps


def directly(defects, maps, limit=0.05):
    """AU-sPRO over every distinct score."""
    union = {name: np.any([mask > 0 for mask in defects.get(name, [0 * maps[name]])], axis=0) for name in maps}
    normal = np.concatenate([scores[~union[name]] for name, scores in maps.items()])
    of_defects = [
        (maps[name][mask > 0], min(40, (mask > 0).sum()) if mask.max() == 255 else int(0.5 * (mask > 0).sum()))
        for name, masks in defects.items()
        for mask in masks
    ]
    x, y = [0.0], [0.0]
    for threshold in np.unique(np.concatenate([scores.ravel() for scores in maps.values()]))[::-1]:
        x.append(np.mean(normal >= threshold))
        y.append(np.mean([min((scores >= threshold).sum() / size, 1) for scores, size in of_defects]))
    x, y = np.array(x), np.array(y)
    last = np.count_nonzero(x <= limit)
    end = y[last - 1] + (y[last] - y[last - 1]) * (limit - x[last - 1]) / (x[last] - x[last - 1])
    return np.trapezoid(np.append(y[:last], end), np.append(x[:last], limit)) / limit


@pytest.mark.parametrize("kind", ["logical", "structural"])
def test_a_kind_is_that_of_its_images_and_normal_ones(tmp_path, kind):
    defects, maps = random_set()
    some = {name: scores for name, scores in maps.items() if kind in name or "good" in name}
    expected = directly({name: masks for name, masks in defects.items() if kind in name}, some)
    assert measured(tmp_path, defects, maps).summary[f"auspro_05_{kind}"] == pytest.approx(expected, abs=1e-12)


def test_both_kinds_weigh_alike(tmp_path):
    summary = measured(tmp_path, *random_set()).summary
    kinds = [summary[f"auspro_05_{kind}"] for kind in ("logical", "structural")]
    assert summary["auspro_05"] == np.mean(kinds)


def test_intervals_leave_out_images(tmp_path):
    defects, maps = random_set()
    whole = measured(tmp_path / "all", defects, maps)
    left_out = []
    for name in maps:
        rest = {other: scores for other, scores in maps.items() if other != name}
        found = {other: masks for other, masks in defects.items() if other != name}
        left_out.append(measured(tmp_path / name.replace("/", "-"), found, rest).summary["auspro_05"])
    n = len(left_out)
    expected = np.sqrt((n - 1) / n * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    assert whole.intervals().standard_errors["auspro_05"] == pytest.approx(expected, rel=0.02)


def test_without_a_kind_in_names_all_images_are_one(tmp_path):
    mask, scores = row_defect(255, 100, 40)
    summary = measured(tmp_path, {"bad/0": [mask]}, {"bad/0": scores, "good/0": 0 * scores}).summary
    assert summary["auspro_05"] == 1
    assert summary.undefined["auspro_05_logical"].kind == "no-defects-of-kind"


def test_a_value_that_is_no_defect_fails_its_image(tmp_path):
    mask, scores = row_defect(7, 100, 40)
    with pytest.warns(FailedImages):
        result = measured(tmp_path, {"bad/0": [mask]}, {"bad/0": scores, "good/0": 0 * scores})
    failure = result.failed["bad/0"]
    assert (failure.kind, failure.values["values"]) == ("unknown-defect", ("7",))
    assert Setting("defects", None) in failure.hint.values.values()


def test_several_files_without_defects_name_the_setting(tmp_path):
    defects, maps = random_set()
    folders = saved(tmp_path, defects, maps)
    with pytest.warns(FailedImages):
        failed = evaluate(*folders, Anomalies(), gt_pattern="*/#", negatives="good/*").failed
    assert {failure.kind for failure in failed.values()} == {"several-annotators"}
    assert {Setting("defects", None) in parts_of(failure.hint, Setting) for failure in failed.values()} == {True}


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        ("{", "unreadable"),
        ([{"pixel_value": 255}], "unreadable"),
        ([{"pixel_value": 255, "saturation_threshold": 2, "relative_saturation": True}], "out-of-range"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, rules, kind):
    file = tmp_path / "defects_config.json"
    with refused(kind, ArgumentError, file=str(file)):
        Anomalies(defects=config(file, rules))


def test_a_folder_without_files_is_refused(tmp_path):
    with refused("no-defects", ArgumentError, settings={"defects": str(tmp_path)}):
        Anomalies(defects=tmp_path)


def test_accumulators_give_the_same(tmp_path):
    defects, maps = random_set()
    result = measured(tmp_path, defects, maps)
    accumulator = Accumulator(Anomalies(defects=tmp_path / "defects_config.json"))
    for name, scores in maps.items():
        masks = defects.get(name, [np.zeros(scores.shape, np.uint8)])
        accumulator.update(masks if len(masks) > 1 else masks[0], scores, name=name)
    assert accumulator.compute().summary["auspro_05"] == result.summary["auspro_05"]


def test_results_are_kept(tmp_path):
    defects, maps = random_set()
    folders = saved(tmp_path, defects, maps)
    protocol = Anomalies(defects=config(tmp_path / "defects_config.json"))
    options = {"gt_pattern": "*/#", "negatives": "good/*", "results": tmp_path / "r"}
    first, again = (evaluate(*folders, protocol, **options) for _ in range(2))
    assert again.reused == len(maps)
    assert repr(first.summary) == repr(again.summary)

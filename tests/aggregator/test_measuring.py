"""Settings of measuring: whatever counted a run, it shows what a run with these settings gives, to the last bit."""

import json
from collections import Counter

import numpy as np
import pytest
from cases import write_folder
from hypothesis import given
from hypothesis import strategies as st

import segbench
from segbench import Accumulator, Classes, Contours, Labels, Objects, Pixels, evaluate, load_results, merge_results
from segbench.aggregator.codec import EncodedCounts, encode_kept
from segbench.aggregator.result import parts_if_any
from segbench.report.documents import document
from segbench.report.tables import TableSettings

IMAGES = 4
SHAPE = (24, 26)


def soft(rng, truth, levels):
    scores = 1 / (1 + np.exp(-rng.normal(size=truth.shape) - truth))
    return np.rint(255 * scores).astype(np.uint8) if levels else scores.astype(np.float32)


def labelled(rng, shape=SHAPE, classes=4):
    """Draw a label map of upright bands, and a prediction with wrong pixels."""
    truth = np.broadcast_to((np.arange(shape[1]) + rng.integers(6)) // 7 % classes, shape).astype(np.uint8)
    wrong = rng.random(shape) < 0.2
    return truth, np.where(wrong, rng.integers(0, classes, shape), truth).astype(np.uint8)


def mask(rng, shape=SHAPE):
    top, left = rng.integers(2, 9, 2)
    drawn = np.zeros(shape, np.uint8)
    drawn[top : top + 9, left : left + 11] = 255
    return drawn


def objects(rng):
    truth, predicted = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for number, (top, left) in enumerate([(1, 1), (1, 14), (13, 1), (13, 14)], 1):
        truth[top : top + 9, left : left + 10] = number
        above, beside = rng.integers(0, 5, 2)
        predicted[top + above : top + 9, left + beside : left + 10] = number
    return truth, predicted


def soft_images(rng):
    truths = [mask(rng) for _ in range(IMAGES)]
    return [(truth, soft(rng, truth > 0, levels=True)) for truth in truths]


def float_images(rng):
    return [(truth, soft(rng, truth > 0, levels=False)) for truth, _ in soft_images(rng)]


def class_images(rng):
    truths = [labelled(rng, classes=3)[0] for _ in range(IMAGES)]
    return [(truth, np.stack([soft(rng, truth == label, levels=False) for label in range(3)])) for truth in truths]


def label_images(rng):
    return [labelled(rng) for _ in range(IMAGES)]


def mask_images(rng):
    pairs = [(mask(rng), mask(rng)) for _ in range(IMAGES)]
    empty = np.zeros(SHAPE, np.uint8)
    return [*pairs[:-1], (pairs[-1][0], empty)]


def object_images(rng):
    return [objects(rng) for _ in range(IMAGES)]


def random_scores(rng):
    return tuple(rng.choice([0.0, 0.25, 1.0, rng.random(), rng.random()], rng.integers(0, 4)).tolist())


def pixel_settings(rng):
    return {"at": random_scores(rng), "calibration": bool(rng.integers(2))}


def tuned_settings(rng):
    source = f"tuning set of {rng.integers(9)} images, data 0"
    return {**pixel_settings(rng), "thresholds": (0.8, 0.5, 0.25), "thresholds_source": source}


def background(rng):
    return {"background": tuple(sorted(rng.choice(4, rng.integers(0, 3), replace=False).tolist()))}


def distances(rng):
    return {
        "nsd": tuple(np.round(3 * rng.random(rng.integers(0, 3)), 2).tolist()),
        "hd95": str(rng.choice(["larger", "union"])),
        "empty": str(rng.choice(["undefined", "diagonal"])),
        "spacing": float(rng.choice([1, 0.7, 2.5])),
    }


def tool(rng):
    return {"convention": str(rng.choice(["medpy", "metrics-reloaded"]))}


def overlaps(rng):
    return {"iou": tuple(np.unique(np.round(0.5 + rng.random(rng.integers(1, 4)) / 2, 3)).tolist())}


CASES = {
    "pixels": (Pixels, {"positive": 255}, soft_images, pixel_settings),
    "pixels-float": (Pixels, {"void": 3, "invert": True}, float_images, pixel_settings),
    "pixels-rounded": (Pixels, {"positive": 255, "quantize": 8}, float_images, pixel_settings),
    "pixels-tuned": (Pixels, {}, float_images, tuned_settings),
    "classes": (Classes, {"labels": range(3)}, class_images, pixel_settings),
    "labels": (Labels, {"classes": 4}, label_images, background),
    "contours": (Contours, {}, mask_images, distances),
    "contours-lengths": (Contours, {"surface": "lengths"}, mask_images, distances),
    "contours-tool": (Contours, {}, mask_images, tool),
    "contours-classes": (Contours, {"classes": 4}, label_images, lambda rng: distances(rng) | background(rng)),
    "objects": (Objects, {}, object_images, overlaps),
    "objects-panoptic": (Objects, {"divisor": 10}, object_images, overlaps),
}


def written(tmp_path, images):
    """Write images into folders of two groups; return the folders of ground truth and predictions."""
    folders = tmp_path / "gt", tmp_path / "net"
    for side, folder in enumerate(folders):
        arrays = {}
        for k, pair in enumerate(images):
            kind = "png" if pair[side].dtype == np.uint8 and pair[side].ndim == 2 else "npy"
            arrays[f"{'ab'[k % 2]}/{k}.{kind}"] = pair[side]
        write_folder(folder, arrays)
    return folders


def everything(result):
    """Return all that a result says as text: metrics, reasons, intervals, images, CSV and the curve."""
    images = {name: [summary.metrics, summary.undefined] for name, summary in result.per_image.items()}
    curve = None if result.curve is None else [np.asarray(part).tolist() for part in vars_of(result.curve)]
    return {
        "run": json.dumps(result.to_dict(intervals=result.intervals(replicates=20)), sort_keys=True),
        "order": list(result.summary),
        "optimistic": list(result.summary.optimistic),
        "images": repr(images),
        "table": document([result], "csv") + document([result], "csv", TableSettings(rows="image")),
        "curve": repr(curve),
    }


def vars_of(curve):
    return [value for _, value in sorted(vars(curve).items()) if isinstance(value, np.ndarray)]


def require_alike(found, expected):
    found, expected = everything(found), everything(expected)
    for part, value in expected.items():
        assert found[part] == value, part


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_stored_run_shows_what_a_run_with_the_settings_gives(tmp_path, case, seed):
    kind, counting, images, values = CASES[case]
    rng = np.random.default_rng(seed)
    folders = written(tmp_path, images(rng))
    before, asked = values(rng), values(rng)
    evaluate(*folders, kind(**counting, **before), results=tmp_path / "stored")
    expected = evaluate(*folders, kind(**counting, **asked), results=tmp_path / "anew")
    (stored,) = load_results(tmp_path / "stored")
    found = stored.with_settings(**asked)
    require_alike(found, expected)
    again = evaluate(*folders, kind(**counting, **asked), results=tmp_path / "stored")
    assert again.reused == IMAGES
    (stored,) = load_results(tmp_path / "stored")
    require_alike(stored, expected)
    for of_found, of_expected in zip(groups_and_classes(found), groups_and_classes(expected), strict=True):
        require_alike(of_found, of_expected)


def groups_and_classes(result):
    groups = result.parts("group", by="folder")
    return [*groups.values(), groups.mean, *parts_if_any(result, "class").values()]


@pytest.fixture
def keeping(monkeypatch):
    """Let results files keep what they keep of very many scores, of a few hundred."""
    for module in ("segbench.curves.pooled", "segbench.protocols.pixels.metrics"):
        monkeypatch.setattr(f"{module}.REDUCED_ABOVE", 500)


def images_on_two_scales(rng):
    """Draw one image without positives, and two with scores that are no probabilities."""
    (_, first), second, *others = float_images(rng)
    return [(np.zeros(SHAPE, np.uint8), first), second, *((truth, scores * 300) for truth, scores in others)]


def images_of_one_score(rng):
    return [(truth, np.full(SHAPE, 128, np.uint8)) for truth, _ in soft_images(rng)]


def masks_with_an_empty_truth(rng):
    *pairs, (_, predicted) = mask_images(rng)
    return [*pairs, (np.zeros(SHAPE, np.uint8), predicted)]


KEPT = {
    "floats": float_images,
    "two-scales": images_on_two_scales,
    "levels": soft_images,
    "one-score": images_of_one_score,
    "masks": masks_with_an_empty_truth,
}


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize("images", KEPT)
@pytest.mark.parametrize("seed", range(4))
def test_so_does_a_run_of_which_the_file_keeps_the_pool(tmp_path, monkeypatch, images, seed):
    monkeypatch.setattr("segbench.protocols.pixels.metrics._MANY_IMAGES", 1)
    rng = np.random.default_rng([seed, *images.encode()])
    folders = written(tmp_path, KEPT[images](rng))
    before, asked = ((tuned_settings if rng.integers(2) else pixel_settings)(rng) for _ in range(2))
    if images == "two-scales":  # counting doubts shares beside other scores
        before, asked = (values | {"at": tuple(2 * np.ceil(values["at"]))} for values in (before, asked))
    for file, values in (("stored", before), ("alike", asked)):
        evaluate(*folders, Pixels(positive=">=128", **values), results=tmp_path / file)
    (stored,), (alike,) = (load_results(tmp_path / file) for file in ("stored", "alike"))
    monkeypatch.setattr("segbench.protocols.pixels.metrics.PixelTable.worth_keeping", False)
    first, expected = (evaluate(*folders, Pixels(positive=">=128", **values)) for values in (before, asked))
    assert stored.kept is not None
    assert encode_kept(stored.kept) == encode_kept(alike.kept)  # whatever it was measured with
    untuned = {"thresholds": (), "thresholds_source": ""}
    require_alike(stored, first)
    require_alike(stored.with_settings(**untuned | asked), expected)
    require_alike(alike, expected)
    require_alike(alike.with_settings(**untuned | before), first)


@pytest.mark.usefixtures("keeping")
@pytest.mark.parametrize(
    ("asked", "unpacked"),
    [({}, 0), ({"calibration": True}, 0), ({"at": 0.5}, IMAGES), ({"thresholds": (0.5,)}, IMAGES)],
)
def test_a_kept_pool_takes_each_image_at_most_once(tmp_path, monkeypatch, asked, unpacked):
    folders = written(tmp_path, float_images(np.random.default_rng(0)))
    evaluate(*folders, results=tmp_path / "stored")
    images = []
    of_image = EncodedCounts.__getitem__
    monkeypatch.setattr(EncodedCounts, "__getitem__", lambda self, name: images.append(name) or of_image(self, name))
    monkeypatch.setattr(EncodedCounts, "in_batches", None)
    (stored,) = load_results(tmp_path / "stored", **asked)
    assert str(stored.summary)
    assert len(images) == unpacked


@pytest.mark.parametrize("case", ["pixels", "pixels-float", "pixels-tuned"])
@pytest.mark.parametrize("seed", range(3))
def test_so_do_pixels_without_the_names_of_images(case, seed):
    kind, counting, images, values = CASES[case]
    rng = np.random.default_rng(seed)
    before, asked = values(rng), values(rng)
    of_each = [Accumulator(kind(**counting, **chosen)) for chosen in (before, asked)]
    for k, (truth, scores) in enumerate(images(rng)):
        for accumulator in of_each:
            accumulator.update(truth, scores, name=str(k) if k == 0 else None)
    counted = [accumulator.compute() for accumulator in of_each]
    require_alike(counted[0].with_settings(**asked), counted[1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.filterwarnings("ignore:parts of")
def test_so_does_a_run_put_together_of_halves_with_different_settings(tmp_path, request, case, keeps):
    if keeps:
        request.getfixturevalue("keeping")
    kind, counting, images, values = CASES[case]
    rng = np.random.default_rng(len(case))
    folders = written(tmp_path, images(rng))
    asked = values(rng)
    for half in "ab":
        rules = kind(**counting, **values(rng))
        evaluate(*folders, rules, images=[f"{half}/*"], results=tmp_path / half)
    (merged,) = merge_results([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    expected = evaluate(*folders, kind(**counting, **asked))
    require_alike(merged.with_settings(**asked), expected)


SCORES = st.floats(0, 1) | st.floats(-1e6, 1e6) | st.sampled_from([0.1234567, 0.12345671, 0.3, 1 / 3])
TOLERANCES = st.floats(0, 1e9) | st.integers(0, 20) | st.sampled_from([2, 2.0, 1 / 3])


@given(at=st.lists(SCORES, max_size=6), nsd=st.lists(TOLERANCES, max_size=6))
def test_no_two_metrics_of_a_table_have_one_key(at, nsd):
    for rules in (Pixels(at=at, calibration=True), Classes(labels=range(2), at=at), Contours(nsd=nsd), Objects()):
        keys = Counter(metric.key for metric in rules.metrics() if metric.key)
        images = Counter(metric.image_key for metric in rules.metrics() if metric.image_key and metric.key)
        assert max(keys.values()) == 1
        assert max(images.values()) == 1
    named = {float(metric.key.partition("@")[2]) for metric in Pixels(at=at).metrics() if "@" in metric.key}
    assert named == set(Pixels(at=at).at)


@given(st.lists(st.floats(0.5, 1).map(lambda iou: round(iou, 6)), min_size=1, max_size=6))
def test_no_two_metrics_of_objects_have_one_key(iou):
    keys = Counter(metric.key for metric in Objects(iou=iou).metrics() if metric.key)
    assert max(keys.values()) == 1


def test_thresholds_are_part_of_the_signature_without_a_source_and_gone_when_they_are_taken_away():
    result = evaluate([([0, 1, 1, 0], [0.1, 0.9, 0.5, 0.3])])
    at_two, at_one = (result.with_settings(thresholds=values) for values in ([0.9, 0.3], [0.4]))
    assert len({result.signature, at_two.signature, at_one.signature}) == 3
    assert at_two.with_settings(thresholds=()).signature == result.signature
    tuned = result.with_thresholds(segbench.tuned_thresholds(result))
    assert tuned.with_settings(thresholds=()).signature == result.signature

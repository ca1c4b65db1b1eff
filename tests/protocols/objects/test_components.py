"""Connected components of masks: SMIYC's component measure and lesion F1, worked by hand."""

import re
from fractions import Fraction

import imageio.v3 as iio
import numpy as np
import pytest
from cases import drawn
from refusing import refused
from scipy.ndimage import label

from segbench import Accumulator, ArgumentError, DataError, Objects, count, evaluate, load_results
from segbench.core.messages import Setting


def metrics(truth, predicted, valid=None, **settings):
    return count(truth, predicted, Objects(kind="components", **settings), valid).metrics()


def test_pixels_of_a_prediction_in_other_true_components_are_not_in_the_union():
    found = count(drawn("###.###."), drawn("..#####."), Objects(kind="components"))
    # first: 1 of 3 + 5 pixels without the 4 in true components; second: 3 of 3 + 1; the prediction: 4 of 5
    assert found.shared.tolist() == [1, 3, 4]
    assert found.whole.tolist() == [4, 4, 5]
    scores = found.metrics()
    assert scores["component_siou"] == (1 / 4 + 3 / 4) / 2
    assert scores["component_ppv"] == 4 / 5
    assert scores["component_f1@0.25"] == 1
    assert scores["component_f1@0.5"] == 2 / 3
    assert scores["component_f1@0.75"] == 2 / 3
    assert scores["component_f1"] == pytest.approx((1 + 10 * 2 / 3) / 11)


def test_a_prediction_below_the_threshold_is_false():
    scores = metrics(drawn("##........"), drawn("########.."))
    assert scores["component_siou"] == scores["component_ppv"] == 1 / 4
    assert scores["component_f1@0.25"] == 1
    assert scores["component_f1@0.5"] == 0
    assert scores["component_f1"] == pytest.approx(1 / 11)


def test_lesions_are_found_by_one_pixel_and_false_without_any():
    scores = metrics(drawn("###.###..."), drawn("#.......##"))
    assert scores["lesion_f1"] == 2 / (2 + 1 + 1)


def test_components_touch_at_corners_or_do_not():
    diagonal = drawn("#..", ".#.", "..#")
    assert count(diagonal, diagonal, Objects(kind="components")).objects.tolist() == [[1, 1, 0]]
    assert count(diagonal, diagonal, Objects(kind="components", connectivity=4)).objects.tolist() == [[3, 3, 0]]


def test_small_predictions_are_removed_before_small_true_components():
    truth, predicted = drawn("##..####.#"), drawn("####.###.#")
    found = count(truth, predicted, Objects(kind="components", min_predicted=2, min_true=3))
    # the last pixel is no prediction; the first two pixels are void with what is predicted there, which leaves 2 of it
    assert found.objects.tolist() == [[1, 2, 0]]
    assert found.shared.tolist() == [3, 0, 3]
    assert found.whole.tolist() == [4, 2, 3]


def test_void_is_in_no_prediction():
    truth = np.array([[1, 1, 255, 255, 0, 0]])
    found = count(truth, drawn("######"), Objects(kind="components", positive=1, void=[255]))
    assert found.objects.tolist() == [[1, 2, 0]]
    assert found.whole.tolist() == [2, 2, 2]


def test_scores_are_cut_above_the_threshold():
    truth, scores = drawn("#.."), np.array([[0.5, 0.4, 0.4]])
    assert metrics(truth, scores, at=0.4)["component_siou"] == 1
    assert metrics(truth, scores, at=0.5)["component_siou"] == 0


def test_images_without_components():
    empty, full = drawn("..."), drawn("##.")
    undefined = metrics(empty, empty)
    assert undefined["fa"] == 0
    assert all(np.isnan(value) for key, value in undefined.items() if not key.endswith(("objects", "fa")))
    scores = metrics(empty, full)
    assert (scores["component_f1"], scores["lesion_f1"], scores["component_ppv"]) == (0, 0, 0)
    assert np.isnan(scores["component_siou"])


def straightforward(truth, predicted, min_true, min_predicted):
    """Score an image as the challenge's description has it, loop by loop; 255 is void in the ground truth."""
    found = label(predicted & (truth != 255), np.ones((3, 3)))[0]
    true = label(truth == 1, np.ones((3, 3)))[0]
    for k in range(1, found.max() + 1):
        if (found == k).sum() < min_predicted:
            found[found == k] = 0
    counted = truth != 255
    for k in range(1, true.max() + 1):
        if (true == k).sum() < min_true:
            counted &= true != k
    true, found = true[counted], found[counted]
    siou = []
    for k in np.unique(true[true > 0]):
        both = np.isin(found, np.unique(found[(true == k) & (found > 0)]))
        adjusted = ((true == k) | both).sum() - (both & (true > 0) & (true != k)).sum()
        siou.append(Fraction(int(((true == k) & both).sum()), int(adjusted)))
    parts = [found == k for k in np.unique(found[found > 0])]
    ppv = [Fraction(int((part & (true > 0)).sum()), int(part.sum())) for part in parts]
    f1 = []
    for at in [Fraction(k, 20) for k in range(5, 16)]:
        hits, false = sum(one >= at for one in siou), sum(one < at for one in ppv)
        f1.append(Fraction(2 * hits, hits + len(siou) + false))
    return [sum(values) / len(values) for values in (f1, siou, ppv)]


@pytest.mark.parametrize("seed", range(40))
def test_random_masks_are_scored_as_by_straightforward_loops(seed):
    rng = np.random.default_rng(seed)
    truth = (rng.random((14, 17)) < rng.choice([0.2, 0.4])).astype(np.uint8)
    truth[rng.random(truth.shape) < rng.choice([0, 0.1])] = 255
    predicted = rng.random(truth.shape) < rng.choice([0.2, 0.4])
    sizes = {"min_true": int(rng.integers(0, 4)), "min_predicted": int(rng.integers(0, 4))}
    scores = metrics(truth, predicted, positive=1, void=[255], **sizes)
    for key, value in zip(("f1", "siou", "ppv"), straightforward(truth, predicted, **sizes), strict=True):
        assert scores[f"component_{key}"] == pytest.approx(float(value), abs=1e-15)


@pytest.fixture
def folders(tmp_path):
    rng = np.random.default_rng(1)
    for name in "abc":
        truth = np.zeros((30, 40), np.uint8)
        truth[5:15, 5:20], truth[20:, 25:] = 1, 1
        truth[:, :3] = 255
        scores = np.where(truth == 1, 0.7, 0.2) + rng.normal(0, 0.1, truth.shape).round(2)
        for side, values in (("gt", truth), ("pred", scores.astype(np.float32))):
            (tmp_path / side).mkdir(exist_ok=True)
            np.save(tmp_path / side / f"{name}.npy", values)
    return tmp_path / "gt", tmp_path / "pred"


def test_the_best_threshold_is_that_of_the_f1_of_all_pixels(folders, tmp_path):
    settings = {"kind": "components", "positive": 1, "void": (255,), "min_predicted": 3}
    results = tmp_path / "r.segbench"
    found = evaluate(*folders, Objects(at="best", **settings), results=results)
    pixels, stored = load_results(results)
    best = pixels.summary["ods_threshold"]
    assert pixels.protocol == "pixels"
    assert f"|at:{best}" in found.signature
    with pytest.warns(UserWarning, match=re.escape(str(best))):
        given = evaluate(*folders, Objects(at=best, **settings))
    (note,) = given.notes
    assert note.kind == "scores-outside"  # which is said of thresholds given alone
    assert note.values["given"] == Setting("at", best)
    assert stored.summary == found.summary == given.summary
    assert found.notes == ()
    assert evaluate(*folders, Objects(at="best", **settings), results=results).reused == 3


def test_the_best_threshold_needs_the_whole_set():
    truth = np.eye(3, dtype=bool)
    with refused("no-arrays", ArgumentError, settings={"at": 0.5}):
        count(truth, truth, Objects(kind="components", at="best"))
    with refused("no-arrays", ArgumentError, settings={"at": 0.5}):
        Accumulator(Objects(kind="components", at="best"))


def test_masks_in_files(tmp_path):
    truth, predicted = drawn("###.###."), drawn("..#####.")
    for side, values in (("gt", truth), ("pred", predicted)):
        (tmp_path / side).mkdir()
        iio.imwrite(tmp_path / side / "one.png", values.astype(np.uint8) * 255)
    found = evaluate(tmp_path / "gt", tmp_path / "pred", Objects(kind="components"))
    assert found.summary["component_siou"] == 1 / 2


def test_label_maps_are_refused_with_the_kind_that_reads_them():
    with refused("several-values", DataError, path="ground_truth", values=(0, 1, 2)) as raised:
        metrics(np.array([[0, 1, 2]]), drawn("##."))
    assert raised.value.settings[0] == Setting("kind", "instances")


def test_masks_in_colour_are_refused_as_such():
    colours = np.array([[0xFF000000, 0xFFFF0000]], np.uint32)
    with refused("in-colour", DataError, path="ground_truth") as raised:
        metrics(colours, drawn("##"))
    assert raised.value.hint.values == {"colour": "(255, 0, 0)"}

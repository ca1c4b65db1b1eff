"""The centerlines protocol: drawings, published formulas, empty masks, soft maps, files and what is refused."""

import json
from dataclasses import replace

import imageio.v3 as iio
import numpy as np
import pytest
from cases import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from matplotlib.figure import Figure
from noted import noted
from refusing import refused
from scipy.ndimage import gaussian_filter
from skimage.measure import euler_number, label
from skimage.morphology import medial_axis, skeletonize, thin

from segbench import (
    Accumulator,
    ArgumentError,
    Centerlines,
    Contours,
    DataError,
    Objects,
    compare_results,
    count,
    evaluate,
    plot,
    process_pool,
)
from segbench.core.errors import VOLUMES
from segbench.core.messages import part_of
from segbench.core.sample import Sample
from segbench.protocols.states import State

LEFT_OUT = ("", "left-out", {"why": "both masks empty", "number": part_of(1, 2)})

SKELETONS = {
    "zhang": skeletonize,
    "lee": lambda mask: skeletonize(mask, method="lee"),
    "thin": thin,
    "medial-axis": lambda mask: medial_axis(mask, rng=0),
}


def vessels(seed, shape=(140, 150)):
    """Return a soft map of lines that branch and close."""
    random = np.random.default_rng(seed)
    smooth = gaussian_filter(random.standard_normal(shape), 5)
    return np.exp(-((smooth / smooth.std()) ** 2) * 20)


def maps(number=4):
    """Return masks and soft maps by image name."""
    return {f"im{k}": (vessels(k) > 0.5, 0.7 * vessels(k) + 0.3 * vessels(k + 50)) for k in range(number)}


def of_masks(pairs, at=0.5):
    return {name: (truth, soft >= at) for name, (truth, soft) in pairs.items()}


def official(truth, predicted, skeleton):
    """ClDice as the two formulas of the paper have it."""
    sensitivity = np.sum(predicted * skeleton(truth)) / np.sum(skeleton(truth))
    precision = np.sum(truth * skeleton(predicted)) / np.sum(skeleton(predicted))
    return precision, sensitivity, 2 * precision * sensitivity / (precision + sensitivity)


def test_parts_of_a_line_found_in_half():
    truth = drawn("..........", ".########.", "..........")
    counts = count(
        truth, drawn("..........", ".####.....", "..........") | drawn("#" + 9 * ".", *["." * 10] * 2), "centerlines"
    )
    # The prediction is one line of 5 pixels, from the corner to the middle: 4 lie in the truth, which has 8.
    assert counts.precision.tolist() == [4 / 5]
    assert counts.sensitivity.tolist() == [4 / 8]
    assert counts.cldice.tolist() == [2 * 0.8 * 0.5 / 1.3]


def test_a_thick_prediction_holds_the_whole_true_line():
    truth, predicted = np.zeros((2, 9, 20), bool)
    truth[4, 2:18] = predicted[3:6, 1:19] = True
    assert count(truth, predicted, "centerlines").sensitivity.tolist() == [1]


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_the_published_formulas_to_the_last_bit(skeleton):
    for truth, predicted in of_masks(maps(12)).values():
        counts = count(truth, predicted, Centerlines(skeleton=skeleton))
        found = counts.precision[0], counts.sensitivity[0], counts.cldice[0]
        assert found == official(truth, predicted, SKELETONS[skeleton])


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_masks_of_bool_in_files(tmp_path, skeleton):
    mask = np.zeros((20, 20), bool)
    mask[4:9, 3:17] = True
    for folder in ("gt", "pred"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", mask)
    assert evaluate(tmp_path / "gt", tmp_path / "pred", Centerlines(skeleton=skeleton)).summary["cldice"] == 1


def hard_masks():
    """Yield masks that take many passes: filled, with holes, combs, blocks and noise of every density."""
    rng = np.random.default_rng(0)
    for side in (1, 2, 3, 41):
        yield np.ones((side, side + 5), bool)
    comb = np.ones((40, 61), bool)
    comb[3:, ::4] = False
    yield from (comb, comb.T, comb[::-1, ::-1], np.zeros((5, 9), bool))
    for density in np.linspace(0.05, 0.95, 60):
        yield rng.random((23, 31)) < density
        blocks = np.kron(rng.random((6, 7)) < density, np.ones(rng.integers(2, 9, 2), bool)).astype(bool)
        yield blocks ^ (rng.random(blocks.shape) < 0.02)


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_skeletons_are_those_of_scikit_image(skeleton):
    for mask in hard_masks():
        expected = SKELETONS[skeleton](mask) > 0 if mask.any() else mask
        counts = count(expected, mask, Centerlines(skeleton=skeleton))
        assert counts.skeleton_pixels[0] == counts.skeleton_inside[0] == np.count_nonzero(expected)


def test_skeletons_differ():
    truth, predicted = of_masks(maps(1))["im0"]
    assert len({count(truth, predicted, Centerlines(skeleton=each)).cldice[0] for each in SKELETONS}) == len(SKELETONS)


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ("..##..", "......", (np.nan, 0, 0)),
        ("......", "..##..", (0, np.nan, 0)),
        ("......", "......", (np.nan, np.nan, np.nan)),
        ("##....", "....##", (0, 0, 0)),
    ],
)
def test_empty_masks_and_masks_apart(truth, predicted, expected):
    counts = count(drawn(truth), drawn(predicted), "centerlines")
    np.testing.assert_array_equal([counts.precision[0], counts.sensitivity[0], counts.cldice[0]], expected)


def test_components_and_holes_by_hand():
    truth = drawn("#####", "#...#", "#.#.#", "#...#", "#####")  # two components, one hole
    predicted = drawn("####.", "#..#.", "####.", "#..#.", "####.")  # one component, two holes
    counts = count(truth, predicted, "centerlines")
    assert (counts.betti0[0], counts.betti1[0], counts.euler[0]) == (1, 1, 2)


def test_connectivity_decides_what_touches():
    truth = drawn(".#.", "#.#", ".#.")  # a ring at corners, four pixels at edges
    blank = np.zeros((3, 3), bool)
    at_corners, at_edges = (count(truth, blank, Centerlines(connectivity=each)) for each in (8, 4))
    assert (at_corners.betti0[0], at_corners.betti1[0]) == (1, 1)
    assert (at_edges.betti0[0], at_edges.betti1[0]) == (4, 0)


@settings(max_examples=300, deadline=None)
@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=12)), st.sampled_from([4, 8]))
def test_topology_is_that_of_scikit_image(mask, connectivity):
    counts = count(mask, np.zeros_like(mask), Centerlines(connectivity=connectivity))
    order = connectivity // 4
    assert counts.betti0[0] == label(mask, connectivity=order).max()
    assert counts.euler[0] == abs(euler_number(mask, connectivity=order))


def test_patches_are_a_grid_of_whole_ones():
    truth, predicted = of_masks(maps(1))["im0"]  # 140 x 150: two by two patches
    counts = count(truth, predicted, "centerlines")
    corners = [(row, column) for row in (0, 64) for column in (0, 64)]
    numbers = [
        [label(mask[row : row + 64, column : column + 64], connectivity=2).max() for mask in (truth, predicted)]
        for row, column in corners
    ]
    assert counts.patches == 4
    assert counts.betti0_patches[0] == sum(abs(one - other) for one, other in numbers)


def test_small_images_have_no_patches():
    result = evaluate({"a": (drawn("##"), drawn("##"))}, protocol=Centerlines())
    assert np.isnan(result.summary["betti0_error_patches"])
    assert result.summary.undefined["betti0_error_patches"].kind == "no-patches"


def test_the_pooled_and_the_mean():
    pairs = of_masks(maps())
    summary = evaluate(pairs, protocol="centerlines").summary
    each = [count(*pair, "centerlines") for pair in pairs.values()]
    assert summary["cldice_images"] == pytest.approx(np.mean([one.cldice[0] for one in each]), abs=1e-15)
    precision = sum(one.skeleton_inside[0] for one in each) / sum(one.skeleton_pixels[0] for one in each)
    sensitivity = sum(one.true_inside[0] for one in each) / sum(one.true_skeleton for one in each)
    assert summary["cldice"] == 2 * precision * sensitivity / (precision + sensitivity)


def test_patches_are_averaged_in_an_image_first():
    big, small = vessels(1, (128, 128)), vessels(2, (64, 64))
    pairs = {"big": (big > 0.5, big > 0.8), "small": (small > 0.5, small > 0.8)}
    each = [count(*pair, "centerlines") for pair in pairs.values()]
    expected = np.mean([each[0].betti0_patches[0] / 4, each[1].betti0_patches[0]])
    assert evaluate(pairs, protocol="centerlines").summary["betti0_error_patches"] == pytest.approx(expected, abs=1e-12)


def test_images_without_a_value_are_noted():
    blank = np.zeros((5, 5), bool)
    result = evaluate({"a": (drawn("###"), drawn("###")), "b": (blank, blank)}, protocol="centerlines")
    assert result.summary["cldice_images"] == 1
    assert noted(result.summary.notes[:1]) == [LEFT_OUT]


def test_a_plot_is_titled_as_papers_write_it():
    result = evaluate({"a": (drawn("###"), 0.5 * drawn("###"))}, protocol=Centerlines(thresholds=3))
    assert plot(result, "f", ax=Figure().subplots()).get_ylabel() == "clDice"


def test_notes_are_of_the_best_threshold():
    truth, blank = drawn("....", "####", "...."), np.zeros((3, 4), bool)
    pairs = {"a": (truth, 0.5 * truth), "b": (blank, np.full((3, 4), 0.5))}  # nothing is predicted from .95
    summary = evaluate(pairs, protocol=Centerlines(thresholds=[0.45, 0.95])).summary
    assert (summary["cldice_threshold"], summary["cldice_images"]) == (0.45, 0.5)
    assert noted(summary.notes[:1]) == [("", "counted-as-0", {"number": part_of(1, 2)})]
    assert summary.notes[0].metrics == (("cldice_images", "clDice mean"),)
    summary = evaluate(pairs | {"b": (blank, 0.4 * ~blank)}, protocol=Centerlines(thresholds=[0.1, 0.45])).summary
    assert (summary["cldice_threshold"], summary["cldice_images"]) == (0.45, 1)
    assert noted(summary.notes[:1]) == [LEFT_OUT]
    assert summary.notes[0].metrics == (("cldice_images", "clDice mean"),)


def test_thresholds_are_those_of_masks_cut_one_by_one():
    truth, soft = maps(1)["im0"]
    counts = count(truth, soft, Centerlines(thresholds=9))
    for place, threshold in enumerate(counts.thresholds):
        assert counts.cldice[place] == count(truth, soft >= threshold, "centerlines").cldice[0]


def test_the_best_threshold_is_one_for_all_images():
    pairs = maps()
    result = evaluate(pairs, protocol=Centerlines(thresholds=9))
    tried = [evaluate(pairs, protocol=Centerlines(at=k / 10)).summary for k in range(1, 10)]
    best = max(range(9), key=lambda place: tried[place]["cldice"])
    assert result.summary["cldice_threshold"] == pytest.approx((best + 1) / 10)
    assert {key: result.summary[key] for key in tried[best]} == tried[best]


def test_each_image_has_its_own_best_threshold():
    pairs = maps()
    result = evaluate(pairs, protocol=Centerlines(thresholds=9))
    for name, (truth, soft) in pairs.items():
        assert result.per_image[name]["cldice"] == count(truth, soft, Centerlines(thresholds=9)).cldice.max()


def test_the_curve_draws_cldice():
    curve = evaluate(maps(), protocol=Centerlines(thresholds=(0.25, 0.5))).curve
    thresholds, values = curve.against_threshold()
    assert thresholds.tolist() == [0.25, 0.5]
    assert values.tolist() == [evaluate(maps(), protocol=Centerlines(at=at)).summary["cldice"] for at in (0.25, 0.5)]


def test_masks_have_no_curve():
    assert evaluate(of_masks(maps()), protocol="centerlines").curve is None


def test_void_and_field_are_background_in_both():
    truth, predicted = (mask.astype(np.uint8) for mask in of_masks(maps(1))["im0"])
    field = np.ones(truth.shape, bool)
    field[:, 100:] = False
    cut = [np.where(field, mask, 0) for mask in (truth, predicted)]
    expected = count(*cut, "centerlines")
    marked = np.where(field, truth, 255)
    for counts in (
        count(truth, predicted, "centerlines", field),
        count(np.ma.MaskedArray(truth, ~field), predicted, "centerlines"),
        count(marked, predicted, Centerlines(void=(255,))),
    ):
        assert counts == expected


def test_what_is_positive_can_be_named():
    truth, predicted = of_masks(maps(1))["im0"]
    values = np.where(truth, 200, 7)
    assert count(values, predicted, Centerlines(positive=">=128")) == count(truth, predicted, "centerlines")


def test_the_errors_do_not_depend_on_the_order_of_the_masks():
    truth, predicted = of_masks(maps(1))["im0"]
    there, back = count(truth, predicted, "centerlines"), count(predicted, truth, "centerlines")
    assert (there.betti0, there.betti1, there.euler) == (back.betti0, back.betti1, back.euler)
    assert there.precision == back.sensitivity


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({"skeleton": "skan"}, "'skan'"),
        ({"connectivity": 18}, "18"),
        ({"connectivity": True}, "True"),
        ({"at": float("nan")}, "nan"),
        ({"thresholds": (0.5, 0.25)}, "(0.5, 0.25)"),
        ({"void": (0.5,)}, "0.5"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, value):
    with refused("wrong-value", ArgumentError, settings=dict.fromkeys(wrong), value=value):
        Centerlines(**wrong)


def test_a_threshold_and_several_are_refused():
    with refused("exclusive-settings", ArgumentError, settings={"at": None, "thresholds": None}):
        Centerlines(at=0.5, thresholds=9)


@pytest.mark.parametrize(
    ("truth", "predicted", "kind", "values"),
    [
        (np.zeros((3, 3)), np.zeros((3, 4)), "other-size", {"shape": (3, 4), "expected": (3, 3)}),
        (np.zeros((2, 3, 3, 3)), np.zeros((2, 3, 3, 3)), "other-shape", {"shape": (2, 3, 3, 3), "volumes": VOLUMES}),
        (np.zeros((0, 3)), np.zeros((0, 3)), "no-pixels", {"name": "ground_truth", "shape": (0, 3)}),
    ],
)
def test_shapes_that_make_no_sense_are_refused(truth, predicted, kind, values):
    with refused(kind, (ArgumentError, DataError), **values):
        count(truth, predicted, Centerlines())


@pytest.mark.parametrize(
    ("predicted", "settings_", "kind", "values", "advice"),
    [
        (np.linspace(0, 1, 9).reshape(3, 3), {}, "several-values", {"count": 9}, {"at": 0.5}),
        (np.full((3, 3), np.nan), {"at": 0.5}, "not-finite", {"nan": 9, "infinite": 0}, {}),
        (np.full((3, 3), 7.0), {"thresholds": 3}, "outside-unit", {"lowest": 7, "highest": 7}, {"scale": ...}),
    ],
)
def test_values_that_make_no_sense_are_refused(predicted, settings_, kind, values, advice):
    with refused(kind, DataError, path="prediction", settings=advice, **values):
        count(np.eye(3), predicted, Centerlines(**settings_))


def test_counts_of_other_settings_do_not_add_up():
    pair = of_masks(maps(1))["im0"]
    with refused("counted-otherwise", ArgumentError, name="skeleton", ours="zhang", theirs="lee"):
        count(*pair, "centerlines") + count(*pair, Centerlines(skeleton="lee"))


def written(folder, pairs):
    """Write masks and soft maps as PNG files; give both folders."""
    for name, (truth, soft) in pairs.items():
        for kind, array in (("gt", truth * 255), ("pred", np.rint(soft * 255))):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            iio.imwrite(folder / kind / f"{name}.png", array.astype(np.uint8))
    return folder / "gt", folder / "pred"


def test_files_workers_and_accumulators_agree(tmp_path):
    folders = written(tmp_path, maps())
    protocol = Centerlines(thresholds=5)
    alone = evaluate(*folders, protocol)
    with process_pool(2) as executor:
        assert evaluate(*folders, protocol, executor=executor).summary == alone.summary
    accumulator = Accumulator(protocol)
    for name in maps():
        accumulator.update(*(iio.imread(folder / f"{name}.png") for folder in folders), name=name)
    assert accumulator.compute().summary == alone.summary


@pytest.mark.parametrize("skeleton", SKELETONS)
def test_files_of_bits(tmp_path, skeleton):
    truth, predicted = drawn("#####..", "#####..", "#####.."), drawn(".......", "#######", ".......")
    for folder, mask in (("gt", truth), ("pred", predicted)):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", mask)
    result = evaluate(tmp_path / "gt", tmp_path / "pred", Centerlines(skeleton=skeleton))
    assert result.failed == {}
    assert result.counts["a"] == count(truth, predicted, Centerlines(skeleton=skeleton))


def test_results_are_kept(tmp_path):
    folders = written(tmp_path, maps())
    first, again = (evaluate(*folders, Centerlines(at=0.5), results=tmp_path / "r") for _ in range(2))
    assert again.reused == 4
    assert first.summary == again.summary


def test_the_command(tmp_path, segbench):
    folders = written(tmp_path, maps())
    (run,) = json.loads(segbench("centerlines", *folders, "--thresholds", "5", "--format", "json").out)["runs"]
    assert run["summary"]["cldice"] == evaluate(*folders, Centerlines(thresholds=5)).summary["cldice"]


def test_states_show_which_lines_lie_in_the_other_mask():
    truth, predicted = np.zeros((2, 9, 20), bool)
    truth[2, 2:10] = predicted[2, 2:6] = predicted[6, 2:6] = True
    sample = Sample("a", (truth,), (predicted,), None, ground_truth_files=("t",), prediction_file="p")
    states = Centerlines().states(sample, 0.5)
    held = {state: np.count_nonzero(states == state) for state in (State.TRUE, State.FALSE, State.MISSED)}
    assert held == {State.TRUE: 4, State.FALSE: 4, State.MISSED: 4}


@pytest.mark.parametrize("settings", [Centerlines, Contours, lambda at: Objects(kind="components", at=at)])
def test_methods_that_are_cut_at_scores_of_their_own_are_compared(settings):
    rng = np.random.default_rng(0)
    images = {str(k): (rng.random((20, 20)) > 0.5, rng.random((20, 20))) for k in range(7)}
    results = [replace(evaluate(images, protocol=settings(at=at)), method=f"at {at}") for at in (0.3, 0.6)]
    assert ("", "other-repairs", {"differing": "at is 0.3 in at 0.3, 0.6 in at 0.6"}) in noted(
        compare_results(results).notes
    )

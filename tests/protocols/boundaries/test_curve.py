import numpy as np
import pytest
from measured import boundary_image_summary, boundary_summary
from noted import kinds, of_kind

from segbench.core.errors import ArgumentError
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import BoundaryCurve, boundary_curve, measured
from segbench.statistics.intervals import intervals

FIRST = BoundaryCounts([0.25, 0.5, 0.75], [9, 6, 2], [10, 10, 10], [9, 6, 2], [30, 8, 2])
SECOND = BoundaryCounts([0.25, 0.5, 0.75], [10, 8, 8], [10, 10, 10], [10, 8, 8], [20, 8, 8])


def test_areas_above_1_are_explained():
    perfect = BoundaryCounts([0.25, 0.5, 0.75], [10, 5, 1], [10, 10, 10], [10, 5, 1], [10, 5, 1])
    summary = boundary_summary({"image": perfect})
    assert summary["area_pr_extended"] == pytest.approx(1.01)
    (note,) = of_kind(summary.notes, "area-above-1")
    assert note.values["areas"] == "AP ext*"
    assert boundary_summary({"image": FIRST}).notes == ()


def test_figures_worked_by_hand():
    # F of the first: 18/40, 12/18, 4/12; of the second 20/30, 16/18 twice. Pooled: R .95 .7 .5, P .38 .875 1.
    curve = boundary_curve(FIRST + SECOND)
    np.testing.assert_allclose(curve.recall, [0.95, 0.7, 0.5])
    np.testing.assert_allclose(curve.precision, [0.38, 0.875, 1])
    summary = boundary_summary({"first": FIRST, "second": SECOND})
    assert summary["ois_f"] == pytest.approx(2 * 14 / (20 + 16))
    assert summary["mean_image_f"] == pytest.approx((2 / 3 + 8 / 9) / 2)
    assert boundary_image_summary(SECOND)["threshold"] == 0.5


def test_ods_lies_between_thresholds():
    best = measured(boundary_curve(FIRST + SECOND))
    assert best["ods_f"] >= boundary_curve(FIRST + SECOND).f.max()
    assert 0.25 < best["ods_threshold"] < 0.75
    assert best["ods_f"] == pytest.approx(
        2 * best["ods_recall"] * best["ods_precision"] / (best["ods_recall"] + best["ods_precision"])
    )


def test_ods_takes_a_hundred_places():
    best = measured(BoundaryCurve([0, 1], [1, 0], [0, 1]))
    places = np.arange(100) / 99
    assert best["ods_f"] == pytest.approx((2 * places * (1 - places)).max())


def test_one_threshold():
    best = measured(BoundaryCurve([0.5], [0.5], [1.0]))
    assert (best["ods_threshold"], best["ods_f"]) == (0.5, pytest.approx(2 / 3))
    assert measured(BoundaryCurve([0.5], [0.5], [1.0]))["area_pr"] == 0


def test_perfect_is_one():
    perfect = BoundaryCounts([0.25, 0.5, 0.75], [10, 5, 1], [10, 10, 10], [10, 5, 1], [10, 5, 1])
    summary = boundary_summary({"a": perfect})
    assert summary["ods_f"] == summary["ois_f"] == summary["mean_image_f"] == 1


def test_without_a_pixel_to_match_nothing_is_defined():
    nothing = BoundaryCounts([0.3, 0.6], [0, 0], [0, 0], [0, 0], [0, 0])
    summary = boundary_summary({"a": nothing})
    assert all(np.isnan(value) for value in summary.values())
    assert set(kinds(summary.undefined.values())) == {"no-boundaries"}


def test_area_by_hand():
    # Recalls .25 to .5 are 26 places of the grid, precision falling from 1 to .5: mean .75.
    curve = BoundaryCurve([0.2, 0.8], [0.5, 0.25], [0.5, 1.0])
    assert measured(curve)["area_pr"] == pytest.approx(26 * 0.75 / 100)
    # With (0, 1) and (1, 0): 25 places at 1 before, 50 after, falling from .49 to 0.
    assert measured(curve)["area_pr_extended"] == pytest.approx((25 + 26 * 0.75 + 50 * 0.245) / 100)


def test_of_equal_recalls_the_lowest_threshold_counts():
    assert measured(BoundaryCurve([1, 2, 3], [0.5, 0.5, 0], [0.4, 0.8, 0.4]))["area_pr"] == pytest.approx(
        51 * 0.4 / 100
    )


def test_recall_at_half_precision():
    assert measured(BoundaryCurve([1, 2], [0.8, 0.4], [0.25, 0.75]))["r50"] == pytest.approx(0.6)
    assert measured(BoundaryCurve([1, 2], [0.8, 0.4], [0.6, 0.75]))["r50"] == pytest.approx(0.8)
    assert np.isnan(measured(BoundaryCurve([1, 2], [0.8, 0.4], [0.1, 0.2]))["r50"])


@pytest.mark.parametrize(
    "points", [([], [], []), ([1], [0.5, 0.5], [0.5]), ([1], [1.5], [0.5]), ([1], [0.5], [np.nan])]
)
def test_no_curve(points):
    with pytest.raises(ArgumentError):
        BoundaryCurve(*points)


def test_no_images():
    assert list(boundary_summary({})) == list(boundary_summary({"a": BoundaryCounts([0.5], [8], [10], [4], [5])}))
    assert set(kinds(boundary_summary({}).undefined.values())) == {"no-images"}


def test_images_without_a_pixel_to_match_are_left_out_of_the_mean():
    image = BoundaryCounts([0.3, 0.6], [8, 2], [10, 10], [8, 2], [20, 2])
    nothing = BoundaryCounts([0.3, 0.6], [0, 0], [0, 0], [0, 0], [0, 0])
    with_nothing = boundary_summary({"a": image, "b": nothing})
    assert with_nothing["mean_image_f"] == boundary_summary({"a": image})["mean_image_f"]
    assert intervals({"a": image, "b": nothing}, replicates=5).estimates["mean_image_f"] == with_nothing["mean_image_f"]


def test_masks_make_no_curve():
    """The official code writes areas of 0, which look like those of the worst detector."""
    mask = BoundaryCounts([0.3, 0.6], [8, 8], [10, 10], [4, 4], [5, 5])
    summary = boundary_summary({"a": mask})
    assert list(summary.undefined) == ["area_pr", "area_pr_extended", "r50"]
    assert set(kinds(summary.undefined.values())) == {"masks"}
    assert summary["ods_f"] == pytest.approx(2 * 0.8 * 0.8 / 1.6)
    nothing = boundary_summary({"a": BoundaryCounts([0.3, 0.6], [0, 0], [10, 10], [0, 0], [0, 0])})
    assert (nothing["ods_f"], nothing["area_pr"]) == (0, 0)
    with_soft = boundary_summary({"a": mask, "b": BoundaryCounts([0.3, 0.6], [8, 2], [10, 10], [8, 2], [20, 2])})
    assert with_soft["area_pr"] > 0


@pytest.mark.parametrize(("thresholds", "at"), [(np.arange(1, 100) / 100, 1.0), ([0.3, 0.6], 0.6), ([0.5], 0.5)])
def test_masks_have_the_threshold_1_whatever_their_pixels_are(thresholds, at):
    counts = [(7, 31, 2, 8), (8, 10, 4, 5), (3, 9, 5, 77)]  # interpolating equals gives slightly different F
    masks = [BoundaryCounts(thresholds, *np.repeat([row], len(thresholds), axis=0).T) for row in counts]
    assert [boundary_summary({"a": mask})["ods_threshold"] for mask in masks] == [at] * 3
    assert intervals({"a": masks[0], "b": masks[1]}, replicates=5).estimates["ods_threshold"] == at
    assert boundary_image_summary(masks[0])["threshold"] == at


def test_one_threshold_makes_no_curve():
    summary = boundary_summary({"a": BoundaryCounts([0.5], [8], [10], [4], [5])})
    assert list(summary.undefined) == ["area_pr", "area_pr_extended", "r50"]
    assert set(kinds(summary.undefined.values())) == {"one-threshold"}

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from segbench import ArgumentError, count_regions, plot_regions, region_curve


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


TRUTH = np.repeat([[1, 1, 2, 2]], 2, axis=0)
PREDICTION = np.repeat([[1, 1, 1, 2]], 2, axis=0)
IMAGE = np.repeat([[0, 100, 200, 200]], 2, axis=0).astype(np.uint8)


def titles(axes):
    return [ax.get_title() for ax in axes]


def test_a_small_drawing_by_hand():
    axes = plot_regions(IMAGE, PREDICTION, TRUTH)
    assert titles(axes) == ["image", "regions: 2", "predicted at 1: 2", "best overlap (covering 0.5833)"]
    overlap = axes[3].images[0].get_array()
    assert overlap[0].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 2, 1 / 2])
    painted = axes[2].images[0].get_array()
    assert painted[0, 2].tolist() == [0, 0, 0], "outlines are black"
    mean = 100 / 255
    assert painted[0, 0, 0] == pytest.approx(0.55 * mean + 0.45 * (0.5 + 0.5 * mean))


def test_best_threshold_and_another():
    maps = [PREDICTION, TRUTH]
    assert titles(plot_regions(IMAGE, maps, TRUTH))[2:] == ["predicted at 2: 2", "best overlap (covering 1.0000)"]
    assert titles(plot_regions(IMAGE, maps, TRUTH, threshold=1))[3] == "best overlap (covering 0.5833)"


def test_void_is_left_out_and_another_annotator_drawn():
    axes = plot_regions(IMAGE, PREDICTION, [TRUTH, TRUTH - 1], annotator=1, void=(0,))
    overlap = axes[3].images[0].get_array()
    assert np.isnan(np.ma.filled(overlap[:, :2], np.nan)).all()
    assert overlap[0, 2] == 0.5
    assert titles(axes)[1] == "regions of annotator 1: 2"


def test_refusals():
    with pytest.raises(ArgumentError, match="annotator is 1, expected a whole number from 0 to 0"):
        plot_regions(IMAGE, PREDICTION, TRUTH, annotator=1)
    with pytest.raises(ArgumentError, match=r"threshold is 0\.5, expected one of the 1 measured"):
        plot_regions(IMAGE, PREDICTION, TRUTH, threshold=0.5)
    with pytest.raises(ArgumentError, match=r"image has shape \(4, 2\)"):
        plot_regions(IMAGE.T, PREDICTION, TRUTH)


def test_a_curve_draws_itself():
    ax = region_curve(count_regions([PREDICTION, TRUTH], TRUTH)).plot(label="mine")
    assert ax.lines[0].get_ydata() == pytest.approx([7 / 12, 1])
    assert ax.get_legend().get_texts()[0].get_text() == "mine"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Threshold", "Covering")

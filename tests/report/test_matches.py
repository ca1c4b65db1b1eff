import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from segbench import ArgumentError, DataError, count_boundaries, plot_matches, thin


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


# A line of six pixels, found one row lower but for its last pixel, which is found in place; and two false ones.
TRUTH = np.zeros((8, 12))
TRUTH[2, 1:7] = 1
SCORES = np.zeros((8, 12))
SCORES[3, 2:6], SCORES[2, 6] = 0.8, 0.9
SCORES[6, 9:11] = 0.7
ONE_PIXEL = 1.01 / np.hypot(8, 12)


def legend(ax):
    """Give the numbers of the legend by what they count."""
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    return {text.split(":")[0]: [int(number) for number in re.findall(r"\d+", text)] for text in texts}


def pixels(ax, label):
    """Give row and column of the squares of one kind."""
    (found,) = (part for part in ax.collections if part.get_label().startswith(label))
    assert isinstance(found, PolyCollection)
    return sorted(tuple(path.vertices[:4].mean(axis=0)[::-1].round(6).tolist()) for path in found.get_paths())


def test_a_small_drawing_by_hand():
    ax = plot_matches(SCORES, TRUTH, threshold=0.5, max_dist=ONE_PIXEL)
    assert legend(ax) == {
        "ground truth, found": [5],
        "ground truth, missed": [1],
        "prediction, true": [5],
        "prediction, false": [2],
        "links": [4, 1],
    }
    assert pixels(ax, "ground truth, missed") == [(2, 1)]
    assert pixels(ax, "prediction, false") == [(6, 9), (6, 10)]
    assert pixels(ax, "prediction, true") == [(2, 6), (3, 2), (3, 3), (3, 4), (3, 5)]
    (links,) = (part for part in ax.collections if isinstance(part, LineCollection))
    drawn = {tuple(map(tuple, segment.tolist())) for segment in links.get_segments()}
    assert drawn == {((x, 3), (x, 2)) for x in (2, 3, 4, 5)}


def test_a_pixel_on_the_threshold_is_on():
    assert legend(plot_matches(SCORES, TRUTH, threshold=0.9, max_dist=ONE_PIXEL))["prediction, true"] == [1]


def test_what_only_another_annotator_confirms_has_its_own_colour():
    other = np.zeros_like(TRUTH)
    other[6, 9:11] = 1
    for annotator, true, elsewhere in ((0, 5, 2), (1, 2, 5)):
        ax = plot_matches(SCORES, [TRUTH, other], threshold=0.5, max_dist=ONE_PIXEL, annotator=annotator)
        assert legend(ax)["prediction, true"] == [true]
        assert legend(ax)["prediction, true for another annotator"] == [elsewhere]
        assert legend(ax)["prediction, false"] == [0]
        assert f"annotator {annotator}" in ax.get_title()


@pytest.mark.parametrize("thinned", [True, False])
def test_the_numbers_are_those_of_the_benchmark(thinned):
    rng = np.random.default_rng(0)
    truths = [rng.random((40, 60)) < 0.1 for _ in range(3)]
    scores = rng.random((40, 60))
    counts = count_boundaries(truths, scores, thresholds=[0.6], max_dist=0.02, thin=thinned)
    shown = [
        legend(plot_matches(scores, truths, threshold=0.6, max_dist=0.02, thin=thinned, annotator=a)) for a in range(3)
    ]
    assert sum(numbers["ground truth, found"][0] for numbers in shown) == counts.matched_gt[0]
    for numbers in shown:
        confirmed = numbers["prediction, true"][0] + numbers["prediction, true for another annotator"][0]
        assert confirmed == counts.matched_pred[0]
        assert confirmed + numbers["prediction, false"][0] == counts.total_pred[0]
    if not thinned:
        assert counts.total_pred[0] > np.count_nonzero(thin(scores >= 0.6))


def test_every_kind_has_its_colour():
    ax = plot_matches(SCORES, [TRUTH, TRUTH], threshold=0.5)
    colours = [tuple(part.get_facecolor()[0]) for part in ax.collections if isinstance(part, PolyCollection)]
    assert len(colours) == len(set(colours)) == 5


def test_drawn_where_it_is_asked_and_as_vectors(tmp_path):
    figure, given = plt.subplots()
    assert plot_matches(SCORES, TRUTH, threshold=0.5, ax=given) is given
    figure.savefig(tmp_path / "a.svg")
    assert "<image" not in (tmp_path / "a.svg").read_text()
    assert given.get_ylim() == (7.5, -0.5)


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1)])
def test_nothing_at_all_is_drawn_too(shape):
    ax = plot_matches(np.zeros(shape), np.zeros(shape), threshold=0.5)
    ax.figure.canvas.draw()
    assert sum(sum(numbers) for numbers in legend(ax).values()) == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(ArgumentError, match="annotator is 1, expected a whole number from 0 to 0"):
        plot_matches(SCORES, TRUTH, threshold=0.5, annotator=1)
    with pytest.raises(ArgumentError, match="threshold is nan"):
        plot_matches(SCORES, TRUTH, threshold=float("nan"))
    with pytest.raises(ArgumentError, match="max_dist"):
        plot_matches(SCORES, TRUTH, threshold=0.5, max_dist=-1)
    with pytest.raises(DataError, match="transposed"):
        plot_matches(SCORES.T, TRUTH, threshold=0.5)

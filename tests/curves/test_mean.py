"""The mean curve of runs: precision at each recall, F at each threshold, worked out by hand."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from refusing import refused

from segbench import ArgumentError, evaluate, join_runs, plot, plot_pr, tuned_thresholds


def run_of(name, scores):
    """Return a run on two positives and two negatives, whose first two pixels are the positives."""
    truth = np.array([[1, 1, 0, 0]], bool)
    return evaluate({"a": (truth, np.array([scores]))}, protocol="pixels", method="net", run=name)


@pytest.fixture
def net():
    """Two runs: one ranks all positives first, the other one positive, two negatives, one positive."""
    (joined,) = join_runs([run_of("1", [0.8, 0.6, 0.4, 0.2]), run_of("2", [0.8, 0.2, 0.6, 0.4])])
    return joined


def test_precision_is_averaged_at_each_recall(net):
    recall, precision = net.curve.line("pr")
    # At full recall the lines fall: of the first from 1 to 2/4; the second ends at 2/4.
    at_three_quarters = np.interp(0.75, recall, precision)
    first = 1.0
    second = np.interp(0.75, *net.parts("run")["2"].curve.line("pr"))
    assert at_three_quarters == pytest.approx((first + second) / 2, abs=1e-3)
    at, low, high = net.curve.ends("pr")
    assert np.interp(0.75, at, low) == pytest.approx(second, abs=1e-3)
    assert np.interp(0.75, at, high) == pytest.approx(first)


def test_f_is_averaged_at_each_threshold(net):
    # At .8 both find one of two positives and nothing else: F 2/3. At .2 all four: F 2 * 2 / (4 + 2).
    at, f = net.curve.against_threshold()
    assert np.interp([0.2, 0.8], at, f) == pytest.approx([2 / 3, 2 / 3])
    # At .6 the first has F 1, the second finds one positive and one negative: 2 / (2 + 2).
    assert np.interp(0.6, at, f) == pytest.approx((1 + 0.5) / 2)


def test_masks_are_a_point_in_their_middle():
    (joined,) = join_runs([run_of("1", [1.0, 1, 0, 0]), run_of("2", [1.0, 0, 1, 0])])
    best = joined.summary["ods_recall"], joined.summary["ods_precision"]
    assert best == (0.75, 0.75)


def test_the_legend_says_what_is_shaded(net):
    labels = plot_pr(net, ax=Figure().subplots()).get_legend_handles_labels()[1]
    assert labels[0] == "[F=.8333 ± .2357] net"
    assert labels[-1] == "lowest to highest run"
    assert plot(net, "f", ax=Figure().subplots()).get_legend_handles_labels()[1][-1] == "lowest to highest run"


def test_kinds_without_a_mean_draw_each_run(net):
    runs = list(net.runs.values())
    labels = plot(runs, "reliability", ax=Figure().subplots()).get_legend_handles_labels()[1]
    assert [label.split()[-1] for label in labels] == ["net@1", "net@2"]


def test_a_mean_has_no_counts_and_no_thresholds(net):
    with refused("mean-of-parts", ArgumentError, method="net", parts="runs"):
        _ = net.pooled
    with refused("mean-over-runs", ArgumentError, method="net", run="1"):
        tuned_thresholds(net)

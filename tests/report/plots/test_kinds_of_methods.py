"""Kinds of plots with methods in rows, by ranks, image by image and over checkpoints: what they show, and refuse."""

from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from pictures import noisy_results, pixel_results
from refusing import refused
from scipy.stats import rankdata

from segbench import ArgumentError, Contours, caption_of, compare_results, evaluate, plot
from segbench.report.plots.saving import save_plot


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


def distances(*shifts, images=8):
    """Count lines that lie so many pixels beside the truth, and one more in every second image."""
    pairs = {shift: {f"im{k}": (np.eye(24), np.eye(24, k=shift + k % 2)) for k in range(images)} for shift in shifts}
    return [evaluate(of_method, protocol=Contours(), method=f"by_{shift}") for shift, of_method in pairs.items()]


def names_of_rows(ax):
    return [label.get_text().replace("\n", "") for label in ax.get_yticklabels()]


class TestIntervals:
    def test_values_and_ends_are_those_of_the_table(self):
        results = noisy_results(4)
        ax = plot(results, "intervals", level=0.9)
        best = sorted(results, key=lambda result: -result.summary["ods_f"])
        assert names_of_rows(ax) == [result.method for result in best]
        dots = [line.get_xdata()[0] for line in ax.lines]
        assert dots == [result.summary["ods_f"] for result in best]
        ends = [tuple(lines.get_segments()[0][:, 0]) for lines in ax.collections]
        assert ends == [pytest.approx(result.intervals(level=0.9)["ods_f"]) for result in best]
        assert [text.get_text() for text in ax.texts] == [f"{dot:.4f}"[1:] for dot in dots]
        assert "90 % intervals over 12 images" in caption_of(ax)[0]

    def test_another_metric_where_lower_is_better(self):
        ax = plot(distances(3, 1), "intervals", metric="hd95")
        assert names_of_rows(ax) == ["by_1", "by_3"]
        assert ax.get_xlabel() == "HD95 (px), lower is better"

    def test_an_unknown_metric_is_refused(self):
        with refused("unknown-metric", ArgumentError, metric="dice"):
            plot(noisy_results(2), "intervals", metric="dice")
        with refused("unknown-setting", ArgumentError):
            plot(noisy_results(2), "roc", metric="ods_f")


class TestBox:
    def test_boxes_are_the_quartiles(self):
        (result,) = noisy_results(1)
        ax = plot(result, "box")
        values = result.per_image.column("f")
        box, whiskers = ax.lines[0].get_xdata(), ax.collections[1].get_segments()
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        assert (min(box), max(box)) == pytest.approx((low, high))
        assert ax.collections[2].get_segments()[0][0, 0] == pytest.approx(median)
        within = values[(values >= low - 1.5 * (high - low)) & (values <= high + 1.5 * (high - low))]
        assert (whiskers[0][0, 0], whiskers[1][1, 0]) == pytest.approx((within.min(), within.max()))
        assert len(ax.collections[3].get_offsets()) == len(values)


class TestImages:
    @pytest.mark.parametrize(("methods", "lines"), [(2, 8), (3, 16), (4, 0)])
    def test_lines_join_the_dots_of_up_to_three_methods(self, methods, lines):
        ax = plot(pixel_results(methods, images=8), "images")
        joined = [part for part in ax.collections if part.get_zorder() == 1]
        assert sum(len(part.get_segments()) for part in joined) == lines


class TestScatter:
    def test_each_image_is_a_point_of_both_values(self):
        results = pixel_results(2)
        ax = plot(results, "scatter")
        points = {tuple(point) for part in ax.collections for point in part.get_offsets().tolist()}
        of_images = zip(*(result.per_image.column("f").tolist() for result in results), strict=True)
        assert points == {*of_images}
        assert ax.get_title(loc="left") == "above: method 1 better: 0 images\nbelow: method 0 better: 8 images"

    def test_of_distances_the_better_method_lies_on_the_other_side(self):
        ax = plot(distances(1, 3), "scatter")
        assert ax.get_title(loc="left") == "above: by_1 better: 8 images\nbelow: by_3 better: 0 images"

    def test_of_more_methods_the_best_two_are_drawn_and_the_others_named(self):
        ax = plot(pixel_results(4), "scatter")
        assert ax.get_xlabel().endswith("method 0")
        assert ax.get_ylabel().endswith("method 1")
        assert "not drawn: method 2, method 3" in caption_of(ax)[1]

    def test_a_single_method_is_refused(self):
        with refused("too-few-methods", ArgumentError):
            plot(pixel_results(1), "scatter")


class TestCheckpoints:
    def test_are_in_the_order_of_their_numbers(self):
        results = pixel_results(4, name="epoch_{}")
        named = dict(zip(("net_e100", "net_e9", "net_e20", "other_e9"), results, strict=True))
        ax = plot([replace(result, method=name) for name, result in named.items()], "checkpoints")
        lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
        f = {name: result.summary["ods_f"] for name, result in named.items()}
        assert lines == {
            "net_e": [[9, f["net_e9"]], [20, f["net_e20"]], [100, f["net_e100"]]],
            "other_e": [[9, f["other_e9"]]],
        }

    def test_names_without_numbers_stand_along_the_axis(self):
        ax = plot(pixel_results(3, name="{}th model"), "checkpoints", metric="ois_f")
        assert ax.get_ylabel() == "OIS F"
        several = [replace(result, method=name) for result, name in zip(pixel_results(3), "bac", strict=True)]
        ax = plot(several, "checkpoints", ax=plt.figure().subplots())
        assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
        assert ax.lines[0].get_ydata().tolist() == [several[k].summary["ods_f"] for k in (1, 0, 2)]


class TestCriticalDifference:
    def test_ranks_are_means_over_images_and_bars_join_what_no_test_tells_apart(self):
        results = distances(1, 2, 6, images=12)
        ax = plot(results, "critical_difference", metric="hd95")
        ranks = rankdata([result.per_image.column("hd95") for result in results], axis=0).mean(axis=1)
        names = [text.get_text() for text in ax.texts if text.get_text().startswith("by_")]
        assert names == [f"by_{shift}  {rank:.2f}" for shift, rank in zip((1, 2, 6), ranks, strict=True)]
        won = compare_results(results, test="signed-rank").signed_rank_tests("hd95").won(0.95)
        bars = [line for line in ax.lines if line.get_zorder() == 3]
        assert won.all()
        assert not bars

    def test_equals_are_joined(self):
        results = distances(2, images=12)
        ax = plot([*results, replace(results[0], method="copy")], "critical_difference", metric="hd95")
        (bar,) = [line for line in ax.lines if line.get_zorder() == 3]
        assert [text.get_text()[-4:] for text in ax.texts[:2]] == ["1.50", "1.50"]
        assert min(bar.get_xdata()) <= 1.5 <= max(bar.get_xdata())

    def test_a_metric_that_is_no_mean_over_images_is_refused(self):
        with refused("no-test", ArgumentError):
            plot(noisy_results(3), "critical_difference", metric="ods_f")


@pytest.mark.parametrize("kind", ["pr", "box", "comparison", "critical_difference", "images"])
def test_in_greys_no_pixel_has_a_colour(tmp_path, kind):
    results = noisy_results(3)
    for grey in (False, True):
        save_plot(results, tmp_path / "a.png", kind=kind, grey=grey, size=(3.5, 3))
        picture = plt.imread(tmp_path / "a.png")[..., :3]
        assert (np.ptp(picture, axis=2).max() < 0.02) == grey


def test_numbers_along_axes_are_written_as_in_tables():
    ax = plot(noisy_results(3), "f", ax=plt.figure().subplots())
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", ".2", ".4", ".6", ".8", "1"]

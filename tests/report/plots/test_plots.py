import gc
import itertools
import re
import warnings
import weakref
from contextlib import suppress
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import write_folder, write_papers
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from pictures import boundary_results, label_results, noisy_results, pixel_results
from refusing import refused

import segbench
from segbench import (
    Annotators,
    ArgumentError,
    Boundaries,
    BoundaryCounts,
    BoundaryCurve,
    Contours,
    DataError,
    Pixels,
    Result,
    ScoreCounts,
    achievable_pr_curve,
    boundary_curve,
    caption_of,
    compare_results,
    count,
    evaluate,
    load_results,
    plot,
    plot_comparison,
    plot_images,
    plot_pr,
    plot_roc,
    pr_curve,
)
from segbench.drawing.axes import names_in_lines, short_names
from segbench.drawing.palette import HUMAN, line_style
from segbench.protocols.boundaries.official import PublishedCurve
from segbench.report.plots import curves
from segbench.report.plots.kinds import KINDS
from segbench.report.plots.methods import Kind, styles_of
from segbench.report.plots.saving import save_plot
from segbench.report.tables import threshold_table


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        plt.close("all")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folders = write_papers(tmp_path_factory.mktemp("papers"))
    return [
        evaluate(*folders, method="upside down", protocol=Pixels(invert=True)),
        evaluate(*folders, method="as it is"),
    ]


def labels_of(ax):
    """Return the names of what is drawn, which stand in a legend or beside the curves."""
    labels = ax.get_legend_handles_labels()[1]
    shown = "".join(text.get_text() for text in names_drawn(ax))
    assert all(name.split("] ")[-1] in shown for name in labels)
    return labels


def names_drawn(ax):
    """Return the texts that name methods: those of a legend, and those beside curves."""
    beside = [text for text in ax.texts if not text.get_text().startswith("F=")]
    return [*(ax.get_legend().get_texts() if ax.get_legend() else []), *beside]


@pytest.fixture
def only_legends(monkeypatch):
    """Name no curve beside it."""
    monkeypatch.setattr("segbench.drawing.direct_labels.MOST_DIRECT", 0)


class TestPooledCurves:
    def test_the_best_f_comes_first(self, results):
        labels = labels_of(plot_pr(results))
        assert labels[0] == "[F=.7368] as it is"
        assert labels[1].endswith("upside down")
        assert labels[-1] == "prevalence .2812"

    @pytest.mark.parametrize("draw", [plot_pr, plot_roc, partial(plot, kind="f"), partial(plot, kind="reliability")])
    def test_methods_of_other_images_or_settings_come_after_those_that_compete(self, draw):
        high, middle, low = pixel_results(3)
        few = replace(high, counts=dict(list(high.counts.items())[:3]))
        labels = draw([few, middle, low], ax=plt.figure().subplots()).get_legend_handles_labels()[1]
        names = [re.sub(r"\[.*\] ", "", label) for label in labels if label.startswith("[")]
        assert (names[2], sorted(names[:2])) == ("method 0 (3 images)", ["method 1 (8 images)", "method 2 (8 images)"])
        other = replace(high, settings={**high.settings, "void": "7"})
        labels = draw([other, middle, low], ax=plt.figure().subplots()).get_legend_handles_labels()[1]
        assert [label.split("method ")[1] for label in labels if "method" in label][2] == "0 (void:7)"

    def test_the_marked_point_is_the_ods(self, results):
        ax = plot_pr(results)
        points = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "o"]
        summary = results[1].summary
        assert [[summary["ods_recall"], summary["ods_precision"]]] in points

    def test_roc_is_ranked_by_its_own_area(self, results):
        assert labels_of(plot_roc(results))[0] == "[AUC=.8140] as it is"

    def test_a_method_without_a_curve_is_named_and_not_drawn(self, tmp_path):
        nothing = evaluate(*write_papers(tmp_path), Pixels(positive="7"), method="nothing")
        assert labels_of(plot_pr([nothing])) == ["[F=-] nothing"]

    @pytest.mark.parametrize(("methods", "named"), [(12, 12), (13, 6), (30, 6)])
    def test_above_twelve_methods_the_legend_names_six_and_the_caption_all(self, results, methods, named):
        several = [replace(results[1], method=f"net {k:02}") for k in range(methods)]
        ax = plot_pr(several)
        labels = [label for label in labels_of(ax) if not label.startswith("prevalence")]
        assert len([label for label in labels if "net" in label]) == named
        assert labels[named:] == ([f"{methods - 6} others"] if methods > named else [])
        coloured = {(line.get_color(), line.get_linestyle()) for line in ax.lines if line.get_zorder() == 3}
        assert len(coloured) == named
        assert all(f"[F=.7368] net {k:02}" in " ".join([*labels, *caption_of(ax)]) for k in range(methods))


class TestNames:
    NAMES = ("$x$ and $y", "_hidden", "two\nlines", "a name so long that no legend of a paper holds it, version 1")

    def test_are_drawn_as_they_are(self, results):
        renamed = [replace(results[1], method=name) for name in self.NAMES]
        for ax in (plot_pr(renamed), plot_roc(renamed), plot(renamed, "f")):
            labels = [text for text in labels_of(ax) if text.startswith("[")]
            assert len(labels) == 4
            assert not any("\n" in label or "$" in label.replace("\\$", "") for label in labels)
        ax.figure.canvas.draw()
        plot_images(renamed).figure.canvas.draw()

    @pytest.mark.parametrize(
        ("names", "short"),
        [
            (["baseline"], ["baseline"]),
            (["x" * 60], ["x" * 12 + "…" + "x" * 12]),
            (
                [f"segment_anything_vit_huge_on_cityscapes_epoch_{k}" for k in (10, 200)],
                ["segment_anything_…10", "segment_anything_…200"],
            ),
            ([f"ours_{k}_{'on/the/test/set/' * 3}full" for k in "ab"], ["ours_a_…full", "ours_b_…full"]),
        ],
    )
    def test_long_ones_keep_what_sets_them_apart(self, names, short):
        found = short_names(names)
        assert [text.split("…")[0][:7] for text in found] == [text.split("…")[0][:7] for text in short]
        assert [text[-4:] for text in found] == [text[-4:] for text in short]
        assert max(map(len, found)) <= 25

    def test_in_rows_break_after_separators_alone(self):
        assert names_in_lines(
            ["random_walker", "entropy_gradient", "local_entropy_filter", "a/b-unbreakablewords"]
        ) == [
            "random_walker",
            "entropy_gradient",
            "local_\nentropy_filter",
            "a/b-\nunbreakablewords",
        ]


class TestStyle:
    def test_settings_hold_and_stay(self, results):
        before = dict(mpl.rcParams)
        with mpl.rc_context({"lines.linewidth": 5, "figure.figsize": (9, 7), "legend.fontsize": 6}):
            ax = plot_pr(results)
        assert ax.figure.get_size_inches().tolist() == [9, 7]
        assert {line.get_linewidth() for line in ax.lines if line.get_zorder() == 3} == {5}
        assert {text.get_fontsize() for text in names_drawn(ax)} == {6}
        assert dict(mpl.rcParams) == before

    def test_a_method_keeps_its_colour_in_every_plot(self, results):
        def colour(ax, name):
            return next(line.get_color() for line in ax.lines if name in line.get_label())

        for draw in (plot_pr, plot_roc, partial(plot, kind="f")):
            assert colour(draw(results), "as it is") == line_style(1).colour

    def test_a_method_keeps_the_colour_of_its_place_in_the_file(self, tmp_path):
        folders, file = write_papers(tmp_path), tmp_path / "r.segbench"
        for method, protocol in (("a", Pixels()), ("b", Pixels()), ("a", Pixels(invert=True)), ("b", Boundaries())):
            evaluate(*folders, method=method, protocol=protocol, results=file)
        colours = [line_style(place).colour for place in (0, 1, 2, 1)]
        loaded = load_results(file)
        assert [style.colour for style in styles_of(loaded[:3])] == colours[:3]
        assert [styles_of([one])[0].colour for one in loaded] == colours

    def test_lines_of_several_methods_have_markers_that_grey_print_shows(self, results):
        lines = [line for line in plot_pr(results).lines if line.get_label().startswith("[")]
        assert len({line.get_marker() for line in lines} - {"None"}) == len(results)
        assert next(line.get_marker() for line in plot_pr(results[:1], ax=plt.figure().gca()).lines) == "None"

    @pytest.mark.parametrize(("width", "numbers"), [(3.5, ["7", "8", "9", "10", "11", "12"]), (6.4, [])])
    def test_of_twelve_methods_in_a_column_the_best_six_have_colours(self, results, width, numbers):
        twelve = [replace(results[k % 2], method=f"method {k}") for k in range(12)]
        lines = plot_pr(twelve, ax=plt.figure(figsize=(width, 3.5)).gca()).lines
        shapes = [str(line.get_marker()) for line in lines if line.get_label().startswith("[")]
        assert [re.search(r"\d+", shape)[0] for shape in shapes if "mathbf" in shape] == numbers

    def test_human_annotators_are_neutral_and_take_no_colour_from_others(self):
        detector, human = boundary_results()
        assert [style.colour for style in styles_of([human, detector])] == [HUMAN, line_style(0).colour]

    def test_a_single_point_is_a_dot_in_the_legend(self):
        (human,) = [line for line in plot_pr(boundary_results()).lines if "human" in line.get_label()]
        assert (human.get_marker(), human.get_linestyle()) == ("o", "None")

    @pytest.mark.usefixtures("only_legends")
    def test_a_legend_lies_in_no_corner_that_a_curve_enters(self):
        def inside(curve):
            ax = curve.plot()
            ax.figure.canvas.draw()
            return ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())

        assert inside(BoundaryCurve([0.25, 0.75], [1.0, 0.6], [0.6, 1.0]))
        assert not inside(BoundaryCurve([0.2, 0.5, 0.7], [0.05, 0.8, 0.95], [0.05, 0.06, 0.05]))


class TestNumbers:
    """Numbers are written as in tables: along axes, in legends and beside rows."""

    @pytest.mark.parametrize(("options", "written"), [({}, ".8000"), ({"digits": 2}, ".80")])
    def test_metrics_have_the_digits_asked_for(self, options, written):
        result = evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net")
        assert labels_of(plot(result, "pr", **options))[0] == f"[F={written}] net"

    @pytest.mark.parametrize("kind", ["pr", "roc", "f", "intervals", "reliability"])
    def test_zeros_lead_every_number_or_none(self, kind):
        results = pixel_results(2, images=3)
        for zeros in (False, True):
            ax = plot(results, kind, leading_zeros=zeros, digits=3)
            ax.figure.canvas.draw()
            texts = " ".join(text.get_text() for text in ax.figure.findobj(mpl.text.Text))
            assert bool(re.search(r"(?<!\d)\.\d", texts)) != zeros
            assert bool(re.search(r"(?<!\d)0\.\d", texts)) == zeros
            assert re.search(r"(?<!\d)0?\.\d{3}(?!\d)", texts)

    def test_the_setting_ends_with_the_plot(self):
        results = pixel_results(1, images=3)
        plot(results, "pr", digits=2, leading_zeros=True)
        assert re.match(r"\[F=\.\d{4}\]", labels_of(plot(results, "pr", ax=plt.figure().gca()))[0])

    @pytest.mark.parametrize("digits", [0, 13, 2.5])
    def test_digits_that_cannot_be_are_refused(self, digits):
        with pytest.raises(ArgumentError, match=r"digits is .*, expected a whole number from 1 to 12"):
            plot(pixel_results(1, images=3), "pr", digits=digits)

    def test_files_have_them_too(self, tmp_path):
        save_plot(pixel_results(1, images=3), tmp_path / "a.svg", digits=3, zeros=True)
        assert re.search(r"F=0\.\d{3}<", (tmp_path / "a.svg").read_text("utf-8"))


class TestSpace:
    """Plots keep their room for what they show."""

    def test_above_three_methods_the_best_alone_has_a_band(self):
        for methods, bands in ((3, 3), (4, 1)):
            ax = plot_pr(pixel_results(methods, images=4), band=0.9, replicates=20)
            assert len(ax.collections) == bands
        assert labels_of(ax)[-1] == "90 % band, of the best method"

    def test_no_stroke_covers_the_frame_at_recall_0(self):
        levels = np.linspace(1, 0, 50)
        positives, negatives = np.full(50, 100), np.full(50, 100)
        positives[0], negatives[0] = 0, 9
        result = Result("m", Pixels(), {}, "data:0", {"a": ScoreCounts(levels, positives, negatives)})
        (line,) = [line for line in plot_pr(result).lines if line.get_zorder() == 3]
        assert line.get_xdata().min() >= 0.005
        perfect = plot_pr(pixel_results(1)).lines
        assert min(each.get_xdata().min() for each in perfect if each.get_zorder() == 3) == 0

    def test_legends_of_a_column_leave_two_thirds_to_the_axes(self):
        for results in (boundary_results(), pixel_results(4, name="a long name of a method, {}")):
            with mpl.rc_context({"figure.figsize": (3.5, 3), "font.size": 8}):
                ax = plot_pr(results)
            ax.figure.draw_without_rendering()
            assert ax.get_window_extent().height > 0.66 * ax.figure.bbox.height

    @pytest.mark.usefixtures("only_legends")
    @pytest.mark.parametrize("methods", [2, 4])
    def test_legends_of_axes_side_by_side_are_alike(self, methods):
        figure, axes = plt.subplots(1, 3, figsize=(7, 2.6), layout="constrained")
        for ax in axes:
            plot_pr(pixel_results(methods, images=3), ax=ax)
        figure.draw_without_rendering()
        boxes = [ax.get_legend().get_window_extent() for ax in axes]
        assert len({round(box.height) for box in boxes}) == 1
        assert all(ax.get_window_extent().width > figure.bbox.width / 9 for ax in axes)
        for ax, box in zip(axes, boxes, strict=True):
            texts = [ax.xaxis.label, *ax.get_xticklabels(), *(other.yaxis.label for other in axes)]
            assert not any(box.overlaps(text.get_window_extent()) for text in texts)

    def test_a_closed_plot_leaves_memory(self):
        known = weakref.ref(plot_pr(pixel_results(2, images=3)))
        plt.close("all")
        gc.collect()
        assert known() is None

    def test_names_that_were_removed_stay_away(self):
        _, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
        for text in names_drawn(plot_pr(pixel_results(1, images=3), ax=axes[0])):
            text.remove()
        plot_pr(pixel_results(1, images=3), ax=axes[1])
        assert names_drawn(axes[1])
        assert not names_drawn(axes[0])

    @pytest.mark.usefixtures("only_legends")
    def test_a_legend_that_was_removed_stays_away(self):
        _, axes = plt.subplots(1, 2, layout="constrained")
        plot_pr(pixel_results(2, images=3), ax=axes[0]).get_legend().remove()
        plot_pr(pixel_results(2, images=3), ax=axes[1])
        assert axes[0].get_legend() is None

    def test_images_that_are_all_perfect_end_the_axis_at_one(self):
        truth = np.eye(4, dtype=np.uint8)
        results = [evaluate({"a": (truth, truth), "b": (truth[::-1], truth[::-1])}, method=name) for name in "xy"]
        low, high = plot_images(results).get_xlim()
        assert 0.9 < low < 1 <= high < 1.005


def text_boxes(ax):
    """Return the boxes of all texts of a plot, laid out, and that of the figure."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    x0, x1 = ax.get_xlim()
    ticks = [tick.label1 if tick.label1.get_visible() else tick.label2 for tick in ax.xaxis.get_major_ticks()]
    seen = [label for label in ticks if x0 <= label.get_position()[0] <= x1]
    texts = [*seen, *ax.get_yticklabels(), *ax.texts, ax.xaxis.label, ax.title]
    return {text: text.get_window_extent() for text in texts if text.get_text()}, figure.bbox


class TestManyMethods:
    """Comparisons of many methods with long names stay readable."""

    NAME = "a_detector_with_a_rather_long_name/fine-tuned-{:02}/on_the_training_set"

    @pytest.mark.parametrize(("methods", "column"), [(12, True), (12, False), (22, True)])
    def test_no_texts_overlap_or_leave_the_figure(self, methods, column):
        comparison = compare_results(noisy_results(methods, name=self.NAME), replicates=100)
        with mpl.rc_context({"font.size": 8} if column else {}):
            ax = plot_comparison(
                comparison, ax=plt.subplots(figsize=(3.5, 3), layout="constrained")[1] if column else None
            )
            boxes, figure = text_boxes(ax)
        assert len(boxes) > 24
        for (one, box), (other, against) in itertools.combinations(boxes.items(), 2):
            across = min(box.x1, against.x1) - max(box.x0, against.x0)
            up = min(box.y1, against.y1) - max(box.y0, against.y0)
            assert min(across, up) < 0.5, (one, other)
        for text, box in boxes.items():
            assert figure.x0 - 0.5 <= box.x0, text
            assert box.x1 <= figure.x1 + 0.5, text

    def test_of_more_than_twenty_the_best_are_drawn(self):
        comparison = compare_results(noisy_results(22), replicates=50)
        best = [one.method for one in comparison.answer().standings]
        ax = plot_comparison(comparison)
        assert any("The best 20 of 22 methods" in sentence for sentence in caption_of(ax))
        assert [label.get_text() for label in ax.get_yticklabels()] == best[1:20]

    def test_without_a_test_the_reason_is_there(self):
        comparison = compare_results(noisy_results(3, images=5), replicates=5)
        assert any("from 6 images on" in sentence for sentence in caption_of(plot_comparison(comparison)))

    def test_intervals_are_said_not_to_be_corrected(self):
        caption = " ".join(caption_of(plot_comparison(compare_results(noisy_results(3), replicates=5))))
        assert "12 images; p-values are corrected for the number of pairs, intervals are not" in caption


class TestAgainstTheThreshold:
    @pytest.mark.usefixtures("only_legends")
    def test_the_legend_covers_no_corner_of_a_step(self):
        levels = np.array([1.0, 0.6, 0.0])
        for height in range(20, 60):  # of the long step beside the legend
            counts = ScoreCounts(levels, [height, 20, 80 - height], [0, 900, 100])
            ax = plot(Result("m", Pixels(), {}, "data:0", {"a": counts}), "f")
            ax.figure.draw_without_rendering()
            box, (line, _) = ax.get_legend().get_window_extent(), ax.lines
            corners = line.get_transform().transform(line.get_xydata())
            assert not box.count_contains(corners)
            assert line.get_drawstyle() == "default", "its corners are points, so that the legend finds them"
            plt.close(ax.figure)

    def test_unknown_thresholds_are_named_and_not_drawn(self):
        curve = PublishedCurve(BoundaryCurve([np.nan, np.nan], [1.0, 0.4], [0.4, 1.0]))
        ax = plot([Result("HED", Boundaries(), {}, "data:0", {}, published=curve)], "f")
        assert labels_of(ax) == ["[F=.7000] HED"]
        assert all(np.isnan(line.get_xydata()).any(axis=1).all() for line in ax.lines)


class TestImages:
    def test_a_dot_an_image_and_the_best_median_on_top(self):
        ax = plot_images(pixel_results(3, images=8))
        assert [text.get_text() for text in ax.get_yticklabels()] == ["method 0", "method 1", "method 2"]
        dots = [part for part in ax.collections if len(part.get_offsets()) == 8]
        assert len(dots) == 3
        assert ax.yaxis_inverted()

    def test_the_best_median_of_distances_is_the_lowest(self):
        pairs = [(np.eye(9), np.eye(9, k=shift)) for shift in (1, 3)]
        near, far = (evaluate([pair], protocol=Contours(), method=name) for pair, name in zip(pairs, "nf", strict=True))
        labels = plot_images([far, near], ax=plt.figure().subplots()).get_yticklabels()
        assert [label.get_text() for label in labels] == ["n", "f"]  # the first row is on top

    def test_methods_of_other_images_come_after_those_that_compete(self):
        high, middle, low = pixel_results(3)
        few = replace(high, counts=dict(list(high.counts.items())[:3]))
        labels = plot_images([few, middle, low], ax=plt.figure().subplots()).get_yticklabels()
        assert [label.get_text().replace("\n", " ") for label in labels] == [
            "method 1 (8 images)",
            "method 2 (8 images)",
            "method 0 (3 images)",
        ]

    def test_undefined_ones_are_left_out_and_counted(self):
        (result,) = pixel_results(1)
        blank = ScoreCounts([1.0], [0], [5])
        ax = plot_images([replace(result, counts=result.counts | {"blank": blank})])
        assert ax.get_yticklabels()[0].get_text() == "method 0\n(1 undefined)"

    def test_refuses_what_has_no_images_or_no_such_figure(self):
        curve = PublishedCurve(BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0]))
        with refused("published", ArgumentError):
            plot_images([Result("HED", Boundaries(), {}, "data:0", {}, published=curve)])
        with refused("unknown-metric", ArgumentError, metric="dice") as raised:
            plot_images(pixel_results(1), metric="dice")
        assert raised.value.values["known"][:2] == ("f", "precision")


class TestMasks:
    """Two-valued predictions are points and level lines, beside the curves of soft maps."""

    @pytest.fixture
    def results(self, tmp_path):
        truth, soft = write_papers(tmp_path)
        masks = {path.name: np.load(path) >= 0.5 for path in soft.iterdir()}
        return [
            evaluate(truth, soft, method="soft"),
            evaluate(truth, write_folder(tmp_path / "masks", masks), method="hard"),
        ]

    def test_a_point_in_both_spaces_without_a_band(self, results):
        for draw, point in ((plot_pr, (4 / 9, 4 / 7)), (plot_roc, (3 / 23, 4 / 9))):
            ax = draw(results, band=0.95, replicates=20)
            (dot,) = [line for line in ax.lines if "hard" in str(line.get_label())]
            assert (dot.get_linestyle(), dot.get_marker()) == ("None", styles_of(results)[1].marker)
            np.testing.assert_allclose(dot.get_xydata(), [point])
            assert len(ax.collections) == 1, "the band of the soft maps alone"
        assert labels_of(plot_roc(results))[1] == "[mask] hard"
        assert labels_of(plot_pr(results))[1].startswith("[F=.5000] hard")

    @pytest.mark.parametrize("protocol", [Pixels(), Boundaries(thresholds=9, max_dist=0.2)])
    def test_in_grey_print_their_markers_tell_them_apart(self, protocol):
        masks = [np.pad(np.ones((4, 6), bool), ((k, 4 - k), (2, 2))) for k in range(3)]
        ax = plot_pr([evaluate([(masks[0], mask)], protocol=protocol, method="m") for mask in masks[1:]])
        dots = [line for line in ax.lines if "] m" in str(line.get_label())]
        assert [(line.get_linestyle(), len(line.get_xdata())) for line in dots] == [("None", 1)] * 2
        assert {line.get_marker() for line in dots} == {"s", "^"}
        assert not [line for line in ax.lines if line.get_marker() == "o"]
        result = evaluate([(masks[0], masks[1])], protocol=protocol)
        assert len(plot(result, "f", ax=plt.figure().subplots()).lines) == 1, "no dot, since no threshold is best"

    def test_a_level_line_against_the_threshold(self, results):
        level = plot(results[1], "f").lines[0]
        assert set(level.get_ydata()) == {0.5}


def test_annotators_without_a_partner_are_named_and_not_drawn():
    detector, _ = boundary_results()
    alone = {"im0": BoundaryCounts([1.0], [0], [0], [0], [0])}
    human = Result("human", Annotators(settings=Boundaries()), {"thresholds": "annotators"}, detector.signature, alone)
    for draw in (plot_pr, partial(plot, kind="f")):
        assert labels_of(draw([detector, human]))[1] == "[F=-] human"
    assert threshold_table([human]).text().rows == [["human", "1.0000", "0", "0", "0", "0", "-", "-", "-"]]


class TestComparison:
    def test_short_names_of_a_pair_take_one_line(self):
        results = [replace(one, method=name) for one, name in zip(pixel_results(2), ("a8", "d64"), strict=True)]
        (label,) = plot_comparison(compare_results(results, replicates=50)).get_yticklabels()
        assert label.get_text() == "a8 - d64"

    def test_each_pair_stands_the_higher_first(self):
        comparison = compare_results(pixel_results(3), replicates=50)
        labels = [text.get_text() for text in plot_comparison(comparison).get_yticklabels()]
        assert labels == ["method 0\n- method 2", "method 0\n- method 1", "method 1\n- method 2"]

    def test_of_seven_methods_all_are_compared_with_the_best(self):
        comparison = compare_results(pixel_results(7), replicates=50)
        ax = plot_comparison(comparison)
        best = comparison.answer("ods_f").standings[0].method
        assert len(ax.get_yticklabels()) == 6
        assert best not in [text.get_text() for text in ax.get_yticklabels()]
        assert all(line.get_xydata()[0, 0] >= 0 for line in ax.lines if line.get_marker() == "o")

    def test_refuses_what_was_not_compared(self):
        comparison = compare_results(pixel_results(2), replicates=50)
        with refused("unknown-metric", ArgumentError, metric="dice"):
            plot_comparison(comparison, metric="dice")

    @pytest.mark.parametrize("shifts", [(1, 3), (3, 1)])
    def test_all_rows_have_one_direction_and_a_unit(self, shifts):
        pairs = [[(np.eye(9), np.eye(9, k=shift + image % 2)) for image in range(6)] for shift in shifts]
        results = [evaluate(pair, protocol=Contours(), method=f"by {k}") for pair, k in zip(pairs, shifts, strict=True)]
        ax = plot_comparison(compare_results(results, replicates=50), metric="hd95")
        assert "(px), by 1 minus by 3; negative: by 1 is better" in ax.get_xlabel().replace("\n", " ")
        assert [label.get_text() for label in ax.get_yticklabels()] == ["by 1 - by 3"]
        assert all(line.get_xydata()[0, 0] < 0 for line in ax.lines if line.get_marker() == "o")


class TestCurvePlot:
    def test_curves_on_the_same_axes_differ_and_say_their_area(self, results):
        counts = results[1].pooled
        ax = pr_curve(counts).plot()
        achievable_pr_curve(counts).plot(ax=ax)
        assert labels_of(ax) == ["AUC-PR .6531", "achievable, optimistic .7042"]
        first, second = (line.get_color() for line in ax.lines if line.get_zorder() == 3)
        assert first != second
        assert ax.get_xlabel() == "Recall"


class TestSavePlot:
    @pytest.mark.parametrize("kind", KINDS)
    def test_draws_every_kind_of_one_size(self, tmp_path, kind):
        maps = {name: (np.tri(8), np.arange(64).reshape(8, 8) / step) for name, step in {"a": 63, "b": 70}.items()}
        saliency = segbench.evaluate(maps, protocol=segbench.Saliency(positive=">0"))
        contours = segbench.evaluate([(np.tri(8) > 0, np.tri(8, k=1) > 0)], protocol="contours")
        truth, scores = np.zeros((320, 320)), np.arange(320.0**2).reshape(320, 320)
        truth[:9, :9] = 1
        anomalies = segbench.evaluate([(truth, scores), (0 * truth, scores)], protocol=segbench.Anomalies())
        objects = segbench.evaluate([(np.tri(8, dtype=int), np.tri(8, k=1, dtype=int))], protocol="objects")
        components = segbench.evaluate(maps, protocol=segbench.Objects(kind="components", at=0.5))
        own = [saliency], [contours], [anomalies], [objects], [components]
        for results in (pixel_results(2, images=4), label_results(1), *own):
            with suppress(ArgumentError):  # of another protocol
                save_plot(results, tmp_path / "a.png", kind=kind, size=(3.5, 3))
        assert plt.imread(tmp_path / "a.png").shape[:2] == (600, 700)

    @pytest.mark.parametrize("kind", ["roc", "reliability"])
    def test_of_a_small_size_is_in_the_middle(self, tmp_path, kind):
        save_plot(pixel_results(2), tmp_path / "a.png", kind=kind, size=(3.3, 2.6))
        picture = plt.imread(tmp_path / "a.png")[..., :3]
        drawn = np.flatnonzero((picture < 1).any(axis=(0, 2)))
        assert abs(drawn[0] - (picture.shape[1] - 1 - drawn[-1])) <= 6

    def test_letters_fit_the_size_unless_chosen(self, results, tmp_path):
        def letters(size):
            save_plot(results[1:], tmp_path / "a.svg", size=size, kind="images")
            found = re.search(r"font-size: ([\d.]+)px[^>]*>F of each", (tmp_path / "a.svg").read_text())
            return float(found[1])

        assert [letters(size) for size in ((3.5, 3), (7, 4), (13, 7))] == [8, 10, 18]
        with mpl.rc_context({"font.size": 11}):
            assert letters((13, 7)) == 11

    def test_a_metric_that_is_lacking_is_named(self, monkeypatch, tmp_path):
        monkeypatch.setattr(curves, "ROC", Kind(lambda results, **_: results[0].summary["covering"]))
        with refused("unknown-metric", ArgumentError, metric="covering") as raised:
            save_plot(pixel_results(1), tmp_path / "a.png", kind="roc")
        assert raised.value.values["known"][0] == "ods_f"

    def test_leaves_no_figure_behind(self, results, tmp_path):
        save_plot(results, tmp_path / "a.svg", kind="f")
        assert plt.get_fignums() == []

    @pytest.mark.parametrize(("name", "start"), [("a.pdf", b"%PDF"), ("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG")])
    def test_writes_the_format_its_name_says_the_same_bytes_twice(self, results, tmp_path, name, start):
        written = []
        for _ in range(2):
            save_plot(results[1:], tmp_path / name, kind="f")
            written.append((tmp_path / name).read_bytes())
        assert written[0].startswith(start)
        assert written[0] == written[1]
        if name == "a.svg":
            assert b"as it is</text>" in written[0], "vector text stays text"

    def test_other_formats_and_places_are_refused(self, results, tmp_path):
        with refused("other-suffix", ArgumentError, known=(".pdf", ".svg", ".png")):
            save_plot(results, tmp_path / "a.bmp")
        with refused("unwritable", DataError, path=str(tmp_path / "no" / "a.svg")):
            save_plot(results, tmp_path / "no" / "a.svg", kind="images")


EYE, FEATHER = "\U00013080", "\U000131cb"  # hieroglyphs


@pytest.fixture(params=[True, False], ids=["truetype", "opentype"])
def font_of_an_eye(request, tmp_path, monkeypatch):
    """Install a font with one letter, a square, and say whether PDF can embed it."""
    square = [(0, 0), (0, 700), (700, 700), (700, 0)]
    builder = FontBuilder(1000, isTTF=request.param)
    builder.setupGlyphOrder([".notdef", "eye"])
    builder.setupCharacterMap({ord(EYE): "eye"})
    pen = TTGlyphPen(None) if request.param else T2CharStringPen(800, None)
    pen.moveTo(square[0])
    for corner in square[1:]:
        pen.lineTo(corner)
    pen.closePath()
    if request.param:
        builder.setupGlyf(dict.fromkeys((".notdef", "eye"), pen.glyph()))
    else:
        builder.setupCFF("Eye-Regular", {}, dict.fromkeys((".notdef", "eye"), pen.getCharString()), {})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "eye"), (800, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Eye", "styleName": "Regular", "psName": "Eye-Regular"})
    builder.setupOS2(usWeightClass=400)
    builder.setupPost()
    builder.save(tmp_path / "eye.otf")
    manager = font_manager.fontManager
    monkeypatch.setattr(manager, "ttflist", [*manager.ttflist])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(tmp_path / "eye.otf")])
    yield request.param
    manager._findfont_cached.cache_clear()


class TestLetters:
    def test_letters_of_an_installed_font_are_embedded_or_drawn_as_outlines(self, results, tmp_path, font_of_an_eye):
        named = [replace(result, method=f"{EYE} {k}") for k, result in enumerate(results)]
        said = []
        with warnings.catch_warnings(action="error"):
            save_plot(named, tmp_path / "a.pdf", kind="comparison", say=said.append)
        assert said == []
        written = (tmp_path / "a.pdf").read_bytes()
        assert (b"Eye-Regular" in written) is font_of_an_eye
        assert b"LastResort" not in written
        assert b"/Subtype /Type3" not in written

    def test_a_letter_that_no_font_has_is_said_once(self, results, tmp_path, monkeypatch):
        monkeypatch.setattr(font_manager, "findSystemFonts", list)
        shipped = [entry for entry in font_manager.fontManager.ttflist if "mpl-data" in entry.fname]
        monkeypatch.setattr(font_manager.fontManager, "ttflist", shipped)
        named = [replace(result, method=f"{FEATHER} {k}") for k, result in enumerate(results)]
        said = []
        with warnings.catch_warnings(action="error"):
            for name in ("a.png", "a.svg"):
                save_plot(named, tmp_path / name, kind="f", say=said.append)
        assert len(said) == 1
        assert said[0].startswith(f"no installed font has the letters {FEATHER}: boxes stand for them; install one")

    def test_letters_that_must_be_joined_are_refused_where_matplotlib_cannot_join_them(
        self, results, tmp_path, monkeypatch
    ):
        monkeypatch.delattr("matplotlib.ft2font.__libraqm_version__", raising=False)
        named = [replace(results[0], method="شبكة")]
        with refused("unknown-letters", ArgumentError, name="شبكة", version=mpl.__version__) as raised:
            save_plot(named, tmp_path / "a.pdf", kind="f")
        assert "write an .svg" in raised.value.values["as_file"]
        save_plot(named, tmp_path / "a.svg", kind="f")
        assert "شبكة" in (tmp_path / "a.svg").read_text("utf-8")


class TestPoints:
    def test_every_point_drawn_lies_on_the_curve(self):
        rng = np.random.default_rng(0)
        curve = pr_curve(count(rng.random(400) < 0.3, rng.integers(0, 12, 400)))
        recall, precision = curve.line("pr")
        tp = recall * curve.positives
        false = np.where(precision > 0, tp / np.where(precision > 0, precision, 1) - tp, 0)
        inside = (tp > 0) & ~np.isin(np.rint(tp), curve.tp)
        assert np.allclose(false[inside], np.interp(tp[inside], curve.tp, curve.fp), rtol=1e-6)


class TestTheFrame:
    @pytest.mark.parametrize("draw", [plot_pr, plot_roc, partial(plot, kind="f")])
    def test_a_line_on_it_is_drawn_in_full_width(self, draw):
        counts = ScoreCounts(np.linspace(1, 0, 30), [50] * 29 + [0], [0] * 29 + [99])
        ax = draw(Result("perfect", Pixels(), {}, "data:0", {"a": counts}))
        (line,) = [line for line in ax.lines if line.get_label().endswith("perfect")]
        half = line.get_linewidth() / 2 * ax.get_figure().dpi / 72
        left, bottom, right, top = line.get_clip_box().extents - ax.bbox.extents
        assert left <= -half
        assert bottom <= -half
        assert right >= half
        assert top >= half
        assert line.get_clip_path() is None

    def test_what_lies_beyond_is_cut_off(self):
        ax = plot_pr(pixel_results(1))
        ax.set_xlim(0.5, 0.8)
        (line,) = [line for line in ax.lines if line.get_label().endswith("method 0")]
        assert line.get_clip_box().width < 1.02 * ax.bbox.width


class TestOneClass:
    def test_it_is_named_and_several_are_told_apart(self):
        one, two = (replace(result, settings={"class": "fg", "positive": "1"}) for result in pixel_results(2))
        assert labels_of(plot_pr([one, two]))[0].endswith("] method 0, class fg")
        assert labels_of(plot(one, "f"))[0].endswith("] method 0, class fg")
        other = replace(one, settings={"class": "bg", "positive": "1"})
        assert [label.split("] ")[1] for label in labels_of(plot_pr([one, other]))[:2]] == [
            "method 0 (class:fg)",
            "method 0 (class:bg)",
        ]


class TestBarsOfClasses:
    def test_the_axis_shows_distances_whole(self):
        truth = np.zeros((20, 30), np.uint8)
        truth[5:9, 2:6] = 1
        predicted = np.roll(truth, 12, axis=1)
        ax = segbench.plot_classes(evaluate([(truth, predicted)], protocol=segbench.Contours(classes="0-1")))
        assert max(bar.get_width() for bar in ax.patches) == 12
        assert ax.get_xlim()[1] > 12
        assert ax.get_xlabel() == "HD95 (px), lower is better"

    def test_the_background_comes_last(self):
        truth = np.array([[0, 1, 1, 2, 3]])
        predicted = np.array([[0, 1, 2, 2, 3]])
        protocol = segbench.Labels(classes="bg=0,a=1,b=2,c=3,none=4", background=0)
        ax = segbench.plot_classes(evaluate([(truth, predicted)], protocol=protocol))
        assert [text.get_text() for text in ax.get_yticklabels()] == ["c", "a", "b", "none", "bg"]

    def test_a_metric_below_zero_has_its_bar(self):
        truth = np.array([[0, 1, 0, 1]])
        result = evaluate([(truth, 1 - truth)], protocol=segbench.Labels(classes=2))
        ax = segbench.plot_classes(result, metric="mcc")
        assert [bar.get_width() for bar in ax.patches] == [-1, -1]
        assert ax.get_xlim() == (-1, 1)


class TestWhatIsGiven:
    @pytest.mark.parametrize("draw", [plot_pr, plot_roc, partial(plot, kind="f"), plot_images])
    def test_one_result_is_drawn_and_what_is_none_is_refused(self, results, draw):
        assert draw(results[0]).get_xlabel() == draw(iter(results[:1])).get_xlabel()
        with refused("not-results", ArgumentError, given="dict"):
            draw({"a": results[0]})
        for wrong in ("results.segbench", [results[0], results[0].curve], None, results[0].curve):
            with refused(
                "not-results", ArgumentError, given=("Curve" if isinstance(wrong, list) else type(wrong).__name__)
            ):
                draw(wrong)

    def test_a_comparison_is_not_results(self, results):
        with refused("not-comparison", ArgumentError, given="list"):
            plot_comparison(results)


class TestBands:
    def test_a_band_is_drawn_for_each_method(self, results):
        assert len(plot_pr(results, band=0.9, replicates=20).collections) == 2

    def test_boundaries_have_a_band_and_print_has_none(self):
        counts = {str(k): BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [12 + k, 5]) for k in range(5)}
        curve = boundary_curve(BoundaryCounts.sum(counts.values()))
        counted = Result("counted", Boundaries(), {}, "data:0", counts)
        printed = Result("printed", Boundaries(), {}, "data:0", {}, published=PublishedCurve(curve))
        ax = plot_pr([counted, printed], band=0.9, replicates=20)
        assert len(ax.collections) == 1

    def test_results_of_two_protocols_are_no_one_plot(self, results):
        other = Result("b", Boundaries(), {}, "data:0", {"a": BoundaryCounts([0.5], [1], [2], [1], [2])})
        with refused("several-protocols", ArgumentError, protocols=("boundaries", "pixels")):
            plot_pr([results[0], other])

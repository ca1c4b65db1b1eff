import base64
import hashlib
import html
import io
import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from cases import save_cell, write_folder, write_papers
from methods import write_methods
from pages import HOSTILE, embedded, hostile_results, scripts_of, write_page
from pictures import noisy_results
from PIL import Image
from refusing import refused

from segbench import (
    Accumulator,
    Annotators,
    ArgumentError,
    Boundaries,
    BoundaryCounts,
    BoundaryCurve,
    Contours,
    DataError,
    FailedImages,
    Pixels,
    Regions,
    Result,
    Saliency,
    ScoreCounts,
    compare_results,
    evaluate,
    export_report,
)
from segbench.core.numbers import number
from segbench.drawing.charts import Chart, ChartAxis, Path
from segbench.protocols.boundaries.official import PublishedCurve
from segbench.report.page import document
from segbench.report.plots import curves
from segbench.report.plots.curves import plot_pr
from segbench.report.plots.kinds import KINDS
from segbench.report.plots.methods import Kind
from segbench.statistics.answer import p_number

CURVE = BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0])


@pytest.fixture
def paper_results(tmp_path):
    folders = write_papers(tmp_path)
    return [
        evaluate(*folders, method="as it is"),
        evaluate(*folders, method="upside down", protocol=Pixels(invert=True)),
    ]


def decoded(base64_png):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(base64_png))))


def square(side):
    mask = np.zeros((12, 12), np.uint8)
    mask[4 : 4 + side, 4 : 4 + side] = 255
    return mask


def states_at(panel, place, cut):
    """Count what the page's script paints at a threshold, from what it is given."""
    method = panel["methods"][place]
    labels, levels = decoded(panel["truths"][method["truth"]]), decoded(method["levels"])
    predicted = levels > cut
    return [
        int(np.sum(part)) for part in ((labels == 1) & predicted, (labels == 0) & predicted, (labels == 1) & ~predicted)
    ]


def sorting_columns(page):
    """Return the title and the direction of each column that is marked as sorted, and its place in its row."""
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    heads = [re.findall(r'<th scope="col"[^>]*>.*?</th>', row) for row in rows]
    return [
        (place, re.sub("<[^>]*>", "", head), re.search('aria-sort="([a-z]*)"', head)[1])
        for row in heads
        for place, head in enumerate(row)
        if "aria-sort" in head
    ]


class TestTables:
    def test_the_metric_that_sorts_comes_first_and_is_marked(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {"a.png": square(2), "b.png": square(3)})
        shifted = [
            write_folder(tmp_path / f"by{k}", {"a.png": np.roll(square(2), k, 1), "b.png": square(3)}) for k in (2, 1)
        ]
        page = write_page(tmp_path, [evaluate(gt, one, Contours()) for one in shifted]).read_text()
        assert sorting_columns(page) == [(1, "HD95", "ascending"), (2, "HD95", "descending")]
        assert re.findall(r'<tr><th scope="row" data-v="(by\d)">', page) == ["by1", "by2"]

    def test_methods_sorted_apart_are_not_marked_as_sorted(self, tmp_path):
        gt, good, bad = write_methods(tmp_path, {"good": 3, "bad": 1}, images=4)
        (good / "im03.png").write_bytes(b"no image")
        with pytest.warns(FailedImages):
            page = write_page(tmp_path, [evaluate(gt, good), evaluate(gt, bad)]).read_text()
        assert re.findall(r'<tr><th scope="row" data-v="(good|bad)">', page) == ["bad", "good"]  # 4 images, then 3
        assert [place for place, *_ in sorting_columns(page)] == [2]  # of the table of images alone

    def test_a_threshold_is_rounded_down_so_that_it_cuts_the_same_pixels(self, tmp_path):
        images = {"one": (np.array([[1, 0]]), np.array([[106, 9]], np.uint8))}
        page = write_page(tmp_path, [evaluate(images)]).read_text("utf-8")
        assert f'data-v="{106 / 255!r}"' in page
        assert "<span>.4156</span>" in page
        assert "<span>.4157</span>" not in page

    def test_the_best_method_comes_first_and_is_bold(self, paper_results, tmp_path):
        page = write_page(tmp_path, paper_results[::-1]).read_text()
        methods = re.findall(r'<tr><th scope="row" data-v="([^"]*)">', page)
        assert methods == ["as it is", "upside down"]
        assert re.search(r'<td data-v="0.73684\d*" class="best"><span>.7368', page)

    def test_every_figure_of_every_image_is_there_the_worst_first(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 0.5, "two": 2}, images=5)
        results = [evaluate(gt, one), evaluate(gt, two)]
        page = write_page(tmp_path, results).read_text()
        rows = re.findall(r'data-v="(im\d\d)">.*?</th><td class="text" data-v="(\w+)">.*?\n<td data-v="([^"]*)"', page)
        figures = [float(figure) for _, _, figure in rows]
        assert figures == sorted(figures)
        expected = {(name, r.method): r.per_image[name]["f"] for r in results for name in r.per_image}
        assert {(name, method): float(figure) for name, method, figure in rows} == expected

    def test_a_page_of_many_images_stays_small_and_says_what_it_leaves_out(self, tmp_path):
        images = {f"im{k:05}": ScoreCounts([2, 1], [k % 90, 90 - k % 90], [k % 7, 300]) for k in range(4001)}
        results = [Result(name, Pixels(), {}, "protocol:pixels|data:0", images) for name in ("one", "other")]
        path = write_page(tmp_path, results, replicates=20, most_panels=0)
        page = path.read_text()
        assert page.count("<tr data-method=") == 3000
        assert "5002 better rows are left out; segbench show --per-image --format csv writes all." in page
        assert "of more than 2000 images, a line from the lowest to the highest replaces the points" in page
        assert 'class="points"' not in page
        assert path.stat().st_size < 2_500_000

    def test_intervals_stand_below_figures_unless_none_are_wanted(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1})
        result = evaluate(gt, one)
        low, high = result.intervals()["ods_f"]
        shown = f"{low:.4f}–<wbr>{high:.4f}".replace("0.", ".")  # noqa: RUF001  a range
        assert f"<small>{shown}</small>" in write_page(tmp_path, [result]).read_text()
        assert "</span><small>." not in write_page(tmp_path, [result], intervals=None).read_text()

    def test_a_note_on_intervals_says_of_which_method(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 3, "two": 1}, images=3)
        page = write_page(tmp_path, [evaluate(gt, one), evaluate(gt, two)], replicates=50).read_text()
        assert page.count("3 images: intervals over fewer than 10") == 1
        alone = Result("print", Boundaries(), {}, "data:0", {}, published=PublishedCurve(CURVE))
        counts = BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [12, 5])
        counted = Result("counted", Boundaries(), {}, "data:0", {"a": counts, "b": counts})
        page = write_page(tmp_path, [alone, counted], replicates=50).read_text()
        assert "print: a published curve has no images to resample, so no intervals" in page
        assert "counted: 2 images: intervals over fewer than 10" in page

    def test_an_undefined_figure_is_a_dash_with_its_reason(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {"a.png": np.full((3, 3), 255, np.uint8)})
        prediction = write_folder(tmp_path / "p", {"a.png": np.arange(9, dtype=np.uint8).reshape(3, 3)})
        page = write_page(tmp_path, [evaluate(gt, prediction, Pixels(positive="255"))]).read_text()
        assert 'data-v="" title="undefined: no negative pixels"><span>-<' in page
        assert "undefined (no negative pixels): AUC-ROC, FPR95<" in page

    def test_a_run_in_which_every_image_failed(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {"a.png": np.eye(4, dtype=np.uint8)})
        prediction = write_folder(tmp_path / "p", {"a.png": np.zeros((3, 9), np.uint8)})
        with pytest.warns(FailedImages):
            result = evaluate(gt, prediction)
        page = write_page(tmp_path, [result]).read_text()
        assert "p: undefined (no pixels): " in page
        assert "no image was counted, so no intervals" in page

    def test_methods_on_different_images_are_not_ranked_together(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 3, "two": 1}, images=4)
        (one / "im03.png").write_bytes(b"no image")
        with pytest.warns(FailedImages):
            page = write_page(tmp_path, [evaluate(gt, one), evaluate(gt, two)]).read_text()
        assert "<h1>2 methods on up to 4 images</h1>" in page
        assert (
            "not all methods have the same images; the best is marked only among those that do: two (4 images" in page
        )
        assert 'class="best"' not in page
        assert re.findall(r'<tr><th scope="row" data-v="(one|two)">', page) == ["two", "one"]
        assert re.findall(r'<td data-v="(\d)"><span>\1</span></td>\s*</tr>', page)[:2] == ["4", "3"]

    def test_what_failed_is_listed(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1})
        (one / "im03.png").write_bytes(b"no image")
        with pytest.warns(FailedImages):
            result = evaluate(gt, one)
        page = write_page(tmp_path, [result], paths=True).read_text()
        assert re.search(r"one: 1 of \d+ images failed and is left out of all metrics", page)
        assert "on the same images" not in page
        (failure,) = result.failed.values()
        assert html.escape(str(failure), quote=False).replace("'", "&#39;") in page


def sentences(page):
    """Return what the page says first, and its notes on the comparison, as plain text."""
    answer = re.search(r'<div class="answer">(.*?)<h3', page, re.DOTALL)[1]
    first, *_ = re.split("<div", answer)
    notes = re.search(r'<ul class="remarks">(.*?)</ul>', answer)
    found = [*re.findall(r"<p[^>]*>(.*?)</p>", first), *re.findall("<li>(.*?)</li>", notes[1] if notes else "")]
    return [html.unescape(re.sub("<[^>]*>", "", sentence)) for sentence in found]


def plain(text):
    return html.unescape(re.sub("<[^>]*>", "", text))


def lines(page):
    """Return the cells of each line of the answer, as plain text, with the name of its method first."""
    table = re.search(r'<table class="lines answers">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)[1]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("<tr.*?</tr>", table, re.DOTALL)]
    return {plain(cells[1]): [plain(cells[0]), *map(plain, cells[2:])] for cells in rows}


def pairs(page):
    """Return p of each pair of methods as the page writes it, by both names, and whether it is marked."""
    table = re.search(r'<table class="matrix">(.*?)</table>', page, re.DOTALL)[1]
    written = {}
    rows = re.findall(r'<tr><th scope="row"><b>(\w+)</b> <span class="name">(.*?)</span></th>(.*?)</tr>', table)
    titles = re.findall(r'<th scope="col" title="([^"]*)">(\w+)</th>', table)
    names = [html.unescape(title) for title, _ in titles]
    for _, name, cells in rows:
        for other, (mark, text) in zip(
            names, re.findall(r"<td( class=\"differs\"[^>]*)?>(.*?)</td>", cells), strict=True
        ):
            if text:
                written[plain(name), other] = (plain(text), bool(mark))
    return written


class TestAnswer:
    def test_the_verdict_and_every_p_value_are_those_of_compare(self, tmp_path):
        results = noisy_results(14)
        page = write_page(tmp_path, results[::-1], replicates=50).read_text()
        answer = compare_results(results, replicates=50).answer()
        assert sentences(page)[0] == f"{answer.verdict}."
        order = [standing.method for standing in answer.standings]
        assert {pair: p for pair, (p, _) in pairs(page).items()} == {
            (a, b): p_number(answer.p_values[a, b], digits=3) for a, b in itertools.combinations(order, 2)
        }
        assert "Corrected for all pairs of methods that have a p-value" in page
        assert list(lines(page)) == order

    def test_a_line_has_value_interval_difference_to_the_best_and_p(self, tmp_path):
        results = noisy_results(4)
        shown = lines(write_page(tmp_path, results, replicates=50).read_text())
        comparison = compare_results(results, replicates=50)
        answer = comparison.answer()
        best, *others = answer.standings
        for standing in answer.standings:
            letter, value, *_ = shown[standing.method]
            assert letter == standing.letter
            ends = [float(end) for end in re.findall(r"\.\d+", value)]
            assert ends == pytest.approx([standing.estimate, *standing.interval.ends], abs=0.002)
        assert shown[best.method][3] == ""
        for standing in others:
            (row,) = (
                comparison.rows("ods_f", against=standing.method)[:1]
                if len(others) == 1
                else [row for row in comparison.rows("ods_f", against=standing.method) if row.a == best.method]
            )
            lead, p = shown[standing.method][3], shown[standing.method][5]
            told = [float(end) for end in re.findall(r"-?\.\d+", lead)]
            assert told == pytest.approx([row.difference, row.low, row.high], abs=0.002)
            assert p == p_number(row.p_holm, digits=3)

    def test_of_distances_the_lead_is_by_how_much_the_best_is_lower(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {f"{k}.png": square(2 + k % 3) for k in range(6)})
        moved = {"far": (3, 4), "near": (1, 1)}
        results = [
            evaluate(
                gt,
                write_folder(tmp_path / name, {f"{k}.png": np.roll(square(2 + k % 3), by[k % 2], 1) for k in range(6)}),
                Contours(),
            )
            for name, by in moved.items()
        ]
        page = write_page(tmp_path, results, replicates=50).read_text()
        assert list(lines(page)) == ["near", "far"]
        caption = plain(re.search(r'data-kind="difference">\s*<figcaption>(.*?)</figcaption>', page, re.DOTALL)[1])
        assert re.match(r"near ahead of far: HD95, difference \(px\), 2\.5\d* px \[", caption)

    def test_what_is_significant_is_marked(self, tmp_path):
        results = noisy_results(4)
        page = write_page(tmp_path, results, replicates=50).read_text()
        standings = compare_results(results, replicates=50).answer().standings
        letters = {standing.method: standing.letter for standing in standings}
        better = {standing.method: standing.better_than for standing in standings}
        marked = {pair: mark for pair, (_, mark) in pairs(page).items()}
        assert marked == {
            (a, b): letters[b] in better[a] or letters[a] in better[b] for a, b in itertools.combinations(letters, 2)
        }
        assert set(marked.values()) == {True, False}

    def test_six_methods_have_colours_and_the_best_is_solid(self, tmp_path):
        page = write_page(tmp_path, noisy_results(9), replicates=50).read_text()
        table = re.search(r'<table class="lines answers">.*?</table>', page, re.DOTALL)[0]
        styles = re.findall(r'<tr class="method ([^"]*)"', table)
        assert len({style.split()[0] for style in styles[:6]}) == 6
        assert " " not in styles[0]
        assert styles[6:] == ["other"] * 3

    def test_how_often_the_best_is_first(self, tmp_path):
        results = noisy_results(3)
        page = write_page(tmp_path, results, replicates=300).read_text()
        compared = compare_results(results, replicates=300)
        best = compared.answer().standings[0].method
        share = compared.rank_shares["ods_f"][best][0]
        assert f"{best} is first in {100 * share:.3g} % of 300 resamples of the images." in sentences(page)

    def test_methods_that_share_the_first_place_do_not_have_it_alone(self, tmp_path):
        images = {f"im{k:02}": ScoreCounts([2, 1], [5 + k, 1], [k, 9]) for k in range(12)}
        same = [Result(name, Pixels(), {}, "protocol:pixels|data:0", images) for name in ("one", "other")]
        said = sentences(write_page(tmp_path, same, replicates=20).read_text())
        assert "one is first, alone or with others, in 100 % of 20 resamples of the images." in said

    def test_metrics_that_disagree_are_named(self, tmp_path):
        def counted(name, images):
            return Result(name, Pixels(), {}, "protocol:pixels|data:0", {f"im{k:02}": one for k, one in images})

        each = counted("each", ((k, ScoreCounts([2 * k + 2, 2 * k + 1], [100, 0], [0, 300])) for k in range(12)))
        pooled = counted("pooled", ((k, ScoreCounts([2, 1], [90 - k % 3, 10 + k % 3], [9, 291])) for k in range(12)))
        said = sentences(write_page(tmp_path, [each, pooled], replicates=20).read_text())
        (found,) = [sentence for sentence in said if sentence.startswith("Metrics disagree, each significantly: ")]
        better, worse = re.search(r"pooled is better than each by (.*) but worse by (.*)\.", found).groups()
        assert "ODS F" in better.split(", ")
        assert "mean F" in worse.split(", ")

    @pytest.mark.parametrize("intervals", [None, 0.95])
    def test_nothing_leads_without_a_significant_difference(self, tmp_path, intervals):
        gt, *folders = write_methods(tmp_path, {"two": 2, "three": 1.9}, images=12)
        results = [evaluate(gt, folder) for folder in folders]
        said = sentences(write_page(tmp_path, results, intervals=intervals, replicates=20).read_text())
        assert not any("leads" in sentence for sentence in said)
        if intervals is None:
            values = [result.summary["ods_f"] for result in results]
            ahead = number(values[0] - values[1])
            assert said[0] == f"two has the best ODS F, {number(values[0])}, {ahead} ahead of three, without a test."

    def test_dotted_lines_have_their_names_below_the_chart(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 2}, images=3)
        page = write_page(tmp_path, [evaluate(gt, one)], replicates=20).read_text()
        assert re.search(r"Shaded: [^<]* resamples of images; dotted: prevalence \.\d+\.</p>", page)
        blob = np.pad(np.ones((3, 5), bool), 2)
        page = write_page(tmp_path, [evaluate([(blob, blob)], protocol="contours")], intervals=None).read_text()
        assert "Dotted: 95 % of the contours.</p>" in page

    def test_a_published_curve_is_not_tested(self, tmp_path):
        print_only = Result("print", Boundaries(), {}, "data:0", {}, published=PublishedCurve(CURVE))
        counts = {str(k): BoundaryCounts([0.2, 0.6], [8, 4], [10, 10], [8, 4], [12 + k % 3, 5]) for k in range(7)}
        worse = {name: replace(one, matched_gt=one.matched_gt // 2) for name, one in counts.items()}
        counted = [Result(name, Boundaries(), {}, "data:0", c) for name, c in (("a", counts), ("b", worse))]
        said = sentences(write_page(tmp_path, [print_only, *counted], replicates=20).read_text())
        assert "Not compared: print (published without images)." in said
        assert f"{compare_results(counted).answer().verdict}." in said

    def test_one_method_has_its_interval(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=4)
        result = evaluate(gt, one)
        said = sentences(write_page(tmp_path, [result]).read_text())
        low, high = (number(end, digits=2) for end in result.intervals()["ods_f"])  # .2 wide
        assert said[0] == f"one: ODS F {number(result.summary['ods_f'], digits=2)}."
        assert said[1] == f"95 % interval {low} to {high} over 4 images."
        assert said[-1] == "4 images: intervals over fewer than 10 are unreliable."

    def test_long_names_lose_their_middle_where_a_value_stands_beside_them(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=2)
        names = [f"segment_anything_vit_huge_{'fine_tuned_' * 3}on_cityscapes_{k}" for k in "ab"]
        page = write_page(tmp_path, [evaluate(gt, one, method=name) for name in names]).read_text()
        short = [plain(name) for name in re.findall(r'class="name" title="segment_[^"]*">(.*?)</span>', page)]
        assert (len(short), len(set(short))) == (4, 2)  # in two charts
        assert all("…" in name and len(name) <= 32 for name in short)

    def test_methods_measured_differently_are_not_compared(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 1, "two": 2}, images=3)
        results = [evaluate(gt, one, Pixels(void=(7,))), evaluate(gt, two)]
        page = write_page(tmp_path, results, replicates=50).read_text()
        assert "Not compared: two (counted with other settings)." in sentences(page)
        assert "not all methods have the same settings; the best is marked only among those that do" in page

    def test_different_repairs_are_named(self, paper_results, tmp_path):
        note = "different settings change only the predictions: invert is no in as it is, yes in upside down."
        for intervals in (None, 0.9):
            page = write_page(tmp_path, paper_results, intervals=intervals, replicates=20).read_text()
            assert f"Compared, since {note}" in sentences(page)
        assert "different settings" not in write_page(tmp_path, paper_results[:1], intervals=None).read_text()


class TestGallery:
    def test_the_worst_the_most_disputed_the_median_and_the_best(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 0.5, "two": 2}, images=9)
        results = [evaluate(gt, one), evaluate(gt, two)]
        page = write_page(tmp_path, results, intervals=None).read_text()
        values = [[result.per_image[name]["f"] for result in results] for name in results[0].counts]
        by_mean = sorted(results[0].counts, key=lambda name: np.mean(values[list(results[0].counts).index(name)]))
        rows = dict(re.findall(r'<tr><th scope="row"><b>([^<]*)</b><span class="name">(im\d\d)</span>', page))
        assert list(rows) == ["Worst", "Widest disagreement", "Median", "Best"]
        assert rows["Worst"] == by_mean[0]
        assert rows["Best"] == by_mean[-1]
        spread = {name: np.ptp(pair) for name, pair in zip(results[0].counts, values, strict=True)}
        left = [name for name in spread if name != rows["Worst"]]
        assert rows["Widest disagreement"] == max(left, key=spread.get)

    def test_maps_without_a_best_threshold_are_shown_where_their_curve_is_highest(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 2}, images=3)
        result = evaluate(gt, one, Saliency())
        page = write_page(tmp_path, [result], intervals=None).read_text()
        (shared,), (panel, *_) = embedded(page, "data-"), embedded(page, "panel-")
        method = panel["methods"][0]
        curve = result.curve
        best = curve.columns["threshold"][np.nanargmax(curve.columns[curve.measure])]
        assert shared["cuts"][method["cuts"]][method["start"]] == pytest.approx(best)

    def test_thumbnails_show_the_counts_at_the_best_threshold(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=3)
        result = evaluate(gt, one)
        page = write_page(tmp_path, [result], intervals=None).read_text()
        shown = re.findall(r'data-image="(\w+)" data-method="0">.*?base64,([^"]*)".*?<small>F ([^<]*)</small>', page)
        assert len(shown) == 3
        for name, picture, said in shown:
            counts = result.counts[name].at([result.summary["ods_threshold"]])
            tp, fp = int(counts.positives[0]), int(counts.negatives[0])
            missed = result.counts[name].total_positives - tp
            states = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))))
            assert [int(np.sum(states == state)) for state in (1, 2, 3)] == [tp, fp, missed]
            assert said == number(2 * tp / (2 * tp + fp + missed))
            best = number(result.per_image[name]["f"])
            assert f'<small class="rank">best F {best}</small>' in page


class TestCurves:
    def test_points_to_hover_over_are_those_measured(self, paper_results, tmp_path):
        (drawn,) = embedded(write_page(tmp_path, paper_results).read_text(), "data-")
        curve = paper_results[0].curve
        for name, values in (("recall", curve.recall), ("precision", curve.precision), ("threshold", curve.thresholds)):
            np.testing.assert_allclose(drawn["readings"][0][name], values[1:], rtol=1e-5)

    def test_curves_are_drawn_without_a_script(self, paper_results, tmp_path):
        page = write_page(tmp_path, paper_results).read_text()
        kinds = re.findall(r'data-kind="([^"]*)"', page)
        assert kinds == ["difference", "answer", "pr", "roc", "threshold-f", "images"]
        pr = page[page.index('data-kind="pr"') : page.index('data-kind="roc"')]
        assert len(re.findall(r'<path class="line" d="M', pr)) == 2
        summary = paper_results[0].summary
        x, y = 48 + summary["ods_recall"] * (446 - 48), 318 - summary["ods_precision"] * (318 - 10)
        assert f'class="dot" cx="{x:.1f}" cy="{y:.1f}"' in pr

    def test_a_kind_that_describes_its_curves_is_on_the_page(self, paper_results, tmp_path, monkeypatch):
        line = Path(np.array([0, 1.0]), np.array([0.2, 0.7]))
        chart = Chart("mine", "Mine", ChartAxis("Tolerance"), ChartAxis("NSD"), [[line], [line]])
        monkeypatch.setattr(curves, "MINE", Kind(plot_pr, lambda _: [chart]), raising=False)
        monkeypatch.setitem(KINDS, "mine", ("curves", "NSD against the tolerance"))
        page = write_page(tmp_path, paper_results).read_text()
        mine = page[page.index('data-kind="mine"') :].split("</figure>")[0]
        assert mine.count('<path class="line" d="M48 256.4L446 102.4"/>') == 2

    def test_one_threshold_has_no_chart_of_thresholds(self, tmp_path):
        gt = write_folder(tmp_path / "gt", {"a.png": np.eye(9, dtype=np.uint8) * 255})
        mask = write_folder(tmp_path / "p", {"a.png": np.tri(9, dtype=np.uint8) * 255})
        page = write_page(tmp_path, [result := evaluate(gt, mask)]).read_text()
        kinds = re.findall(r'data-kind="([^"]*)"', page)
        assert "pr" in kinds
        assert "threshold-f" not in kinds
        # The mask is a point in both spaces: there is no line to any other.
        pr, roc = page[page.index('data-kind="pr"') :].split('data-kind="roc"')[:2]
        y = 318 - result.summary["ods_precision"] * (318 - 10)
        assert result.summary["ods_recall"] == 1
        assert f'class="dot" cx="446" cy="{y:.1f}"' in pr
        assert 'class="line"' not in pr
        assert 'class="line"' not in roc[: roc.index("</svg>")]

    def test_long_curves_are_thinned_around_the_best_point(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=8, levels=False, shape=(60, 60))
        result = evaluate(gt, one)
        (drawn,) = embedded(write_page(tmp_path, [result], most_panels=0, intervals=None).read_text(), "data-")
        thresholds = drawn["readings"][0]["threshold"]
        assert len(thresholds) < 700 < result.curve.tp.size
        assert any(math.isclose(cut or 0, result.summary["ods_threshold"], rel_tol=1e-5) for cut in thresholds)

    def test_a_published_curve_has_no_images(self, tmp_path):
        rows = BoundaryCurve([0.25, 0.75], [1.0, 0.4], [0.4, 1.0])
        signature = "protocol:boundaries|images:unknown|data:none|segbench:0.9.0"
        result = Result("printed", Boundaries(), {}, signature, {}, published=PublishedCurve(rows))
        page = write_page(tmp_path, [result]).read_text()
        assert "Metrics of single images are not known" in page
        assert f"<code>{signature}</code>" in page
        assert embedded(page, "data-")[0]["readings"][0]["precision"] == [0.4, 1.0]


class TestPictures:
    def test_colours_at_every_threshold_are_the_counts(self, paper_results, tmp_path):
        panels = embedded(write_page(tmp_path, paper_results).read_text(), "panel-pixels-")
        assert sorted(panel["name"] for panel in panels) == ["first", "second"]
        for panel in panels:
            for place, method in enumerate(panel["methods"]):
                for cut, (tp, fp) in enumerate(zip(method["tp"], method["fp"], strict=True)):
                    assert states_at(panel, place, cut) == [tp, fp, method["positives"] - tp]

    def test_a_thumbnail_loses_no_positive_pixel_that_stands_alone(self, tmp_path):
        truth = np.zeros((1200, 1600), np.uint8)
        truth[::100, 777] = 255
        gt = write_folder(tmp_path / "gt", {"a.png": truth})
        soft = truth // 2
        soft[0, 0] = 1
        prediction = write_folder(tmp_path / "p", {"a.png": soft})
        (panel,) = embedded(write_page(tmp_path, [evaluate(gt, prediction)]).read_text(), "panel-")
        method = panel["methods"][0]
        assert (method["side"], method["size"]) == (4, [1600, 1200])
        assert decoded(panel["truths"][0]).shape == (300, 400)
        assert states_at(panel, 0, 2) == [12, 0, 0]

    def test_boundaries_are_matched_here_at_a_few_thresholds(self, tmp_path):
        drawn = np.zeros((20, 30), np.uint8)
        drawn[10] = 1
        soft = np.zeros((20, 30))
        soft[10, :20], soft[3, :8] = 0.8, 0.3
        gt = save_cell(tmp_path / "gt/a.mat", [drawn, drawn]).parent
        prediction = write_folder(tmp_path / "p", {"a.npy": soft})
        settings = Boundaries(thresholds=9, max_dist=0.05)
        results = [evaluate(gt, prediction, settings, method="m"), evaluate(gt, None, Annotators(settings=settings))]
        page = write_page(tmp_path, results).read_text()
        (panel,), (shared,) = embedded(page, "panel-"), embedded(page, "data-")
        method, human = panel["methods"]
        assert "<h1>1 method and human annotators on " in page
        assert "boundaries: 1 method and human annotators, " in page
        assert "compares annotators" in human["problem"]
        at = shared["cuts"][method["cuts"]].index(0.5)
        states = decoded(method["states"][at])
        assert [int(np.sum(states == code)) for code in (1, 2, 3)] == [20, 0, 10]
        assert method["metrics"]["P"][at] == 1.0
        assert method["metrics"]["R"][at] == round(20 / 30, 4)

    def test_regions(self, tmp_path):
        halves = np.repeat([[1] * 6 + [2] * 6], 8, axis=0).astype(np.uint8)
        gt = write_folder(tmp_path / "gt", {"a.png": halves})
        prediction = write_folder(tmp_path / "p", {"a.png": halves})
        page = write_page(tmp_path, [evaluate(gt, prediction, Regions())]).read_text()
        (panel,) = embedded(page, "panel-")
        assert np.all(decoded(panel["methods"][0]["states"][0]) == 1)
        assert panel["methods"][0]["metrics"]["covering"] == [1.0]
        assert embedded(page, "data-")[0]["readings"][0]["covering"] == [1.0]

    def test_a_changed_or_missing_file_is_said_instead(self, paper_results, tmp_path):
        np.save(tmp_path / "pred/first.npy", np.zeros((4, 4)))
        page = write_page(tmp_path, paper_results).read_text()
        assert re.search("1 of 2 images has no pictures; the first: [^<]*has changed since it was counted", page)
        assert [panel["name"] for panel in embedded(page, "panel-")] == ["second"]
        (tmp_path / "pred/second.npy").unlink()
        page = write_page(tmp_path, paper_results).read_text()
        assert re.search("2 of 2 images have no pictures; the first: [^<]*no longer exist", page)
        assert embedded(page, "panel-") == []

    def test_only_what_has_pictures_opens_them_and_the_rest_is_told(self, tmp_path):
        gt, one, two = write_methods(tmp_path, {"one": 3, "two": 1}, images=3)
        results = [evaluate(gt, one), evaluate(gt, two)]
        assert export_report(results, tmp_path / "r.html", intervals=None) == ()
        (gt / "im00.png").unlink()
        (two / "im01.png").unlink()
        (told,) = export_report(results, tmp_path / "r.html", intervals=None)
        assert (
            told
            == "1 of 3 images has no pictures; the first: im00: its files no longer exist; put them back, or run again"
        )
        page = (tmp_path / "r.html").read_text()
        assert told in page
        assert sorted(re.findall(r'class="open" href="#image=(im\d\d)&amp;method=(\w+)"', page)) == [
            ("im01", "one"),
            ("im02", "one"),
            ("im02", "two"),
        ]

    def test_photographs_are_found_by_name(self, paper_results, tmp_path):
        photos = tmp_path / "photos"
        photos.mkdir()
        Image.new("RGB", (700, 300), "navy").save(photos / "first.jpg")
        (photos / "second.jpg").write_bytes(b"\xff\xd8\xff broken")
        first, second = sorted(
            embedded(write_page(tmp_path, paper_results, images=photos).read_text(), "panel-"), key=lambda p: p["name"]
        )
        assert max(decoded(first["photo"]).shape) == 512
        assert "second.jpg" in second["noPhoto"]

    def test_images_without_a_photograph_are_counted_with_the_cure(self, paper_results, tmp_path):
        photos = write_folder(tmp_path / "photos", {"first_left.png": np.zeros((3, 7), np.uint8)})
        (missing,) = export_report(paper_results, tmp_path / "page.html", images=photos)
        assert missing == (
            f"1 of 2 images has no photograph; the first: second: has no photograph in {photos}; "
            "expected a single file called second.* or second_*"
        )

    def test_the_worst_images_get_the_pictures(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=12)
        result = evaluate(gt, one)
        page = write_page(tmp_path, [result], most_panels=5).read_text()
        ranked = sorted(result.per_image, key=lambda name: result.per_image[name]["f"])
        of_gallery = [ranked[0], ranked[5], ranked[-1]]
        assert [panel["name"] for panel in embedded(page, "panel-")] == [*of_gallery, *ranked[1:3]]
        assert "5 of 12 images have pictures" in page

    def test_progress_counts_the_images_that_get_pictures(self, tmp_path, monkeypatch):
        gt, one = write_methods(tmp_path, {"one": 1}, images=12)
        result, seen = evaluate(gt, one), []
        page = write_page(tmp_path, [result], most_panels=1).read_text()
        size = len(json.dumps(embedded(page, "panel-")[0]))
        monkeypatch.setattr(document, "PICTURES", 10 * size)
        write_page(tmp_path, [result], progress=lambda *numbers: seen.append(numbers))
        done, wanted = seen[-1]
        assert 3 < done == wanted < 12

    def test_images_without_anything_to_find_come_last(self, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1}, images=3)
        write_folder(one, {f"good/{k}.png": np.full((12, 17), 90, np.uint8) for k in range(2)})
        result = evaluate(gt, one, negatives="good/*")
        page = write_page(tmp_path, [result]).read_text()
        names = [panel["name"] for panel in embedded(page, "panel-")]
        assert names[3:] == ["good/0", "good/1"]
        assert names[0] == min(names[:3], key=lambda name: result.per_image[name]["f"])


class TestSignatures:
    def test_arrays_are_not_kept(self, tmp_path):
        accumulator = Accumulator(method="loop")
        accumulator.update([[0, 1]], [[0.1, 0.9]], names=["a"])
        (told,) = export_report([accumulator.compute()], tmp_path / "r.html")
        assert told.endswith("are not known: pictures need a run of files, such as evaluate(GT, PRED, ...)")
        assert "--only" not in told
        assert "source:arrays" in (tmp_path / "r.html").read_text()

    def test_nothing_says_where_files_lie_unless_it_is_wanted(self, tmp_path):
        gt, one = write_methods(tmp_path / "jane", {"one": 1}, images=4)
        (one / "im03.png").write_bytes(b"no image")
        with pytest.warns(FailedImages):
            result = evaluate(gt, one)
        (one / "im02.png").write_bytes(b"no image")
        page = write_page(tmp_path, [result], images=gt).read_text()
        assert f"<code>{result.signature.replace('>', '&gt;')}</code>" in page
        assert "PRED/one/im03.png" in page
        assert "jane" not in page
        assert str(one) in write_page(tmp_path, [result], paths=True).read_text()

    def test_a_folder_called_like_a_word_hides_paths_and_no_words(self, tmp_path, monkeypatch):
        _, one, _ = write_methods(tmp_path, {"interval": 1, "images": 1}, images=4)
        (one / "im03.png").write_bytes(b"no image")
        monkeypatch.chdir(tmp_path)
        with pytest.warns(FailedImages):
            result = evaluate("gt", "interval")
        (one / "im02.png").write_bytes(b"no image")
        page = write_page(tmp_path, [result], images="images").read_text()
        assert "PRED/interval/im03.png" in page
        assert "PRED/interval/im02.png: has changed" in page
        assert "no interval (3 images: " in page
        assert "IMAGES" not in page
        assert "PRED/interval: " not in page

    @pytest.mark.parametrize(
        ("place", "message", "hidden"),
        [
            ("images", "images/7.png: damaged in 3 images", "IMAGES/7.png: damaged in 3 images"),
            ("images/", "images/7.png: damaged", "IMAGES/7.png: damaged"),
            ("images", "images: no such folder of images", "IMAGES: no such folder of images"),
            ("images", "12 images: intervals over fewer than 10", "12 images: intervals over fewer than 10"),
            ("images", "2 images: damaged (first: images/7.png)", "2 images: damaged (first: IMAGES/7.png)"),
            ("p", "p/7.png: p of map/p/7.png", "IMAGES/7.png: p of map/p/7.png"),
            ("one", "one: 3 images", "one: 3 images"),  # the method
            ("im00", "im00: its files no longer exist", "im00: its files no longer exist"),
            ("/home/jane/images", "3 images in /home/jane/images.", "3 images in IMAGES."),
            ("/home/jane/images", "/home/jane/images.zip: damaged", "/home/jane/images.zip: damaged"),
            ("/home/jane/images", "see /home/jane/images, 3 images", "see IMAGES, 3 images"),
            ("photos.zip", "photos.zip, 7.png: damaged", "IMAGES, 7.png: damaged"),
        ],
    )
    def test_only_paths_are_hidden(self, tmp_path, place, message, hidden):
        result = evaluate(*write_methods(tmp_path, {"one": 1}, images=2))
        assert document._hiding([result], place)(message) == hidden


class TestSecurity:
    def test_names_are_text_wherever_they_stand(self, tmp_path):
        page = write_page(tmp_path, hostile_results(tmp_path)).read_text()
        assert HOSTILE not in page
        assert html.unescape(page).count(HOSTILE) > 8
        assert HOSTILE in [panel["name"] for panel in embedded(page, "panel-")]
        assert len(scripts_of(page)) == 7

    def test_the_policy_names_every_script_and_nothing_else(self, paper_results, tmp_path):
        page = write_page(tmp_path, paper_results).read_text()
        policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
        digests = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in scripts_of(page)]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["script-src"] == " ".join(f"'sha256-{digest}'" for digest in digests)
        style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert rules["style-src"] == f"'sha256-{digest}'"
        assert rules["default-src"] == "'none'"
        assert not re.search(r"unsafe|https?:|\*", policy)
        outside = page[: page.index("<script")]
        assert not re.search(r'(src|href)="(?!#|data:)', outside)

    def test_the_page_is_the_same_every_time(self, paper_results, tmp_path):
        first = write_page(tmp_path, paper_results).read_bytes()
        assert write_page(tmp_path, paper_results).read_bytes() == first


class TestArguments:
    def test_only_html(self, paper_results, tmp_path):
        with refused("other-suffix", ArgumentError):
            export_report(paper_results, tmp_path / "report.pdf")

    def test_a_place_that_is_none(self, paper_results, tmp_path):
        with refused("unwritable", DataError, path=str(tmp_path / "nowhere" / "report.html")):
            write_page(tmp_path / "nowhere", paper_results)

    def test_no_photographs(self, paper_results, tmp_path):
        with refused("missing", DataError, path=str(tmp_path / "nowhere"), expected="folder"):
            write_page(tmp_path, paper_results, images=tmp_path / "nowhere")

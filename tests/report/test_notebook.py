from dataclasses import replace
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import pytest
from pictures import boundary_results, pixel_results, region_results
from refusing import refused

from segbench import (
    Accumulator,
    ArgumentError,
    Boundaries,
    BoundaryCurve,
    Pixels,
    Result,
    compare_results,
)
from segbench.core.errors import Failure
from segbench.core.messages import plain
from segbench.core.scores import ScoreCounts
from segbench.protocols.boundaries.official import PublishedCurve

CURVE = BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0])
HOSTILE = "<img src=x onerror=alert(1)>"
VOID = {"line", "polyline", "circle", "rect", "img"}


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.open = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.open.append(tag)

    def handle_startendtag(self, tag, _attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(shown):
    parsed = Tags(shown._repr_html_())
    assert not parsed.open
    assert not parsed.seen & {"script", "img", "style"}
    return parsed.seen


def hostile():
    return [replace(result, method=f"{HOSTILE}{k}") for k, result in enumerate(pixel_results(2))]


def test_a_result_is_a_table_with_its_name_as_text():
    (result, _) = hostile()
    assert "table" in tags(result)
    assert "&lt;img src=x onerror=alert(1)&gt;0" in result._repr_html_()


def test_figures_intervals_and_comparison_are_tables():
    results = hostile()
    comparison = compare_results(results, replicates=20)
    for shown in (results[0].summary, results[0].intervals(replicates=20), comparison):
        assert "table" in tags(shown)
    assert "&lt;img" in comparison._repr_html_()


def test_printed_a_result_is_a_line_with_its_figure():
    (result,) = pixel_results(1)
    assert repr(result) == f"Result('method 0', pixels, 8 images, ods_f {result.summary['ods_f']:.4f})"
    damaged = replace(result, failed={"im9": Failure("im9.png", plain("gone"))})
    assert "8 images, 1 failed, ods_f" in repr(damaged)
    assert repr(result.per_image) == "<metrics of 8 images by name>"
    (regions,) = region_results()
    assert "1 image, covering_ods 0." in repr(regions)
    printed = Result("HED", Boundaries(), {}, "data:0", {}, published=PublishedCurve(CURVE))
    assert repr(printed) == "Result('HED', boundaries, published without images, ods_f 0.7000)"


def test_undefined_figures_say_why():
    summary = Result("a", Pixels(), {}, "data:0", {"im": ScoreCounts([1.0], [0], [5])}).summary
    assert "no positive pixels" in summary._repr_html_()


def test_a_published_curve_is_a_table():
    published = PublishedCurve(boundary_results()[0].curve)
    assert "table" in tags(Result(HOSTILE, Boundaries(), {}, "data:0", {}, published=published))


def test_masks_show_their_point_and_what_they_lack():
    accumulator = Accumulator(method="hard")
    accumulator.update([[0, 1], [1, 1]], [[False, True], [True, False]], names=["a", "b"])
    result = accumulator.compute()
    assert "those at the mask" in result._repr_html_()
    assert "two-valued predictions" in result.summary._repr_html_()


def test_intervals_and_comparisons_print_as_text():
    results = pixel_results()[:2]
    intervals = results[0].intervals(replicates=50)
    header, first, *_ = repr(intervals).splitlines()
    assert header.split() == ["metric", "value", "95", "%", "low", "95", "%", "high"]
    assert first.split()[0] == "ods_f"
    assert repr(intervals).endswith(intervals.signature)
    printed = str(compare_results(results, replicates=50))
    assert printed.startswith("method 0 leads method 1 by ")
    assert "better than: p of the paired jackknife t-test at most .05" in printed


def test_an_answer_is_shown_with_what_its_letters_mean():
    found = compare_results(pixel_results()[:3], replicates=50).answer()
    for html in (found._repr_html_(), compare_results(pixel_results()[:3], replicates=50)._repr_html_()):
        assert "after Holm&#x27;s correction" in html
    assert repr(found) == str(found)


def test_an_image_that_there_is_not_is_answered_with_the_nearest_name():
    accumulator = Accumulator()
    accumulator.update([[0, 1], [1, 1]], [[0.1, 0.9], [0.8, 0.2]], names=["horse", "coins"])
    with refused("no-such-image", KeyError, image="house", nearest=("horse",)):
        accumulator.compute().per_image["house"]


def test_axes_are_one_axes_of_matplotlib():
    (result,) = pixel_results(1)
    for ax in (plt.figure(), plt.subplots(1, 2)[1]):
        with refused("wrong-value", ArgumentError, argument="ax", value=type(ax).__name__):
            result.curve.plot(ax=ax)
    plt.close("all")


def test_images_are_a_table_of_pandas():
    pytest.importorskip("pandas")
    (result,) = pixel_results(1)
    table = result.per_image.to_dataframe()
    assert list(table.index) == list(result.counts)
    assert table["f"].tolist() == [one["f"] for one in result.per_image.values()]

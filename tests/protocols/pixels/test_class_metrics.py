import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import class_image_summary, class_summary, keys_of, pixel_image_summary, pixel_summary
from refusing import refused

from segbench import ClassCounts, DataError, ScoreCounts, compare, intervals
from segbench.protocols.pixels.class_metrics import ClassTable

PIXELS = 60


@st.composite
def images(draw, *, least=1):
    """Draw images of three classes, some of which an image, or all, may lack."""
    number = draw(st.integers(least, 5))
    made = {}
    for k in range(number):
        parts = []
        for _ in range(3):
            positives = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
            negatives = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
            rest = PIXELS - sum(positives) - sum(negatives)
            parts.append(ScoreCounts([0.9, 0.6, 0.3, 0.1], positives, [*negatives, rest], 2))
        made[f"{k}"] = ClassCounts(("road", "car", "bus"), tuple(parts))
    return made


def of_class(per_image, name):
    return {image: counts[name] for image, counts in per_image.items()}


@given(images())
def test_macro_is_the_mean_over_classes_that_are_there(per_image):
    summary = class_summary(per_image)
    alone = [pixel_summary(of_class(per_image, name)) for name in ("road", "car", "bus")]
    for key in (
        metric.key.removeprefix("macro_") for metric in ClassTable({}).metrics if metric.key.startswith("macro_")
    ):
        defined = [part[key] for part in alone if not math.isnan(part[key])]
        expected = np.mean(defined) if defined else math.nan
        assert summary[f"macro_{key}"] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert summary["classes_present"] == sum(part["positives"] > 0 for part in alone)
    assert all(key in summary.undefined for key, figure in summary.items() if math.isnan(figure))


@given(images())
def test_the_table_of_counts_gives_the_summary(per_image):
    table = ClassTable(per_image)
    (row,) = table.measure(np.ones((1, table.images)))
    summary = class_summary(per_image)
    assert row.tolist() == pytest.approx([summary[key] for key in keys_of(table)], abs=1e-12, nan_ok=True)


ABSENT = ClassCounts(
    ("road", "car", "sky"),
    (ScoreCounts([2, 1], [3, 1], [0, 2]), ScoreCounts([5], [0], [6]), ScoreCounts([5], [6], [0])),
)


def test_a_class_that_is_absent_is_in_no_mean_and_said_to_be():
    summary = class_summary({"a": ABSENT})
    assert (summary["classes"], summary["classes_present"]) == (3, 2)
    road, sky = pixel_summary({"a": ABSENT["road"]}), pixel_summary({"a": ABSENT["sky"]})
    assert summary["macro_auc_pr"] == (road["auc_pr"] + sky["auc_pr"]) / 2
    assert summary["macro_auc_roc"] == road["auc_roc"]
    absent, without = summary.notes
    assert (absent.kind, absent.values) == ("absent-classes", {"count": 2, "total": 3, "classes": ("car",)})
    assert (without.kind, without.values["without"]) == ("undefined-parts", ("sky",))
    assert without.values["reason"].kind == "no-negatives"
    assert "macro_auc_roc" in dict(without.metrics)


def test_no_class_at_all_is_undefined_with_the_reason():
    nothing = ClassCounts(("a", "b"), (ScoreCounts([1], [0], [6]),) * 2)
    summary = class_summary({"x": nothing})
    assert math.isnan(summary["macro_ods_f"])
    assert summary.undefined["macro_ods_f"].kind == "no-positives"
    assert class_summary({}).undefined["macro_ods_f"].kind == "no-pixels"


def test_figures_of_an_image_are_means_over_its_classes():
    figures = class_image_summary(ABSENT)
    expected = [pixel_image_summary(ABSENT[name])["f"] for name in ("road", "sky")]
    assert figures["macro_f"] == np.mean(expected)
    assert figures["micro_f"] == pixel_image_summary(ABSENT.micro)["f"]


def many(quality, images=12):
    """Make images of two classes, found the better the higher the quality."""
    return {
        str(k): ClassCounts(
            ("road", "car"),
            (
                ScoreCounts([2, 1], [quality, 10 - quality], [k % 4, 20 - k % 4]),
                ScoreCounts([2, 1], [quality // 2, 2], [k % 3, 28 - k % 3 - quality // 2]),
            ),
        )
        for k in range(images)
    }


def test_intervals_of_means():
    drawn = intervals(many(8))
    low, high = drawn["macro_ods_f"]
    assert low < class_summary(many(8))["macro_ods_f"] < high


def test_comparing_needs_the_same_ground_truth():
    better, worse = many(8), {name: _with_ground_truth_of(many(8)[name]) for name in many(8)}
    result = compare({"better": better, "worse": worse}, replicates=100)
    row = next(row for row in result.differences if row.metric == "macro_ods_f")
    assert (row.wins, row.losses) == (12, 0)
    assert row.difference > 0
    with refused("other-images", DataError, path="a, b", methods=("a", "b")) as raised:
        compare({"a": many(8), "b": many(6)})
    first, *_ = raised.value.values["problems"]
    assert (first.kind, first.values["image"]) == ("other-ground-truth", "0")
    assert first.values["total"] == "10 of road, 6 of car among 30 pixels"
    assert first.values["other_total"].startswith("10 of road, 5 of car")


def _with_ground_truth_of(counts):
    """Set every pixel of an image to the same score."""
    flat = (ScoreCounts([1], [part.total_positives], [part.total_negatives]) for part in counts.counts)
    return ClassCounts(counts.names, tuple(flat))

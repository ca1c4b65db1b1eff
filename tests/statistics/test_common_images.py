"""Means over the images where a metric is defined: two methods are compared on what both have."""

import numpy as np
import pytest
from noted import kinds, of_kind
from scipy import stats

from segbench import (
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    compare_results,
    evaluate,
    label_boundaries,
)

SIDE = 24


def square(start, size):
    mask = np.zeros((SIDE, SIDE), np.uint8)
    mask[start : start + size, start : start + size] = 1
    return mask


def measured(predictions, method, protocol, truths=None):
    truths = truths or [square(4, 12) for _ in predictions]
    return evaluate(zip(truths, predictions, strict=True), protocol=protocol, method=method)


def rows_of(*methods_and_key):
    *methods, key = methods_and_key
    comparison = compare_results(methods)
    return next(row for row in comparison.differences if row.metric == key), comparison


def missing_five(protocol):
    """Two methods that predict the same in seven images; in five others, one predicts nothing and one too little."""
    alike = [square(4, 10 + k % 3) for k in range(7)]
    some = measured([*alike, *[square(0, 0)] * 5], "some", protocol)
    every = measured([*alike, *[square(7, 6)] * 5], "every", protocol)
    return some, every


def test_methods_that_agree_where_both_are_measured_are_equal():
    row, comparison = rows_of(*missing_five(Contours()), "hd95")
    assert (row.difference, row.p_value, row.wins, row.losses) == (0, 1, 0, 0)
    assert comparison.answer().leader == ""


def cut_down_to(size, times):
    """Predict a square that is the smaller the worse: of the truth 12 wide, in places that differ a little."""
    return [square(4, size - k % 2) for k in range(times)]


def test_the_better_one_on_common_images_leads_whatever_it_does_on_others():
    good = measured([*cut_down_to(11, 7), *cut_down_to(4, 5)], "good", Contours())
    absent = measured([*cut_down_to(10, 3), *cut_down_to(9, 4), *[square(0, 0)] * 5], "absent", Contours())
    assert absent.summary["hd95"] < good.summary["hd95"]
    answer = compare_results([absent, good]).answer("hd95")
    assert answer.leader == "good"
    assert answer.verdict.startswith("good leads absent by ")


def test_one_that_is_beaten_is_not_said_to_be_as_good():
    good = measured([*cut_down_to(11, 7), *cut_down_to(4, 5)], "good", Contours())
    absent = measured([*cut_down_to(10, 3), *cut_down_to(9, 4), *[square(0, 0)] * 5], "absent", Contours())
    as_good = measured([*cut_down_to(11, 7), *cut_down_to(4, 5)], "as good", Contours())
    like_absent = measured([*cut_down_to(10, 3), *cut_down_to(9, 4), *[square(4, 8)] * 5], "like absent", Contours())
    for others, better in (([good, as_good], "as good and good are"), ([good, like_absent], "good is")):
        verdict = compare_results([absent, *others]).answer("hd95").verdict
        best = f"No clear winner by HD95: absent has the best value, but {better} better on what both have"
        assert verdict == f"{best}; absent finds nothing in 5 of 12 images"


def test_the_difference_is_that_of_the_common_images():
    rng = np.random.default_rng(5)
    sizes = rng.integers(8, 13, (2, 12))
    predicted = [[square(4, int(size)) for size in of_method] for of_method in sizes]
    predicted[0][2] = predicted[1][5] = predicted[1][6] = square(0, 0)
    a, b = (measured(maps, name, Contours()) for maps, name in zip(predicted, "ab", strict=True))
    row, _ = rows_of(a, b, "assd")
    both = [k for k in range(12) if k not in (2, 5, 6)]
    of = [measured([maps[k] for k in both], "x", Contours()).summary["assd"] for maps in predicted]
    assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(of))
    assert row.difference == pytest.approx(of[0] - of[1])


def test_a_note_says_so():
    _, comparison = rows_of(*missing_five(Contours()), "hd95")
    assert "on-common-values" in kinds(comparison.notes)


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
def test_classes_are_compared_in_the_images_where_both_methods_have_them():
    truth = square(2, 8) + 2 * square(12, 8)
    alike = [square(2, 7) + 2 * square(12, 8 - k % 2) for k in range(7)]
    predicted = {"some": [*alike, *[square(2, 7)] * 5], "every": [*alike, *[square(2, 7) + 2 * square(14, 4)] * 5]}
    some, every = (
        measured(maps, name, Contours(classes="1-2", void=0), [truth] * 12) for name, maps in predicted.items()
    )
    assert rows_of(some, every, "hd95")[0].difference == pytest.approx(0, abs=1e-12)


def test_objects_have_their_precision_in_images_with_predictions():
    row, _ = rows_of(*missing_five(Objects()), "precision_images@0.5")
    assert (row.difference, row.p_value, row.freedom) == (0, 1, 6)


def false_alarms(protocol):
    """Two methods that predict the same in seven images; in five without ground truth, one predicts something."""
    alike = [square(4, 10 + k % 3) for k in range(7)]
    truths = [*[square(4, 12)] * 7, *[square(0, 0)] * 5]
    silent = measured([*alike, *[square(0, 0)] * 5], "silent", protocol, truths)
    alarmed = measured([*alike, *[square(7, 6)] * 5], "alarmed", protocol, truths)
    return silent, alarmed


@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        (Contours(), "dice"),
        (Objects(), "aji"),
        (Objects(), "f1_images@0.5"),
        (Objects(), "precision_images@0.5"),
        (Objects(kind="components"), "lesion_f1_images"),
        (Centerlines(), "cldice_images"),
    ],
)
def test_predictions_where_nothing_is_count_against_a_method(protocol, key):
    silent, alarmed = false_alarms(protocol)
    row, _ = rows_of(silent, alarmed, key)
    assert (row.estimate_a, row.estimate_b) == (silent.summary[key], alarmed.summary[key])
    assert row.difference > 0
    assert row.p_value < 0.05
    turned, _ = rows_of(alarmed, silent, key)
    assert turned.p_value == row.p_value


@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        (Objects(), "aji"),
        (Objects(), "f1_images@0.5"),
        (Objects(), "f1@0.5"),
        (Objects(kind="components"), "lesion_f1_images"),
        (Centerlines(), "cldice_images"),
        (Boundaries(), "mean_image_f"),
        (Pixels(at=(0.001,)), "mean_image_precision@0.001"),
    ],
)
def test_images_without_a_value_are_no_degrees_of_freedom(protocol, key):
    truths = [*[square(4, 12)] * 8, *[square(0, 0)] * 12]
    maps = {name: [*[square(4, 10 + k % size) for k in range(8)], *truths[8:]] for name, size in (("a", 3), ("b", 2))}
    a, b = (measured(predicted, name, protocol, truths) for name, predicted in maps.items())
    assert rows_of(a, b, key)[0].freedom == pytest.approx(7)
    a, b = (measured(predicted[5:], name, protocol, truths[5:]) for name, predicted in maps.items())
    _, comparison = rows_of(a, b, key)
    assert comparison.why_none(key, "a", "b")["p_value"].values["counted"] == 3


def test_wins_are_counted_on_the_classes_that_both_have():
    truth = square(2, 8) + 2 * square(12, 8)
    near = [square(2, 8 - k % 2) + 2 * square(21, 3) for k in range(12)]
    far = [square(2, 7 - k % 2) for k in range(12)]
    a, b = (
        measured(maps, name, Contours(classes="0-2", background=0), [truth] * 12)
        for maps, name in ((near, "a"), (far, "b"))
    )
    row, _ = rows_of(a, b, "hd95")
    assert row.difference < 0
    assert (row.wins, row.ties, row.losses) == (12, 0, 0)


def half(mask):
    """Return a mask as scores of .5, with a part of .9."""
    return np.where(mask, 0.5, 0.0) + 0.4 * (mask & (np.arange(SIDE) < SIDE / 2))


def two_of_classes(mask):
    return np.stack([1 - half(mask), half(mask)])


def outline(mask):
    return 0.5 * label_boundaries(mask)


NOTHING = square(0, 0)
PARTLY = [square(4, 12 - k % 3) for k in range(8)]
EVERYTHING = np.ones((SIDE, SIDE), np.uint8)
IN_MEANS = {
    "clDice": ("cldice_images", Centerlines(), np.asarray),
    "clDice at a threshold": ("cldice_images", Centerlines(thresholds=(0.3, 0.7)), half),
    "lesions": ("lesion_f1_images", Objects(kind="components"), np.asarray),
    "instances": ("f1_images@0.5", Objects(), np.asarray),
    "AJI": ("aji", Objects(), np.asarray),
    "HD95": ("hd95", Contours(), np.asarray),
    "boundaries": ("mean_image_f", Boundaries(label_maps=True), outline),
    "precision": ("mean_image_precision@0.3", Pixels(at=(0.3, 0.7)), half),
    "MCC": ("mean_image_mcc@0.3", Pixels(at=(0.3,)), half),
    "MCC of classes": ("macro_mean_image_mcc@0.3", Classes(labels=(0, 1), at=(0.3,)), two_of_classes),
}


@pytest.mark.parametrize("name", IN_MEANS)
def test_a_mean_leaves_out_images_where_the_other_misses_what_is_there(name):
    key, protocol, predict = IN_MEANS[name]
    truths = [*[square(4, 12)] * 8, *[NOTHING] * 3]
    a = [*PARTLY[:7], NOTHING, NOTHING, NOTHING, square(6, 3)]
    b = [*PARTLY[1:], square(5, 8), square(6, 4), NOTHING, NOTHING]
    methods = [measured([*map(predict, maps)], method, protocol, truths) for method, maps in (("a", a), ("b", b))]
    place = [metric.key for metric in methods[0].table.metrics].index(key)
    values = np.array([one.table.measure_images()[:, place] for one in methods])
    there = np.array([truths[int(name)].any() for name in methods[0].table.names])
    expected = [np.nanmean(own[~(there & np.isnan(other))]) for own, other in (values, values[::-1])]
    row, _ = rows_of(*methods, key)
    assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(expected))
    assert row.difference == pytest.approx(expected[0] - expected[1])


@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        (Contours(), "dice"),
        (Objects(kind="components"), "lesion_f1_images"),
        (Centerlines(), "cldice_images"),
        (Boundaries(label_maps=True), "mean_image_f"),
    ],
)
@pytest.mark.parametrize("alarms", [1, 8])
def test_a_pair_of_few_images_has_no_p_value_beside_a_third_method(protocol, key, alarms):
    truths = [*[square(4, 12)] * 4, *[NOTHING] * 8]
    maps = {
        "a": [*PARTLY[:4], *[NOTHING] * 8],
        "b": [*PARTLY[4:], *[NOTHING] * 8],
        "false": [*PARTLY[:4], *[square(7, 6)] * alarms, *[NOTHING] * (8 - alarms)],
    }
    predict = outline if key == "mean_image_f" else np.asarray
    methods = [measured([*map(predict, predicted)], name, protocol, truths) for name, predicted in maps.items()]
    (_, both), (row, three) = rows_of(*methods[:2], key), rows_of(*methods, key)
    assert (row.a, row.b) == ("a", "b")
    assert np.isnan([row.p_value, row.low]).all()
    assert three.why_none(key, "a", "b") == both.why_none(key, "a", "b")
    assert bool(three.why_none(key, "a", "false")) == (alarms == 1)


@pytest.mark.parametrize(("held", "freedom"), [(4, np.nan), (8, 7)])
def test_two_that_lack_the_same_images_have_the_freedom_of_those_they_have(held, freedom):
    every = [square(4, 12 - k % 4) for k in range(12)]
    methods = [measured(every, "every", Contours())]
    for name, start in (("a", 5), ("b", 6)):
        maps = [square(start, 9 + k % 2) for k in range(held)]
        methods.append(measured([*maps, *[NOTHING] * (12 - held)], name, Contours()))
    comparison = compare_results(methods)
    (row,) = (one for one in comparison.differences if (one.metric, one.a, one.b) == ("hd95", "a", "b"))
    assert np.isnan(row.p_value) == np.isnan(freedom)
    assert row.freedom == pytest.approx(freedom, nan_ok=True)


@pytest.mark.parametrize("lacking", [0, 30])
def test_of_images_like_these_as_few_as_here_are_those_that_both_have(lacking):
    sizes = np.random.default_rng(0).integers([[7], [9]], [[10], [13]], (2, 6))
    a, b = ([square(4, int(size)) for size in of_method] for of_method in sizes)
    every, some = [*a, *[square(4, 10)] * lacking], [*b, *[NOTHING] * lacking]
    row, comparison = rows_of(measured(every, "a", Contours()), measured(some, "b", Contours()), "hd95")
    needed = comparison.answer("hd95").pairs.images_needed(0, 0.95)
    images = np.arange(6 + lacking, 10_000)
    freedom = images * 6 / (6 + lacking) - 1
    error = row.standard_error * np.sqrt((6 + lacking) / images)
    reached = abs(row.difference) > (stats.t.ppf(0.975, freedom) + stats.norm.ppf(0.8)) * error
    assert needed == pytest.approx(images[reached.argmax()], abs=1)


def test_means_of_groups_are_over_what_both_have_in_each():
    truth = square(4, 12)
    a = {f"{group}/{k}": square(4, 12 - k % 3) for group in "xyz" for k in range(4)}
    b = {name: square(5, 9 + int(name[-1]) % 2) for name in a}
    a["x/1"] = b["y/2"] = NOTHING
    a |= {f"z/{k}": NOTHING for k in range(4)}
    means = [
        evaluate({name: (truth, maps[name]) for name in maps}, protocol=Contours(), method=method)
        .parts("group", "folder")
        .mean
        for method, maps in (("a", a), ("b", b))
    ]
    row, _ = rows_of(*means, "hd95")
    expected = []
    for maps in (a, b):
        of_groups = [
            evaluate([(truth, maps[name]) for name in maps if name[0] == group and a[name].any() and b[name].any()],
                     protocol=Contours()).summary["hd95"]
            for group in "xy"
        ]  # fmt: skip
        expected.append(np.mean(of_groups))
    assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(expected))


def test_pooled_metrics_of_groups_are_the_same_beside_a_method_that_lacks_images():
    truths = {f"{group}/{k}": square(4, 12) for group in "xyz" for k in range(4)}
    a = {name: half(square(4, "xyz".index(name[0]) + 7 + int(name[-1]))) for name in truths}
    b = {name: 0.1 * half(square(5, 12)) if name == "x/1" else half(square(5, 12)) for name in truths}
    means = [
        evaluate(
            {name: (truths[name], maps[name]) for name in truths}, protocol=Pixels(at=(0.3,)), method=method
        ).parts("group", "folder").mean
        for method, maps in (("a", a), ("b", b))
    ]  # fmt: skip
    _, comparison = rows_of(*means, "ods_f")
    at_thresholds = [row.metric for row in comparison.differences if row.metric.startswith("mean_image_")]
    assert "mean_image_precision@0.3" in at_thresholds
    for row in comparison.differences:
        if row.metric not in at_thresholds:
            own = [one.summary[row.metric] for one in means]
            assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(own), nan_ok=True), row.metric


def test_means_of_groups_and_classes_are_over_those_where_both_have_the_metric():
    truth = [square(2, 8) + 2 * square(12, 8 + k % 2) for k in range(7)]
    never = [np.stack([0.6 + 0 * one, 0.9 * (one == 1), 0 * one]) for one in truth]
    found = [np.stack([0.6 - 0.2 * (one == 2), 0.7 * (one > 0), 0.9 * (one == 2)]) for one in truth]
    methods = [
        measured(maps, name, Classes(labels=(0, 1, 2), at=(0.5,)), truth)
        for name, maps in (("never", never), ("found", found))
    ]
    for key in ("mcc@0.5", "precision@0.5"):
        row, _ = rows_of(*methods, f"macro_{key}")
        both = [
            [one.parts("class")[name].summary[key] for one in methods]
            for name in "012"
            if not any(np.isnan(one.parts("class")[name].summary[key]) for one in methods)
        ]
        assert 0 < len(both) < 3
        assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(np.mean(both, axis=0)))


def test_a_group_where_one_is_always_wrong_and_the_other_finds_nothing_is_left_out():
    names = [f"{group}/{k}" for group in "xyz" for k in range(4)]
    truths = {name: NOTHING if name[0] == "z" else square(2, 8) for name in names}
    a = {name: square(2, 8 - int(name[-1])) if name[0] == "y" else square(14, 8) for name in names}
    b = {name: square(2, 5 + int(name[-1])) if name[0] == "y" else NOTHING for name in names}
    groups = [
        evaluate(
            {name: (truths[name], maps[name]) for name in names}, protocol=Objects(), method=method
        ).parts("group", "folder")
        for method, maps in (("a", a), ("b", b))
    ]  # fmt: skip
    row, _ = rows_of(*(one.mean for one in groups), "precision@0.5")
    of_y = [one["y"].summary["precision@0.5"] for one in groups]
    assert (row.estimate_a, row.estimate_b) == pytest.approx((of_y[0] / 2, of_y[1]))  # z, where nothing is, counts


def test_false_things_in_a_group_without_things_count_against_a_method():
    def panoptic(mask):
        return 1000 + mask * 1001  # class 1 is stuff, class 2 has things

    names = [f"{group}/{k}" for group in "xy" for k in range(4)]
    truths = {name: square(2, 8) * (name[0] == "y") for name in names}
    silent, alarmed = ({name: square(2, 8) if name[0] == "y" else other for name in names}
                       for other in (NOTHING, square(14, 5)))  # fmt: skip
    means = [
        evaluate(
            {name: (panoptic(truths[name].astype(np.int32)), panoptic(maps[name].astype(np.int32))) for name in names},
            protocol=Objects(divisor=1000, classes=(1, 2), things=(2,)),
            method=method,
        )
        .parts("group", "folder")
        .mean
        for method, maps in (("silent", silent), ("alarmed", alarmed))
    ]
    row, _ = rows_of(*means, "pq_things")
    assert (row.estimate_a, row.estimate_b) == (1, 0.5)


@pytest.mark.parametrize(
    ("protocol", "key"),
    [
        (Labels(), "kappa"),
        (Labels(classes=3), "kappa"),
        (Labels(classes=3, background=0), "miou"),
        (Labels(classes=3, background=0), "mean_dice"),
    ],
)
def test_false_labels_in_a_group_of_background_count_against_a_method(protocol, key):
    names = [f"{group}/{k}" for group in "xy" for k in range(4)]
    truths = {name: square(2, 8) * (name[0] == "y") for name in names}
    silent, alarmed = (
        evaluate(
            {name: (truths[name], square(2, 7) if name[0] == "y" else other) for name in names},
            protocol=protocol,
            method=method,
        ).parts("group", "folder")
        for method, other in (("silent", NOTHING), ("alarmed", square(14, 5)))
    )
    assert np.isnan(silent["x"].summary[key])
    row, _ = rows_of(silent.mean, alarmed.mean, key)
    found = silent["y"].summary[key]
    assert alarmed["x"].summary[key] == 0
    assert (row.estimate_a, row.estimate_b) == pytest.approx((found, found / 2))


def test_a_class_where_one_is_always_wrong_and_the_other_finds_nothing_is_left_out():
    truth = [square(2, 8) + 2 * square(12, 8 + k % 2) for k in range(7)]
    wrong = [np.stack([0 * one, 0.9 * (one == 1), 0.9 * (one == 0)]) for one in truth]
    never = [np.stack([0 * one, 0.9 * (one > 0), 0 * one]) for one in truth]
    methods = [
        measured(maps, name, Classes(labels=(0, 1, 2), at=(0.5,)), truth)
        for name, maps in (("wrong", wrong), ("never", never))
    ]
    row, _ = rows_of(*methods, "macro_precision@0.5")
    expected = [one.parts("class")["1"].summary["precision@0.5"] for one in methods]
    assert (row.estimate_a, row.estimate_b) == pytest.approx(tuple(expected))


def test_metrics_that_both_have_everywhere_are_compared_as_ever():
    some, every = missing_five(Contours())
    row, _ = rows_of(some, every, "dice")
    assert row.difference == pytest.approx(some.summary["dice"] - every.summary["dice"])
    assert row.losses == 5


def predicting(sizes, method):
    """Predict a square of each size: of the truth 12 wide, nothing for 0."""
    return measured([square(4, size) if size else square(0, 0) for size in sizes], method, Contours())


def test_methods_without_a_common_image_have_no_difference():
    first, last = predicting([10] * 6 + [0] * 6, "first"), predicting([0] * 6 + [9] * 6, "last")
    both = [10, 9] * 6
    row, comparison = rows_of(first, last, "hd95")
    assert np.isnan([row.difference, row.low, row.p_value]).all()
    why = "no image in which both have a value"
    reasons = comparison.why_none("hd95", "first", "last")
    assert {lacking: reason.kind for lacking, reason in reasons.items()} == dict.fromkeys(
        ("difference", "interval", "p_value"), "none-in-common"
    )
    assert comparison.answer("hd95").verdict == (
        "No clear winner by HD95: first and last cannot be told apart on the 0 of 12 images that both have "
        f"(no p-value: {why}); first finds nothing in 6, last in 6"
    )
    matrix = compare_results([first, last, predicting(both, "both")]).answer("hd95").matrix()
    assert "nan" not in str(matrix)


def test_the_verdict_on_several_methods_names_the_images_of_the_pair():
    some, every = predicting([10, 9] * 5 + [0, 0], "some"), predicting([9, 10] * 6, "every")
    far, alike = predicting([2, 3] * 6, "far"), predicting([9, 10, 10, 9] * 3, "alike")
    of_two, of_three = (compare_results([some, every, other]).answer("hd95").verdict for other in (far, alike))
    assert "cannot be told apart on the 10 of 12 images that both have" in of_two
    assert "cannot be told apart on the images that each two have" in of_three
    assert of_three.endswith("; some finds nothing in 2 of 12 images")
    assert "on 12 images" in compare_results([every, alike, far]).answer("hd95").verdict


def test_a_method_of_few_images_is_named_with_its_note():
    few, most = predicting([10] + [0] * 11, "few"), predicting([9, 10] * 6, "most")
    _, comparison = rows_of(few, most, "hd95")
    for notes in (comparison.notes, compare_results([most, few]).notes):
        (note,) = of_kind(notes, "few-images-count")
        assert (note.before, note.values["counted"], note.values["images"]) == ("few: ", 1, 12)
        assert [key for key, _ in note.metrics] == ["hd", "hd95", "assd", "masd", "buffer_precision@2"]


def test_equals_lead_each_other_by_no_negative_number():
    methods = [predicting(sizes, name) for name, sizes in (("a", [12, 11] * 6), ("b", [12, 11] * 6), ("c", [9] * 12))]
    assert "-.00" not in str(compare_results(methods).answer("hd95").matrix())


def test_equal_differences_count_the_images_of_their_pair():
    a, b = (predicting([size] * 7 + [0] * 5, name) for size, name in ((11, "a"), (9, "b")))
    other = predicting([10, 11] * 6, "other")
    row = next(row for row in compare_results([a, b, other]).rows("hd95") if (row.a, row.b) == ("a", "b"))
    assert row.p_value == 2**-6


def test_what_is_significant_needs_no_further_images():
    absent = predicting([11, 6, 9, 8, 7, 6, 6, *[0] * 7], "absent")
    good = predicting([11, 7, 11, 9, 9, 8, 8, *[3] * 7], "good")
    other = predicting([10, 10, 9, 11, 11, 9, 10, *[3] * 7], "other")
    answer = compare_results([absent, good, other]).answer("hd95")
    assert answer.verdict.endswith("absent has the best value, but other and good are better on what both have")
    assert answer.needed == ""


def test_calibration_is_compared_on_all_images():
    maps = {"a": [*PARTLY[:7], NOTHING], "b": [NOTHING, *PARTLY[1:]]}
    rows = []
    for chosen in (Pixels(at=(0.3,), calibration=True), Pixels(calibration=True)):
        a, b = (measured([*map(half, of)], name, chosen) for name, of in maps.items())
        row, _ = rows_of(a, b, "brier")
        rows.append((row.estimate_a, row.estimate_b, row.p_value, row.freedom))
    assert rows[0] == rows[1]


def test_a_mean_without_missing_values_is_not_left_out_by_rounding():
    rng = np.random.default_rng(0)

    def maps(dark):
        return [rng.random((SIDE, SIDE)) * (0.4 if k in dark else 1) for k in range(30)]

    some, every = (measured(maps(dark), name, Pixels(at=[0.5])) for name, dark in (("some", (3, 8)), ("every", ())))
    comparison = compare_results([some, every])
    assert comparison.pairs("mean_image_precision@0.5").common
    assert not comparison.pairs("mean_image_recall@0.5").common
    row = comparison.rows("mean_image_recall@0.5")[0]
    assert row.estimate_a == some.summary["mean_image_recall@0.5"]


def constant(missing, method, size, images=12):
    """Predict a square of one size, of the truth 20 wide, and nothing in the last images."""
    maps = [square(2, size)] * (images - missing) + [square(0, 0)] * missing
    return measured(maps, method, Contours(), [square(2, 20)] * images)


def test_the_verdict_says_on_which_images_and_who_finds_nothing():
    far, near = constant(0, "a", 18), constant(5, "b", 19)  # 2 px and 1 px off
    comparison = compare_results([far, near])
    told = "b leads a by 1.0 px lower HD95 on the 7 of 12 images that both have (p = .016); b finds nothing in 5"
    assert comparison.answer().verdict == told
    (row,) = comparison.rows("hd95")
    assert (row.both, row.lacking_a, row.lacking_b, row.p_lacking) == (7, 0, 5, 0.0625)  # McNemar: 2 / 2^5
    turned = row.swapped()
    assert (turned.both, turned.lacking_a, turned.lacking_b) == (7, 5, 0)
    (dice,) = comparison.rows("dice")  # of a mask against nothing it is 0
    assert (dice.both, dice.lacking_a, dice.lacking_b, dice.p_lacking) == (12, 0, 0, 1.0)


def test_significantly_more_images_without_a_value_are_said_first():
    far, near, few = constant(0, "a", 18, 20), constant(9, "b", 19, 20), constant(2, "c", 15, 20)
    both = compare_results([far, near]).answer().verdict
    first = "b finds nothing in 9 of 20 images, a in none (p = .004); b leads a by 1.0 px lower HD95"
    assert both.startswith(f"{first} on the 11 of 20 images that both have (p = ")
    assert both.endswith(")")  # and says it once
    three = compare_results([few, far, near]).answer().verdict
    assert three.startswith("b finds nothing in 9 of 20 images, a in none (p = .012); b leads a by ")  # times 3, Holm
    assert three.endswith("; it is significantly better than every other method; c finds nothing in 2 of 20 images")


def test_the_sentence_goes_on_after_what_is_said_first():
    sizes = [18, 17] * 10
    same, lacking = ([square(2, size) for size in sizes] for _ in range(2))
    lacking[:8] = [square(0, 0)] * 8
    results = [measured(maps, name, Contours(), [square(2, 20)] * 20) for name, maps in (("a", same), ("b", lacking))]
    told = compare_results(results).answer().verdict
    assert told.startswith("b finds nothing in 8 of 20 images, a in none (p = .008); no clear winner by HD95: b and a")
    assert told.endswith(" cannot be told apart on the 12 of 20 images that both have (p = 1.000)")


def test_methods_that_lack_different_images_are_both_named():
    first, last = predicting([0, 0] + [10, 9] * 5, "first"), predicting([9, 10] * 5 + [0] + [9], "last")
    verdict = compare_results([first, last]).answer().verdict
    assert verdict.endswith("; first finds nothing in 2, last in 1")
    assert "on the 9 of 12 images that both have" in verdict


def test_without_a_test_the_verdict_says_who_finds_nothing():
    verdict = compare_results([constant(0, "a", 18, 4), constant(1, "b", 19, 4)]).answer().verdict
    assert verdict.startswith("b has the best HD95, 1.0 px, without a test (4 images: ")
    assert verdict.endswith("); b finds nothing in 1 of 4 images")


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
def test_of_classes_masks_are_counted():
    truth = square(2, 8) + 2 * square(12, 8)
    alike = [square(2, 7) + 2 * square(12, 8 - k % 2) for k in range(7)]
    predicted = {"some": [*alike, *[square(2, 7)] * 5], "every": [*alike, *[square(2, 7) + 2 * square(14, 4)] * 5]}
    some, every = (
        measured(maps, name, Contours(classes="1-2", void=0), [truth] * 12) for name, maps in predicted.items()
    )
    verdict = compare_results([some, every]).answer("hd95").verdict
    assert verdict.startswith(
        "No clear winner by HD95: some and every cannot be told apart on the 19 masks that both have"
    )
    assert verdict.endswith("; some finds nothing in 5")


def test_groups_count_their_images():
    sizes = {"a": [10, 9] * 6, "b": [11] * 6 + [0] * 6}  # b finds nothing in all of y
    names = [f"{group}/{k}" for group in "xy" for k in range(6)]
    results = []
    for method, of_images in sizes.items():
        pairs = {
            name: (square(4, 12), square(4, n) if n else square(0, 0)) for name, n in zip(names, of_images, strict=True)
        }
        results.append(evaluate(pairs, protocol=Contours(), method=method).parts("group", by="folder").mean)
    verdict = compare_results(results).answer().verdict
    assert "on the 6 of 12 images that both have" in verdict
    assert verdict.startswith("b finds nothing in 6 of 12 images, a in none (p = .031); ")


def test_verdicts_have_unit_direction_and_the_digits_of_the_interval():
    rng = np.random.default_rng(4)
    sizes = rng.integers(8, 12, 12)
    near, far = predicting(sizes, "near"), predicting(sizes - rng.integers(1, 4, 12), "far")
    comparison = compare_results([near, far])
    (row,) = comparison.rows("hd95")
    assert 1 < row.high - row.low < 10  # two digits of which are one decimal place
    assert comparison.answer().verdict.startswith(f"near leads far by {-row.difference:.1f} px lower HD95 (p")
    (row,) = comparison.rows("dice")
    assert 0.1 < row.high - row.low < 1  # two decimal places
    assert comparison.answer("dice").verdict.startswith(f"near leads far by .{100 * row.difference:.0f} Dice (p")
    in_mm = compare_results([one.with_settings(spacing=0.5) for one in (near, far)]).answer()
    assert " mm lower HD95 (p" in in_mm.verdict

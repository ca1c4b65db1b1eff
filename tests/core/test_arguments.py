"""Every public numeric argument: what it cannot take is refused by its name, and NumPy's numbers work as Python's."""

import math
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import write_papers
from refusing import refused

import segbench
from segbench import (
    Anomalies,
    ArgumentError,
    Boundaries,
    BoundaryCounts,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    RegionCounts,
    Regions,
    Repairs,
    Saliency,
    ScoreCounts,
)
from segbench.core.messages import Setting

COUNTS = ScoreCounts([0.9, 0.5, 0.1], [3, 1, 0], [0, 2, 7])
IMAGES = {"a": COUNTS, "b": COUNTS + COUNTS, "c": COUNTS}
SOFT = np.linspace(0, 1, 16).reshape(4, 4)
TRUTH = np.eye(4, dtype=bool)
LABELS = np.arange(16).reshape(4, 4) // 8 + 5
FEW = {"replicates": 3}
HUGE = 10**400

WHOLE = {
    "intervals seed": ("seed", lambda v: segbench.intervals(IMAGES, **FEW, seed=v)),
    "intervals replicates": ("replicates", lambda v: segbench.intervals(IMAGES, replicates=v)),
    "curve_band seed": ("seed", lambda v: segbench.curve_band(IMAGES, **FEW, seed=v)),
    "curve_band replicates": ("replicates", lambda v: segbench.curve_band(IMAGES, replicates=v)),
    "curve_band points": ("points", lambda v: segbench.curve_band(IMAGES, **FEW, points=v)),
    "compare seed": ("seed", lambda v: segbench.compare({"a": IMAGES, "b": IMAGES}, **FEW, seed=v)),
    "from_points positives": ("positives", lambda v: ScoreCounts.from_points([1], [1], v, 99)),
    "from_points negatives": ("negatives", lambda v: ScoreCounts.from_points([1], [1], 9, v)),
    "from_pr positives": ("positives", lambda v: segbench.from_pr([0.5], [0.5], positives=v, negatives=99)),
    "ignored": ("ignored", lambda v: ScoreCounts([1], [1], [1], v)),
    "annotator": ("annotator", lambda v: segbench.match_boundaries(TRUTH, TRUTH, 1, annotator=v)),
    "thresholds": ("thresholds", lambda v: segbench.count(TRUTH, SOFT, segbench.Boundaries(thresholds=v))),
    "thresholds of Boundaries": ("thresholds", lambda v: Boundaries(thresholds=v)),
    "thresholds of Regions": ("thresholds", lambda v: Regions(thresholds=v)),
    "radius": ("radius", lambda v: segbench.nms(SOFT, radius=v)),
    "border": ("border", lambda v: segbench.nms(SOFT, border=v)),
    "smoothing": ("smoothing", lambda v: segbench.nms(SOFT, smoothing=v)),
    "radius of Boundaries": ("radius", lambda v: Boundaries(nms=(v, 5, 1.01))),
    "smoothing of Boundaries": ("smoothing", lambda v: Boundaries(nms=(1, 5, 1.01), smoothing=v)),
    "unused smoothing of Boundaries": ("smoothing", lambda v: Boundaries(smoothing=v)),
    "category": ("category", lambda v: Boundaries(category=v)),
    "void of Regions": ("void", lambda v: Regions(void=(v,))),
    "void of counted regions": ("void", lambda v: segbench.count(LABELS, LABELS, segbench.Regions(void=(v,)))),
    "labels": ("labels", lambda v: Classes(labels=[v, 99])),
    "void of Classes": ("void", lambda v: Classes(labels=[98, 99], void=[v])),
    "images of counts": ("images", lambda v: RegionCounts([1], v, 4, 4, 0, *[[0]] * 8)),
}
REAL = {
    "beta": ("beta", lambda v: segbench.best_f(COUNTS, beta=v)),
    "level": ("level", lambda v: segbench.intervals(IMAGES, **FEW, level=v)),
    "level of curve_band": ("level", lambda v: segbench.curve_band(IMAGES, **FEW, level=v)),
    "tolerance": ("tolerance", lambda v: segbench.from_pr([0.5], [0.5], positives=4, negatives=4, tolerance=v)),
    "max_dist": ("max_dist", lambda v: segbench.count(TRUTH, SOFT, segbench.Boundaries(max_dist=v))),
    "max_dist of Boundaries": ("max_dist", lambda v: Boundaries(max_dist=v)),
    "max_dist_px": ("max_dist_px", lambda v: segbench.match_boundaries(TRUTH, TRUTH, v)),
    "multiplier": ("multiplier", lambda v: segbench.nms(SOFT, multiplier=v)),
    "void of Pixels": ("void", lambda v: Pixels(void=(v,))),
    "at": ("thresholds", lambda v: COUNTS.at([v])),
    "positive of Pixels": ("positive", lambda v: Pixels(positive=v)),
    "positive of counted pixels": (
        "positive",
        lambda v: segbench.count([0, 255], [0.1, 0.9], segbench.Pixels(positive=v)),
    ),
    "listed thresholds": ("thresholds", lambda v: Boundaries(thresholds=(v,))),
    "scale": ("scale", lambda v: Repairs(scale=v)),
    "value of Thresholds": ("thresholds", lambda v: segbench.Thresholds([v], "")),
    "positives of counts": ("positives", lambda v: ScoreCounts([1], [v], [1])),
    "total_gt of counts": ("total_gt", lambda v: BoundaryCounts([1], [0], [v], [0], [0])),
}
EVERY = WHOLE | REAL
ARRAYS = ("thresholds", "positives", "total_gt")
HOSTILE = [0, -math.inf, 1e-300, 1e200, HUGE, "1", None, (), 1j]
NUMPY = [np.float32(0.3), np.float64(0.3), np.float16(1), np.int64(1), np.uint8(1), np.int32(2), np.longdouble(1)]


@pytest.fixture(autouse=True)
def no_figures():
    yield
    plt.close("all")


def named(error):
    """Return the argument that an error is about."""
    argument = error.values.get("argument", error.values.get("given"))
    return argument.name if isinstance(argument, Setting) else argument


OTHERWISE = {
    "beyond-totals": {"positives", "negatives"},
    "not-whole": {"positives"},
    "unfit-classes": {"labels"},
}
"""Kinds of errors that are about an argument without naming it alone, and the arguments."""


@pytest.mark.parametrize("value", [*HOSTILE, *NUMPY], ids=lambda value: f"{type(value).__name__}-{value!r:.6}")
@pytest.mark.parametrize(("name", "call"), EVERY.values(), ids=EVERY.keys())
def test_any_value_works_or_is_refused_by_the_arguments_name(name, call, value):
    try:
        call(value)
    except ArgumentError as error:
        assert named(error) == name or name in OTHERWISE[error.kind]  # noqa: PT017  either outcome will do
        assert len(str(error)) < 200  # noqa: PT017  as above


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, "x", True, np.True_])
@pytest.mark.parametrize(("name", "call"), WHOLE.values(), ids=WHOLE.keys())
def test_what_is_no_whole_number(name, call, value):
    with pytest.raises(ArgumentError) as raised:
        call(value)
    assert named(raised.value) == name


@pytest.mark.parametrize(("name", "call"), WHOLE.values(), ids=WHOLE.keys())
def test_a_number_below_0(name, call):
    if call is WHOLE["void of Classes"][1]:
        call(-1)
        return
    with pytest.raises(ArgumentError) as raised:
        call(-1)
    if call is WHOLE["labels"][1]:
        assert (raised.value.kind, raised.value.values["label"]) == ("unfit-classes", -1)
    else:
        assert (raised.value.kind, named(raised.value), raised.value.values["value"]) == ("wrong-value", name, "-1")
        assert raised.value.values["expected"].startswith("a whole number")


@pytest.mark.parametrize("value", [math.nan, "x", True, -math.inf])
@pytest.mark.parametrize(("name", "call"), REAL.values(), ids=REAL.keys())
def test_what_is_no_number_in_range(name, call, value):
    if name in ARRAYS and (value is True or (value == -math.inf and "Boundaries" not in call.__code__.co_names)):
        return  # in arrays it is 1; a threshold may be infinite
    with pytest.raises(ArgumentError) as raised:
        call(value)
    assert named(raised.value) == name


class TestNumPyNumbers:
    def test_are_those_of_python(self):
        for number in (np.float32(0.3), np.float64(0.3)):
            assert segbench.best_f(COUNTS, beta=number).f == pytest.approx(segbench.best_f(COUNTS, beta=0.3).f)
        assert segbench.nms(SOFT, radius=np.uint8(2)).tolist() == segbench.nms(SOFT, radius=2).tolist()
        one, other = (segbench.intervals(IMAGES, seed=s, replicates=r) for s, r in ((7, 5), (np.int64(7), np.uint8(5))))
        assert dict(one) == dict(other)
        assert one.signature == other.signature
        assert type(other.seed) is int

    def test_settings_keep_plain_numbers(self):
        # They are written to signatures and results files.
        settings = Boundaries(
            thresholds=np.int64(9),
            max_dist=np.float64(0.01),
            nms=(np.int64(1), np.int64(5), np.float64(1.01)),
            smoothing=np.int64(1),
        )
        assert settings == Boundaries(thresholds=9, max_dist=0.01, nms=(1, 5, 1.01), smoothing=1)
        assert settings.signature_fields()["nms"] == "1,5,1.01,smoothing 1"
        assert type(settings.thresholds) is int
        assert type(settings.nms[0]) is int
        assert Regions(thresholds=np.int64(9)).thresholds == 9

    def test_an_extreme_beta(self):
        assert segbench.best_f(COUNTS, beta=1e100).recall == 1
        assert segbench.best_f(COUNTS, beta=1e-100).precision == 1
        with refused("wrong-value", ArgumentError, argument="beta", value="1e+200"):
            segbench.best_f(COUNTS, beta=1e200)


class TestOtherPlaces:
    @pytest.mark.parametrize("workers", [-1, 0, 1.5, "two", True, math.nan])
    def test_workers(self, workers):
        with pytest.raises(ArgumentError) as raised:
            segbench.process_pool(workers)
        assert named(raised.value) == "workers"

    @pytest.mark.parametrize("sample", [-1, 0, 1.5, "x"])
    def test_the_sample_of_check(self, tmp_path, sample):
        with pytest.raises(ArgumentError) as raised:
            segbench.check(*write_papers(tmp_path), sample=sample)
        assert named(raised.value) == "sample"

    def test_repairs(self, tmp_path):
        with refused("wrong-value", ArgumentError, argument="repairs", value="'nearest'"):
            segbench.evaluate(*write_papers(tmp_path), repairs="nearest")
        with refused("wrong-value", ArgumentError, argument="repairs", value="'bilinear'"):
            segbench.check(*write_papers(tmp_path), repairs="bilinear")

    @pytest.mark.parametrize("threshold", [math.nan, "x", True])
    def test_the_threshold_of_overlays(self, tmp_path, threshold):
        result = segbench.evaluate(*write_papers(tmp_path))
        with pytest.raises(ArgumentError) as raised:
            segbench.export_overlays([result], tmp_path / "out", threshold=threshold)
        assert named(raised.value) == "threshold"

    @pytest.mark.parametrize(
        "option", [{"band": 95}, {"band": "x"}, {"seed": -1, "band": 0.9}, {"replicates": 0, "band": 0.9}]
    )
    @pytest.mark.parametrize("plot", [segbench.plot_pr, segbench.plot_roc])
    def test_bands(self, tmp_path, plot, option):
        result = segbench.evaluate(*write_papers(tmp_path))
        with pytest.raises(ArgumentError) as raised:
            plot([result], **({"band": 0.9} | option))
        assert named(raised.value) == next(iter(option))

    @pytest.mark.parametrize(
        "option", [{"intervals": 95}, {"intervals": "x"}, {"seed": -1}, {"replicates": 0}, {"most_panels": -1}]
    )
    def test_the_report(self, tmp_path, option):
        result = segbench.evaluate(*write_papers(tmp_path))
        with pytest.raises(ArgumentError) as raised:
            segbench.export_report([result], tmp_path / "page.html", **option)
        assert named(raised.value) == next(iter(option))
        assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("value", ["no", "", 0, 1, None, 0.0])
def test_what_is_on_or_off_is_true_or_false(value):
    for name in ("invert", "calibration"):
        with refused("wrong-value", ArgumentError, argument=name, expected="True or False"):
            Pixels(**{name: value})
    with refused("wrong-value", ArgumentError, argument="invert", expected="True or False"):
        Classes(labels=[0, 1], invert=value)
    for protocol, name in ((Boundaries, "thin"), (Saliency, "stretch")):
        with refused("wrong-value", ArgumentError, argument=name, expected="True or False"):
            protocol(**{name: value})
    assert Pixels(invert=np.bool_(True)).invert


@pytest.mark.parametrize(
    ("protocol", "name", "choices"),
    [
        (Pixels, "annotators", "one of any, all, majority, each"),
        (Centerlines, "skeleton", "one of zhang, lee, thin, medial-axis"),
        (Centerlines, "connectivity", "one of 8, 4, 26, 6"),
        (Contours, "convention", "one of metrics-reloaded, medpy, deepmind, brats, davis"),
        (Anomalies, "image_score", "'max' or 'top1'"),
        (Objects, "kind", "one of instances, panoptic, components, scored"),
    ],
)
@pytest.mark.parametrize("value", ["x", True, 5, ("max",)])
def test_what_is_chosen_is_one_of_the_choices(protocol, name, choices, value):
    with refused("wrong-value", ArgumentError, expected=choices) as raised:
        protocol(**{name: value})
    assert raised.value.values["argument"] in (name, Setting(name, None))


DEMO = "datasets/demo/objects"
TRUTHS = f"{DEMO}/ground_truth"
RESULT = segbench.evaluate({"a": (TRUTH, SOFT), "b": (TRUTH, SOFT.T)}, method="ours")


FOR_FILES = {"arguments": ("prediction",)}
ONE_PATH = "one path; call once for each of several"


@pytest.mark.parametrize(
    ("call", "kind", "values"),
    [
        (lambda: segbench.evaluate([TRUTHS], f"{DEMO}/predictions/soft_otsu"), "for-files-only", FOR_FILES),
        (
            lambda: segbench.load_results(["a.segbench", "b.segbench"]),
            "wrong-value",
            {"argument": "path", "expected": ONE_PATH},
        ),
        (
            lambda: segbench.evaluate(TRUTHS, f"{DEMO}/predictions/soft_otsu", results=True),
            "wrong-value",
            {"argument": "results", "value": "True", "expected": "one path"},
        ),
        (
            lambda: segbench.export_report([RESULT], ["page.html"]),
            "wrong-value",
            {"argument": "path", "expected": ONE_PATH},
        ),
        (lambda: segbench.evaluate(DEMO, DEMO, executor=2), "not-executor", {"given": "2"}),
        (lambda: segbench.evaluate(TRUTH, SOFT), "for-files-only", FOR_FILES),
        (lambda: segbench.compare_results([]), "too-few-methods", {}),
        (lambda: segbench.compare_results(RESULT), "too-few-methods", {"methods": ("ours",)}),
        (lambda: segbench.compare_results({"ours": RESULT}), "not-results", {"given": "dict"}),
        (
            lambda: RESULT.parts("class")["car"],
            "no-parts",
            {"method": "ours", "parts": "classes", "protocol": "pixels"},
        ),
    ],
)
def test_mistakes_of_other_kinds_are_named(call, kind, values):
    with refused(kind, **values):
        call()


def test_arrays_that_may_be_swapped_are_named():
    with refused("several-values", path="ground_truth", settings={"positive": ">=0.5"}, count=16) as raised:
        segbench.count(SOFT, TRUTH)
    assert raised.value.hint.kind == "perhaps-swapped"
    settings = {"positive": ">=0.5", "label_maps": True}
    with refused("several-values", path="ground_truth", settings=settings, count=16) as raised:
        segbench.count(SOFT, TRUTH, "boundaries")
    assert raised.value.hint.values["positive"].kind == "perhaps-swapped"


def test_scores_beyond_1_may_be_divided():
    with refused("outside-unit", path="prediction", settings={"scale": ...}, lowest=0, highest=100) as raised:
        segbench.count(TRUTH, 100 * SOFT, "boundaries")
    assert raised.value.settings[0].of == "Repairs"


def test_long_arrays_are_printed_by_type_and_shape():
    scores = np.arange(9.0)[::-1]
    assert repr(ScoreCounts(scores, scores > 4, scores < 5)).startswith(
        "ScoreCounts(scores=float64[9], positives=int64[9], negatives=int64[9], ignored=0, "
    )
    assert repr(ScoreCounts([2, 1], [3, 0], [1, 1])).startswith("ScoreCounts(scores=[2.0, 1.0], positives=[3, 0], ")
    assert len(repr(segbench.pr_curve(COUNTS))) < 200


def test_counts_of_two_types_do_not_add_up():
    with pytest.raises(TypeError, match=r"for \+: 'ScoreCounts' and 'LabelCounts'"):
        COUNTS + segbench.count(LABELS, LABELS, segbench.Labels(classes=7))


@pytest.mark.parametrize(
    "settings", [Pixels, Regions, Labels, partial(Classes, labels=(1, 2)), partial(Labels, classes=[1])]
)
@pytest.mark.parametrize("value", [255, np.uint8(255), 0])
def test_one_void_value_is_a_list_of_one(settings, value):
    assert settings(void=value) == settings(void=(value,))
    assert settings(void=value).void == (int(value),)

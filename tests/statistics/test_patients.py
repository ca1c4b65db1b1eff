"""Images that belong together: intervals, tests and metrics over units, such as patients."""

import numpy as np
import pytest
import scipy.stats
from refusing import refused

import segbench
from segbench import Contours, LabelCounts, Labels, Pixels
from segbench.core.messages import Setting

LABELS = Labels(classes=2)
ROUNDING = 1e-12


def slices(rng, images, units):
    """Slices of patients: the name of each, and its TP, FP and FN by two methods, which add up to the same truth."""
    names = [f"p{rng.integers(units):02d}/{number:03d}" for number in range(images)]
    size = rng.integers(20, 400, images)
    tp = rng.binomial(size, rng.uniform(0.6, 0.95, (2, images)))
    fp = rng.poisson(0.1 * size, (2, images))
    return names, tp, fp, np.maximum(size - tp, 0)


def counts_of(names, tp, fp, fn):
    of_images = zip(tp.tolist(), fp.tolist(), fn.tolist(), strict=True)
    matrices = ([[1000 - fp, fp, 0], [fn, tp, 0]] for tp, fp, fn in of_images)
    return {name: LabelCounts("0-1", matrix) for name, matrix in zip(names, matrices, strict=True)}


def unit_of(name):
    return name.partition("/")[0]


def added_up(names, *columns):
    units = sorted(set(map(unit_of, names)))
    belongs = np.array([[unit_of(name) == unit for name in names] for unit in units])
    return [belongs @ column for column in columns]


def pseudo_values(rows, measure):
    """The metric of all rows, and the pseudo-value of each."""
    total, number = rows.sum(axis=0), len(rows)
    whole = measure(total)
    return whole, number * whole - (number - 1) * np.array([measure(total - row) for row in rows])


def effective(weights):
    return weights.sum() ** 2 / (weights**2).sum()


METRICS = {
    "iou": lambda sums: sums[0] / sums[:3].sum(),
    "dice_images": lambda sums: sums[3] / sums[4],
}


@pytest.mark.parametrize("key", METRICS)
@pytest.mark.parametrize("seed", range(100))
def test_differences_over_units_are_those_of_the_rule(seed, key):
    rng = np.random.default_rng(seed)
    names, *parts = slices(rng, int(rng.integers(20, 60)), int(rng.integers(7, 12)))
    of_methods = []
    for method in range(2):
        tp, fp, fn = (part[method] for part in parts)
        dice = 2 * tp / (2 * tp + fp + fn)
        rows = np.column_stack(added_up(names, tp, fp, fn, dice, np.ones(len(names))))
        of_methods.append(pseudo_values(rows, METRICS[key]))
    weights = rows[:, 0] + rows[:, 2] if key == "iou" else rows[:, 4]
    (a, pseudo_a), (b, pseudo_b) = of_methods
    error, freedom = scipy.stats.sem(pseudo_a - pseudo_b), max(effective(weights) - 1, 2)
    methods = {name: counts_of(names, *(part[k] for part in parts)) for k, name in enumerate("ab")}
    (row,) = segbench.compare(methods, protocol=LABELS, unit=unit_of).rows(key)
    assert row.difference == pytest.approx(a - b, abs=ROUNDING)
    assert row.standard_error == pytest.approx(error, rel=1e-9)
    assert row.freedom == pytest.approx(freedom, rel=ROUNDING)
    assert row.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(a - b) / error, freedom), rel=1e-6)


def drawn_result(protocol, *, binary, images=12):
    """A result on drawn images, of four patients."""
    rng = np.random.default_rng(3)
    pairs = {}
    for number in range(images):
        truth = rng.random((16, 16)) < 0.3
        scores = np.round(0.4 * truth + 0.6 * rng.random((16, 16)), 2)
        pairs[f"p{number % 4}/{number:02d}"] = truth.astype(int), (scores > 0.5).astype(int) if binary else scores
    return segbench.evaluate(pairs, protocol=protocol)


PROTOCOLS = {
    "pixels": (Pixels(at=(0.5,), calibration=True), False),
    "labels": (LABELS, True),
    "boundaries": (segbench.Boundaries(), False),
    "contours": (Contours(), True),
    "anomalies": (segbench.Anomalies(), False),
    "centerlines": (segbench.Centerlines(), True),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_unit_per_image_gives_what_no_unit_gives(name):
    protocol, binary = PROTOCOLS[name]
    counts = dict(drawn_result(protocol, binary=binary).counts)
    plain = segbench.intervals(counts, protocol=protocol)
    of_units = segbench.intervals(counts, protocol=protocol, unit=lambda image: image)
    for part in ("estimates", "intervals", "standard_errors", "freedom"):
        expected = dict(getattr(plain, part))
        np.testing.assert_equal({key: getattr(of_units, part)[key] for key in expected}, expected)


@pytest.mark.parametrize("seed", range(100))
def test_dice_of_a_patient_is_that_of_the_volume(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((5, 6, 7)) < rng.uniform(0.1, 0.6)
    predicted = np.where(rng.random(truth.shape) < 0.8, truth, ~truth)
    expected = 2 * (truth & predicted).sum() / (truth.sum() + predicted.sum())
    pairs = {f"a_{k}": (truth[k].astype(int), predicted[k].astype(int)) for k in range(len(truth))}
    counts = dict(segbench.evaluate(pairs, protocol=LABELS).counts)
    found = segbench.intervals(counts, protocol=LABELS, unit="#_*").estimates["dice_units"]
    assert found == pytest.approx(expected, abs=1e-15)


def test_metrics_of_units_are_means_over_patients():
    counts = {
        "a/1": LabelCounts("0-1", [[10, 2, 0], [1, 3, 0]]),
        "a/2": LabelCounts("0-1", [[10, 0, 0], [3, 1, 0]]),
        "b/1": LabelCounts("0-1", [[10, 0, 0], [0, 4, 0]]),
    }
    found = segbench.intervals(counts, protocol=LABELS, unit="folder")
    assert found.estimates["dice_units"] == pytest.approx((8 / (8 + 2 + 4) + 1) / 2)
    assert found.estimates["dice_images"] == pytest.approx((6 / 9 + 2 / 5 + 1) / 3)


@pytest.mark.parametrize(
    ("unit", "kind", "values"),
    [
        ("folders", "wrong-value", {"given": Setting("unit", "folders")}),
        (
            "#_*",
            "images-without-part",
            {"given": Setting("unit", "#_*"), "images": 2, "total": 2, "listed": "a/1, a/2"},
        ),
        ("#/#", "wrong-pattern", {"pattern": "#/#", "part": "unit"}),
        ({"a/1": "a"}, "images-without-part", {"part": "unit", "images": 1, "total": 2, "listed": "a/2"}),
    ],
)
def test_wrong_units_are_refused(unit, kind, values):
    counts = {name: LabelCounts("0-1", [[10, 2, 0], [1, 3, 0]]) for name in ("a/1", "a/2")}
    with refused(kind, segbench.ArgumentError, **values):
        segbench.intervals(counts, unit=unit)

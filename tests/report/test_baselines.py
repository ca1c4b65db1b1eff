"""Every public plot looks as it did; the pictures are in ``baseline/``, drawn small."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.testing.compare import compare_images
from pictures import (
    BASELINE,
    STYLE,
    TOLERANCE,
    assert_looks_the_same,
    boundary_results,
    label_results,
    noisy_results,
    pixel_results,
    region_results,
)

import segbench


def _comparison(metric="ods_f", methods=3):
    return segbench.plot_comparison(segbench.compare_results(pixel_results(methods), replicates=200), metric=metric)


def _regions_in_pr():
    first, second = pixel_results(2)
    ax = segbench.pr_curve(first.pooled).plot()
    return segbench.achievable_pr_curve(second.pooled).plot(ax=ax)


def _saliency():
    labels, levels = np.arange(64).reshape(8, 8) % 5 > 2, np.arange(64, dtype=np.uint8).reshape(8, 8)
    return segbench.evaluate([(labels, levels), (~labels, levels % 7)], protocol=segbench.Saliency(positive=1))


def _contours():
    rows, columns = np.mgrid[:24, :32]
    truth = (rows - 12) ** 2 + (columns - 14) ** 2 < 64
    predictions = [(rows - 12) ** 2 + (columns - at) ** 2 < 64 for at in (16, 22)]
    return [segbench.evaluate([(truth, one)], protocol="contours", method=f"{k}") for k, one in enumerate(predictions)]


def _centerlines():
    rows, columns = np.mgrid[:40, :60]
    soft = np.exp(-((rows - 20 - 8 * np.sin(columns / 9)) ** 2) / 8) * (1 - columns / 90)
    return segbench.evaluate([(soft > 0.5, soft)], protocol=segbench.Centerlines(thresholds=19))


def _objects():
    numbers = np.kron(np.arange(1, 21).reshape(4, 5), np.ones((8, 8), int))
    truth = np.where(np.kron(np.ones((4, 5), int), np.pad(np.ones((6, 6), int), 1)) > 0, numbers, 0)
    noise = np.random.default_rng(0).random(truth.shape)
    predictions = (truth * (noise > 0.04 * truth % 0.6), np.roll(truth, 1, axis=1))
    return [segbench.evaluate([(truth, one)], protocol="objects", method=f"{k}") for k, one in enumerate(predictions)]


def _anomalies():
    random = np.random.default_rng(0)
    masks = np.zeros((4, 250, 250), np.uint8)
    masks[2:, 20:60, 30:90] = masks[3:, 100:180, 10:40] = 1
    scores = random.normal(size=masks.shape)
    return [
        segbench.evaluate(
            dict(enumerate(zip(masks, scores + skill * masks, strict=True))),
            protocol=segbench.Anomalies(),
            method=method,
        )
        for method, skill in {"weak": 2, "strong": 4}.items()
    ]


PICTURES = {
    "plot_pr": lambda: segbench.plot_pr(pixel_results(), band=0.95, replicates=200),
    "plot_pr-boundaries": lambda: segbench.plot_pr(boundary_results()),
    "plot_pr-thirty": lambda: segbench.plot_pr(pixel_results(30, name="a detector with a rather long name, number {}")),
    "plot_roc": lambda: segbench.plot_roc(pixel_results()),
    "plot-f": lambda: segbench.plot(pixel_results(), "f"),
    "plot-f-boundaries": lambda: segbench.plot(boundary_results(), "f"),
    "plot-f-regions": lambda: segbench.plot(region_results(), "f"),
    "plot_images": lambda: segbench.plot_images(pixel_results()),
    "plot_comparison": _comparison,
    "plot_comparison-many": lambda: _comparison("ois_f", 8),
    "plot-intervals": lambda: segbench.plot(pixel_results(), "intervals"),
    "plot-box": lambda: segbench.plot(pixel_results(), "box"),
    "plot-scatter": lambda: segbench.plot(pixel_results(2), "scatter"),
    "plot-checkpoints": lambda: segbench.plot(pixel_results(4, name="epoch_{}"), "checkpoints"),
    "plot-critical_difference": lambda: segbench.plot(noisy_results(5), "critical_difference"),
    "plot_confusion": lambda: segbench.plot_confusion(label_results()[0]),
    "plot-e": lambda: segbench.plot(_saliency(), "e"),
    "plot-nsd": lambda: segbench.plot(_contours(), "nsd"),
    "plot-distances": lambda: segbench.plot(_contours(), "distances"),
    "plot-object_f1": lambda: segbench.plot(_objects(), "object_f1"),
    "plot-object_ts": lambda: segbench.plot(_objects(), "object_ts"),
    "plot_classes": lambda: segbench.plot_classes(label_results(), level=0.95, replicates=200),
    "plot-reliability": lambda: segbench.plot(pixel_results(2), "reliability"),
    "plot-pro": lambda: segbench.plot(_anomalies(), "pro"),
    "plot-pimo": lambda: segbench.plot(_anomalies(), "pimo"),
    "Curve.plot": _regions_in_pr,
    "BoundaryCurve.plot": boundary_results()[0].curve.plot,
    "RegionCurve.plot": region_results()[0].curve.plot,
    "CenterlineCurve.plot": _centerlines().curve.plot,
    "SaliencyCurve.plot": lambda: segbench.saliency_curve(
        segbench.count(np.arange(64).reshape(8, 8) % 5 > 2, np.arange(64, dtype=np.uint8).reshape(8, 8), "saliency")
    ).plot(),
}


@pytest.fixture(autouse=True)
def _one_style():
    with mpl.rc_context(STYLE):
        yield
        plt.close("all")


@pytest.mark.skipif(mpl.__version_info__ < (3, 11), reason="Matplotlib draws letters otherwise before 3.11")
@pytest.mark.parametrize("name", PICTURES)
def test_looks_as_it_did(name, tmp_path):
    assert_looks_the_same(PICTURES[name]().figure, name, tmp_path)


def test_every_public_plot_has_a_picture():
    functions = {name for name in segbench.__all__ if name.startswith("plot")}
    methods = {f"{name}.plot" for name in segbench.__all__ if hasattr(getattr(segbench, name), "plot")}
    assert functions | methods == {name.split("-")[0] for name in PICTURES}


def test_every_picture_is_compared():
    assert {path.stem for path in BASELINE.glob("*.png")} == set(PICTURES)


def test_another_colour_is_noticed(tmp_path):
    ax = PICTURES["plot_roc"]()
    ax.lines[-1].set_color("#ff00ff")
    ax.figure.savefig(tmp_path / "other.png")
    assert compare_images(str(BASELINE / "plot_roc.png"), str(tmp_path / "other.png"), TOLERANCE)

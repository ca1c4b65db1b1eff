"""No text of a plot lies on another or beyond the picture, and all can be read: in a column and across a page."""

import itertools
import re
import zlib
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from segbench import Contours, Labels, Objects, caption_of, evaluate
from segbench.drawing.axes import centre, new_axes
from segbench.report.plots.kinds import KINDS, kind_of
from segbench.report.plots.saving import save_plot

COLUMN = {"font.size": 8, "lines.linewidth": 1.2, "lines.markersize": 4.5}  # as save_plot sets it
SIZES = {"column": (3.5, 3), "page": (7, 4)}
NAMES = ("deeplabv3_plus", "segformer-b5", "mask2former/swin-l", "unet", "sam_vit_huge_finetune", "pspnet resnet101")
OTHERS = {
    "critical_difference": "contours",
    "nsd": "contours",
    "distances": "contours",
    "classes": "labels",
    "confusion": "labels",
    "e": "saliency",
    "pro": "anomalies",
    "pimo": "anomalies",
    "object_f1": "objects",
    "object_ts": "objects",
    "froc": "components",
}
"""Kinds that are not drawn from soft maps and masks."""
OF_TWO = ("scatter", "comparison", "critical_difference")
OF_ONE = ("confusion",)
OF_CURVES = ("pr", "roc", "f", "e", "reliability", "nsd", "distances", "object_f1", "object_ts", "froc", "pro", "pimo")


def results_of(protocol, methods):
    """Count methods that differ a little on 8 images; each name says which one it is."""
    random = np.random.default_rng(0)
    truths = random.random((8, 16, 16)) < 0.3
    if protocol == "anomalies":  # of which half are normal, with pixels enough for false positive rates of 1e-5
        truths = np.kron(truths, np.ones((10, 10), bool)) & (np.arange(8) >= 4)[:, None, None]
    noise = random.random(truths.shape)
    soft = {f"{NAMES[k % len(NAMES)]}_{k:02}": np.clip(0.03 * k * truths + 0.6 * noise, 0, 1) for k in range(methods)}
    settings = {
        "contours": {"protocol": Contours(at=0.5)},
        "labels": {"protocol": Labels(classes=2)},
        "objects": {"protocol": Objects(kind="components")},
        "components": {"protocol": Objects(kind="components", at=0.5)},
    }
    if protocol in ("labels", "objects"):
        soft = {name: (maps > 0.5).astype(np.uint8) for name, maps in soft.items()}
        truths = truths.astype(np.uint8)
    pairs = {name: dict(enumerate(zip(truths, maps, strict=True))) for name, maps in soft.items()}
    chosen = settings.get(protocol, {"protocol": protocol})
    return [evaluate(of_method, method=name, **chosen) for name, of_method in pairs.items()]


@pytest.fixture(scope="module")
def all_results():
    return cache(lambda protocol: results_of(protocol, 30))


def texts(figure):
    """Return what is written, its size and its box in pixels."""
    renderer = figure.canvas.get_renderer()
    written = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_fontsize(), Text.get_window_extent(text, renderer)) for text in written]
    return [(text, size, box) for text, size, box in boxes if box.width > 1]


CASES = [
    (kind, methods)
    for kind in KINDS
    for methods in (1, 4, 12, 30)
    if methods >= (2 if kind in OF_TWO else 1) and (methods == 1 or kind not in OF_ONE)
]


def drawn(results, kind, size):
    """Draw a plot as `save_plot` does."""
    with mpl.rc_context(COLUMN if size == "column" else {}):
        figure = Figure(figsize=SIZES[size], dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        centre(kind_of(kind).draw(results, ax=new_axes(figure, may_grow=False)))
        figure.canvas.draw()
    return figure


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "methods"), CASES)
def test_nothing_overlaps_and_all_can_be_read(all_results, kind, methods, size):
    figure = drawn(all_results(OTHERS.get(kind, "pixels"))[:methods], kind, size)
    written = texts(figure)
    on_another = [
        (text, other)
        for (text, _, one), (other, _, two) in itertools.combinations(written, 2)
        if min(one.x1, two.x1) - max(one.x0, two.x0) > 1 and min(one.y1, two.y1) - max(one.y0, two.y0) > 1
    ]
    assert not on_another
    assert not [(text, letters) for text, letters, _ in written if letters < 5.999]
    within, inches = figure.get_tightbbox(), figure.get_size_inches()
    assert min(within.x0, within.y0) > -0.02
    assert within.x1 < inches[0] + 0.02
    assert within.y1 < inches[1] + 0.02
    (ax,) = figure.axes
    assert ax.get_window_extent().height > 0.25 * figure.bbox.height


def points_of(line):
    """Return points of a drawn line at most a dot apart, in dots; of markers alone their middles."""
    corners = line.get_transform().transform(line.get_xydata())
    corners = corners[np.isfinite(corners).all(axis=1)]
    if line.get_linestyle() == "None" or len(corners) < 2:
        return corners
    steps = [np.linspace(a, b, 2 + int(np.hypot(*(b - a)))) for a, b in itertools.pairwise(corners)]
    return np.concatenate(steps)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "methods"), [*itertools.product(OF_CURVES, (2, 4))])
def test_names_beside_curves_are_nearest_to_their_own_and_on_none(all_results, kind, methods, size):
    figure = drawn(all_results(OTHERS.get(kind, "pixels"))[:methods], kind, size)
    (ax,) = figure.axes
    lines = {line.get_label(): points_of(line) for line in ax.lines if line.get_zorder() > 1}
    named = [text for text in ax.texts if not text.get_text().startswith("F=")]
    assert bool(named) != any("[" in text.get_text() for text in (ax.get_legend() or ax).findobj(Text))
    for text in named:
        name = text.get_text().split("\n")[0]
        box = Text.get_window_extent(text)  # without the line that joins it with its curve
        assert not any(box.count_contains(points) for points in lines.values())
        if text.arrow_patch is None:

            def distance(points, box=box):
                outside = np.maximum(np.maximum([box.x0, box.y0] - points, points - [box.x1, box.y1]), 0)
                return np.hypot(*outside.T).min()

            own = [label for label in lines if label.split("] ")[-1] == name]
            nearest = min(lines, key=lambda label: distance(lines[label]))
            assert own == [nearest]


@pytest.mark.parametrize("kind", ["pr", "f", "intervals", "box", "images", "comparison", "critical_difference"])
def test_each_of_thirty_methods_is_in_the_plot_or_in_its_caption(all_results, kind):
    results = all_results(OTHERS.get(kind, "pixels"))
    with mpl.rc_context(COLUMN):
        figure = Figure(figsize=SIZES["column"], dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        ax = kind_of(kind).draw(results, ax=new_axes(figure, may_grow=False))
        written = "".join([*(text for text, *_ in texts(figure)), *caption_of(ax)])
    seen = re.sub(r"\s", "", written)  # names may be broken into lines
    assert not [result.method for result in results if result.method.replace(" ", "") not in seen]


@pytest.mark.parametrize("kind", KINDS)
def test_pdf_files_hold_fonts_that_journals_accept(all_results, tmp_path, kind):
    results = all_results(OTHERS.get(kind, "pixels"))[:4]
    results = results[:1] if kind in OF_ONE else results
    save_plot(results, tmp_path / "a.pdf", kind=kind, size=SIZES["column"])
    written = (tmp_path / "a.pdf").read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)endstream", written, re.DOTALL)
    readable = [zlib.decompressobj().decompress(stream) for stream in streams if stream.startswith(b"x")]
    assert b"/Type0" in written, "its texts are texts"
    assert not [part for part in (written, *readable) if b"/Type3" in part]

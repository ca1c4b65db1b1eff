"""No text of a plot lies on another or beyond the picture, and all can be read: in a column and across a page."""

import itertools
import re
import zlib

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from segbench import Contours, Labels, caption_of, evaluate
from segbench.drawing.axes import centre, new_axes
from segbench.report.plots.kinds import kind_of
from segbench.report.plots.saving import save_plot

COLUMN = {"font.size": 8, "lines.linewidth": 1.2, "lines.markersize": 4.5}  # as save_plot sets it
SIZES = {"column": (3.5, 3), "page": (7, 4)}
NAMES = ("deeplabv3_plus", "segformer-b5", "mask2former/swin-l", "unet", "sam_vit_huge_finetune", "pspnet resnet101")
OF_PIXELS = ("pr", "roc", "f", "reliability", "images", "box", "scatter", "intervals", "checkpoints", "comparison")
OF_OTHERS = {"critical_difference": "contours", "nsd": "contours", "distances": "contours", "classes": "labels"}
OF_TWO = ("scatter", "comparison", "critical_difference")


def results_of(protocol, methods):
    """Count methods that differ a little on 8 images; each name says which one it is."""
    random = np.random.default_rng(0)
    truths = random.random((8, 16, 16)) < 0.3
    noise = random.random(truths.shape)
    soft = {f"{NAMES[k % len(NAMES)]}_{k:02}": np.clip(0.03 * k * truths + 0.6 * noise, 0, 1) for k in range(methods)}
    settings = {"pixels": {}, "contours": {"protocol": Contours(at=0.5)}, "labels": {"protocol": Labels(classes=2)}}
    if protocol == "labels":
        soft = {name: (maps > 0.5).astype(np.uint8) for name, maps in soft.items()}
        truths = truths.astype(np.uint8)
    pairs = {name: dict(enumerate(zip(truths, maps, strict=True))) for name, maps in soft.items()}
    return [evaluate(of_method, method=name, **settings[protocol]) for name, of_method in pairs.items()]


@pytest.fixture(scope="module")
def all_results():
    return {protocol: results_of(protocol, 30) for protocol in ("pixels", "contours", "labels")}


def texts(figure):
    """Return what is written, its size and its box in pixels."""
    renderer = figure.canvas.get_renderer()
    written = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_fontsize(), text.get_window_extent(renderer)) for text in written]
    return [(text, size, box) for text, size, box in boxes if box.width > 1]


CASES = [
    (kind, methods)
    for kind in (*OF_PIXELS, *OF_OTHERS)
    for methods in (1, 4, 12, 30)
    if methods > 1 or kind not in OF_TWO
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "methods"), CASES)
def test_nothing_overlaps_and_all_can_be_read(all_results, kind, methods, size):
    results = all_results[OF_OTHERS.get(kind, "pixels")][:methods]
    with mpl.rc_context(COLUMN if size == "column" else {}):
        figure = Figure(figsize=SIZES[size], dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        centre(kind_of(kind).draw(results, ax=new_axes(figure, may_grow=False)))
        figure.canvas.draw()
        written = texts(figure)
    on_another = [
        (text, other)
        for (text, _, one), (other, _, two) in itertools.combinations(written, 2)
        if min(one.x1, two.x1) - max(one.x0, two.x0) > 1 and min(one.y1, two.y1) - max(one.y0, two.y0) > 1
    ]
    assert not on_another
    assert not [(text, letters) for text, letters, _ in written if letters < 5.999]
    drawn, inches = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -0.02
    assert drawn.x1 < inches[0] + 0.02
    assert drawn.y1 < inches[1] + 0.02
    (ax,) = figure.axes
    assert ax.get_window_extent().height > 0.25 * figure.bbox.height


@pytest.mark.parametrize("kind", ["pr", "f", "intervals", "box", "images", "comparison", "critical_difference"])
def test_each_of_thirty_methods_is_in_the_plot_or_in_its_caption(all_results, kind):
    results = all_results[OF_OTHERS.get(kind, "pixels")]
    with mpl.rc_context(COLUMN):
        figure = Figure(figsize=SIZES["column"], dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        ax = kind_of(kind).draw(results, ax=new_axes(figure, may_grow=False))
        written = "".join([*(text for text, *_ in texts(figure)), *caption_of(ax)])
    seen = re.sub(r"\s", "", written)  # names may be broken into lines
    assert not [result.method for result in results if result.method.replace(" ", "") not in seen]


@pytest.mark.parametrize("kind", [*OF_PIXELS, *OF_OTHERS])
def test_pdf_files_hold_fonts_that_journals_accept(all_results, tmp_path, kind):
    results = all_results[OF_OTHERS.get(kind, "pixels")][:4]
    save_plot(results, tmp_path / "a.pdf", kind=kind, size=SIZES["column"])
    written = (tmp_path / "a.pdf").read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)endstream", written, re.DOTALL)
    readable = [zlib.decompressobj().decompress(stream) for stream in streams if stream.startswith(b"x")]
    assert b"/Type0" in written, "its texts are texts"
    assert not [part for part in (written, *readable) if b"/Type3" in part]

"""No text of a plot lies on another, or beyond the picture: in one column of a paper, with twelve methods."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from segbench import evaluate
from segbench.drawing.axes import centre, new_axes
from segbench.report.plots.kinds import kind_of

KINDS = ("pr", "roc", "f", "images", "comparison", "reliability")
COLUMN = {"font.size": 8, "lines.linewidth": 1.2, "lines.markersize": 4.5}  # as save_plot sets it


@pytest.fixture(scope="module")
def results():
    random = np.random.default_rng(0)
    truths = random.random((12, 16, 16)) < 0.3
    noise = random.random(truths.shape)
    soft = {f"method {k:02}": np.clip(0.05 * k * truths + 0.6 * noise, 0, 1) for k in range(12)}
    return [evaluate(zip(truths, maps, strict=True), method=name) for name, maps in soft.items()]


def texts(figure):
    """Return the places of what is written, in pixels."""
    renderer = figure.canvas.get_renderer()
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in found]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_overlaps(results, kind):
    with mpl.rc_context(COLUMN):
        figure = Figure(figsize=(3.5, 3), dpi=200, layout="constrained")
        FigureCanvasAgg(figure)
        centre(kind_of(kind).draw(results, ax=new_axes(figure, may_grow=False)))
        figure.canvas.draw()
        written = [(text, place) for text, place in texts(figure) if place.width > 1]
    on_another = [
        (text, other)
        for (text, one), (other, two) in itertools.combinations(written, 2)
        if min(one.x1, two.x1) - max(one.x0, two.x0) > 1 and min(one.y1, two.y1) - max(one.y0, two.y0) > 1
    ]
    assert not on_another
    drawn, size = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -0.02
    assert drawn.x1 < size[0] + 0.02
    assert drawn.y1 < size[1] + 0.02

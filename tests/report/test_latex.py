"""Tables in LaTeX fit a narrow column, measured with the metrics of Computer Modern that Matplotlib ships."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from fontTools.ttLib import TTFont
from pictures import boundary_results, label_results, noisy_results, pixel_results, region_results

from segbench import Contours, Labels, Saliency, evaluate
from segbench.report.documents import document
from segbench.report.latex import latex_tables
from segbench.report.latex_width import latex_width
from segbench.report.tables import TableSettings

FOOTNOTE = 8.5  # letters of 8 points, a little wider than those of 10 in proportion
NAMES = ("mask2former_swin_lar", "SegFormer-B5-MiT-MMM", "DeepLabV3+ ResNet101", "unet", "ours (w/o pretrain)")


@cache
def font(name):
    """Return the widths of the letters of a font in em."""
    letters = TTFont(Path(mpl.get_data_path(), "fonts", "ttf", name))
    widths, of_letters = letters["hmtx"], letters.getBestCmap()
    units = letters["head"].unitsPerEm
    return {chr(code): widths[glyph][0] / units for code, glyph in of_letters.items()}


def width_of(cell):
    """Measure a cell of LaTeX: bold ones in the bold font, arrows and daggers by their widths in Computer Modern."""
    bold = r"\textbf" in cell
    cell = re.sub(r"\\rlap\{.*?\}\}", "", cell)
    arrows = len(re.findall(r"\\(?:up|down)arrow", cell))
    shown = re.sub(r"\$?\\(?:up|down)arrow\$?", "", cell)
    shown = re.sub(r"\\(?:textbf|underline|shortstack(?:\[l\])?|mathrm)", "", shown).replace(r"\_", "_")
    shown = re.sub(r"\\(?:alpha|beta|phi|xi|omega)", "x", shown)
    shown = re.sub(r"[\\{}$^]", "", shown)
    widths = font("cmb10.ttf" if bold else "cmr10.ttf")
    return FOOTNOTE * (sum(max(widths.get(letter, 0.78), 0.3) for letter in shown) + 0.5 * arrows)


def width_of_table(text):
    """Measure a tabular without an engine: the widest cell of each column, and the space between columns."""
    spec = re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)[1]
    spaces = sum(float(space) for space in re.findall(r"hspace\{([\d.]+)em\}", spec)) * FOOTNOTE
    rows = [line.removesuffix(r"\\").split("&") for line in text.splitlines() if line.endswith(r"\\")]
    rows = [cells for cells in rows if not any("multicolumn" in cell for cell in cells)]
    columns = zip(*([cell.strip() for cell in cells] for cells in rows), strict=True)
    widest = 0.0
    for column in columns:
        lines = [line for cell in column for line in re.split(r"\\\\(?=\S)", cell)]
        widest += max(map(width_of, lines))
    return widest + spaces


def twelve(results):
    """Return twelve methods with names of at most 20 letters."""
    return [replace(results[k % len(results)], method=f"{NAMES[k % 5][:17]}_{k:02}") for k in range(12)]


def of_protocols():
    truth = np.eye(6, k=1, dtype=np.uint8) + np.eye(6, dtype=np.uint8)
    shapes = {"a": (truth, truth.T), "b": (truth, truth)}
    return {
        "pixels": noisy_results(12),
        "boundaries": [boundary_results()[0]],
        "regions": region_results(),
        "labels": label_results(),
        "contours": [evaluate(shapes, protocol=Contours())],
        "saliency": [evaluate(shapes, protocol=Saliency(positive=1))],
        "objects": [evaluate(shapes, protocol="objects")],
    }


@pytest.mark.parametrize("protocol", list(of_protocols()))
def test_the_default_table_of_twelve_methods_fits_a_column_of_a_paper(protocol):
    text = document(twelve(of_protocols()[protocol]), "latex")
    assert width_of_table(text) <= 3.25 * 72.27
    header = next(line for line in text.splitlines() if "arrow" in line and line.endswith(r"\\"))
    assert 2 <= len(header.split("&")) - 1 <= 6
    assert "% further metrics: " in text


# Of pdfTeX, \footnotesize of article at 10 points, with Latin Modern in T1.
MEASURED = {
    r"a\ b": 11.81,
    r"mask2former/swin-large": 89.37,
    r"my\_net": 29.51,
    r"\textbf{.7971}": 22.32,
    r".1 $\pm$ .1": 25.50,
    r"\textbf{.1 $\pm$ .1}": 28.39,
    r"\underline{.7971}\rlap{\textsuperscript{†}}": 19.36,
    r"\shortstack{ODS\\F $\uparrow$}": 17.82,
    r"$S_\alpha\uparrow$": 17.11,
    r"$E_\phi^{\max}\uparrow$": 27.32,
    r"$E_\phi^{\mathrm{mean}}\uparrow$": 30.79,
}


@pytest.mark.parametrize("cell", MEASURED)
def test_widths_are_those_that_tex_measures(cell):
    assert latex_width(cell) == pytest.approx(MEASURED[cell], rel=0.05)


@pytest.mark.parametrize("name", ["W" * 20, "a-b_" * 5, "mask2former_swin_lar"])
@pytest.mark.parametrize("zeros", [False, True])
def test_four_metrics_fit_beside_any_name_of_twenty_letters(name, zeros):
    results = [replace(result, method=name[:18] + str(10 + k)) for k, result in enumerate(noisy_results(4))]
    (table,) = latex_tables(results, TableSettings(zeros=zeros))
    assert table.width <= 3.25 * 72.27
    assert len(table.table.header) >= 5
    broken = [result.method for result in results if len(result.method) > table.line]
    assert not broken or "letters are broken into lines" in table.written()


def test_intervals_take_no_metric_away():
    results = noisy_results(3)
    (table,) = latex_tables(results, TableSettings(intervals=[result.intervals(replicates=10) for result in results]))
    assert len(table.table.header) == 5


def test_long_names_are_broken_and_a_comment_says_so():
    text = document([replace(pixel_results(1)[0], method="segment_anything_vit_huge_v2")], "latex")
    assert r"\shortstack[l]{segment\_anything\_\\vit\_huge\_v2}" in text
    assert "% names of more than 20 letters are broken into lines: segment_anything_vit_huge_v2\n" in text


def test_lines_of_long_names_have_twenty_letters_at_most():
    text = document([replace(pixel_results(1)[0], method="x" * 45 + "-large_of_the_last_year")], "latex")
    lines = re.search(r"\\shortstack\[l\]\{(.*?)\}", text)[1].replace(r"\_", "_").split(r"\\")
    assert "".join(lines) == "x" * 45 + "-large_of_the_last_year"
    assert max(map(len, lines)) == 20


def test_what_is_not_told_apart_from_the_best_is_marked_and_the_test_named():
    results = noisy_results(3, images=30)
    text = document([*results, replace(results[0], method="copy")], "latex")
    rows = {line.split("&")[0].strip(): line for line in text.splitlines() if line.endswith(r"\\")}
    assert "†" in rows["copy"] + rows[r"method\_00"]
    assert "†: not significantly different from the best (paired jackknife t-test over 30 images, p above .05" in text
    plain = document(results, "latex", TableSettings(marked=False))
    assert not any(mark in plain for mark in ("†", "textbf", "underline"))


def test_percent_is_of_shares_alone():
    result = pixel_results(1)[0]
    text = document([result], "markdown", TableSettings(percent=True, digits=1))
    assert f"{100 * result.summary['ods_f']:.1f}" in text
    assert "in percent but ODS at" in text
    assert f"{result.summary['ods_threshold']:.3f}"[1:4] in text


def test_classes_are_columns_with_their_mean():
    results = label_results()
    text = document(results, "latex", TableSettings(rows="class", percent=True, digits=1))
    header, *rows = [line.removesuffix(r"\\").split("&") for line in text.splitlines() if line.endswith(r"\\")]
    assert [cell.strip() for cell in header] == ["method", "road", "building", "tree", "person", "train", "mean"]
    for result, row in zip(results, rows, strict=True):
        values = [part.summary["iou"] for part in result.parts("class").values()]
        shown = [re.sub(r"[^\d.-]", "", cell) for cell in row[1:]]
        assert shown[:4] == [f"{100 * value:.1f}" for value in values[:4]]
        assert shown[5] == f"{100 * sum(values) / 5:.1f}"


def test_classes_have_intervals_on_request():
    results = label_results()
    drawn = [result.intervals(replicates=10) for result in results]
    text = document(results, "latex", TableSettings(rows="class", intervals=drawn))
    for result in results:
        road = result.parts("class")["road"]
        low, high = road.intervals(replicates=10)["iou"]
        assert f"{road.summary['iou']:.4f} [{low:.4f}, {high:.4f}]".replace("0.", ".") in text


def test_the_mean_over_classes_has_its_own_interval():
    results = label_results()
    drawn = [result.intervals(replicates=10) for result in results]
    text = document(results, "latex", TableSettings(rows="class", intervals=drawn, zeros=True))
    for result in results:
        mean = result.parts("class").mean
        low, high = mean.intervals(replicates=10)["iou"]
        assert f"{mean.summary['iou']:.4f} [{low:.4f}, {high:.4f}]" in text


@pytest.mark.parametrize("spread", ["sd", "quartiles"])
def test_classes_have_the_spread_of_images_on_request(spread):
    results = label_results()
    text = document(results, "latex", TableSettings(rows="class", spread=spread, zeros=True))
    for result in results:
        road = result.parts("class")["road"].spread["iou_images"]
        beside = rf"{road.mean:.4f} $\pm$ {road.sd:.4f}"
        quartiles = f"{road.median:.4f} [{road.lower:.4f}, {road.upper:.4f}]"
        assert (beside if spread == "sd" else quartiles) in text
    assert "% the mean is over classes, without a spread over images\n" in text


def test_a_comment_names_the_background_which_is_in_no_mean():
    protocol = Labels(classes="ground=0,car=1,tree=2", background=0)
    labels = np.arange(36).reshape(6, 6) % 3
    result = evaluate([(labels, labels), (labels, labels[::-1])], protocol=protocol)
    text = document([result], "latex", TableSettings(rows="class"))
    assert "% left out of means over classes, background: ground\n" in text
    header = next(line for line in text.splitlines() if line.startswith("method"))
    assert header.replace("\\", "").replace(" ", "").split("&") == ["method", "car", "tree", "mean", "ground"]

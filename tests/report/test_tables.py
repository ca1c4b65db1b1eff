import io
import math
import re
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from cases import FIRST_SCORES, SECOND_SCORES, write_folder, write_papers
from hypothesis import given
from pictures import boundary_results, pixel_results, region_results
from rich.console import Console
from unusual_protocols import Fixed

from segbench import (
    Anomalies,
    Boundaries,
    BoundaryCurve,
    Labels,
    Pixels,
    Regions,
    Result,
    Saliency,
    ScoreCounts,
    evaluate,
)
from segbench.aggregator.result import names_of
from segbench.core.errors import Failure
from segbench.core.messages import as_message
from segbench.core.metric import footnotes
from segbench.core.numbers import number
from segbench.protocols.boundaries.official import PublishedCurve
from segbench.report import tables
from segbench.report.documents import document, markdown_table
from segbench.report.latex import latex_table
from segbench.report.ranking import competing_sets, ranked
from segbench.report.terminal import show


def method_table(results, *, digits=4):
    return tables.method_table(results).text(digits=digits)


def threshold_table(results, *, digits=4):
    return tables.threshold_table(results, digits=digits).text(digits=digits)


def exact_thresholds(results):
    return tables.threshold_table(results, every=True).exact()


def shown(results, width, **console):
    console = Console(width=width, file=io.StringIO(), **console)
    show(results, console)
    return console.file.getvalue()


def in_a_terminal(results, width):
    return shown(results, width, force_terminal=True, color_system=None)


def headings_of(text):
    return [line.split() for line in text.splitlines() if line.startswith("method ") and "." not in line]


def cells_of(lines):
    return {cell for line in lines for cell in line.split()}


@given(st.one_of(st.integers(0, 255).map(lambda k: k / 255), st.floats(-100, 100)))
def test_a_threshold_as_it_is_printed_is_reached_by_what_reaches_the_exact_one(threshold):
    at = next(metric for metric in Pixels().metrics() if metric.key == "ods_threshold")
    text = at.written(threshold)
    assert float(text) <= threshold
    assert threshold - float(text) < 1e-4


def test_a_threshold_that_can_be_printed_is_printed_as_it_is():
    at = next(metric for metric in Pixels().metrics() if metric.key == "ods_threshold")
    assert [at.written(k / 100) for k in range(100)] == [number(k / 100) for k in range(100)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, ".5000"),
        (-0.25, "-.2500"),
        (12.5, "12.5000"),
        (0.00001, ".00001"),
        (-0.000032, "-.000032"),
        (1e-9, "1e-09"),
        (0.0, ".0000"),
        (7, "7"),
        (math.nan, "-"),
    ],
)
def test_numbers_are_written_as_the_field_does(value, text):
    assert number(value) == text


def test_a_narrow_terminal_cuts_no_digit(tmp_path):
    results = [evaluate(*write_papers(tmp_path), method="a method with a name longer than the terminal is wide")]
    text = shown(results, width=30)
    assert "…" not in text
    assert "a method with a name longer than the terminal is wide" in text


class TestNarrowTerminals:
    @pytest.fixture
    def results(self, install):
        """Two results of a protocol whose columns are always the same."""
        install({"fixed": "unusual_protocols:Fixed"})
        signature = "protocol:fixed|data:0"
        return [replace(result, rules=Fixed(), signature=signature) for result in pixel_results(2)]

    def test_put_the_columns_that_can_be_spared_into_a_second_block(self, results):
        text = in_a_terminal(results, 90)
        wide = shown(results, 90).splitlines()
        assert text.splitlines()[:2] == wide[:2]
        assert all(len(line) <= 90 for line in text.splitlines())
        assert headings_of(text) == [wide[1].split()]
        named = [replace(result, method=f"{result.method} again") for result in results]
        lines = in_a_terminal(named, 82).splitlines()
        assert all(len(line) <= 82 for line in lines[:-1])  # the last is the signature
        assert "FPR95" in lines[1]
        assert lines[4] == ""
        assert lines[5].split() == ["method", "ODS", "IoU", "hull*"]
        assert [line.split()[:2] for line in lines[6:8]] == [line.split()[:2] for line in lines[2:4]]
        assert cells_of(lines[1:4]) | cells_of(lines[5:8]) == {"ODS", *cells_of(shown(named, 80).splitlines()[1:4])}
        lines = in_a_terminal(named, 75).splitlines()
        assert lines[5].split() == ["method", "ODS", "IoU", "hull*", "FPR95"]

    def test_put_what_fits_no_second_block_into_further_ones(self, results):
        lines = in_a_terminal(results, 30).splitlines()
        assert all(len(line) <= 30 for line in lines[:-1])
        headings = headings_of("\n".join(lines))
        assert len(headings) > 2
        wide = shown(results, 200).splitlines()[1]
        assert set().union(*headings) - {"ODS"} == set(wide.split())

    def test_of_long_tables_leave_columns_out_and_say_so(self, results):
        many = [replace(results[0], method=f"m{k} again, and again") for k in range(101)]
        text, width = in_a_terminal(many, 90), len(shown(many, 90).splitlines()[1])
        assert len(headings_of(text)) == 1
        hint = f"widen the terminal to {width} columns, or add --format markdown"
        assert f"left out: ODS IoU, hull*; to see all, {hint}" in " ".join(text.split())
        assert "optimistic" not in text
        assert len(headings_of(in_a_terminal(many[:100], 90))) == 2

    def test_leave_out_columns_without_a_value_where_not_all_fit(self, tmp_path):
        result = evaluate(*write_papers(tmp_path), Anomalies(positive="255"), method="without normal images")
        assert "left out" not in in_a_terminal([result], 200)
        text = in_a_terminal([result], 80)
        assert "left out, without any value: I-AUROC, I-AP, I-F1max, AUPIMO\n" in text
        assert len(headings_of(text)) == 1

    def test_break_notes_between_words(self, results):
        lines = in_a_terminal(results, 44).splitlines()
        assert all(len(line) <= 44 for line in lines[:-1])
        sentence = "hull*: AUC-PR of the ROC convex hull; optimistic, because it is tuned on the test images"
        assert sentence in " ".join(lines)

    def test_of_boundaries_and_regions_explain_all_columns(self):
        detector, human = boundary_results()
        for width in (72, 200):
            assert "of the curve extended" in in_a_terminal([replace(detector, method="a detector"), human], width)
        lines = in_a_terminal([replace(detector, method="a detector"), human], 72).splitlines()
        assert all(len(line) <= 72 for line in lines[:4])
        assert lines[5].split() == ["method", "AP", "ext*"]
        assert "VOI merge: " in in_a_terminal(region_results(), 72)

    def test_leave_out_nothing_where_that_would_not_help(self):
        text = in_a_terminal([replace(pixel_results(1)[0], method="m" * 90)], 80)
        assert "hull*" in text.splitlines()[1]
        assert "left out" not in text

    def test_no_line_ends_in_blanks(self):
        results = pixel_results(3)
        console = Console(width=200, file=io.StringIO())
        show(results, console, tables.TableSettings(intervals=[result.intervals(replicates=9) for result in results]))
        for text in (console.file.getvalue(), in_a_terminal(results, 200)):
            assert all(line == line.rstrip() for line in text.splitlines())


def test_markup_in_names_stays_text(tmp_path):
    results = [evaluate(*write_papers(tmp_path), Pixels(positive="7"), method="[red]me[/red] [/]")]
    assert "[red]me[/red] [/]" in shown(results, width=200)


class TestRunsOfOneName:
    @pytest.fixture
    def results(self, tmp_path):
        folders = write_papers(tmp_path)
        protocols = Pixels(), Pixels(invert=True), Boundaries(thresholds=3, positive="255")
        scores = tmp_path / "levels"
        write_folder(scores, {"first.png": np.uint8(255 * FIRST_SCORES), "second.png": np.uint8(255 * SECOND_SCORES)})
        return [evaluate(folders[0], scores, protocol, method="a") for protocol in protocols]

    def test_are_told_apart_by_what_differs(self, results):
        assert names_of(results) == ["a (pixels, invert:no)", "a (pixels, invert:yes)", "a (boundaries)"]
        assert names_of(results[:2]) == ["a (invert:no)", "a (invert:yes)"]
        assert names_of(results[1:2]) == ["a"]

    def test_csv_leaves_empty_what_is_of_another_protocol(self, results):
        exact = tables.method_table(
            results, intervals=[run.intervals(replicates=9) for run in results], every=True
        ).exact()
        table = [dict(zip(exact.header, row, strict=True)) for row in exact.rows]
        assert [row["auc_pr"] == "" for row in table] == [False, False, True]
        assert [row["area_pr_low"] == "" for row in table] == [True, True, False]
        exact = tables.image_table(results).exact()
        assert exact.header.count("f") == 1
        assert {row[0] for row in exact.rows} == set(names_of(results))

    def test_each_protocol_has_a_table_in_the_terminal(self, results):
        text = shown(results, width=200)
        assert text.count("method ") == 2
        assert "a (invert:yes)" in text


class TestBest:
    @pytest.mark.parametrize(
        ("values", "best", "digits", "expected"),
        [
            ([0.5, 0.7, 0.6], "higher", 4, ["", "best", "second"]),
            ([0.5, 0.7, 0.6], "lower", 4, ["best", "", "second"]),
            ([0.5, 0.7, 0.6], None, 4, ["", "", ""]),
            ([0.5, 0.7], "higher", 4, ["", "best"]),
            ([0.7, 0.7, 0.6], "higher", 4, ["best", "best", ""]),
            ([0.7971, 0.7968, 0.6], "higher", 3, ["best", "best", ""]),
            ([0.7971, 0.7968, 0.6], "higher", 4, ["best", "second", ""]),
            ([0.7, 0.6, 0.6], "higher", 4, ["best", "second", "second"]),
            ([math.nan, 0.7, 0.6], "higher", 4, ["", "best", ""]),
            ([math.nan, 0.7], "lower", 4, ["", ""]),
            ([0.7], "higher", 4, [""]),
            ([], "higher", 4, []),
        ],
    )
    def test_is_found_by_direction_and_as_printed(self, values, best, digits, expected):
        assert ranked(values, best, digits=digits) == expected

    def test_annotators_do_not_compete(self):
        detector, human = boundary_results()
        table = method_table([detector, replace(detector, method="other"), human])
        assert [table.marks.get((row, 1), "") for row in range(3)] == ["best", "best", ""]

    def test_only_among_methods_on_the_same_images(self):
        high, middle, low = pixel_results(3)
        few = dict(list(high.counts.items())[:3])
        alone = replace(high, counts=few, failed={"im7": Failure("pred/im7.png", as_message("has another size"))})
        elsewhere = replace(middle, method="elsewhere", signature="protocol:pixels|data:1")
        table = method_table([alone, middle, low])
        assert [table.marks.get((row, 1), "") for row in range(3)] == ["", "best", ""]
        assert (table.header[-1], [row[-1] for row in table.rows]) == ("images", ["3", "8", "8"])
        for text in (markdown_table(table), latex_table(table)):
            plain = text.replace("\\", "")
            assert "method 0: 1 of 4 images failed and is left out of all metrics" in plain
            assert "method 1, method 2 (8 images); method 0 (3 images)" in plain
        text = shown([alone, middle, low], 200)
        assert text.index("method 1") < text.index("method 2") < text.index("method 0")
        assert text.count("not all methods have the same images") == 1
        marks = method_table([middle, low, elsewhere]).marks
        assert [marks.get((row, 1), "") for row in range(3)] == ["best", "", ""]
        assert "method 1, method 2 (8 images, data:0); elsewhere (8 images, data:1)" in shown(
            [middle, low, elsewhere], 99
        )
        assert "images" not in method_table([high, middle, low]).header

    def test_only_among_methods_of_the_same_settings(self):
        high, middle, low = pixel_results(3)
        void = replace(high, settings={**high.settings, "void": "7"}, signature="protocol:pixels|void:7|data:0")
        yes = {**middle.settings, "invert": "yes"}
        inverted = replace(middle, settings=yes, signature="protocol:pixels|invert:yes|data:0")
        table = method_table([void, inverted, low])
        assert [table.marks.get((row, 1), "") for row in range(3)] == ["", "best", ""]
        text = shown([void, inverted, low], 200)
        assert text.index("method 1") < text.index("method 2") < text.index("method 0")
        why = "not all methods have the same settings; the best is marked only among those that do"
        assert f"{why}: method 1, method 2 (void:none); method 0 (void:7)" in text
        assert "\nmethod 0: protocol:pixels|void:7" in text  # of several signatures each names its methods

    def test_of_other_settings_is_said_below_tables_of_classes_and_of_groups(self, tmp_path, segbench):
        rng = np.random.default_rng(0)
        labels = {f"{folder}/{k}.png": rng.integers(0, 3, (8, 8)).astype(np.uint8) for folder in "ab" for k in range(3)}
        gt = write_folder(tmp_path / "gt", labels)
        file, classes = tmp_path / "r.segbench", ("--classes", "0-2", "--no-check")
        segbench("labels", gt, f"one={gt}", f"two={gt}", *classes, "-o", file)
        segbench("labels", gt, f"three={gt}", *classes, "--void", "254", "-o", file)
        why = "not all methods have the same settings; the best is marked only among those that do: one, two"
        of_classes = segbench("show", file, "--per-class").out
        assert f"\n{why} (void:255); three (void:254)" in of_classes
        assert of_classes.count(why) == 1
        of_groups = segbench("show", file, "--group-by", "folder").out
        assert of_groups.count(f"{why} (void:255); three (void:254)") == 1

    def test_imported_counts_and_printed_curves_compete_where_images_are_the_same(self):
        detector, human = boundary_results()
        imported = replace(
            detector, method="other", settings={"source": "imported"}, signature="protocol:boundaries|data:2"
        )
        curve = PublishedCurve(BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0]))
        printed = Result("HED", Boundaries(), {}, "data:3", {}, published=curve)
        table = method_table([printed, detector, imported, human])
        assert "images" not in table.header
        assert "best" in {table.marks.get((row, 1), "") for row in range(3)}
        fewer = replace(imported, counts={"im0": imported.counts["im0"]})
        assert [row[-1] for row in method_table([printed, detector, fewer]).rows] == ["-", "4", "1"]

    @pytest.mark.parametrize("source", ["imported", "arrays"])
    def test_what_is_not_known_of_a_method_joins_no_others(self, source):
        unknown, middle, low = pixel_results(3)
        unknown = replace(unknown, settings={"source": source}, signature="protocol:pixels|data:2")
        other = {"settings": {"void": "7"}} if source == "imported" else {"signature": "protocol:pixels|data:1"}
        middle = replace(middle, **other)
        has = ("void:7", "void:none") if source == "imported" else ("8 images, data:1", "8 images, data:0")
        text = shown([unknown, middle, low], 200)
        assert "method 0, method 1 ({}); method 2 ({})".format(*has) in text
        assert competing_sets([unknown, middle, low]) == [[0, 1], [2]]

    def test_the_underline_is_that_of_the_digits(self):
        results = [replace(result, method=name) for result, name in zip(pixel_results(3), "abc", strict=True)]
        text = shown(results, 200, force_terminal=True)
        assert "\x1b[4m." in text
        assert "\x1b[4m " not in text

    def test_is_bold_in_every_form_and_the_second_underlined_in_latex(self):
        table = method_table(pixel_results(3), digits=2)
        first, second = (table.rows[row][1] for row in (0, 1))
        assert rf"\textbf{{{first}}}" in latex_table(table)
        assert rf"\underline{{{second}}}" in latex_table(table)
        assert f"**{first}**" in markdown_table(table)
        console = Console(width=200, file=io.StringIO(), force_terminal=True)
        show(pixel_results(3), console, tables.TableSettings(digits=2))
        assert f"\x1b[1m{first}\x1b[0m" in console.file.getvalue()
        assert f"\x1b[4m{second}\x1b[0m" in console.file.getvalue()


NAMES = st.text(min_size=1, max_size=30)


class TestNamesAreNoMarkup:
    @given(NAMES)
    def test_in_markdown(self, name):
        lines = markdown_table(method_table([replace(pixel_results(1)[0], method=name)])).splitlines()
        assert len(lines[:3]) == 3
        cells = re.sub(r"\\.", "", lines[2])
        assert cells.count("|") == len(method_table(pixel_results(1)).header) + 1
        assert not set("<*_`[") & set(cells)

    @given(NAMES)
    def test_in_latex(self, name):
        text = latex_table(method_table([replace(pixel_results(1)[0], method=name)]))
        (row,) = [line for line in text.splitlines()[6:] if line.endswith(r"\\")]
        bare = re.sub(r"\\[a-z]+\{\}|\$(\\[A-Za-z]+|[_^]\d|-)\$|\\[{}$&#_%]", "", row)
        assert bare.count("&") == len(method_table(pixel_results(1)).header) - 1
        assert not set("#_%~^$") & set(bare)
        assert not row.startswith(("[", "*"))

    def test_pdflatex_is_given_no_letter_that_it_lacks(self):
        blob = np.pad(np.ones((3, 5), bool), 2)
        name = "U\u00b2-Net \u03b2\u2081 Zoe\u0308"  # the last letter in two parts, as macOS names folders
        text = latex_table(method_table([evaluate([(blob, blob)], protocol="centerlines", method=name)]))
        rows, notes = text.split(r"\end{tabular}")
        assert "U$^2$-Net $\\beta$$_1$ Zo\u00eb &" in rows
        assert r" & $\beta$0 $\downarrow$ & $\beta$1 $\downarrow$ & $\chi$ $\downarrow$" in rows
        assert "needs LuaLaTeX" not in notes
        names = [replace(pixel_results(1)[0], method=name) for name in ("\u0105", "\u65e5")]
        assert "% needs LuaLaTeX or XeLaTeX, with a font that has \u0105 \u65e5" in latex_table(method_table(names))


class TestGroups:
    def test_have_a_line_above_their_columns_in_the_terminal(self):
        groups, titles = shown(boundary_results(), 200).splitlines()[:2]
        assert groups == "         --------- ODS --------- ------ OIS ------"
        assert titles == "method       F     P     R    at     F     P     R mean F    AP AP ext*   R50"

    def test_span_columns_in_latex_and_are_part_of_titles_in_markdown(self):
        table = method_table(boundary_results())
        lines = latex_table(table).splitlines()
        assert lines[2] == r" & \multicolumn{4}{c}{ODS} & \multicolumn{3}{c}{OIS} &  &  &  & \\"
        assert lines[3] == r"\cmidrule(lr){2-5} \cmidrule(lr){6-8}"
        assert lines[4].split(" & ")[1].strip() == r"F $\uparrow$"
        first = markdown_table(table).splitlines()[0].strip("|").split("|")
        assert [title.strip() for title in first][:6] == ["method", "ODS F", "ODS P", "ODS R", "ODS at", "OIS F"]

    def test_say_how_images_are_pooled_so_a_table_of_images_has_none(self):
        groups, titles = tables.image_table(boundary_results()).text().heading()
        assert {name for name, _ in groups} == {""}
        assert titles[:4] == ["method", "image", "f", "precision"]

    def test_of_one_column_are_none(self):
        table = tables.method_table(boundary_results(), keys=["ois_f", "ods_f", "ods_recall"]).text()
        assert table.heading() == ([("", 1), ("", 1), ("ODS", 2)], ["method", "OIS F", "F", "R"])


class TestForms:
    def test_rows_stand_in_the_same_order_everywhere(self):
        results = pixel_results(3)[::-1]
        text = shown(results, 200)
        assert text.index("method 0") < text.index("method 1") < text.index("method 2")
        rows = [line for line in document(results, "markdown").splitlines() if line.startswith("| method ")]
        assert [row[2:10] for row in rows[1:]] == ["method 0", "method 1", "method 2"]
        assert document(results, "csv").splitlines()[1].startswith("method 2")

    def test_leading_zeros_are_written_on_request(self):
        results = [replace(pixel_results(1)[0], method="net .5")]
        for form in ("markdown", "latex"):
            text = document(results, form, tables.TableSettings(zeros=True))
            assert "net .5" in text
            assert "0.77" in text  # ods_f, which all forms show
            assert not re.search(r"[ {]\.\d", text.replace("net .5", ""))
        console = Console(width=200, file=io.StringIO())
        show(results, console, tables.TableSettings(intervals=[results[0].intervals(replicates=9)], zeros=True))
        assert not re.search(r" \.\d", console.file.getvalue().replace("net .5", ""))

    @pytest.mark.parametrize("form", ["markdown", "latex", "csv", "json"])
    def test_chosen_metrics_are_the_only_ones(self, form):
        mixed = [*pixel_results(1), *region_results()]
        text = document(mixed, form, tables.TableSettings(keys=["auc_pr"]))
        assert "ods" not in text.lower().replace("methods", "")
        assert "voi" not in text.lower()

    def test_markdown_and_latex_end_with_the_signature(self):
        for form in ("markdown", "latex"):
            assert document(pixel_results(2), form).replace("\\", "").rstrip().endswith("protocol:pixels|data:0")


class TestThresholds:
    def test_few_rows_with_the_best_among_them_and_a_note(self):
        results = pixel_results(2)
        table = threshold_table(results)
        assert len(table.rows) < 34 * 2
        best = [table.rows[row][table.header.index("f")] for row, _ in table.marks]
        assert best == [number(result.summary["ods_f"]) for result in results]
        *of_methods, last = table.notes
        assert [(note.kind, note.values["total"]) for note in of_methods] == [("some-thresholds", 34)] * 2
        assert last.kind == "rounded-thresholds"
        assert threshold_table(results, digits=17).notes == table.notes[:-1]

    def test_rows_are_spread_over_recall_where_scores_are_not(self):
        # Positives have ten scores above .9, and a thousand scores below .1 hold negatives alone.
        scores = np.concatenate([np.linspace(1, 0.9, 10), np.linspace(0.1, 0, 1000)])
        positive = np.repeat([100, 0], [10, 1000])
        result = Result("m", Pixels(), {}, "data:0", {"a": ScoreCounts(scores, positive, 100 - positive)})
        table = threshold_table([result])
        recall = [row[table.header.index("recall")] for row in table.rows]
        assert set(recall) == {".0000", *(f".{tenth}000" for tenth in range(1, 10)), "1.0000"}
        assert len(recall) <= 23
        shown = [float(row[1]) for row in table.rows[1:]]
        assert shown == sorted(shown, reverse=True)
        assert shown[-1] == 0

    def test_rows_without_positives(self):
        levels = np.linspace(1, 0, 300)
        result = Result("m", Pixels(), {}, "data:0", {"a": ScoreCounts(levels, [0] * 300, [5] * 300)})
        table = threshold_table([result])
        assert 10 <= len(table.rows) <= 23
        assert {row[table.header.index("f")] for row in table.rows} == {"-"}
        assert not table.marks

    def test_the_best_row_is_the_summary_to_the_last_digit(self):
        for result in pixel_results():
            table = exact_thresholds([result])
            best = max(float(row[table.header.index("f")]) for row in table.rows)
            assert best == result.summary["ods_f"]

    def test_all_rows_for_other_programs(self):
        (result,) = pixel_results(1)
        table = exact_thresholds([result])
        assert len(table.rows) == 34
        last = dict(zip(table.header, table.rows[-1], strict=True))
        assert (last["tp"], last["fp"], last["recall"]) == ("96000", "216000", "1.0")

    def test_a_published_curve_has_no_counts(self):
        curve = PublishedCurve(BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0]))
        published = Result("HED", Boundaries(), {}, "data:0", {}, published=curve)
        rows = threshold_table([published, *boundary_results()]).rows
        assert rows[0][:3] == ["HED", ".2000", "-"]
        assert rows[0][-1] == number(4 / 7)


def test_one_remark_on_many_methods_is_one_line():
    curve = PublishedCurve(BoundaryCurve([0.2, 0.5], [1.0, 0.4], [0.4, 1.0]))
    results = [Result(f"m{k}", Boundaries(), {}, "data:0", {}, published=curve) for k in range(6)]
    text = shown(results, 200)
    assert text.count("undefined") == 1
    assert "all 6 methods: undefined" in text


class TestFootnotes:
    def test_name_a_threshold_by_its_column_and_not_by_its_group(self):
        metrics = {metric.key: metric for metric in Pixels().metrics()}
        assert footnotes([metrics["ods_threshold"]]) == ("ODS at: threshold of the best F",)
        assert footnotes([metrics["ods_f"]]) == ("ODS: best F with one threshold for all images",)

    def test_say_all_of_one_metric_at_once(self):
        metrics = {metric.key: metric for metric in Pixels().metrics()}
        assert footnotes([metrics["fpr_at_95_tpr"]]) == ("FPR95: false positive rate at 95 % recall, lower is better",)

    def test_are_in_lines_of_a_width(self):
        whole = "; ".join(footnotes(Pixels().metrics(), 10_000))
        lines = footnotes(Pixels().metrics(), 80)
        assert "; ".join(lines) == whole
        assert all(len(line) <= 80 or "; " not in line.replace("hull; ", "") for line in lines)

    @pytest.mark.parametrize(
        ("protocol", "titles"),
        [
            (Pixels(), {"ODS at", "OIS", "hull*", "mean F", "FPR95"}),
            (Boundaries(), {"ODS at", "OIS", "AP ext*", "R50"}),
            (Regions(), {"cover at", "cover best", "PRI", "VOI", "ARE"}),
            (Labels(classes=3), {"mIoU I", "mIoU C", "I 5 %", "C 5 %", "kappa"}),
            (Saliency(), {"S", "E", "Fw", "MAE", "F adp"}),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_explain_words_that_a_first_reader_does_not_know_once(self, protocol, titles):
        text = "; ".join(footnotes(protocol.metrics()))
        footnotes_of = [part.partition(": ") for part in re.split(r"; (?!optimistic|max)", text)]
        assert titles <= {title for names, _, _ in footnotes_of for title in names.split(", ")}
        explanations = [explanation for _, _, explanation in footnotes_of]
        assert len(explanations) == len(set(explanations))

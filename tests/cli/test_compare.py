import csv
import io
import json

import imageio.v3 as iio
import numpy as np
import pytest
from cases import write_folder
from methods import write_methods

from segbench import Pixels, compare, evaluate, export_report, load_results
from segbench.statistics.comparison import Comparison, Difference, comparison_table

FEW = ("--replicates", "20", "--permutations", "20")


def refuse_constant(name):
    raise AssertionError(f"JSON holds {name}")


def strict_json(text):
    return json.loads(text, parse_constant=refuse_constant)


@pytest.fixture
def results(counted_once, tmp_path):
    """A results file of three methods on twelve images."""
    return counted_once("r.segbench", *write_methods(tmp_path, {"good": 2, "fair": 1, "none": 0}))


def counted(segbench, path, *arguments, verb="pixels"):
    assert segbench(verb, *arguments, "-o", path).code == 0
    return path


class TestForms:
    def test_json_holds_every_figure_of_every_pair(self, segbench, results):
        document = strict_json(segbench("compare", results, "--format", "json").out)
        assert {(row["a"], row["b"]) for row in document["differences"]} == {
            ("good", "fair"),
            ("good", "none"),
            ("fair", "none"),
        }
        (row,) = (r for r in document["differences"] if (r["a"], r["b"], r["metric"]) == ("good", "none", "ods_f"))
        assert row["difference"] == pytest.approx(row["estimate_a"] - row["estimate_b"])
        assert 0 < row["low"] < row["difference"] < row["high"]
        assert row["p_value"] == 2 / 2**12
        assert row["p_holm"] == 3 * row["p_value"]
        assert (row["wins"], row["ties"], row["losses"]) == (12, 0, 0)
        assert document["rank_shares"]["ods_f"]["good"] == [1, 0, 0]
        assert document["optimistic"] == ["auc_pr_achievable"]
        assert (document["exact"], document["permutations"], document["undefined"]) == (True, 4096, {})
        assert document["signature"].endswith("|swaps:95-4096|ranks:2000|seed:0")

    def test_the_table_says_how_it_was_made(self, segbench, results):
        answer = segbench("compare", results, "--intervals", "90", "--seed", "7", "--replicates", "500")
        assert answer.code == 0
        assert "90 % interval over 12 images" in answer.out
        assert "|swaps:90-4096|ranks:500|seed:7" in answer.out
        assert "optimistic" in segbench("compare", results, "--metrics", "auc_pr_achievable").out
        assert "first or tied for first by ods_f in resamples: good 100.0%" in answer.out

    def test_csv_has_a_line_a_figure_and_pair_with_all_digits(self, segbench, results):
        rows = list(csv.DictReader(io.StringIO(segbench("compare", results, "--format", "csv").out)))
        assert len(rows) == 3 * 13
        document = strict_json(segbench("compare", results, "--format", "json").out)
        assert [float(row["low"]) for row in rows] == [row["low"] for row in document["differences"]]

    @pytest.mark.parametrize(("form", "mark"), [("markdown", "|---"), ("latex", "\\toprule")])
    def test_tables_for_papers(self, segbench, results, form, mark):
        text = segbench("compare", results, "--format", form, "--metrics", "ods_f,auc_roc").out
        assert mark in text
        assert "auc" in text.lower()
        assert "ois" not in text.lower()


class TestChoice:
    def test_methods_stand_in_the_order_asked_for(self, segbench, results):
        document = strict_json(segbench("compare", results, "--methods", "none,good", "--format", "json").out)
        assert {(row["a"], row["b"]) for row in document["differences"]} == {("none", "good")}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--methods", "good"], "good: a comparison needs at least two methods"),
            (["--methods", "good,gone"], "good, fair, none"),
            (["--metrics", "dice"], "auc_roc"),
            (["--intervals", "0.95"], "write 95"),
            (["--intervals", "100"], "not a confidence level"),
            (["--only", "protocol:regions"], "protocol:pixels"),
        ],
    )
    def test_what_is_not_there_is_named_with_what_is(self, segbench, results, options, message):
        answer = segbench("compare", results, *options)
        assert answer.code == 2
        assert message in answer.err

    def test_runs_of_one_name_are_told_apart_by_signature(self, segbench, results, tmp_path):
        counted(segbench, results, tmp_path / "gt", tmp_path / "good", tmp_path / "fair", "--positive", "255")
        answer = segbench("compare", results)
        assert answer.code == 2
        assert "fair, good: several runs of one name" in answer.err
        answer = segbench("compare", results, "--only", "positive:255", "--format", "csv")
        assert answer.code == 0
        assert {line.split(",")[1] for line in answer.out.splitlines()[1:]} == {"good"}

    def test_two_runs_of_one_name_are_chosen_by_their_names_in_tables(self, segbench, tmp_path):
        truth, good = write_methods(tmp_path, {"good": 2})
        kept = counted(segbench, tmp_path / "two.segbench", truth, good)
        counted(segbench, kept, truth, good, "--invert", "--scale", "2", "--no-check")
        names = ["good (invert:no, scale:none)", "good (invert:yes, scale:2)"]
        refused = segbench("compare", kept).err
        assert f"good: several runs of one name; choose some of '{names[0]}', '{names[1]}' with --methods" in refused
        found = segbench("compare", kept, "--methods", f"{names[1]},{names[0]}", "--format", "json")
        assert {(row["a"], row["b"]) for row in strict_json(found.out)["differences"]} == {(names[1], names[0])}
        assert f"not in {kept}, which has {names[0]}, {names[1]}" in segbench("compare", kept, "--methods", "bad").err
        alone = segbench("show", kept, "--only", names[1], "--format", "json")
        assert ["invert:yes" in run["signature"] for run in strict_json(alone.out)["runs"]] == [True]

    def test_a_wrong_run_is_left_out_by_merging(self, segbench, results, tmp_path):
        counted(segbench, results, tmp_path / "gt", tmp_path / "fair", "--invert", "--no-check")
        merged = tmp_path / "clean.segbench"
        wrong = "fair (invert:yes)"
        assert segbench("merge", results, "-o", merged, "--leave-out", wrong).code == 0
        runs = strict_json(segbench("show", merged, "--format", "json").out)["runs"]
        assert [(run["method"], run["settings"]["invert"]) for run in runs] == [
            (name, "no") for name in ("good", "fair", "none")
        ]
        refused = segbench("merge", results, "-o", tmp_path / "other.segbench", "--leave-out", "unfair")
        assert refused.code == 2
        assert wrong in refused.err
        assert not (tmp_path / "other.segbench").exists()


class TestRefusals:
    def test_other_settings(self, segbench, results, tmp_path):
        counted(segbench, results, tmp_path / "gt", f"other={tmp_path / 'good'}", "--void", "3")
        answer = segbench("compare", results)
        assert answer.code == 2
        assert "void is none in good" in answer.err
        assert "3 in other" in answer.err

    def test_other_images(self, segbench, results, tmp_path):
        fewer = tmp_path / "fewer"
        counted(segbench, results, *write_methods(fewer, {"few": 1}, images=3))
        answer = segbench("compare", results)
        assert answer.code == 2
        assert "good has im03, im04" in answer.err
        assert "few has not; predict the missing images, or count" in answer.err
        (tmp_path / "common.txt").write_text("im00\nim01\nim02\n")
        common = counted(
            segbench, tmp_path / "new", tmp_path / "gt", tmp_path / "good", "--images", tmp_path / "common.txt"
        )
        counted(segbench, common, *write_methods(fewer, {"few": 1}, images=3))
        assert segbench("compare", common).code == 0

    def test_other_ground_truth_of_the_same_totals(self, segbench, results, tmp_path):
        truth = tmp_path / "gt"
        turned = {path.name: np.flipud(iio.imread(path)) for path in truth.iterdir()}
        write_folder(tmp_path / "turned", turned)
        counted(segbench, results, tmp_path / "turned", f"other={tmp_path / 'good'}")
        answer = segbench("compare", results)
        assert answer.code == 2
        assert "content differs" in answer.err


class TestDegenerate:
    def test_one_image_has_no_intervals_and_says_so(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=1)
        results = counted(segbench, tmp_path / "r.segbench", *folders)
        answer = segbench("compare", results)
        assert answer.code == 0
        assert "1 image: intervals need" in answer.out
        assert "no p-value can be below 1" in answer.out
        assert "[-" not in answer.out
        document = strict_json(segbench("compare", results, "--format", "json").out)
        assert {row["low"] for row in document["differences"]} == {None}

    def test_no_positives_is_null_with_a_reason(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=3)
        write_folder(folders[0], {path.name: np.zeros((12, 17), np.uint8) for path in folders[0].iterdir()})
        results = tmp_path / "r.segbench"
        assert segbench("pixels", *folders, "--positive", "255", "-o", results).code == 1
        document = strict_json(segbench("compare", results, "--format", "json").out)
        assert {row["difference"] for row in document["differences"]} == {None}
        assert document["undefined"]["ods_f"] == "no positive pixels for a, b"
        assert document["rank_shares"]["ods_f"] == {"a": [None, None], "b": [None, None]}
        table = segbench("compare", results).out
        assert "undefined (no positive pixels for a, b): ods_f" in table
        assert "in replicates" not in table

    def test_predicting_everything_is_a_tie_whatever_the_score(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2, "b": 1}, images=11)
        for folder, score in zip(folders[1:], (7, 90), strict=True):
            write_folder(folder, {path.name: np.full((12, 17), score, np.uint8) for path in folder.iterdir()})
        results = counted(segbench, tmp_path / "r.segbench", *folders)
        document = strict_json(segbench("compare", results, "--format", "json").out)
        rows = {row["metric"]: row for row in document["differences"]}
        for figure in ("ods_f", "ods_precision", "ods_recall", "iou", "mean_image_f"):
            row = rows.pop(figure)
            assert (row["difference"], row["low"], row["high"], row["p_value"]) == (0, 0, 0, 1)
            assert (row["wins"], row["ties"], row["losses"]) == (0, 11, 0)
        assert document["undefined"] == dict.fromkeys(rows, "two-valued predictions for a, b")


class TestMetricsThatDisagree:
    """One method ranks pixels perfectly with scores around .5, the other has probabilities and some wrong pixels."""

    LINE = "metrics disagree, each significantly: sure is better than vague by {} but worse by ods_f"

    @pytest.fixture(scope="class")
    @classmethod
    def file(cls, tmp_path_factory):
        root = tmp_path_factory.mktemp("disagree")
        rng = np.random.default_rng(0)
        gt, pred = {}, {"sure": {}, "vague": {}}
        for name in (f"{k}.png" for k in range(8)):
            gt[name] = (rng.random((12, 17)) < 0.3).astype(np.uint8) * 255
            right = np.where(rng.random((12, 17)) < 0.1, 255 - gt[name], gt[name])
            pred["sure"][name] = np.uint8(25 + 0.8 * right)
            pred["vague"][name] = np.uint8(120 + gt[name] // 17)
        truth = write_folder(root / "gt", gt)
        for method, scores in pred.items():
            evaluate(truth, write_folder(root / method, scores), Pixels(calibration=True), results=root / "r.segbench")
        return root / "r.segbench"

    def test_are_named_in_every_form(self, segbench, file):
        line = self.LINE.format("mce")
        chosen = ("compare", file, "--metrics", "mce", *FEW[:2], "--format")
        assert line in segbench(*chosen, "table").out.splitlines()
        assert f"% {line}" in segbench(*chosen, "latex").out.splitlines()
        assert line in strict_json(segbench(*chosen, "json").out)["notes"]
        assert "metrics disagree" not in segbench("compare", file, "--metrics", "ods_f", *FEW).out

    def test_are_named_in_python_and_on_the_page(self, file, tmp_path):
        loaded = load_results(file)
        line = "vague is better than sure by {}, {} but worse by {}, {}"
        expected = line.format("ods_f", "mean_image_f", "brier", "ece")
        assert expected in str(compare(loaded[::-1], replicates=20))
        export_report(loaded, tmp_path / "r.html", replicates=20, most_panels=0)
        expected = line.format("ODS F", "mean F", "Brier", "ECE")
        assert f"<p>Metrics disagree, each significantly: {expected}.</p>" in (tmp_path / "r.html").read_text()


def test_boundary_results_are_compared_without_the_annotators(segbench, tmp_path):
    folders = write_methods(tmp_path, {"a": 3, "b": 0}, images=10)
    results = counted(segbench, tmp_path / "r.segbench", *folders, "--thresholds", "5", verb="boundaries")
    answer = segbench("compare", results)
    assert answer.code == 0
    assert "area_pr" in answer.out
    document = strict_json(segbench("compare", results, "--format", "json").out)
    (row,) = (row for row in document["differences"] if row["metric"] == "ods_f")
    assert 0 < row["low"] < row["high"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_tables_keep_ranks_p_values_notes_and_signature(segbench, results, form):
    text = segbench("compare", results, "--format", form).out.replace("\\", "")
    assert "rank 3" in text
    assert "better .0" in text
    assert "p: two-sided, all ways of swapping" in text
    assert "swaps:95-4096|ranks:2000|seed:0" in text


@pytest.mark.parametrize(
    ("low", "cell"), [(0.0000341, "+.0012 [+.0000, +.0500]"), (-0.0123456, "+.0012 [-.0123, +.0500]")]
)
def test_a_difference_and_its_interval_have_the_same_decimal_places(low, cell):
    row = Difference("ods_f", "a", "b", 0.5, 0.4988, 0.0012, low, 0.05, 0.04, 0.04, 3, 0, 1)
    comparison = Comparison((row,), {}, {}, 9, 512, exact=True)
    assert comparison_table(comparison, metrics=["ods_f"]).rows[0][5] == cell


def test_metrics_without_a_row_are_named_unless_some_were_chosen(segbench, results):
    said = [line for line in segbench("compare", results, *FEW).out.splitlines() if line.startswith("left out: ")]
    assert len(said) == 1
    assert "average_precision, " in said[0]
    assert said[0].endswith("; --metrics KEYS shows them, --format csv and json all")
    assert "left out" not in segbench("compare", results, "--metrics", "ods_f", *FEW).out


class TestDirections:
    @pytest.mark.parametrize("form", ["table", "markdown", "latex"])
    def test_it_says_for_which_metrics_lower_is_better(self, segbench, results, form):
        said = "lower is better: fpr_at_95_tpr; a wins on an image where its value is better"
        shown = segbench("compare", results, "--format", form, "--metrics", "ods_f,fpr_at_95_tpr", *FEW).out
        assert said in shown.replace("\\", "")
        assert "lower is better" not in segbench("compare", results, "--format", form, "--metrics", "ods_f", *FEW).out

    def test_latex_has_titles_with_arrows_and_names_its_package(self, segbench, results):
        shown = segbench(
            "compare", results, "--format", "latex", "--metrics", "ods_f,fpr_at_95_tpr,ods_precision", *FEW
        ).out
        cells = [[cell.strip() for cell in line.split("&")] for line in shown.splitlines()]
        assert ["ODS F $\\uparrow$", "good", "fair"] in [row[:3] for row in cells]
        assert ["FPR95 $\\downarrow$", "good", "fair"] in [row[:3] for row in cells]
        assert ["ODS P", "good", "fair"] in [row[:3] for row in cells]
        assert [row[0] for row in cells if row[1:2] in (["rank 1"], ["good"])][-2:] == ["ODS F $\\uparrow$"] * 2
        assert "% needs \\usepackage{booktabs}" in shown
        assert "% needs \\usepackage{booktabs}" in segbench("show", results, "--format", "latex").out

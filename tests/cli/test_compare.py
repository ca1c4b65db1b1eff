import csv
import io
import json
import re
import shutil

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from PIL import Image
from refusing import insist, refuse_constant

from segbench import Pixels, compare, evaluate, load_results
from segbench.core.messages import Setting

FEW = ("--replicates", "20")
AS_JSON = (*FEW, "--format", "json")


def strict_json(text):
    return json.loads(text, parse_constant=refuse_constant)


def outcome_of(answer):
    """Return the only outcome of ``--fail-if-worse``."""
    (outcome,) = strict_json(answer.out)["check"]["outcomes"]
    return outcome


def answer_by(document, metric):
    (found,) = (each for each in document["answers"] if each["metric"] == metric)
    return found


@pytest.fixture
def results(counted_once, tmp_path):
    """A results file of three methods on twelve images."""
    return counted_once("r.segbench", *write_methods(tmp_path, {"good": 2, "fair": 1, "none": 0}))


def counted(segbench, path, *arguments, verb="pixels"):
    assert segbench(verb, *arguments, "-o", path).code == 0
    return path


def write_many(segbench, root, names, images=8):
    """Count methods, each better than the one before, on small images."""
    skills = {name: 1 + 2 * place / len(names) for place, name in enumerate(names)}
    folders = write_methods(root, skills, images=images, shape=(6, 7))
    return counted(segbench, root / "many.segbench", *folders, "--no-check")


class TestAnswer:
    def test_begins_with_the_verdict(self, segbench, results):
        first = segbench("compare", results).out.splitlines()[0]
        assert first.startswith("good leads fair by .")
        assert first.endswith(" ODS F (p < .0001); it is significantly better than every other method")

    def test_of_the_same_predictions_says_so(self, segbench, tmp_path):
        truth, one = write_methods(tmp_path, {"one": 2})
        kept = counted(segbench, tmp_path / "r.segbench", truth, one, f"again={one}")
        assert segbench("compare", kept).err.startswith("one and again have the same predictions")

    def test_has_a_row_per_method_the_best_first_with_letters(self, segbench, results):
        lines = segbench("compare", results).out.splitlines()
        rows = [line.split() for line in lines[3:6]]
        assert [(row[0], row[1], row[-1]) for row in rows] == [
            ("a", "good", "all"),
            ("b", "fair", "c"),
            ("c", "none", "-"),
        ]

    def test_has_the_leads_of_three_methods_with_stars(self, segbench, results):
        text = segbench("compare", results).out
        assert "a good " in text
        assert "by how much the row leads the column; * p at most .05, ** .01 (Holm)" in text
        assert [line for line in text.splitlines() if line.startswith("b fair ")][-1].endswith("**")

    def test_of_two_methods_has_no_matrix(self, segbench, results):
        assert "leads the column" not in segbench("compare", results, "--methods", "good,fair").out

    def test_by_each_metric_asked_for(self, segbench, results):
        text = segbench("compare", results, "--metrics", "auc_roc,fpr_at_95_tpr").out
        assert "by .1" in text
        assert " AUC-ROC (p < .0001)" in text
        assert "good has the best FPR95" in text
        assert "without a test (it jumps" in text
        assert "ODS F" not in text

    @pytest.mark.parametrize("form", ["table", "markdown", "json"])
    def test_has_the_notes_of_show_each_once(self, segbench, tmp_path, form):
        truth, *folders = write_methods(tmp_path, {"soft": 2, "mask": 1, "big": 1})
        for folder, change in zip(
            folders[1:], (lambda map_: map_ // 128 * 255, lambda map_: map_.repeat(2, 0)), strict=True
        ):
            write_folder(folder, {path.name: change(np.asarray(Image.open(path))) for path in folder.iterdir()})
        kept = counted(segbench, tmp_path / "r", truth, *folders, "--resize-predictions", "bilinear")
        text = segbench("compare", kept, "--format", form).out
        for note in ("mask: two-valued predictions: ODS", "big: prediction resized, bilinear (12 of 12 images)"):
            assert note in segbench("show", kept).out
            assert text.count(note) == 1

    def test_resamples_nothing(self, segbench, results, monkeypatch):
        monkeypatch.setattr("segbench.statistics.measured.sums_of_draws", None)
        monkeypatch.setattr("segbench.statistics.measured.Measured.of_images", None)
        assert segbench("compare", results).code == 0
        assert segbench("compare", results, "--against", "good", "--fail-if-worse", "0.99").code == 0

    def test_level_is_that_asked_for(self, segbench, results):
        text = segbench("compare", results, "--intervals", "90", "--seed", "7", "--replicates", "500").out
        assert "90 % interval" in text
        assert "* p at most .10, ** .01" in text
        assert "|differences:jackknife-90|resamples:500-7" in text

    def test_fits_80_columns_with_twelve_methods_of_long_names(self, segbench, tmp_path):
        names = [f"unet_resnet50_imagenet_pretrained_lr{k:02}_augmented_seed0" for k in range(12)]
        lines = segbench("compare", write_many(segbench, tmp_path, names)).out.splitlines()
        tables = [line for line in lines if line[:2].strip() in [*"abcdefghijkl", ""]]
        assert len(tables) > 12 + 11
        assert max(map(len, tables)) <= 80
        assert all(f"lr{k:02}" in "".join(tables) for k in range(12))

    def test_of_forty_methods_shows_the_best_twenty_in_at_most_sixty_lines(self, segbench, tmp_path):
        lines = segbench("compare", write_many(segbench, tmp_path, [f"m{k:02}" for k in range(40)])).out.splitlines()
        assert "the best 20 of 40 methods" in lines
        assert len(lines) <= 60
        assert max(map(len, lines[3:24])) <= 80

    def test_leading_zeros(self, segbench, results):
        assert " [0." in segbench("compare", results, "--leading-zeros").out


class TestEverything:
    def test_has_every_pair_by_every_metric(self, segbench, results):
        lines = segbench("compare", results, "--all", *FEW).out.splitlines()
        header = next(line for line in lines if line.startswith("metric ") and " wins " in line)
        assert " ".join(header.split()) == "metric a b of a of b a - b p Holm wins ties losses"
        pairs = [line.split()[1:3] for line in lines if line.startswith("auc_roc ")][:3]
        assert pairs == [["good", "fair"], ["good", "none"], ["fair", "none"]]

    @pytest.mark.parametrize("form", ["csv", "json", "latex", "markdown"])
    def test_is_for_the_terminal(self, segbench, results, form):
        refused = segbench("compare", results, "--all", "--format", form)
        assert refused.code == 2
        insist(refused.error, "other-form", form=form)


class TestAgainst:
    def test_has_the_differences_to_one_method(self, segbench, results):
        lines = segbench("compare", results, "--against", "fair").out.splitlines()
        assert lines[0] == "Compared with fair by ODS F: 1 better, 1 worse, 0 that cannot be told apart"
        good, none = (line.split() for line in lines[3:5])
        assert (good[1], good[5][0]) == ("good", "+")
        assert (none[1], none[5][0]) == ("none", "-")

    def test_corrects_for_all_pairs_all_the_same(self, segbench, results):
        every = strict_json(segbench("compare", results, "--format", "json", "--metrics", "ods_f").out)
        some = strict_json(
            segbench("compare", results, "--format", "json", "--metrics", "ods_f", "--against", "good").out
        )
        corrected = {(row["a"], row["b"]): row["p_holm"] for row in every["answers"][0]["differences"]}
        found = {(row["b"], row["a"]): row["p_holm"] for row in some["answers"][0]["differences"]}
        assert found == {pair: p for pair, p in corrected.items() if "good" in pair}

    def test_an_unknown_method_is_refused_with_those_there_are(self, segbench, results):
        refused = segbench("compare", results, "--against", "best")
        assert refused.code == 2
        insist(refused.error, "unknown-baseline", method="best", methods="good, fair, none")


class TestFailIfWorse:
    def test_worse_exits_with_3(self, segbench, results):
        found = segbench("compare", results, "--against", "good", "--methods", "good,fair", "--fail-if-worse", "0.01")
        assert found.code == 3
        assert found.err.startswith("worse: fair is worse than good")
        assert len(found.err.splitlines()) == 1

    def test_the_same_predictions_are_not_worse(self, segbench, tmp_path):
        truth, good = write_methods(tmp_path, {"good": 2})
        kept = counted(segbench, tmp_path / "r", truth, good, f"again={good}")
        found = segbench("compare", kept, "--against", "good", "--fail-if-worse", "0", *AS_JSON)
        assert found.code == 0
        assert (outcome_of(found)["outcome"], outcome_of(found)["difference"]) == ("not worse", 0)

    def test_an_interval_with_the_margin_is_undecided(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 1, "b": 1})
        kept = counted(segbench, tmp_path / "r", *folders)
        found = segbench("compare", kept, "--against", "a", "--fail-if-worse", "0", *AS_JSON)
        assert found.code == 4
        outcome = outcome_of(found)
        assert [outcome[key] for key in ("metric", "method", "outcome", "reason")] == ["ods_f", "b", "undecided", ""]
        assert outcome["interval"][0] < 0 < outcome["interval"][1]

    def test_where_lower_is_better_higher_is_worse(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"good": 3, "bad": 0})
        kept = counted(segbench, tmp_path / "r", *folders, verb="saliency")
        for baseline, code in (("good", 3), ("bad", 0)):
            found = segbench(
                "compare", kept, "--metrics", "mae", "--against", baseline, "--fail-if-worse", "0.01", "--format", "csv"
            )
            assert found.code == code

    @pytest.mark.parametrize("images", [1, 5])
    def test_too_few_images_are_undecided(self, segbench, tmp_path, images):
        folders = write_methods(tmp_path, {"a": 2, "b": 0}, images=images)
        kept = counted(segbench, tmp_path / "r", *folders)
        found = segbench("compare", kept, "--against", "a", "--fail-if-worse", "0.01", *AS_JSON)
        assert found.code == 4
        outcome = outcome_of(found)
        assert [outcome[key] for key in ("metric", "method", "outcome")] == ["ods_f", "b", "undecided"]
        assert outcome["interval"] is None
        assert "6 images" in outcome["reason"]

    def test_an_undefined_metric_is_undecided(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2, "b": 0})
        write_folder(folders[0], {path.name: np.zeros((12, 17), np.uint8) for path in folders[0].iterdir()})
        assert segbench("pixels", *folders, "--positive", "255", "-o", tmp_path / "r").code == 1
        found = segbench("compare", tmp_path / "r", "--against", "a", "--fail-if-worse", "0.01", *AS_JSON)
        assert found.code == 4
        outcome = outcome_of(found)
        assert (outcome["outcome"], outcome["reason"]) == ("undecided", "no positive pixels")

    def test_images_missing_in_one_method_are_a_problem_of_the_data(self, segbench, results, tmp_path):
        counted(segbench, results, *write_methods(tmp_path / "fewer", {"few": 1}, images=3))
        found = segbench("compare", results, "--against", "good", "--fail-if-worse", "0.01")
        assert found.code == 1
        insist(found.error, "other-images", path="good, fair, none, few", methods=("good", "fair", "none", "few"))
        assert len(found.err.splitlines()) == 1

    @pytest.mark.parametrize(
        ("options", "kind", "values"),
        [
            (["--fail-if-worse", "0.01"], "no-baseline", {"against": Setting("against", "METHOD")}),
            (["--against", "good", "--fail-if-worse", "-0.1"], "wrong-value", {"value": -0.1}),
            (
                ["--against", "good", "--fail-if-worse", "nan"],
                "wrong-value",
                {"value": pytest.approx(np.nan, nan_ok=True)},
            ),
            (["--against", "best", "--fail-if-worse", "0.01"], "unknown-baseline", {"methods": "good, fair, none"}),
            (
                ["--against", "good", "--fail-if-worse", "0.01", "--metrics", "ods_precision"],
                "neutral-metric",
                {"metrics": "ods_precision"},
            ),
            (
                ["--against", "good", "--fail-if-worse", "1"],
                "whole-range",
                {"margin": 1, "metric": "ods_f", "range": 1, "share": 0.01},
            ),
        ],
    )
    def test_a_wrong_command_line_exits_with_2(self, segbench, results, options, kind, values):
        found = segbench("compare", results, *options)
        assert found.code == 2
        insist(found.error, kind, **values)
        assert len(found.err.splitlines()) == 1

    def test_is_in_json(self, segbench, results):
        found = segbench("compare", results, "--against", "good", "--fail-if-worse", "0.01", "--format", "json", *FEW)
        check = strict_json(found.out)["check"]
        assert (check["baseline"], check["margin"], check["exit_code"]) == ("good", 0.01, 3)


class TestClasses:
    @pytest.fixture
    def kept(self, segbench, tmp_path):
        """A results file of two methods, of which one finds a single class of three better."""
        rng = np.random.default_rng(0)
        truth = {f"{k}.png": rng.integers(0, 3, (8, 9)).astype(np.uint8) for k in range(8)}
        folders = [write_folder(tmp_path / "gt", truth)]
        for name, skill in (("one", (1, 1, 3)), ("other", (1, 1, 1))):
            scores = {
                image.replace("png", "npy"): np.stack(
                    [1 / (1 + np.exp(-rng.normal(size=mask.shape) - skill[c] * (mask == c))) for c in range(3)]
                ).astype(np.float32)
                for image, mask in truth.items()
            }
            folders.append(write_folder(tmp_path / name, scores))
        return counted(segbench, tmp_path / "r.segbench", *folders, "--classes", "0-2")

    def test_all_of_two_methods_is_one_table(self, segbench, kept):
        lines = segbench("compare", kept, "--class", "all").out.splitlines()
        assert lines[0] == (
            "By ODS F, one is better than other in 1 of 3 classes, worse in none; in 2 they cannot be told apart"
        )
        assert lines[2].split() == ["class", "one", "other", "difference", "95", "%", "interval", "p"]
        document = strict_json(segbench("compare", kept, "--class", "all", *AS_JSON, "--metrics", "ods_f").out)
        rows = {each["class"]: each["differences"][0] for each in document["answers"]}
        assert [line.split()[0] for line in lines[3:6]] == [*rows] == ["0", "1", "2"]
        for line, row in zip(lines[3:6], rows.values(), strict=True):
            cells = line.replace("< ", "").replace("[", "").replace(",", "").replace("]", "").split()[1:]
            fields = "estimate_a", "estimate_b", "difference", "low", "high", "p_holm"
            expected = [max(row[field], 1e-4) if field == "p_holm" else row[field] for field in fields]
            assert list(map(float, cells)) == pytest.approx(expected, abs=6e-5)
        assert lines[6] == "difference: one - other"
        assert "after Holm's correction for all pairs of all 3 classes" in lines[7]
        assert sum("Holm's correction raises each p" in line for line in lines) == 1

    def test_all_of_two_methods_is_a_table_for_each_metric(self, segbench, kept):
        text = segbench("compare", kept, "--class", "all", "--metrics", "ods_f,fpr_at_95_tpr").out
        assert text.count("\nclass ") == 2
        assert "one and other by FPR95 in 3 classes, without a test" in text
        assert "difference: one - other; lower is better" in text

    def test_all_against_one_method_is_the_table_of_the_other_minus_it(self, segbench, kept):
        lines = segbench("compare", kept, "--class", "all", "--against", "one").out.splitlines()
        assert "other is better than one in none of 3 classes, worse in 1" in lines[0]
        assert lines[2].split()[:3] == ["class", "other", "one"]
        assert lines[6] == "difference: other - one"

    def test_all_of_two_methods_by_the_signed_rank_test(self, segbench, kept):
        options = "--class", "all", "--test", "signed-rank"
        lines = segbench("compare", kept, *options).out.splitlines()
        assert "; judged by mean F" in lines[0]
        assert lines[6] == "difference: one - other; Hodges-Lehmann estimate of the differences of images"
        row = strict_json(segbench("compare", kept, *options, *AS_JSON).out)["answers"]
        expected = {
            each["class"]: each["differences"][0]["signed_rank"] for each in row if each["metric"] == "mean_image_f"
        }
        shown = {cells[0]: float(cells[3]) for cells in map(str.split, lines[3:6])}
        assert shown == {name: pytest.approx(ranks["difference"], abs=6e-5) for name, ranks in expected.items()}

    def test_all_of_methods_with_long_names_fits_a_terminal(self, segbench, kept):
        names = f"one={'a_network_' * 4}1,other={'a_network_' * 4}2"
        lines = segbench("compare", kept, "--class", "all", "--names", names).out.splitlines()
        assert lines[2].startswith("class")
        assert max(map(len, lines[2:6])) <= 80
        first, second = lines[2].split()[1:3]
        assert first != second

    def test_all_of_two_methods_says_where_one_finds_nothing(self, segbench, tmp_path):
        rng = np.random.default_rng(0)
        truths = {f"{k}.png": rng.integers(0, 3, (9, 10)).astype(np.uint8) for k in range(10)}
        noisy = {name: np.where(rng.random((9, 10)) < 0.3, 0, truth).astype(np.uint8) for name, truth in truths.items()}
        lacking = {name: np.where((truth == 2) & (name < "2"), 1, truth) for name, truth in noisy.items()}
        maps = (("gt", truths), ("whole", noisy), ("lacking", lacking))
        folders = [write_folder(tmp_path / name, of_side) for name, of_side in maps]
        kept = counted(segbench, tmp_path / "r.segbench", *folders, "--classes", "0-2", verb="contours")
        text = segbench("compare", kept, "--class", "all", "--metrics", "hd95").out
        assert "\n2: on the 8 of 10 images that both have; lacking finds nothing in 2\n" in text
        assert "1: on the" not in text

    def test_all_of_three_methods_answers_by_each_class(self, segbench, kept, tmp_path):
        truth, third = tmp_path / "gt", tmp_path / "third"
        shutil.copytree(tmp_path / "other", third)
        counted(segbench, kept, truth, third, "--classes", "0-2")
        lines = segbench("compare", kept, "--class", "all").out.splitlines()
        verdicts = [line.split(":")[0] for line in lines if line[:3] in ("0: ", "1: ", "2: ")]
        assert verdicts[:3] == ["0", "1", "2"]
        assert sum("Holm's correction raises each p" in line for line in lines) == 1

    def test_outcomes_of_a_check_name_the_class_as_answers_do(self, segbench, kept):
        options = [
            "--class",
            "all",
            "--against",
            "one",
            "--fail-if-worse",
            "0.9",
            "--format",
            "json",
            "--metrics",
            "ods_f",
        ]
        document = strict_json(segbench("compare", kept, *options).out)
        assert [each["class"] for each in document["check"]["outcomes"]] == ["0", "1", "2"]

    def test_all_says_of_which_class_images_are_unequal(self, segbench, tmp_path):
        truths = {f"{k}.png": np.repeat(np.uint8([0, k % 3 == 0, 2]), 20).reshape(6, 10) for k in range(9)}
        predicted = {name: np.roll(truth, 3) for name, truth in truths.items()}
        folders = [
            write_folder(tmp_path / name, maps) for name, maps in (("gt", truths), ("a", predicted), ("b", truths))
        ]
        path = tmp_path / "unequal.segbench"
        assert segbench("labels", *folders, "--classes", "0-2", "-o", path).code == 0
        lines = segbench("compare", path, "--class", "all").out.splitlines()
        assert [line.split(":")[0] for line in lines if "only 3 of 9 images count in it" in line] == ["1"]
        assert [line for line in lines if "over fewer than 10 are unreliable" in line] == [
            "9 images: intervals over fewer than 10 are unreliable"
        ]

    @pytest.mark.parametrize("groups", [("--group-by", "folder"), ("--group-by", "folder", "--group", "a")])
    def test_all_has_means_of_groups_as_one_class_has(self, segbench, tmp_path, groups):
        rng = np.random.default_rng(0)
        truths = {f"{group}/{k}.png": rng.integers(0, 3, (6, 10)).astype(np.uint8) for group in "ab" for k in range(6)}
        noisy = {name: np.where(rng.random((6, 10)) < 0.3, 0, truth).astype(np.uint8) for name, truth in truths.items()}
        noisier = {
            name: np.where(rng.random((6, 10)) < 0.5, 0, truth).astype(np.uint8) for name, truth in noisy.items()
        }
        maps = (("gt", truths), ("noisy", noisy), ("noisier", noisier))
        folders = [write_folder(tmp_path / name, of_side) for name, of_side in maps]
        path = tmp_path / "groups.segbench"
        assert segbench("labels", *folders, "--classes", "0-2", "-o", path).code == 0

        def estimates(name):
            document = strict_json(segbench("compare", path, "--class", name, *groups, "--format", "json").out)
            return [[one["estimate"] for one in each["standings"]] for each in document["answers"]]

        alone = [estimates(name) for name in "012"]
        assert estimates("all") == [*alone[0], *alone[1], *alone[2]]

    def test_all_corrects_over_classes(self, segbench, kept):
        document = strict_json(
            segbench("compare", kept, "--class", "all", "--format", "json", "--metrics", "ods_f").out
        )
        rows = {each["class"]: each["differences"][0] for each in document["answers"]}
        assert rows["2"]["p_holm"] == pytest.approx(3 * rows["2"]["p_value"])
        alone = strict_json(segbench("compare", kept, "--class", "2", "--format", "json", "--metrics", "ods_f").out)
        assert alone["answers"][0]["differences"][0]["p_holm"] == rows["2"]["p_value"]

    @pytest.mark.parametrize("verb", ["labels", "contours"])
    def test_all_leaves_out_the_background_that_is_in_no_mean(self, segbench, tmp_path, verb):
        rng = np.random.default_rng(4)
        truths, good, fair = {}, {}, {}
        for k in range(9):
            maps = np.zeros((3, 24, 24), np.uint8)
            for one, off in zip(maps, (0, 1, 3), strict=True):
                one[2 + off : 9, 2 : 9 + k % 3] = 1
                one[12 : 20 - off, int(rng.integers(2, 9)) : 20] = 2
            truths[f"{k}.png"], good[f"{k}.png"], fair[f"{k}.png"] = maps
        folders = [write_folder(tmp_path / name, maps) for name, maps in (("gt", truths), ("a", good), ("b", fair))]
        path = tmp_path / "organs.segbench"
        assert segbench(verb, *folders, "--classes", "0,liver=1,spleen=2", "--background", "0", "-o", path).code == 0
        answer = segbench("compare", path, "--class", "all", "--format", "json", "--metrics", "dice")
        rows = {each["class"]: each["differences"][0] for each in strict_json(answer.out)["answers"]}
        assert rows.keys() == {"liver", "spleen"}
        largest = max(rows.values(), key=lambda row: row["p_value"])
        smallest = min(rows.values(), key=lambda row: row["p_value"])
        assert smallest["p_holm"] == pytest.approx(min(2 * smallest["p_value"], 1))
        assert largest["p_holm"] == pytest.approx(max(largest["p_value"], smallest["p_holm"]))
        advice = answer.err.rpartition(": ")[2].split()
        assert advice == ["--class", "0"]
        assert segbench("compare", path, *advice, "--metrics", "dice").code == 0

    def test_all_has_classes_in_csv_and_in_one_table_for_a_paper(self, segbench, kept):
        rows = list(
            csv.DictReader(io.StringIO(segbench("compare", kept, "--class", "all", "--format", "csv", *FEW).out))
        )
        assert {row["class"] for row in rows} == {"0", "1", "2"}
        text = segbench("compare", kept, "--class", "all", "--format", "latex").out
        assert text.count(r"\begin{tabular}") == 1
        assert "all pairs of all 3 classes" in text

    def test_a_file_without_classes_is_refused(self, segbench, results):
        refused = segbench("compare", results, "--class", "all")
        assert refused.code == 2
        insist(refused.error, "no-parts", parts="classes")


class TestForms:
    def test_json_holds_everything_of_every_pair_and_method(self, segbench, results):
        document = strict_json(segbench("compare", results, "--format", "json").out)
        found = answer_by(document, "ods_f")
        assert found["verdict"].startswith("good leads fair")
        assert (found["leader"], found["not_worse"], found["better"]) == ("good", ["good"], "higher")
        first = found["standings"][0]
        assert first["low"] < first["estimate"] < first["high"]
        assert (first["letter"], first["better_than"], first["rank_shares"]) == ("a", ["fair", "none"], [1, 0, 0])
        assert first["standard_error"] > 0
        assert 2 <= first["freedom"] <= 11
        (row,) = (row for row in found["differences"] if (row["a"], row["b"]) == ("good", "none"))
        assert row["difference"] == pytest.approx(row["estimate_a"] - row["estimate_b"])
        assert 0 < row["low"] < row["difference"] < row["high"]
        assert 0 < row["p_value"] < row["p_holm"] < 0.05
        assert (row["wins"], row["ties"], row["losses"], row["undefined"]) == (12, 0, 0, {})

    def test_csv_has_a_line_a_metric_and_pair_with_all_digits(self, segbench, results):
        rows = list(csv.DictReader(io.StringIO(segbench("compare", results, "--format", "csv").out)))
        document = strict_json(segbench("compare", results, "--format", "json").out)
        expected = [row["low"] for each in document["answers"] for row in each["differences"]]
        assert [float(row["low"]) if row["low"] else None for row in rows] == expected

    def test_intervals_of_a_pair_in_csv_are_of_what_both_have(self, segbench, tmp_path):
        def square(size):
            return np.pad(np.full((size, size), 255, np.uint8), (4, 20 - size))

        sizes = {"gt": [12] * 16, "most": [11, 10] * 4 + [5, 6] * 4, "half": [9, 10] * 4 + [0] * 8}
        for name, of_images in sizes.items():
            write_folder(tmp_path / name, {f"{k:02}.png": square(size) for k, size in enumerate(of_images)})
        methods = [f"{name}={tmp_path / name}" for name in ("most", "half")]
        path = counted(segbench, tmp_path / "r.segbench", tmp_path / "gt", *methods, verb="contours")
        text = segbench("compare", path, "--metrics", "hd95", "--against", "most", "--format", "csv").out
        (row,) = csv.DictReader(io.StringIO(text))
        assert (row["a"], row["b"]) == ("half", "most")
        for side in "ab":
            assert float(row[f"low_{side}"]) < float(row[f"estimate_{side}"]) < float(row[f"high_{side}"])

    @pytest.mark.parametrize(
        ("form", "mark", "raised"),
        [("markdown", "|---", "<sup>b,c</sup>"), ("latex", "\\toprule", "\\textsuperscript{b,c}")],
    )
    def test_papers_have_one_table_with_marks_of_significance(self, segbench, results, form, mark, raised):
        text = segbench("compare", results, "--format", form, "--metrics", "ods_f,auc_roc").out
        assert text.replace(":", "").count(mark.replace(":", "")) >= 1
        (good,) = (line for line in text.splitlines() if " good " in line)
        assert good.count(raised) == 2
        assert "OIS" not in text
        assert "Holm's correction for all pairs" in text

    def test_papers_have_intervals_where_asked_for(self, segbench, results):
        assert "[" not in segbench("compare", results, "--format", "latex").out
        text = segbench("compare", results, "--format", "latex", "--intervals", "90").out
        assert "brackets: 90 % intervals" in text
        assert "] " in text.replace("]}", "] ")

    def test_papers_mark_differences_to_one_method_with_stars(self, segbench, results):
        text = segbench("compare", results, "--format", "latex", "--metrics", "ods_f", "--against", "fair").out
        marked = [line.split("&")[1].strip() for line in text.splitlines() if "textsuperscript{*}" in line]
        assert marked == ["good", "none"]

    def test_latex_superscripts_take_no_width_of_their_column(self, segbench, results):
        text = segbench("compare", results, "--format", "latex", "--metrics", "ods_f,ods_precision").out
        assert text.startswith(r"\begin{tabular}{@{}l@{\hspace{0.70em}}l@{\hspace{0.70em}}r@{\hspace{1.40em}}r@{}}")
        assert text.count(r"}\rlap{\textsuperscript{b,c}}") + text.count(r"}\rlap{\textsuperscript{c}}") == 2

    def test_papers_explain_the_underline_that_only_latex_has(self, segbench, results):
        assert "underlined: second best" in segbench("compare", results, "--format", "latex").out
        assert "underlined" not in segbench("compare", results, "--format", "markdown").out

    def test_no_p_value_is_printed_smaller_than_it_can_be_known(self, segbench, results):
        (row,) = segbench("compare", results, "--against", "none", "--methods", "good,none").out.splitlines()[3:4]
        assert row.split()[-2:] == ["<", ".0001"]


class TestChoice:
    def test_methods_stand_in_the_order_asked_for(self, segbench, results):
        document = strict_json(segbench("compare", results, "--methods", "none,good", "--format", "json", *FEW).out)
        assert {(row["a"], row["b"]) for each in document["answers"] for row in each["differences"]} == {
            ("none", "good")
        }

    @pytest.mark.parametrize(
        ("options", "kind", "values"),
        [
            (["--methods", "good"], "too-few-methods", {"methods": ("good",)}),
            (["--methods", "good,gone"], "unknown-methods", {"unknown": ("gone",), "known": ("good", "fair", "none")}),
            (["--metrics", "lpips"], "unknown-metric", {"option": "--metrics", "unknown": ("lpips",)}),
            (["--intervals", "0.95"], "wrong-value", {"value": 0.95}),
            (["--intervals", "100"], "wrong-value", {"value": 100}),
            (
                ["--only", "protocol:regions"],
                "matches-nothing",
                {"typed": "protocol:regions", "methods": ("good", "fair", "none")},
            ),
        ],
    )
    def test_what_is_not_there_is_named_with_what_is(self, segbench, results, options, kind, values):
        answer = segbench("compare", results, *options)
        assert answer.code == 2
        insist(answer.error, kind, **values)

    def test_runs_of_one_name_are_told_apart_by_signature(self, segbench, results, tmp_path):
        counted(segbench, results, tmp_path / "gt", tmp_path / "good", tmp_path / "fair", "--positive", "255")
        answer = segbench("compare", results)
        assert answer.code == 2
        insist(answer.error, "several-of-one-name", methods=("fair", "good"))
        answer = segbench("compare", results, "--only", "positive:255", "--format", "csv", *FEW)
        assert answer.code == 0
        assert {line.split(",")[1] for line in answer.out.splitlines()[1:]} == {"good"}

    def test_two_runs_of_one_name_are_chosen_by_their_names_in_tables(self, segbench, tmp_path):
        truth, good = write_methods(tmp_path, {"good": 2})
        kept = counted(segbench, tmp_path / "two.segbench", truth, good)
        counted(segbench, kept, truth, good, "--invert", "--scale", "2", "--no-check")
        names = ["good (invert:no, scale:none)", "good (invert:yes, scale:2)"]
        insist(segbench("compare", kept).error, "several-of-one-name", methods=("good",), choices=tuple(names))
        found = segbench("compare", kept, "--methods", f"{names[1]},{names[0]}", "--format", "json", *FEW)
        (row,) = answer_by(strict_json(found.out), "ods_f")["differences"]
        assert (row["a"], row["b"]) == (names[1], names[0])
        unknown = segbench("compare", kept, "--methods", "bad").error
        insist(unknown, "unknown-methods", unknown=("bad",), known=tuple(names))
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
        insist(refused.error, "unknown-runs", given=("'unfair'",))
        assert repr(wrong) in refused.error.values["known"]
        assert not (tmp_path / "other.segbench").exists()


class TestMetricsThatDisagree:
    """One method ranks pixels perfectly with scores around .5, the other has probabilities and some wrong pixels."""

    LINE = "metrics disagree, each significantly: sure is better than vague by brier but worse by ods_f"

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
        chosen = ("compare", file, "--metrics", "brier", *FEW, "--format")
        assert self.LINE in segbench(*chosen, "table").out.splitlines()
        assert f"% {self.LINE}" in segbench(*chosen, "latex").out.splitlines()
        notes = strict_json(segbench(*chosen, "json").out)["notes"]
        assert {"metrics-disagree": self.LINE}.items() <= {note["kind"]: note["text"] for note in notes}.items()
        assert "metrics disagree" not in segbench("compare", file, "--metrics", "ods_f", *FEW).out


class TestDirections:
    def test_the_answer_says_where_lower_is_better(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"good": 3, "bad": 0})
        text = segbench("compare", counted(segbench, tmp_path / "r", *folders, verb="saliency"), "--metrics", "mae").out
        assert text.startswith("good leads bad by .")
        assert "lower is better; better than: p of the paired jackknife t-test at most .05\n" in text

    def test_latex_has_titles_with_arrows_and_names_its_package(self, segbench, results):
        shown = segbench("compare", results, "--format", "latex", "--metrics", "ods_f,fpr_at_95_tpr").out
        assert "ODS F $\\uparrow$" in shown
        assert "FPR95 $\\downarrow$" in shown
        assert "% needs \\usepackage{booktabs}" in shown


def test_python_prints_the_same_answer(segbench, results):
    said = segbench("compare", results).out.splitlines()[0]
    assert str(compare(load_results(results))).splitlines()[0] == said


class TestSignedRank:
    @pytest.fixture
    def contours(self, segbench, tmp_path):
        """Count squares that are moved: twice as far by the method b, and once each as far as 1 to 8 pixels by a."""
        square = np.zeros((14, 40), np.uint8)
        square[3:11, 3:11] = 255
        steps = {"gt": [0] * 8, "a": [1, 2, 3, 4, 5, 6, 7, 8], "b": [2, 4, 6, 8, 10, 12, 14, 16], "c": [20] * 8}
        folders = [
            write_folder(tmp_path / name, {f"{k}.png": np.roll(square, step, 1) for k, step in enumerate(moved)})
            for name, moved in steps.items()
        ]
        return counted(segbench, tmp_path / "contours.segbench", *folders, verb="contours")

    def test_answers_by_the_headline_that_is_a_mean(self, segbench, contours):
        lines = segbench("compare", contours, "--test", "signed-rank", "--methods", "a,b").out.splitlines()
        assert lines[0].startswith("a leads b by 4.5")
        assert lines[0].endswith("(Hodges-Lehmann estimate; signed-rank test, p = .008; 8 wins, 0 ties, 0 losses)")
        assert "p of the signed-rank test at most .05" in lines[5]
        assert "|differences:signed-rank-95|" in lines[-1]

    def test_says_that_the_headline_is_no_mean(self, segbench, results):
        first = segbench("compare", results, "--test", "signed-rank").out.splitlines()[0]
        assert first.startswith("good leads fair by .")
        assert first.endswith("; judged by mean F, the first mean over images, since ODS F is none")

    def test_all_prints_both_tests_the_one_that_decides_first(self, segbench, results):
        by_ranks = segbench("compare", results, "--test", "signed-rank", "--all").out
        by_t = segbench("compare", results, "--all").out
        ranks, t = "p: two-sided, of the signed-rank test over images", "p: two-sided, of Student's t over images"
        assert by_ranks.index(ranks) < by_ranks.index(t)
        assert by_t.index(t) < by_t.index(ranks)

    def test_against_one_method_names_test_wins_ties_and_losses(self, segbench, contours):
        text = segbench("compare", contours, "--test", "signed-rank", "--against", "b").out
        assert (
            "a - b: Hodges-Lehmann estimate of the differences of images, with its 95 % interval; wins: images" in text
        )
        (row,) = (line.split() for line in text.splitlines() if line.startswith("hd95   a b "))
        assert row[5] == "-4.5000"
        assert row[-3:] == ["8", "0", "0"]

    def test_a_pair_of_too_few_differences_is_said_below_the_pairs(self, segbench, contours, tmp_path):
        few = (
            "p: two-sided, of the signed-rank test over images, which cannot be .05 or less with fewer than 6 wins and"
        )
        options = ("--test", "signed-rank", "--all")
        assert few not in segbench("compare", contours, *options, "--metrics", "hd95").out
        square = np.zeros((14, 40), np.uint8)
        square[3:11, 3:11] = 255
        steps = {"gt": [0] * 8, "near": [1] * 8, "far": [1, 1, 1, 2, 2, 2, 2, 2]}
        folders = [
            write_folder(tmp_path / name, {f"{k}.png": np.roll(square, step, 1) for k, step in enumerate(moved)})
            for name, moved in steps.items()
        ]
        kept = counted(segbench, tmp_path / "few.segbench", *folders, verb="contours")
        text = segbench("compare", kept, *options, "--metrics", "hd95").out
        assert few in text
        assert "5 differences are not 0, and with fewer than 6 p cannot be .05 or less" in text.splitlines()[0]

    def test_json_has_both_tests_and_which_decides(self, segbench, contours):
        document = strict_json(segbench("compare", contours, "--test", "signed-rank", "--format", "json").out)
        assert (document["schema"], document["test"], document["judged_by"]) == (3, "signed-rank", "hd95")
        (row,) = (row for row in answer_by(document, "hd95")["differences"] if (row["a"], row["b"]) == ("a", "b"))
        assert row["signed_rank"] == {
            "difference": -4.5,
            "low": -7.0,
            "high": -2.0,
            "p_value": 2 / 2**8,
            "p_holm": 3 * 2 / 2**8,
            "undefined": {},
        }
        assert row["p_value"] not in (None, row["signed_rank"]["p_value"])
        assert answer_by(document, "hd95")["leader"] == "a"

    def test_json_of_the_t_test_has_both_too(self, segbench, results):
        document = strict_json(segbench("compare", results, *FEW, "--format", "json").out)
        assert (document["test"], document["judged_by"]) == ("t-test", "ods_f")
        (row,) = (row for row in answer_by(document, "mean_image_f")["differences"] if row["b"] == "fair")
        assert row["signed_rank"]["p_value"] == 2 / 2**12
        assert all(row["signed_rank"] is None for row in answer_by(document, "ods_f")["differences"])

    def test_csv_has_both_tests(self, segbench, contours):
        rows = list(csv.DictReader(io.StringIO(segbench("compare", contours, "--format", "csv").out)))
        row = next(row for row in rows if (row["metric"], row["a"], row["b"]) == ("hd95", "a", "b"))
        assert (row["hodges_lehmann"], row["hodges_lehmann_low"], row["hodges_lehmann_high"]) == (
            "-4.5",
            "-7.0",
            "-2.0",
        )
        assert float(row["signed_rank_p"]) == 2 / 2**8

    def test_papers_name_the_test(self, segbench, contours):
        text = segbench("compare", contours, "--test", "signed-rank", "--format", "latex").out
        assert "(p at most .05, signed-rank test over 8 images, after Holm's correction for all pairs by each" in text

    @pytest.mark.parametrize(
        ("against", "margin", "code", "decision", "estimate"),
        [
            ("a", "1", 3, "worse", 4.5),
            ("a", "3", 4, "undecided", 4.5),
            ("b", "1", 0, "not worse", -4.5),
        ],
    )
    def test_fails_by_the_interval_of_the_estimate(self, segbench, contours, against, margin, code, decision, estimate):
        options = ("--methods", "a,b", "--test", "signed-rank", "--against", against, "--fail-if-worse", margin)
        found = segbench("compare", contours, *options, *AS_JSON)
        assert found.code == code
        outcome = outcome_of(found)
        assert (outcome["metric"], outcome["outcome"], outcome["difference"]) == ("hd95", decision, estimate)

    def test_p_decides_where_ties_make_the_interval_say_otherwise(self, segbench, tmp_path):
        # p of -1 (seven), -3, -3 and 2 is .059, with the interval [-2, -.5]; of -3 (five), -2, 1 and 2 it is .047, with
        # the interval [-3, 0].
        square = np.zeros((14, 40), np.uint8)
        square[3:11, 3:11] = 255
        steps = [([5] * 10, [6, 6, 6, 6, 6, 6, 6, 8, 8, 3], 4), ([5] * 8, [8, 8, 8, 8, 8, 7, 4, 3], 3)]
        for a, b, code in steps:
            moved = {"gt": [0] * len(a), "a": a, "b": b}
            folders = [
                write_folder(
                    tmp_path / f"{name}{code}", {f"{k}.png": np.roll(square, s, 1) for k, s in enumerate(each)}
                )
                for name, each in moved.items()
            ]
            named = folders[0], *(f"{name}={folder}" for name, folder in zip("ab", folders[1:], strict=True))
            kept = counted(segbench, tmp_path / f"{code}.segbench", *named, verb="contours")
            options = ("--test", "signed-rank", "--against", "a", "--fail-if-worse", "0")
            assert segbench("compare", kept, *options).code == code

    def test_groups_are_refused_with_what_to_do(self, segbench, tmp_path):
        folders = write_methods(tmp_path / "flat", {"good": 2, "fair": 1})
        for folder in folders:
            for k, path in enumerate(sorted(folder.iterdir())):
                (folder / f"g{k % 2}").mkdir(exist_ok=True)
                path.rename(folder / f"g{k % 2}" / path.name)
        kept = counted(segbench, tmp_path / "r.segbench", *folders, "--group-by", "folder")
        refused = segbench("compare", kept, "--group-by", "folder", "--test", "signed-rank")
        assert refused.code == 2
        insist(refused.error, "ranks-of-parts", given=Setting("test", "signed-rank"))
        assert segbench("compare", kept, "--group", "g0", "--test", "signed-rank").code == 0

    def test_report_says_which_test(self, segbench, contours, tmp_path):
        for options, test in (((), "paired jackknife t-test"), (("--test", "signed-rank"), "signed-rank test")):
            page = tmp_path / "r.html"
            assert segbench("report", contours, "-o", page, "--panels", "0", *options).code == 0
            assert f"p of the {test}, after Holm" in page.read_text()
        said = page.read_text().replace("<wbr>", "")
        assert re.search(r"Hodges-Lehmann estimate; signed-rank test, p = [.\d]+; 8 wins, 0 ties, 0 losses\)", said)

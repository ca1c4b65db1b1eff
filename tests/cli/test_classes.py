import csv
import io
import json

import numpy as np
import pytest
from cases import write_folder
from refusing import insist

from segbench.core.messages import Setting


@pytest.fixture
def folders(tmp_path):
    """Write label maps with scores of three classes in both forms: stacks, and a folder a class."""
    rng = np.random.default_rng(6)
    truths = {f"im {k}.png": rng.integers(0, 3, (10, 12)).astype(np.uint8) for k in range(3)}
    truths["im 1.png"][0] = 255
    stacks, maps, wide = {}, {}, {}
    for name, truth in truths.items():
        stack = np.stack([rng.integers(0, 180, truth.shape) + 70 * (truth == k) for k in range(3)]).astype(np.uint8)
        stacks[name.replace("png", "npy")] = stack
        maps |= {f"class_{k:03d}/{name}": stack[k] for k in range(3)}
        wide |= {f"{k}/{name}": stack[k].astype(np.uint16) * 257 for k in range(3)}
    truth = write_folder(tmp_path / "gt", truths)
    return (
        truth,
        write_folder(tmp_path / "stacks", stacks),
        write_folder(tmp_path / "maps", maps),
        write_folder(tmp_path / "wide", wide),
    )


def test_every_form_gives_the_same_figures(segbench, folders):
    answer = segbench("pixels", *folders, "--classes", "0-2", "--format", "json", "--per-class")
    assert answer.code == 0, answer.err
    stacks, maps, wide = json.loads(answer.out)["runs"]
    assert stacks["summary"] == maps["summary"] == wide["summary"]
    assert stacks["per_class"] == maps["per_class"] == wide["per_class"]
    assert list(stacks["per_class"]) == ["0", "1", "2"]
    mean = np.mean([part["summary"]["ods_f"] for part in stacks["per_class"].values()])
    assert stacks["summary"]["macro_ods_f"] == pytest.approx(mean)
    assert stacks["summary"]["ignored"] == 12
    assert "classes:0-2|void:255|" in stacks["signature"]
    (note,) = maps["notes"]
    assert note["kind"] == "predictions-by-class"
    assert note["values"]["predictions"] == ["class_000", "class_001", "class_002"]
    assert note["values"]["classes"] == ["label 0", "label 1", "label 2"]


def test_few_classes_are_printed_below_the_run(segbench, folders, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("# of the drawing\n0 road\n1\tperson\n\n2, car or van\n")
    answer = segbench("pixels", *folders[:2], "--classes", names)
    assert "- macro -" in answer.out
    assert "\ncar or van stacks " in answer.out
    assert "road (label 0)" in answer.out


def test_show_compare_plot_export_of_classes(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    assert segbench("pixels", *folders[:3], "--classes", "person=1,road=0,car=2", "-o", kept).code == 0
    rows = list(csv.DictReader(io.StringIO(segbench("show", kept, "--per-class", "--format", "csv").out)))
    assert [(row["method"], row["class"]) for row in rows[:3]] == [("stacks", c) for c in ("person", "road", "car")]
    one = segbench("show", kept, "--class", "car", "--format", "json")
    (car, _) = json.loads(one.out)["runs"]
    assert car["protocol"] == "pixels"
    assert repr(car["summary"]["auc_pr"]) == rows[2]["auc_pr"]
    for form in ("markdown", "latex"):
        assert "person" in segbench("show", kept, "--per-class", "--format", form).out
    assert "person" in segbench("show", kept, "--per-class", "--intervals", "95").out
    assert segbench("show", kept, "--per-image").out.count("im 1") == 2
    assert "the best macro ODS" in segbench("compare", kept).out
    assert "the best ODS F" in segbench("compare", kept, "--class", "car").out
    assert segbench("plot", kept, "-o", tmp_path / "all.svg").code == 0
    assert "stacks, classes added up" in (tmp_path / "all.svg").read_text()
    assert segbench("plot", kept, "--class", "car", "--kind", "roc", "-o", tmp_path / "car.png").code == 0


@pytest.fixture
def with_classes(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    assert segbench("pixels", *folders[:3], "--classes", "person=1,road=0,car=2", "-o", kept).code == 0
    return kept


def test_each_class_of_each_image_has_a_row(segbench, with_classes):
    shown = segbench("show", with_classes, "--per-class", "--per-image", "--format", "csv").out
    rows = {(row["class"], row["method"], row["image"]): row for row in csv.DictReader(io.StringIO(shown))}
    assert list(dict.fromkeys(key[:2] for key in rows)) == [
        (name, method) for method in ("stacks", "maps") for name in ("person", "road", "car")
    ]
    of_car = segbench("show", with_classes, "--class", "car", "--per-image", "--format", "csv").out
    for row in csv.DictReader(io.StringIO(of_car)):
        assert rows["car", row["method"], row["image"]] == {"class": "car", **row}


def test_json_has_the_images_of_each_class(segbench, with_classes):
    shown = json.loads(segbench("show", with_classes, "--per-class", "--per-image", "--format", "json").out)
    of_car = json.loads(segbench("show", with_classes, "--class", "car", "--per-image", "--format", "json").out)
    for run, car in zip(shown["runs"], of_car["runs"], strict=True):
        assert run["per_class"]["car"]["per_image"] == car["per_image"]


def test_the_worst_images_of_all_classes_come_first(segbench, with_classes):
    options = ["--per-class", "--per-image", "--sort", "f", "--format", "csv", "--metrics", "f"]
    rows = csv.DictReader(io.StringIO(segbench("show", with_classes, *options).out))
    values = [float(row["f"]) for row in rows if row["f"]]
    assert len(values) > 6
    assert values == sorted(values)


def test_images_of_classes_have_a_table_per_protocol(segbench, folders, with_classes):
    truth, classes = folders[0], "road=0,car=2,person=1,tree=7"
    assert segbench("labels", truth, f"same={truth}", "--classes", classes, "-o", with_classes).code == 0
    one = ["--positive", "1", "--no-check", "-o", with_classes]
    assert segbench("pixels", truth, folders[2] / "class_001", *one).code == 0
    answer = segbench("show", with_classes, "--per-class", "--per-image")
    headers = [line.split() for line in answer.out.splitlines() if line.startswith("class ")]
    assert [header[:3] for header in headers] == [["class", "method", "image"]] * 2
    assert "threshold" in headers[0]
    assert "threshold" not in headers[1]
    assert "tree of same: undefined (no positive pixels)" in answer.out


@pytest.mark.parametrize(
    ("options", "kind", "values"),
    [
        (["--classes", "road"], "wrong-classes", {"text": "road"}),
        (["--classes", "3-1"], "wrong-classes", {"text": "3-1", "first": 3, "last": 1}),
        (
            ["--classes", "0-2", "--positive", "1"],
            "excluding-options",
            {"options": "--positive", "others": "--classes"},
        ),
        (
            ["--classes", "0-2", "--nms", "1,5,1.01"],
            "option-of-others",
            {"typed": "--nms", "commands": ("boundaries",)},
        ),
        (["--classes", "0-2,255"], "unfit-classes", {"labels": "255", "void": Setting("void", ())}),
        (["--per-class"], "needs-classes", {"setting": Setting("classes", "0-18")}),
    ],
)
def test_options_that_do_not_go_together_are_refused(segbench, folders, options, kind, values):
    answer = segbench("pixels", *folders[:2], *options)
    assert answer.code == 2
    insist(answer.error, kind, **values)


def test_what_a_results_file_lacks_is_said(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    assert segbench("pixels", folders[0], folders[2] / "class_001", "--positive", "1", "-o", kept).code == 0
    for option in (["--per-class"], ["--class", "car"]):
        answer = segbench("show", kept, *option)
        assert answer.code == 2
        insist(answer.error, "no-parts", parts="classes")


@pytest.fixture
def mixed(segbench, folders, tmp_path):
    """Keep runs of named and of numbered classes, one whose images all failed, and one of pixels."""
    kept = tmp_path / "mixed.segbench"
    truth, stacks, maps, _ = folders
    broken = write_folder(tmp_path / "broken", {f"im {k}.npy": np.zeros((2, 10, 12), np.uint8) for k in range(3)})
    assert segbench("pixels", truth, maps, "--classes", "0-2", "-o", kept).code == 0
    assert segbench("pixels", truth, stacks, "--classes", "road=0,person=1,car=2", "-o", kept).code == 0
    assert segbench("pixels", truth, broken, "--classes", "road=0,person=1,car=2", "-o", kept, "--no-check").code == 1
    return kept


def test_a_class_is_taken_from_the_runs_that_have_it(segbench, mixed, tmp_path):
    answer = segbench("show", mixed, "--class", "car", "--format", "json")
    assert answer.code == 0
    assert [run["method"] for run in json.loads(answer.out)["runs"]] == ["stacks"]
    assert answer.err.strip().endswith(": maps, broken")
    assert segbench("plot", mixed, "--class", "2", "-o", tmp_path / "a.png").code == 0
    assert segbench("report", mixed, "--class", "2", "-o", tmp_path / "a.html").code == 0
    unknown = segbench("show", mixed, "--class", "tram")
    assert unknown.code == 2
    insist(unknown.error, "no-such-part", axis="class", known="0, 1, 2, road, person, car")


@pytest.mark.parametrize("kind", ["pr", "roc", "f", "images"])
def test_classes_and_pixels_are_not_drawn_together(segbench, folders, mixed, tmp_path, kind):
    one = folders[2] / "class_001"
    assert segbench("pixels", folders[0], one, "--positive", "1", "--void", "255", "-o", mixed).code == 0
    answer = segbench("plot", mixed, "--kind", kind, "-o", tmp_path / "a.png")
    assert answer.code == 2
    insist(answer.error, "several-protocols", protocols=("classes", "pixels"))
    assert not (tmp_path / "a.png").exists()


def test_files_of_classes_that_cannot_be_read(segbench, folders, tmp_path):
    path = tmp_path / "c.txt"
    for text, code, kind, values in (
        (b"road\n", 1, "wrong-line", {"path": str(path), "line": 1, "text": "road"}),
        (b"\xff\xfe\x00", 1, "not-text", {"path": str(path)}),
        (b"", 2, "no-classes", {"file": str(path)}),
    ):
        path.write_bytes(text)
        answer = segbench("pixels", *folders[:2], "--classes", path)
        assert answer.code == code
        insist(answer.error, kind, **values)
    insist(segbench("pixels", *folders[:2], "--classes", "nowhere.txt").error, "missing", path="nowhere.txt")


def test_classes_take_no_predictions_without_ground_truth(segbench, folders):
    for verb in ("check", "pixels"):
        answer = segbench(verb, *folders[:2], "--classes", "0-2", "--negatives", "good*")
        assert answer.code == 2
        insist(answer.error, "needless-negatives", given=Setting("negatives"), name="classes")

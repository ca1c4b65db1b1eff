"""Units such as patients on the command line and in results files: what they change, keep, and refuse."""

import json

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import insist, refused

from segbench import Contours, Labels, compare_results, evaluate, load_results, merge_results
from segbench.core.messages import Setting

UNITS = "#_slice_*"


@pytest.fixture(scope="module")
def volumes():
    """Slices of eight patients: ground truth and predictions by two methods."""
    rng = np.random.default_rng(5)
    slices = {}
    for patient in range(8):
        ease = rng.normal(0, 0.1)
        for number in range(rng.integers(3, 6)):
            truth = rng.random((12, 12)) < 0.4
            wrong = [rng.random((12, 12)) < np.clip(0.12 + ease + gap, 0.02, 0.5) for gap in (0, 0.05)]
            slices[f"case_{patient}_slice_{number}"] = truth, *(truth ^ errors for errors in wrong)
    return slices


@pytest.fixture(scope="module")
def folders(volumes, tmp_path_factory):
    root = tmp_path_factory.mktemp("patients")
    for name, arrays in volumes.items():
        for folder, mask in zip(("gt", "a", "b"), arrays, strict=True):
            (root / folder).mkdir(exist_ok=True)
            iio.imwrite(root / folder / f"{name}.png", mask.astype(np.uint8))
    return root


@pytest.fixture
def counted(segbench, folders, tmp_path):
    def run(*options):
        places = folders / "gt", folders / "a", folders / "b"
        answer = segbench("labels", *places, "--positive", 1, "-o", tmp_path / "r.segbench", *options)
        assert answer.code == 0
        return answer, tmp_path / "r.segbench"

    return run


def dice(truth, predicted):
    return 2 * (truth & predicted).sum() / (truth.sum() + predicted.sum())


def of_patients(volumes, method):
    patients = {}
    for name, arrays in volumes.items():
        patients.setdefault(name.partition("_slice_")[0], []).append(arrays)
    stacked = {name: [np.stack(masks) for masks in zip(*slices, strict=True)] for name, slices in patients.items()}
    return {name: dice(masks[0], masks[method]) for name, masks in stacked.items()}


def runs_of(answer):
    return {run["method"]: run for run in json.loads(answer.out)["runs"]}


def test_dice_of_patients_is_that_of_their_volumes(segbench, counted, volumes):
    _, path = counted("--unit", UNITS)
    shown = runs_of(segbench("show", path, "--format", "json"))
    expected = np.mean(list(of_patients(volumes, 2).values()))
    assert shown["b"]["summary"]["dice_units"] == pytest.approx(expected, abs=1e-15)


def test_units_are_listed_one_by_one(segbench, counted, volumes):
    _, path = counted()
    shown = runs_of(segbench("show", path, "--unit", UNITS, "--per-unit", "--format", "json"))
    found = {name: metrics["dice"] for name, metrics in shown["a"]["per_unit"].items()}
    assert found == pytest.approx(of_patients(volumes, 1), abs=1e-15)


def test_mean_and_standard_deviation_are_over_patients(segbench, counted, folders, tmp_path):
    path = tmp_path / "contours.segbench"
    assert segbench("contours", folders / "gt", folders / "a", "--unit", UNITS, "-o", path).code == 0
    of_units = runs_of(segbench("show", path, "--per-unit", "--format", "json"))["a"]["per_unit"].values()
    values = [metrics["hd95"] for metrics in of_units]
    expected = f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}".replace("0.", ".")
    shown = segbench("show", path, "--spread", "sd", "--metrics", "hd95").out
    assert shown.splitlines()[1].removeprefix("a").strip() == expected
    assert "(HD95: each unit counts once here, elsewhere each image does)" in shown
    _, labels = counted("--unit", UNITS)
    assert "each unit counts once" not in segbench("show", labels, "--spread", "sd", "--metrics", "dice_units").out


def test_pages_say_that_intervals_are_over_patients(segbench, counted, volumes, tmp_path):
    table, page = tmp_path / "meta.csv", tmp_path / "page.html"
    rows = [f"{name},{name.partition('_slice_')[0]}" for name in volumes]
    table.write_text("\n".join(["name,patient", *rows]))
    _, path = counted("--unit", f"{table}:patient")
    assert segbench("report", path, "-o", page).code == 0
    text = page.read_text()
    assert "95 % intervals over patients" in text
    assert "intervals over images" not in text


def test_the_first_line_says_how_many_units_there_are(counted):
    answer, _ = counted("--unit", UNITS)
    assert answer.err.startswith("8 units, such as case_")


def test_the_first_line_uses_the_name_of_the_column(segbench, counted, volumes, tmp_path):
    table = tmp_path / "meta.csv"
    rows = [f"{name},{name.partition('_slice_')[0]}" for name in volumes]
    table.write_text("\n".join(["name,patient_id", *rows]))
    _, path = counted()
    answer = segbench("compare", path, "--unit", f"{table}:patient_id")
    assert answer.err.startswith("8 patients, such as case_")
    assert "8 patients: intervals over fewer than 10 are unreliable" in answer.out
    by_patient = segbench("compare", path, "--unit", f"{table}:patient_id", "--metrics", "dice_units").out
    assert " by per-patient Dice: " in by_patient.splitlines()[0] or " per-patient Dice (" in by_patient.splitlines()[0]


def test_a_stored_unit_decides_until_it_is_taken_away(segbench, counted):
    _, path = counted("--unit", UNITS)
    with_units, without = (
        json.loads(segbench("compare", path, "--format", "json", *options).out) for options in ((), ("--unit", "none"))
    )
    assert (with_units["units"], without["units"]) == (8, None)
    assert with_units["images"] == without["images"]


def test_running_again_with_units_adds_no_run(counted):
    counted()
    _, path = counted("--unit", UNITS)
    assert len(load_results(path)) == 2
    assert load_results(path)[0].units.noun == "unit"


def test_intervals_say_how_much_wider_they_are(segbench, counted):
    _, path = counted("--unit", UNITS)
    (by_unit, by_image) = (
        runs_of(segbench("show", path, "--intervals", 95, "--format", "json", *options))["a"]
        for options in ((), ("--unit", "none"))
    )
    wide, narrow = (np.diff(run["intervals"]["iou"])[0] for run in (by_unit, by_image))
    assert by_unit["sampling"]["wider_than_images"]["iou"] == pytest.approx(wide / narrow)


def test_halves_of_a_patient_are_put_together(segbench, folders, volumes, tmp_path):
    names = sorted(volumes)
    for part, some in enumerate((names[::2], names[1::2])):
        places = folders / "gt", folders / "a"
        options = "--positive", 1, "--unit", UNITS, "--images", ",".join(some), "-o", tmp_path / f"{part}.segbench"
        assert segbench("labels", *places, *options).code == 0
    (merged,) = merge_results([tmp_path / "0.segbench", tmp_path / "1.segbench"], tmp_path / "both.segbench")
    assert merged.summary["dice_units"] == pytest.approx(np.mean(list(of_patients(volumes, 1).values())), abs=1e-15)


def test_parts_are_the_patients(volumes):
    pairs = {name: (truth.astype(int), a.astype(int)) for name, (truth, a, _) in volumes.items()}
    parts = evaluate(pairs, protocol=Labels(classes=2), unit=UNITS).parts("unit")
    expected = of_patients(volumes, 1)
    assert {name: part.summary["dice"] for name, part in parts.items()} == pytest.approx(expected, abs=1e-15)
    assert parts.mean is None
    assert "dice_units" in parts.undefined["mean"]


def test_a_patient_in_two_groups_is_refused(segbench, counted):
    _, path = counted("--unit", UNITS)
    answer = segbench("compare", path, "--group-by", "case_*_slice_#")
    assert answer.code == 2
    insist(answer.error, "divided-unit", unit="case_0", whole="group", parts=("0", "1"))


def test_groups_of_patients_are_strata_of_units(volumes):
    pairs = {name: (truth.astype(int), a.astype(int)) for name, (truth, a, _) in volumes.items()}
    result = evaluate(pairs, protocol=Labels(classes=2), unit=UNITS, group_by=lambda name: f"g{int(name[5]) % 2}")
    mean, groups = result.parts("group").mean, result.parts("group")
    errors = [part.intervals().standard_errors["iou"] for part in groups.values()]
    assert mean.intervals().standard_errors["iou"] == pytest.approx(np.hypot(*errors) / 2)


@pytest.mark.parametrize(
    ("unit", "code", "kind", "values"),
    [
        ("#_part*", 2, "images-without-part", {"part": "unit", "images": 35}),
        ("folder", 2, "images-without-part", {"part": "unit", "images": 35}),
        ("patients", 2, "wrong-value", {}),
        ("case_0#", 2, "images-without-part", {"part": "unit", "images": 32}),
        ("meta.csv:nothing", 1, "missing-column", {"path": "meta.csv", "column": "nothing"}),
    ],
)
def test_units_that_cannot_be_are_refused(segbench, counted, tmp_path, unit, code, kind, values, monkeypatch):
    _, path = counted()
    (tmp_path / "meta.csv").write_text("name,patient\ncase_0_slice_0,x\n")
    monkeypatch.chdir(tmp_path)
    answer = segbench("show", path, "--unit", unit)
    assert answer.code == code
    insist(answer.error, kind, **values)
    if code == 2:
        assert answer.error.values["given"] == Setting("unit", unit)


def test_a_table_of_other_names_and_one_that_lacks_a_patient(segbench, counted, volumes, tmp_path):
    _, path = counted()
    table = tmp_path / "meta.csv"
    table.write_text("\n".join(["name,patient", *(f"{name.replace('_slice', '/slice')},x" for name in volumes)]))
    answer = segbench("compare", path, "--unit", f"{table}:patient")
    assert answer.code == 2
    insist(answer.error, "images-without-part", part="unit", images=len(volumes))
    assert answer.error.values["others"][:2] == ("case_0/slice_0", "case_0/slice_1")
    known = [name for name in volumes if not name.startswith("case_3")]
    table.write_text("\n".join(["name,patient", *(f"{name},{name[:6]}" for name in known)]))
    answer = segbench("compare", path, "--unit", f"{table}:patient")
    lacking = len(volumes) - len(known)
    insist(answer.error, "images-without-part", part="unit", images=lacking, others=())
    assert answer.error.values["listed"].startswith("case_3_slice_0, case_3_slice_1")
    table.write_text("\n".join(["name,patient", *(f"{name},{name[:6]}" for name in volumes)]))
    assert segbench("compare", path, "--unit", f"{table}:patient").err.startswith("8 patients, such as case_")


def test_the_first_line_says_that_a_pattern_joins_nothing(counted, volumes):
    answer, _ = counted("--unit", "case_#")
    assert answer.err.startswith(f"{len(volumes)} units of one image each, such as 0_slice_0: nothing belongs together")


def test_units_that_differ_between_methods_are_refused(counted):
    _, path = counted("--unit", UNITS)
    ours, theirs = load_results(path)
    with refused("measured-apart", differing=("unit",)):
        compare_results([ours, theirs.with_settings(unit="none")])


def test_objects_of_sequences_are_drawn_by_sequence():
    rng = np.random.default_rng(1)
    pairs = {}
    for sequence in range(7):
        for frame in range(4):
            truth = np.zeros((12, 12), int)
            truth[2:6, 2:6], truth[7:11, 7:11] = 1, 2
            predicted = np.where(rng.random(truth.shape) < 0.1, 0, truth)
            pairs[f"video{sequence}/{frame:02d}"] = truth, predicted
    result = evaluate(pairs, protocol=Contours(sequences=True), unit="folder")
    assert result.intervals().sample_size == "7 units, 14 objects"


def test_folds_hold_whole_units_in_groups(segbench, folders, volumes, tmp_path):
    folds = {"1": {"case_0", "case_3", "case_6"}, "2": {"case_1", "case_4", "case_7"}, "3": {"case_2", "case_5"}}
    for fold, patients in folds.items():
        (tmp_path / fold).mkdir()
        for name, (_, mask, _) in volumes.items():
            if name.partition("_slice_")[0] in patients:
                iio.imwrite(tmp_path / fold / f"{name}.png", mask.astype(np.uint8))
    table = tmp_path / "meta.csv"
    table.write_text("\n".join(["name,site", *(f"{name},{'xy'[int(name[5]) % 2]}" for name in volumes)]))
    runs = [f"net@{fold}={tmp_path / fold}" for fold in folds]
    options = "--unit", UNITS, "--group-by", f"{table}:site", "--allow-missing", "--intervals", 95, "--format", "json"
    answer = segbench("labels", folders / "gt", *runs, "--positive", 1, *options)
    assert answer.code == 0, answer.err
    (mean,) = (run for run in json.loads(answer.out)["runs"] if run["run"] is None and run.get("mean"))
    of_sites = []
    for site in (0, 1):
        masks = [arrays for name, arrays in volumes.items() if int(name[5]) % 2 == site]
        of_sites.append(dice(*(np.concatenate([arrays[place] for arrays in masks]) for place in (0, 1))))
    assert mean["summary"]["dice"] == pytest.approx(np.mean(of_sites))

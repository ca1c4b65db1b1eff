"""The contours protocol: settings, files, means over images, classes and sequences, and what is refused."""

import json
import math
from dataclasses import replace

import imageio.v3 as iio
import numpy as np
import pytest
from cases import write_folder
from matplotlib.figure import Figure
from noted import of_kind
from refusing import parts_of, refused
from scipy.ndimage import gaussian_filter

from segbench import (
    Accumulator,
    ArgumentError,
    Contours,
    DataError,
    FailedImages,
    check,
    count,
    evaluate,
    export_overlays,
    export_report,
    load_results,
    plot,
    process_pool,
)
from segbench.core.messages import Setting, part_of
from segbench.core.sample import Sample
from segbench.protocols.states import State


def soft_map(seed, shape=(40, 50)):
    rng = np.random.default_rng(seed)
    smooth = gaussian_filter(rng.standard_normal(shape), 4)
    return 1 / (1 + np.exp(-smooth / smooth.std()))


def masks(number=5):
    """Return pairs of masks by image name; the prediction of the last is empty."""
    pairs = {f"im{k}": (soft_map(k) > 0.7, soft_map(k) + 0.1 * soft_map(100 + k) > 0.75) for k in range(number)}
    pairs[f"im{number - 1}"] = pairs[f"im{number - 1}"][0], np.zeros((40, 50), bool)
    return pairs


def written(folder, pairs):
    """Write pairs of arrays as PNG files of label maps; give both folders."""
    for name, pair in pairs.items():
        for kind, array in zip(("gt", "pred"), pair, strict=True):
            path = folder / kind / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            iio.imwrite(path, np.asarray(array, np.uint8) * (255 if array.dtype == bool else 1))
    return folder / "gt", folder / "pred"


def labels(number=4):
    """Return pairs of label maps by image name: classes 0 to 2 and void, class 2 in one image alone."""
    pairs = {}
    for k in range(number):
        truth, predicted = (np.digitize(soft_map(seed), [0.6, 0.95 if k else 0.8]) for seed in (k, k + 50))
        pairs[f"im{k}"] = np.where(soft_map(k + 9) > 0.9, 255, truth), predicted
    return pairs


def frames():
    """Return pairs of frames by name: two sequences of two objects and of one."""
    rows, columns = np.mgrid[:40, :50]
    pairs = {}
    for sequence, length, objects in (("bear", 8, 2), ("cat", 5, 1)):
        for frame in range(length):
            truth, predicted = np.zeros((2, 40, 50), np.uint8)
            for number in range(objects):
                centre = 10 + 18 * number + frame
                truth[(rows - 15 - frame) ** 2 + (columns - centre) ** 2 < 50] = number + 1
                predicted[(rows - 15) ** 2 + (columns - centre) ** 2 < 60] = number + 1
            truth[:3, :3] = 255
            pairs[f"{sequence}/{frame:05}"] = truth, predicted
    return pairs


def test_metrics_are_means_over_images():
    pairs = masks()
    result = evaluate(pairs, protocol="contours")
    each = [count(*pair, "contours").metrics() for pair in pairs.values()]
    for key in ("dice", "hd95", "assd", "nsd@2", "boundary_iou", "j", "f_davis"):
        assert result.summary[key] == pytest.approx(np.nanmean([one[key] for one in each]))
    assert result.per_image["im1"]["hd95"] == each[1]["hd95"]


def test_masks_that_are_empty_are_counted():
    summary = evaluate(masks(), protocol="contours").summary
    assert [summary["one_empty"], summary["both_empty"]] == [1, 0]
    (note,) = summary.notes
    assert (note.kind, note.metrics) == (
        "left-out",
        (("hd", "HD"), ("hd95", "HD95"), ("assd", "ASSD"), ("masd", "MASD")),
    )
    assert note.values == {"why": "one mask or both empty", "number": part_of(1, 5)}


@pytest.mark.parametrize("empty", ["undefined", "diagonal"])
def test_false_alarms_where_nothing_is_are_said_to_count_as_0(empty):
    blank = np.zeros((40, 50), np.uint8)
    pairs = {**masks(), "im8": (blank, blank + 255), "im9": (blank, blank)}
    each = [evaluate([pair], protocol=Contours()).summary["dice"] for pair in pairs.values()]
    summary = evaluate(pairs, protocol=Contours(empty=empty)).summary
    assert (each[-2], summary["dice"]) == (0, pytest.approx(np.mean(each[:-1])))
    (note,) = of_kind(summary.notes, "counted-as-0")
    assert dict(note.metrics) == {"dice": "Dice", "nsd@2": "NSD@2", "boundary_iou": "Boundary IoU"}
    assert note.values == {"number": part_of(1, 7)}


def test_the_diagonal_stands_for_an_empty_mask():
    summary = evaluate(masks(), protocol=Contours(empty="diagonal")).summary
    found = evaluate(dict(list(masks().items())[:4]), protocol="contours").summary["hd"]
    assert summary["hd"] == pytest.approx((4 * found + math.hypot(40, 50)) / 5)


def test_undefined_has_a_reason():
    result = evaluate({"a": (np.eye(3, dtype=bool), np.zeros((3, 3), bool))}, protocol="contours")
    assert result.summary.undefined["hd95"].kind == "one-mask-empty"
    assert result.summary["nsd@2"] == 0


def test_classes_are_averaged_after_images():
    pairs = labels()
    result = evaluate(pairs, protocol=Contours(classes=3))
    each = np.array(
        [
            [count(*pair, Contours(classes=3)).one(place).metrics()["assd"] for place in range(3)]
            for pair in pairs.values()
        ]
    )
    assert np.isnan(each).any()
    assert result.summary["assd"] == pytest.approx(np.nanmean(np.nanmean(each, axis=0)))
    assert result.summary["assd_images"] == pytest.approx(np.nanmean(np.nanmean(each, axis=1)))


def test_colours_are_read_with_a_palette(tmp_path):
    pairs = labels()
    colours = {label: (label % 3 * 80, label // 2, 9) for label in (0, 1, 2, 255)}
    palette = {colour: label for label, colour in colours.items()}
    table = np.zeros((256, 3), np.uint8)
    table[list(colours)] = list(colours.values())
    painted = {name: (table[truth], table[predicted]) for name, (truth, predicted) in pairs.items()}
    gt, pred = written(tmp_path, painted)
    found = evaluate(gt, pred, Contours(palette=palette, classes=3))
    assert found.summary == evaluate(pairs, protocol=Contours(classes=3)).summary
    assert "palette:" in found.signature


def test_each_class_is_a_result_of_its_own():
    pairs = labels()
    result = evaluate(pairs, protocol=Contours(classes="sky=0,road=1,car=2"))
    of_class = {name: (truth == 1, (predicted == 1) & (truth != 255)) for name, (truth, predicted) in pairs.items()}
    assert list(result.parts("class")) == ["sky", "road", "car"]
    assert result.parts("class")["road"].summary["hd95"] == evaluate(of_class, protocol="contours").summary["hd95"]


@pytest.mark.parametrize("level", [None, 0.95])
def test_bars_of_classes_show_whole_distances_and_the_best_class_first(level):
    from matplotlib.figure import Figure

    from segbench.report.plots.classes import plot_classes

    random = np.random.default_rng(3)
    pairs = {}
    for name in "abcdefgh":
        truth, predicted = np.zeros((2, 48, 48), np.uint8)
        for label, error in ((1, 6), (2, 3), (3, 9)):
            row, column = 16 * label - 12, int(random.integers(4, 24))
            truth[row : row + 8, column : column + 8] = label
            predicted[row : row + 8, column + error + int(random.integers(3)) :][:, :8] = label
        pairs[name] = truth, predicted
    result = evaluate(pairs, protocol=Contours(classes="0,far=1,near=2,farthest=3", background=0, spacing=0.5))
    ax = plot_classes(result, level=level, ax=Figure().subplots())
    assert [tick.get_text() for tick in ax.get_yticklabels()][:1] == ["near"]
    background, *values = [one.summary["hd95"] for one in result.parts("class").values()]
    drawn = [float(bar.get_width()) for bar in ax.patches]
    assert drawn == [*sorted(values), background]
    ends = drawn if level is None else [one.intervals(level=level)["hd95"][1] for one in result.parts("class").values()]
    assert ax.get_xlim()[0] == 0
    assert ax.get_xlim()[1] >= max(ends) > 1
    share = plot_classes(result, metric="dice", ax=Figure().subplots())
    assert share.get_xlim() == (0, 1)


def test_bars_of_classes_without_any_class_say_how_to_get_some(segbench, tmp_path):
    gt, pred = written(tmp_path, {name: (np.eye(9, dtype=bool), np.eye(9, k=1, dtype=bool)) for name in "ab"})
    results = tmp_path / "r.segbench"
    assert segbench("contours", gt, pred, "-o", results).code == 0
    assert segbench("plot", results, "--kind", "classes", "-o", tmp_path / "c.png").code == 2
    with refused("other-classes", ArgumentError, found="pred has none"):
        plot(load_results(results), "classes")


def test_sequences_are_measured_object_by_object():
    pairs = frames()
    result = evaluate(pairs, protocol=Contours(convention="davis"))
    objects = {"bear": 2, "cat": 1}
    values = []
    for sequence, number in objects.items():
        names = sorted(name for name in pairs if name.startswith(sequence))[1:-1]
        for k in range(1, number + 1):
            values += [[count(*(part == k for part in pairs[name]), "contours").metrics() for name in names]]
    mean = {key: [np.mean([frame[key] for frame in frames_]) for frames_ in values] for key in ("j", "f_davis")}
    assert result.summary["j"] == pytest.approx(np.mean(mean["j"]))
    assert result.summary["f_davis"] == pytest.approx(np.mean(mean["f_davis"]))
    assert result.summary["j_and_f"] == pytest.approx((np.mean(mean["j"]) + np.mean(mean["f_davis"])) / 2)
    recalls = [np.mean([frame["j"] > 0.5 for frame in frames_]) for frames_ in values]
    assert result.summary["j_recall"] == pytest.approx(np.mean(recalls))
    decays = []
    for frames_ in values:
        ids = (np.round(np.linspace(1, len(frames_), 5) + 1e-10) - 1).astype(int)
        j = [frame["j"] for frame in frames_]
        decays.append(np.mean(j[ids[0] : ids[1] + 1]) - np.mean(j[ids[3] : ids[4] + 1]))
    assert result.summary["j_decay"] == pytest.approx(np.mean(decays))
    assert [result.summary["objects"], result.summary["sequences"]] == [3, 2]


def test_frames_are_in_the_order_of_their_numbers():
    padded = {f"a/{k:05}": pair for k, (name, pair) in enumerate(frames().items()) if name.startswith("bear")}
    padded |= {f"a/{k:05}": padded[f"a/{k % 8:05}"] for k in range(8, 13)}
    plain = {f"a/{int(name[2:])}": pair for name, pair in reversed(padded.items())}
    davis = Contours(convention="davis")
    assert evaluate(plain, protocol=davis).summary == evaluate(padded, protocol=davis).summary


def test_all_frames_are_a_setting():
    inner, every = (evaluate(frames(), protocol=Contours(sequences=True, all_frames=all_)) for all_ in (False, True))
    assert inner.summary["j"] != every.summary["j"]
    assert "convention:davis" in inner.signature
    assert "convention:none" in every.signature


def test_frames_of_a_single_mask():
    pairs = {name: (truth == 1, predicted == 1) for name, (truth, predicted) in frames().items()}
    result = evaluate(pairs, protocol=Contours(sequences=True, positive=1))
    assert result.summary["objects"] == 2
    assert 0 < result.summary["j"] < 1


def test_an_object_that_the_first_frame_lacks_is_refused():
    pairs = frames()
    pairs["cat/00003"][1][30:, 30:] = 2
    with refused("unknown-object", DataError, path="cat/00003", predicted=2, highest=1):
        evaluate(pairs, protocol=Contours(sequences=True))


def test_sequences_that_are_too_short_are_noted():
    pairs = {name: pair for name, pair in frames().items() if name not in ("cat/00002", "cat/00003", "cat/00004")}
    summary = evaluate(pairs, protocol=Contours(sequences=True)).summary
    assert summary["sequences"] == 1
    assert [note.values["number"] for note in of_kind(summary.notes, "left-out")] == [part_of(1, 2, "sequence")]


def test_whole_sequences_are_chosen(tmp_path):
    davis = Contours(convention="davis")
    alone = {name: pair for name, pair in frames().items() if name.startswith("bear")}
    chosen = evaluate(*written(tmp_path, frames()), davis, images=["bear/*"])
    assert chosen.summary == evaluate(alone, protocol=davis).summary


def test_a_part_of_a_sequence_is_refused(tmp_path):
    gt, pred = written(tmp_path, frames())
    advice = {"images": "name/*", "all_frames": True}
    with refused(
        "cut-sequences", DataError, path=str(pred), settings=advice, number=3, images="cat/00000, cat/00003, cat/00004"
    ):
        evaluate(gt, pred, Contours(sequences=True), images=["bear/*", "cat/00001", "cat/00002"])


def test_a_sequence_that_lacks_predictions_is_refused(tmp_path):
    gt, pred = written(tmp_path, frames())
    (pred / "cat/00002.png").unlink()
    with refused("cut-sequences", DataError, number=1, images="cat/00002"):
        evaluate(gt, pred, Contours(sequences=True), allow_missing=True)


def test_frames_without_predictions_at_both_ends_are_left_out_with_all_frames(tmp_path):
    gt, pred = written(tmp_path, frames())
    inner = evaluate(gt, pred, Contours(sequences=True)).summary
    for name in ("bear/00000", "bear/00007", "cat/00000", "cat/00004"):
        (pred / f"{name}.png").unlink()
    assert evaluate(gt, pred, Contours(sequences=True, all_frames=True), allow_missing=True).summary == inner


def test_a_sequence_without_predictions_is_left_out(tmp_path):
    gt, pred = written(tmp_path, frames())
    whole = evaluate(gt, pred, Contours(sequences=True), images=["bear/*"])
    for file in (pred / "cat").iterdir():
        file.unlink()
    found = evaluate(gt, pred, Contours(sequences=True), allow_missing=True)
    assert found.summary == whole.summary
    assert "missing:5 of 13" in found.signature


def test_masks_of_255_without_positive_name_the_option():
    pairs = {
        name: (np.uint8(255) * (truth == 1), np.uint8(255) * (truth == 1)) for name, (truth, _) in frames().items()
    }
    with refused("not-numbered", DataError, settings={"positive": 255}, values=(0, 255), expected=254):
        evaluate(pairs, protocol=Contours(sequences=True))
    blank = {name: (truth, 0 * predicted) for name, (truth, predicted) in pairs.items()}
    undefined = evaluate(blank, protocol=Contours(sequences=True)).summary.undefined["j"]
    assert (undefined.kind, undefined.settings) == ("no-frames", (Setting("positive", 255),))
    assert evaluate(pairs, protocol=Contours(sequences=True, positive=255)).summary["j"] == 1


def one_object(truth_beside=0, predicted_beside=0):
    """Return frames of object 1 in 10 of 30 pixels, with values beside it on both sides in 5 others."""
    row = np.zeros(30, np.uint8)
    truth, predicted = row.copy(), row.copy()
    truth[:10] = predicted[:10] = 1
    truth[10:15], predicted[10:15] = truth_beside, predicted_beside
    frame = np.tile(truth, (20, 1)), np.tile(predicted, (20, 1))
    return {f"cat/{k:05}": frame for k in range(4)}


class TestValue255OfSequences:
    """As in DAVIS's code for given objects, 255 is background of annotations, and no object of predictions."""

    @pytest.mark.parametrize("void", [None, ()])
    def test_predictions_where_the_ground_truth_is_255_are_false(self, void):
        result = evaluate(one_object(255, 1), protocol=Contours(convention="davis", void=void))
        assert result.summary["j"] == pytest.approx(10 / 15)
        assert "|void:none|" in result.signature

    def test_void_clears_both_sides(self):
        result = evaluate(one_object(255, 1), protocol=Contours(convention="davis", void=255))
        assert result.summary["j"] == 1
        assert "|void:255|" in result.signature

    @pytest.mark.parametrize("beside", [0, 255])
    def test_predictions_of_255_are_refused(self, beside):
        with refused("not-numbered", DataError, settings={}, count=3, values=(0, 1, 255)):
            evaluate(one_object(beside, 255), protocol=Contours(convention="davis"))

    def test_the_check_refuses_predictions_of_255_as_a_run_does(self, segbench, tmp_path):
        pairs = {name: (truth, 255 * (predicted == 1)) for name, (truth, predicted) in one_object(255).items()}
        folders = written(tmp_path, pairs)
        assert segbench("check", "contours", *folders, "--convention", "davis").code == 1
        (finding,) = check(*folders, Contours(convention="davis")).errors
        assert (finding.kind, finding.settings) == ("not-countable", (Setting("positive", 1),))

    def test_several_objects_are_no_single_mask(self, tmp_path):
        pairs = {name: (truth, np.uint8(255) * (predicted > 0)) for name, (truth, predicted) in frames().items()}
        with pytest.warns(FailedImages):
            failed = evaluate(*written(tmp_path, pairs), Contours(convention="davis")).failed
        of_several = [failure for name, failure in failed.items() if name.startswith("bear/")]
        assert {(failure.kind, failure.settings) for failure in of_several} == {("not-numbered", ())}
        assert {failure.hint.values["numbers"] for failure in of_several} == {(1, 2)}

    def test_other_numbers_get_the_advice_that_fits_all_frames(self, tmp_path):
        pairs = {name: (truth, np.uint8(254) * predicted) for name, (truth, predicted) in one_object().items()}
        folders = written(tmp_path, pairs)
        with refused("unknown-object", DataError, settings={"positive": 1}, predicted=254, highest=1):
            evaluate(*folders, Contours(convention="davis"))
        assert evaluate(*folders, Contours(convention="davis", positive=1)).summary["j"] == 1


class TestGreyLevelsOfAPalette:
    """The numbers of objects end at the highest value, so that grey levels make many that never occur."""

    def test_objects_that_never_occur_are_noted(self):
        grey = np.array([0, 38, 75], np.uint8)
        pairs = {name: (grey[truth % 255], grey[predicted]) for name, (truth, predicted) in frames().items()}
        summary = evaluate(pairs, protocol=Contours(convention="davis")).summary
        assert summary["objects"] == 75 + 38
        (note,) = of_kind(summary.notes, "missing-objects")
        assert (note.values["number"], note.values["numbers"]) == (part_of(110, 113, "object"), "38, 75")

    def test_a_single_object_is_named_by_its_value(self):
        pairs = {name: (38 * truth, 38 * predicted) for name, (truth, predicted) in one_object().items()}
        (note,) = of_kind(evaluate(pairs, protocol=Contours(convention="davis")).summary.notes, "missing-objects")
        assert note.message.settings == (Setting("positive", 38),)

    def test_numbers_without_gaps_are_not_noted(self):
        assert not evaluate(frames(), protocol=Contours(convention="davis")).summary.notes

    def test_predicted_grey_levels_are_no_numbers_of_the_ground_truth(self):
        grey = np.array([0, 38, 75], np.uint8)
        pairs = {name: (truth, grey[predicted]) for name, (truth, predicted) in frames().items()}
        with refused("unknown-object", DataError, settings={}, predicted=75, highest=2) as raised:
            evaluate(pairs, protocol=Contours(convention="davis"))
        assert raised.value.hint.values["numbers"] == (1, 2)


def test_colours_of_objects_are_called_colours(tmp_path):
    colours = np.array([[0, 0, 0], [128, 0, 0], [0, 128, 0]], np.uint8)
    pairs = {name: (truth, colours[predicted]) for name, (truth, predicted) in frames().items()}
    with pytest.warns(FailedImages):
        failed = evaluate(*written(tmp_path, pairs), Contours(convention="davis")).failed
    assert {(failure.kind, failure.settings) for failure in failed.values()} == {("in-colour", ())}


@pytest.mark.parametrize("settings", [{}, {"at": 0.5}, {"sequences": True}])
def test_check_finds_a_rule_that_nothing_fits(tmp_path, settings):
    gt, pred = written(tmp_path, masks(3))
    found = check(gt, pred, Contours(positive=7, **settings)).findings
    (finding,) = of_kind(found, "no-positives")
    assert (finding.settings, finding.message.values["values"]) == ((Setting("positive"),), (0, 255))
    keys = [finding.kind for finding in check(gt, pred, Contours(positive=255, **settings)).findings]
    assert "no-positives" not in keys


def test_a_rule_that_nothing_fits_leaves_no_object(tmp_path):
    gt, pred = written(tmp_path, masks(3))
    undefined = evaluate(gt, pred, Contours(sequences=True, positive=7)).summary.undefined["j"]
    assert (undefined.kind, [*parts_of(undefined, Setting)]) == ("no-frames", [Setting("positive", None)])


def test_objects_are_what_intervals_leave_out():
    result = evaluate(frames(), protocol=Contours(sequences=True))
    assert result.table.names == ["bear/1", "bear/2", "cat/1"]
    low, high = result.intervals()["j_and_f"]
    assert low < result.summary["j_and_f"] < high


@pytest.mark.parametrize(
    ("convention", "settings"),
    [
        ("metrics-reloaded", {}),
        ("medpy", {"hd95": "union"}),
        ("deepmind", {"surface": "lengths"}),
        ("davis", {"sequences": True}),
    ],
)
def test_a_convention_sets_what_its_tool_decides(convention, settings):
    assert Contours(convention=convention).signature_fields() == Contours(**settings).signature_fields()


def test_medpy_has_its_version_in_the_signature():
    assert Contours(convention="medpy").signature_fields()["convention"] == "medpy>=0.5.2"


@pytest.mark.parametrize("settings", [{"surface": "lengths"}, {"hd95": "larger"}, {"sequences": True}])
def test_a_convention_and_another_setting_are_refused(settings):
    with refused("exclusive-settings", ArgumentError, settings={"convention": "medpy", **settings}):
        Contours(convention="medpy", **settings)


def test_a_convention_is_stored_as_what_it_sets():
    protocol = Contours(convention="medpy")
    assert (protocol.convention, protocol.hd95) == (None, "union")
    assert replace(protocol, nsd=1).hd95 == "union"
    assert Contours(nsd=1).with_settings(convention="medpy") == replace(protocol, nsd=1)


def test_a_convention_that_changes_what_is_counted_needs_counting_again():
    with refused("other-settings", ArgumentError, name="surface", expected="lengths", counted="pixels"):
        Contours().with_settings(convention="deepmind")


@pytest.mark.parametrize(
    ("settings", "value"),
    [({"spacing": 0}, "0"), ({"nsd": [-1]}, "-1"), ({"surface": "odd"}, "'odd'"), ({"convention": "odd"}, "'odd'")],
)
def test_settings_that_make_no_sense_are_refused(settings, value):
    with refused("wrong-value", ArgumentError, settings=dict.fromkeys(settings), value=value):
        Contours(**settings)


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"classes": 3, "at": 0.5}, {"at": None, "classes": None}),
        ({"gt_map": "1=2"}, {"gt_map": None, "classes": None}),
        ({"all_frames": True}, {"all_frames": None, "sequences": True}),
        ({"sequences": True, "at": 0.5}, {"at": None, "positive": None}),
        ({"convention": "davis", "nsd": 1}, {"nsd": None}),
        ({"sequences": True, "spacing": 2}, {"spacing": None}),
    ],
)
def test_settings_for_other_inputs_are_refused(settings, advice):
    with refused("unfit-setting", ArgumentError, settings=advice):
        Contours(**settings)


def test_soft_maps_are_cut_at_a_score(tmp_path):
    gt, pred = written(tmp_path, masks())
    iio.imwrite(pred / "im0.png", np.rint(soft_map(0) * 255).astype(np.uint8))
    result = evaluate(gt, pred, Contours(at=0.7), images=["im0"])
    expected = count(soft_map(0) > 0.7, np.rint(soft_map(0) * 255) >= 0.7 * 255, "contours").metrics()
    assert result.per_image["im0"]["hd"] == expected["hd"]


def test_a_soft_map_without_a_cut_names_the_option():
    advice = {"at": 0.5, "classes": "0-18", "background": 0}
    with refused("several-values", DataError, path="prediction", settings=advice, count=16):
        count(np.eye(4, dtype=bool), np.linspace(0, 1, 16).reshape(4, 4), "contours")


def test_check_says_how_soft_maps_are_counted(tmp_path):
    gt, pred = written(tmp_path, {"a": (soft_map(0) > 0.7, soft_map(0) > 0.7)})
    iio.imwrite(pred / "a.png", np.rint(soft_map(0) * 255).astype(np.uint8))
    (finding,) = check(gt, pred, "contours").findings
    assert (finding.kind, finding.severity) == ("not-countable", "error")
    assert finding.settings == (Setting("at", 0.5), Setting("classes", "0-18"))
    assert not check(gt, pred, Contours(at=0.5)).findings


def test_labels_that_are_no_classes_are_refused():
    with refused("no-class", DataError, path="ground_truth", labels=(7,)):
        count([[0, 7]], [[0, 1]], Contours(classes=2))


def test_the_field_of_view_leaves_pixels_out_of_both(tmp_path):
    gt, pred = written(tmp_path, masks())
    fields = {name: (np.arange(50) < 25) & np.ones((40, 1), bool) for name in masks()}
    field, _ = written(tmp_path / "field", {name: (field, field) for name, field in fields.items()})
    result = evaluate(gt, pred, "contours", field=field)
    cut = {name: tuple(mask & fields[name] for mask in pair) for name, pair in masks().items()}
    assert result.summary["hd95"] == evaluate(cut, protocol="contours").summary["hd95"]


def test_results_are_resumed_and_the_same_with_workers(tmp_path):
    gt, pred = written(tmp_path, masks())
    first = evaluate(gt, pred, Contours(surface="lengths"), results=tmp_path / "r")
    again = evaluate(gt, pred, Contours(surface="lengths"), results=tmp_path / "r")
    with process_pool(2) as executor:
        parallel = evaluate(gt, pred, Contours(surface="lengths"), executor=executor)
    assert again.reused == 5
    assert first.summary == again.summary == parallel.summary
    assert all(first.counts[name] == parallel.counts[name] for name in first.counts)


@pytest.mark.parametrize(
    ("protocol", "pairs"),
    [
        (Contours(surface="lengths", spacing=0.7), masks()),
        (Contours(at=0.5), masks()),
        (Contours(classes=3), labels()),
        (Contours(sequences=True), frames()),
    ],
)
def test_an_accumulator_gives_what_files_give(tmp_path, protocol, pairs):
    of_files = evaluate(*written(tmp_path, pairs), protocol)
    loops = [Accumulator(protocol), Accumulator(protocol)]  # two workers, which take the images in turn
    for k, (name, (truth, predicted)) in enumerate(reversed(pairs.items())):
        loops[k % 2].update(truth[None], predicted[None], names=[name])
    loops[0].merge(loops[1])
    result = loops[0].compute()
    assert result.summary == of_files.summary
    assert result.counts == of_files.counts


def test_the_command_prints_metrics(tmp_path, segbench):
    gt, pred = written(tmp_path, masks())
    found = json.loads(segbench("contours", gt, pred, "--convention", "medpy", "--nsd", "1,2", "--format", "json").out)
    summary = evaluate(gt, pred, Contours(hd95="union", nsd=(1, 2))).summary
    assert found["runs"][0]["summary"] == dict(summary)


def test_titles_name_millimetres():
    titles = [metric.heading for metric in Contours(spacing=0.7, nsd=(1,)).metrics()]
    assert "HD95 (mm)" in titles
    assert "NSD@1 mm" in titles


@pytest.mark.parametrize("classes", [[0, 1], [0, (1,), (1, 2)]])
def test_pictures_show_no_contour_of_the_background(classes):
    truth = np.zeros((1, 12, 12), np.uint8)
    truth[0, 4:8, 4:8] = 1
    sample = Sample("a", truth, truth)
    protocol = Contours(classes=classes, background=0)
    drawn = np.pad(np.pad(np.zeros((2, 2), bool), 1, constant_values=True), 4)
    np.testing.assert_array_equal(protocol.states(sample, 0.5) != State.NOTHING, drawn)
    picture = protocol.pictures(sample, protocol.count(sample).counts, np.array([0.5]))
    np.testing.assert_array_equal(picture.truth != 0, drawn)
    assert (Contours(classes=classes, background="none").states(sample, 0.5)[0] != State.NOTHING).all()


def test_states_show_how_far_contours_are_off(tmp_path):
    truth, predicted = np.zeros((2, 9, 30), bool)
    truth[:, 4] = True
    predicted[4, [2, 7, 9, 14, 15]] = True
    gt, pred = written(tmp_path, {"a": (truth, predicted)})
    export_overlays(evaluate(gt, pred, Contours(nsd=(0, 2))), tmp_path / "o")
    states = iio.imread(next((tmp_path / "o").rglob("a.png")), mode="P")
    assert states[4, [2, 7, 9, 14, 15]].tolist() == [State.PARTNER, State.NEAR, State.FAR, State.FAR, State.FALSE]
    assert states[[4, 8], 4].tolist() == [State.TRUE, State.MISSED]


def test_the_legend_has_the_distances():
    called = Contours(nsd=1.4, spacing=0.7).states_called
    assert called[State.NEAR] == "predicted, up to 2.8 mm off"
    assert Contours(sequences=True).states_called[State.FAR] == "predicted, up to 10 px off"


def test_plots_against_the_tolerance():
    result = evaluate(masks(), protocol=Contours(nsd=(1, 2)))
    found = result.table.tolerances
    for tolerance in (1, 2):
        assert found.nsd[found.at == tolerance] == pytest.approx(result.summary[f"nsd@{tolerance}"])
    assert plot(result, "nsd").get_ylabel() == "NSD"
    assert plot(result, "distances").get_xlabel() == "Tolerance (pixels)"


def test_the_page_has_the_plots_against_the_tolerance(tmp_path):
    pairs = masks()
    results = [evaluate(pairs, protocol="contours", method=name) for name in ("a", "b")]
    export_report(results, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "NSD at each tolerance" in page
    assert "Contours within each distance" in page


def test_a_method_without_contours_is_in_the_legend_alone():
    empty = np.zeros((9, 9), bool)
    both = [
        evaluate({"a": (truth, truth)}, protocol="contours", method=name)
        for name, truth in (("some", ~empty), ("none", empty))
    ]
    lines = [line for line in plot(both, "nsd").lines if len(line.get_xdata())]
    assert ["] some (" in line.get_label() for line in lines] == [True]
    with refused("no-plot", ArgumentError, protocol="contours", plot="distances of contours"):
        plot(both[1], "nsd")


def test_plots_name_what_they_show_and_reach_the_far_contours():
    truth, near, far = np.zeros((3, 20, 260), bool)
    truth[5:9, 5:9], near[5:9, 6:10], far[5:9, 205:209] = True, True, True
    both = [
        evaluate([(truth, mask)], protocol="contours", method=name) for name, mask in (("near", near), ("far", far))
    ]
    ax = plot(both, "nsd", ax=Figure().subplots())
    assert ax.get_legend_handles_labels()[1] == ["[NSD@2=1.0000] near", "[NSD@2=.0000] far"]
    ax = plot(both, "distances", ax=Figure().subplots())
    assert ax.get_legend_handles_labels()[1][2] == "95 % of the contours"
    assert ax.get_xlim()[1] >= 199  # where the far one has its contour
    assert [line.get_ydata()[-1] for line in ax.lines[:2]] == [1, 1]


def test_other_protocols_have_no_distances():
    result = evaluate([([0, 1], [0.2, 0.9])])
    with refused("no-plot", ArgumentError, settings={"kind": "pr"}, protocol="pixels", plot="distances of contours"):
        plot(result, "nsd")


def test_a_run_in_which_every_image_fails_says_why(segbench, tmp_path):
    labels = {"a.png": np.array([[0, 1], [2, 2]], np.uint8)}
    where = write_folder(tmp_path / "gt", labels), write_folder(tmp_path / "pred", labels)
    answer = segbench("contours", *where, "--classes", "1-2", "--no-check", "--format", "json")
    assert answer.code == 1
    (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
    assert (failure["kind"], failure["values"]["labels"]) == ("no-class", [0])


@pytest.mark.parametrize("protocol", ["contours", "objects"])
def test_the_page_has_a_method_of_which_every_image_failed(tmp_path, protocol):
    truth = np.zeros((20, 20), np.uint8)
    truth[5:9, 5:9] = 1
    gt, good = written(tmp_path, {"a": (truth, truth), "b": (truth, truth.T)})
    bad = write_folder(tmp_path / "bad", {"a.png": truth[1:], "b.png": truth[1:]})
    with pytest.warns(FailedImages):
        results = [evaluate(gt, folder, protocol=protocol) for folder in (good, bad)]
    for k, shown in enumerate((results, results[1:])):
        page = tmp_path / f"{k}.html"
        export_report(shown, page)
        assert "bad" in page.read_text("utf-8")

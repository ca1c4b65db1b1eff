"""Parts of results: classes, objects and groups, parts of parts, their means and pooled results, and other settings."""

import json

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import refused

import segbench
from segbench import (
    Anomalies,
    ArgumentError,
    Boundaries,
    Centerlines,
    Classes,
    Contours,
    Labels,
    Objects,
    Pixels,
    Regions,
    Saliency,
    evaluate,
    load_results,
)
from segbench.aggregator.rereading import why_no_pictures
from segbench.core.messages import NoteWarning

NAMES = ("sky", "road", "car")
IMAGES = [f"{folder}/{number}" for folder, images in (("day", 3), ("night", 2)) for number in range(images)]


def label_maps(seed=0):
    """Return label maps of three classes, void at the edge, and predictions with some wrong pixels."""
    random = np.random.default_rng(seed)
    found = {}
    for image in IMAGES:
        truth = np.kron(random.integers(0, 3, (4, 5)), np.ones((4, 4), int)).astype(np.uint8)
        wrong = random.random(truth.shape) < 0.2
        predicted = np.where(wrong, random.integers(0, 3, truth.shape), truth).astype(np.uint8)
        truth[0] = 255
        found[image] = truth, predicted
    return found


def written(folder, images):
    """Write pairs as PNG files; return both folders."""
    for image, maps in images.items():
        for side, array in zip(("gt", "pred"), maps, strict=True):
            path = folder / side / f"{image}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            iio.imwrite(path, np.asarray(array, np.uint8))
    return folder / "gt", folder / "pred"


def soft_maps(seed=0):
    random = np.random.default_rng(seed)
    return {
        image: (truth, np.stack([np.rint(99 * (0.5 * (predicted == k) + 0.5 * random.random(truth.shape))) / 99
                                 for k in range(3)]))
        for image, (truth, predicted) in label_maps(seed).items()
    }  # fmt: skip


def panoptic_maps(seed=0):
    return {image: tuple(np.where(one == 255, 0, 1000 * (one.astype(int) + 1)) for one in maps)
            for image, maps in label_maps(seed).items()}  # fmt: skip


OF_CLASSES = {
    "classes": (soft_maps, Classes(labels=range(3), names=NAMES)),
    "labels": (label_maps, Labels(classes=range(3), names=NAMES)),
    "contours": (label_maps, Contours(classes=range(3), names=NAMES)),
    "objects": (panoptic_maps, Objects(divisor=1000, classes=(1, 2, 3), names=NAMES)),
}
HEADLINES = {  # of a class, and of all classes: the mean over classes, as papers report it
    "classes": [("ods_f", "macro_ods_f"), ("average_precision", "macro_average_precision"), ("auc_pr", "macro_auc_pr")],
    "labels": [("iou", "miou"), ("dice", "mean_dice"), ("recall", "mean_accuracy")],
    "contours": [("hd95", "hd95"), ("assd", "assd"), ("nsd@2", "nsd@2"), ("boundary_iou", "boundary_iou")],
    "objects": [("pq", "pq"), ("sq", "sq"), ("rq", "rq")],
}


def results_of_classes(name, **settings):
    maps, protocol = OF_CLASSES[name]
    return evaluate(maps(), protocol=protocol).with_settings(**settings)


def sequences():
    """Return two sequences of four frames, of two objects and of one that the prediction loses."""
    found = {}
    for frame in range(4):
        truth = np.zeros((20, 24), np.uint8)
        truth[2 + frame : 9 + frame, 3:10] = 1
        truth[12:18, 12 + frame : 19 + frame] = 2
        predicted = np.roll(truth, frame, axis=1)
        found[f"bear/{frame}"] = truth, predicted
        found[f"swan/{frame}"] = (truth == 2).astype(np.uint8), np.where(frame == 2, 0, predicted == 2).astype(np.uint8)
    return found


@pytest.fixture
def of_sequences(segbench, tmp_path):
    """The results file of two methods on the sequences."""
    folders = written(tmp_path, sequences())
    worse = {name: (truth, np.roll(predicted, 1, axis=0)) for name, (truth, predicted) in sequences().items()}
    other = written(tmp_path / "worse", worse)[1]
    file = tmp_path / "davis.segbench"
    assert segbench("contours", *folders, f"worse={other}", "--sequences", "-o", file).code == 0
    return file


@pytest.mark.parametrize("name", OF_CLASSES)
def test_the_mean_over_classes_is_that_of_the_benchmark(name):
    result = results_of_classes(name)
    classes = result.parts("class")
    assert list(classes) == list(NAMES)
    for of_class, of_all in HEADLINES[name]:
        values = [part.summary[of_class] for part in classes.values()]
        assert classes.mean.summary[of_class] == pytest.approx(np.nanmean(values), abs=1e-14)
        assert classes.mean.summary[of_class] == pytest.approx(result.summary[of_all], abs=1e-14)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_images_of_a_mean_over_classes_are_means_over_their_classes(name):
    classes = results_of_classes(name).parts("class")
    key = next(metric.image_key for metric in classes["sky"].rules.metrics() if metric.image_key)
    for image in IMAGES:
        values = [part.per_image[image][key] for part in classes.values()]
        assert classes.mean.per_image[image][key] == pytest.approx(np.nanmean(values), abs=1e-14)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_an_error_of_a_mean_over_classes_leaves_each_image_out_of_every_class(name):
    """The jackknife of the mean, of means over classes of the other images."""
    maps, protocol = OF_CLASSES[name]
    key = HEADLINES[name][0][0]
    found = evaluate(maps(), protocol=protocol).parts("class").mean.intervals().standard_errors[key]
    without = []
    for image in IMAGES:
        others = {other: pair for other, pair in maps().items() if other != image}
        parts = evaluate(others, protocol=protocol).parts("class").values()
        without.append(np.nanmean([part.summary[key] for part in parts]))
    number = len(IMAGES)
    assert found == pytest.approx(np.sqrt((number - 1) / number * np.sum((without - np.mean(without)) ** 2)), rel=0.25)


def test_soft_maps_of_classes_pool():
    result = results_of_classes("classes")
    pooled = result.parts("class").pooled
    cases = [(truth != 255, truth, maps) for truth, maps in soft_maps().values()]
    positives = np.concatenate([np.concatenate([(truth == k)[valid] for k in range(3)]) for valid, truth, _ in cases])
    scores = np.concatenate([maps[:, valid].ravel() for valid, _, maps in cases])
    alone = evaluate([(positives, scores)], protocol=Pixels(positive=1))
    for key in ("ods_f", "auc_pr", "auc_roc", "average_precision"):
        assert pooled.summary[key] == alone.summary[key] == result.summary[f"micro_{key}"]


@pytest.mark.parametrize(
    ("name", "reason"), [("labels", "are all the pixel accuracy"), ("contours", "averaged"), ("objects", "by class")]
)
def test_other_classes_do_not_pool_and_it_is_said_why(name, reason):
    classes = results_of_classes(name).parts("class")
    assert classes.pooled is None
    assert reason in classes.undefined["pooled"]
    assert "mean" not in classes.undefined


class TestObjects:
    """Objects of sequences."""

    def test_are_masks_of_their_sequence(self):
        objects = evaluate(sequences(), protocol=Contours(sequences=True)).parts("object")
        assert list(objects) == ["bear/1", "bear/2", "swan/1"]
        for name, part in objects.items():
            folder, number = name.split("/")
            frames = {image: pair for image, pair in sequences().items() if image.startswith(folder)}
            masks = {
                image: (truth == int(number), predicted == int(number)) for image, (truth, predicted) in frames.items()
            }
            alone = evaluate(masks, protocol=Contours(sequences=True, positive=1))
            assert part.summary == alone.summary
            assert list(part.counts) == list(frames)
            assert {image: dict(part.per_image[image]) for image in frames} == {
                image: dict(alone.per_image[image]) for image in frames
            }

    def test_have_the_result_itself_as_their_mean(self):
        result = evaluate(sequences(), protocol=Contours(sequences=True))
        objects = result.parts("object")
        assert objects.mean is result
        for key in ("j_and_f", "j", "j_recall", "j_decay", "f_davis", "f_recall", "f_decay"):
            assert result.summary[key] == pytest.approx(np.mean([part.summary[key] for part in objects.values()]))
        assert objects.pooled is None
        assert "in each frame" in objects.undefined["pooled"]

    def test_failed_frames_belong_to_the_objects_of_their_sequence(self, tmp_path):
        truth, prediction = written(tmp_path, sequences() | {"swan/2": (np.zeros((9, 9), np.uint8), np.eye(3) == 1)})
        with pytest.warns(segbench.FailedImages):
            result = evaluate(truth, prediction, Contours(sequences=True))
        objects = result.parts("object")
        assert [len(part.failed) for part in objects.values()] == [0, 0, 1]

    def test_have_rows_of_their_own_in_every_format(self, tmp_path, segbench):
        file = tmp_path / "r.segbench"
        segbench("contours", *written(tmp_path, sequences()), "--sequences", "-o", file)
        runs = json.loads(segbench("show", file, "--per-object", "--format", "json").out)["runs"]
        assert [run.get("object") for run in runs] == ["bear/1", "bear/2", "swan/1", None]
        assert [run.get("mean", False) for run in runs] == [False, False, False, True]
        whole = json.loads(segbench("show", file, "--format", "json").out)["runs"][0]
        assert runs[-1]["summary"] == whole["summary"]
        assert np.mean([run["summary"]["j"] for run in runs[:3]]) == pytest.approx(whole["summary"]["j"])
        table = segbench("show", file, "--per-object").out
        assert "mean of 3 objects" in table
        assert "swan/1" in table
        rows = segbench("show", file, "--per-object", "--format", "csv").out.splitlines()
        assert [row.split(",")[0] for row in rows] == ["object", "bear/1", "bear/2", "swan/1", "mean of 3 objects"]


def of_soft_maps():
    return {image: (truth == 1, maps[1]) for image, (truth, maps) in soft_maps().items()}


def of_masks():
    return {image: (truth == 1, predicted == 1) for image, (truth, predicted) in label_maps().items()}


EVERY_PROTOCOL = {
    **{name: (maps, protocol) for name, (maps, protocol) in OF_CLASSES.items()},
    "pixels": (of_soft_maps, Pixels(positive=1, at=(0.5,), calibration=True)),
    "masks": (of_masks, Labels()),
    "boundaries": (of_soft_maps, Boundaries(thresholds=5)),
    "regions": (label_maps, Regions()),
    "saliency": (of_soft_maps, Saliency(positive=1)),
    "anomalies": (of_soft_maps, Anomalies()),
    "centerlines": (of_masks, Centerlines()),
    "contours of masks": (of_masks, Contours()),
    "components": (of_masks, Objects(kind="components")),
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY_PROTOCOL)
def test_groups_of_every_protocol_are_their_images_and_average(name):
    maps, protocol = EVERY_PROTOCOL[name]
    result = evaluate(maps(), protocol=protocol, group_by="folder")
    groups = result.parts("group")
    for folder, part in groups.items():
        alone = evaluate({image: pair for image, pair in maps().items() if image.startswith(folder)}, protocol=protocol)
        assert str(part.summary) == str(alone.summary)
    scores = [metric.key for metric in protocol.metrics() if metric.kind == "score" and metric.key]
    means = groups.mean.summary
    assert list(means) == scores
    for key in scores:
        values = [part.summary[key] for part in groups.values()]
        expected = np.nan if np.isnan(values).all() else np.nanmean(values)
        assert means[key] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if name == "anomalies":
        assert groups.pooled is None
        assert "a model of its own" in groups.undefined["pooled"]
    else:
        assert dict(groups.pooled.summary) == pytest.approx(dict(result.summary), abs=0, nan_ok=True)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_parts_of_parts_are_taken_in_any_order(name):
    result = results_of_classes(name)
    for folder in ("day", "night"):
        for of_class in NAMES:
            one = result.parts("group", "folder")[folder].parts("class")[of_class]
            other = result.parts("class")[of_class].parts("group", "folder")[folder]
            assert one.summary == other.summary
            assert one.counts == other.counts
            assert (one.settings["group"], one.settings["class"]) == (folder, of_class)
            assert f"images:{len(one.counts)}|" in one.signature


MEASURED_OTHERWISE = [
    ("classes", {"at": (0.3, 0.7), "calibration": True}),
    ("labels", {"background": 0}),
    ("contours", {"nsd": (1.0, 3.0), "hd95": "union", "background": 1}),
    ("contours", {"empty": "diagonal", "spacing": 0.5}),
    ("objects", {"iou": (0.6,)}),
]


@pytest.mark.parametrize(("name", "settings"), MEASURED_OTHERWISE)
def test_a_part_measured_otherwise_is_the_part_of_the_whole_measured_otherwise(name, settings):
    result, other = results_of_classes(name), results_of_classes(name, **settings)

    def every(whole):
        classes, groups = whole.parts("class"), whole.parts("group", "folder")
        pooled = [classes.pooled] if classes.pooled else []
        nested = groups["day"].parts("class")
        return [*classes.values(), classes.mean, *pooled, *groups.values(), groups.mean, *nested.values(), nested.mean]

    for part, expected in zip(every(result), every(other), strict=True):
        found = part.with_settings(**settings)
        assert found.signature == expected.signature
        assert found.settings == expected.settings
        assert str(found.summary) == str(expected.summary)
        assert found.with_settings(**settings).signature == found.signature


def test_classes_that_are_background_are_in_no_mean():
    classes = results_of_classes("labels", background=0).parts("class")
    values = [classes[name].summary["iou"] for name in ("road", "car")]
    assert classes.mean.summary["iou"] == pytest.approx(np.mean(values), abs=1e-15)
    assert classes.mean.settings["mean"] == "2 classes"
    assert classes["sky"].settings["background"] == "left out of means"


def test_a_results_file_and_its_merged_halves_have_the_same_parts(tmp_path):
    folders = written(tmp_path, label_maps())
    protocol = Labels(classes=3, names=NAMES)
    whole = evaluate(*folders, protocol, results=tmp_path / "whole.segbench")
    halves = {"a": IMAGES[::2], "b": IMAGES[1::2]}
    for (half, images), background in zip(halves.items(), ((), 0), strict=True):
        measured = Labels(classes=3, names=NAMES, background=background)
        evaluate(*folders, measured, images=images, results=tmp_path / f"{half}.segbench")
    with pytest.warns(NoteWarning) as warned:
        segbench.merge_results([tmp_path / f"{half}.segbench" for half in halves], tmp_path / "merged.segbench")
    assert [warning.message.args[0].values["taken"] for warning in warned] == ["background:none"]
    (loaded,) = segbench.load_results(tmp_path / "whole.segbench")
    (merged,) = segbench.load_results(tmp_path / "merged.segbench")
    merged = merged.with_settings(background=())
    for result in (loaded, merged):
        for axis, by in (("class", ""), ("group", "folder")):
            parts, expected = result.parts(axis, by), whole.parts(axis, by)
            assert {name: part.summary for name, part in parts.items()} == {
                name: part.summary for name, part in expected.items()
            }
            assert parts.mean.summary == expected.mean.summary


@pytest.mark.parametrize(
    ("take", "kind", "values"),
    [
        (lambda result: result.parts("classes"), "unknown-axis", {"axis": "'classes'"}),
        (lambda result: result.parts("object"), "no-parts", {"parts": "objects", "protocol": "labels"}),
        (lambda result: result.parts("class", "folder"), "for-groups-only", {"axis": "class"}),
        (
            lambda result: result.parts("group"),
            "no-parts",
            {"why": "was counted without groups", "parts": "groups"},
        ),
        (
            lambda result: result.parts("class")["sea"],
            "no-such-part",
            {"settings": {"class": "sea"}, "axis": "class", "parts": "classes"},
        ),
        (
            lambda result: result.parts("class").mean.parts("group", "folder"),
            "mean-of-parts",
            {"method": "arrays", "parts": "classes"},
        ),
    ],
)
def test_mistakes_are_named(take, kind, values):
    with refused(kind, ArgumentError, **values):
        take(results_of_classes("labels"))


def test_names_that_are_no_parts_are_missing_as_in_any_mapping():
    classes = results_of_classes("labels").parts("class")
    assert "sea" not in classes
    assert classes.get("sea") is None


def test_methods_are_compared_and_drawn_by_one_object(segbench, of_sequences, tmp_path):
    compared = segbench("compare", of_sequences, "--object", "bear/1", "--format", "json")
    by_method = {one["method"]: one["estimate"] for one in json.loads(compared.out)["answers"][0]["standings"]}
    objects = {run.method: run.parts("object")["bear/1"] for run in load_results(of_sequences)}
    assert by_method == {method: part.summary["j_and_f"] for method, part in objects.items()}
    every = json.loads(segbench("compare", of_sequences, "--object", "all", "--format", "json").out)["answers"]
    assert list(dict.fromkeys(answer["object"] for answer in every)) == ["bear/1", "bear/2", "swan/1"]
    assert segbench("plot", of_sequences, "--object", "bear/1", "-o", tmp_path / "p.svg").code == 0
    refused = segbench("compare", of_sequences, "--object", "bee/1")
    assert (refused.code, refused.error.kind) == (2, "no-such-part")
    assert (refused.error.values["axis"], refused.error.values["known"]) == ("object", "bear/1, bear/2, swan/1")


def test_the_page_has_objects_and_says_that_a_single_one_has_no_pictures(segbench, of_sequences, tmp_path):
    page = tmp_path / "r.html"
    segbench("report", of_sequences, "-o", page)
    assert all(text in page.read_text() for text in (">Objects<", "swan/1", "mean of 3 objects"))
    said = segbench("report", of_sequences, "-o", page, "--object", "bear/1").err
    result = load_results(of_sequences)[0]
    reason = why_no_pictures(result.parts("object")["bear/1"])
    assert (reason.kind, reason.values) == ("no-pictures", {"part": "object"})
    assert str(reason) in said

import numpy as np
import pytest
from cases import write_folder
from noted import noted
from refusing import refused

import segbench
from segbench.aggregator.codec import decode, encode
from segbench.core.errors import ArgumentError

NAMES = ("road", "person", "car")


def make(root, images=4, classes=3):
    """Write label maps, and their stacks of 8-bit scores."""
    rng = np.random.default_rng(5)
    truths = {f"{k}.png": rng.integers(0, classes, (12, 14)).astype(np.uint8) for k in range(images)}
    truths["0.png"][:3] = 255
    stacks = {
        name.replace("png", "npy"): np.stack(
            [np.clip(rng.integers(0, 200, truth.shape) + 80 * (truth == k), 0, 255) for k in range(classes)]
        ).astype(np.uint8)
        for name, truth in truths.items()
    }
    return write_folder(root / "gt", truths), write_folder(root / "stacks", stacks), stacks


@pytest.fixture
def folders(tmp_path):
    return make(tmp_path)


PROTOCOL = segbench.Classes(labels=range(3), names=NAMES)


def test_each_class_is_a_result_of_pixels(folders, tmp_path):
    truth, prediction, stacks = folders
    result = segbench.evaluate(truth, prediction, PROTOCOL)
    assert tuple(result.parts("class")) == NAMES
    for k, name in enumerate(NAMES):
        alone = write_folder(tmp_path / name, {file: stack[k] for file, stack in stacks.items()})
        pixels = segbench.evaluate(truth, alone, segbench.Pixels(positive=str(k), void=(255,)))
        one = result.parts("class")[name]
        assert dict(one.counts) == dict(pixels.counts)
        assert one.summary.metrics == pixels.summary.metrics
        assert one.curve.area == pixels.curve.area
        assert one.intervals(replicates=50)["ods_f"] == pixels.intervals(replicates=50)["ods_f"]
        assert one.signature == pixels.signature.replace("pixels|", f"pixels|class:{name}|")
    with refused(
        "no-such-part",
        ArgumentError,
        settings={"class": "dog"},
        axis="class",
        parts="classes",
        known="road, person, car",
    ):
        result.parts("class")["dog"]


def test_micro_is_a_result_of_pixels(folders):
    result = segbench.evaluate(*folders[:2], PROTOCOL)
    micro = result.parts("class").pooled
    for key, figure in micro.summary.items():
        if key != "ignored":
            assert result.summary[f"micro_{key}"] == figure
    assert micro.counts["0"] == result.counts["0"].micro
    assert result.curve.area == micro.curve.area == result.summary["micro_auc_pr"]
    pixels = segbench.evaluate(folders[0], folders[0], segbench.Pixels(positive="1"))
    assert pixels.axes == ()
    with refused("no-parts", ArgumentError, parts="classes", protocol="pixels"):
        pixels.parts("class")


def test_results_file_goes_on_and_gives_the_same(folders, tmp_path):
    kept = tmp_path / "r.segbench"
    first = segbench.evaluate(*folders[:2], PROTOCOL, results=kept)
    again = segbench.evaluate(*folders[:2], PROTOCOL, results=kept)
    (loaded,) = segbench.load_results(kept)
    for other in (again, loaded):
        assert other.signature == first.signature
        assert dict(other.counts) == dict(first.counts)
        assert other.summary.metrics == first.summary.metrics
        assert other.parts("class")["car"].signature == first.parts("class")["car"].signature


def test_counts_are_packed_class_by_class(folders):
    result = segbench.evaluate(*folders[:2], PROTOCOL)
    counts = result.counts["0"]
    assert decode(encode(counts)) == counts
    assert encode(decode(encode(counts))) == encode(counts)
    plain = segbench.Result("m", PROTOCOL, result.settings, result.signature, dict(result.counts))
    assert dict(plain.parts("class")["car"].counts) == dict(result.parts("class")["car"].counts)


def test_images_that_lack_a_class_are_listed_all_at_once(folders, tmp_path):
    truth, _, stacks = folders
    maps = {f"class_{k}/{file}": stack[k] for file, stack in stacks.items() for k in range(3)}
    for gone in ("class_1/2.npy", "class_2/2.npy", "class_2/3.npy"):
        del maps[gone]
    prediction = write_folder(tmp_path / "maps", maps)
    lacking = ((("person (label 1)", "car (label 2)"), ("2",)), (("car (label 2)",), ("3",)))
    with refused("missing-maps", segbench.DataError, incomplete=2, total=4, classes=3, lacking=lacking):
        segbench.evaluate(truth, prediction, PROTOCOL)


def test_folders_pair_with_classes_by_label_or_name_and_say_so(folders, tmp_path):
    truth, prediction, stacks = folders
    expected = segbench.evaluate(truth, prediction, PROTOCOL)
    tags = {"numbers": ("class_000", "class_001", "class_002"), "names": ("road", "person", "car")}
    tags["mixed"] = ("0", "person", "c-2")
    for kind, called in tags.items():
        maps = {f"{tag}/{file}": stack[k] for file, stack in stacks.items() for k, tag in enumerate(called)}
        maps |= {"sky/0.npy": np.zeros((12, 14), np.uint8)}
        result = segbench.evaluate(truth, write_folder(tmp_path / kind, maps), PROTOCOL, pred_pattern="#/*")
        assert dict(result.counts) == dict(expected.counts)
        classes = tuple(f"{name} (label {k})" for k, name in enumerate(NAMES))
        told = tuple(f"{tag} is {name}" for tag, name in zip(called, classes, strict=True))
        assert noted(result.notes) == [
            ("", "predictions-by-class", {"named": told, "predictions": called, "classes": classes}),
            ("", "predictions-of-no-class", {"names": ("sky",)}),
        ]
    doubled = {f"{tag}/{file}": stack[0] for file, stack in stacks.items() for tag in ("0", "road", "1", "2")}
    with refused("several-maps", segbench.DataError, classes=("road (label 0)",)):
        segbench.evaluate(truth, write_folder(tmp_path / "doubled", doubled), PROTOCOL)
    order = ("road (label 0)", "person (label 1)", "car (label 2)")
    assert noted(expected.notes) == [("", "order-of-classes", {"classes": order})]


def test_without_an_image_there_is_no_curve(folders):
    with pytest.warns(segbench.FailedImages):
        result = segbench.evaluate(*folders[:2], segbench.Classes(labels=range(4)))
    assert len(result.failed) == 4
    assert result.axes == ()
    with refused("no-image", ArgumentError, parts="classes"):
        result.parts("class")
    assert result.summary.undefined["macro_ods_f"].kind == "no-pixels"
    with refused("no-image", segbench.DataError):
        result.curve  # noqa: B018  a property that raises

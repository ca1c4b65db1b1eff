"""The files of an image to a Sample: for each protocol, with digests, and sizes that do not fit."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from noted import noted
from PIL import Image
from refusing import refused

from segbench.core.errors import DataError
from segbench.loaders.listing import SampleFiles
from segbench.loaders.pairing import Inputs, pair
from segbench.loaders.reading import BOUNDARIES, CLASS_MAPS, MASKS, REGIONS, decode_sample, read

from .encoders import COLOUR8, FLOAT32, GREY8, MASK, cell, mat, npy, paletted, pillow

LABELS = (GREY8 % 5 + 1).astype(np.uint16)
TRUTH = mat(groundTruth=cell(*[{"Boundaries": MASK ^ (k == 1), "Segmentation": LABELS + k} for k in range(3)]))


def load(files, reads):
    return decode_sample(read(files), reads)


@pytest.fixture
def files(tmp_path):
    def write(truths, prediction, field=None):
        def put(folder, name, data):
            path = tmp_path / folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            return path

        paths = tuple(put(f"gt{i}", name, data) for i, (name, data) in enumerate(truths))
        return SampleFiles("a", paths, put("pred", *prediction), put("field", *field) if field else None)

    return write


def digest(data):
    return hashlib.sha256(data).hexdigest()


def joint(*digests):
    return digest(",".join(map(str, digests)).encode())


def test_masks_with_field_notes_and_digests(files):
    truths = [("a.png", pillow(MASK, "PNG")), ("a.gif", paletted(GREY8 % 4, [[9, 0, 0], [0, 9, 0]] * 2, "GIF"))]
    field = np.where(GREY8 > 30, 7, 0).astype(np.uint8)
    given = files(truths, ("a.png", pillow(COLOUR8, "PNG")), ("a.bmp", pillow(field, "BMP")))
    raw = read(given)
    sample = decode_sample(raw, MASKS)
    assert sample.name == "a"
    np.testing.assert_array_equal(sample.ground_truths[0], MASK)
    np.testing.assert_array_equal(sample.ground_truths[1], GREY8 % 4)
    assert sample.predictions[0].shape == MASK.shape
    assert sample.field.dtype == bool
    np.testing.assert_array_equal(sample.field, field != 0)
    colours = {"indices": (0, 1, 2, 3), "colours": ("090000", "000900") * 2}
    assert noted(sample.notes) == [("ground truth", "palette-indices", colours), ("prediction", "turned-to-grey", {})]
    contents = [*(data for _, data in truths), given.field.read_bytes()]
    truth = joint(*map(digest, contents))
    assert raw.digests() == (truth, joint(truth, digest(given.prediction.read_bytes())))


def test_bytes_are_read_once_and_decoding_can_wait(files, monkeypatch):
    given = files([("a.png", pillow(MASK, "PNG"))], ("a.npy", npy(FLOAT32)))
    opened = []
    original = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self) or original(self))
    raw = read(given)
    assert opened == [given.ground_truths[0], given.prediction]
    assert raw.digests()[0] == joint(digest(raw.contents[given.ground_truths[0]]), None)
    for path in opened:
        path.unlink()
    np.testing.assert_array_equal(decode_sample(raw, MASKS).predictions[0], FLOAT32)
    assert len(opened) == 2


def test_equal_notes_of_several_annotators_are_said_once(files):
    indexed = paletted(GREY8 % 4, [[9, 0, 0], [0, 9, 0]] * 2)
    sample = load(files([("a.png", indexed), ("b.png", indexed)], ("a.png", pillow(GREY8, "PNG"))), MASKS)
    assert len(sample.notes) == 1


@pytest.mark.parametrize("reads", [MASKS, BOUNDARIES])
def test_boundaries_of_a_mat_cell(files, reads):
    sample = load(files([("a.mat", TRUTH)], ("a.png", pillow(GREY8, "PNG"))), reads)
    assert len(sample.ground_truths) == 3
    np.testing.assert_array_equal(sample.ground_truths[0], MASK)
    np.testing.assert_array_equal(sample.ground_truths[1], ~MASK)
    np.testing.assert_array_equal(sample.predictions, [GREY8])
    assert bool(sample.notes) == (reads is MASKS)


def test_regions_of_a_mat_cell_and_a_label_map(files):
    indexed = paletted(GREY8 % 4, [[9, 0, 0], [0, 9, 0]] * 2)
    sample = load(files([("a.mat", TRUTH), ("b.npy", npy(-LABELS.astype(int)))], ("a.png", indexed)), REGIONS)
    assert len(sample.ground_truths) == 4
    np.testing.assert_array_equal(sample.ground_truths[2], LABELS + 2)
    np.testing.assert_array_equal(sample.ground_truths[3], -LABELS.astype(int))
    np.testing.assert_array_equal(sample.predictions, [GREY8 % 4])


def in_maps(folder, maps, tags=()):
    """Write the maps of one image, a file each; return its files."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{k}{suffix}" for k, (suffix, _) in enumerate(maps)]
    for path, (_, data) in zip(paths, maps, strict=True):
        path.write_bytes(data)
    (folder / "gt.png").write_bytes(pillow(GREY8 % 3, "PNG"))
    return SampleFiles("a", (folder / "gt.png",), paths[0], None, scales=tuple(paths[1:]), tags=tags)


def test_what_was_done_to_the_map_of_any_class_is_said(tmp_path):
    grey, coloured = (".png", pillow(GREY8, "PNG")), (".png", pillow(COLOUR8, "PNG"))
    wide = (".npy", npy(GREY8.astype(np.int32)))
    sample = load(in_maps(tmp_path, [grey, coloured, wide], ("class_0", "class_1", "class_2")), CLASS_MAPS)
    luma, levels = noted(sample.notes)
    assert luma == ("prediction", "turned-to-grey", {"maps": ("class_1",)})
    assert levels[:2] == ("prediction", "wide-levels")
    assert levels[2]["maps"] == ("class_2",)
    for maps, named in [
        ([grey, coloured], {"maps": ("map 2",)}),
        ([coloured] * 2, {}),
        ([grey, *[coloured] * 6], {"maps": ("6 maps",)}),
    ]:
        notes = load(in_maps(tmp_path, maps), CLASS_MAPS).notes
        assert noted(notes) == [("prediction", "turned-to-grey", named)]


@pytest.mark.parametrize("reads", [BOUNDARIES, REGIONS])
def test_label_maps_of_several_scales_are_decoded_once_with_the_notes_of_all(tmp_path, reads, monkeypatch):
    indexed = (".png", paletted(GREY8 % 4, [[9, 0, 0], [0, 9, 0]] * 2))
    given = in_maps(tmp_path, [(".png", pillow(GREY8 % 5, "PNG")), indexed, indexed], ("s0", "s1", "s2"))
    opened = []
    original = Image.open
    monkeypatch.setattr(Image, "open", lambda *given, **options: opened.append(1) or original(*given, **options))
    sample = load(given, reads)
    assert len(opened) == 4
    np.testing.assert_array_equal(sample.predictions, [GREY8 % 5, GREY8 % 4, GREY8 % 4])
    assert sample.labels_predicted
    assert noted(sample.notes) == [("prediction", "palette-indices", {"maps": ("s1", "s2")})]


@pytest.mark.parametrize("reads", [BOUNDARIES, REGIONS])
def test_predictions_from_mat_files(files, reads):
    doubled = np.linspace(0, 1, 39 * 47).reshape(39, 47)
    sample = load(files([("a.mat", TRUTH)], ("a.mat", mat(ucm2=doubled))), reads)
    np.testing.assert_array_equal(sample.predictions, [doubled])
    sample = load(files([("a.mat", TRUTH)], ("a.mat", mat(segs=cell(LABELS, LABELS // 2)))), reads)
    np.testing.assert_array_equal(sample.predictions, [LABELS, LABELS // 2])
    sample = load(files([("a.mat", TRUTH)], ("a.mat", mat(edges=FLOAT32))), reads)
    np.testing.assert_array_equal(sample.predictions, [FLOAT32])


def test_a_soft_map_of_ucm2_size_is_no_ucm2(files):
    doubled = np.zeros((39, 47))
    for name, data, reads in [("a.npy", npy(doubled), BOUNDARIES), ("a.mat", mat(ucm2=doubled), MASKS)]:
        with refused("other-size", DataError, size=(39, 47), expected=(19, 23)):
            load(files([("a.mat", TRUTH)], (name, data)), reads)


def test_a_ucm2_of_another_size(files):
    with refused("other-size", DataError, size=(47, 39), expected=(39, 47)):
        load(files([("a.mat", TRUTH)], ("a.mat", mat(ucm2=np.zeros((47, 39))))), BOUNDARIES)


@pytest.mark.parametrize(
    ("shape", "looks"),
    [
        ((23, 19), ("transposed", {})),
        ((18, 21), ("off-by-pixels", {"off": (1, 2)})),
        ((57, 69), ("off-by-factor", {"word": "larger", "factor": 3})),
        ((20, 90), None),
    ],
)
def test_sizes_that_differ(files, shape, looks):
    truth, other = ("a.png", pillow(MASK, "PNG")), ("b.png", pillow(np.zeros(shape, np.uint8), "PNG"))
    for given in [files([truth], other), files([truth, other], truth), files([truth], truth, other)]:
        with refused("other-size", DataError, size=shape, expected=(19, 23)) as caught:
            load(given, MASKS)
        assert caught.value.path.endswith("b.png")
        assert caught.value.values["other"].endswith("a.png")
        guess = caught.value.values["guess"]
        assert (guess and (guess.kind, guess.values)) == (looks or "")


@pytest.mark.parametrize(
    ("levels", "name", "image_format"),
    [((0, 255), "a.jpg", "JPEG"), ((10, 255), "a.png", "PNG")],
    ids=["grey levels of JPEG", "nothing is 0"],
)
def test_a_field_that_leaves_open_what_is_outside_is_refused(files, levels, name, image_format):
    truth = ("a.png", pillow(MASK, "PNG"))
    field = np.where(GREY8 > 30, *levels[::-1]).astype(np.uint8)
    with refused("several-values", DataError, highest=255):
        load(files([truth], truth, (name, pillow(field, image_format))), MASKS)


@pytest.mark.parametrize("level", [0, 9])
def test_a_field_of_one_value_is_all_outside_or_all_inside(files, level):
    truth = ("a.png", pillow(MASK, "PNG"))
    field = np.full(MASK.shape, level, np.uint8)
    assert (load(files([truth], truth, ("a.png", pillow(field, "PNG"))), MASKS).field == (level > 0)).all()


def test_a_bad_file_is_named(files):
    good = ("a.png", pillow(MASK, "PNG"))
    for given, bad in [
        (files([("b.png", good[1][:60])], good), "gt0"),
        (files([good], ("b.png", good[1][:60])), "pred"),
        (files([good], good, ("b.png", good[1][:60])), "field"),
        (files([("b.mat", TRUTH[:500])], good), "gt0"),
    ]:
        with pytest.raises(DataError) as caught:
            load(given, MASKS)
        assert Path(caught.value.path).parent.name == bad


def test_from_two_folders_to_samples(tmp_path):
    for folder, array in [("gt", MASK), ("pred", GREY8)]:
        for name in ("x/1.png", "2.png"):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pillow(array, "PNG"))
    samples = [
        load(file, MASKS)
        for file in pair(Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))).files
    ]
    assert [sample.name for sample in samples] == ["2", "x/1"]
    for sample in samples:
        np.testing.assert_array_equal(sample.ground_truths, [MASK])
        np.testing.assert_array_equal(sample.predictions, [GREY8])

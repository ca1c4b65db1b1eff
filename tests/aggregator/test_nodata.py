"""GeoTIFFs that declare a value for no data, in scores, labels and ground truth; sparse files, and masks inside."""

import io
import json
import struct

import numpy as np
import pytest
import tifffile
from noted import noted, of_kind
from refusing import refused
from sklearn.metrics import average_precision_score, f1_score

import segbench
from segbench import Boundaries, Contours, Labels, Pixels, Regions, Repairs, Saliency, evaluate
from segbench.core.messages import Setting

RNG = np.random.default_rng(5)
MASK = (RNG.random((16, 20)) < 0.3).astype(np.uint8)
HOLE = np.zeros(MASK.shape, np.bool_)
HOLE[:4, :5] = True
SCORES = np.clip(0.4 * MASK + 0.6 * RNG.random(MASK.shape), 0.01, 1).astype(np.float32)
LABELS = RNG.integers(0, 3, MASK.shape).astype(np.uint8)
PREDICTED = np.where(RNG.random(MASK.shape) < 0.8, LABELS, (LABELS + 1) % 3).astype(np.uint8)
LOWEST = average_precision_score(MASK.ravel(), np.where(HOLE, 0, SCORES).ravel())
EXCLUDED = average_precision_score(MASK[~HOLE], SCORES[~HOLE])


def geotiff(array, nodata=None, **options):
    """Make a TIFF that declares a value as GDAL does."""
    stream = io.BytesIO()
    tags = [] if nodata is None else [(42113, 2, 0, nodata, True)]
    tifffile.imwrite(stream, array, extratags=tags, **options)
    return stream.getvalue()


def folders(root, truth, predicted):
    for name, data in (("gt", truth), ("pred", predicted)):
        (root / name).mkdir(exist_ok=True)
        (root / name / "a.tif").write_bytes(data)
    return root / "gt", root / "pred"


def holed(array, value, dtype=None):
    return np.where(HOLE, np.array(value, dtype or array.dtype), array.astype(dtype or array.dtype))


SHORT, BYTES = (SCORES * 30000).astype(np.int16), (SCORES * 254).astype(np.uint8)
LOGITS = np.log(SCORES / (1.01 - SCORES))
STORED = {
    "-9999": (holed(SCORES, -9999), "-9999", SCORES),
    "nan": (holed(SCORES, np.nan), "nan", SCORES),
    "double precision": (holed(SCORES, np.finfo(np.float32).min), "-3.4028234663852886e+38", SCORES),
    "signed integers": (holed(SHORT, -9999), "-9999", SHORT.astype(float)),
    "255 of 8 bits": (holed(BYTES, 255), "255", BYTES.astype(float)),
    "0 of floats": (holed(SCORES, 0), "0", SCORES),
    "logits": (holed(LOGITS, -9999), "-9999", LOGITS),
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.filterwarnings("ignore:.*int16 values are levels")
def test_scores_without_data_are_refused_and_the_advice_gives_the_right_numbers(tmp_path, stored):
    array, nodata, scores = STORED[stored]
    places = folders(tmp_path, geotiff(MASK), geotiff(array, nodata))
    with pytest.warns(segbench.FailedImages):
        failure = evaluate(*places).failed["a"]
    assert failure.kind == "nodata"
    assert (failure.values["pixels"], failure.values["positives"]) == (HOLE.sum(), MASK[HOLE].sum())
    assert float(failure.values["values"]) == pytest.approx(float(nodata), nan_ok=True)
    advised = [advised.value for advised in failure.settings if advised.name == "nodata"]
    found = [evaluate(*places, repairs=Repairs(nodata=rule)).summary["average_precision"] for rule in advised]
    lowest = average_precision_score(MASK.ravel(), np.where(HOLE, -1e9, scores).ravel())
    assert found == pytest.approx([lowest, average_precision_score(MASK[~HOLE], scores[~HOLE])])


def test_the_command_line_notes_how_many_positives_are_left_out(segbench, tmp_path):
    places = folders(tmp_path, geotiff(MASK), geotiff(holed(SCORES, -9999), "-9999"))
    answer = segbench("pixels", *places, "--nodata", "exclude", "--format", "json")
    (run,) = json.loads(answer.out)["runs"]
    lost = MASK[HOLE].sum()
    (note,) = (note for note in run["notes"] if note["kind"] == "no-data-positive")
    assert (note["side"], note["values"]) == ("prediction", {"amount": lost, "images": 1, "total": 1})
    assert "nodata:exclude" in run["signature"]
    assert run["summary"]["ignored"] == HOLE.sum()


def test_an_unknown_rule_is_an_error_of_the_command_line(segbench, tmp_path):
    places = folders(tmp_path, geotiff(MASK), geotiff(SCORES))
    assert segbench("pixels", *places, "--nodata", "zero").code == 2


def test_pixels_without_data_outside_the_field_are_no_error(tmp_path):
    places = folders(tmp_path, geotiff(MASK), geotiff(holed(SCORES, -9999), "-9999"))
    (tmp_path / "field").mkdir()
    (tmp_path / "field" / "a.tif").write_bytes(geotiff((~HOLE * 255).astype(np.uint8)))
    assert evaluate(*places, field=tmp_path / "field").summary["average_precision"] == pytest.approx(EXCLUDED)


def test_the_lowest_score_is_the_highest_where_low_scores_mean_positive(tmp_path):
    places = folders(tmp_path, geotiff(MASK), geotiff(holed(1 - SCORES, -9999), "-9999"))
    found = evaluate(*places, Pixels(invert=True), repairs=Repairs(nodata="lowest")).summary["average_precision"]
    assert found == pytest.approx(LOWEST)


@pytest.mark.parametrize("how", ["nearest", "bilinear"])
def test_what_is_resized_from_no_data_has_none(tmp_path, how):
    stored = np.full((2, 2), 0.5, np.float32)
    stored[0, 0] = -9999
    places = folders(tmp_path, geotiff(np.eye(4, dtype=np.uint8)), geotiff(stored, "-9999"))
    counts = evaluate(*places, repairs=Repairs(resize=how, nodata="exclude")).counts["a"]
    # Pixel centres: bilinear takes from the corner in 3 x 3 pixels, of which it fills all but the last row and column.
    assert counts.ignored == (4 if how == "nearest" else 9)
    assert counts.scores.tolist() == [0.5]


@pytest.mark.parametrize("protocol", [Boundaries(), Saliency()])
def test_whole_images_take_the_lowest_score_alone(tmp_path, protocol):
    places = folders(tmp_path, geotiff(MASK * 255), geotiff(holed(SCORES, -9999), "-9999"))
    with refused("unfit-repairs", segbench.ArgumentError, settings={"nodata": "lowest"}):
        evaluate(*places, protocol, repairs=Repairs(nodata="exclude"))
    found = evaluate(*places, protocol, repairs=Repairs(nodata="lowest")).summary
    blank = folders(tmp_path, geotiff(MASK * 255), geotiff(holed(SCORES, 0)))
    assert found == evaluate(*blank, protocol).summary


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
@pytest.mark.parametrize(
    ("stored", "nodata"), [(holed(PREDICTED, 255), "255"), (holed(PREDICTED, -9999, np.int16), "-9999")]
)
def test_predicted_labels_without_data_are_wrong(tmp_path, stored, nodata):
    result = evaluate(*folders(tmp_path, geotiff(LABELS), geotiff(stored, nodata)), Labels(classes=3))
    assert result.summary["outside"] == HOLE.sum()
    values = {"values": nodata, "counts_as": "wrong", "images": 1, "total": 1}
    assert noted(result.notes[:1]) == [("prediction", "no-data-labels", values)]


@pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")
def test_predicted_labels_of_nan_are_wrong(tmp_path):
    stored = holed(PREDICTED, np.nan, np.float32)
    result = evaluate(*folders(tmp_path, geotiff(LABELS), geotiff(stored, "nan")), Labels(classes=3))
    assert result.summary["outside"] == HOLE.sum()


def test_predicted_masks_without_data_are_wrong(tmp_path):
    predicted = (PREDICTED == 1).astype(np.uint8)
    result = evaluate(*folders(tmp_path, geotiff(MASK), geotiff(holed(predicted, 255), "255")), Labels())
    wrong = np.where(HOLE, 1 - MASK, predicted)
    assert result.summary["dice"] == pytest.approx(f1_score(MASK.ravel(), wrong.ravel()))


def test_predicted_masks_without_data_are_background_to_contours(tmp_path):
    predicted = (PREDICTED == 1).astype(np.uint8)
    result = evaluate(*folders(tmp_path, geotiff(MASK), geotiff(holed(predicted, 255), "255")), Contours())
    blank = evaluate(*folders(tmp_path, geotiff(MASK), geotiff(holed(predicted, 0))), Contours())
    assert result.summary == blank.summary
    values = {"values": "255", "counts_as": "background", "images": 1, "total": 1}
    assert noted(result.notes[:1]) == [("prediction", "no-data-labels", values)]


LEGAL = {
    "a class of predictions": (LABELS, None, PREDICTED, "2", Labels(classes=3)),
    "a class of ground truth": (LABELS, "2", PREDICTED, None, Labels(classes=3)),
    "background of ground truth": (MASK, "0", SCORES, None, Pixels()),
    "void already": (holed(LABELS, 255), "255", PREDICTED, None, Labels(classes=3)),
    "nowhere in predictions": (LABELS, None, PREDICTED, "99", Labels(classes=3)),
    "nowhere in scores": (MASK, None, SCORES, "-9999", Pixels()),
    "background of predicted masks": (MASK, None, MASK * 255, "0", Pixels()),
    "the positive value": (MASK * 255, "255", SCORES, None, Pixels(positive=255)),
    "no number": (MASK, None, SCORES, "none", Pixels()),
}


@pytest.mark.parametrize("legal", LEGAL)
def test_nothing_is_said_of_a_value_that_means_something_or_is_nowhere(tmp_path, legal):
    truth, truth_nodata, predicted, nodata, protocol = LEGAL[legal]
    declared = evaluate(*folders(tmp_path, geotiff(truth, truth_nodata), geotiff(predicted, nodata)), protocol)
    plain = evaluate(*folders(tmp_path, geotiff(truth), geotiff(predicted)), protocol)
    assert (declared.notes, str(declared.summary)) == (plain.notes, str(plain.summary))


@pytest.mark.parametrize("value", [99, -9999])
@pytest.mark.parametrize("protocol", [Pixels, Labels])
def test_ground_truth_without_data_is_advised_as_void(tmp_path, protocol, value):
    predicted = SCORES if protocol is Pixels else (PREDICTED == 1).astype(np.uint8)
    truth = holed(MASK, value, np.int16)
    places = folders(tmp_path, geotiff(truth, str(value)), geotiff(predicted))
    with pytest.warns(segbench.FailedImages):
        failure = evaluate(*places, protocol()).failed["a"]
    assert Setting("void", (value,)) in failure.settings
    assert (failure.kind, failure.values["count"], failure.hint.kind) == ("several-values", 3, "nodata")
    report = str(segbench.check(*places, protocol()))
    assert f"void=({value},)" in report
    assert "positive=" not in report.split("otherwise", maxsplit=1)[0]
    assert evaluate(*places, protocol(void=value)).summary["ignored"] == HOLE.sum()


def test_the_remedy_for_no_data_of_ground_truth_is_said_once(tmp_path):
    places = folders(tmp_path, geotiff(holed(LABELS, 99, np.int16), "99"), geotiff(PREDICTED))
    assert str(segbench.check(*places, Labels(classes=3))).count("void=(99, 255)") == 1


def test_ground_truth_of_nan_is_advised_as_void(tmp_path):
    places = folders(tmp_path, geotiff(holed(LABELS, np.nan, np.float32), "nan"), geotiff(PREDICTED))
    with pytest.warns(segbench.FailedImages):
        failure = evaluate(*places, Labels(classes=3)).failed["a"]
    assert Setting("void", (-1, 255)) in failure.settings
    assert (failure.kind, failure.values["labels"], failure.hint.kind) == ("no-class", (-1,), "nodata")
    assert evaluate(*places, Labels(classes=3, void=(-1, 255))).summary["ignored"] == HOLE.sum()


def test_ground_truth_without_data_that_is_counted_is_noted(tmp_path):
    places = folders(tmp_path, geotiff(holed(MASK, 99), "99"), geotiff(SCORES))
    (note,) = of_kind(evaluate(*places, Pixels(positive=1)).notes, "declared-no-data")
    assert note.side == "ground truth"
    assert note.values["advice"].settings == (Setting("void", (99,)),)


@pytest.mark.parametrize("protocol", [Labels(classes=3), Regions()])
def test_label_maps_take_no_rule_for_scores(tmp_path, protocol):
    places = folders(tmp_path, geotiff(LABELS), geotiff(PREDICTED))
    with refused("unfit-repairs", segbench.ArgumentError):
        evaluate(*places, protocol, repairs=Repairs(nodata="lowest"))


def sparse(data, missing):
    """Make a file forget some of its strips or tiles, as GDAL's SPARSE_OK leaves them."""
    with tifffile.TiffFile(io.BytesIO(data)) as tiff:
        page, written = tiff.pages[0], bytearray(data)
        for code in (324, 325) if page.is_tiled else (273, 279):
            tag = page.tags[code]
            values = [0 if place in missing else value for place, value in enumerate(tag.value)]
            struct.pack_into(f"<{len(values)}{ {3: 'H', 4: 'I'}[int(tag.dtype)] }", written, tag.valueoffset, *values)
    return bytes(written)


@pytest.mark.parametrize("nodata", [None, "-9999"])
@pytest.mark.parametrize("compression", [None, "zlib"])
def test_sparse_files_are_filled(tmp_path, compression, nodata):
    whole = geotiff(SCORES, nodata, rowsperstrip=4, compression=compression)
    filled = SCORES.copy()
    filled[4:8] = 0 if nodata is None else -9999
    rules = Repairs(nodata=nodata and "exclude")
    counts = evaluate(*folders(tmp_path, geotiff(MASK), sparse(whole, {1})), repairs=rules).counts["a"]
    assert counts == evaluate(*folders(tmp_path, geotiff(MASK), geotiff(filled, nodata)), repairs=rules).counts["a"]


def test_a_strip_that_is_nowhere_but_has_a_place_is_missing(tmp_path):
    data = bytearray(geotiff(SCORES, rowsperstrip=4))
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as tiff:
        tag = tiff.pages[0].tags[279]
        struct.pack_into("<H" if int(tag.dtype) == 3 else "<I", data, tag.valueoffset, 0)
    with pytest.warns(segbench.FailedImages):
        failure = evaluate(*folders(tmp_path, geotiff(MASK), bytes(data))).failed["a"]
    assert (failure.kind, failure.values) == ("damaged", {"missing": 1, "expected": 4})


def test_internal_masks_are_ignored_with_a_note(tmp_path):
    stream = io.BytesIO()
    with tifffile.TiffWriter(stream) as file:
        file.write(SCORES, subfiletype=0)
        file.write(~HOLE, subfiletype=4)
    masked = evaluate(*folders(tmp_path, geotiff(MASK), stream.getvalue()))
    assert noted(masked.notes[:1]) == [("prediction", "internal-mask", {"images": 1, "total": 1})]
    assert masked.counts["a"] == evaluate(*folders(tmp_path, geotiff(MASK), geotiff(SCORES))).counts["a"]

"""What is said of a set is known of the set: a few images do not speak for the others."""

import json

import imageio.v3 as iio
import numpy as np
import pytest
from cases import write_folder

from segbench import Contours, check

SHAPE = (40, 48)
RNG = np.random.default_rng(3)


def squares(*corners):
    """Draw squares of 8 pixels at some corners."""
    drawn = np.zeros(SHAPE, np.uint8)
    for row, column in corners:
        drawn[row : row + 8, column : column + 8] = 255
    return drawn


BLANK, ONE, TWO = squares(), squares((4, 4)), squares((4, 4), (20, 30))


def numbered(*maps):
    return {f"{k:03}.png": drawn for k, drawn in enumerate(maps)}


def soft(maps):
    return {name: (drawn // 255 * 90 + RNG.integers(0, 150, SHAPE)).astype(np.uint8) for name, drawn in maps.items()}


@pytest.fixture
def said(segbench, tmp_path):
    """Check two folders, and run them; return the findings of the check by key and what the run says."""

    def check(verb, truths, predictions, *options):
        where = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", predictions)
        report = json.loads(segbench("check", verb, *where, *options, "--format", "json").out)["reports"][0]
        return {found["kind"]: found for found in report["findings"]}, segbench(
            verb, *where, *options, "--progress", "none"
        ).err

    return check


class TestIdentical:
    def test_blank_images_do_not_make_predictions_identical(self, said):
        truths = numbered(*(TWO if k in (2, 5, 7) else BLANK for k in range(10)))
        shifted = {name: np.roll(drawn, 3, axis=1) for name, drawn in truths.items()}
        findings, text = said("labels", truths, shifted)
        assert "identical" not in findings
        assert "identical" not in text

    def test_nor_do_32_of_many(self, said):
        truths = numbered(*(TWO if k in (1, 2) else BLANK for k in range(96)))
        shifted = {name: np.roll(drawn, 3, axis=1) for name, drawn in truths.items()}
        findings, text = said("labels", truths, shifted, "--positive", "255")
        assert "identical" not in findings
        assert "looked at)" not in text

    @pytest.mark.parametrize(
        ("images", "what"),
        [
            (2, "every prediction is identical to the ground truth: every metric will be perfect"),
            (10, "every prediction is identical to the ground truth: every metric will be perfect"),
            (40, "all 32 predictions inspected are identical to the ground truth (32 of 40 images looked at)"),
        ],
    )
    def test_the_message_names_what_was_inspected(self, said, images, what):
        maps = numbered(*[TWO] * images)
        other = {name: drawn // 255 for name, drawn in maps.items()}  # no copies byte for byte
        findings, text = said("labels", maps, other)
        assert findings["identical"]["text"] == what
        assert what in text

    def test_a_run_looks_at_others_before_it_says_so(self, said):
        truths = numbered(*[TWO] * 10)
        predictions = {name: ONE if k % 3 else TWO // 255 for k, name in enumerate(truths)}
        assert "identical" not in said("labels", truths, predictions)[1]


class TestNoPositives:
    @pytest.mark.parametrize("options", [(), ("--positive", "255")])
    @pytest.mark.parametrize("verb", ["pixels", "labels", "contours"])
    def test_one_image_of_many_is_enough(self, said, verb, options):
        truths = numbered(*(TWO if k == 77 else BLANK for k in range(140)))
        predictions = soft(truths) if verb == "pixels" else truths
        findings, text = said(verb, truths, predictions, *options)
        assert "no-positives" not in findings
        assert "no-positives" not in text

    def test_of_a_set_without_positives_all_are_inspected(self, said):
        truths = numbered(*[BLANK] * 40)
        findings, text = said("pixels", truths, soft(truths))
        values = findings["no-positives"]["values"]
        assert (values["lacking"], values["count"]) == ("positive", 40)
        assert findings["no-positives"]["severity"] == "error"
        assert "0 in 40 images" in text


class TestGroundTruthAmongPredictions:
    @pytest.mark.parametrize(
        "copied",
        [
            pytest.param([TWO] * 2 + [None] * 2, id="fewer than three"),
            pytest.param([TWO] * 4 + [None] * 6, id="less than half"),
            pytest.param([BLANK] * 8 + [None] * 2, id="blank"),
            pytest.param([ONE] * 8 + [None] * 2, id="one object"),
            pytest.param([BLANK] * 7 + [TWO] * 3 + [None] * 4, id="most others differ"),
        ],
    )
    def test_copies_may_be_an_accident(self, said, copied):
        truths = numbered(*(TWO if drawn is None else drawn for drawn in copied))
        predictions = {
            name: np.roll(TWO, 2) if drawn is None else drawn
            for (name, _), drawn in zip(truths.items(), copied, strict=True)
        }
        assert "is-ground-truth" not in said("labels", truths, predictions)[0]

    @pytest.mark.parametrize(
        "maps",
        [
            pytest.param([TWO] * 3, id="masks"),
            pytest.param([TWO // 255 + ONE // 255] * 3, id="label maps"),
            pytest.param([BLANK] * 4 + [TWO] * 4, id="beside as many blank ones"),
        ],
    )
    def test_copies_of_several_objects_are_none(self, said, maps):
        finding = said("labels", numbered(*maps), numbered(*maps), "--positive", ">0", "--predicted-positive", ">0")[0]
        assert finding["is-ground-truth"]["count"] == sum(drawn.any() for drawn in maps)


@pytest.mark.parametrize("verb", ["pixels", "saliency", "anomalies"])
def test_three_masks_do_not_make_the_set_one_of_masks(said, verb):
    truths = numbered(*[TWO] * 10)
    predictions = soft(truths) | {f"{k:03}.png": np.roll(TWO, 1) for k in (0, 3, 6)}
    findings, text = said(verb, truths, predictions)
    assert "few-levels" not in findings
    assert "few-levels" not in text


@pytest.mark.parametrize(
    ("verb", "consequence"), [("pixels", "they are evaluated as masks"), ("saliency", "the curve has one point")]
)
def test_what_masks_mean_for_a_protocol(said, verb, consequence):
    truths = numbered(*[TWO] * 10)
    predictions = {name: np.roll(drawn, 1) for name, drawn in truths.items()}
    values = said(verb, truths, predictions)[0]["few-levels"]["values"]
    assert (values["values"], values["so"]) == ([0, 255], consequence)


@pytest.mark.parametrize(("images", "errors"), [(4, []), (1, ["range"])])
def test_a_map_of_logits_stops_no_others(tmp_path, images, errors):
    truths = numbered(*[TWO] * images)
    predictions = {f"{k:03}.npy": TWO / 255 * 8 - 4 if k == 0 else TWO / 300 for k in range(images)}
    where = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", predictions)
    report = check(*where, Contours(at=0.5), sample=1)
    assert [finding.kind for finding in report.errors] == errors
    assert "range" in [finding.kind for finding in report.findings]


def test_logits_of_all_images_stop_a_run(said):
    truths = numbered(*[TWO] * 40)
    findings, text = said("contours", truths, {f"{k:03}.npy": TWO / 255 * 8 - 4 for k in range(40)}, "--at", "0.5")
    assert findings["range"]["severity"] == "error"
    assert "nothing is counted" in text


def test_logits_of_three_of_many_do_not(said):
    truths, three = numbered(*[TWO] * 40), {0, 13, 26}  # those that a run looks at first
    predictions = {f"{k:03}.npy": TWO / 255 * 8 - 4 if k in three else TWO / 300 for k in range(40)}
    findings, text = said("contours", truths, predictions, "--at", "0.5")
    assert findings["range"]["severity"] == "warning"
    assert "nothing is counted" not in text


PARTS = {
    "inverted": ("pixels", lambda drawn: {name: (255 - drawn[name] // 2).astype(np.uint8) for name in drawn}),
    "range": ("pixels", lambda drawn: {f"{name[:-4]}.npy": soft(drawn)[name].astype(float) for name in drawn}),
    "few-levels": ("pixels", lambda drawn: {name: np.roll(drawn[name], 1) for name in drawn}),
    "levels-unscaled": ("boundaries", lambda drawn: {name: np.roll(drawn[name] // 255, 1) for name in drawn}),
    "constant": ("pixels", lambda drawn: {name: drawn[name] * 0 for name in drawn}),
    "not-countable": ("labels", lambda drawn: {name: soft(drawn)[name] for name in drawn}),
    "not-finite": ("pixels", lambda drawn: {f"{name[:-4]}.npy": np.full(SHAPE, np.nan) for name in drawn}),
}


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("images", [32, 40])
def test_what_some_images_show_is_said_of_these(said, kind, images):
    verb, predict = PARTS[kind]
    truths = numbered(*[TWO] * images)
    findings, text = said(verb, truths, predict(truths))
    looked_at = "(32 of 40 images looked at)"
    assert (looked_at in findings[kind]["text"]) == (images == 40)
    assert (looked_at in text or "(3 of 40 images looked at)" in text) == (images == 40)


def test_types_are_said_of_all_images(said):
    truths = numbered(*[TWO] * 40)
    predictions = {f"{k:03}.npy": TWO.astype(np.int64) for k in range(40)}
    text = said("pixels", truths, predictions)[0]["wide-integers"]["text"]
    assert text.startswith("40 predictions")
    assert "looked at" not in text


def test_masks_that_were_looked_at_make_no_others_masks(said):
    truths = numbered(*[TWO] * 40)
    predictions = soft(truths) | {name: np.roll(TWO, 1) for k, name in enumerate(truths) if k % 5 != 4}
    text = said("pixels", truths, predictions)[0]["few-levels"]["text"]
    assert "if all others do, too, they are evaluated as masks (32 of 40 images looked at)" in text


def test_values_stay_where_some_images_were_looked_at(said):
    truths = numbered(*[TWO] * 40)
    values = said("pixels", truths, {name: np.roll(drawn, 1) for name, drawn in truths.items()})[0]["few-levels"][
        "values"
    ]
    assert (values["values"], values["looked_at"], values["in_all"]) == ([0, 255], 32, 40)


def test_values_that_the_set_does_not_share_are_one_error(tmp_path):
    """Each file holds three values, which a run refuses image by image; the set says it once."""
    colours = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0]], np.uint8)
    for number in range(4):
        labels = np.kron(np.random.default_rng(number).integers(0, 3, (4, 5)), np.ones((8, 8), np.int64))
        for folder, array in (("gt", colours[labels]), ("pred", labels.astype(np.uint8))):
            (tmp_path / folder).mkdir(exist_ok=True)
            iio.imwrite(tmp_path / folder / f"{number}.png", array)
    report = check(tmp_path / "gt", tmp_path / "pred", sample=3)
    assert [finding.kind for finding in report.errors] == ["mixed-ground-truth"]

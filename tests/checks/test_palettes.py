"""Palettes that differ from file to file, so that indices are no labels: refused before a run, and at its end."""

import numpy as np
import pytest
from noted import noted
from PIL import Image
from refusing import insist, refused

import segbench as library

COLOURS = np.array([[0, 0, 0], [128, 0, 0], [0, 128, 0], [192, 128, 128], [128, 128, 128], [255, 255, 255]], np.uint8)
TABLE = ";".join(",".join(map(str, (*colour, label))) for label, colour in enumerate(COLOURS.tolist()))
CLASSES = ("--classes", "0-5")
SHAPE = (12, 16)


def striped_map(image, *labels):
    """Draw stripes of labels, by default of the background and one more, and no image like another."""
    found = np.resize(labels or (0, 1 + image % 3), SHAPE).astype(np.uint8)
    found.reshape(-1)[: 2 * image] = 0
    return found


def indexed(labels, colours=COLOURS):
    image = Image.fromarray(labels, mode="P")
    image.putpalette(np.asarray(colours, np.uint8).tobytes())
    return image


def reduced(labels):
    """Save label colours as programs do that number the colours of each image anew."""
    return Image.fromarray(COLOURS[labels]).convert("P", palette=Image.Palette.ADAPTIVE)


def in_colour(labels):
    return Image.fromarray(COLOURS[labels])


@pytest.fixture
def saved(tmp_path):
    """Save images of a side, by default six; return its folder."""

    def save(side, write, images=range(6)):
        folder = tmp_path / side
        folder.mkdir()
        for place, image in enumerate(images):
            made = image if isinstance(image, Image.Image) else write(image if np.ndim(image) else striped_map(place))
            made.save(folder / f"im{place}.png")
        return folder

    return save


@pytest.fixture
def found(check_findings):
    """Check two folders; return the findings by key."""

    def check(*arguments):
        return check_findings(*arguments)[1]

    return check


def difference(finding):
    """Return index, colour, file, and another colour and file, between which palettes differ."""
    values = finding["values"]["reason"]["values"]["difference"]["values"]
    return tuple(values[name] for name in ("index", "first_colour", "first_file", "colour", "file"))


@pytest.mark.parametrize("side", ["gt", "pred"])
class TestWithinASide:
    @pytest.fixture
    def folders(self, saved, side):
        return [saved(one, reduced if one == side else Image.fromarray) for one in ("gt", "pred")]

    def test_check_names_two_files_the_index_and_both_colours(self, found, folders, side):
        findings = found("labels", *folders, *CLASSES)
        assert findings.keys() == {"palettes"}
        finding = findings["palettes"]
        assert finding["severity"] == "error"
        one, other = (place["file"] for place in finding["files"])
        assert difference(finding) == (0, [128, 0, 0], one, [0, 128, 0], other)
        assert {one, other} == {str(folders[side == "pred"] / f"im{k}.png") for k in (0, 1)}

    def test_a_run_is_refused(self, segbench, folders):
        answer = segbench("labels", *folders, *CLASSES)
        assert answer.code == 1
        insist(answer.error, "check-failed", findings=("palettes",))

    def test_a_run_without_check_is_refused_at_its_end(self, segbench, folders, side):
        refused = segbench("labels", *folders, *CLASSES, "--no-check")
        assert refused.code == 1
        called = "prediction" if side == "pred" else "ground truth"
        where = f"128,0,0 in the {called} of 'im0' and 0,128,0 in the {called} of 'im1'"
        assert where in refused.err

    def test_the_advice_gives_the_true_number(self, folders, side, tmp_path):
        with refused("palettes-differ", library.DataError, settings={"palette": ...}):
            library.evaluate(*folders, library.Labels(classes=6))
        for file in (tmp_path / side).iterdir():
            Image.open(file).save(file, transparency=0)  # which convert keeps, and a colour declared so is refused
            Image.fromarray(np.asarray(Image.open(file).convert("RGB"))).save(file)
        assert library.evaluate(*folders, library.Labels(palette=TABLE)).summary["miou"] == 1

    def test_contours_are_refused_too(self, folders):
        with refused("palettes-differ", library.DataError):
            library.evaluate(*folders, library.Contours(classes=6))


def test_indices_saved_without_palettes_are_labels_as_the_advice_says(saved):
    palettes = (np.random.default_rng(k).integers(0, 256, (6, 3)) for k in range(6))
    pictures = [indexed(striped_map(k), palette) for k, palette in enumerate(palettes)]
    folders = saved("gt", Image.fromarray), saved("pred", None, pictures)
    labels = library.Labels(classes=6)
    with refused("palettes-differ", library.DataError):
        library.evaluate(*folders, labels)
    for file in folders[1].iterdir():
        Image.fromarray(np.asarray(Image.open(file))).save(file)
    assert library.evaluate(*folders, labels).summary["miou"] == 1


def test_one_file_of_very_many_is_found_at_the_end(saved):
    pictures = [indexed(striped_map(k)) for k in range(40)]
    folders = (
        saved("gt", indexed, map(striped_map, range(40))),
        saved("pred", None, [*pictures[:39], reduced(striped_map(39))]),
    )
    labels = library.Labels(classes=6)
    assert "palettes" not in {found.kind for found in library.check(*folders, labels, sample=3).findings}
    with refused("palettes-differ", library.DataError) as caught:
        library.evaluate(*folders, labels)
    assert "'im39'" in str(caught.value.values["difference"])


def test_ground_truth_of_other_protocols_is_refused_with_advice_of_its_own(saved):
    folders = saved("gt", reduced), saved("pred", Image.fromarray)
    with refused("palettes-differ", library.DataError, settings={}):
        library.evaluate(*folders, library.Pixels(positive=1))


def test_grey_and_coloured_palettes_on_one_side_are_refused(saved, found):
    white = striped_map(0, 0, 5)
    few = indexed(np.minimum(white, 1), COLOURS[[0, 5]])  # index 1 of a palette of black and white
    folders = saved("gt", Image.fromarray, [white, striped_map(1)]), saved("pred", None, [few, indexed(striped_map(1))])
    reason = found("labels", *folders, *CLASSES)["palettes"]["values"]["reason"]
    assert reason["kind"] == "grey-and-coloured-palettes"
    assert reason["values"] == {"grey": str(folders[1] / "im0.png"), "coloured": str(folders[1] / "im1.png")}


class TestBetweenSides:
    def test_the_same_colours_at_other_indices_are_refused(self, saved, found):
        gt, pred = saved("gt", indexed, [striped_map(0)]), saved("pred", reduced, [striped_map(0)])
        finding = found("labels", gt, pred, *CLASSES)["palettes"]
        assert finding["severity"] == "error"
        one, other = (folder / "im0.png" for folder in (gt, pred))
        assert difference(finding) == (0, [0, 0, 0], str(one), [128, 0, 0], str(other))
        with refused("palettes-differ", library.DataError):
            library.evaluate(gt, pred, library.Labels(classes=6))

    def test_colours_of_their_own_are_a_warning_and_are_counted(self, saved, found):
        other = np.random.default_rng(3).integers(1, 255, (6, 3))
        folders = saved("gt", indexed), saved("pred", lambda labels: indexed(labels, other))
        finding = found("labels", *folders, *CLASSES)["palettes"]
        assert finding["severity"] == "warning"
        assert finding["settings"] == [{"name": "palette"}]
        assert library.evaluate(*folders, library.Labels(classes=6)).summary["miou"] == 1

    def test_remapped_labels_are_not_compared(self, saved, found):
        folders = saved("gt", indexed), saved("pred", lambda labels: indexed(labels + 1, np.roll(COLOURS, 1, axis=0)))
        maps = "1-5=0-4"
        assert "palettes" not in found("labels", *folders, *CLASSES, "--pred-map", maps)
        assert library.evaluate(*folders, library.Labels(classes=6, pred_map=maps)).summary["miou"] == 1


PADDED = np.vstack([COLOURS, np.arange(750).reshape(-1, 3) % 256])


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda labels: indexed(labels, COLOURS[: labels.max() + 1]), id="truncated"),
        pytest.param(
            lambda labels: indexed(labels, np.where(np.isin(range(6), labels)[:, None], COLOURS, 7)), id="unused"
        ),
        pytest.param(lambda labels: indexed(labels, PADDED if labels.max() > 2 else COLOURS), id="padded"),
        pytest.param(lambda labels: (indexed if labels.max() > 1 else Image.fromarray)(labels), id="some without"),
        pytest.param(
            lambda labels: indexed(labels, [[k, k, k] for k in range(256)] if labels.max() > 1 else COLOURS), id="ramp"
        ),
    ],
)
@pytest.mark.parametrize("side", ["gt", "pred"])
def test_palettes_that_agree_where_they_are_used_are_labels(saved, found, write, side):
    folders = [saved(one, write if one == side else indexed) for one in ("gt", "pred")]
    assert "palettes" not in found("labels", *folders, *CLASSES)
    assert library.evaluate(*folders, library.Labels(classes=6)).summary["miou"] == 1


def test_transparent_entries_do_not_matter(saved, found):
    folders = saved("gt", indexed), saved("pred", indexed)
    for place in (0, 2):
        Image.open(folders[1] / f"im{place}.png").save(folders[1] / f"im{place}.png", transparency=place)
    assert "palettes" not in found("labels", *folders, *CLASSES)


@pytest.mark.parametrize("protocol", [library.Objects(), library.Regions()])
def test_colours_of_numbered_objects_need_not_agree(saved, protocol):
    other = [COLOURS[[0, *np.random.default_rng(k).permutation(range(1, 6))]] for k in range(6)]
    folders = saved("gt", Image.fromarray), saved("pred", None, [indexed(striped_map(k), other[k]) for k in range(6)])
    assert "palettes" not in {found.kind for found in library.check(*folders, protocol).findings}
    assert not library.evaluate(*folders, protocol).failed


def test_objects_whose_background_has_another_colour_are_refused(saved):
    folders = saved("gt", Image.fromarray), saved("pred", reduced)
    with refused("palettes-differ", library.DataError, settings={}) as caught:
        library.evaluate(*folders, library.Objects())
    values = caught.value.values["difference"].values
    assert (values["index"], values["first_colour"]) == (0, (128, 0, 0))


def test_notes_are_kept_without_colours(saved, tmp_path):
    folders = saved("gt", Image.fromarray), saved("pred", indexed)
    result = library.evaluate(*folders, library.Labels(classes=6), results=tmp_path / "r.segbench")
    (stored,) = library.load_results(tmp_path / "r.segbench")
    assert result.image_notes == stored.image_notes
    assert result.image_notes.keys() == result.counts.keys()
    assert all(noted(notes) == [("prediction", "palette-indices", {})] for notes in result.image_notes.values())
    assert ("prediction", "palette-indices", {"images": 6, "total": 6}) in noted(result.notes)


@pytest.mark.parametrize(("protocol", "key"), [(library.Labels, "miou"), (library.Contours, "nsd@2")])
def test_grey_images_in_three_channels_are_colours_beside_a_palette(saved, protocol, key):
    grey = [striped_map(k, 0, 4) for k in range(2)]
    folders = saved("gt", Image.fromarray, grey), saved("pred", in_colour, grey)
    found = library.evaluate(*folders, protocol(palette=TABLE))
    assert found.summary[key] == 1

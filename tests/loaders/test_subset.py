"""Runs of some images of a set: names and patterns, images without a prediction, and folders of several methods."""

import pytest
from noted import problems_of
from refusing import refused

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Setting
from segbench.loaders import pairing as found
from segbench.loaders.file_list import as_images, select
from segbench.loaders.pairing import Inputs


def pair(inputs):
    return found.pair(inputs).require_complete()


def methods_below(inputs):
    try:
        pairing = found.pair(inputs)
    except DataError as error:
        pairing = found.Pairing(inputs, problem=error)
    return {name: each.inputs.prediction for name, each in found.methods_below(pairing, found.pair).items()}


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return str(folder)


@pytest.fixture
def folders(tmp_path):
    names = ("cat.png", "catalogue.png", "coins.png", "city/lake.png", "moon.png")
    return {"ground_truth": make(tmp_path / "gt", *names), "prediction": make(tmp_path / "pred", *names)}


def chosen(*images, **places):
    pairing = pair(Inputs(**places, images=images))
    return [file.name for file in pairing.files], pairing.signature_fields()


class TestImages:
    @pytest.mark.parametrize(
        ("images", "expected", "subset"),
        [
            (["cat"], ["cat"], "1 of 5"),
            (["cat", "c*s"], ["cat", "coins"], "2 of 5"),
            (["city/*"], ["city/lake"], "1 of 5"),
            (["[cm]o*", "moon"], ["coins", "moon"], "2 of 5"),
            (["!coins", "!c[ai]*"], ["moon"], "1 of 5"),
            (["!cat", "c*"], ["catalogue", "city/lake", "coins"], "3 of 5"),
        ],
    )
    def test_names_and_patterns_choose_images(self, folders, images, expected, subset):
        assert chosen(*images, **folders) == (expected, {"subset": subset})

    def test_all_images_are_the_whole_set(self, folders):
        assert chosen("*", **folders)[1] == {}
        assert chosen(**folders)[1] == {}

    def test_images_outside_need_no_partner(self, tmp_path):
        places = {
            "ground_truth": make(tmp_path / "gt", "a.png", "b.png", "c.png"),
            "prediction": make(tmp_path / "pred", "a.png", "d.png"),
            "field": make(tmp_path / "field", "a.png"),
        }
        assert chosen("a", **places) == (["a"], {"field": "yes", "subset": "1 of 3"})
        with refused("unpaired", DataError, missing=("b",)):
            chosen("a", "b", **places)
        with refused("unpaired", DataError, extra=("d",)):
            chosen("a", "d", **places)

    def test_what_fits_no_image_is_an_error_with_the_nearest_names(self, folders):
        unknown = ("coin (nearest: coins)", "moon.v2 (nearest: moon)", "x*", "parts2/02")
        with refused("unpaired", DataError, unknown=unknown, settings={}):
            chosen("coin", "cat", "moon.v2", "x*", "parts2/02", **folders)

    def test_two_files(self, tmp_path):
        places = {"ground_truth": make(tmp_path, "a.png") + "/a.png", "prediction": make(tmp_path, "b.png") + "/b.png"}
        assert chosen("a", **places) == (["a"], {})
        with refused("unpaired", DataError, unknown=("b",)):
            chosen("b", **places)

    def test_file_lists(self, tmp_path):
        make(tmp_path, "g.png", "p.png")
        rows = ["name,ground_truth,prediction", "a,g.png,p.png", "b,g.png,gone.png", "c,g.png,p.png"]
        (tmp_path / "pairs.csv").write_text("\n".join(rows))
        places = {"pairs": str(tmp_path / "pairs.csv"), "column": "prediction"}
        assert chosen("a", "c", **places) == (["a", "c"], {"subset": "2 of 3"})
        with refused("wrong-lines", DataError, count=1) as caught:
            chosen("a", "b", **places)
        (problem,) = problems_of(caught.value)
        assert problem == (3, "missing", {"file": str(tmp_path / "gone.png")})
        with refused("unpaired", DataError, unknown=("d",)):
            chosen("a", "d", **places)

    def test_predictions_that_need_no_ground_truth_are_images_of_the_set(self, tmp_path):
        places = {
            "ground_truth": make(tmp_path / "gt", "bad/1.png"),
            "prediction": make(tmp_path / "pred", "bad/1.png", "good/1.png", "good/2.png"),
            "negatives": "good/*",
        }
        assert chosen("*/1", **places) == (["bad/1", "good/1"], {"subset": "2 of 3"})

    def test_annotators_alone(self, tmp_path):
        place = make(tmp_path / "gt", "a/1.png", "a/2.png", "b/1.png")
        assert chosen("a", ground_truth=place, gt_pattern="*/#") == (["a"], {"subset": "1 of 2"})

    def test_a_name_that_is_listed_fits_itself_only(self):
        assert select(["a[1]"], {"a[1]", "a1"}) == ({"a[1]"}, ())
        assert select(["u\u0308"], {"\u00fc"}) == ({"\u00fc"}, ())
        assert select(["!a"], {"!a", "a"}) == ({"!a"}, ())

    def test_a_name_may_be_that_of_a_file(self):
        assert select(["a.png", "b/c.nii.gz"], {"a", "b/c"}) == ({"a", "b/c"}, ())
        assert select(["a.png"], {"a", "a.png"}) == ({"a.png"}, ())
        assert select(["a.v2"], {"a"}) == (set(), ("a.v2",))

    def test_a_name_may_be_that_of_a_folder(self):
        assert select(["bear"], {"bear/0", "bear/1", "bears/0"}) == ({"bear/0", "bear/1"}, ())
        assert select(["!bear/"], {"bear/0", "bears/0"}) == ({"bears/0"}, ())

    def test_images_left_out_need_no_partner_but_must_exist(self, tmp_path):
        places = {"ground_truth": make(tmp_path / "gt", "a.png", "b.png"), "prediction": make(tmp_path / "p", "a.png")}
        assert chosen("!b", **places) == (["a"], {"subset": "1 of 2"})
        with refused("unpaired", DataError, unknown=("!c",), missing=("b",)):
            chosen("!c", **places)
        with refused("no-images", ArgumentError, patterns=("a", "!*")):
            chosen("a", "!*", **places)


class TestListOfImages:
    def test_a_text_file_has_one_name_per_line(self, tmp_path):
        file = tmp_path / "images.txt"
        file.write_bytes("\ufeff# validation\r\ncat\r\n\r\n  c*  \r\n".encode())
        assert as_images(file) == as_images(str(file)) == ("cat", "c*")
        assert as_images(iter(["cat"])) == ("cat",)

    @pytest.mark.parametrize(
        ("given", "found"),
        [([], "is empty"), (["a", 3], "holds 3"), ([""], "holds ''")],
    )
    def test_what_holds_no_names_is_refused(self, given, found):
        with refused("wrong-value", ArgumentError, given=Setting("images", None), found=found):
            as_images(given)

    def test_a_file_that_is_not_there_is_refused(self):
        with refused("missing", DataError, path="none.txt", expected="file", settings={"images": None}):
            as_images("none.txt")

    def test_files_without_names_are_refused(self, tmp_path):
        file = tmp_path / "images.txt"
        file.write_text("# nothing\n")
        with refused("no-images", DataError):
            as_images(file)
        file.write_bytes(b"\x89PNG\xff")
        with refused("not-utf-8", DataError, byte=0, expected="a text file of image names"):
            as_images(file)


class TestMissing:
    @pytest.fixture
    def places(self, tmp_path):
        return {
            "ground_truth": make(tmp_path / "gt", *(f"im{k}.png" for k in range(9))),
            "prediction": make(tmp_path / "pred", *(f"im{k}.png" for k in range(7))),
        }

    def test_images_without_a_prediction_are_left_out(self, places):
        pairing = pair(Inputs(**places, allow_missing=True))
        assert len(pairing.files) == 7
        assert pairing.signature_fields() == {"missing": "2 of 9"}
        (note,) = pairing.notes_on_left_out
        assert note.kind == "predictions-missing"
        assert note.values == {"images": 2, "total": 9, "names": "im7, im8"}
        assert list(found.pair(Inputs(**places, allow_missing=True)).files) == list(pairing.files)

    def test_only_those_of_the_subset_count(self, places):
        pairing = pair(Inputs(**places, images=("im[5-7]",), allow_missing=True))
        assert pairing.signature_fields() == {"subset": "3 of 9", "missing": "1 of 3"}

    def test_predictions_without_ground_truth_and_no_prediction_at_all_are_refused(self, places, tmp_path):
        make(tmp_path / "pred", "other.png")
        with refused("unpaired", DataError, extra=("other",)):
            pair(Inputs(**places, allow_missing=True))
        make(tmp_path / "none", "other.png")
        with refused(
            "unpaired",
            DataError,
            missing=("im0", "im1", "im2", "im3", "im4", "im5", "im6", "im7", "im8"),
            extra=("other",),
        ):
            pair(Inputs(**places | {"prediction": str(tmp_path / "none")}, allow_missing=True))

    def test_file_lists(self, tmp_path):
        make(tmp_path, "g.png", "p.png")
        rows = ["name,ground_truth,prediction,prediction", "a,g.png,p.png,", "b,g.png,gone.png,", "c,g.png,,"]
        place = tmp_path / "pairs.csv"
        place.write_text("\n".join(rows))
        inputs = {"pairs": str(place), "column": "prediction"}
        with refused("wrong-lines", DataError, count=2, settings={"allow_missing": True}) as caught:
            pair(Inputs(**inputs))
        gone = (3, "missing", {"file": str(tmp_path / "gone.png")})
        assert problems_of(caught.value) == [gone, (4, "empty-cell", {"lacking": "prediction"})]
        pairing = pair(Inputs(**inputs, allow_missing=True))
        assert [file.name for file in pairing.files] == ["a"]
        assert pairing.signature_fields() == {"missing": "2 of 3"}
        place.write_text("\n".join([*rows, "d,gone.png,p.png,", "e,g.png,gone.png,p.png"]))
        with refused("wrong-lines", DataError, count=2):
            pair(Inputs(**inputs, allow_missing=True))
        place.write_text("\n".join([rows[0], rows[3]]))
        with refused("no-images", DataError, of_them=" with a prediction"):
            pair(Inputs(**inputs, allow_missing=True))


class TestSeveralMethods:
    @pytest.fixture
    def places(self, tmp_path):
        gt = make(tmp_path / "gt", "a.png", "b.png")
        preds = make(tmp_path / "preds", "HED/a.png", "HED/b.png", "RCF/a.png", "RCF/b.png", "logs/loss.png")
        return {"ground_truth": gt, "prediction": preds}

    def test_methods_in_sub_folders_are_found_and_named(self, places):
        assert methods_below(Inputs(**places)) == {name: f"{places['prediction']}/{name}" for name in ("HED", "RCF")}
        with refused("several-methods", DataError, path=places["prediction"], folders=("HED", "RCF")) as caught:
            pair(Inputs(**places))
        assert caught.value.hint.values["example"] == f"{places['prediction']}/HED"

    def test_methods_of_a_set_in_one_folder_may_have_files_of_their_own(self, tmp_path):
        gt = make(tmp_path / "gt", "val/a.png", "val/b.png")
        preds = make(tmp_path / "preds", "HED/val/a.png", "HED/log.png", "RCF/val/a.png", "RCF/val/b.png")
        assert list(methods_below(Inputs(ground_truth=gt, prediction=preds))) == ["HED", "RCF"]

    def test_patterns_apply_within_each_sub_folder(self, tmp_path):
        gt = make(tmp_path / "gt", "a.png")
        preds = make(tmp_path / "preds", "HED/a_pred.png", "RCF/a_pred.png")
        inputs = Inputs(ground_truth=gt, prediction=preds, pred_pattern="*_pred")
        assert list(methods_below(inputs)) == ["HED", "RCF"]

    def test_sub_folders_of_the_ground_truth_are_no_methods(self, tmp_path):
        names = ("HED/a.png", "RCF/a.png")
        gt, preds = make(tmp_path / "gt", *names), make(tmp_path / "preds", *names)
        assert methods_below(Inputs(ground_truth=gt, prediction=preds)) == {}
        many = make(tmp_path / "many", *(f"{k:02}/{k}.png" for k in range(30)), "HED/1.png", "RCF/1.png")
        assert list(methods_below(Inputs(ground_truth=make(tmp_path / "one", "1.png"), prediction=many))) == [
            "01",
            "HED",
            "RCF",
        ]

    def test_one_sub_folder_is_a_pattern(self, tmp_path):
        gt, preds = make(tmp_path / "gt", "a.png"), make(tmp_path / "preds", "out/a.png")
        with refused("unpaired", DataError, missing=("a",), extra=("out/a",), settings={"pred_pattern": "out/*"}):
            pair(Inputs(ground_truth=gt, prediction=preds))

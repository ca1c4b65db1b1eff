import json
import shutil

import numpy as np
import pytest
from broken_folders import NAMES, blobs, each, lines, turn_by_exif
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import advised

import segbench
from segbench.core.messages import Setting
from segbench.loaders.presets import shipped


def folders(tmp_path, made=None):
    return (made or blobs()).write(tmp_path)


class TestClean:
    def test_the_demo_has_nothing_but_maps_that_are_not_suppressed(self):
        objects, edges = shipped("demo") / "objects", shipped("demo") / "edges"
        for folder in sorted((objects / "predictions").iterdir()):
            assert segbench.check(objects / "ground_truth", folder).findings == ()
        for folder in sorted((edges / "predictions").iterdir()):
            report = segbench.check(edges / "ground_truth", folder, segbench.Boundaries(), gt_pattern="*.#")
            assert {finding.kind for finding in report.findings} <= {"not-suppressed"}

    @given(
        seed=st.integers(0, 10**6),
        shape=st.tuples(st.integers(40, 90), st.integers(40, 90)),
        form=st.sampled_from(["png", "deep.png", "npy", "double.npy", "tif", "invert.png"]),
        zero_one=st.booleans(),
    )
    @settings(max_examples=20)
    def test_sound_folders_of_any_kind_have_no_finding(self, tmp_path_factory, seed, shape, form, zero_one):
        made = blobs(seed, shape)
        change = {
            "png": lambda a: a,
            "deep.png": lambda a: a * np.uint16(257),
            "npy": lambda a: a / np.float32(255),
            "double.npy": lambda a: 2 * (a / 255) - 1,  # as tanh
            "tif": lambda a: a,
            "invert.png": np.invert,
        }[form]
        each("scores", change, extension="." + form.split(".")[-1])(made)
        if zero_one:
            each("truth", lambda a: a // 255)(made)
        report = segbench.check(
            *folders(tmp_path_factory.mktemp("clean"), made), segbench.Pixels(invert=form == "invert.png")
        )
        assert report.findings == ()
        assert not report.refused

    @given(seed=st.integers(0, 10**6), boundaries=st.booleans())
    @settings(max_examples=10)
    def test_thin_lines_have_no_finding(self, tmp_path_factory, seed, boundaries):
        where = folders(tmp_path_factory.mktemp("clean"), lines(seed))
        assert segbench.check(*where, segbench.Boundaries() if boundaries else segbench.Pixels()).findings == ()

    def test_repairs_that_mend_leave_nothing_to_find(self, tmp_path):
        made = blobs()
        each("scores", lambda a: a[:-1, ::1].astype(np.float32), extension=".npy")(made)
        where = folders(tmp_path, made)
        for repairs in (segbench.Repairs(crop=True, scale=255), segbench.Repairs(resize="bilinear", scale=255)):
            assert segbench.check(*where, repairs=repairs).findings == ()


class TestReport:
    def test_all_that_is_wrong_is_said_at_once(self, tmp_path):
        made = blobs()
        each("scores", lambda a: np.invert(a)[::2, ::2])(made)
        made.scores["gnu"] = made.scores[NAMES[1]] = made.scores[NAMES[0]]
        keys = [finding.kind for finding in segbench.check(*folders(tmp_path, made)).findings]
        assert keys == ["unpaired", "size-factor", "inverted", "duplicates"]

    def test_the_terminal_names_a_few_and_counts_the_rest(self, segbench, tmp_path):
        made = blobs(names=tuple("abcdefghijkl"))
        made.scores = {name: 255 - scores for name, scores in made.scores.items()}
        where = folders(tmp_path, made)
        answer = segbench("check", *where)
        assert answer.code == 0
        assert "warning  inverted: scores are higher on negatives" in answer.out
        assert "-> --invert" in answer.out
        assert answer.out.count("AUC-ROC 0.0") == 1 + 10
        assert "and 2 more" in answer.out
        assert answer.err == ""
        (report,) = json.loads(segbench("check", *where, "--format", "json").out)["reports"]
        assert [len(found["files"]) for found in report["findings"] if found["kind"] == "inverted"] == [12]

    def test_json_lists_all_that_an_error_cuts_short(self, segbench, tmp_path):
        truth, scores = folders(tmp_path, blobs(names=tuple("abcdefghijkl")))
        for name in truth.iterdir():
            name.with_suffix(".bmp").write_bytes(b"")
        error = segbench("pixels", truth, scores, "--no-check").err
        assert error.count("\n  ") == 11
        (report,) = json.loads(segbench("check", truth, scores, "--format", "json").out)["reports"]
        assert [len(found["files"]) for found in report["findings"]] == [24]

    def test_what_all_methods_share_is_said_once(self, segbench, tmp_path):
        truth, scores = folders(tmp_path)
        (truth / "ape.png").unlink()
        answer = segbench("check", truth, scores, f"again={scores}")
        assert answer.code == 1
        assert answer.out.count("unpaired") == 1
        assert answer.out.startswith("all methods\n")

    def test_the_json_is_as_documented(self, segbench, tmp_path):
        truth, scores = folders(tmp_path)
        document = json.loads(segbench("check", truth, scores, "--format", "json").out)
        (report,) = document["reports"]
        assert document["schema"] == 2
        assert report == {
            "method": "pred",
            "run": None,
            "protocol": "pixels",
            "images": 6,
            "inspected": 6,
            "errors": False,
            "refused": False,
            "findings": [],
            "notes": [],
        }

    def test_all_looks_into_every_image(self, segbench, tmp_path):
        made = blobs(names=tuple(f"n{k:02}" for k in range(40)))
        made.scores["n19"] = np.zeros_like(made.scores["n19"])
        where = folders(tmp_path, made)
        assert "constant" not in segbench("check", *where).out
        assert "n19.png: all 0" in segbench("check", *where, "--all").out

    def test_archives_and_lists_of_pairs_are_inspected(self, segbench, tmp_path):
        made = blobs()
        each("scores", np.invert)(made)
        truth, scores = folders(tmp_path, made)
        archive = shutil.make_archive(tmp_path / "packed", "zip", scores)
        assert "warning  inverted" in segbench("check", truth, archive).out
        rows = "".join(f"{name},gt/{name}.png,pred/{name}.png\n" for name in NAMES)
        (tmp_path / "pairs.csv").write_text("name,ground_truth,prediction\n" + rows)
        assert "warning  inverted" in segbench("check", "--pairs", tmp_path / "pairs.csv").out


class TestExifOrientation:
    @pytest.fixture
    def turned(self, tmp_path):
        truth, scores = folders(tmp_path)
        turn_by_exif(scores)
        return truth, scores

    def test_is_noted_by_run_and_found_by_check(self, segbench, warned_of, turned, tmp_path):
        answer = segbench("pixels", *turned, "-o", tmp_path / "r.segbench")
        assert answer.code == 0
        assert [(finding.kind, finding.message.values) for finding in warned_of] == [("orientation", {"count": 2})]
        assert str(warned_of[0].message) in answer.err
        (run,) = json.loads(segbench("show", tmp_path / "r.segbench", "--format", "json").out)["runs"]
        (note,) = run["notes"]
        assert (note["side"], note["kind"]) == ("prediction", "orientation")
        assert note["values"] == {"orientation": 6, "images": 2, "total": 6}
        assert note["text"] in " ".join(answer.out.split())
        checked = segbench("check", *turned, "--format", "json")
        assert checked.code == 0
        (finding,) = json.loads(checked.out)["reports"][0]["findings"]
        assert (finding["kind"], finding["severity"], finding["count"]) == ("orientation", "warning", 2)
        values = [file["values"] for file in finding["files"]]
        assert [(said["orientation"], said["expected"]) for said in values] == [(6, 1)] * 2

    def test_is_not_found_where_all_files_of_an_image_share_it(self, turned):
        truth, scores = turned
        turn_by_exif(truth)
        assert segbench.check(truth, scores).findings == ()


class TestMasksOfTwoKinds:
    """Masks of 0 and 1 beside masks of 0 and 255 are an error only where the set decides what is positive."""

    @pytest.mark.parametrize("verb", ["contours", "centerlines"])
    def test_are_sound_where_all_but_0_is_positive(self, segbench, tmp_path, verb):
        made = blobs()
        sound = segbench(verb, *folders(tmp_path / "sound", made), "--at", "0.5", "--format", "json")
        for name in NAMES[:3]:
            made.truth[name] //= 255
        where = folders(tmp_path / "mixed", made)
        assert "nothing found" in segbench("check", verb, *where, "--at", "0.5").out
        mixed = segbench(verb, *where, "--at", "0.5", "--format", "json")
        first, second = (json.loads(answer.out)["runs"][0]["summary"] for answer in (sound, mixed))
        assert first == second


def alternating(made, first, second, extension=".png"):
    """Write the predicted masks of every second image in another way."""
    for place, name in enumerate(NAMES):
        mask = made.scores.pop(name) > 128
        made.scores[name + extension] = (second if place % 2 else first)(mask)
    return made


def by_key(report):
    return {finding.kind: finding for finding in report.findings}


class TestTypesOfPredictions:
    """What is stored in several types is compared as scores: 255 of 8 bits is 65535 of 16, and 1 of one bit."""

    WAYS = (lambda mask: mask, lambda mask: mask * np.uint8(255), lambda mask: mask * np.uint16(65535))

    @pytest.mark.parametrize("ways", [(0, 1), (0, 2), (1, 2)])
    def test_masks_that_fill_their_types_agree(self, tmp_path, ways):
        made = alternating(blobs(), *(self.WAYS[way] for way in ways))
        found = by_key(segbench.check(*folders(tmp_path, made)))
        assert found.keys() == {"few-levels"}
        values = found["few-levels"].message.values
        assert (values["count"], values["values"][0]) == (2, 0)

    def test_bits_beside_floats_are_no_levels_that_are_divided(self, tmp_path):
        made = alternating(blobs(), lambda mask: mask, lambda mask: mask * np.float32(0.75), ".npy")
        assert "mixed-types" not in by_key(segbench.check(*folders(tmp_path, made)))

    @pytest.mark.parametrize("protocol", [segbench.Boundaries(), segbench.Centerlines(at=0.5)])
    def test_masks_of_0_and_1_in_16_bits_are_scaled_by_1(self, tmp_path, protocol):
        made = lines()
        each("scores", lambda a: (a > 128).astype(np.uint16))(made)
        where = folders(tmp_path, made)
        (finding,) = segbench.check(*where, protocol).findings
        assert (Setting("scale", 1, of="Repairs"),) in finding.alternatives
        scaled = segbench.evaluate(*where, protocol, repairs=segbench.Repairs(scale=1))
        full = lines()
        each("scores", lambda a: (a > 128) * np.uint8(255))(full)
        assert repr(scaled.summary) == repr(segbench.evaluate(*folders(tmp_path / "full", full), protocol).summary)


class TestWithoutVoid:
    """Protocols without an option for void values are not advised to declare any."""

    def test_values_below_a_bound_are_negative(self, tmp_path):
        made = blobs()
        each("truth", lambda a: np.where(a == 0, np.arange(a.shape[1], dtype=np.uint8) % 2, a))(made)
        where = folders(tmp_path, made)
        assert segbench.check(*where, "saliency").findings == ()
        assert by_key(segbench.check(*where, segbench.Pixels(positive=">=1"))).keys() >= {"void"}

    def test_a_high_value_beside_lines_is_named_positive_or_not(self, tmp_path):
        made = lines()
        each("truth", lambda a: np.where(np.arange(a.shape[1]) < 3, 255, a > 0).astype(np.uint8))(made)
        advice = by_key(segbench.check(*folders(tmp_path, made), segbench.Boundaries()))["void"].alternatives
        assert advice == ((Setting("positive", 1.0),), (Setting("positive", ">0"),))

    @pytest.mark.parametrize("protocol", [segbench.Saliency(positive=">0"), segbench.Boundaries()])
    def test_nan_is_given_a_value(self, tmp_path, protocol):
        made = blobs()
        each("truth", lambda a: np.where(a == 0, np.nan, a / 255), only=1, extension=".npy")(made)
        assert by_key(segbench.check(*folders(tmp_path, made), protocol))["nan-ground-truth"].settings == ()


def test_instead_of_label_maps_one_label_is_named(tmp_path):
    made = blobs()
    made.truth = {name: np.digitize(scores, [64, 192]).astype(np.uint8) for name, scores in made.scores.items()}
    made.scores = {name: np.roll(labels, 2, 0) for name, labels in made.truth.items()}
    for protocol in (segbench.Saliency(), segbench.Pixels(positive=">=1")):
        settings = by_key(segbench.check(*folders(tmp_path, made), protocol))["label-map"].settings
        assert advised(settings) == {"classes": "0-2", "positive": "2"}


@pytest.mark.parametrize("protocol", [segbench.Pixels(), segbench.Anomalies(), segbench.Boundaries()])
def test_what_is_positive_in_most_masks_is_void_in_one_only_if_it_is_in_all(tmp_path, protocol):
    made = blobs()
    each("truth", lambda a: np.where(np.arange(a.shape[1]) == 5, np.uint8(1), a), only=1)(made)
    void = {} if isinstance(protocol, segbench.Boundaries) else {"void": (255,)}
    advice = by_key(segbench.check(*folders(tmp_path, made), protocol))["void"].settings
    assert advised(advice) == {"positive": 255} | void

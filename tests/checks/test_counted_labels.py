"""Label maps that are counted, but with labels that mean something else: void, or classes that count from 1."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import advised, noted, values_of
from scipy.ndimage import gaussian_filter

import segbench as library
from segbench.core.messages import Setting

SHAPE, CLASSES, IMAGES = (40, 56), 5, 8


pytestmark = pytest.mark.filterwarnings("ignore:prediction. labels outside the classes")


def truth(seed):
    """Draw regions of five labels, with a border of void."""
    fields = np.stack([gaussian_filter(np.random.default_rng([seed, k]).normal(size=SHAPE), 4) for k in range(CLASSES)])
    labels = fields.argmax(0).astype(np.uint8)
    labels[:2] = 255
    return labels


def prediction(seed, share=0.15):
    """Predict labels that are right on most pixels."""
    rng = np.random.default_rng([9, seed])
    labels = truth(seed)
    labels[:2] = 0
    return np.where(rng.random(SHAPE) < share, rng.integers(0, CLASSES, SHAPE), labels).astype(np.uint8)


TRUTHS = {f"im{k}.png": truth(k) for k in range(IMAGES)}
PREDICTIONS = {f"im{k}.png": prediction(k) for k in range(IMAGES)}


@pytest.fixture
def found(check_findings, tmp_path):
    """Check label maps; return the findings by key."""

    def check(predictions, *options, truths=TRUTHS):
        where = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", predictions)
        return check_findings("labels", *where, "--classes", *(options or ("0-4",)))[1]

    return check


def assert_fix(finding, **settings):
    """Insist on the settings, with values, that a finding of JSON advises."""
    assert advised(finding["settings"]) == settings


def miou(root, **settings):
    return library.evaluate(root / "gt", root / "pred", library.Labels(**settings)).summary["miou"]


def test_sound_label_maps_have_no_finding(found):
    assert found(PREDICTIONS) == {}
    assert found({name: prediction(k, 0.6) for k, name in enumerate(PREDICTIONS)}) == {}


def test_labels_count_from_1_where_no_image_of_the_set_holds_0(found):
    """Classes that are one short: images without 0 do not speak for the others."""
    from_1 = {name: np.where(t == 255, 255, t + 1).astype(np.uint8) for name, t in TRUTHS.items()}
    finding = found(PREDICTIONS, "0-4", truths=from_1)["not-countable"]
    assert [dict.fromkeys(["classes"], "1-5"), dict.fromkeys(["classes"], "0-5")] == [
        advised(settings) for settings in (finding["alternatives"][0], finding["alternatives"][-1])
    ]
    with_0 = from_1 | {"im0.png": TRUTHS["im0.png"]}
    finding = found(PREDICTIONS, "0-4", truths=with_0)["not-countable"]
    assert advised(finding["alternatives"][0]) == {"classes": "0-5"}


class TestVoid:
    @pytest.fixture
    def with_void(self):
        return {name: np.where(np.eye(*SHAPE), 255, labels).astype(np.uint8) for name, labels in PREDICTIONS.items()}

    def test_that_is_predicted_is_never_made_a_class(self, found, with_void):
        finding = found(with_void)["outside-classes"]
        assert finding["values"]["labels"] == [255]
        assert_fix(finding)

    def test_that_predictions_hold_and_no_ground_truth_may_come_of_exchanged_folders(self, tmp_path):
        write_folder(tmp_path / "gt", PREDICTIONS), write_folder(tmp_path / "pred", TRUTHS)
        (finding,) = library.check(tmp_path / "gt", tmp_path / "pred", library.Labels(classes="0-4")).findings
        assert finding.kind == "outside-classes"
        assert {"order", "listed"} <= values_of(finding.fix).keys()

    def test_beside_another_label_that_may_be_one(self, found, with_void):
        with_void["im0.png"][5, 5] = 7
        finding = found(with_void)["outside-classes"]
        assert finding["values"]["labels"] == [7, 255]
        assert "classes" in advised(finding["settings"])

    def test_as_a_class_is_found_and_the_advice_gives_the_metric_without(self, found, with_void, tmp_path):
        finding = found(with_void, "0-4,255")["void-class"]
        assert_fix(finding, classes="0-4")
        assert found(with_void, "0-4").keys() == {"outside-classes"}
        assert miou(tmp_path, classes="0-4") > miou(tmp_path, classes="0-4,255") + 0.1

    def test_of_masks_is_a_class(self, found):
        masks = {name: np.uint8(255) * (labels == 1) for name, labels in PREDICTIONS.items()}
        assert "void-class" not in found(masks, "0,255", truths=masks)

    def test_of_ground_truth_that_is_not_declared_is_never_made_a_class(self, found):
        finding = found(PREDICTIONS, "0-4", "--void", "none")["not-countable"]
        assert_fix(finding, void=[255], gt_map="255=LABEL")


class TestLabelsOffByOne:
    @pytest.mark.parametrize("number", [1, 3])
    def test_in_some_images(self, found, number):
        higher = {name: PREDICTIONS[name] + 1 for name in list(PREDICTIONS)[:number]}
        findings = found(PREDICTIONS | higher)
        assert findings.keys() == {"renumbered"}
        assert [place["file"].rpartition("/")[2] for place in findings["renumbered"]["files"]] == [*higher]
        assert_fix(findings["renumbered"])

    def test_a_run_looks_at_more_images_before_it_advises_to_change_all(self, segbench, warned_of, tmp_path):
        first = {name: PREDICTIONS[name] + 1 for name in ("im0.png", "im2.png", "im5.png")}  # the three it looks at
        where = write_folder(tmp_path / "gt", TRUTHS), write_folder(tmp_path / "pred", PREDICTIONS | first)
        assert segbench("labels", *where, "--classes", "0-4").err
        finding = warned_of[0]
        assert (finding.kind, finding.message.values["count"], finding.message.values["total"]) == ("renumbered", 3, 8)
        assert not advised(finding.settings)
        assert finding.fix.values["given"] == Setting("pred_map")

    @pytest.mark.parametrize(
        ("classes", "shift", "remap"),
        [("0-4", 1, "1-5=0-4"), ("0-5", 1, "1-6=0-5"), ("1-5", -1, "0-4=1-5")],
        ids=["from 1", "from 1, with a class too many", "from 0"],
    )
    def test_in_all_images(self, found, classes, shift, remap):
        truths = {name: np.where(labels == 255, 255, labels + (shift < 0)) for name, labels in TRUTHS.items()}
        predictions = {name: labels + (shift > 0) for name, labels in PREDICTIONS.items()}
        findings = found(predictions, classes, truths={name: t.astype(np.uint8) for name, t in truths.items()})
        assert findings.keys() == {"renumbered"}
        assert_fix(findings["renumbered"], pred_map=remap)

    @pytest.mark.parametrize(("shift", "remap"), [(1, "1-5=0-4"), (-1, "0-4=1-5")])
    def test_of_a_model_whose_classes_have_an_iou_below_a_half(self, found, tmp_path, shift, remap):
        truths = {name: np.where(labels == 255, 255, labels + (shift < 0)) for name, labels in TRUTHS.items()}
        truths = {name: labels.astype(np.uint8) for name, labels in truths.items()}
        weak = {name: prediction(k, share=0.6) + np.uint8(shift > 0) for k, name in enumerate(PREDICTIONS)}
        assert_fix(found(weak, "0-4" if shift > 0 else "1-5", truths=truths)["renumbered"], pred_map=remap)
        settings = library.Labels(classes=5 if shift > 0 else "1-5", pred_map=remap)
        assert library.evaluate(tmp_path / "gt", tmp_path / "pred", settings).summary["miou"] < 0.5
        unmapped = library.Labels(classes=settings.classes)
        notes = library.evaluate(tmp_path / "gt", tmp_path / "pred", unmapped).summary.notes
        assert (notes[-1].kind, advised(notes[-1].message.settings)) == ("off-by-one", {"pred_map": remap})

    def test_beside_a_label_for_unlabelled_pixels(self, found):
        truths = {name: np.where(labels == 255, 0, labels + 1).astype(np.uint8) for name, labels in TRUTHS.items()}
        finding = found(PREDICTIONS, "0-5", truths=truths)["renumbered"]
        assert_fix(finding, pred_map="0-4=1-5", classes="1-5", void=[0, 255])

    @pytest.mark.parametrize(("shift", "classes", "left", "remap"), [
        (1, "0-4", 0, "1-5=0-4,0=255"),
        (-1, "1-5", 5, "0-4=1-5,5=255"),
    ])  # fmt: skip
    def test_a_label_that_would_stay_as_it_is_joins_no_class(self, found, tmp_path, shift, classes, left, remap):
        truths = {name: np.where(labels == 255, 255, labels + (shift < 0)) for name, labels in TRUTHS.items()}
        truths = {name: labels.astype(np.uint8) for name, labels in truths.items()}
        unsure = np.random.default_rng(3).random(SHAPE) < 0.2
        predictions = {name: np.where(unsure, left, labels + (shift > 0)) for name, labels in PREDICTIONS.items()}
        predictions = {name: labels.astype(np.uint8) for name, labels in predictions.items()}
        assert_fix(found(predictions, classes, truths=truths)["renumbered"], pred_map=remap)
        as_advised = miou(tmp_path, classes=classes, pred_map=remap)
        right = {name: np.where(unsure, 255, labels + (shift < 0)) for name, labels in PREDICTIONS.items()}
        found({name: labels.astype(np.uint8) for name, labels in right.items()}, classes, truths=truths)
        assert as_advised == miou(tmp_path, classes=classes)
        result = library.evaluate(
            tmp_path / "gt", write_folder(tmp_path / "off", predictions), library.Labels(classes=classes)
        )
        note = result.summary.notes[-1]
        assert (note.kind, advised(note.message.settings)) == ("off-by-one", {"pred_map": remap})

    def test_of_stacks_no_remapping_is_advised_as_none_applies(self, found):
        """A stack with a map of background first, for classes that count from 0."""
        stacks = {f"{name[:-4]}.npy": np.eye(6, dtype=np.float32)[labels + 1] for name, labels in PREDICTIONS.items()}
        flag = found(stacks, "0-5")["renumbered"]["fix"]
        assert flag == "save the maps of the classes alone, in the order of --classes"

    def test_an_image_of_one_class_that_is_missed_is_no_shift(self, found):
        one = {"im0.png": np.zeros(SHAPE, np.uint8)}
        assert found(PREDICTIONS | {"im0.png": np.ones(SHAPE, np.uint8)}, truths=TRUTHS | one) == {}


CHOSEN = "; check and complete it by the definitions of both lists: the mapping that agrees best flatters a method"

SMOOTH = [gaussian_filter(np.random.default_rng([7, k]).normal(size=SHAPE), 4) for k in range(IMAGES)]
WEAK = {
    "random": [np.random.default_rng(k).integers(0, CLASSES, SHAPE) for k in range(IMAGES)],
    "constant": [np.full(SHAPE, 3)] * IMAGES,
    "never trained": [noise > 0 for noise in SMOOTH],
    "a class is missed": [np.where(labels == 2, 4, labels) for labels in PREDICTIONS.values()],
    "exchanged in one image": [
        np.where((labels > 2) & (k == 2), 7 - labels, labels) for k, labels in enumerate(PREDICTIONS.values())
    ],
}


class TestLabelsNumberedOtherwise:
    def renumbered(self, ids, share=0.15):
        return {name: np.array(ids, np.uint8)[prediction(k, share)] for k, name in enumerate(PREDICTIONS)}

    @pytest.mark.parametrize(("ids", "remap"), [
        ([7, 8, 11, 12, 33], "7-8=0-1,11-12=2-3,33=4"),
        ([7, 1, 0, 4, 3], "0=2,1=1,3=4,4=3,7=0"),
        ([0, 4, 2, 1, 3], "0=0,1=3,2=2,3=4,4=1"),
    ], ids=["other labels", "others in part", "in another order"])  # fmt: skip
    def test_are_found_and_the_advice_gives_the_metric(self, found, tmp_path, ids, remap):
        findings = found(self.renumbered(ids))
        assert findings.keys() == {"renumbered"}
        assert_fix(findings["renumbered"], pred_map=remap)
        assert findings["renumbered"]["fix"].endswith(CHOSEN)
        wrong, as_advised = miou(tmp_path, classes=5), miou(tmp_path, classes=5, pred_map=remap)
        assert found(PREDICTIONS) == {}
        assert as_advised == miou(tmp_path, classes=5) > wrong + 0.3

    def test_two_exchanged_beside_background_are_found(self, found):
        """The heart in the numbers of ACDC and of M&Ms: two of four labels are the same."""
        of_heart = np.array([0, 0, 1, 2, 3] + [255] * 251, np.uint8)
        truths = {name: of_heart[labels] for name, labels in TRUTHS.items()}
        predictions = {name: np.array([0, 0, 3, 2, 1], np.uint8)[labels] for name, labels in PREDICTIONS.items()}
        finding = found(predictions, "0-3", truths=truths)["renumbered"]
        assert (finding["values"]["labels"], finding["values"]["classes"]) == ([1, 3], [3, 1])
        assert_fix(finding, pred_map="0=0,1=3,2=2,3=1")

    def test_labels_without_a_class_are_told_beside_them(self, found):
        predictions = self.renumbered([7, 8, 11, 12, 33])
        predictions["im0.png"][5, 5] = 20
        findings = found(predictions)
        assert findings.keys() == {"renumbered", "outside-classes"}
        assert findings["outside-classes"]["values"]["labels"] == [20]

    def test_beside_a_remapping_the_advice_is_on_values_as_stored(self, found):
        finding = found(self.renumbered([7, 8, 11, 12, 33]), "0-4", "--pred-map", "33=9")["renumbered"]
        assert_fix(finding, pred_map="7-8=0-1,11-12=2-3,33=4")

    def test_a_run_says_so_at_its_end(self, found, tmp_path):
        found(self.renumbered([1, 2, 0, 4, 3]))
        (note,) = library.evaluate(tmp_path / "gt", tmp_path / "pred", library.Labels(classes=5)).summary.notes
        assert (note.kind, advised(note.message.settings)) == ("other-numbering", {"pred_map": "0=2,1-2=0-1,3=4,4=3"})

    def test_a_run_advises_no_mapping_that_changes_nothing(self, found, tmp_path):
        """Where all labels but background are none of the classes: a run does not see which they are."""
        ids = np.array([0, 10, 20, 30, 40] + [50] * 251, np.uint8)
        unsure = np.arange(SHAPE[1]) % 5 == 0
        found({name: np.where(unsure, np.uint8(50), ids[labels]) for name, labels in TRUTHS.items()})
        notes = library.evaluate(tmp_path / "gt", tmp_path / "pred", library.Labels(classes=5)).summary.notes
        assert not [note for note in notes if "pred_map" in advised(note.message.settings)]

    @pytest.mark.parametrize("predictions", WEAK.values(), ids=WEAK)
    def test_weak_predictions_are_no_finding(self, found, predictions):
        found_in = found({name: labels.astype(np.uint8) for name, labels in zip(TRUTHS, predictions, strict=True)})
        assert "renumbered" not in found_in


FROM_ONE = {name: np.where(labels == 255, 0, labels + 1).astype(np.uint8) for name, labels in TRUTHS.items()}


class TestRemappedLabels:
    """A map that renumbers labels leaves values that it does not name as they are: in the numbers of other labels."""

    def test_of_ground_truth_that_join_a_class_are_found(self, found, tmp_path):
        finding = found(PREDICTIONS, "0-4", "--gt-map", "1-5=0-4", truths=FROM_ONE)["joined-labels"]
        assert finding["side"] == "ground truth"
        assert finding["values"]["labels"] == [0]
        assert finding["values"]["given"]["name"] == "gt_map"
        assert_fix(finding, gt_map="1-5=0-4,0=255")
        wrong = miou(tmp_path, classes=5, gt_map="1-5=0-4")
        notes = library.evaluate(tmp_path / "gt", tmp_path / "pred", library.Labels(classes=5, gt_map="1-5=0-4")).notes
        assert noted(notes) == [
            ("ground truth", "values-joined", {"given": Setting("gt_map", "1-5=0-4"), "images": 8, "total": 8})
        ]
        right = miou(tmp_path, classes=5, gt_map="1-5=0-4,0=255")
        assert found(PREDICTIONS) == {}
        assert right == miou(tmp_path, classes=5) > wrong

    def test_of_predictions_that_join_classes_are_found(self, found):
        ids = np.array([2, 7, 8, 1, 9], np.uint8)
        unsure = np.random.default_rng(3).random(SHAPE) < 0.2
        predictions = {name: np.where(unsure, [[3, 4] * 28], ids[labels]) for name, labels in PREDICTIONS.items()}
        predictions = {name: labels.astype(np.uint8) for name, labels in predictions.items()}
        finding = found(predictions, "0-4", "--pred-map", "2=0,7=1,8=2,1=3,9=4")["joined-labels"]
        assert finding["side"] == "prediction"
        assert (finding["values"]["given"]["name"], finding["values"]["labels"]) == ("pred_map", [3, 4])
        assert_fix(finding, pred_map="2=0,7=1,8=2,1=3,9=4,*=255")

    def test_without_void_need_one(self, found):
        settings = ["0-4", "--gt-map", "1-5=0-4", "--void", "none"]
        finding = found(PREDICTIONS, *settings, truths=FROM_ONE)["joined-labels"]
        assert_fix(finding, gt_map="1-5=0-4,0=255", void=[255])
        assert found(PREDICTIONS, "0-4", "--gt-map", "1-5=0-4,0=255", "--void", "255", truths=FROM_ONE) == {}

    @pytest.mark.parametrize("gt_map", ["2=1", "2=1,4=3", "1-5=0-4,0=0", "1-5=0-4,*=255", "0-4=0-4"])
    def test_that_are_joined_on_purpose_are_no_finding(self, found, gt_map):
        assert "joined-labels" not in found(PREDICTIONS, "0-5", "--gt-map", gt_map, truths=FROM_ONE)

    def test_that_do_not_occur_are_no_finding(self, found):
        truths = {name: np.where(labels == 0, 255, labels).astype(np.uint8) for name, labels in FROM_ONE.items()}
        assert found(PREDICTIONS, "0-4", "--gt-map", "1-5=0-4", truths=truths) == {}


class TestLabelNeverPredicted:
    """Label 0 of ground truth that no prediction holds may mean unlabelled: as a class it has an IoU of 0."""

    @pytest.fixture
    def from_one(self):
        return {name: labels + 1 for name, labels in PREDICTIONS.items()}

    @pytest.mark.parametrize("background", [(), ("--background", "0")])
    def test_is_found_and_the_advice_gives_the_metric_without_it(self, found, from_one, tmp_path, background):
        finding = found(from_one, "0-5", *background, truths=FROM_ONE)["never-predicted"]
        assert finding["values"]["share"] == pytest.approx(2 / SHAPE[0])
        assert_fix(finding, classes="1-5", void=[0, 255])
        assert ("without --background 0" in finding["fix"]) == bool(background)
        right = miou(tmp_path, classes="1-5", void=(0, 255))
        wrong = miou(tmp_path, classes="0-5", background=[0] if background else ())
        assert found(PREDICTIONS) == {}
        assert right == miou(tmp_path, classes=5) > wrong + 0.01

    def test_leaves_another_background_as_it_is(self, found, from_one):
        finding = found(from_one, "0-5", "--background", "0,3", truths=FROM_ONE)["never-predicted"]
        assert_fix(finding, classes="1-5", void=[0, 255], background=3)

    def test_is_none_if_predictions_hold_a_single_class(self, found):
        truths = {name: (labels > 2).astype(np.uint8) for name, labels in FROM_ONE.items()}
        assert found({name: np.ones_like(labels) for name, labels in truths.items()}, "0-1", truths=truths) == {}

    def test_is_none_if_some_prediction_holds_it_or_few_ground_truths_do(self, found, from_one):
        from_one["im3.png"][0, 0] = 0
        assert found(from_one, "0-5", truths=FROM_ONE) == {}
        from_one["im3.png"][0, 0] = 1
        truths = {
            name: np.where(labels == 0, 255 * (k > 3), labels) for k, (name, labels) in enumerate(FROM_ONE.items())
        }
        truths = {name: labels.astype(np.uint8) for name, labels in truths.items()}
        assert found(from_one, "0-5", truths=truths) == {}

    def test_is_none_if_predictions_are_wrong_everywhere(self, found):
        predictions = {name: np.roll(labels, 20) + np.uint8(7) for name, labels in PREDICTIONS.items()}
        assert found(predictions, "0-5", truths=FROM_ONE).keys() == {"outside-classes"}


SOUND = list(PREDICTIONS.values())
OF_CONTOURS = {
    "sound": SOUND,
    "off by one": [labels + 1 for labels in SOUND],
    "scaled": [labels * 60 for labels in SOUND],
    "void": [np.where(np.eye(*SHAPE), 255, labels).astype(np.uint8) for labels in SOUND],
    "some off by one": [*(labels + 1 for labels in SOUND[:3]), *SOUND[3:]],
}


class TestContours:
    @pytest.fixture
    def said(self, segbench, tmp_path):
        """Return what two protocols say of predictions, of all kinds of arguments."""

        def say(predictions, *options):
            where = write_folder(tmp_path / "gt", TRUTHS), write_folder(tmp_path / "pred", predictions)
            verbs = [[verb, *where, "--classes", "0-4"] for verb in ("labels", "contours")]
            return [segbench(*options, *verb) for verb in verbs]

        return say

    @pytest.mark.parametrize("predictions", OF_CONTOURS.values(), ids=OF_CONTOURS)
    def test_find_what_labels_find(self, said, predictions):
        of_labels, of_contours = said(dict(zip(TRUTHS, predictions, strict=True)), "check")
        assert of_contours.out == of_labels.out

    @pytest.mark.parametrize("kind", ["off by one", "scaled"])
    def test_say_so_at_the_end_of_a_run_as_labels_do(self, said, kind):
        answers = said(dict(zip(TRUTHS, OF_CONTOURS[kind], strict=True)))
        of_labels, of_contours = (
            {line for line in answer.out.splitlines() if "outside the classes" in line or "off by one" in line}
            for answer in answers
        )
        assert of_contours == of_labels != set()

    def test_scores_of_classes_count_as_the_labels_that_win(self, segbench, tmp_path):
        gt = write_folder(tmp_path / "gt", TRUTHS)
        scores = {f"{name[:-4]}.npy": np.eye(CLASSES, dtype=np.float32)[p] for name, p in PREDICTIONS.items()}
        stacks = write_folder(tmp_path / "scores", {name: np.moveaxis(each, 2, 0) for name, each in scores.items()})
        maps = write_folder(tmp_path / "maps", PREDICTIONS)
        assert "nothing found" in segbench("check", "contours", gt, stacks, "--classes", "0-4").out
        by_classes = library.Contours(classes="0-4")
        told = [dict(library.evaluate(gt, folder, by_classes).summary) for folder in (stacks, maps)]
        assert told[0] == told[1]


def test_a_single_class_that_leaves_labels_out_is_told_how_to_name_all(found):
    finding = found(PREDICTIONS, "4")["not-countable"]
    assert finding["alternatives"] == [[{"name": "classes", "value": classes}] for classes in ("0-4", "0-3")]
    assert found(PREDICTIONS, "0-4") == {}


def test_a_single_class_that_no_file_holds_is_taken_for_their_number(found):
    below_four = {name: np.where(labels == 4, 3, labels) for name, labels in TRUTHS.items()}
    finding = found(PREDICTIONS, "4", truths=below_four)["not-countable"]
    assert finding["alternatives"] == [[{"name": "classes", "value": classes}] for classes in ("0-3", "0-4")]


class TestCopiesOfMethods:
    def test_are_found_across_methods(self, segbench, tmp_path):
        gt = write_folder(tmp_path / "gt", TRUTHS)
        folders = [write_folder(tmp_path / name, PREDICTIONS) for name in ("ours", "ours_v2")]
        other = write_folder(tmp_path / "other", {name: prediction(k, 0.3) for k, name in enumerate(PREDICTIONS)})
        answer = segbench("check", "labels", gt, *folders, other, "--classes", "0-4")
        assert answer.code == 0
        assert answer.out.count("duplicates: ") == 1
        assert "duplicates: predictions are the same as those of ours, byte for byte" in answer.out

    def test_copies_in_folders_are_named_with_their_folders(self, segbench, tmp_path):
        sides = [{f"{city}/{name}": drawn for city in ("bonn", "ulm") for name, drawn in side.items()}
                 for side in (TRUTHS, PREDICTIONS)]  # fmt: skip
        gt, pred = (write_folder(tmp_path / name, side) for name, side in zip(("gt", "pred"), sides, strict=True))
        out = segbench("check", "labels", gt, pred, "--classes", "0-4").out
        assert f"{pred}/ulm/im1.png: as {pred}/bonn/im1.png\n" in out

    def test_one_file_that_differs_makes_two_methods(self, segbench, tmp_path):
        gt, first = write_folder(tmp_path / "gt", TRUTHS), write_folder(tmp_path / "a", PREDICTIONS)
        second = write_folder(tmp_path / "b", PREDICTIONS | {"im0.png": prediction(0, 0.3)})
        (second / "im1.png").unlink()
        out = segbench("check", "labels", gt, first, second, "--classes", "0-4").out
        assert "duplicates" not in out
        blank = {name: np.zeros(SHAPE, np.uint8) for name in PREDICTIONS}
        folders = [write_folder(tmp_path / name, blank) for name in ("c", "d")]
        assert "same as those of" not in segbench("check", "labels", gt, *folders, "--classes", "0-4").out


@pytest.mark.parametrize("side", ["ground truth", "prediction"])
def test_labels_in_jpeg_are_told_as_such(segbench, tmp_path, side):
    rng = np.random.default_rng(0)
    maps = {f"im{k}": np.kron(rng.integers(0, 3, (4, 4)), np.ones((9, 9))).astype(np.uint8) for k in range(3)}
    kinds = {"gt": ".jpg" if side == "ground truth" else ".png", "pred": ".jpg" if side == "prediction" else ".png"}
    folders = [
        write_folder(tmp_path / name, {f"{image}{kind}": labels * 40 for image, labels in maps.items()})
        for name, kind in kinds.items()
    ]
    answer = segbench("check", "labels", *folders, "--classes", "0,40,80", "--format", "json")
    (report,) = json.loads(answer.out)["reports"]
    lossy = [finding for finding in report["findings"] if finding["kind"] == "lossy-labels"]
    assert [(finding["side"], finding["values"]["compressions"]) for finding in lossy] == [(side, ["JPEG"])]
    assert "add labels" not in answer.out

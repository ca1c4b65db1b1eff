"""The background is counted as every class is, and left out of means over classes."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import advised, noted, of_kind
from refusing import refused
from sklearn.metrics import accuracy_score, f1_score, jaccard_score

import segbench as library
from segbench import ArgumentError, Contours, DataError, Labels, evaluate
from segbench.core.messages import Setting, part_of

SHAPE = (24, 32)
ORGANS = (1, 2, 3)
CLASSES = "0-3"


def organs(seed, absent=(), shift=0):
    """Draw three squares on background, some of them absent."""
    labels = np.zeros(SHAPE, np.uint8)
    for organ, column in zip(ORGANS, (3, 13, 23), strict=True):
        size = 3 + organ + seed
        if organ not in absent:
            labels[6 + shift : 6 + shift + size, column : column + size - shift] = organ
    return labels


TRUTHS = {"a": organs(0), "b": organs(1, absent=[3]), "c": organs(2, absent=[2])}
PREDICTED = {"a": organs(0, shift=1), "b": organs(1, shift=2), "c": organs(2, absent=[2, 3], shift=1)}
PAIRS = {name: (TRUTHS[name], PREDICTED[name]) for name in TRUTHS}
FLAT = [np.concatenate([side[name].ravel() for name in TRUTHS]) for side in (TRUTHS, PREDICTED)]


def summary(protocol, pairs=PAIRS):
    return evaluate(pairs, protocol=protocol).summary


class TestLabels:
    def test_pooled_means_are_those_of_an_independent_library(self):
        found = summary(Labels(classes=CLASSES, background=0))
        assert found["miou"] == pytest.approx(jaccard_score(*FLAT, labels=ORGANS, average="macro"))
        assert found["mean_dice"] == pytest.approx(f1_score(*FLAT, labels=ORGANS, average="macro"))
        assert found["fw_iou"] == pytest.approx(jaccard_score(*FLAT, labels=ORGANS, average="weighted"))
        assert found["mean_accuracy"] == pytest.approx(np.mean([np.mean(FLAT[1][FLAT[0] == k] == k) for k in ORGANS]))

    def test_means_over_images_are_of_the_organs_that_an_image_holds(self):
        found = summary(Labels(classes=CLASSES, background=0))
        iou = {
            (name, organ): jaccard_score(truth.ravel() == organ, predicted.ravel() == organ)
            for name, (truth, predicted) in PAIRS.items()
            for organ in ORGANS
            if (truth == organ).any()
        }
        images = [np.mean([value for (name, _), value in iou.items() if name == image]) for image in PAIRS]
        classes = [np.mean([value for (_, organ), value in iou.items() if organ == one]) for one in ORGANS]
        assert found["miou_images"] == pytest.approx(np.mean(images))
        assert found["miou_classes"] == pytest.approx(np.mean(classes))
        assert found["miou_images_5"] == pytest.approx(min(images))

    def test_what_is_no_mean_over_classes_stays(self):
        found, every = (summary(Labels(classes=CLASSES, background=left)) for left in (0, ()))
        assert found["pixel_accuracy"] == every["pixel_accuracy"] == pytest.approx(accuracy_score(*FLAT))
        assert found["kappa"] == every["kappa"]
        assert found["pixels"] == every["pixels"]
        assert (found["classes"], every["classes"]) == (3, 4)

    def test_an_image_of_background_alone_is_in_no_mean_over_images(self):
        blank = np.zeros(SHAPE, np.uint8)
        protocol = Labels(classes=CLASSES, background=0)
        found = summary(protocol, {**PAIRS, "d": (blank, blank)})
        assert found["miou_images"] == summary(protocol)["miou_images"]
        assert noted(of_kind(found.notes, "left-out")) == [
            ("", "left-out", {"why": "no class but the background", "number": part_of(1, 4)})
        ]
        alone = summary(protocol, {"d": (blank, blank)})
        assert np.isnan(alone["miou"])
        assert alone.undefined["miou"].kind == "background-alone"


class TestContours:
    @pytest.mark.parametrize("empty", ["undefined", "diagonal"])
    def test_means_are_those_over_the_organs(self, empty):
        result = evaluate(PAIRS, protocol=Contours(classes=CLASSES, background=0, nsd=1, empty=empty))
        for key in ("dice", "hd", "hd95", "assd", "masd", "nsd@1", "boundary_iou"):
            assert result.summary[key] == pytest.approx(
                np.mean([result.parts("class")[str(k)].summary[key] for k in ORGANS])
            )
        by_image = {
            name: [
                library.count(*pair, library.Contours(classes=CLASSES))
                .one(k)
                .metrics(library.Contours(empty=empty))["dice"]
                for k in ORGANS
            ]
            for name, pair in PAIRS.items()
        }
        assert result.summary["dice_images"] == pytest.approx(np.mean([np.nanmean(of) for of in by_image.values()]))
        assert result.summary["both_empty"] == 1

    def test_nsd_at_each_tolerance_is_the_metric(self):
        tolerances = evaluate(PAIRS, protocol=Contours(classes=CLASSES, background=0)).table.tolerances
        assert tolerances.nsd[tolerances.at == 2] == pytest.approx(
            summary(Contours(classes=CLASSES, background=0))["nsd@2"]
        )


@pytest.mark.parametrize("kind", [Labels, Contours])
class TestBoth:
    def test_weights_are_duplicates(self, kind):
        protocol = kind(classes=CLASSES, background=0)
        table = evaluate(PAIRS, protocol=protocol).table
        twice = {**PAIRS, "a2": PAIRS["a"]}
        for metric, value in zip(table.metrics, table.measure(np.array([[2.0, 1, 1]]))[0], strict=True):
            if "_5" not in metric.key:
                assert value == pytest.approx(summary(protocol, twice)[metric.key], nan_ok=True)

    def test_classes_are_measured_as_without_it(self, kind):
        found, every = (
            evaluate(PAIRS, protocol=kind(classes=CLASSES, background=left)).parts("class") for left in (0, ())
        )
        assert list(found) == ["0", "1", "2", "3"]
        assert all(found[name].summary == every[name].summary for name in found)

    def test_it_may_be_several_labels_of_named_classes(self, kind):
        protocol = kind(classes="0,liver=1,spleen=2,3", background="0,3")
        result = evaluate(PAIRS, protocol=protocol)
        key = "miou" if kind is Labels else "dice"
        of_class = [result.parts("class")[name].summary[key.removeprefix("m")] for name in ("liver", "spleen")]
        assert result.summary[key] == pytest.approx(np.mean(of_class))
        assert protocol == kind(classes="0,liver=1,spleen=2,3", background=[3, 0])

    def test_wrong_ones_are_refused(self, kind):
        with refused("unfit-background", ArgumentError, labels="0", settings={"classes": "0-3"}):
            kind(classes="1-3", background=0)
        with refused("unfit-background", ArgumentError, given=Setting("background", "0-1")):
            kind(classes="0-1", background=[0, 1])
        with refused("no-classes" if kind is Labels else "unfit-setting", ArgumentError):
            kind(background=0)

    def test_the_advice_of_array_functions_can_be_followed(self, kind):
        with refused("no-class", DataError, labels=(0,)) as error:
            library.count(*PAIRS["a"], kind(classes="1-3"))
        settings = advised(error.value.settings)
        assert kind(**settings) == kind(classes=CLASSES, background=0)
        assert library.count(*PAIRS["a"], kind(classes=settings["classes"])).names == ("0", "1", "2", "3")

    def test_results_files_keep_it(self, kind, segbench, tmp_path):
        places = [
            write_folder(tmp_path / k, {f"{name}.png": pair[k == "p"] for name, pair in PAIRS.items()}) for k in "gp"
        ]
        options = "--classes", CLASSES, "--background", "0"
        run = segbench(kind.name, *places, *options, "-o", tmp_path / "r.segbench", "--format", "json")
        assert "|background:0|" in json.loads(run.out)["runs"][0]["signature"]
        shown = segbench("show", tmp_path / "r.segbench", "--format", "json")
        found = json.loads(shown.out)["runs"][0]["summary"]
        assert found == json.loads(run.out)["runs"][0]["summary"]
        assert found["dice" if kind is Contours else "mean_dice"] == pytest.approx(
            summary(kind(classes=CLASSES, background=0))["dice" if kind is Contours else "mean_dice"]
        )
        by_class = segbench("show", tmp_path / "r.segbench", "--per-class").out
        assert "left out of means over classes, background: 0" in by_class


def test_the_legend_of_a_plot_of_classes_has_the_same_mean():
    from matplotlib.figure import Figure

    from segbench.report.plots.classes import plot_classes

    result = evaluate(PAIRS, protocol=Labels(classes=CLASSES, background=0), method="net")
    ax = plot_classes(result, ax=Figure().subplots())
    assert len(ax.patches) == 4
    (label,) = ax.get_legend_handles_labels()[1]
    assert label == f"net, mean {result.summary['miou']:.4f}".replace(" 0.", " .")


class TestAdvice:
    @pytest.fixture
    def found(self, segbench, tmp_path):
        def check(verb, predicted, *options, truths=TRUTHS):
            sides = {"gt": truths, "pred": predicted}
            places = [
                write_folder(tmp_path / side, {f"{name}.npy": one for name, one in maps.items()})
                for side, maps in sides.items()
            ]
            answer = segbench("check", verb, *places, *options, "--format", "json")
            return {each["kind"]: each for each in json.loads(answer.out)["reports"][0]["findings"]}

        return check

    @pytest.mark.parametrize("verb", ["labels", "contours"])
    def test_label_0_that_is_no_class_is_background_and_not_void(self, found, verb):
        whole = found(verb, PREDICTED, "--classes", "1-3")["not-countable"]
        assert [*advised(whole["settings"]).items()] == [("classes", "0-3"), ("background", 0)]
        assert whole["fix"].count("--classes 0-3") == 2, "with background, and as a class"
        assert "docs/labels.md" in whole["fix"]
        subset = found(verb, PREDICTED, "--classes", "liver=1,spleen=2")["not-countable"]["settings"]
        assert advised(subset) == {"classes": "0,liver=1,spleen=2,3", "background": "0,3"}
        assert found(verb, PREDICTED, "--classes", "0-3", "--background", "0") == {}

    @pytest.mark.parametrize("verb", ["labels", "contours"])
    def test_void_background_is_reported(self, found, verb):
        flag = found(verb, PREDICTED, "--classes", "1-3", "--void", "0,255")["void-background"]["fix"]
        assert flag.endswith("such predictions are wrong: --classes 0-3 --background 0 and --void 255")
        others = found(verb, PREDICTED, "--classes", "1-2", "--void", "0,3")
        assert others["void-background"]["fix"].endswith("--classes 0-3 --background 0,3 and --void none")
        remapped = found(verb, PREDICTED, "--classes", "1-3", "--gt-map", "0=255")["void-background"]["fix"]
        assert remapped.endswith("--classes 0-3 --background 0, and leave 0 out of --gt-map")

    def test_void_background_in_whose_number_a_class_is_has_another(self, found, tmp_path):
        flood = {name: np.where(one == 0, 1, one) - 1 for name, one in PREDICTED.items()}
        flag = found("labels", flood, "--classes", "0-2", "--gt-map", "1-3=0-2,0=255")["void-background"]["fix"]
        assert flag.endswith("such predictions are wrong: --classes 0-3 --background 3, and 0=3 in --gt-map")
        places = tmp_path / "gt", tmp_path / "pred"
        followed = evaluate(*places, protocol=Labels(classes=4, background=3, gt_map="1-3=0-2,0=3"))
        as_numbered = evaluate(*places, protocol=Labels(classes=4, background=0, pred_map="0-2=1-3"))
        assert followed.summary["miou"] == as_numbered.summary["miou"]

    def test_void_background_is_not_said_of_labels_that_are_off_by_one(self, found):
        truths = {name: np.where(np.arange(SHAPE[1]) < 5, 0, truth + 1) for name, truth in TRUTHS.items()}
        options = ["--classes", "0-3", "--gt-map", "1-4=0-3,0=255"]
        predicted = {name: np.where(np.arange(SHAPE[1]) < 2, 4, one + 1) for name, one in PREDICTED.items()}
        assert found("labels", predicted, *options, truths=truths).keys() == {"renumbered"}

    def test_predictions_that_differ_where_void_are_not_called_identical(self, found):
        flood = {name: np.where(truth == 0, 1, truth) for name, truth in TRUTHS.items()}
        assert found("labels", flood, "--classes", "1-3", "--void", "0,255").keys() == {"void-background"}
        assert found("labels", TRUTHS, "--classes", "0-3").keys() == {"identical"}

    def test_nothing_is_called_identical_where_most_images_cannot_be_counted(self, found):
        truths = {name: np.where(truth == 3, 9, truth) for name, truth in TRUTHS.items()} | {"b": TRUTHS["b"]}
        assert found("labels", truths, "--classes", "0-3", truths=truths).keys() == {"not-countable"}

    def test_unlabelled_pixels_are_void_without_a_warning(self, found):
        truths = {name: np.where(np.arange(SHAPE[1]) < 5, 0, truth + 1) for name, truth in TRUTHS.items()}
        predicted = {name: one + 1 for name, one in PREDICTED.items()}
        assert found("labels", predicted, "--classes", "1-4", "--void", "0", truths=truths) == {}

    def test_scores_where_background_is_void(self, found):
        stacks = {name: np.stack([np.where(one == k, 0.9, 0.1 * k) for k in ORGANS]) for name, one in PREDICTED.items()}
        flag = found("pixels", stacks, "--classes", "1-3", "--void", "0,255")["void-background"]["fix"]
        assert flag == "if 0 is background, high scores there are wrong, and count with --void 255"

    @pytest.mark.parametrize("verb", ["labels", "contours"])
    def test_a_stack_without_a_map_of_the_background(self, found, verb):
        stacks = {name: np.stack([one == k for k in ORGANS]).astype(np.float32) for name, one in PREDICTED.items()}
        flag = found(verb, stacks, "--classes", "0-3")["not-countable"]["fix"]
        assert flag.startswith("if label 0, the background, has no map, save its map, too")
        assert "0-2" not in flag

    @pytest.mark.parametrize("verb", ["labels", "contours"])
    def test_masks_of_another_value_beside_classes(self, found, verb):
        masks = [{name: (one == 1).astype(np.uint8) for name, one in side.items()} for side in (TRUTHS, PREDICTED)]
        of_255 = {name: one * np.uint8(255) for name, one in masks[1].items()}
        flag = found(verb, of_255, "--classes", "0-1", truths=masks[0])["outside-classes"]["fix"]
        assert flag == "if 255 marks class 1, --pred-map 255=1, or for masks leave out --classes"
        assert found(verb, of_255, "--classes", "0-1", "--pred-map", "255=1", truths=masks[0]) == {}


def test_an_option_that_is_given_twice_is_refused(segbench, tmp_path):
    assert segbench("show", tmp_path / "r.segbench", "--class", "1", "--class", "2").code == 2

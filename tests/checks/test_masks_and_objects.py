"""Masks, contours and objects are counted when they are checked, so that a run refuses nothing that a check passed."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import advised, values_of
from refusing import insist, refused, within
from scipy.ndimage import label

import segbench as library
from segbench.core.messages import Setting

SHAPE = (48, 64)


def instances(seed, objects=12):
    """Draw numbered squares in a grid, some of them left out."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros(SHAPE, np.uint8)
    for number, place in enumerate(sorted(rng.choice(24, objects, replace=False)), 1):
        row, column = divmod(int(place), 6)
        drawn[12 * row + 2 : 12 * row + 9, 10 * column + 2 : 10 * column + 9] = number
    return drawn


def soft(seed):
    rng = np.random.default_rng(seed)
    return np.rint(127 * (instances(seed) > 0) + 127 * rng.random(SHAPE)).astype(np.uint8)


@pytest.fixture
def found(segbench, check_findings, tmp_path):
    """Check folders, and run them; return the findings by key and the answer of the run."""

    def check(verb, gt, pred, *options):
        where = write_folder(tmp_path / "gt", gt), write_folder(tmp_path / "pred", pred)
        _, findings = check_findings(verb, *where, *options)
        return findings, segbench(verb, *where, *options)

    return check


MAPS = {f"im{k}.png": instances(k, 8 + k % 5) for k in range(8)}
MASKS = {name: np.uint8(255) * (drawn > 0) for name, drawn in MAPS.items()}
SOFT = {f"im{k}.png": soft(k) for k in range(8)}


@pytest.mark.parametrize("verb", ["contours", "centerlines"])
def test_soft_maps_that_are_not_cut_stop_a_run(found, verb):
    findings, run = found(verb, MASKS, SOFT)
    assert findings.keys() == {"not-countable"}
    assert findings["not-countable"]["settings"][0] == {"name": "at", "value": 0.5}
    assert findings["not-countable"]["side"] == "prediction"
    assert (run.code, run.out) == (1, "")
    insist(run.error, "check-failed", findings=("not-countable",))
    assert run.error.settings[0] == Setting("at", 0.5)
    findings, run = found(verb, MASKS, SOFT, "--at", "0.5")
    assert findings == {}
    assert run.code == 0


@pytest.mark.parametrize("verb", ["contours", "centerlines", "objects"])
def test_predictions_with_the_values_of_the_ground_truth_are_masked_as_its_rule_says(found, verb):
    options = ("--kind", "components") if verb == "objects" else ()
    rims = {name: np.array([255, 0, 128], np.uint8)[drawn % 3] for name, drawn in MAPS.items()}
    rule = ("--positive", "0,128")
    fix = within(found(verb, rims, rims, *options, *rule)[1].error, "finding")["fix"]
    assert fix.values["given"] == Setting("positive", "0,128")
    masks = {name: eval(fix.values["mask"], {"numpy": np, "labels": drawn}) for name, drawn in rims.items()}  # noqa: S307
    assert all(((masks[name] > 0) == (rims[name] != 255)).all() for name in rims)
    findings, run = found(verb, rims, masks, *options, *rule)
    assert "not-countable" not in findings
    assert run.code == 0


@pytest.mark.parametrize(
    ("scores", "at"),
    [((0, 0.2, 0.9), 0.5), ((0, 0.2, 0.3), ...), ((-3, -1, 2), 0), ((-3, -1, -0.5), ...)],
)
def test_the_cut_that_is_advised_leaves_something(tmp_path, scores, at):
    masks = {f"im{k}.npy": drawn for k, drawn in enumerate(MASKS.values())}
    maps = {
        name: np.float32(scores)[np.where(drawn > 0, 1 + np.arange(SHAPE[1]) % 2, 0)] for name, drawn in masks.items()
    }
    folders = write_folder(tmp_path / "gt", masks), write_folder(tmp_path / "pred", maps)
    (fix,) = (found.fix for found in library.check(*folders, "contours").findings if found.kind == "not-countable")
    assert (fix.settings[0].name, fix.settings[0].value) == ("at", at)
    if at is ...:
        values = values_of(fix)
        assert (values["lowest"], values["highest"]) == pytest.approx((scores[0], scores[2]))


@pytest.mark.parametrize(("verb", "labels"), [("contours", "classes"), ("objects", "kind")])
def test_predicted_numbers_are_not_cut_where_nothing_would_be_left(found, verb, labels):
    options = ("--kind", "components") if verb == "objects" else ()
    finding = found(verb, MASKS, MAPS, *options)[0]["not-countable"]
    assert finding["settings"][0]["name"] == labels
    assert finding["fix"].endswith("; or save masks of 0 and 255")
    assert "at" not in advised(finding["settings"])


def test_a_mask_among_maps_of_objects(found):
    findings, _ = found("objects", MAPS, MAPS | {"im3.png": MASKS["im3.png"]})
    finding = findings["not-countable"]
    assert [place["file"].rpartition("/")[2] for place in finding["files"]] == ["im3.png"]
    assert advised(finding["settings"]) == {"kind": "components"}


def test_maps_of_objects_counted_as_components(found):
    findings, run = found("objects", MAPS, MAPS, "--kind", "components")
    assert findings["not-countable"]["settings"] == [
        {"name": "kind", "value": "instances"},
        {"name": "positive", "value": "12"},
        {"name": "positive", "value": ">0"},
    ]
    assert (run.code, run.out) == (1, "")


@pytest.mark.parametrize("verb", ["pixels", "labels", "contours", "centerlines", "saliency", "objects"])
def test_a_rule_is_named_that_marks_all_numbered_objects(found, verb):
    options = ("--kind", "components") if verb == "objects" else ()
    maps = {name: np.where(drawn > 0, drawn.astype(np.uint16) + np.uint16(300), 0) for name, drawn in MAPS.items()}
    findings, _ = found(verb, maps, MASKS, *options)
    assert {"name": "positive", "value": ">0"} in (findings.get("not-countable") or findings["labels"])["settings"]
    by_rule, run = found(verb, maps, MASKS, *options, "--positive", ">0")
    assert not {"not-countable", "labels", "no-positives"} & set(by_rule)
    assert run.code == 0


@pytest.mark.parametrize("verb", ["pixels", "labels", "contours", "centerlines", "objects"])
@pytest.mark.parametrize("number", [40, 200, 255])
def test_many_numbered_objects_in_8_bits_are_not_cut_at_half_of_the_scale_alone(found, verb, number):
    options = ("--kind", "components") if verb == "objects" else ()
    cells = np.kron(np.arange(256).reshape(16, 16), np.pad(np.ones((2, 3), int), 1))
    maps = {f"im{k}.png": np.roll(np.where(cells > number, 0, cells), k).astype(np.uint8) for k in range(2)}
    masks = {name: np.uint8(255) * (drawn > 0) for name, drawn in maps.items()}
    findings, run = found(verb, maps, masks, *options)
    assert run.code == 1
    (advice, *_) = (finding["settings"] for finding in findings.values() if finding["severity"] == "error")
    assert {"name": "positive", "value": ">0"} in advice
    if number < 128:
        assert ">=" not in str(advice)


@pytest.mark.parametrize("side", ["gt", "pred"])
def test_contours_of_label_maps_name_their_classes_and_the_background(found, side):
    gt = {
        f"im{k}.png": np.where(instances(k) % 4 == 3 * (k % 2), 0, instances(k) % 4).astype(np.uint8) for k in range(6)
    }
    masks = {name: np.uint8(255) * (drawn > 0) for name, drawn in gt.items()}
    findings, _ = found("contours", *((gt, gt) if side == "gt" else (masks, gt)))
    first, second, *others = findings["not-countable"]["settings"]
    assert [first, second] == [{"name": "classes", "value": "0-3"}, {"name": "background", "value": 0}]
    assert "classes" not in advised(others)
    findings, run = found("contours", gt, gt, "--classes", "0-3", "--background", "0")
    assert "not-countable" not in findings
    assert run.code == 0


@pytest.mark.parametrize("verb", ["pixels", "contours", "centerlines"])
def test_ground_truth_without_negatives_is_found(found, verb):
    everything = {name: np.full(SHAPE, 255, np.uint8) for name in MASKS}
    findings, _ = found(verb, everything, MASKS, "--positive", "255")
    assert "no-positives" in findings
    assert findings["no-positives"]["values"]["lacking"] == "negative"


def test_void_that_leaves_positives_alone_is_found(found):
    findings, run = found("pixels", MASKS, SOFT, "--positive", "255", "--void", "0")
    assert run.code == 0
    finding = findings["no-positives"]
    assert finding["severity"] == "warning"
    assert (finding["values"]["lacking"], finding["values"]["values"]) == ("negative", [255])
    assert finding["fix"] == "perhaps --void 0 left out every other value; give another, or none"
    assert finding["settings"] == []
    assert "no-positives" not in found("pixels", MASKS, SOFT, "--positive", "255")[0]


def test_void_that_a_bound_takes_for_lines_is_found(found):
    drawn = np.zeros(SHAPE, np.uint8)
    drawn[10, 4:60], drawn[30, 4:60], drawn[-4:] = 1, 2, 255
    maps = {"a.png": drawn, "b.png": drawn[::-1]}
    soft_maps = {"a.png": soft(0), "b.png": soft(1)}
    findings, run = found("boundaries", maps, soft_maps, "--positive", ">=1")
    assert (run.code, findings["void"]["severity"]) == (0, "warning")
    assert findings["void"]["settings"] == [{"name": "positive", "value": "1,2"}]
    assert "void" not in found("boundaries", maps, soft_maps, "--positive", "1,2")[0]


def test_label_maps_have_one_advice_for_all_images_and_methods(segbench, tmp_path):
    gt = {f"im{k}.png": np.where(instances(k) % (3 + k % 2), instances(k) % (3 + k % 2), 0) for k in range(6)}
    gt = {name: drawn.astype(np.uint8) for name, drawn in gt.items()}
    where = write_folder(tmp_path / "gt", gt), write_folder(tmp_path / "a", gt), write_folder(tmp_path / "b", gt)
    (tmp_path / "b" / "im0.png").unlink()
    out = segbench("check", "labels", *where).out
    assert out.count("not-countable") == 1
    assert "--classes 0-3" in out
    assert "--classes 0-2" not in out


@pytest.mark.parametrize("verb", ["labels", "contours", "centerlines", "objects"])
@pytest.mark.parametrize(("side", "option"), [("pred", "predicted_positive"), ("gt", "positive")])
def test_inverted_masks(segbench, tmp_path, verb, side, option):
    truths = {f"im{k}.png": np.uint8(255) * (instances(k) > 0) for k in range(4)}
    guesses = {name: np.roll(truth, 1, axis=1) for name, truth in truths.items()}
    folders = {"gt": truths, "pred": guesses}
    folders[side] = {name: 255 - mask for name, mask in folders[side].items()}
    gt, pred = (write_folder(tmp_path / name, maps) for name, maps in folders.items())
    kind = ("--kind", "components") * (verb == "objects")
    report = json.loads(segbench("check", verb, gt, pred, *kind, "--format", "json").out)["reports"][0]
    (ways,) = (one["alternatives"] for one in report["findings"] if one["kind"] == "inverted")
    names = ["positive", "predicted_positive"] if verb == "labels" else ["positive"]
    ordered = sorted(names, key=lambda name: name != option)
    assert [[(advice["name"], str(advice["value"])) for advice in way] for way in ways] == [
        [(name, "0")] for name in ordered
    ]


@pytest.mark.parametrize("side", ["pred", "gt"])
def test_advice_on_inverted_masks_under_a_rule_gives_the_metrics_of_sound_ones(segbench, tmp_path, side):
    noise = np.random.default_rng(0).integers(0, 40, SHAPE, dtype=np.uint8)
    truths = {f"im{k}.png": np.where(instances(k) > 0, 255 - noise, noise) for k in range(4)}
    folders = {"gt": truths, "pred": {name: np.roll(truth, 1, axis=1) for name, truth in truths.items()}}
    turned = folders | {side: {name: 255 - mask for name, mask in folders[side].items()}}
    sound, inverted = (
        [write_folder(tmp_path / which / name, maps) for name, maps in some.items()]
        for which, some in (("sound", folders), ("inverted", turned))
    )
    report = json.loads(segbench("check", "labels", *inverted, "--positive", ">=128", "--format", "json").out)
    (ways,) = (one["alternatives"] for one in report["reports"][0]["findings"] if one["kind"] == "inverted")
    (way,) = (way for way in ways if ("positive" in advised(way)) == (side == "gt"))
    options = [word for name, value in advised(way).items() for word in (f"--{name.replace('_', '-')}", value)]

    def iou(where, *how):
        return json.loads(segbench("labels", *where, *how, "--format", "json").out)["runs"][0]["summary"]["iou"]

    rule = [] if "--positive" in options else ["--positive", ">=128"]
    assert iou(inverted, *rule, *options) == iou(sound, "--positive", ">=128") > 0.5


@pytest.mark.parametrize("side", ["gt", "pred"])
def test_rules_for_label_maps_that_invert_one_side_are_turned_to_all_other_labels(found, side):
    quarters = {name: drawn % 4 for name, drawn in MAPS.items()}
    rules = {"gt": "0,2", "pred": "0,2", side: "1,3"}
    findings, _ = found("labels", quarters, quarters, "--positive", rules["gt"], "--predicted-positive", rules["pred"])
    option = {"name": "positive" if side == "gt" else "predicted_positive", "value": "0,2"}
    assert any(option in way for way in findings["inverted"]["alternatives"])


@pytest.mark.parametrize("verb", ["labels", "contours"])
def test_ground_truth_that_a_rule_inverts(segbench, tmp_path, verb):
    folders = write_folder(tmp_path / "gt", MASKS), write_folder(tmp_path / "pred", MASKS)
    report = json.loads(segbench("check", verb, *folders, "--positive", "0", "--format", "json").out)["reports"][0]
    (ways,) = (one["alternatives"] for one in report["findings"] if one["kind"] == "inverted")
    assert [{"name": "positive", "value": ">0"}] in ways
    answer = segbench(verb, *folders, "--positive", ">0", "--format", "json")
    assert json.loads(answer.out)["runs"][0]["summary"]["dice"] == 1


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_stacks_of_scores_of_classes_are_no_masks(tmp_path, labels):
    truth = np.resize(labels, (12, 15)).astype(np.uint8)
    write_folder(tmp_path, {"gt/a.npy": truth, "pred/a.npy": np.eye(3)[:, truth]})
    findings = library.check(tmp_path / "gt", tmp_path / "pred", library.Contours(classes=3)).findings
    assert [found.kind for found in findings] == ["identical"]


ONES = {name: (drawn > 0).astype(np.uint8) for name, drawn in MAPS.items()}
SINGLE = {name: (drawn == 3).astype(np.uint8) for name, drawn in MAPS.items()}
SPECKS = {
    name: drawn | np.eye(*SHAPE, dtype=np.uint8)[:, ::-1] * (np.arange(64) % 9 == 0) for name, drawn in SINGLE.items()
}


class TestMasksOfZeroAndOneWithoutNumbers:
    @pytest.mark.parametrize(
        ("gt", "pred", "side", "settings"),
        [(ONES, ONES, "ground truth", {"kind": "components"}), (MAPS, ONES, "prediction", {})],
        ids=["both", "predictions"],
    )
    def test_are_refused_by_check_and_run(self, found, gt, pred, side, settings):
        findings, run = found("objects", gt, pred)
        finding = findings["masks"]
        assert finding["severity"] == "error"
        values = finding["values"]["reason"]["values"]
        assert (finding["side"], values["parts"], values["images"]) == (side, 77, 8)
        assert advised(finding["settings"]) == settings
        assert (run.code, run.out) == (1, "")
        assert finding["fix"] in run.err

    def test_are_refused_at_the_end_of_a_run_without_check(self, segbench, tmp_path):
        where = write_folder(tmp_path / "gt", MAPS), write_folder(tmp_path / "pred", ONES)
        answer = segbench("objects", *where, "--no-check")
        assert answer.code == 1
        insist(answer.error, "masks", path="predictions", hold="hold", parts=77, images=8)

    def test_are_a_warning_where_other_images_may_have_numbers(self, segbench, tmp_path):
        many = {f"{k}{name}": drawn for k in range(5) for name, drawn in ONES.items()}
        where = write_folder(tmp_path / "gt", many | {"z.png": MAPS["im0.png"]}), write_folder(tmp_path / "pred", many)
        write_folder(tmp_path / "pred", {"z.png": MAPS["im0.png"]})
        answer = segbench("check", "objects", *where, "--format", "json")
        assert answer.code == 0
        findings = {finding["kind"]: finding for finding in json.loads(answer.out)["reports"][0]["findings"]}
        assert (findings["masks"]["severity"], findings["masks"]["side"]) == ("warning", "ground truth")

    def test_are_refused_as_arrays(self):
        pairs = {name: (MAPS[name], ONES[name]) for name in MAPS}
        with refused("masks", library.DataError, hold="hold", parts=77, images=8):
            library.evaluate(pairs, protocol="objects")
        accumulator = library.Accumulator("objects")
        for name, (truth, predicted) in pairs.items():
            accumulator.update(truth, predicted, name=name)
        with refused("masks", library.DataError, hold="hold", parts=77, images=8):
            accumulator.compute()
        with refused("masks", library.DataError, hold="hold", parts=8, images=1):
            library.count(MAPS["im0.png"], ONES["im0.png"], "objects")

    def test_the_advice_gives_what_numbered_maps_give(self, found, tmp_path):
        numbered = {name: label(mask)[0].astype(np.uint8) for name, mask in ONES.items()}
        assert found("objects", MAPS, numbered)[1].code == 0
        summary = library.evaluate(tmp_path / "gt", tmp_path / "pred", library.Objects()).summary
        assert summary["f1@0.5"] == summary["pq"] == 1
        assert found("objects", ONES, ONES, "--kind", "components")[1].code == 0

    @pytest.mark.parametrize("pred", [SINGLE, SPECKS, MAPS], ids=["one part", "specks", "several objects"])
    def test_one_object_in_each_image_is_no_mask(self, found, pred):
        findings, run = found("objects", SINGLE, pred)
        assert "masks" not in findings
        assert run.code == 0

    def test_one_object_with_a_number_of_its_own_in_each_image(self, found):
        own = {name: np.uint8(k) * mask for k, (name, mask) in enumerate(SINGLE.items(), 1)}
        findings, run = found("objects", own, SPECKS)
        assert "masks" not in findings
        assert run.code == 0

    def test_one_object_of_many_parts_may_have_another_number(self, found):
        twos = {name: 2 * mask for name, mask in ONES.items()}
        assert found("objects", twos, twos)[1].code == 0
        assert library.count(twos["im0.png"], twos["im0.png"], "objects").metrics()["f1@0.5"] == 1


@pytest.mark.parametrize("side", ["gt", "pred"])
def test_regions_in_colour_are_refused_and_numbered_as_advised(found, side):
    colours = np.random.default_rng(0).integers(0, 255, (256, 3)).astype(np.uint8)
    folders = {"gt": MAPS, "pred": MAPS} | {side: {name: colours[drawn] for name, drawn in MAPS.items()}}
    findings, run = found("regions", folders["gt"], folders["pred"])
    assert findings.keys() == {"not-countable"}
    assert findings["not-countable"]["files"][0]["detail"] == "is in colour, expected a number for each region"
    assert (run.code, run.out) == (1, "")
    expression = findings["not-countable"]["fix"].partition("; ")[2].removesuffix(" numbers the colours")
    numbers = {name: eval(expression, {"numpy": np, "rgb": rgb}) for name, rgb in folders[side].items()}  # noqa: S307
    folders[side] = {name: drawn.astype(np.uint8) for name, drawn in numbers.items()}
    findings, run = found("regions", folders["gt"], folders["pred"])
    assert "not-countable" not in findings
    assert "1.0000" in run.out


RED, YELLOW, BLUE = (255, 0, 0), (255, 255, 0), (0, 0, 255)


def of_colours(maps, background, marked):
    return {
        name: np.where(drawn[..., None] > 0, np.uint8(marked), np.uint8(background)) for name, drawn in maps.items()
    }


@pytest.mark.parametrize("verb", ["centerlines", "saliency"])
def test_predicted_masks_of_two_colours_are_no_scores_as_colours(found, verb):
    findings, _ = found(verb, MASKS, of_colours(MASKS, (0, 0, 0), RED))
    assert findings["colour"]["values"]["count"] == 8
    assert findings["colour"]["fix"] == "save masks of 0 and 255 in one channel"


@pytest.mark.parametrize(("background", "marked"), [((0, 0, 0), RED), (YELLOW, BLUE)])
def test_masks_of_two_colours_are_no_scores_as_colours(segbench, found, tmp_path, background, marked):
    findings, _ = found("pixels", of_colours(MASKS, background, marked), SOFT)
    finding = findings["colour"]
    assert finding["side"] == "ground truth"
    assert finding["values"]["count"] == 8
    assert "colour map" not in finding["fix"]
    rule = ("--positive", advised(finding["settings"])["positive"]) if marked == BLUE else ()
    answer = segbench("pixels", tmp_path / "gt", tmp_path / "pred", *rule, "--format", "json")
    grey = segbench("pixels", write_folder(tmp_path / "grey", MASKS), tmp_path / "pred", "--format", "json")
    summaries = [json.loads(out)["runs"][0]["summary"] for out in (answer.out, grey.out)]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize("verb", ["saliency", "contours"])
def test_masks_in_red_are_advised_about_as_masks(segbench, found, tmp_path, verb):
    predictions = SOFT if verb == "saliency" else MASKS
    findings, run = found(verb, of_colours(MASKS, (0, 0, 0), RED), predictions)
    flag = findings["not-countable"]["fix"]
    assert "mind the order" not in flag
    rule = ()
    if verb == "saliency":
        rule = ("--positive", advised(findings["not-countable"]["settings"])["positive"])
    else:
        rgb = of_colours(MASKS, (0, 0, 0), RED)
        masks = {name: eval(flag.partition(": ")[2], {"rgb": one, "numpy": np}) for name, one in rgb.items()}  # noqa: S307
        write_folder(tmp_path / "gt", masks)
    answer = segbench(verb, tmp_path / "gt", tmp_path / "pred", *rule, "--format", "json")
    grey = segbench(verb, write_folder(tmp_path / "grey", MASKS), tmp_path / "pred", "--format", "json")
    assert run.code == 1
    summaries = [json.loads(out)["runs"][0]["summary"] for out in (answer.out, grey.out)]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize(("slope", "middle"), [(3.0, -4.0), (50.0, 100.0)])
def test_no_scale_is_advised_where_the_threshold_comes_from_the_data(found, slope, middle):
    scores = {f"{name[:3]}.npy": drawn / 255 * slope + middle for name, drawn in MASKS.items()}
    scores = {name: drawn + np.random.default_rng(0).normal(size=SHAPE) for name, drawn in scores.items()}
    options = ("--kind", "components", "--at", "best")
    findings, run = found("objects", MASKS, scores, *options)
    assert "range" not in findings
    assert "range" not in run.err
    assert run.code == 0

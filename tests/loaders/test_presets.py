"""Every preset on a miniature made in its layout; presets of one's own; what is wrong with one."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from loaders.test_object_presets import INSTANCE_SETS
from loaders.test_object_presets import SETS as OBJECT_SETS
from loaders.test_volume_presets import MASKS as VOLUME_MASKS
from loaders.test_volume_presets import SETS as VOLUME_SETS
from noted import noted
from PIL import Image
from refusing import insist, refused, within
from scipy.io import savemat
from scipy.sparse import csc_matrix

import segbench
from segbench.cli.commands import app
from segbench.core.messages import Setting

RNG = np.random.default_rng(7)
DRAWN = np.zeros((24, 32), np.uint8)
DRAWN[6:18, 16] = 255
SOFT = (RNG.random((24, 32)) * 100).astype(np.uint8)
SOFT[6:18, 16] = 220
LABELS = np.ones((24, 32), np.uint16)
LABELS[6:18, 17:] = 2


def image(path, array=DRAWN):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)


def mat(path, **variables):
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, variables)


def cell(*items):
    made = np.empty((1, len(items)), dtype=object)
    made[0, :] = items
    return made


def bsds(path, annotators=2):
    one = {"Boundaries": (DRAWN > 0).astype(np.uint8), "Segmentation": LABELS}
    mat(path, groundTruth=cell(*[one] * annotators))


def crackforest(root):
    mat(root / "groundTruth/001.mat", groundTruth={"Boundaries": DRAWN > 0, "Segmentation": LABELS})
    return ["001"]


def sbd(root):
    boundaries = np.empty((20, 1), dtype=object)
    for k in range(20):
        boundaries[k, 0] = csc_matrix((DRAWN > 0) & (k == 2))
    mat(root / "dataset/cls/2008_000002.mat", GTcls={"Boundaries": boundaries, "Segmentation": LABELS})
    return ["2008_000002"]


def drive(root):
    image(root / "test/1st_manual/01_manual1.gif")
    image(root / "test/mask/01_test_mask.gif", np.full((24, 32), 255, np.uint8))
    return ["01_test"]


def mvtec(root):
    image(root / "ground_truth/broken_large/000_mask.png")
    return ["broken_large/000", "good/000", "good/001"]


def categories(*files):
    """Make the masks of categories below the root; return the names of their predictions."""

    def made(root):
        for category in ("one", "two"):
            for file, _ in files:
                image(root / category / file)
        return [f"{category}/{name}" for category in ("one", "two") for _, names in files for name in names]

    return made


def real_iad(root):
    """Masks lie beside photographs; a view without a visible defect has none, like normal images."""
    names = []
    for category in ("audiojack", "usb"):
        view = f"BX/S0002/{category}_0002_NG_BX_C1_20231018105340"
        image(root / category / f"NG/{view}.png")
        image(root / category / f"NG/{view}.jpg", SOFT)
        image(root / category / f"NG/{view.replace('C1', 'C2')}.jpg", SOFT)
        image(root / category / f"OK/S0001/{category}_0001_OK_C1_20231018105340.jpg", SOFT)
        views = (view, view.replace("C1", "C2"), f"OK/S0001/{category}_0001_OK_C1_20231018105340")
        names += [f"{category}/{name}" for name in views]
    return names


def cityscapes(root):
    labels = np.zeros((24, 32), np.uint8)
    labels[6:18, 16] = 13
    labels[0] = 255
    image(root / "gtFine/val/lindau/lindau_000000_000019_gtFine_labelTrainIds.png", labels)
    return ["lindau/lindau_000000_000019"]


def smiyc(root):
    labels = DRAWN // 255
    labels[0] = 255
    image(root / "labels_masks/validation0000_labels_semantic.png", labels)
    return ["validation0000"]


def one(file, name):
    def made(root):
        (bsds if file.endswith(".mat") else image)(root / file)
        return [name]

    return made


def hrf(root):
    image(root / "manual1/01_dr.tif")
    image(root / "mask/01_dr_mask.tif", np.full_like(DRAWN, 255))
    return ["01_dr"]


def pascal(root):
    mat(root / "trainval/2008_000002.mat", LabelMap=LABELS)
    return ["2008_000002"]


def multicue(root):
    for tag in ("1", "10", "6"):
        image(root / f"ground-truth/images/edges/4680_left_0170.{tag}.png")
    return ["4680_left_0170"]


MINIATURES = {
    "biped": (one("BIPED/edges/edge_maps/test/rgbr/RGB_008.png", "RGB_008"), ()),
    "bsds500": (one("BSDS500/data/groundTruth/test/100007.mat", "100007"), ()),
    "btad": (categories(("ground_truth/ko/0000.bmp", ("ko/0000", "ok/0000"))), ()),
    "camo": (one("TestDataset/CAMO/GT/0001.png", "0001"), ()),
    "chameleon": (one("TestDataset/CHAMELEON/GT/0001.png", "0001"), ()),
    "chase-db1": (one("Image_01L_1stHO.png", "Image_01L"), ()),
    "cityscapes": (cityscapes, ("--classes", "car=13")),
    "cod10k": (one("TestDataset/COD10K/GT/0001.png", "0001"), ()),
    "crack500": (one("testcrop/20160222_080933_361_1.png", "20160222_080933_361_1"), ()),
    "crackforest": (crackforest, ()),
    "cracktree260": (one("gt/6192.png", "6192"), ()),
    "cvc-clinicdb": (one("TestDataset/CVC-ClinicDB/masks/1.png", "1"), ()),
    "cvc-colondb": (one("TestDataset/CVC-ColonDB/masks/1.png", "1"), ()),
    "deepcrack": (one("test_lab/11125-1.png", "11125-1"), ()),
    "dis5k": (one("gt/0001.png", "0001"), ()),
    "drive": (drive, ()),
    "dut-omron": (one("pixelwiseGT-new-PNG/0001.png", "0001"), ()),
    "duts": (one("DUTS-TE-Mask/ILSVRC2012_test_00000003.png", "ILSVRC2012_test_00000003"), ()),
    "ecssd": (one("ECSSD/ground_truth_mask/0001.png", "0001"), ()),
    "etis": (one("TestDataset/ETIS-LaribPolypDB/masks/1.png", "1"), ()),
    "gaps384": (one("croppedgt/train_0001_1_1.png", "train_0001_1_1"), ()),
    "hku-is": (one("HKU-IS/gt/0001.png", "0001"), ()),
    "hrf": (hrf, ()),
    "multicue": (multicue, ()),
    "mpdd": (categories(("ground_truth/scratches/000_mask.png", ("scratches/000", "good/000"))), ()),
    "mvtec-ad": (mvtec, ()),
    "mvtec-ad-2": (
        *(
            categories(("test_public/ground_truth/bad/000_regular_mask.png", ("bad/000_regular", "good/000_regular"))),
            (),
        ),
    ),
    "real-iad": (real_iad, ()),
    "nc4k": (one("NC4K/GT/0001.png", "0001"), ()),
    "nyudv2": (one("groundTruth/img_5001.mat", "img_5001"), ()),
    "pascal-context": (pascal, ()),
    "pascal-s": (one("datasets/masks/pascal/0001.png", "0001"), ()),
    "sbd": (sbd, ("--category", "3")),
    "smiyc": (smiyc, ()),
    "sod": (one("SOD/ground_truth/0001.png", "0001"), ()),
    "stare": (one("labels-ah/im0001.ah.ppm", "im0001"), ()),
    "visa": (categories(("Data/Masks/Anomaly/000.png", ("Anomaly/000", "Normal/0000"))), ()),
}


INDICES = np.repeat(np.arange(4, dtype=np.uint8), 6)[:, None] + np.zeros((24, 32), np.uint8)
VOID = np.where(np.arange(32) < 4, 255, INDICES).astype(np.uint8)
MASK = (DRAWN > 0).astype(np.uint8)


def colour_coded(palette, labels):
    rows = [row.split(",")[:4] for row in palette.split(";")]
    colours = {int(label): tuple(map(int, rgb)) for *rgb, label in reversed(rows)}
    return np.array([[colours[label] for label in row] for row in labels.tolist()], np.uint8)


def palette_image(path, labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Image.frombytes("P", labels.shape[::-1], labels.tobytes())
    made.putpalette(RNG.integers(0, 256, 768).tolist())
    made.save(path)


def renamed(*names):
    """Return the table that renames the labels 0 to 3, and void to the name of all others."""
    return np.array([*names[:4], *[names[4]] * 252], np.uint8 if names[4] == 0 else np.uint16)


EIGHT = np.ones((8, 8), np.uint8)
LABELLED = {  # an image, its ground truth with the file below the root, and a prediction that is right
    "ade20k": (
        *("ADE_val_00000001", "ADEChallengeData2016/annotations/validation/{}.png"),
        *(np.where(VOID > 9, 0, VOID + 1), INDICES),
    ),
    "camvid": (
        *("0001TP_006690", "LabeledApproved_full/{}_L.png"),
        *(colour_coded(segbench.load_preset("camvid").options["palette"], VOID), INDICES),
    ),
    "chase-db1": ("Image_01L", "{}_1stHO.png", DRAWN, MASK),
    "cityscapes": (
        *("lindau/lindau_000000_000019", "gtFine/val/{}_gtFine_labelTrainIds.png"),
        *(VOID, INDICES),
    ),
    "cityscapes-labelids": (
        *("lindau/lindau_000000_000019", "gtFine/val/{}_gtFine_labelIds.png"),
        *(renamed(7, 8, 11, 12, 0)[VOID], renamed(7, 8, 11, 12, 0)[INDICES]),
    ),
    "coco-stuff": ("000000000139", "stuffthingmaps/val2017/{}.png", VOID, INDICES),
    "drive": ("01_test", "test/1st_manual/01_manual1.gif", DRAWN, MASK),
    "istd": ("1-1", "ISTD_Dataset/test/test_B/{}.png", DRAWN, MASK),
    "levir-cd": ("test_1", "test/label/{}.png", DRAWN, MASK),
    "loveda": ("2522", "masks_png/{}.png", np.where(VOID > 9, 0, VOID + 1), INDICES),
    "potsdam": (
        *("2_13", "5_Labels_all_noBoundary/top_potsdam_{}_label_noBoundary.tif"),
        *(colour_coded(segbench.load_preset("potsdam").options["palette"], VOID), INDICES),
    ),
    "refcoco": ("1000", "masks/{}.png", DRAWN, MASK),
    "sbu": ("lssd1001", "SBU-shadow/SBU-Test/ShadowMasks/{}.png", DRAWN, MASK),
    "vaihingen": (
        *("area2", "ISPRS_semantic_labeling_Vaihingen_ground_truth_eroded_COMPLETE/top_mosaic_09cm_{}_noBoundary.tif"),
        *(colour_coded(segbench.load_preset("vaihingen").options["palette"], VOID), INDICES),
    ),
    "whu-cd": ("0_1", "test/label/{}.png", DRAWN, MASK),
    "isic2018": ("ISIC_0012169", "ISIC2018_Task1_Test_GroundTruth/{}_segmentation.png", DRAWN, MASK),
    "kvasir-seg": (
        *("cju0qkwl35piu0993l0dewei2", "Kvasir-SEG/masks/{}.jpg"),
        *(np.kron(DRAWN, EIGHT), np.kron(MASK, EIGHT)),
    ),
    "pascal-context": ("2008_000002", "trainval/{}.mat", renamed(2, 9, 18, 19, 1)[VOID], INDICES),
    "pascal-voc": ("2007_000033", "VOCdevkit/VOC2012/SegmentationClass/{}.png", VOID, INDICES),
    "stare": ("im0001", "labels-ah/{}.ah.ppm", DRAWN, MASK),
}


@pytest.mark.parametrize("name", sorted(LABELLED))
def test_a_preset_of_label_maps_fits_its_layout(name, tmp_path):
    stem, place, truth, predicted = LABELLED[name]
    root = tmp_path / "root"
    if name == "drive":
        drive(root)  # with its field of view
    write = palette_image if name == "pascal-voc" else image
    write(tmp_path / f"pred/{stem}.png", predicted)
    if place.endswith(".mat"):
        mat(root / place.format(stem), LabelMap=truth)
    else:
        write(root / place.format(stem), truth)
    ended = CliRunner().invoke(
        app, ["labels", "--preset", name, *map(str, (root, tmp_path / "pred", "-o", tmp_path / "r.segbench"))]
    )
    assert ended.exit_code == 0, ended.output
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert not result.failed
    assert result.summary["miou"] == 1
    masks = result.settings["classes"] == "masks"
    assert result.summary["classes_present"] == (2 if masks else 4)
    assert result.summary["ignored"] == (0 if masks else 96)


VESSEL = np.where((np.arange(32) > 3) & (np.abs(np.arange(24) - 12) < 2)[:, None], 255, 0).astype(np.uint8)
THIN = {  # an image, its ground truth with the file below the root, and further options
    "chase-db1": ("Image_01L", "{}_1stHO.png", ()),
    "crackforest": ("001", "groundTruth/{}.mat", ("--positive", "2")),
    "drive": ("01_test", "test/1st_manual/01_manual1.gif", ()),
    "stare": ("im0001", "labels-ah/{}.ah.ppm", ()),
}


@pytest.mark.parametrize("name", sorted(THIN))
def test_a_preset_of_thin_structures_fits_its_layout(name, tmp_path, segbench):
    stem, place, further = THIN[name]
    root = tmp_path / "root"
    if name == "drive":
        drive(root)  # with its field of view
    if place.endswith(".mat"):
        mat(root / place.format(stem), groundTruth={"Boundaries": DRAWN > 0, "Segmentation": 1 + (VESSEL > 0)})
    else:
        image(root / place.format(stem), VESSEL)
    image(tmp_path / f"pred/{stem}.png", VESSEL)
    answer = segbench("centerlines", "--preset", name, root, tmp_path / "pred", *further, "--format", "json")
    (counted,) = json.loads(answer.out)["runs"]
    assert (counted["summary"]["cldice"], counted["summary"]["betti0_error"]) == (1, 0)


def run(*arguments):
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


def test_every_preset_has_a_miniature():
    assert list(segbench.presets()) == sorted(
        {*MINIATURES, *LABELLED, *OBJECT_SETS, *INSTANCE_SETS, *VOLUME_SETS, *VOLUME_MASKS}
        | {"mvtec-loco", "davis-2016", "davis-2017"}
    )


@pytest.mark.parametrize("name", sorted(MINIATURES))
def test_a_preset_fits_its_layout(name, tmp_path):
    make, further = MINIATURES[name]
    images = make(tmp_path / "root")
    for stem in images:
        image(tmp_path / f"pred/{stem}.png", SOFT)
    ended = run(name, tmp_path / "root", tmp_path / "pred", "-o", tmp_path / "r.segbench", *further)
    assert ended.exit_code == 0, ended.output
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert not result.failed
    assert len(result.counts) == len(images)
    # Of anomalies some images are negative, and the lower half of PASCAL's region has no line in the scores.
    (ods_f,) = (value for key, value in result.summary.items() if key in ("ods_f", "macro_ods_f", "f_max"))
    assert ods_f >= dict.fromkeys(("btad", "mpdd", "mvtec-ad", "mvtec-ad-2", "real-iad", "visa"), 0.45).get(
        name, 0.4 if "pascal" in name else 0.9
    )
    assert segbench.load_preset(name).title in ended.stderr


def test_presets_are_printed_whole():
    ended = CliRunner().invoke(app, ["run", "drive", "--info"])
    assert ended.exit_code == 0
    assert "segbench pixels ROOT/test/1st_manual PRED --field ROOT/test/mask --gt-pattern '*_manual1'" in ended.stdout
    assert "from the data set's public documents" in ended.stdout
    listed = CliRunner().invoke(app, ["run", "--list"]).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(segbench.presets())


def test_options_by_hand_come_before_those_of_the_preset(tmp_path):
    bsds(tmp_path / "root/groundTruth/100007.mat")
    image(tmp_path / "pred/100007.png", SOFT)
    where = [tmp_path / "root", tmp_path / "pred"]
    ended = CliRunner().invoke(app, ["regions", "--preset", "bsds500", *map(str, where), "--no-check"])
    assert "protocol:regions" in ended.output
    ended = CliRunner().invoke(app, ["pixels", "--preset", "bsds500", *map(str, where)])
    assert (ended.exception.kind, ended.exception.values["protocols"]) == ("other-protocol", ("boundaries", "regions"))
    ended = run("nyudv2", tmp_path / "root", tmp_path / "pred", "--max-dist", "0.1")
    assert "max_dist:0.1|" in ended.output


def test_images_without_ground_truth_are_negative_only_where_they_fit(tmp_path):
    for stem in mvtec(tmp_path / "root"):
        image(tmp_path / f"pred/{stem}.png", SOFT)
    where = tmp_path / "root/ground_truth", tmp_path / "pred"
    result = segbench.evaluate(*where, gt_pattern="*_mask", negatives="good/*")
    good = result.counts["good/000"]
    assert good.positives.sum() == 0
    assert good.negatives.sum() == SOFT.size
    assert ("", "negatives", {"images": 2, "pattern": "good/*"}) in noted(result.notes)
    with refused("unpaired", segbench.DataError, extra=("good/000",)):
        segbench.evaluate(*where, gt_pattern="*_mask", negatives="good/*1")


class TestCategories:
    """MVTec's layout: a ground truth for each category, and a folder with the predictions of all."""

    @pytest.fixture
    def places(self, tmp_path):
        for category in ("bottle", "cable", "screw"):
            for stem in mvtec(tmp_path / "mvtec" / category):
                image(tmp_path / f"padim/{category}/{stem}.png", SOFT)
        return tmp_path / "mvtec", tmp_path / "padim"

    def test_are_no_methods(self, segbench, places):
        root, padim = places
        answer = segbench("run", "mvtec-ad", root / "bottle", padim)
        assert answer.code == 1
        assert within(answer.error, "several-parts") == {"folders": ("bottle", "cable", "screw"), "part": "bottle"}
        advised = f"padim={padim}/bottle"
        assert answer.err.rstrip().endswith(advised)
        (counted,) = json.loads(segbench("run", "mvtec-ad", root / "bottle", advised, "--format", "json").out)["runs"]
        assert (counted["method"], counted["images"]) == ("padim", 3)

    def test_are_no_methods_from_within_one(self, segbench, places, monkeypatch):
        monkeypatch.chdir(places[0] / "bottle")
        answer = segbench("run", "mvtec-ad", ".", "../../padim")
        assert answer.code == 1
        assert answer.err.rstrip().endswith("padim=../../padim/bottle")

    def test_are_told_from_methods_that_have_such_a_name(self, segbench, tmp_path):
        image(tmp_path / "hed/gt/a.png")
        folders = [tmp_path / "maps" / method for method in ("canny", "hed")]
        for folder in folders:
            image(folder / "a.png", SOFT)
        answer = segbench("pixels", tmp_path / "hed/gt", tmp_path / "maps")
        assert within(answer.error, "several-parts") == {"folders": ("canny", "hed"), "part": "hed"}
        assert segbench("pixels", tmp_path / "hed/gt", *folders).code == 0

    def test_are_no_methods_in_python(self, places):
        root, padim = places
        options = {"gt_pattern": "*_mask", "negatives": "good/*"}
        with refused("several-parts", segbench.DataError, settings={"prediction": f"{padim}/bottle"}) as caught:
            segbench.evaluate(root / "bottle/ground_truth", padim, **options)
        assert caught.value.values["folders"] == ("bottle", "cable", "screw")
        assert len(segbench.evaluate(root / "bottle/ground_truth", padim / "bottle", **options).counts) == 3

    def test_of_the_top_folder_are_counted_together(self, segbench, places, tmp_path):
        answer = segbench("run", "mvtec-ad", *places, "-o", tmp_path / "r.segbench", "--format", "json")
        runs = json.loads(answer.out)["runs"]
        assert [run.get("group", "") for run in runs] == ["bottle", "cable", "screw", None]
        assert [run["images"] for run in runs] == [3, 3, 3, 9]
        assert [run.get("mean", False) for run in runs] == [False, False, False, True]

    @pytest.mark.parametrize("below", ["results/latest", "", "{}/test"])
    def test_predictions_may_be_nested(self, segbench, tmp_path, below):
        for stem in mvtec(tmp_path / "mvtec/bottle"):
            place = below.format("bottle") if "{}" in below else f"{below}/bottle"
            image(tmp_path / "padim" / place.strip("/") / f"{stem}.png", SOFT)
        (run,) = json.loads(
            segbench(
                "run", "mvtec-ad", tmp_path / "mvtec", tmp_path / "padim", "--group", "bottle", "--format", "json"
            ).out
        )["runs"]
        assert run["images"] == 3

    def test_one_is_chosen(self, segbench, places):
        (run,) = json.loads(segbench("run", "mvtec-ad", *places, "--group", "cable", "--format", "json").out)["runs"]
        assert run["images"] == 3
        error = segbench("run", "mvtec-ad", *places, "--group", "x").error
        insist(error, "no-such-part", path=str(places[0]), known=("bottle", "cable", "screw"))
        assert error.values["given"].value == "x"

    def test_without_predictions_are_named(self, segbench, places):
        root, padim = places
        (padim / "cable").rename(padim / "cables")
        answer = segbench("run", "mvtec-ad", root, padim)
        insist(answer.error, "missing-categories", path=str(padim), categories=("cable",), listed="cable")
        assert [(setting.name, setting.value in ("bottle", "screw")) for setting in answer.error.settings] == [
            ("group", True)
        ]

    def test_of_mvtec_loco_have_defects(self, segbench, tmp_path):
        rules = [{"defect_name": "cut", "pixel_value": 255, "saturation_threshold": 6, "relative_saturation": False}]
        root = tmp_path / "loco"
        for category in ("box", "juice"):
            for kind in ("logical_anomalies", "structural_anomalies"):
                image(root / category / f"ground_truth/{kind}/000/000.png")
                image(tmp_path / f"pred/{category}/{kind}/000.png", SOFT)
            image(tmp_path / f"pred/{category}/good/000.png", SOFT // 4)
            (root / category / "defects_config.json").write_text(json.dumps(rules))
        answer = segbench("run", "mvtec-loco", root, tmp_path / "pred", "--defects", root, "--format", "json")
        runs = json.loads(answer.out)["runs"]
        assert [run.get("group") for run in runs] == ["box", "juice", None]
        assert all(run["summary"]["auspro_05"] == 1 for run in runs)  # 6 of 12 pixels are enough

    def test_may_be_converted(self, segbench, tmp_path):
        image(tmp_path / "visa/candle/ground_truth/bad/000.png", (DRAWN > 0).astype(np.uint8))
        for stem in ("bad/000", "good/000"):
            image(tmp_path / f"pred/candle/{stem}.png", SOFT)
        answer = segbench("run", "visa", tmp_path / "visa", tmp_path / "pred", "--format", "json")
        (run,) = json.loads(answer.out)["runs"]
        assert run["group"] == "candle"
        assert run["summary"]["image_auc_roc"] is not None

    def test_of_several_files_make_the_same_table(self, segbench, places, tmp_path):
        for category in ("bottle", "cable"):
            segbench("run", "mvtec-ad", *places, "--group", category, "-o", tmp_path / f"{category}.segbench")
        segbench("merge", *(tmp_path / f"{name}.segbench" for name in ("bottle", "cable")), "-o", tmp_path / "both")
        runs = json.loads(segbench("show", tmp_path / "both", "--format", "json").out)["runs"]
        assert [run["group"] for run in runs] == ["bottle", "cable", None]

    def test_methods_may_lie_beside_the_ground_truth(self, segbench, tmp_path):
        image(tmp_path / "unet/gt/a.png")
        for method in ("unet", "hed"):
            image(tmp_path / f"unet/predictions/{method}/a.png", SOFT)
        answer = segbench("pixels", tmp_path / "unet/gt", tmp_path / "unet/predictions", "--format", "json")
        assert [run["method"] for run in json.loads(answer.out)["runs"]] == ["hed", "unet"]


class TestOnesOwn:
    def test_is_used_by_path(self, tmp_path):
        image(tmp_path / "root/truth/a_gt.png")
        image(tmp_path / "pred/a.png", SOFT)
        file = tmp_path / "mine.toml"
        file.write_text('title = "Mine"\n[layout]\nground_truth = "truth"\n[options]\ngt_pattern = "*_gt"\n')
        ended = run(file, tmp_path / "root", tmp_path / "pred")
        assert ended.exit_code == 0, ended.output
        assert "from memory; compare it with your files" in ended.stderr

    def test_what_only_run_knows_is_passed_over_by_check(self, tmp_path):
        image(tmp_path / "root/truth/a.png")
        image(tmp_path / "pred/a.png", SOFT)
        file = tmp_path / "mine.toml"
        file.write_text('title = "Mine"\n[layout]\nground_truth = "truth"\n[options]\nquantize = 16\nno_check = true\n')
        for verb in ("run", "check"):
            ended = CliRunner().invoke(app, [verb, *map(str, (file, tmp_path / "root", tmp_path / "pred"))])
            assert ended.exit_code == 0, ended.output

    def test_its_folders_are_looked_for_on_disk(self, tmp_path):
        ended = run("drive", "drive.zip", tmp_path)
        assert isinstance(ended.exception, segbench.ArgumentError)
        assert (ended.exception.kind, ended.exception.values["path"]) == ("archive", "drive.zip")

    def test_all_its_faults_are_listed(self, tmp_path):
        file = tmp_path / "mine.toml"
        file.write_text('titel = "Mine"\nsource = "hearsay"\n[layout]\nmasks = "m"\nfield = "../up"\n')
        ended = CliRunner().invoke(app, ["run", str(file), "--info"])
        assert ended.exit_code == 1 or isinstance(ended.exception, segbench.DataError)
        assert ended.exception.kind == "wrong-preset"
        problems = [(problem.kind, problem.values.get("entry")) for problem in ended.exception.values["problems"]]
        assert problems == [
            ("unknown-entry", "titel"),
            ("wrong-value", "source"),
            ("missing-entry", None),
            ("unknown-entry", "masks"),
            ("wrong-value", "[layout] field"),
        ]

    @pytest.mark.parametrize(("text", "kind"), [("[layout", "not-toml"), (None, "unreadable")])
    def test_that_is_none(self, tmp_path, text, kind):
        file = tmp_path / "mine.toml"
        if text:
            file.write_text(text)
        with refused(kind, segbench.DataError, path=str(file)):
            segbench.load_preset(str(file))

    def test_an_option_that_is_none_is_refused(self, tmp_path):
        file = tmp_path / "mine.toml"
        file.write_text('[layout]\nground_truth = "."\n[options]\npositives = "1"\n')
        ended = run(file, tmp_path, tmp_path)
        assert ended.exception.kind == "unknown-option"
        assert ended.exception.values == {"options": ("positives",), "protocol": "pixels"}

    @pytest.mark.parametrize("verb", ["boundaries", "regions"])
    def test_an_option_of_one_of_its_protocols_is_passed_over_by_the_other(self, segbench, tmp_path, verb):
        file = tmp_path / "mine.toml"
        file.write_text(
            'protocols = ["boundaries", "regions"]\n[layout]\nground_truth = "."\n[options]\nhuman = true\n'
        )
        error = segbench(verb, "--preset", file, tmp_path / "none", tmp_path).error
        insist(error, "missing-folders", preset="mine", what="ground truth")


def test_names_that_are_none_and_folders_that_are_not_there(tmp_path):
    with refused(
        "unknown-preset", segbench.ArgumentError, name="BSDS50", question="did you mean bsds500? ", nearest="bsds500"
    ):
        segbench.load_preset("BSDS50")
    with refused(
        "missing-folders",
        segbench.DataError,
        preset="drive",
        what="ground truth",
        folders=("test/1st_manual", "1st_manual"),
    ):
        segbench.load_preset("drive").place("ground_truth", tmp_path)


def test_a_category_must_be_chosen_and_be_there(tmp_path):
    (name,) = sbd(tmp_path)
    image(tmp_path / f"pred/{name}.png", SOFT)
    where = tmp_path / "dataset/cls", tmp_path / "pred"
    expected = ((None, "no-category", {"categories": 20}), (21, "unknown-category", {"categories": 20, "category": 21}))
    for category, kind, values in expected:
        with pytest.warns(segbench.FailedImages):
            result = segbench.evaluate(*where, segbench.Boundaries(category=category))
        (failure,) = result.failed.values()
        assert (failure.kind, failure.values) == (kind, values)
        assert failure.settings == (Setting("category", 1),)
    other = segbench.evaluate(*where, segbench.Boundaries(category=4))
    assert other.pooled.total_gt[0] == 0
    assert "category:4" in other.signature

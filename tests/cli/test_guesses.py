"""What people type who know other tools, and what they are told."""

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import insist, refused, within

from segbench import Boundaries, Classes, Contours, Labels, Objects, Saliency, evaluate
from segbench.cli.guesses import metric_keys_of, titles_of
from segbench.core.messages import Setting
from segbench.protocols.registry import verbs

GT_PRED = "GT PRED"

COMMANDS = {
    "pixel": "pixels",
    "segmentation": "pixels",
    "iou": "labels",
    "semantic": "labels",
    "masks": "labels",
    "edges": "boundaries",
    "hausdorff": "contours",
    "panoptic": "objects",
    "anomaly": "anomalies",
    "cldice": "centerlines",
    "sod": "saliency",
    "table": "show",
    "significance": "compare",
    "html": "report",
    "visualize": "overlay",
    "datasets": "run --list",
    "boundries": "boundaries",
    "violin": "plot",
    "nnunet": "labels",
    "help": "--help",
    "version": "--version",
    "cityscapes": "run cityscapes ROOT PRED",
}

OPTIONS = {
    "pixels --ci 95": "--intervals 95",
    "pixels --threshold 0.5": "--at 0.5",
    "pixels --num-workers 4": "--jobs 4",
    "pixels --mask folder": "--field FOLDER",
    "pixels --gt folder": GT_PRED,
    "pixels --logits": "--scale sigmoid",
    "pixels --dataset drive": "--preset NAME",
    "pixels --json": "--format json",
    "compare --latex": "--format latex",
    "show --worst": "--per-image --sort KEY",
    "plot": "segbench pixels GT PRED -o results.segbench",
    "pixels --out file": "--output FILE",
    "pixels --overwrite": "--fresh",
    "labels --num-classes 5": "--classes 0-4",
    "labels --gt-suffix _gt": "--gt-pattern '*_gt'",
    "compare --alpha 0.01": "--intervals 99",
    "show --methods ours": "--only TEXT",
    "compare --method ours,theirs": "write --methods NAMES",
    "pixels --image a.txt": "write --images LIST",
    "labels --threshold 0.5": "write --predicted-positive '>=0.5'",
    "labels --at 0.5": "write --predicted-positive '>=0.5'",
    "labels --ignore-index 255": "--void 255",
    "labels --recursive": "always read",
    "boundaries --tolerance 3": "--max-dist",
    "contours --tolerance 3": "--nsd 3",
    "objects --iou-threshold 0.5": "--iou 0.5",
    "show --measures ods_f": "--metrics KEYS",
    "compare --baseline ours": "--against METHOD",
    "plot --type roc": "--kind roc",
    "overlay r --images folder": "segbench figure RESULTS --images FOLDER",
    "overlay r --thresholds 0.5": "write --threshold NUMBER",
    "report --photos folder": "--images FOLDER",
    "pixels --gt-patern x": "--gt-pattern",
    "pixels --kind roc": "segbench plot",
    "pixels --background 0": "write --classes 1-4, without label 0, for means without the background",
    "labels --exclude-background": "write --background 0",
    "nms -q": "write --progress none",
    "run drive --quiet": "write --progress none",
    "labels --class-names road,car": "--classes road=0,car=1",
    "labels --average macro": "all are measured",
    "labels --metric mIoU": "segbench show RESULTS --metrics KEYS",
    "labels --reduce-zero-label": "--gt-map 1-5=0-4,0=255",
    "labels gt pred --classes 0-149 --reduce-zero-label": "--gt-map 1-150=0-149,0=255",
    "labels gt pred --reduce-zero-label --classes=0-18": "--gt-map 1-19=0-18,0=255",
    "labels gt pred --classes 1-19 --reduce-zero-label": "--void 0",
    "labels --remap 1=0": "--gt-map 1-5=0-4",
    "labels --per_class": "--per-class",
    "labels --djfile dataset.json": "--classes dataset.json",
    "labels --device cuda": "no GPU is needed",
    "labels --show-dir out": "segbench overlay",
    "pixels --thresholds 0.5": "--at 0.5",
    "contours --percentile 95": "always measured",
    "anomalies --max-fpr 0.3": "AUPRO",
    "objects --iou-type segm": "--overlap mask",
    "objects --match-threshold 0.5": "--iou 0.5",
    "compare --n-bootstrap 1000": "--replicates 1000",
    "compare --correction bonferroni": "Holm",
    "compare --wilcoxon": "--test signed-rank",
    "show -o table.tex": "> FILE",
    "show --decimals 3": "--digits 3",
    "plot --figsize 3x3": "--size 3.5x3",
    "plot --dpi 300": "-o plot.pdf",
    "report --open": "open it",
    "show --quiet": "segbench pixels and others that show progress take --progress none",
}

KEPT = {
    "labels --ignore-index 254": "--void 254",
    "labels --ignore-index=0": "--void 0",
    "labels --ignore-index -100": "--void -100",
    "labels --ignore-index": "--void 255",
    "labels --ignore-labels 0 255 -o r.segbench": "--void 0,255",
    "boundaries gt pred --nthresh 33": "--thresholds 33",
    "boundaries gt pred --maxDist 0.011": "--max-dist 0.011",
    "boundaries gt pred --tolerance 2": "--max-dist 2px",
    "boundaries gt pred --tolerance": "--max-dist 0.0075",
    "labels --num-classes 19 gt pred": "--classes 0-18",
    "labels gt pred --num_classes=4": "--classes 0-3",
    "labels gt pred --n-classes 19": "--classes 0-18",
    "labels gt pred --num-classes many": "--classes 0-4 for 5 classes",
    "labels gt pred --labels 0-18": "--classes 0-18",
    "labels gt pred -l 1 2 3": "--classes 1,2,3",
    "labels -djfile my/dataset.json gt pred": "--classes my/dataset.json",
    "labels -djfile": "--classes dataset.json",
    "labels gt pred --workers 2": "--jobs 2",
    "labels gt pred --n-jobs -1": "--jobs 4",
    "labels gt pred --threshold 0.3": "--predicted-positive '>=0.3'",
    "labels --exclude-background gt pred": "--background 0",
    "objects gt pred --iouType bbox": "--overlap box",
    "objects gt pred --iouType segm": "--overlap mask",
    "objects gt pred --iouType boundary": "--overlap boundary",
    "objects gt pred --iou-thresholds 0.3 0.6": "--iou 0.3,0.6",
    "objects gt pred --maxDets 1 10 300": "--max-dets 300",
    "objects gt pred --cat-ids 1,7": "--classes 1,7",
    "compare r --per-class": "--class all",
    "compare r --ci 0.9": "--intervals 90",
    "compare r --alpha 0.05": "--intervals 95",
}

ADVICE = {
    "labels gt pred -pfile plans.json": "no file of plans is needed; leave it out",
    "boundaries gt pred --thinpb true": "segbench boundaries thins maps unless --no-thin is given",
    "labels -ref gt -pred pred": "without options: GT PRED",
}

METRICS = {
    "hd95": ("measured-by", {"verbs": ("contours",)}),
    "AUPRO": ("measured-by", {"verbs": ("anomalies",)}),
    "clDice": ("measured-by", {"verbs": ("centerlines",)}),
    "PQ": ("measured-by", {"verbs": ("objects",)}),
    "mIoU": ("measured-by", {"verbs": ("labels", "saliency")}),
    "S-measure": ("measured-by", {"verbs": ("saliency",)}),
    "PSNR": ("not-measured", {}),
    "osi_f": ("may-be", {"metrics": ("ois_f",)}),
    "dice@0.7": ("measured-by", {"verbs": ("pixels",), "setting": Setting("at", (0.7,))}),
    "f1_images@.72": ("measured-by", {"verbs": ("objects",), "setting": Setting("iou", (0.72,))}),
}

NAMES = {"maxF": "ods_f", "ODS F": "ods_f", "AP": "average_precision", "Dice": "ods_f", "FPR95": "fpr_at_95_tpr"}


@pytest.mark.parametrize(("typed", "meant"), COMMANDS.items())
def test_the_command_that_is_meant_is_named(segbench, typed, meant):
    answer = segbench(typed, "gt", "pred")
    assert answer.code == 2
    insist(answer.error, "no-such-command", typed=typed)
    assert within(answer.error, "meant")["command"] == meant


def test_who_evaluates_is_asked_what(segbench):
    answer = segbench("evaluate", "gt", "pred")
    assert answer.code == 2
    assert within(answer.error, "choose-command")["commands"] == tuple(verbs())


@pytest.mark.parametrize(("typed", "meant"), OPTIONS.items())
def test_the_option_that_is_meant_is_named(segbench, typed, meant):
    answer = segbench(*typed.split())
    assert answer.code == 2
    values = answer.error.values
    assert meant in str(values.get("meant") or values.get("others") or values.get("near") or values["help"])


@pytest.mark.parametrize(("typed", "written"), KEPT.items())
def test_the_option_that_is_meant_has_the_value_that_was_typed(segbench, typed, written):
    answer = segbench(*typed.split())
    assert answer.code == 2
    insist(answer.error, "no-such-option")
    assert within(answer.error, "meant")["typed"] == written


@pytest.mark.parametrize(("typed", "advice"), ADVICE.items())
def test_an_option_that_is_not_needed_is_answered_with_advice(segbench, typed, advice):
    answer = segbench(*typed.split())
    assert answer.code == 2
    assert advice in within(answer.error, "advice")["advice"]


def test_a_word_of_one_dash_is_not_cut(segbench):
    answer = segbench("labels", "gt", "pred", "-hd95")
    insist(answer.error, "no-such-option", typed="-hd95")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plot r --kind precision-recall", "--kind pr"),
        ("plot r --kind bar", "--kind intervals"),
        ("plot r --kind confusion-matrix", "--kind confusion"),
        ("compare r --test wilcoxon", "--test signed-rank"),
        ("show r --format tex", "--format latex"),
        ("objects gt pred --overlap bbox", "--overlap box"),
    ],
)
def test_the_value_that_is_meant_is_named(segbench, typed, meant):
    answer = segbench(*typed.split())
    assert answer.code == 2
    assert str(answer.error).endswith(f"write {meant}")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guesses")
    for place, value in (("gt", 255), ("pred", 120)):
        (folder / place).mkdir()
        iio.imwrite(folder / place / "a.png", np.eye(8, dtype=np.uint8) * value)
    evaluate(folder / "gt", folder / "pred", results=folder / "r.segbench")
    return folder / "r.segbench"


@pytest.mark.parametrize(("typed", "meant"), METRICS.items())
def test_metrics_of_other_commands_are_named_with_these(segbench, results, typed, meant):
    answer = segbench("show", results, "--metrics", typed)
    assert answer.code == 2
    insist(answer.error, "unknown-metric", option="--metrics", unknown=(typed,))
    kind, values = meant
    assert within(answer.error, kind) == within(answer.error, kind) | {"typed": typed} | values


@pytest.mark.parametrize(("typed", "key"), NAMES.items())
def test_names_of_papers_are_understood(segbench, results, typed, key):
    of_name, of_key = (segbench("show", results, "--metrics", each, "--format", "csv") for each in (typed, key))
    assert of_name == of_key


@pytest.mark.parametrize(
    ("protocol", "typed", "key"),
    [
        (Labels(), "cIoU", "iou"),
        (Labels(), "oIoU", "iou"),
        (Labels(), "gIoU", "giou"),
        (Labels(), "P@0.5", "p@0.5"),
        (Labels(), "Pr@.7", "p@0.7"),
        (Labels(), "Prec@0.9", "p@0.9"),
        (Labels(), "N-acc", "n_acc"),
        (Labels(), "T-acc", "t_acc"),
        (Labels(classes=3), "mDice", "mean_dice"),
        (Saliency(), "mDice", "mean_dice"),
        (Objects(kind="components"), "Pd", "pd"),
        (Objects(kind="components"), "Fa", "fa"),
        (Objects(kind="components", at=0.5), "CPM", "froc"),
        (Objects(kind="scored"), "FROC", "froc"),
        (Objects(kind="scored"), "AP", "coco_ap"),
        (Objects(kind="scored"), "segm_AP", "coco_ap"),
        (Objects(kind="scored"), "bbox_AP", "coco_ap"),
        (Objects(kind="scored"), "AR", "coco_ar_100"),
        (Boundaries(), "ODS", "ods_f"),
        (Boundaries(), "OIS", "ois_f"),
        (Boundaries(), "AP", "area_pr"),
        (Saliency(), "mIoU", "mean_iou"),
        (Saliency(), "maxDice", "dice_max"),
        (Saliency(), "maxIoU", "iou_max"),
        (Saliency(), "meanSen", "sensitivity_mean"),
        (Saliency(), "meanSpe", "specificity_mean"),
        (Saliency(), "maxSpe", "specificity_max"),
        (Saliency(), "maxEm", "e_max"),
        (Contours(nsd=3), "completeness@3", "buffer_recall@3"),
        (Contours(nsd=3), "quality@3", "buffer_quality@3"),
        (Classes(labels=range(3), calibration=True), "class-wise ECE", "macro_ece"),
    ],
)
def test_names_of_papers_find_the_metrics_of_a_protocol(protocol, typed, key):
    titles = {metric.key: titles_of(metric) for metric in protocol.metrics() if metric.key}
    assert metric_keys_of("--metrics", [typed], titles) == [key]


@pytest.mark.parametrize(
    ("known", "typed", "may_be"),
    [
        ({"auc_roc": ["P-AUROC"], "image_auc_roc": ["I-AUROC"]}, "AUROC", ("auc_roc", "image_auc_roc")),
        ({"e_max": ["max"], "f_max": ["max"]}, "max", ("e_max", "f_max")),
        ({"nsd@1": ["NSD@1"], "nsd@2": ["NSD@2"]}, "NSD", ("nsd@1", "nsd@2")),
        ({"miou": ["mIoU"], "mean_dice": ["mDice"]}, "IoU", ("miou",)),
        ({"assd": ["ASSD"], "hd": ["HD"]}, "ASD", ("assd",)),
    ],
)
def test_a_name_that_may_be_another_metric_is_not_taken(known, typed, may_be):
    with refused("unknown-metric", unknown=(typed,)) as raised:
        metric_keys_of("--metrics", [typed], known)
    assert within(raised.value, "may-be")["metrics"] == may_be


@pytest.mark.parametrize("typed", ["pixels --photos folder", "labels --background 0"])
def test_no_option_is_named_that_does_something_else(segbench, typed):
    refusal = segbench(*typed.split()).error
    assert refusal.kind != "no-such-option" or not refusal.values["meant"]


def test_the_help_shows_the_usual_options_alone(segbench):
    usual, every = segbench("pixels", "--help").out, segbench("pixels", "--help-all").out
    assert "--crop" not in usual
    assert "--crop" in every
    assert "--help-all" in usual

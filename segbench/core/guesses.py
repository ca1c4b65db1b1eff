"""What other tools call commands, options and metrics, by what they are called here.

The tables alone: `segbench.core.settings`, `segbench.protocols.guesses` and the command line answer with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

COMMANDS = {
    "pixels": "segmentation segment roc pr auc ap soft maps probability prob binary vessels",
    "labels": "semantic semseg miou iou jaccard dice confusion classes multiclass accuracy kappa masks",
    "boundaries": "edge edges bsds ods ois contour-detection",
    "regions": "covering pri voi are superpixels",
    "contours": "surface distances hausdorff hd hd95 assd asd nsd davis biou boundary-iou",
    "centerlines": "skeleton cldice betti topology thin roads",
    "saliency": "salient sod cod camouflage smeasure emeasure mae",
    "anomalies": "anomaly aupro aupimo mvtec defects",
    "objects": "instance instances panoptic pq cells nuclei lesions aji coco",
    "show": "table print metrics results list summary stats ls cat",
    "compare": "diff test significance ttest wilcoxon rank ranking pvalue versus vs",
    "plot": "draw figure curve curves chart",
    "report": "html page web site dashboard",
    "overlay": "visualize visualise visualization vis viz pictures",
    "check": "validate lint inspect",
    "nms": "thinning suppress",
    "merge": "join concat combine",
    "merge --leave-out": "delete remove rm drop unlink",
    "export": "write save bsds-text",
    "show --format latex": "latex tex",
    "run --list": "presets preset datasets dataset data",
    "--help": "usage",
    "demo": "example examples start quickstart tutorial init",
}
"""What other tools call the commands."""
BENCHMARKS = "evaluate evaluation eval score benchmark bench measure count"
"""What other tools call a benchmark of any kind."""

OPTIONS = {
    "--intervals 95": "--ci --confidence --confidence-interval --bootstrap --level --std",
    "--intervals 99": "--alpha",
    "--classes 0-4 for 5 classes": "--num-classes --n-classes --nclasses --nc --labels --class-names",
    "--background 0": "--include-background --exclude-background --ignore-background --no-background --bg",
    "--classes 1-4, without label 0, for means without the background": (
        "--background --include-background --exclude-background --ignore-background --no-background --bg"
    ),
    "--only-band 5": "--trimap --trimap-width --band --boundary-width",
    "--void-band 3": "--erode --eroded --border --ignore-border --erosion",
    "--void 255": "--ignore-index --ignore-label --ignore --ignore-value",
    "--at 0.5": "--threshold --thresh --thr --cutoff --binarize",
    "--predicted-positive '>=0.5'": "--threshold --thresh --thr --cutoff --binarize --at",
    "--names background,road": "--class-names --label-names --target-names --classnames --classes",
    "--spacing 0.7": "--voxelspacing --voxel-spacing --voxel-size --pixel-size --pixelspacing --resolution --pixdim",
    "--thresholds 99": "--threshold --num-thresholds --nthresh --n-thresholds --bins",
    "--iou 0.5,0.75": "--iou-threshold --iou-thresholds --iou-thresh --threshold",
    "--jobs 4": "--workers --num-workers --n-jobs --threads --processes --cores --parallel",
    "--output FILE": "--out --outfile --save --save-to --result --results --out-dir --dest",
    "--field FOLDER": "--mask --masks --roi --fov --mask-dir --valid",
    "--resize-predictions nearest": "--resize --rescale --interpolate --size",
    "--max-dist 0.0075": "--tolerance --tol --distance --maxdist --radius",
    "--nsd 2": "--tolerance --tol --tau --surface-dice",
    "--format csv": "--csv --fmt --output-format",
    "--format json": "--json",
    "--format latex": "--latex --tex",
    "--format markdown": "--markdown --md",
    "--metrics KEYS": "--measures --columns --keys",
    "--scale sigmoid": "--sigmoid --logits --activation --from-logits",
    "--scale 255": "--normalize --normalise --norm",
    "--scale minmax": "--minmax",
    "--fresh": "--overwrite --force --restart --no-cache --recompute --rerun",
    "--progress lines": "--verbose --log",
    "--progress none": "-q --quiet --silent --no-progress",
    "segbench pixels and others that show progress take --progress none": "-q --quiet --silent --no-progress",
    "--images FOLDER": "--photos --photographs --pictures --image-dir",
    "--images LIST": "--split --subset --list --ids --filter --only-images",
    "--positive 255": "--foreground --fg --positive-label --pos-label",
    "--group-by folder": "--groupby --by --per-folder --per-category --category",
    "--per-class": "--classwise --by-class",
    "--per-image --sort KEY": "--worst --worst-images",
    "--per-image": "--imagewise --by-image --details",
    "--preset NAME": "--dataset --data --data-set",
    "--kind roc": "--type --plot --curve --roc",
    "--kind images": "--boxplot --violin",
    "--only TEXT": "--method --methods",
    "--gt-pattern '*_gt'": "--gt-suffix --suffix",
    "--pred-pattern '*_pred'": "--pred-suffix --suffix",
    "--against METHOD": "--baseline --reference --ref --versus",
    "--invert": "--inverse --negate --reverse",
    "--annotators majority": "--raters --consensus --staple",
    "--allow-missing": "--skip-missing --ignore-missing --partial",
    "ground truth and predictions are given without options: GT PRED, or GT name=PRED name2=PRED2": (
        "--gt --ground-truth --truth --target --targets --pred --preds --prediction --predictions --input"
    ),
    "sub-folders are always read": "--recursive",
    "files of all formats are read": "--ext --extension --suffixes",
    "the same command with the same -o continues": "--resume --continue",
}
"""What other tools call the options, by what is typed here; a value in capitals stands for what the user has."""

METRICS = {
    "ods_f image_f": "maxf fmax f1max bestf fmeasure f1 f1score",
    "f": "dice dsc f1 fmeasure",
    "f_max": "maxf fmax maxfbeta maxfmeasure",
    "average_precision": "pixelap",
    "average_precision image_average_precision": "ap",
    "area_pr": "ap averageprecision",
    "auc_pr": "auprc prauc",
    "auc_roc": "pixelauroc",
    "auc_roc image_auc_roc": "auc auroc rocauc",
    "fpr_at_95_tpr": "fpr95 fprat95",
    "image_auc_roc": "imageauroc iauroc imageauc",
    "iou": "jaccard jaccardindex intersectionoverunion ciou oiou cumulativeiou overalliou",
    "p": "pr prec precision",
    "n_acc": "nacc",
    "t_acc": "tacc",
    "macro_ece": "classwiseece",
    "miou": "meaniou",
    "dice ods_f": "dice dsc dicescore dicecoefficient",
    "mean_dice": "mdice f1 meanf1 meandic",
    "mean_iou": "miou",
    "dice_max": "maxdice maxdic",
    "iou_max": "maxiou",
    "sensitivity_mean": "meansen meansensitivity msen",
    "specificity_mean": "meanspe meanspecificity",
    "specificity_max": "maxspe maxspecificity",
    "pixel_accuracy": "acc accuracy pa aacc",
    "mean_accuracy": "macc mpa",
    "fw_iou": "frequencyweightediou",
    "weighted_f": "wf wfm fbetaw weightedfmeasure",
    "s_measure": "sm salpha structuremeasure",
    "e_mean": "meane meanem meanemeasure",
    "e_max": "maxe maxem maxemeasure",
    "mae": "meanabsoluteerror",
    "hd95": "hausdorff95 95hd hausdorffdistance95",
    "nsd": "surfacedice normalizedsurfacedice",
    "hd": "hausdorff hausdorffdistance",
    "assd": "averagesymmetricsurfacedistance",
    "boundary_iou": "biou",
    "buffer_precision": "correctness",
    "buffer_recall": "completeness",
    "buffer_quality": "quality",
    "j_and_f": "jf",
    "pq": "panopticquality",
    "aji": "aggregatedjaccardindex",
    "lesion_f1": "lesionwisef1",
    "pd": "probabilityofdetection detectionprobability detectionrate",
    "fa": "falsealarm falsealarmrate",
    "froc": "cpm competitionperformancemetric frocscore meansensitivity averagesensitivity",
    "froc_camelyon": "camelyon16froc froccamelyon16",
    "cldice": "centerlinedice",
    "aupro": "pro aupro30",
    "aupimo": "pimo",
    "covering_ods": "segmentationcovering sc",
    "pri_ods": "probabilisticrandindex",
    "voi_ods": "vi variationofinformation",
    "ber": "balancederrorrate",
    "mcc": "matthews",
    "kappa": "cohenkappa",
}  # fmt: skip
"""What papers and other tools call the metrics, by their keys."""
WITH_AN_OPTION = {
    "nsd": "contours",
    "lesion_f1": "objects",
    "pd": "objects",
    "fa": "objects",
    "froc": "objects",
    "crispness": "boundaries",
}
"""The protocols of metrics that only some settings add."""


def options_meant(typed: str) -> Iterator[tuple[str, str]]:
    """Yield the options that a word may mean: each flag and its value, or a sentence of advice and no value."""
    word = typed.lower().replace("_", "-")
    word = word if word.startswith("-") else f"--{word}"
    for meant, words in OPTIONS.items():
        if word in words.split():
            flag, _, value = meant.partition(" ")
            yield (flag, value) if flag.startswith("--") else (meant, "")


def plain(name: str) -> str:
    """Normalize a name: lower case, without signs, and with a zero before a decimal point."""
    return re.sub(r"@0?\.", "@0.", re.sub(r"[^a-z0-9@.]", "", name.lower()))

"""What other tools call commands, options and metrics, by what they are called here.

The tables alone: `segbench.core.settings`, `segbench.protocols.guesses` and the command line answer with them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

COMMANDS = {
    "pixels": "segmentation segment roc pr auc ap soft maps probability prob binary vessels",
    "labels": (
        "semantic semseg miou iou jaccard dice confusion classes multiclass accuracy kappa masks nnunet monai "
        "mmseg classification"
    ),
    "boundaries": "edge edges bsds ods ois contour-detection",
    "regions": "covering pri voi are superpixels",
    "contours": "surface distances hausdorff hd hd95 assd asd nsd davis biou boundary-iou surface-distance medpy",
    "centerlines": "skeleton cldice betti topology thin roads",
    "saliency": "salient sod cod camouflage smeasure emeasure mae",
    "anomalies": "anomaly aupro aupimo mvtec defects",
    "objects": (
        "instance instances panoptic pq cells nuclei lesions aji coco map cocoeval ap50 detection stardist cellpose"
    ),
    "show": "table print metrics results list summary stats ls cat",
    "compare": "diff test significance ttest wilcoxon rank ranking pvalue versus vs",
    "plot": "draw figure curve curves chart violin boxplot histogram pr-curve roc-curve plots",
    "report": "html page web site dashboard",
    "overlay": "visualize visualise visualization vis viz pictures",
    "check": "validate lint inspect",
    "nms": "thinning suppress",
    "merge": "join concat combine",
    "merge --leave-out": "delete remove rm drop unlink",
    "export": "write save bsds-text",
    "show --format latex": "latex tex",
    "run --list": "presets preset datasets dataset data",
    "--help": "usage help",
    "--version": "version",
    "demo": "example examples start quickstart tutorial init",
}
"""What other tools call the commands."""
BENCHMARKS = "evaluate evaluation eval score benchmark bench measure count"
"""What other tools call a benchmark of any kind."""

REDUCED = "--gt-map 1-5=0-4,0=255"
"""What is meant by reducing label 0, for five classes."""
OPTIONS = {
    "--intervals 95": "--ci --confidence --confidence-interval --bootstrap --level --std",
    "--intervals 99": "--alpha --p-value --significance-level",
    "--classes 0-4 for 5 classes": (
        "--num-classes --n-classes --nclasses --nc --labels --nclass --num-class --class-num"
    ),
    "--background 0": "--include-background --exclude-background --ignore-background --no-background --bg",
    "--classes 1-4, without label 0, for means without the background": (
        "--background --include-background --exclude-background --ignore-background --no-background --bg"
    ),
    "--only-band 5": "--trimap --trimap-width --band --boundary-width",
    "--void-band 3": "--erode --eroded --border --ignore-border --erosion",
    "--void 255": "--ignore-index --ignore-label --ignore --ignore-value --ignore-labels --ignored",
    "--at 0.5": "--threshold --thresh --thr --cutoff --binarize",
    "--predicted-positive '>=0.5'": "--threshold --thresh --thr --cutoff --binarize --at",
    "--names background,road": "--class-names --label-names --target-names --classnames --classes",
    "--spacing 0.7": (
        "--voxelspacing --voxel-spacing --voxel-size --pixel-size --pixelspacing --resolution --pixdim "
        "--voxel-spacings --zooms --spacing-mm"
    ),
    "--thresholds 99": "--threshold --num-thresholds --nthresh --n-thresholds --bins",
    "--iou 0.5,0.75": (
        "--iou-threshold --iou-thresholds --iou-thresh --threshold --match-threshold --match-iou "
        "--overlap-threshold --iou-thrs"
    ),
    "--jobs 4": "--workers --num-workers --n-jobs --threads --processes --cores --parallel --num-processes --nproc",
    "--output FILE": (
        "--out --outfile --save --save-to --result --results --out-dir --dest --out-file --output-dir --save-path "
        "--save-dir --work-dir --filename"
    ),
    "--field FOLDER": "--mask --masks --roi --fov --mask-dir --valid",
    "--resize-predictions nearest": "--resize --rescale --interpolate --size",
    "--max-dist 0.0075": "--tolerance --tol --distance --maxdist --radius",
    "--nsd 2": "--tolerance --tol --tau --surface-dice --tolerance-mm --tau-mm",
    "--format csv": "--csv --fmt --output-format",
    "--format json": "--json",
    "--format latex": "--latex --tex",
    "--format markdown": "--markdown --md",
    "--metrics KEYS": "--measures --columns --keys --metric --measure",
    "--scale sigmoid": "--sigmoid --logits --activation --from-logits",
    "--scale 255": "--normalize --normalise --norm",
    "--scale minmax": "--minmax",
    "--fresh": "--overwrite --force --restart --no-cache --recompute --rerun",
    "--progress lines": "-v --verbose --log",
    "--progress none": "-q --quiet --silent --no-progress",
    "segbench pixels and others that show progress take --progress none": "-q --quiet --silent --no-progress",
    "--image NAME to draw one image; segbench figure RESULTS --images FOLDER draws photographs": (
        "--images --photos --photographs --pictures --image-dir"
    ),
    "--images FOLDER": "--photos --photographs --pictures --image-dir",
    "--images LIST": "--split --subset --list --ids --filter --only-images",
    "--positive 255": "--foreground --fg --positive-label --pos-label",
    "--group-by folder": "--groupby --by --per-folder --per-category --category",
    "--per-class": "--classwise --by-class --class-wise --per-label",
    "--per-image --sort KEY": "--worst --worst-images",
    "--per-image": "--imagewise --by-image --details --per-case --cases --case",
    "--preset NAME": "--dataset --data --data-set",
    "--kind roc": "--type --plot --curve --roc --plot-type --chart --graph",
    "--kind images": "--boxplot --violin",
    "--only TEXT": "--method --methods",
    "--gt-pattern '*_gt'": "--gt-suffix --suffix",
    "--pred-pattern '*_pred'": "--pred-suffix --suffix",
    "--against METHOD": "--baseline --reference --ref --versus",
    "--invert": "--inverse --negate --reverse",
    "--annotators majority": "--raters --consensus --staple",
    "--allow-missing": "--skip-missing --ignore-missing --partial",
    "ground truth and predictions are given without options: GT PRED, or GT name=PRED name2=PRED2": (
        "--gt --ground-truth --truth --target --targets --ref --pred --preds --prediction --predictions --input"
    ),
    "--replicates 2000": "--n-bootstrap --n-boot --bootstraps --n-resamples --resamples --iterations --n-permutations",
    "--test signed-rank": "--wilcoxon --nonparametric",
    "--digits 3": "--decimals --precision --round --decimal-places",
    "--size 3.5x3": "--figsize --fig-size --width --height --figure-size",
    "--overlap mask": "--iou-type --ioutype",
    REDUCED: "--reduce-zero-label",
    "--gt-map 1-5=0-4": "--mapping --label-map --label-mapping --remap",
    "--classes dataset.json": "--dataset-json --djfile --djf",
    "no file of plans is needed; leave it out": "--pfile --plans",
    "--classes 1,3": "--cat-ids --catids --category-ids --class-ids -l",
    "--class all": "--per-class --classwise --by-class --class-wise --per-label",
    "--max-dets 100": "--maxdets --max-det --max-detections",
    "segbench boundaries thins maps unless --no-thin is given": "--thinpb --thin",
    "segbench contours always measures HD, HD95 and ASSD": "--hd95 --hd --assd --asd",
    "HD, HD95, ASSD and NSD are always measured": "--percentile --percentiles --quantile",
    "each mean is a metric of its own, and all are measured: pooled, over classes, over images": (
        "--average --avg --reduction --micro --macro --mean"
    ),
    "all metrics are measured; segbench show RESULTS --metrics KEYS prints some": (
        "--metrics --metric --measure --eval-metric --eval"
    ),
    "p-values are corrected by Holm's method": (
        "--correction --adjust --adjustment --holm --bonferroni --multiple-comparisons"
    ),
    "tables go to the terminal; > FILE behind the command saves them": (
        "-o --output --out --save --save-to --outfile --out-file"
    ),
    "what is written is a file; open it": "--open --browser --show --view --display --gui",
    "the ending of the file decides its format: -o plot.pdf, plot.svg or plot.png": (
        "--format --dpi --file-format --filetype"
    ),
    "segbench overlay RESULTS -o FOLDER draws predictions": (
        "--show-dir --vis --vis-dir --visualize --save-images --save-vis"
    ),
    "no GPU is needed; --jobs 4 counts on four cores": "--device --gpu --gpus --cuda --batch-size",
    "--classes road=0,car=1": "--class-names --label-names --target-names --classnames",
    "every threshold is counted; --at 0.5 adds metrics at one": "--thresholds --num-thresholds --nthresh --bins",
    "AUPRO is measured up to false-positive rates of .3 and .05": "--fpr-limit --max-fpr --integration-limit",
    "sub-folders are always read": "--recursive",
    "files of all formats are read": "--ext --extension --suffixes",
    "the same command with the same -o continues": "--resume --continue",
}
"""What other tools call the options, by what is typed here; a value in capitals stands for what the user has."""

VALUES = {
    "kind": {
        "pr": "precision-recall precision_recall prc pr_curve pr-curve",
        "roc": "roc_curve roc-curve auc",
        "violin": "violinplot",
        "box": "boxplot boxes whisker",
        "images": "violin violinplot strip swarm points histogram hist",
        "intervals": "bar bars barplot errorbar forest ci",
        "scatter": "correlation bland-altman",
        "comparison": "difference differences paired",
        "critical_difference": "cd nemenyi ranks",
        "confusion": "confusion-matrix confusion_matrix matrix cm",
        "classes": "per-class class",
        "reliability": "calibration ece",
        "checkpoints": "epochs training",
        "nsd": "surface-dice",
    },
    "test": {
        "signed-rank": "wilcoxon signed_rank nonparametric mannwhitney rank",
        "t-test": "ttest t t_test paired bootstrap permutation jackknife",
    },
    "format": {"latex": "tex", "csv": "excel xlsx tsv", "markdown": "md", "json": "yaml jsonl"},
    "overlap": {"mask": "segm", "box": "bbox"},
}
"""What other tools call the values of settings, by what is typed here."""
_KEEPING = (
    "void thresholds max-dist nsd jobs iou only-band void-band at spacing positive replicates digits max-dets "
    "predicted-positive classes intervals"
)
"""The options that take the numbers typed for those of other tools."""
POSITIONS = (
    "gt gts y_true true target targets truth label labels reference references ground_truths groundtruth",
    "pred preds y_pred y_score y_prob prediction predictions outputs logits score scores input prob probs",
)
"""What other packages call the first and the second argument."""

METRICS = {
    "ods_f": "ods",
    "ois_f": "ois",
    "coco_ap": "segmap bboxap segmmap bboxmap cocomap",
    "coco_ar_100": "ar averagerecall cocoar",
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
    "iou": "jaccard jaccardindex intersectionoverunion ciou oiou cumulativeiou overalliou jaccardscore iouscore",
    "p": "pr prec precision",
    "n_acc": "nacc",
    "t_acc": "tacc",
    "macro_ece": "classwiseece",
    "miou": "meaniou",
    "dice ods_f": "dice dsc dicescore dicecoefficient dicemetric dicecoef",
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
    "nsd": "surfacedice normalizedsurfacedice surfacedicemetric",
    "hd": "hausdorff hausdorffdistance hausdorffdistancemetric",
    "assd": "averagesymmetricsurfacedistance surfacedistancemetric",
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
    word = word if re.match("--|-.$", word) else f"--{word.removeprefix('-')}"
    for meant, words in OPTIONS.items():
        if word in words.split():
            flag, _, value = meant.partition(" ")
            yield (flag, value) if flag.startswith("--") else (meant, "")


def option_typed(option: str, args: Sequence[str]) -> tuple[str, list[str]]:
    """Return the word that Click took for an option, which it cuts after one letter, and the values behind it."""
    words = [arg.partition("=")[0] for arg in args]
    joined = re.compile(rf"-\w*{re.escape(option[1:])}[\w-]*")
    whole = [word for word in words if word == option]
    cut = [word for word in words if len(option) == 2 and joined.fullmatch(word)]
    word = next(iter([*whole, *cut]), "")
    if not word:
        return option, []
    start = words.index(word)
    _, equals, value = args[start].partition("=")
    behind = takewhile(lambda arg: not re.match("-[^0-9.]", arg), args[start + 1 :])
    return word, [value] if equals else [*behind]


def value_kept(flag: str, example: str, values: Sequence[str], choices: Collection[str] = ()) -> str:
    """Return the values typed for an option of another tool as `flag` takes them, or else the example."""
    first = values[0] if values else ""
    synonyms = [value for value, words in VALUES.get(flag.removeprefix("--"), {}).items() if first in words.split()]
    if (first and first in choices) or (synonyms and synonyms[0] in choices):
        return first if first in choices else synonyms[0]
    if (
        flag == "--classes"
        and " without " not in example
        and (re.fullmatch(r"\d+-\d+", first) or first.endswith(".json"))
    ):
        return first
    numbers = [*takewhile(re.compile(r"-?(\d+\.?\d*|\.\d+)(,(\d+\.?\d*|\.\d+))*").fullmatch, values)]
    if any(number.startswith("-") for number in numbers) and flag != "--void":  # as -1 for all cores
        return example
    if not numbers or flag.removeprefix("--") not in _KEEPING.split():
        return example
    listed = ",".join(numbers)
    if "," in listed and flag not in ("--max-dets", "--max-dist", "--intervals"):
        return listed if not example.startswith(("1-", "'")) else example
    return _number_kept(flag, example, listed.rpartition(",")[2])


def _number_kept(flag: str, example: str, number: str) -> str:
    """Return a number typed for an option of another tool as `flag` takes it, or else the example."""
    if flag == "--classes":
        return f"0-{int(number) - 1}" if example.startswith("0-") and number.isdecimal() and int(number) else example
    if flag == "--intervals":
        percent = float(number) * (1 if float(number) > 1 else 100)
        percent = 100 - percent if example == "99" and percent < 50 else percent
        return f"{percent:g}" if 50 <= percent < 100 else example
    if flag == "--max-dist":
        return number if float(number) < 1 else f"{number}px"
    return f"'>={number}'" if flag == "--predicted-positive" else number


def value_meant(setting: str, typed: object, known: Collection[object]) -> str:
    """Return the value of a setting that another value stands for, or is a slip for; empty if nobody knows."""
    word = str(typed).lower()
    by_table = [value for value, words in VALUES.get(setting, {}).items() if word in words.split() and value in known]
    near = difflib.get_close_matches(word, [value for value in known if isinstance(value, str)], 1)
    return next(iter([*by_table, *near]), "")


def plain(name: str) -> str:
    """Normalize a name: lower case, without signs, and with a zero before a decimal point."""
    return re.sub(r"@0?\.", "@0.", re.sub(r"[^a-z0-9@.]", "", name.lower()))

"""What users of other tools type, and what it is called here, on the command line and in Python."""

from __future__ import annotations

import difflib
import inspect
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, fields
from typing import Any

from segbench.core.errors import ArgumentError, SegbenchError, UnknownArgumentError
from segbench.core.messages import NOTHING, Message, Setting, joined
from segbench.core.names import first_names
from segbench.core.options import flag_of, options_of, value_of

_MOST_CLASSES = 1000

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
    "iou": "jaccard jaccardindex intersectionoverunion",
    "miou": "meaniou",
    "dice ods_f": "dice dsc dicescore dicecoefficient",
    "mean_dice": "mdice f1 meanf1",
    "pixel_accuracy": "acc accuracy pa aacc",
    "mean_accuracy": "macc mpa",
    "fw_iou": "frequencyweightediou",
    "weighted_f": "wf wfm fbetaw weightedfmeasure",
    "s_measure": "sm salpha structuremeasure",
    "e_mean": "meane meanemeasure",
    "e_max": "maxe maxemeasure",
    "mae": "meanabsoluteerror",
    "hd95": "hausdorff95 95hd hausdorffdistance95",
    "nsd": "surfacedice normalizedsurfacedice",
    "hd": "hausdorff hausdorffdistance",
    "assd": "averagesymmetricsurfacedistance",
    "boundary_iou": "biou",
    "j_and_f": "jf",
    "pq": "panopticquality",
    "aji": "aggregatedjaccardindex",
    "lesion_f1": "lesionwisef1",
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
WITH_AN_OPTION = {"nsd": "contours", "lesion_f1": "objects", "crispness": "boundaries"}
"""The protocols of metrics that only some settings add."""


def options_meant(typed: str) -> Iterator[tuple[str, str]]:
    """Return what may be meant by a word for an option: the name of each and its value, of a sentence nothing else."""
    word = typed.lower().replace("_", "-")
    word = word if word.startswith("-") else f"--{word}"
    for meant, words in OPTIONS.items():
        if word in words.split():
            flag, _, value = meant.partition(" ")
            yield (flag, value) if flag.startswith("--") else (meant, "")


def refuse_unknown_settings(kind: type[Any], settings: Mapping[str, Any]) -> None:
    """Refuse settings that a dataclass does not have, and say which were meant."""
    known = {field.name: field for field in fields(kind)}
    unknown = [name for name in settings if name not in known]
    unknown = unknown_to(kind, unknown) if unknown else []
    if not unknown:
        return
    others = {name: value for name, value in settings.items() if name in known}
    answers = [setting_meant(kind, name, settings[name], others) for name in unknown]
    listed = first_names(unknown, len(unknown))
    advice = joined(answers) or Message("fix", "its settings are {known}", known=tuple(known))
    raise UnknownArgumentError(
        Message(
            "unknown-argument",
            "{called} has no setting {listed}; {advice}",
            called=kind.__name__,
            listed=listed,
            unknown=unknown,
            advice=advice,
        )
    )


def unknown_to(called: Any, names: Collection[str]) -> list[str]:  # noqa: ANN401  anything that is called
    """Return those of some names that are no keyword arguments of what is called."""
    parameters = inspect.signature(called).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return []
    return [name for name in names if name not in parameters]


def setting_meant(kind: type[Any], typed: str, value: Any, others: Mapping[str, Any]) -> Message:  # noqa: ANN401  of any type
    """Say what to type for a setting that a protocol does not have; empty if nobody knows."""
    settings = meant_settings(kind, typed, value, others)
    near = [] if settings else difflib.get_close_matches(typed, [field.name for field in fields(kind)], 1, 0.75)
    settings |= {name: value for name in near if _takes(kind, name, value, others)}
    return Message("fix", "write {setting}", setting=Setting(*next(iter(settings.items())))) if settings else NOTHING


def meant_settings(kind: type[Any], typed: str, value: Any, others: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401  as above
    """Return the settings of a protocol that a word stands for, with the value given as they take it, or an example."""
    known = {field.name: field for field in fields(kind)}
    by_flag = {flag_of(field): name for name, field in known.items()} | {
        flag_of(field): field.name for field in options_of(kind).values()
    }
    meant = {by_flag[flag]: text for flag, text in options_meant(typed) if flag in by_flag}
    own = by_flag.get(f"--{typed.replace('_', '-')}")
    meant = ({} if own is None else {own: ""}) | meant
    as_given = {
        name: form
        for name, text in meant.items()
        for form in reversed(_forms(value, text))
        if _takes(kind, name, form, others)
    }
    examples = {name: _example(known[name], text) for name, text in meant.items() if name not in as_given}
    return as_given | {name: value for name, value in examples.items() if _takes(kind, name, value, others)}


def _forms(value: Any, example: str) -> list[Any]:  # noqa: ANN401  of any type
    """Return the forms in which a setting may take a value: a number also as a rule, or as that many labels."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return [value]
    if example.strip("'").startswith(">="):
        return [f">={value}"]
    return [value, tuple(range(value))] if isinstance(value, int) and 0 < value < _MOST_CLASSES else [value]


def _takes(kind: type[Any], name: str, value: Any, others: Mapping[str, Any]) -> bool:  # noqa: ANN401  as above
    """Return whether a protocol takes a value of a setting, beside others."""
    if name in others or value is None:
        return False
    with suppress(SegbenchError, TypeError):
        kind(**{**others, name: value})
        return True
    return False


def _example(field: Field[Any], text: str) -> object:
    """Return the value in the example of an option; None where it has none, or one that needs words."""
    words = shlex.split(text)
    if len(words) != 1 or words[0].isupper() or not field.metadata.get("help"):
        return None
    with suppress(ArgumentError, ValueError):
        return value_of(field, words[0])
    return None


def plain(name: str) -> str:
    """Leave out what spellings of a name differ in: capitals, signs, and the zero before a decimal point."""
    return re.sub(r"@0?\.", "@0.", re.sub(r"[^a-z0-9@.]", "", name.lower()))

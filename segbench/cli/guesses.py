"""What users of other tools type, and what it is called here: commands, options and metrics."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from segbench.cli.options import required
from segbench.core.errors import ArgumentError
from segbench.core.interface import format_setting
from segbench.core.names import first_names
from segbench.core.options import options_of
from segbench.protocols.registry import protocols_of, verbs

if TYPE_CHECKING:
    from segbench.core.metric import Metric
    from segbench.core.protocol import Protocol

_LISTED = 8

_COMMANDS = {
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
_BENCHMARKS = "evaluate evaluation eval score benchmark bench measure count"

_OPTIONS = {
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

_METRICS = {
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
_WITH_AN_OPTION = {"nsd": "contours", "lesion_f1": "objects", "crispness": "boundaries"}


def command_meant(typed: str, known: Collection[str]) -> str:
    """Say which command was meant by a word that is none."""
    word = typed.lower().replace("_", "-")
    if word in _BENCHMARKS.split():
        listed = ", ".join(name for name in verbs() if name in known)
        return f"Choose what is measured: {listed}; segbench check GT PRED says which one the files look made for."
    found = next((command for command, words in _COMMANDS.items() if word in words.split()), "")
    near = difflib.get_close_matches(word, known, 1)
    found = found or "".join(near)
    return f"Did you mean segbench {found}?" if found else "segbench --help lists the commands."


def option_meant(typed: str, known: Mapping[str, str]) -> str:
    """Say which option was meant by one that there is not; empty if nobody knows. `known` has what each takes."""
    word = typed.lower().replace("_", "-")
    for number in (f"{word}s", word.removesuffix("s")):  # singular and plural
        if number in known:
            return f"write {number} {known[number]}".rstrip()
    for meant, words in _OPTIONS.items():
        flag, _, value = meant.partition(" ")
        if word not in words.split():
            continue
        if not flag.startswith("--"):
            return meant
        if flag in known and (not value.isupper() or value == known[flag]):
            return f"write {meant}"
    return ""


def titles_of(metric: Metric) -> list[str]:
    """Give what tables call a metric, with its group and without."""
    return [metric.name, metric.title, metric.symbol]


def metric_keys_of(option: str, typed: Sequence[str], known: Mapping[str, Collection[str]]) -> list[str]:
    """Give the keys of metrics that were typed as keys, titles of tables or names of papers, where these mean one.

    `known` has the titles of each key that a table can have; what fits none is an error that says where it is measured.
    """
    meant: dict[str, dict[str, None]] = {}
    for key, titles in known.items():
        own = {key, *titles}  # columns of single images are also called by the keys of metrics over all images
        name, at, threshold = key.partition("@")
        papers = [
            word + at + threshold
            for keys, words in _METRICS.items()
            if (own | {name}) & {*keys.split()}
            for word in words.split()
        ]
        for word in (*map(_plain, titles), *papers):
            meant.setdefault(word, {})[key] = None
    meant |= {_plain(key): {key: None} for key in known}
    unknown = [name for name in typed if len(meant.get(_plain(name), ())) != 1]
    if unknown:
        advice = "; ".join(dict.fromkeys(_metric_meant(name, meant) for name in unknown))
        held = f"this table has {first_names([*known], _LISTED)}"
        raise ArgumentError(f"{option} {', '.join(unknown)}: {advice}; {held}")
    return list(dict.fromkeys(key for name in typed for key in meant[_plain(name)]))


def _metric_meant(typed: str, meant: Mapping[str, Collection[str]]) -> str:
    """Say which metrics of a table a word may mean, or where it is measured."""
    word = _plain(typed)
    parts = [name for name in meant if word in name] if len(word) > 2 else []
    several = meant.get(word) or dict.fromkeys(key for name in parts for key in meant[name])
    if several:
        return f"{typed} may be {first_names([*several], _LISTED)}"
    keys = [key for keys, words in _METRICS.items() for key in keys.split() if word in words.split()]
    kinds = [(verb, kind) for verb in verbs() for kind in protocols_of(verb) if not required(kind)]
    known = [(metric.key, verb) for verb, kind in kinds for metric in kind().metrics()] + [*_WITH_AN_OPTION.items()]
    keys += [key for key, _ in known if _plain(key) == word or (len(word) > 2 and _plain(key).startswith(word))]
    if found := dict.fromkeys(verb for key, verb in known if key in keys):
        return f"{typed} is measured by {first_names([f'segbench {verb}' for verb in found], _LISTED)}"
    for verb, kind in kinds:
        if given := _setting_for(word, kind):
            return f"{typed} is measured by segbench {verb}, with {given}"
    if near := _of_one_kind(word, meant):
        return f"for {typed}, perhaps {' or '.join(meant[near])} is meant"
    return f"segbench does not measure {typed}, see the page 'What segbench does not measure' (docs/limits.md)"


def _setting_for(word: str, kind: type[Protocol]) -> str:
    """Write the setting with which a protocol has a metric at a threshold, as ``f@0.5``; empty if there is none."""
    name, at, threshold = word.partition("@")
    if not at or not re.fullmatch(r"\d*\.?\d+", threshold):
        return ""
    names = {name} | {_plain(key) for keys, words in _METRICS.items() if name in words.split() for key in keys.split()}
    for setting in options_of(kind).values():
        if setting.metadata.get("measuring") == "union":
            with suppress(ArgumentError):  # of a threshold that it does not take
                metrics = kind(**{setting.name: (float(threshold),)}).metrics()
                if names & {_plain(metric.key.partition("@")[0]) for metric in metrics if "@" in metric.key}:
                    return format_setting(setting.name, (float(threshold),))
    return ""


def _of_one_kind(word: str, known: Collection[str]) -> str:
    """Return the nearest spelling of a metric; of one at a threshold, ``f@0.5``, only the same metric at another."""
    name, at, _ = word.partition("@")
    if not at:
        return next(iter(difflib.get_close_matches(word, [other for other in known if "@" not in other], 1)), "")
    of_name = {other: other.partition("@")[0] for other in known if "@" in other}
    names = difflib.get_close_matches(name, of_name.values(), 1)
    alike = [other for other, base in of_name.items() if base in names]
    return next(iter(difflib.get_close_matches(word, alike, 1, 0.0)), "")


def _plain(name: str) -> str:
    """Leave out what spellings of a name differ in: capitals, signs, and the zero before a decimal point."""
    return re.sub(r"@0?\.", "@0.", re.sub(r"[^a-z0-9@.]", "", name.lower()))

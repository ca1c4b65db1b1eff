"""What the command line says, word by word; all other tests compare kinds and values."""

import shutil

import numpy as np
import pytest
from cases import write_papers

from segbench import evaluate

NOT_FOUND = (
    "segbench: nowhere.segbench: not found; correct the path, or create the file: segbench pixels GT PRED -o FILE"
)
SENTENCES = {
    "pixels": "segbench: give GT and PRED, or a list of files with --pairs",
    "voxels gt pred": "Error: No such command 'voxels'. Did you mean segbench pixels?",
    "pixels gt pred -j 0": "Error: Invalid value for '-j' / '--jobs': 0 is not in the range x>=1.",
    "pixels gt pred -j two": "Error: Invalid value for '-j' / '--jobs': 'two' is not a valid whole number.",
    "pixels gt pred --intervals many": "Error: Invalid value for '--intervals': 'many' is not a valid number.",
    "show r.segbench --intervals": "Error: Option '--intervals' requires an argument.",
    "objects gt pred --overlap": (
        "Error: Option '--overlap' requires an argument: mask or box or boundary; without --overlap, it is mask"
    ),
    "contours gt pred --hd95": (
        "Error: Option '--hd95' requires an argument: larger or union; without --hd95, it is larger; segbench "
        "contours always measures HD, HD95 and ASSD"
    ),
    "boundaries gt pred --no-thin=3": "Error: Option '--no-thin' does not take a value.",
    "boundaries gt pred --void 255": "Error: No such option: --void; it is an option of segbench pixels, segbench "
    "labels, segbench regions and 4 more",
    "pixels gt pred --threshold 0.5": "Error: No such option: --threshold; write --at 0.5",
    "pixels gt pred --void sky": "segbench: --void 'sky' is not a list of numbers with commas between them; write "
    "--void 0,255",
    "pixels gt pred --positive white": "segbench: --positive white is not a rule; expected a value (255), several "
    "(1,3) or a bound ('>=128')",
    "pixels gt pred pred": "segbench: two methods are called 'pred'; give one another name: other=pred",
    "pixels gt pred --field-pattern *_m": "segbench: --field-pattern says how masks are named; name their folder "
    "with --field",
    "pixels gt pred --classes 3-1": "segbench: '3-1' is a range that falls; write 1-3",
    "pixels gt pred --classes 0-2,255": "segbench: label 255 is both a class and void; leave it out of --classes, or "
    "write --void none",
    "pixels gt pred --per-class": "segbench: --per-class prints what --classes names; add --classes 0-18",
    "pixels gt pred --classes 0-2 --positive 1": "segbench: --positive cannot be combined with --classes; leave one "
    "of them out",
    "boundaries gt pred --max-dist 7": "segbench: --max-dist is 7, expected a fraction of the diagonal, 0.0075, or "
    "pixels, 2px",
    "boundaries gt pred --nms 1,5": "segbench: --nms is (1.0, 5.0), expected radius,border,multiplier as in 1,5,1.01",
    "boundaries gt pred --positive 1 --label-maps": "segbench: --positive and --label-maps exclude each other: all "
    "labels of a label map count",
    "pixels gt pred --intervals 0.95": "segbench: --intervals 0.95 is not a confidence level in percent; write 95",
    "pixels gt pred -o r.csv": "segbench: r.csv: a results file is a database, so name it r.segbench; for other "
    "kinds of files see segbench show, plot, report and export",
    "pixels --pairs list.csv --field gt": "segbench: --pairs names all files; leave out --field",
    "pixels gt https://host/pred": "segbench: https://host/pred: nothing is counted; folder: https://host/pred: is a "
    "URL, expected a folder on disk",
    "check drives gt": "segbench: no protocol or preset is called 'drives', and no folder; did you mean drive?",
    "nms pred pred": "segbench: pred is the folder read from; give another to write to",
    "show nowhere.segbench": NOT_FOUND,
    "plot nowhere.segbench -o pr.pdf": NOT_FOUND,
    "show gt": "segbench: gt: is a folder, not a results file; give the file that a run wrote",
    "show r.segbench --metrics hd95": "segbench: --metrics hd95: hd95 is measured by segbench contours; this table "
    "has ods_f, ods_precision, ods_recall, ods_threshold, iou, ois_f, ois_precision, ois_recall and 9 more",
    "show r.segbench --sort f": "segbench: --sort lists the worst images or units first; add --per-image or --per-unit",
    "show r.segbench --format csv --digits 2": "segbench: --digits is for table, markdown and latex; csv keeps all "
    "digits, so leave it out",
    "show r.segbench --per-image --intervals 95": "segbench: --per-image has no intervals, which describe metrics "
    "over all images; choose one of the two",
    "show r.segbench --class car": "segbench: --class car: no run in r.segbench has classes; count again: segbench "
    "pixels GT PRED --classes 0-18",
    "show r.segbench --unit folder": "segbench: --unit folder gives no unit: images are first, second; they lie in "
    "no sub-folder: give a column of a CSV file, 'meta.csv:patient', or a pattern, '#_*'",
    "show r.segbench r.segbench": "segbench: two data sets are called 'r'; give one another name: other=r.segbench",
    "show r.segbench --iou 0.5": "segbench: --iou is for runs of objects, and r.segbench holds runs of pixels; leave "
    "it out",
    "plot r.segbench --size 3 -o p.svg": "segbench: --size '3' is not a size from 1 to 100 inches; write 3.5x3",
    "plot r.segbench --kind images --intervals 95 -o p.svg": "segbench: a plot of kind images has no bands; leave "
    "out --intervals",
    "plot r.segbench -o missing/p.svg": "segbench: missing/p.svg: its folder does not exist; make the folder first, "
    "or give another file name",
    "report r.segbench -o r.txt": "segbench: r.txt: a report is an HTML page; give a name that ends in .html",
    "report r.segbench -o r.segbench": "segbench: r.segbench is a results file of segbench, which is not "
    "overwritten; name another file",
    "compare r.segbench": "segbench: pred: a comparison needs at least two methods",
    "compare two.segbench --against best": "segbench: --against best: expected one of the methods compared, a, b",
    "compare two.segbench --fail-if-worse 0.01": "segbench: --fail-if-worse takes a baseline, too: add --against "
    "METHOD, one of a, b",
    "compare two.segbench --against a --fail-if-worse -1": "segbench: --fail-if-worse -1: expected a margin of 0 or "
    "more, such as 0.01",
    "compare two.segbench --against a --fail-if-worse 1": "segbench: --fail-if-worse 1: ods_f cannot differ by more "
    "than 1; 1 % is 0.01",
    "compare two.segbench --all --format csv": "segbench: --all is for --format table; leave it out: csv and json "
    "hold everything",
    "compare two.segbench --methods a,c": "segbench: --methods c: not in two.segbench, which has a, b",
    "compare two.segbench": "a and b have the same predictions, byte for byte, so that no metric differs",
    "export r.segbench --bsds out": "segbench: no result of the boundaries or regions protocol with counts of a "
    "method, and there are official files of these only",
    "run drvie gt pred": "segbench: no preset is called 'drvie'; did you mean drive? the presets are acdc, ade20k, ",
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The two images of the papers, with a results file of one method, and one of two methods that are the same."""
    root = tmp_path_factory.mktemp("wording")
    gt, pred = write_papers(root)
    evaluate(gt, pred, results=root / "r.segbench")
    for method in ("a", "b"):
        evaluate(gt, pred, method=method, results=root / "two.segbench")
    (root / "list.csv").write_text("name,ground_truth,prediction\n1,gt/first.png,pred/first.npy\n")
    return root


@pytest.mark.parametrize(("typed", "said"), SENTENCES.items())
def test_what_is_said(segbench, here, monkeypatch, typed, said):
    monkeypatch.chdir(here)
    answer = segbench(*typed.split())
    lines = [line for line in answer.err.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    assert lines[0] == said or (said.endswith(", ") and lines[0].startswith(said))


TOLD = {  # the last of some commands, and what is in its standard error
    "pixels gt pred -o new.segbench && pixels gt pred -o new.segbench": "2 images: all already counted with the same "
    "settings",
    "pixels gt net@=seeds/seed*": "3 runs of net: 7, 64, 512",
    "pixels gt preds": "preds holds 2 methods, evaluated one by one: a, b",
    "report r.segbench -o r.html --no-intervals": "written: r.html (",
    "plot r.segbench -o p.svg --intervals 95": "shaded: pointwise 95 % bootstrap bands over images",
    "show r.segbench two.segbench --only pred": "two has no columns: --only 'pred' matches neither",
    "compare two.segbench --against a --fail-if-worse 0.01": "undecided: whether b is worse than a by more than .01 "
    "ODS F is undefined: 2 images: differences have intervals and p-values from 6 images on",
    "pixels gt pred --images first -o part.segbench && merge part.segbench -o merged.segbench": "pred: 1 of 2 images "
    "is in no part; count the missing parts, and merge all again",
    "pixels one/gt one/pred -o one.segbench && pixels other/gt other/pred -o other.segbench && "
    "merge one.segbench other.segbench -o all.segbench --join pred": "note: parts with different ground truth became "
    "one set: ",
    "boundaries gt pred small --no-check -o failed.segbench && export failed.segbench --bsds out": "small: no image "
    "was counted, so it has no curve to write",
    "labels gt named=gt --classes road=0,car=255 -o classes.segbench && "
    "labels gt unnamed=gt --classes 0,255 -o classes.segbench && show classes.segbench --class car": "left out because "
    "they have no class 'car': unnamed",
    "labels gt a=gt b=gt --classes 0,255 --void none --background 0 -o apart.segbench && "
    "compare apart.segbench --class all --metrics dice": "left out, background: 0; to compare methods by it: --class 0",
}


@pytest.fixture(scope="module")
def much_here(here):
    """The same with methods in folders, parts of a set, a method that failed, and runs of named and other classes."""
    gt, pred = here / "gt", here / "pred"
    for copy in ("seeds/seed7", "seeds/seed64", "seeds/seed512", "preds/a", "preds/b"):
        shutil.copytree(pred, here / copy)
    for side, image in (("one", "first"), ("other", "second")):
        for file in (gt / f"{image}.png", pred / f"{image}.npy"):
            (here / side / file.parent.name).mkdir(parents=True)
            shutil.copy(file, here / side / file.parent.name)
    (here / "small").mkdir()
    for image in ("first", "second"):
        np.save(here / "small" / f"{image}.npy", np.zeros((2, 2)))
    return here


@pytest.mark.parametrize(("typed", "said"), TOLD.items())
def test_what_is_told(segbench, much_here, monkeypatch, typed, said):
    monkeypatch.chdir(much_here)
    *before, last = typed.split(" && ")
    for line in before:
        segbench(*line.split())
    assert said in " ".join(segbench(*last.split()).err.split())


def test_a_run_that_is_stopped_says_how_to_start_it_again(segbench, here, monkeypatch):
    def stop(*_arguments, **_settings):
        raise KeyboardInterrupt

    monkeypatch.chdir(here)
    monkeypatch.setattr("segbench.checks.checking.check_methods", stop)
    said = "stopped; k.segbench was not written yet; to start again:\n  segbench pixels gt pred -o k.segbench"
    assert said in segbench("pixels", "gt", "pred", "-o", "k.segbench").err

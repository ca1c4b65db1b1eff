"""Messages name what their reader types: arguments in Python, options and commands at the command line."""

import ast
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from broken_folders import (
    blobs,
    cells,
    doubled,
    each,
    holed,
    lacks_mask,
    lines,
    renamed,
    ringing,
    two_annotators,
    with_value,
)
from cases import write_folder
from noted import of_kind
from refusing import refused

import segbench
from segbench import Boundaries, Classes, Labels, Pixels, Regions, check, evaluate
from segbench.cli.commands import _VERBS
from segbench.core.messages import Setting
from segbench.protocols.registry import verbs

PACKAGE = Path(segbench.__file__).parent
VERBS = "|".join(["run", "check", *verbs(), *_VERBS])
OPTION = re.compile(rf"(?<![\w-])(?:--[a-z]|-[jo]\b)|\bsegbench (?:{VERBS})\b")


FLOATS = {"extension": ".npy"}


MISTAKES = {
    "suffix": (renamed("truth", lambda name: f"{name}_gt"), Pixels(), "unpaired", [("gt_pattern", "*_gt")]),
    "name": (
        renamed("scores", lambda name: f"{name[:-1]}0", only=1),
        Pixels(),
        "unpaired",
        [("gt_pattern", ...), ("pred_pattern", ...), ("pairs", ...), ("allow_missing", True), ("images", ...)],
    ),
    "annotators": (
        two_annotators("*.#"),
        Pixels(),
        "annotator-names",
        [("gt_pattern", "*.#"), ("annotators", "majority")],
    ),
    "no mask": (lacks_mask, Pixels(), "no-mask", [("field_pattern", ...)]),
    "a row less": (each("scores", lambda a: a[:-1]), Pixels(), "size-near", [("crop", True), ("resize", "nearest")]),
    "few rows": (each("scores", lambda a: a[:20]), Pixels(), "size-differs", [("resize", "nearest")]),
    "size of ucm2": (each("scores", doubled), Pixels(), "size-ucm2", []),
    "inverted": (each("scores", np.invert), Pixels(), "inverted", [("invert", True), ("positive", "0")]),
    "masks": (each("scores", lambda a: (a > 128).astype(np.uint8)), Pixels(), "few-levels", []),
    "16 bits": (each("scores", lambda a: a.astype(np.uint16)), Pixels(), "levels-unscaled", [("scale", 255)]),
    "32 bits": (each("scores", lambda a: a.astype(np.int32), **FLOATS), Pixels(), "wide-integers", [("scale", ...)]),
    "logits": (
        each("scores", lambda a: a / np.float32(32) - 4, **FLOATS),
        Boundaries(),
        "range",
        [("scale", "sigmoid")],
    ),
    "NaN": (each("scores", holed, **FLOATS), Pixels(), "not-finite", [("field", ...)]),
    "JPEG": (each("truth", ringing), Pixels(), "grey-ground-truth", [("positive", ">=128"), ("positive", ">0")]),
    "void": (each("truth", with_value(255, labels=True)), Pixels(), "void", [("void", (255,))]),
    "other value": (each("truth", lambda a: a), Pixels(positive=7), "no-positives", [("positive", ...)]),
    "areas": (None, Boundaries(), "thick-ground-truth", [("thin_ground_truth", True), ("label_maps", True)]),
    "areas of a value": (
        None,
        Boundaries(positive=255),
        "thick-ground-truth",
        [("thin_ground_truth", True), ("label_maps", True)],
    ),
    "one map": (None, Classes(labels=range(3)), "class-maps", [("pred_pattern", "class_#/*")]),
    "other labels": (None, Labels(classes=3), "outside-classes", [("classes", ...), ("pred_map", ...)]),
    "soft maps": (None, Regions(), "soft-map", []),
}
"""What goes wrong in a folder, the protocol of the check, and the kind of the finding with the settings it advises."""


def report_and_finding(mistake, root):
    """Check a folder with a mistake, and return the report and the finding about it."""
    change, protocol, kind, _ = MISTAKES[mistake]
    made = blobs()
    if change:
        change(made)
    gt, pred, *field = made.write(root)
    report = check(gt, pred, protocol, field=field[0] if field else None)
    (finding,) = of_kind(report.findings, kind)
    return report, finding


@pytest.mark.parametrize("mistake", MISTAKES)
def test_findings_in_python_name_arguments(tmp_path, mistake):
    report, finding = report_and_finding(mistake, tmp_path)
    assert [(advised.name, advised.value) for advised in finding.settings] == MISTAKES[mistake][-1]
    assert not OPTION.search(str(report))
    assert not OPTION.search(json.dumps([finding.described("python") for finding in report.findings]))


def test_several_annotators_in_python(tmp_path):
    lines().write(tmp_path)
    cells(tmp_path)
    (several,) = check(tmp_path / "gt", tmp_path / "pred").findings
    assert (several.kind, several.message.values) == ("annotators", {"count": 6, "total": 6})
    of_all, of_one = several.alternatives
    assert [(advised.name, advised.value) for advised in of_all] == [("annotators", "majority")]
    assert [(advised.name, advised.value) for advised in of_one] == [("gt_pattern", "*_manual1")]


def test_annotators_that_do_not_pair_are_all_kept_by_the_pattern_suggested(tmp_path):
    made = blobs()
    two_annotators("*.#")(made)
    gt, pred, *_ = made.write(tmp_path)
    with refused("unpaired", settings={"gt_pattern": "*.#"}):
        evaluate(gt, pred, "boundaries")


def three_values(root):
    """Write masks of three values, which are refused without a rule where they are counted."""
    masks = dict.fromkeys(("a.npy", "b.npy"), np.array([[0, 1, 2]], np.uint8))
    return [write_folder(root / name, masks) for name in ("gt", "pred")]


class TestWhereImagesAreCounted:
    @pytest.mark.parametrize("pool", [lambda: segbench.process_pool(2), lambda: ThreadPoolExecutor(2)])
    def test_in_python(self, tmp_path, pool):
        with pool() as executor, pytest.warns(segbench.FailedImages):
            result = evaluate(*three_values(tmp_path), executor=executor)
        assert len(result.failed) == 2
        for failure in result.failed.values():
            assert (failure.kind, failure.settings[0]) == ("label-map-predicted", Setting("classes", "0-18"))
            assert "with Labels(classes='0-18'); or" in failure.written("python")
            assert not OPTION.search(str(failure))

    def test_at_the_command_line(self, segbench, tmp_path):
        answer = segbench("pixels", *three_values(tmp_path), "--no-check", "-j", "2", "--format", "json")
        (run,) = json.loads(answer.out)["runs"]
        assert len(run["failures"]) == 2
        for failure in run["failures"].values():
            assert failure["kind"] == "label-map-predicted"
            assert failure["settings"][0] == {"name": "classes", "value": "0-18"}
            assert " --classes 0-18; or" in failure["text"]

    def test_checked_by_threads(self, segbench, tmp_path):
        gt, pred = three_values(tmp_path)
        more = {f"{k}.png": np.full((1, 3), k, np.uint8) for k in range(9)}
        write_folder(gt, more)
        write_folder(pred, more)
        (uncounted,) = check(gt, pred, Labels(classes=5)).findings
        assert (uncounted.kind, uncounted.settings[0]) == ("not-countable", Setting("classes", "0-8"))
        assert not OPTION.search(str(uncounted))
        assert "too: --classes 0-8, or" in segbench("check", "labels", gt, pred, "--classes", "0-4").out


EXCEPTIONS = {
    "core/guesses.py": "the table of guesses has the names of options",
    "protocols/guesses.py": "what is written in Python for these",
    "loaders/listing.py": "options of tar",
    "loaders/other_formats.py": "options of dcm2niix",
    "inputs/stacks.py": "makes the options of an Either",
    "report/comparisons.py": "prints to the terminal",
    "report/figure/files.py": "says in the files which command wrote them",
    "report/findings.py": "prints to the terminal",
    "report/page/document.py": "variables of CSS",
    "report/tables.py": "several commands of a message, joined",
    "report/terminal.py": "prints to the terminal",
}
TYPED = {"option": 0, "Either": 1, "protocol_with": 1}
"""Which argument of a call is for the command line, and may name what is typed there."""


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def names_an_option(module):
    """Return the lines of a module that name an option or a command, docstrings and examples left out."""
    source = module.read_text("utf-8")
    tree = ast.parse(source if OPTION.search(source) else "")
    allowed = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_text(node.value)]
    allowed += [
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (name := getattr(node.func, "id", "")) in TYPED
        for argument in (*node.args[TYPED[name] : TYPED[name] + 1], *(keyword.value for keyword in node.keywords))
    ]
    allowed += [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and re.search(r"^(examples|_DEMO)\b", ast.unparse(node))
    ]
    left_out = {id(part) for node in allowed for part in ast.walk(node)}
    for node in ast.walk(tree):
        if is_text(node) and id(node) not in left_out and OPTION.search(node.value):
            yield f"{module}:{node.lineno}: {node.value}"


def test_only_the_command_line_names_options():
    modules = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    found = {name: [*names_an_option(path)] for name, path in modules.items() if not name.startswith("cli/")}
    assert {name for name, texts in found.items() if texts} == EXCEPTIONS.keys()

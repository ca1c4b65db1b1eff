"""Messages name what their reader types: arguments in Python, options and commands at the command line."""

import ast
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

import segbench
from segbench import Boundaries, Classes, Labels, Pixels, Regions, SegbenchError, check, evaluate
from segbench.cli.commands import _VERBS
from segbench.core.messages import Setting
from segbench.protocols.registry import verbs

PACKAGE = Path(segbench.__file__).parent
VERBS = "|".join(["run", "check", *verbs(), *_VERBS])
OPTION = re.compile(rf"(?<![\w-])(?:--[a-z]|-[jo]\b)|\bsegbench (?:{VERBS})\b")


@pytest.mark.parametrize(
    ("setting", "argument", "option"),
    [
        (Setting("max_dist", None), "max_dist", "--max-dist"),
        (Setting("void"), "void=...", "--void"),
        (Setting("void", [np.float64(255), 0.5, np.inf]), "void=(255, 0.5, inf)", "--void 255,0.5,inf"),
        (Setting("void", (255.0,)), "void=(255,)", "--void 255"),
        (Setting("void", (-1e300,)), "void=(-1e+300,)", "--void -1e+300"),
        (Setting("void", ()), "void=()", "--void none"),
        (Setting("positive", ">=128"), "positive='>=128'", "--positive '>=128'"),
        (Setting("label_maps", True), "label_maps=True", "--label-maps"),
        (Setting("stretch", False), "stretch=False", "--no-stretch"),
        (Setting("scale", 255, of="Repairs"), "repairs=Repairs(scale=255)", "--scale 255"),
        (Setting("scale", of="Repairs", metavar="N"), "repairs=Repairs(scale=N)", "--scale N"),
    ],
)
def test_a_setting_is_an_argument_or_an_option(setting, argument, option):
    assert (str(setting), setting.written("options")) == (argument, option)


FLOATS = {"extension": ".npy"}


@pytest.mark.parametrize(
    ("change", "protocol", "words"),
    [
        (renamed("truth", lambda name: f"{name}_gt"), Pixels(), "try gt_pattern='*_gt'"),
        (renamed("scores", lambda name: f"{name[:-1]}0", only=1), Pixels(), "allow_missing=True leaves out"),
        (two_annotators("*.#"), Pixels(), "gt_pattern='*.#', annotators='majority'"),
        (lacks_mask, Pixels(), "field_pattern=..."),
        (each("scores", lambda a: a[:-1]), Pixels(), "Repairs(crop=True) cuts off excess rows"),
        (each("scores", lambda a: a[:20]), Pixels(), "Repairs(resize='nearest') or 'bilinear' brings"),
        (each("scores", doubled), Pixels(), "for Boundaries() or Regions()"),
        (each("scores", np.invert), Pixels(), "invert=True"),
        (each("scores", lambda a: (a > 128).astype(np.uint8)), Pixels(), "use Labels(); for curves"),
        (each("scores", lambda a: a.astype(np.uint16)), Pixels(), "Repairs(scale=255)"),
        (each("scores", lambda a: a.astype(np.int32), **FLOATS), Pixels(), "Repairs(scale=N) if N is"),
        (
            each("scores", lambda a: a / np.float32(32) - 4, **FLOATS),
            Boundaries(),
            "Repairs(scale='sigmoid') for logits",
        ),
        (each("scores", holed, **FLOATS), Pixels(), "leave those pixels out with field=..."),
        (each("truth", ringing), Pixels(), "positive='>=128'"),
        (each("truth", with_value(255, labels=True)), Pixels(), "void=(255,)"),
        (each("truth", lambda a: a), Pixels(positive=7), "positive=... with a value that occurs"),
        (None, Boundaries(), "thin_ground_truth=True for lines; label_maps=True for the borders of filled areas"),
        (None, Classes(labels=range(3)), "one folder per class, pred_pattern='class_#/*'"),
        (None, Labels(classes=3), "pred_map=..."),
        (None, Regions(), "soft maps are for Pixels() or Boundaries()"),
    ],
)
def test_findings_in_python_name_arguments(tmp_path, change, protocol, words):
    made = blobs()
    if change:
        change(made)
    gt, pred, *field = made.write(tmp_path)
    report = check(gt, pred, protocol, field=field[0] if field else None)
    assert any(words in str(finding.fix) for finding in report.findings)
    assert not OPTION.search(str(report))


def test_several_annotators_in_python(tmp_path):
    lines().write(tmp_path)
    cells(tmp_path)
    (several,) = check(tmp_path / "gt", tmp_path / "pred").findings
    assert str(several.fix) == (
        "annotators='majority', any, all or each; or take one of them by its name, such as gt_pattern='*_manual1', "
        "or one column of a list"
    )


def test_annotators_that_do_not_pair_are_all_kept_by_the_pattern_suggested(tmp_path):
    made = blobs()
    two_annotators("*.#")(made)
    gt, pred, *_ = made.write(tmp_path)
    with pytest.raises(SegbenchError, match=r"they look like several annotators of an image: gt_pattern='\*\.#'$"):
        evaluate(gt, pred, "boundaries")


def three_values(root):
    """Write masks of three values, which are refused without a rule where they are counted."""
    masks = dict.fromkeys(("a.npy", "b.npy"), np.array([[0, 1, 2]], np.uint8))
    return [write_folder(root / name, masks) for name in ("gt", "pred")]


class TestWhereImagesAreCounted:
    @pytest.mark.parametrize("pool", [lambda: segbench.process_pool(2), lambda: ThreadPoolExecutor(2)])
    def test_in_python(self, tmp_path, pool):
        with pool() as executor, pytest.warns(segbench.FailedImages, match="Labels"):
            result = evaluate(*three_values(tmp_path), executor=executor)
        assert len(result.failed) == 2
        for failure in result.failed.values():
            assert "evaluate label maps with Labels(classes='0-18'); or" in str(failure)
            assert not OPTION.search(str(failure))

    def test_at_the_command_line(self, segbench, tmp_path):
        said = segbench("pixels", *three_values(tmp_path), "--no-check", "-j", "2").out
        assert "evaluate label maps with segbench labels GT PRED --classes 0-18; or" in said

    def test_checked_by_threads(self, segbench, tmp_path):
        gt, pred = three_values(tmp_path)
        more = {f"{k}.png": np.full((1, 3), k, np.uint8) for k in range(9)}
        write_folder(gt, more)
        write_folder(pred, more)
        assert "too: classes='0-8', or" in str(check(gt, pred, Labels(classes=5)))
        assert "too: --classes 0-8, or" in segbench("check", "labels", gt, pred, "--classes", "0-4").out


EXCEPTIONS = {
    "core/guesses.py": "the table of guesses has the names of options",
    "protocols/guesses.py": "what is written in Python for these",
    "loaders/archives.py": "options of tar",
    "protocols/stacks.py": "makes the options of an Either",
    "report/comparisons.py": "prints to the terminal",
    "report/findings.py": "prints to the terminal",
    "report/page/document.py": "variables of CSS",
    "report/tables.py": "makes the commands of an Either",
    "report/terminal.py": "prints to the terminal",
}
TYPED = {"Either": slice(1, 2), "protocol_with": slice(1, 2), "option": slice(1)}  # calls that hold what is typed, and where: options, and help


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def names_an_option(module):
    """Give the lines of a module that name an option or a command, docstrings and examples left out."""
    source = module.read_text("utf-8")
    tree = ast.parse(source if OPTION.search(source) else "")
    allowed = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_text(node.value)]
    allowed += [
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in TYPED
        for argument in (*node.args[TYPED[node.func.id]], *(keyword.value for keyword in node.keywords))
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

"""What the documentation shows is what happens: its commands are run, and no public name is left out."""

import doctest
import glob
import inspect
import itertools
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import segbench
from segbench.cli.main import main
from segbench.report.plots.kinds import KINDS

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"(?:!\[[^]]+\]\(|:img-top: )([^)\s]+)")
RENEW = "SEGBENCH_NEW_PAGES"
SLOW_PAGES = {"paper.md", "commands/verify.md"}
PAGES = [
    pytest.param(page, id=name, marks=pytest.mark.slow if name in SLOW_PAGES else ())
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for name in [page.relative_to(ROOT / "docs").as_posix()]
    if CONSOLE.search(page.read_text("utf-8"))
]
RECEIVED = {
    *("Band", "BestF", "BoundaryMatch", "Comparison", "Counted", "Difference", "Dominance", "Finding"),
    *("Inputs", "Intervals", "Parts", "Place", "Preset", "RegionCurve", "SaliencyCurve"),
}
"""Classes that users do not construct: functions return them, and have the examples, or other classes hold them."""
ELSEWHERE = re.compile(r"[|;<>$]|^(?!segbench )")


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.rst").read_text("utf-8"), re.MULTILINE)
    public = set(segbench.__all__) - {"__version__"}
    assert not public - set(listed), "name them in docs/api.rst"
    assert sorted(listed) == sorted(public)


def test_every_public_function_and_class_has_an_example():
    public = {name: getattr(segbench, name) for name in segbench.__all__ if name != "__version__"}
    lacking = {name for name, each in public.items() if "\nExamples\n--------\n" not in inspect.getdoc(each)}
    errors = {name for name in lacking if inspect.isclass(public[name]) and issubclass(public[name], Exception)}
    bases = {name for name in lacking if inspect.isabstract(public[name])}  # docs/extending.md derives from them
    assert lacking - errors - bases == RECEIVED


def test_every_picture_is_drawn_by_the_script_and_shown():
    drawn = {f"{name}.png" for name in runpy.run_path(str(ROOT / "scripts" / "data" / "docs_pictures.py"))["PICTURES"]}
    folder = ROOT / "docs" / "images"
    pages = list((ROOT / "docs").rglob("*.md"))
    paths = [
        page.parent.joinpath(name).resolve() for page in pages for name in PICTURE.findall(page.read_text("utf-8"))
    ]
    shown = {path.name for path in paths if path.parent == folder}
    files = {path.name for path in folder.iterdir()}
    elsewhere = {name for name in files if name.startswith("benchmark-")}  # by bench_peers.py
    assert {name.replace("-dark.png", ".png") for name in files} == drawn | elsewhere == shown


def test_the_gallery_shows_every_kind_of_plot_with_its_command():
    page = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    assert set(re.findall(r"images/plot-(\w+)\.png", page)) == set(KINDS)
    assert set(re.findall(r"`segbench plot [^`]*--kind (\w+)", page)) == set(KINDS)
    listed = (ROOT / "docs" / "plots.md").read_text("utf-8")
    assert not [kind for kind in KINDS if f"| `{kind}` |" not in listed]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_print_what_it_says(page, tmp_path, monkeypatch, capfd):
    for folder in ("datasets", "scripts"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for name, arguments in (("segbench", "-m segbench "), ("python3", "")):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    for command, expected in commands_of(page.read_text("utf-8")):
        code, printed = run(command, monkeypatch, capfd)
        assert code == 0, command
        same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        if not same and expected and os.environ.get(RENEW):
            lines = printed.splitlines(keepends=True)
            new = "".join(lines[: expected.count("\n") - 1]) + "...\n" if expected.endswith("...\n") else printed
            page.write_text(page.read_text("utf-8").replace(expected, new, 1), "utf-8")
            continue
        assert same, f"$ {command}\n{printed}\ninstead of\n{expected}\nif this is meant, run this test with {RENEW}=1"


def commands_of(text):
    """Return each command of the console blocks with what it is said to print."""
    lines = itertools.chain.from_iterable(block.splitlines(keepends=True) for block in CONSOLE.findall(text))
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:].strip(), ""])
        elif found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0].removesuffix("\\") + line.strip()
        else:
            found[-1][1] += line
    return found


def run(command, monkeypatch, capfd):
    """Run our own command here, which is quicker, and any other by a shell."""
    if ELSEWHERE.search(command):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout
    words = shlex.split(command)
    quoted = [word for word in words if f"'{word}'" in command]
    typed = [sorted(glob.glob(word)) if "*" in word and word not in quoted else [word] for word in words]  # noqa: PTH207  as a shell
    monkeypatch.setattr(sys, "argv", list(itertools.chain(*typed)))
    capfd.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code or 0, capfd.readouterr().out

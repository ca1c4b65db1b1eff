"""The snippets for continuous integration, tried as scripts on data that ship."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "continuous_integration.md").read_text("utf-8")
OBJECTS = ROOT / "datasets" / "demo" / "objects"
SHELL = re.compile(r"^ +(?:- )?((?:segbench|python) .*)$", re.MULTILINE)
BASELINE = re.search(r"^segbench pixels .*$", PAGE, re.MULTILINE)[0]


SNIPPETS = re.findall(r"^## (\w+)[^\n]*\n\n```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS = {name: "\n".join(SHELL.findall(block)) for name, block in SNIPPETS}
snippets = pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A checkout with ground truth, predictions of the model in use, and a script that predicts."""
    (tmp_path / "segbench").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m segbench "$@"\n')
    (tmp_path / "segbench").chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/ground_truth").symlink_to(OBJECTS / "ground_truth")
    (tmp_path / "predict.py").write_text("")
    shutil.copytree(OBJECTS / "predictions" / "random_walker", tmp_path / "predictions")
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}", prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    assert run(BASELINE, tmp_path).returncode == 0
    return tmp_path


def run(script, folder):
    words = ["bash", "-eo", "pipefail", "-c", script]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


@snippets
def test_the_same_model_passes(repository, script):
    done = run(script, repository)
    assert done.returncode == 0, done.stderr
    assert "not worse: new is not worse than baseline by more than .01 ODS F" in done.stderr


@snippets
def test_a_worse_model_fails(repository, script):
    rng = np.random.default_rng(0)
    for path in (repository / "predictions").iterdir():
        iio.imwrite(path, rng.integers(0, 256, iio.imread(path).shape[:2]).astype(np.uint8))
    done = run(script, repository)
    assert done.returncode == 3, done.stderr
    assert "worse: new is worse than baseline by more than .01 ODS F" in done.stderr


@snippets
def test_too_few_images_to_tell_are_undecided(repository, script):
    shutil.rmtree(repository / "predictions")
    shutil.copytree(OBJECTS / "predictions" / "soft_otsu", repository / "predictions")
    done = run(script, repository)
    assert done.returncode == 4, done.stderr
    assert run(f"{script.splitlines()[-1]} || test $? -eq 4", repository).returncode == 0


def test_both_services_have_a_snippet():
    assert list(SCRIPTS) == ["GitHub", "GitLab"]
    assert {len(re.findall("^segbench ", script, re.MULTILINE)) for script in SCRIPTS.values()} == {3}

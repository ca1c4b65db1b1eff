"""Compiled loops run whether or not there is a place to keep them."""

import errno
import os
import subprocess
import sys

import pytest
from numba.core import caching

from segbench.core import compiling

PROTOCOLS = ["pixels", "saliency", "boundaries", "regions"]
ESTIMATES = f"""
import numpy as np, segbench
truth = np.arange(600).reshape(20, 30) % 30 > 14
scores = (np.arange(600) * 37 % 251).astype(np.uint8).reshape(20, 30) // 2 + np.uint8(60) * truth
for protocol in {PROTOCOLS}:
    print({{**segbench.evaluate([(truth if protocol != "regions" else truth + 1, scores)], protocol=protocol).summary}})
"""


def double(x):
    return 2 * x


def test_no_folder_for_compiled_code_may_be_written(monkeypatch):
    def nowhere(_function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiling, "_Cache", nowhere)
    assert compiling.compiled()(double)(21) == 42


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_and_a_folder_of_others(monkeypatch, number):
    asked = []

    def refuse(self, *_what):
        asked.append(self)
        raise OSError(number, "no")

    monkeypatch.setattr(caching.IndexDataCacheFile, "load", refuse)
    monkeypatch.setattr(caching.IndexDataCacheFile, "save", refuse)
    assert compiling.compiled()(double)(21) == 42
    assert len(asked) == 2


def printed(program=ESTIMATES, **environment):
    command = [sys.executable, "-W", "error", "-c", program]
    answer = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return answer.stdout


@pytest.mark.slow
def test_estimates_do_not_depend_on_whether_numba_is_told_to_compile():
    assert printed(NUMBA_DISABLE_JIT="1") == printed()


def test_what_others_compile_is_left_to_numba():
    program = "import numba\nfrom segbench.core import sorting\nprint(type(numba.njit(lambda: 0)).__name__)"
    assert printed(program, NUMBA_DISABLE_JIT="1") == "function\n"

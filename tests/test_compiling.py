"""Compiled loops run whether or not there is a place to keep them."""

import errno

import pytest
from numba.core import caching

from segbench.core import compiling


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

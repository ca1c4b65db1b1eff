import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def _small_heap():
    """Keep garbage collection short, since the benchmarks collect before each measurement."""
    gc.collect()
    gc.freeze()

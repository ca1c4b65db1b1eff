"""Settings of all tests."""

import gc

from hypothesis import settings

# The first use of a compiled loop takes as long as compiling it does; tests assert no times.
settings.register_profile("segbench", deadline=None)
settings.load_profile("segbench")


def pytest_collection_finish():
    """Exclude thousands of tests and the packages they import from every garbage collection to come."""
    gc.collect()
    gc.freeze()

"""Settings of all tests."""

from hypothesis import settings

# The first use of a compiled loop takes as long as compiling it does; tests assert no times.
settings.register_profile("segbench", deadline=None)
settings.load_profile("segbench")

"""The version, read by the build and by signatures."""

__version__ = "1.0.0rc2"

"""The version, read by the build and by signatures."""

__version__ = "0.1.0"

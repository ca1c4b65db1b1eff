"""The tables of expected numbers: TOML files beside this one, read as they are."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def expected(name: str) -> dict[str, Any]:
    """Read the table of this name: ``papers``, ``demo``, ``bsds500``."""
    return tomllib.loads(files("segbench.verification").joinpath(f"{name}.toml").read_text("utf-8"))

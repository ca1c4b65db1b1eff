"""The presets that ship, listed and described."""

from __future__ import annotations

import shlex

from segbench.core.interface import option_of
from segbench.core.text_table import aligned
from segbench.loaders.presets import Preset, presets


def listed_presets() -> str:
    """List the presets with the titles of their data sets."""
    return aligned([[preset.name, preset.title] for preset in presets().values()], "<<")


def described(preset: Preset) -> str:
    """Describe a data set, with the command line that its preset stands for."""
    rows = [("data set", preset.title), ("home", preset.home), ("cite", preset.cite), ("layout", preset.known_from)]
    rows += [
        (place.replace("_", " "), " or ".join(f"ROOT/{f}" for f in where)) for place, where in preset.layout.items()
    ]
    rows += [("protocols", ", ".join(preset.protocols))]
    folder = f"ROOT/{preset.layout['ground_truth'][0]}"
    rows += [("the same as", f"segbench {preset.protocols[0]} {folder} PRED{_flags(preset)}")]
    rows += [("note", preset.note)] if preset.note else []
    return aligned(rows, "<<")


def _flags(preset: Preset) -> str:
    words = [f"--field ROOT/{preset.layout['field'][0]}"] if "field" in preset.layout else []
    for name, value in preset.options.items():
        words.append(option_of(name) + ("" if value is True else f" {shlex.quote(str(value))}"))
    return "".join(f" {word}" for word in words)

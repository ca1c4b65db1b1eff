"""How to repeat a run and a comparison: the command lines that made them, as far as they are known.

Places of files are written ``GT`` and ``PRED/method``, for blind review, or as they are.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from segbench._version import __version__
from segbench.aggregator.records import version_of
from segbench.aggregator.result import Result, names_of
from segbench.core.capabilities import competes
from segbench.core.grouping import grouped
from segbench.core.interface import option_of
from segbench.core.options import words_of
from segbench.loaders.pairing import Inputs
from segbench.loaders.source import method_name
from segbench.protocols.registry import verb_of
from segbench.statistics.comparison import Comparison

_LONGEST_LIST = 200
_LEVEL, _REPLICATES = 0.95, 2000  # of segbench compare, where nothing else is said
_REPAIRS: Mapping[str, Callable[[str], list[str]]] = {
    "resize": lambda text: ["--resize-predictions", text],
    "crop": lambda _: ["--crop"],
    "scale": lambda text: ["--scale", text.removesuffix(" per image")],
}


class Places:
    """Writes the places of results and of photographs in commands and messages, real ones if `real`."""

    def __init__(self, results: Sequence[Result], images: str | None, *, real: bool) -> None:
        self._real = real
        known: dict[str, str] = {} if images is None else {images: "IMAGES"}
        for inputs in (result.inputs for result in results if result.inputs):
            for part in (inputs, *inputs.merged):
                hidden = self.inputs(part)
                known |= {
                    place: getattr(hidden, name)
                    for name in ("ground_truth", "prediction", "field", "pairs")
                    if (place := getattr(part, name))
                }
        self._known = sorted(known.items(), key=lambda item: -len(item[0]))

    def inputs(self, inputs: Inputs) -> Inputs:
        """Give inputs with the places to be written."""
        if self._real:
            return inputs
        return replace(
            inputs,
            ground_truth="GT" if inputs.ground_truth else "",
            prediction=inputs.prediction and f"PRED/{PurePath(inputs.prediction).name}",
            field=inputs.field and "FIELD",
            pairs=inputs.pairs and PurePath(inputs.pairs).name,
            merged=tuple(map(self.inputs, inputs.merged)),
        )

    def text(self, text: str) -> str:
        """Give a message with the places to be written."""
        for real, written in () if self._real else self._known:
            # A folder may be called `p`, and is only replaced where a path begins.
            text = re.sub(rf"(?<![\w./-]){re.escape(real)}(?![\w.-])", written.replace("\\", r"\\"), text)
        return text


@dataclass(frozen=True)
class Repetition:
    """How to repeat a run of some methods: a command, empty where it is not known, and what it leaves out or why."""

    methods: tuple[str, ...]
    command: str
    remarks: tuple[str, ...] = ()


def repetitions(results: Sequence[Result], places: Places) -> list[Repetition]:
    """Give one command for all methods that were counted alike, in the order of the results."""
    results = [replace(one, inputs=places.inputs(one.inputs)) if one.inputs else one for one in results]
    alike = grouped((_counted_how(result), result) for result in results if competes(result.rules))
    remark = "the annotators against each other: add --human to the command of a method"
    human = [Repetition((result.method,), "", (remark,)) for result in results if not competes(result.rules)]
    return [*map(_repetition, alike.values()), *human]


def comparing(comparison: Comparison, results: Sequence[Result], *, alone: bool) -> str:
    """Give the command that prints a comparison of results of one protocol, `alone` in their file or not."""
    first, seed = results[0], next(iter(comparison.measured.values())).seed
    words = ["segbench", "compare", "results.segbench"]
    words += [] if alone else ["--only", f"protocol:{first.protocol}"]
    names = zip(names_of(results), results, strict=True)
    others = [name for name, one in names if one.competes and not one.published and name not in comparison.methods]
    words += ["--methods", ",".join(comparison.methods)] if others else []
    words += ["--class", first.settings["class"]] if "class" in first.settings else []
    words += [] if comparison.level == _LEVEL else ["--intervals", f"{100 * comparison.level:g}"]
    words += [] if comparison.replicates == _REPLICATES else ["--replicates", str(comparison.replicates)]
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(words)


def _counted_how(result: Result) -> tuple[object, ...]:
    """Give all that methods of one command have in common."""
    where = result.inputs and replace(result.inputs, prediction=None, column=None, merged=())
    return result.protocol, tuple(result.settings.items()), where


def _repetition(group: Sequence[Result]) -> Repetition:
    methods, first = tuple(result.method for result in group), group[0]
    inputs = first.inputs
    if inputs is None:
        how = "published" if first.published else "counted by others"
        arrays = "counted from arrays (segbench.Accumulator), which are not kept"
        read = f"{how}, and read with segbench import"
        return Repetition(methods, "", (arrays if first.settings.get("source") == "arrays" else read,))
    parts = {"class": "class of a run with --classes", "group": "group of images of a run"}
    for part, what in parts.items():
        if part in first.settings:
            chosen = shlex.quote(first.settings[part])
            return Repetition(methods, "", (f"one {what}, shown with --{part} {chosen}",))
    if inputs.category:
        names = ", ".join(part.category for part in (inputs, *inputs.merged))
        return Repetition(methods, "", (f"categories of a data set, counted with segbench run: {names}",))
    words = ["segbench", verb_of(first.kind)]
    if inputs.pairs:
        words += ["--pairs", inputs.pairs]
    else:
        words += [inputs.ground_truth, *(_prediction(result) for result in group)]
    options, remarks = _options(first)
    words += options
    words += ["--field", inputs.field] if inputs.field else []
    for name in ("gt_pattern", "pred_pattern", "field_pattern"):
        pattern = getattr(inputs, name)
        words += [option_of(name), pattern] if pattern != "*" else []
    words += ["--negatives", inputs.negatives] if inputs.negatives else []
    words += ["--group-by", inputs.group_by] if inputs.group_by else []
    images = ",".join(inputs.images)
    if len(images) > _LONGEST_LIST or images.count(",") >= max(1, len(inputs.images)):
        remarks.append(f"not in the command: the {len(inputs.images)} names and patterns of --images")
    elif images:
        words += ["--images", images]
    words += ["--allow-missing"] if inputs.allow_missing else []
    words += ["--no-check"] if inputs.unchecked else []
    if inputs.merged:
        several = f"counted in {1 + len(inputs.merged)} parts"
        remarks.append(f"{several}, of which this is the first; then segbench merge")
    version = version_of(first.signature)
    made = "" if version == __version__ else f", this page was made by {__version__}"
    remarks.append(f"counted by segbench {version}{made}")
    return Repetition(methods, shlex.join([*words, "-o", "results.segbench"]), tuple(remarks))


def _prediction(result: Result) -> str:
    place = (result.inputs and result.inputs.prediction) or ""
    return place if place and method_name(place) == result.method else f"{result.method}={place}"


def _options(result: Result) -> tuple[list[str], list[str]]:
    """Give the options that a run was counted with, and remarks on settings that no option gives."""
    settings = json.loads(result.protocol_json)
    words, left = words_of(result.kind, settings)
    for name, option in _REPAIRS.items():
        words += option(result.settings[name]) if name in result.settings else []
    known = settings | result.settings
    left += ["thresholds"] if "thresholds" in known.keys() - settings.keys() else []  # of a tuning set
    return words, [f"not in the command: {name} {known.get(name)}" for name in left]

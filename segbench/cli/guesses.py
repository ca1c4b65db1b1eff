"""What was meant by a command, an option or a metric that there is not; `segbench.core.guesses` has the table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from segbench.cli.options import required
from segbench.core.errors import ArgumentError, SegbenchError
from segbench.core.guesses import BENCHMARKS, COMMANDS, METRICS, REDUCED, options_meant, plain, value_kept
from segbench.core.messages import NOTHING, Message, Setting, joined
from segbench.core.names import first_names
from segbench.core.settings import options_of
from segbench.inputs.class_names import classes_of
from segbench.inputs.class_regions import counted_labels
from segbench.inputs.label_values import shift_to_zero
from segbench.loaders.presets import presets
from segbench.protocols.guesses import measured_by
from segbench.protocols.registry import protocols_of, verbs

if TYPE_CHECKING:
    from segbench.core.metric import Metric
    from segbench.core.protocol import Protocol

_LISTED = 8


def command_meant(typed: str, known: Collection[str]) -> Message:
    """Say which command was meant by a word that is none."""
    word = typed.lower().replace("_", "-")
    if word in BENCHMARKS.split():
        return Message(
            "choose-command",
            "Choose what is measured: {commands}; segbench check GT PRED says which one the files look made for.",
            commands=[name for name in verbs() if name in known],
        )
    command = next((command for command, words in COMMANDS.items() if word in words.split()), "")
    if not command and word in presets():
        command = f"run {word} ROOT PRED"
    near = difflib.get_close_matches(word, known, 1)
    command = command or "".join(near)
    if not command:
        return Message("list-commands", "segbench --help lists the commands.")
    return Message("meant", "Did you mean segbench {command}?", command=command)


def option_meant(typed: str, values: Sequence[str], known: Mapping[str, str], words: Sequence[str]) -> Message:
    """Say which option was meant by one that there is not, with its values; empty if nobody knows.

    `known` has what each option takes, and `words` are those of the command line.
    """
    word = typed.lower().replace("_", "-")
    in_table = any(flag in known for flag, _ in options_meant(typed))
    singular = [] if in_table else [word.removesuffix("s")]
    for number in (word, f"{word}s", *singular):  # with underscores, singular and plural
        if number in known:
            return Message("meant", "write {typed}", typed=f"{number} {known[number]}".rstrip())
    for flag, value in options_meant(typed):
        if not flag.startswith("--"):
            return Message("advice", "{advice}", advice=flag)
        if flag in known and (not value.isupper() or value == known[flag]):
            kept = value_kept(flag, value, values, known[flag].split("|"))
            of_classes = _for_classes(words).get(f"{flag} {value}")
            return Message("meant", "write {typed}", typed=of_classes or f"{flag} {kept}".rstrip())
    return NOTHING


def _for_classes(words: Sequence[str]) -> dict[str, str]:
    """Return examples of options, each with what is meant for the classes that a command line has."""
    apart = [word for part in words for word in (part.split("=", 1) if part.startswith("--classes=") else [part])]
    typed = "".join(apart[apart.index("--classes") + 1 :][:1]) if "--classes" in apart else ""
    with suppress(SegbenchError):  # of classes that nothing reads
        labels = counted_labels(classes_of(typed)[0])
        if shift := shift_to_zero(labels):
            return {REDUCED: f"--gt-map {shift},0=255"}
        if labels[:1] == (1,):
            return {REDUCED: "--void 0"}
    return {}


def titles_of(metric: Metric) -> list[str]:
    """Return the titles of a metric in tables, with its group and without."""
    return [metric.name, metric.title, metric.symbol]


def metric_keys_of(option: str, typed: Sequence[str], known: Mapping[str, Collection[str]]) -> list[str]:
    """Return the keys of metrics typed as keys, table titles or names from papers; each must mean one metric.

    `known` has the titles of each key that a table can have; what fits none is an error that says where it is measured.
    """
    meant: dict[str, dict[str, None]] = {}
    for key, titles in known.items():
        own = {key, *titles}  # columns of single images are also called by the keys of metrics over all images
        name, at, threshold = key.partition("@")
        papers = [
            word + at + threshold
            for keys, words in METRICS.items()
            if (own | {name}) & {*keys.split()}
            for word in words.split()
        ]
        for word in (*map(plain, titles), *papers):
            meant.setdefault(word, {})[key] = None
    meant |= {plain(key): {key: None} for key in known}
    unknown = [name for name in typed if len(meant.get(plain(name), ())) != 1]
    if unknown:
        raise ArgumentError(
            Message(
                "unknown-metric",
                "{option} {unknown}: {advice}; this table has {known}",
                option=option,
                unknown=unknown,
                advice=joined(dict.fromkeys(_metric_meant(name, meant) for name in unknown)),
                known=first_names([*known], _LISTED),
            )
        )
    return list(dict.fromkeys(key for name in typed for key in meant[plain(name)]))


def _metric_meant(typed: str, meant: Mapping[str, Collection[str]]) -> Message:
    """Say which metrics of a table a word may mean, or where it is measured."""
    word = plain(typed)
    parts = [name for name in meant if word in name] if len(word) > 2 else []
    several = meant.get(word) or dict.fromkeys(key for name in parts for key in meant[name])
    if several:
        listed = first_names([*several], _LISTED)
        return Message("may-be", "{typed} may be {listed}", typed=typed, listed=listed, metrics=[*several])
    measuring_verbs = dict.fromkeys(verb for _, verb in measured_by(word))
    if measuring_verbs:
        commands = first_names([f"segbench {verb}" for verb in measuring_verbs], _LISTED)
        return Message(
            "measured-by", "{typed} is measured by {commands}", typed=typed, commands=commands, verbs=[*measuring_verbs]
        )
    kinds = [(verb, kind) for verb in verbs() for kind in protocols_of(verb) if not required(kind)]
    for verb, kind in kinds:
        setting = _setting_for(word, kind)
        if setting:
            return Message(
                "measured-by",
                "{typed} is measured by segbench {verb}, with {setting}",
                typed=typed,
                verb=verb,
                verbs=[verb],
                setting=setting,
            )
    near = _of_one_kind(word, meant)
    if near:
        return Message("may-be", "for {typed}, perhaps {metrics: or } is meant", typed=typed, metrics=list(meant[near]))
    return Message(
        "not-measured",
        "segbench does not measure {typed}, see the page 'What segbench does not measure' (docs/limits.md)",
        typed=typed,
    )


def _setting_for(word: str, kind: type[Protocol]) -> Setting | None:
    """Return the setting with which a protocol has a metric at a threshold, as ``f@0.5``; None if there is none."""
    name, at, threshold = word.partition("@")
    if not at or not re.fullmatch(r"\d*\.?\d+", threshold):
        return None
    names = {name} | {plain(key) for keys, words in METRICS.items() if name in words.split() for key in keys.split()}
    for setting in options_of(kind).values():
        if setting.metadata.get("measuring") == "union":
            with suppress(ArgumentError):  # of a threshold that it does not take
                metrics = kind(**{setting.name: (float(threshold),)}).metrics()
                if names & {plain(metric.key.partition("@")[0]) for metric in metrics if "@" in metric.key}:
                    return Setting(setting.name, (float(threshold),))
    return None


def _of_one_kind(word: str, known: Collection[str]) -> str:
    """Return the nearest spelling of a metric; of one at a threshold, ``f@0.5``, only the same metric at another."""
    name, at, _ = word.partition("@")
    if not at:
        return next(iter(difflib.get_close_matches(word, [other for other in known if "@" not in other], 1)), "")
    of_name = {other: other.partition("@")[0] for other in known if "@" in other}
    names = difflib.get_close_matches(name, of_name.values(), 1)
    alike = [other for other, base in of_name.items() if base in names]
    return next(iter(difflib.get_close_matches(word, alike, 1, 0.0)), "")

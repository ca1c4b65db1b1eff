"""Protocols by name, by the counts that they measure, and in the form in which results files store them.

A package adds a protocol by an entry point. The command line (``segbench trimap GT PRED``), results files, tables and
reports then know it::

    [project.entry-points."segbench.protocols"]
    trimap = "trimap_benchmark:Trimap"

Results files hold the name of a protocol, and its settings as JSON; nothing is imported because a file names it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from segbench.core.errors import ArgumentError
from segbench.core.guesses import COMMANDS
from segbench.core.messages import Message

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from segbench.core.counts import Counts
    from segbench.core.protocol import Protocol

ENTRY_POINTS = "segbench.protocols"


_VERBS = {
    "pixels": "Score soft maps against masks: ROC and PR curves, ODS, OIS, AP.",
    "labels": "Score label maps and hard masks: mIoU, Dice, accuracies, confusion matrix.",
    "boundaries": "Match boundary maps with human boundaries, as BSDS500 does.",
    "regions": "Compare segmentations with human ones as BSDS500 does: covering, PRI, VOI.",
    "contours": "Measure distances between contours of masks: HD95, ASSD, NSD, Boundary IoU.",
    "centerlines": "Score thin structures by skeleton: clDice, Betti and Euler errors.",
    "saliency": "Score saliency maps against masks: S, E, F, weighted F and MAE.",
    "anomalies": "Score anomaly maps: AUPRO, AUPIMO, AUC-ROC and AP of pixels and images.",
    "objects": "Match objects: panoptic quality, F1 of instances, components of masks.",
}
"""The help of the verb of each protocol that ships."""
_VARIANTS = {"classes": "pixels", "scored": "objects"}
"""Protocols that share the verb of another."""
_CLASSES = {"scored": "ScoredObjects"}
"""The classes of protocols that are not called as the protocol is."""


def _shipped() -> Iterator[str]:
    """Name the protocols that ship, each after the one whose verb it shares."""
    for verb in _VERBS:
        yield from (verb, *(name for name, other in _VARIANTS.items() if other == verb))


def _load(name: str) -> type[Protocol]:
    """Import a protocol that ships: `Pixels` lies in ``pixels.settings``, `Classes` in ``pixels.classes``."""
    module = f"{_VARIANTS[name]}.{name}" if name in _VARIANTS else f"{name}.settings"
    return getattr(import_module(f"segbench.protocols.{module}"), _CLASSES.get(name, name.capitalize()))


@cache
def verbs() -> Mapping[str, str]:
    """Return the help of each protocol's verb by name, without importing any protocol."""
    added = {entry_point.name: f"Run the protocol of {_package(entry_point)}." for entry_point in added_protocols()}
    return {**added, **_VERBS}


@cache
def protocols_of(verb: str) -> tuple[type[Protocol], ...]:
    """Return the protocols that a verb runs: its own, then its variants."""
    if verb in verbs() and not added_protocols():  # without importing the others
        return tuple(_load(name) for name in _shipped() if verb in (name, _VARIANTS.get(name)))
    known = protocols()
    if verb not in verbs():
        raise ArgumentError(
            Message(
                "unknown-protocol",
                "no protocol has the verb {verb!r}; the verbs are {verbs}",
                verb=verb,
                verbs=tuple(verbs()),
            )
        )
    return tuple(protocol for protocol in known.values() if verb_of(protocol) == verb)


def verb_of(protocol: type[Protocol]) -> str:
    """Return the verb that runs a protocol."""
    return _VARIANTS.get(protocol.name, protocol.name)


def examples_of(verb: str) -> tuple[str, ...]:
    """Return the arguments that the help of a verb shows; none for a protocol without examples."""
    from segbench.core.protocol import Verb

    first = protocols_of(verb)[0]
    return first.examples if issubclass(first, Verb) else ()


@cache
def protocols() -> Mapping[str, type[Protocol]]:
    """Return every protocol by name, those that ship first."""
    from segbench.core.protocol import Protocol

    by_name = {name: _load(name) for name in _shipped()}
    for entry_point in added_protocols():
        try:
            added = entry_point.load()
        except (ImportError, AttributeError) as error:  # what a missing module or class raises
            raise ArgumentError(
                Message(
                    "unfit-protocol",
                    "the protocol {name} of {package} cannot be loaded ({why}); reinstall or remove it",
                    name=entry_point.name,
                    package=_package(entry_point),
                    why=str(error),
                )
            ) from error
        values = {"name": entry_point.name, "value": entry_point.value, "group": ENTRY_POINTS}
        if not (isinstance(added, type) and issubclass(added, Protocol)) or added.name != entry_point.name:
            raise ArgumentError(
                Message(
                    "unfit-protocol",
                    "the entry point {name} = {value!r} of the group {group!r} is not a protocol of that name; "
                    "expected a class that derives from segbench.Protocol",
                    **values,
                )
            )
        if entry_point.name in by_name:
            raise ArgumentError(
                Message(
                    "unfit-protocol",
                    "the entry point {name} = {value!r} of the group {group!r} takes the name of another protocol",
                    **values,
                )
            )
        by_name[entry_point.name] = added
    return by_name


def measuring(counts: Counts) -> Protocol:
    """Return the protocol with default settings that measures counts of this type."""
    from segbench.core.protocol import FromCounts

    for protocol in protocols().values():
        if isinstance(counts, protocol.counts):
            return protocol.measuring(counts) if issubclass(protocol, FromCounts) else protocol()
    raise ArgumentError(
        Message(
            "other-counts",
            "found {counts}; expected counts of images, all {expected}",
            counts=type(counts).__name__,
            expected=" or all ".join(protocol.counts.__name__ for protocol in protocols().values()),
        )
    )


def measuring_with(counts: Counts, protocol: object) -> Protocol:
    """Return the protocol that measures counts: `protocol`, else the one that counted, else one with defaults."""
    if protocol is not None:
        measured_as = as_protocol(protocol)
        if not isinstance(counts, measured_as.counts):
            raise ArgumentError(
                Message(
                    "other-counts",
                    "protocol is {protocol}, which counts {counted}; expected a protocol with {counts}, such as "
                    "{example}",
                    protocol=repr(measured_as),
                    counted=measured_as.counts.__name__,
                    counts=type(counts).__name__,
                    example=repr(measuring(counts)),
                )
            )
        return _measured_as(_protocol_of(counts), measured_as)
    counted_by = counts.origin.protocols
    measured_by = [_measuring_settings(counted) for counted in counted_by]
    if any(settings != measured_by[0] for settings in measured_by):
        raise ArgumentError(
            Message(
                "measured-otherwise",
                "counts of {protocols} were added up; say how to measure them: metrics({first})",
                protocols=" and ".join(map(repr, counted_by)),
                first=repr(counted_by[0]),
            )
        )
    return _measured_as(_protocol_of(counts), counted_by[0]) if counted_by else measuring(counts)


def _protocol_of(counts: Counts) -> Protocol | None:
    """Return the protocol that counted, or the one that the counts themselves imply; None if they imply none."""
    from segbench.core.protocol import FromCounts

    if len(counts.origin.protocols) == 1:
        return counts.origin.protocols[0]
    protocol = measuring(counts)
    return protocol if isinstance(protocol, FromCounts) else None


def _measured_as(counted: Protocol | None, measured: Protocol) -> Protocol:
    """Return the protocol that counted, with the settings of measuring of another."""
    if counted is None or counted == measured:
        return measured
    return counted.with_settings(**_measuring_settings(measured))


def _measuring_settings(protocol: Protocol) -> dict[str, object]:
    """Return the settings of measuring by name."""
    return {name: getattr(protocol, name) for name in sorted(protocol.measuring_settings())}


@cache
def counts_types() -> Mapping[str, type[Counts]]:
    """Return the types of counts by their names in results files."""
    return {protocol.counts.kind: protocol.counts for protocol in protocols().values()}


def as_protocol(protocol: object) -> Protocol:
    """Return a protocol with its settings; a name alone means its defaults."""
    from segbench.core.protocol import Protocol

    if isinstance(protocol, Protocol):
        return protocol
    if isinstance(protocol, str) and protocol in protocols():
        return _with_defaults(protocol)
    word = str(protocol).lower()
    meant = next((name for name in protocols() if word in COMMANDS.get(name, "").split()), "")
    raise ArgumentError(
        Message(
            "unknown-protocol",
            "protocol is {name}, expected one with its settings, such as Pixels(), or one of {protocols}{meant}",
            name=repr(protocol),
            meant=f"; perhaps {meant!r} is meant" if meant else "",
            protocols=tuple(protocols()),
        )
    )


@cache
def _with_defaults(name: str) -> Protocol:
    """Return the protocol of a name with its defaults."""
    protocol = protocols()[name]
    try:
        return protocol()
    except TypeError:
        raise ArgumentError(
            Message(
                "no-settings",
                "protocol {name!r} needs settings, expected {expected}(...)",
                name=name,
                expected=protocol.__name__,
            )
        ) from None


@cache
def added_protocols() -> tuple[EntryPoint, ...]:
    """Return the protocols that other packages add."""
    if not any(ENTRY_POINTS in text for text in _entry_points()):  # the import below is slow
        return ()
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINTS))


def _entry_points() -> Iterator[str]:
    """Read the entry points of installed packages."""
    for folder in sys.path:
        for file in Path(folder).glob("*.*-info/entry_points.txt"):  # in folders .dist-info and .egg-info
            with suppress(OSError):
                yield file.read_text("utf-8", "replace")


def _package(entry_point: EntryPoint) -> str:
    """Name the package that adds a protocol."""
    return f"the package {entry_point.dist.name}" if entry_point.dist else "another package"


class StoredProtocol(NamedTuple):
    """A protocol as a results file has it, as two JSON texts; both empty for results that others counted.

    Settings of counting decide what is counted or refused, and identify a run; settings of measuring change only the
    table, and say how the counts were last measured. A shorthand, such as the convention of a tool, is stored as the
    settings that it sets.
    """

    counting: str = ""
    measuring: str = ""

    @classmethod
    def of(cls, protocol: Protocol) -> StoredProtocol:
        """Store the settings of a protocol."""
        counting: dict[str, Any] = {"class": type(protocol).__name__}
        measuring: dict[str, Any] = {}
        measured_by = protocol.measuring_settings()
        for setting in _stored_fields(type(protocol)):
            settings = measuring if setting.name in measured_by else counting
            settings[setting.name] = getattr(protocol, setting.name)
        return cls(_as_json(counting), _as_json(measuring))

    def restored(self, name: str) -> Protocol:
        """Return the protocol called `name` with these settings; settings that do not fit it are an `ArgumentError`."""
        protocol = protocols().get(name)
        if protocol is None:
            raise ArgumentError(
                Message(
                    "unknown-protocol",
                    "there is no protocol {name!r}; the protocols are {protocols}",
                    name=name,
                    protocols=tuple(protocols()),
                )
            )
        if not self.counting:
            return protocol()
        try:
            return _restored_protocol(protocol, {**json.loads(self.counting), **json.loads(self.measuring or "{}")})
        except (TypeError, ValueError, KeyError) as error:
            why = error.message if isinstance(error, ArgumentError) else str(error)
            raise ArgumentError(
                Message(
                    "other-version", "the settings of {name} are not those of this version ({why})", name=name, why=why
                )
            ) from error

    def lacking(self, name: str) -> str:
        """Name the class that counted if it is not installed, so that the protocol called `name` stands for it."""
        protocol = protocols().get(name)
        if protocol is None or not self.counting:
            return ""
        counted_by = str(json.loads(self.counting)["class"])
        return "" if _class_called(counted_by, protocol).__name__ == counted_by else counted_by


def _stored_fields(protocol: type[Protocol]) -> list[Field[Any]]:
    """List the fields of a protocol that are stored: its settings, without shorthands for others."""
    settings: Any = fields(protocol)  # type: ignore[arg-type]  # protocols are dataclasses
    return [
        setting
        for setting in settings
        if setting.init and setting.compare and setting.metadata.get("measuring") != "shorthand"
    ]


def _as_json(settings: Mapping[str, object]) -> str:
    return json.dumps(_plain(settings), sort_keys=True, default=str)


def _plain(value: Any) -> Any:
    """Return a setting as JSON has it; a protocol among the settings is an object with its class."""
    from segbench.core.protocol import Protocol

    if isinstance(value, Protocol):
        settings = {setting.name: getattr(value, setting.name) for setting in _stored_fields(type(value))}
        return {"class": type(value).__name__} | _plain(settings)
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple, range)) else value


def _class_called(name: str, protocol: type[Protocol]) -> type[Protocol]:
    """Return the protocol of that name in the module of `protocol`, as `ClassAgainstOthers` is in that of `Labels`.

    If there is none, it is `protocol` itself.
    """
    from segbench.core.protocol import Protocol

    named = getattr(sys.modules[protocol.__module__], name, None)
    return named if isinstance(named, type) and issubclass(named, Protocol) else protocol


def _restored_protocol(protocol: type[Protocol], settings: Mapping[str, Any]) -> Protocol:
    """Return the protocol with stored settings."""
    counted_by = _class_called(str(settings["class"]), protocol)
    known = {setting.name for setting in _stored_fields(counted_by)}
    return counted_by(**{name: _restored(protocol, value) for name, value in settings.items() if name in known})


def _restored(protocol: type[Protocol], value: Any) -> Any:
    """Return a stored setting as protocols have it: tuples for lists, protocols for objects with a class."""
    if isinstance(value, list):
        return tuple(_restored(protocol, part) for part in value)
    return _restored_protocol(protocol, value) if isinstance(value, dict) and "class" in value else value

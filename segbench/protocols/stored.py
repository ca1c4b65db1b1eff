"""The stored form of a protocol: what identifies a run, and how its counts were last measured, each as JSON.

Settings of counting decide what is counted or refused; settings of measuring change only the table. A shorthand, such
as the convention of a tool, is stored as the settings that it sets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, NamedTuple

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.protocol import Protocol
from segbench.core.settings import fields_with
from segbench.protocols.registry import protocols


class StoredProtocol(NamedTuple):
    """A protocol as a results file has it; empty texts for results that others counted."""

    counting: str = ""
    measuring: str = ""

    @classmethod
    def of(cls, protocol: Protocol) -> StoredProtocol:
        """Write the settings of a protocol."""
        settings = {setting.name: getattr(protocol, setting.name) for setting in _stored_fields(type(protocol))}
        measuring = {name: settings.pop(name) for name in fields_with(protocol, "measuring") & settings.keys()}
        counting = {"class": type(protocol).__name__} | settings
        return cls(*(json.dumps(_plain(part), sort_keys=True, default=str) for part in (counting, measuring)))

    def restored(self, name: str) -> Protocol:
        """Return the protocol of that name; settings that do not fit it are an `ArgumentError`."""
        kind = protocols().get(name)
        if kind is None:
            raise ArgumentError(
                Message(
                    "unknown-protocol",
                    "there is no protocol {name!r}; the protocols are {protocols}",
                    name=name,
                    protocols=tuple(protocols()),
                )
            )
        if not self.counting:
            return kind()
        try:
            return _made(kind, {**json.loads(self.counting), **json.loads(self.measuring or "{}")})
        except (TypeError, ValueError, KeyError) as error:
            why = error.message if isinstance(error, ArgumentError) else str(error)
            raise ArgumentError(
                Message(
                    "other-version", "the settings of {name} are not those of this version ({why})", name=name, why=why
                )
            ) from error

    def lacking(self, name: str) -> str:
        """Name the class that counted if it is not installed, so that the protocol of that name stands for it."""
        kind = protocols().get(name)
        if kind is None or not self.counting:
            return ""
        counted_by = str(json.loads(self.counting)["class"])
        return "" if _class_of(kind, counted_by).__name__ == counted_by else counted_by


def _stored_fields(kind: type[Protocol]) -> list[Field[Any]]:
    """List the fields of a protocol that are stored."""
    settings: Any = fields(kind)  # type: ignore[arg-type]  # protocols are dataclasses
    return [setting for setting in settings if setting.init and setting.compare and _is_stored(setting)]


def _is_stored(setting: Field[Any]) -> bool:
    """Whether a setting is no shorthand for others."""
    return setting.metadata.get("measuring") != "shorthand"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; a protocol among the settings is an object with its class."""
    if isinstance(value, Protocol):
        settings = {setting.name: getattr(value, setting.name) for setting in _stored_fields(type(value))}
        return {"class": type(value).__name__} | _plain(settings)
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple, range)) else value


def _class_of(kind: type[Protocol], name: str) -> type[Protocol]:
    """Return a class by its name if it is beside that of the protocol, as that of annotators is; else the latter."""
    beside = getattr(sys.modules[kind.__module__], name, None)
    return beside if isinstance(beside, type) and issubclass(beside, Protocol) else kind


def _made(kind: type[Protocol], settings: Mapping[str, Any]) -> Protocol:
    """Make a protocol of stored settings."""
    made = _class_of(kind, str(settings["class"]))
    known = {setting.name for setting in _stored_fields(made)}
    return made(**{name: _restored(kind, value) for name, value in settings.items() if name in known})


def _restored(kind: type[Protocol], value: Any) -> Any:
    """Return a value as settings have it: tuples for lists, protocols for objects with a class."""
    if isinstance(value, list):
        return tuple(_restored(kind, part) for part in value)
    return _made(kind, value) if isinstance(value, dict) and "class" in value else value

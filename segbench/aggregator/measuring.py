"""Results measured with other settings: those asked for, and alike where several share a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, Protocol, Self, TypeVar

from segbench.aggregator.part_means import innermost
from segbench.core import protocol as core
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Setting
from segbench.core.settings import setting_text
from segbench.loaders.belonging import KINDS, Assignment


class HasSettings(Protocol):
    """What a run and a `segbench.Result` are here."""

    @property
    def rules(self) -> core.Protocol:
        """The protocol."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Settings as text, of a result all."""

    @property
    def assigned(self) -> Mapping[str, Assignment]:
        """What images belong to, by kind."""

    @property
    def published(self) -> object:
        """What was published without images, if anything."""


class Measurable(HasSettings, Protocol):
    """What a `segbench.Result` is here."""

    @property
    def kind(self) -> type[core.Protocol]:
        """The class of the protocol."""

    @property
    def measuring_settings(self) -> frozenset[str]:
        """The settings that it can be measured with."""

    def with_settings(self, **settings: Any) -> Self:  # noqa: ANN401  values of fields
        """Measure with other settings."""


Measured = TypeVar("Measured", bound=Measurable)


def _measuring_fields(rules: core.Protocol) -> dict[str, Field[Any]]:
    """Return the settings of measuring of a protocol by name."""
    known = rules.measuring_settings()
    settings: Any = fields(rules) if known else ()  # type: ignore[arg-type]  # protocols are dataclasses
    return {setting.name: setting for setting in settings if setting.name in known}


def measured_with(results: Sequence[Measured], settings: Mapping[str, Any]) -> list[Measured]:
    """Measure results with other settings, each with those of its protocol."""
    measurable = [result.measuring_settings for result in results]
    for name, value in settings.items():
        has_it = (result.rules.has_setting(name, value) for result in results)
        if not any(name in known for known in measurable) and not any(has_it):
            known = ", ".join(sorted(frozenset().union(*measurable))) or "none"
            raise ArgumentError(
                Message(
                    "not-measuring",
                    "{setting} is no setting of measuring of these runs, which are: {known}; count again with it, or "
                    "leave it out",
                    setting=Setting(name, None),
                    known=known,
                )
            )
    chosen = [{name: settings[name] for name in settings if name in known} for known in measurable]
    pairs = zip(results, chosen, strict=True)
    return [result.with_settings(**values) if values else result for result, values in pairs]


def measured_alike(results: Sequence[Measured]) -> list[Measured]:
    """Measure results of one protocol alike: by all values of a list, and with what any of them has.

    Other settings may still differ then, see `measured_apart`.
    """
    of_protocols = grouped((result.kind, index) for index, result in enumerate(results) if not result.published)
    alike = list(results)
    for indices in of_protocols.values():
        shared = shared_settings([innermost(results[index].rules) for index in indices])
        for index in indices:
            result, rules = results[index], innermost(results[index].rules)
            changed = {
                name: value
                for name, value in shared.items()
                if name in _measuring_fields(rules) and getattr(rules, name) != value
            }
            alike[index] = result.with_settings(**changed) if changed else result
    return alike


def shared_settings(protocols: Sequence[core.Protocol]) -> dict[str, Any]:
    """Return the settings that results of one protocol share: unions of lists, and flags that any has."""
    shared: dict[str, Any] = {}
    for rules in protocols:
        for name, setting in _measuring_fields(rules).items():
            value = getattr(rules, name)
            if setting.metadata["measuring"] == "union":
                shared[name] = tuple(sorted({*shared.get(name, ()), *value}))
            elif setting.metadata["measuring"] == "any":
                shared[name] = shared.get(name, False) or value
    return shared


def measured_apart(results: Sequence[HasSettings]) -> dict[str, list[str]]:
    """Return the settings of measuring in which results of one protocol differ, with the value of each as text."""
    apart = {
        name
        for result in results
        for name, setting in _measuring_fields(innermost(result.rules)).items()
        if setting.metadata["measuring"] == "apart"
    }
    values = {name: [_as_text(result, name) for result in results] for name in sorted(apart)}
    values |= {name: _assigned_by(results, kind) for name, kind in KINDS.items()}
    return {name: texts for name, texts in values.items() if len(set(texts)) > 1}


def _assigned_by(results: Sequence[HasSettings], kind: str) -> list[str]:
    """Return by what setting the images of each result belong to something; published ones are as the others.

    The folder of a CSV file tells nothing apart: it may be another on another machine.
    """
    with_kind = [result.assigned[kind] for result in results if kind in result.assigned]
    setting_of = {assignment.label: assignment.by for assignment in with_kind[::-1]}  # of equals the first
    settings = [setting_of[result.assigned[kind].label] if kind in result.assigned else "none" for result in results]
    usual = next((by for by, result in zip(settings, results, strict=True) if not result.published), "none")
    return [usual if result.published else by for by, result in zip(settings, results, strict=True)]


def _as_text(result: HasSettings, name: str) -> str:
    """Return a setting as the signature has it, which leaves out what is as by default."""
    return result.settings.get(name) or setting_text(getattr(innermost(result.rules), name, None))


def differing_settings(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the names of the settings that do not have the same value in all of these."""
    names = dict.fromkeys(name for of_result in settings for name in of_result)
    return [name for name in names if len({of_result.get(name) for of_result in settings}) > 1]


def without_measuring(result: Measurable) -> Mapping[str, str]:
    """Return the settings of a result without those of measuring, which do not tell runs apart."""
    marked = {setting.name: setting for setting in fields(result.kind) if "measuring" in setting.metadata}  # type: ignore[arg-type]
    may_count = {name for name, setting in marked.items() if "may_count" in setting.metadata}
    measuring = marked.keys() - (may_count - result.measuring_settings)
    measuring |= KINDS.keys()
    return {name: text for name, text in result.settings.items() if name not in measuring}

"""Checks in the terminal, a table per part with its notes, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console

from segbench.core.grouping import grouped
from segbench.core.metric import finite
from segbench.core.numbers import point_first
from segbench.core.text_table import aligned
from segbench.report.terminal import say
from segbench.verification.checks import Check, verdict

SCHEMA = 1
_STYLES = {"as expected": "", "off": "red", "not checked": "yellow"}
_HEADER = ("  metric", "expected", "got", "off by", "allowed", "source")
_FIELDS = (
    *("part", "group", "what", "state", "expected", "got", "difference", "allowed"),
    *("source", "note", "missing"),
)


def show_part(checks: Sequence[Check], console: Console) -> None:
    """Print the checks of one part: a line each, group by group, then the notes."""
    if not checks:
        return
    rows = [(f"  {check.what}{' *' if check.note else ''}", *_numbers(check), check.source) for check in checks]
    header, *lines = aligned([_HEADER, *rows], "<>>>><", " ").splitlines()
    say(console, checks[0].part, "bold")
    say(console, header, "bold")
    for group, checks_of_group in groupby(zip(checks, lines, strict=True), lambda pair: pair[0].group):
        say(console, group, "bold")
        for check, line in checks_of_group:
            say(console, line, _STYLES[check.state])
    noted = grouped(dict.fromkeys((check.note, f"{check.group}, {check.what}") for check in checks if check.note))
    for note, names in noted.items():
        say(console, f"* {'; '.join(names)}: {note}", "dim")
    unchecked = grouped(dict.fromkeys((check.missing, check.group) for check in checks if check.missing))
    for missing, groups in unchecked.items():
        say(console, f"not checked, {'; '.join(groups)}: {missing}", "yellow")
    console.print()


def show_verdict(checks: Sequence[Check], console: Console) -> None:
    """Print what is off once more, and last how many are as expected."""
    off = [check for check in checks if check.state == "off"]
    for check in off:
        expected, got, difference, allowed = _numbers(check)
        say(
            console,
            f"off: {check.part}: {check.group}: {check.what}: expected {expected}, got {got} "
            f"(off by {difference}, allowed {allowed}; {check.source})",
            "red",
        )
    say(console, verdict(checks), "bold red" if off else "bold green")


def checks_json(checks: Sequence[Check]) -> str:
    """Write checks as JSON: ``{"schema": 1, "verdict": .., "checks": [..]}``; what is undefined is null."""
    document = {
        "schema": SCHEMA,
        "verdict": verdict(checks),
        **{
            state.replace(" ", "_"): sum(check.state == state for check in checks)
            for state in ("as expected", "off", "not checked")
        },
        "checks": [{name: _plain(getattr(check, name)) for name in _FIELDS} for check in checks],
    }
    return json.dumps(document, indent=2) + "\n"


def _plain(value: str | float) -> str | float | None:
    return value if isinstance(value, str) else finite(value)


def _numbers(check: Check) -> tuple[str, ...]:
    """Write expected, got, difference and allowed; what is undefined is a dash."""
    written = f"{check.expected:.7g}", f"{check.got:.7g}", f"{check.difference or 0:.1g}", f"{check.allowed:.1g}"
    return tuple("-" if "nan" in text else point_first(text) for text in written)

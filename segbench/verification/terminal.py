"""Checks in the terminal, a table per part with its notes, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from segbench.core.grouping import grouped
from segbench.core.numbers import point_first
from segbench.core.summary import finite
from segbench.core.text_table import aligned
from segbench.report.terminal import say
from segbench.verification.checks import Check, verdict

SCHEMA = 1
_STYLES = {"as expected": "", "off": "red", "not checked": "yellow"}
_HEADER = ("  metric", "expected", "got", "off by", "allowed", "source")
_FIELDS = (
    *("part", "group", "what", "state", "expected", "got", "difference", "allowed"),
    *("source", "seconds", "note", "missing"),
)
_MOST_PLACES = 7


def show_part(checks: Sequence[Check], console: Console) -> None:
    """Print the checks of one part: a line each, group by group, then the notes."""
    if not checks:
        return
    rows = [(f"  {one.what}{' *' if one.note else ''}", *_numbers(one), one.source) for one in checks]
    header, *lines = aligned([_HEADER, *rows], "<>>>><", " ").splitlines()
    say(console, checks[0].part, "bold")
    say(console, header, "bold")
    for group, some in groupby(zip(checks, lines, strict=True), lambda pair: pair[0].group):
        (first, line), *others = some
        seconds = "" if first.missing else f"  {first.seconds:.2f} s"
        console.print(Text.assemble((group, "bold"), (seconds, "dim")), soft_wrap=True)
        for check, written in ((first, line), *others):
            say(console, written, _STYLES[check.state])
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


def _numbers(check: Check) -> tuple[str, str, str, str]:
    """Write expected, got, difference and allowed; the first two with the digits that are known."""
    if check.allowed == 0:
        expected, got = f"{check.expected:.7g}", f"{check.got:.7g}"
    elif check.expected == 0 or not math.isfinite(check.allowed):
        expected, got = f"{check.expected:.3g}", f"{check.got:.2g}"
    else:
        places = _places(check)
        expected, got = f"{check.expected:.{places}f}", f"{check.got:.{places}f}"
    return _bare(expected), _bare(got), _small(check.difference, sign="+"), _small(check.allowed)


def _places(check: Check) -> int:
    """Count the decimal places: those of the number expected, and all that the allowed difference makes."""
    known = math.ceil(-math.log10(2 * check.allowed))
    if known > _MOST_PLACES:
        # What is known exactly needs no zeros to say how well.
        return max(_own_places(check.expected), _own_places(check.got))
    return max(_own_places(check.expected), known)


def _own_places(value: float) -> int:
    return len(f"{value:.{_MOST_PLACES}f}".rstrip("0").partition(".")[2])


def _small(value: float, *, sign: str = "") -> str:
    return _bare(f"{value:{sign}.1g}") if value else "0"


def _bare(text: str) -> str:
    """Leave out the zero before the point, as the field does; what is undefined is a dash."""
    return "-" if text in {"nan", "+nan"} else point_first(text)

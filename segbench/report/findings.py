"""Reports of `check` to people: on the terminal, as JSON, and as the few lines that a run prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from segbench.checks.findings import Finding, Report
from segbench.core.errors import LISTED
from segbench.core.grouping import grouped
from segbench.core.messages import NOTHING, Message
from segbench.report.terminal import say

SCHEMA = 2
_STYLES = {"error": "red", "warning": "yellow"}


def show_reports(reports: Sequence[Report], console: Console) -> None:
    """Print what was found, method by method, what several methods share but once."""
    for note in dict.fromkeys(note for report in reports for note in report.notes):
        say(console, note, "dim")
    shared = _shared(reports)
    if shared:
        say(console, "all methods", "bold")
        _show(shared, console)
    for report in reports:
        say(console, report.heading, "bold")
        _show(_own(report, shared), console)
        if not report.findings:
            say(console, report.nothing, "green")


def _show(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings:
        message, files, fix = finding.lines("options")
        say(console, message, _STYLES[finding.severity])
        for file in files:
            say(console, file, "dim")
        if fix:
            say(console, fix, "")


def report_json(reports: Sequence[Report]) -> str:
    """Write reports as JSON: ``{"schema": 2, "reports": [...]}``; docs/check.md describes it."""
    return json.dumps({"schema": SCHEMA, "reports": [_document(report) for report in reports]}, indent=2) + "\n"


def refusal(reports: Sequence[Report]) -> Message:
    """Return all that stops a run as one message; what several methods show is one finding, of all their files."""
    same = grouped((_same(finding), (report.label, finding)) for report in reports for finding in report.errors)
    parts, hidden = [], False
    for group in same.values():
        methods = dict.fromkeys(method for method, _ in group)
        largest = max((finding for _, finding in group), key=lambda finding: len(finding.places))
        files = dict.fromkeys(file.message for _, finding in group for file in finding.places)
        hidden = hidden or len(files) > LISTED
        parts.append(_stopping(largest, [*methods] if len(methods) < len(reports) else [], [*files]))
    remedies = [Message("fix", "segbench check --format json lists all")] if hidden else []
    remedies += [Message("fix", "--no-check counts what it can")] if _some_count(reports) else []
    details = Message("fix", " ({remedies})", remedies=remedies) if remedies else NOTHING
    return Message(
        "check-failed",
        "nothing is counted{details}; {reasons:\n}",
        details=details,
        reasons=parts,
        findings=[kind for kind, *_ in same],
    )


def _stopping(finding: Finding, methods: Sequence[str], files: Sequence[Message]) -> Message:
    """Write a finding with its files; of all methods where none are named."""
    who = f"{', '.join(methods)}: " if methods else ""
    lines = Message("files", "\n  {files:\n  }", files=files) if files else NOTHING
    return who + Message(
        "finding",
        "{kind}: {message}{lines}{arrow}{fix}",
        kind=finding.kind,
        message=finding.message,
        lines=lines,
        arrow="\n  -> " if finding.fix else "",
        fix=finding.fix,
    )


def _some_count(reports: Sequence[Report]) -> bool:
    """Whether some image of some method might be counted, and nothing stops a whole set."""
    whole = any(finding.whole for report in reports for finding in report.errors)
    lost = [{image for finding in report.errors for image in finding.images} for report in reports]
    return not whole and any(len(images) < report.images for images, report in zip(lost, reports, strict=True))


def warnings_of(reports: Sequence[Report]) -> Iterator[Message]:
    """Yield one line per finding that does not stop a run."""
    shared = _shared(reports)
    for finding in shared:
        yield _warning("all methods", finding)
    for report in reports:
        yield from (_warning(report.label, finding) for finding in _own(report, shared))


def _warning(method: str, finding: Finding) -> Message:
    lost = Message("left-out", " ({images:many image} will be left out of all metrics)", images=len(finding.images))
    return Message(
        "finding",
        "{method}: {kind}: {message}{lost}{mark}{fix}",
        method=method,
        kind=finding.kind,
        message=finding.message,
        lost=lost if finding.images else "",
        mark="; " if finding.fix else "",
        fix=finding.fix,
    )


def _same(finding: Finding) -> tuple[str, Message, Message]:
    """Return what findings of several methods have in common where they are one.

    Methods may share ground truth but not the number of images, so that messages on it differ: the largest is given.
    """
    return finding.kind, finding.fix, NOTHING if finding.side == "ground truth" else finding.message


def _shared(reports: Sequence[Report]) -> list[Finding]:
    """Return the findings of all methods: those on ground truth, and others that are in the same files."""
    if len(reports) < 2:
        return []
    groups = grouped((_same(finding), finding) for report in reports for finding in report.findings)
    largest = (
        max(group, key=lambda finding: len(finding.places)) for group in groups.values() if len(group) == len(reports)
    )
    return [
        finding
        for finding in largest
        if finding.side == "ground truth" or all(finding in report.findings for report in reports)
    ]


def _own(report: Report, shared: Sequence[Finding]) -> list[Finding]:
    """Return the findings of a method that not all others share."""
    return [finding for finding in report.findings if _same(finding) not in map(_same, shared)]


def _document(report: Report) -> dict[str, Any]:
    return {
        "method": report.method,
        "run": report.run or None,
        "protocol": report.protocol,
        "images": report.images,
        "inspected": report.inspected,
        "errors": bool(report.errors),
        "refused": report.refused,
        "findings": [finding.described("options") for finding in report.findings],
        "notes": [note.described("options") for note in report.notes],
    }

"""What tests of checks share: the findings of the command, and those of the quick check before a run."""

import json

import pytest

from segbench.report import findings as printing


@pytest.fixture
def warned_of(monkeypatch):
    """Return a list that holds the findings of which the last run warned before it counted."""
    findings, write = [], printing.warnings_of

    def keep(reports):
        findings[:] = [finding for report in reports for finding in report.findings]
        return write(reports)

    monkeypatch.setattr(printing, "warnings_of", keep)
    return findings


@pytest.fixture
def check_findings(segbench):
    """Check files by the command; return its exit code and the findings by key."""

    def check(*arguments):
        answer = segbench("check", *arguments, "--format", "json")
        (report,) = json.loads(answer.out)["reports"]
        return answer.code, {finding["kind"]: finding for finding in report["findings"]}

    return check

"""What tests of the quick check before a run share."""

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

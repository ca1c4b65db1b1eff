"""The one door to how results look in a notebook; the report room opens when a notebook asks."""

from __future__ import annotations


class Displayed:
    """A type that notebooks show as a small table or drawing, see `segbench.report.notebook`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from segbench.report.notebook import html_of

        return html_of(self)

"""The protocols by name: what counts their images, and what turns their counts into figures.

A new protocol is one more row of `PROTOCOLS`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from segbench.counts import BoundaryCounts, ClassCounts, RegionCounts, ScoreCounts
from segbench.curves import Curve, Summary, pixel_image_figures, pixel_summary
from segbench.curves.boundary import BoundaryCurve, boundary_curve
from segbench.curves.boundary_summary import boundary_image_figures, boundary_summary
from segbench.curves.classes import class_curve, class_image_figures, class_summary
from segbench.curves.masks import pixel_curve
from segbench.curves.regions import RegionCurve, region_curve, region_image_figures, region_summary
from segbench.errors import ArgumentError
from segbench.protocols.counted import Counted
from segbench.sample import Reads, Sample


class Protocol(typing.Protocol):
    """Settings that know how to count an image."""

    name: ClassVar[str]
    reads: ClassVar[Reads]

    def signature_fields(self) -> dict[str, str]:
        """Name the settings that a figure depends on."""

    def count(self, sample: Sample) -> Counted:
        """Count one image."""


@dataclass(frozen=True)
class Figures:
    """How the counts of a protocol become figures.

    Parameters
    ----------
    summary : callable
        From the counts of all images, by name.
    image : callable
        From the counts of one image and, where `by_set`, the pooled counts of the set it is part of.
    curve : callable
        From pooled counts: the precision-recall curve, or the region figures at each threshold.
    pool : callable
        From the counts of many images to their sum.
    by_set : bool
        Whether the figures of an image depend on the set.
    """

    summary: Callable[[Mapping[str, Any]], Summary]
    image: Callable[..., Summary]
    curve: Callable[[Any], Curve | BoundaryCurve | RegionCurve]
    pool: Callable[[Any], Any]
    by_set: bool = False


PROTOCOLS: dict[str, Figures] = {
    "pixels": Figures(pixel_summary, pixel_image_figures, pixel_curve, ScoreCounts.sum, by_set=True),
    "boundaries": Figures(boundary_summary, boundary_image_figures, boundary_curve, BoundaryCounts.sum),
    "regions": Figures(region_summary, region_image_figures, region_curve, RegionCounts.sum),
    "classes": Figures(class_summary, class_image_figures, class_curve, ClassCounts.sum, by_set=True),
}

_TYPES: Mapping[Reads, str] = {
    "masks": "Pixels",
    "classes": "Classes",
    "boundaries": "Boundaries",
    "annotators": "Annotators",
    "regions": "Regions",
}


def refuse_no_protocol(protocol: object, *, reads: Collection[Reads] = tuple(_TYPES)) -> None:
    """Check that something is a protocol with its settings, one of those that can be used.

    Raises
    ------
    ArgumentError
        If it is not, as the name of a protocol.

    Examples
    --------
    >>> refuse_no_protocol("pixels", reads=("masks", "boundaries"))
    Traceback (most recent call last):
    segbench.errors.ArgumentError: protocol is 'pixels', expected Pixels(...) or Boundaries(...)
    """
    if isinstance(protocol, type) or getattr(protocol, "reads", None) not in reads:
        *most, last = [f"{_TYPES[kind]}(...)" for kind in reads]
        raise ArgumentError(f"protocol is {protocol!r}, expected {', '.join(most)} or {last}")

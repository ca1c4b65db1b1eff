"""From the options of a command line to the settings of a protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segbench.cli.choices import ProtocolName
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.core.protocol import Protocol


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of ``segbench run`` that say what counts as right, as typed; None or False where not given."""

    positive: str | None
    void: str | None
    invert: bool
    bins: bool
    max_dist: float | None
    thresholds: str | None
    no_thin: bool
    nms: str | None
    label_maps: bool
    classes: str | None = None
    category: int | None = None
    annotators: str | None = None

    def protocol(self, name: ProtocolName) -> Protocol:
        """Make the settings of a protocol.

        Raises
        ------
        ArgumentError
            For an option that is not this protocol's, or not what it should be.
        """
        if name is ProtocolName.PIXELS:
            self._refuse(name, "max_dist", "thresholds", "no_thin", "nms", "label_maps", "category")
            if self.classes is not None:
                return self._classes()
            from segbench.protocols.annotators import as_annotator_rule
            from segbench.protocols.pixels.settings import Pixels

            void = tuple(numbers(self.void, "--void")) if self.void else ()
            rule = None if self.annotators is None else as_annotator_rule(self.annotators)
            return Pixels(positive=self.positive, void=void, invert=self.invert, bins=self.bins, annotators=rule)
        self._refuse(name, "classes")
        if name is ProtocolName.REGIONS:
            foreign = (
                "positive",
                "invert",
                "bins",
                "max_dist",
                "no_thin",
                "nms",
                "label_maps",
                "category",
                "annotators",
            )
            self._refuse(name, *foreign)
            from segbench.protocols.regions.settings import Regions

            return Regions(thresholds=_thresholds(self.thresholds), void=_labels(self.void))
        self._refuse(name, "void", "bins", "annotators")
        from segbench.protocols.boundaries.settings import Boundaries

        return Boundaries(
            max_dist=0.0075 if self.max_dist is None else self.max_dist,
            thresholds=_thresholds(self.thresholds),
            thin=not self.no_thin,
            nms=_suppression(self.nms),
            positive=self.positive,
            label_maps=self.label_maps,
            invert=self.invert,
            category=self.category,
        )

    def _classes(self) -> Protocol:
        if self.positive is not None:
            raise ArgumentError("--positive has no meaning with --classes, where each class is positive in turn")
        if self.annotators is not None:
            raise ArgumentError("--annotators has no meaning with --classes, which takes one label map an image")
        from segbench.cli.classes import classes_of
        from segbench.protocols.pixels.classes import Classes

        labels, names = classes_of(self.classes or "")
        void = (255,) if self.void is None else () if self.void == "none" else _labels(self.void)
        return Classes(labels=labels, names=names, void=void, invert=self.invert, bins=self.bins)

    def _refuse(self, name: ProtocolName, *foreign: str) -> None:
        given = [f"--{option.replace('_', '-')}" for option in foreign if getattr(self, option) not in (None, False)]
        if given:
            raise ArgumentError(f"{', '.join(given)} has no meaning for the {name} protocol; see --protocol")


def numbers(text: str, option: str) -> list[float]:
    """Read a list of numbers separated by commas."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise ArgumentError(f"{option} {text!r} is no list of numbers; write them with commas, as in 1,2.5") from None


def _thresholds(text: str | None) -> int | tuple[float, ...]:
    if text is None:
        return 99
    # A number of them, or a list; -1 is a slip for the former, and -1.0 a list of one.
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else tuple(numbers(text, "--thresholds"))


def _labels(text: str | None) -> tuple[int, ...]:
    from segbench.core.arguments import as_whole

    return tuple(as_whole(value, "--void", least=None) for value in (numbers(text, "--void") if text else []))


def _suppression(text: str | None) -> tuple[int, int, float] | None:
    if text is None:
        return None
    values = numbers(text, "--nms")
    if len(values) != 3:
        raise ArgumentError(f"--nms {text!r} is not radius,border,multiplier; write 1,5,1.01")
    from segbench.protocols.boundaries.suppression import as_suppression

    return as_suppression(*values)

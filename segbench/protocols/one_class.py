"""One class of a protocol of several: what its results are named by, and how the counts of classes are taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from segbench.core.protocol import Division, Part, Protocol
from segbench.inputs.class_names import fields_of_class


class OneClass:
    """Settings of the class `label`, which is measured and signed as the protocol `of` all classes says."""

    of: Any
    label: int

    def signature_fields(self) -> dict[str, str]:
        """Return the settings of all classes, and whether means over classes leave this one out."""
        in_means = self.label not in getattr(self.of, "background", ())
        return fields_of_class(self.of.settings_as_text, in_means=in_means)

    def measuring_settings(self) -> frozenset[str]:
        """Return the settings of measuring of all classes."""
        settings: frozenset[str] = self.of.measuring_settings()
        return settings

    def with_settings(self, **settings: Any) -> Self:
        """Return the protocol of this class, where all classes are measured otherwise."""
        measured_otherwise: Self = self.of.with_settings(**settings).of_class(self.label)
        return measured_otherwise


def divided_by_class(
    classes: Iterable[tuple[int, str]],
    per_image: Mapping[str, Any],
    of_class: Callable[[int], Protocol],
    counts_of: Callable[[Any, int, str], Any],
    *,
    why_not_pooled: str,
) -> Division:
    """Take counts apart by classes: labels with names, whose counts in an image `counts_of` gives."""
    counts = dict(per_image)
    parts = {}
    for label, name in classes:
        of_images = {image: counts_of(of_image, label, name) for image, of_image in counts.items()}
        parts[name] = Part(of_class(label), {"class": name, "label": str(label)}, of_images)
    return Division(parts, why_not_pooled)

"""One class of a protocol that counts several: its settings, and how counts are divided by class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, TypeVar

from segbench.core.protocol import Division, Part, Protocol
from segbench.inputs.class_names import fields_of_class
from segbench.inputs.class_regions import ClassLabel

Class = TypeVar("Class", bound=ClassLabel)


class OneClass:
    """Settings of the class `label`, which is measured and signed as the protocol `of` all classes says."""

    of: Any
    label: ClassLabel
    axes: tuple[str, ...] = ()  # a class is not taken apart again

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
    classes: Iterable[tuple[Class, str]],
    per_image: Mapping[str, Any],
    of_class: Callable[[Class], Protocol],
    counts_of: Callable[[Any, Class, str], Any],
    *,
    why_not_pooled: str,
) -> Division:
    """Divide counts by `classes`, pairs of label and name; `counts_of` takes those of a class out of an image."""
    counts_by_image = dict(per_image)
    parts = {}
    for label, name in classes:
        of_images = {image: counts_of(counts, label, name) for image, counts in counts_by_image.items()}
        parts[name] = Part(of_class(label), {"class": name, "label": str(label)}, of_images)
    return Division(parts, why_not_pooled)

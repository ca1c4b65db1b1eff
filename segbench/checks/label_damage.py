"""Label maps that were stored with loss, or resized with interpolation: what is stored says so, or the values do.

Conventions
-----------
1. A file that is compressed with loss (JPEG, also in TIFF; lossy WebP; JPEG 2000) has changed labels.
2. Such files can be saved as PNG later, and maps can be resized. Where labels are mixed, pixels between two regions get
   the numbers between theirs: labels that lie almost only in lines of at most `_LINE` pixels, between a lower and a
   higher label of the same row or column. Rims, poles and contours are such labels, too, so that at least `_FEWEST` of
   them are needed that the other side lacks, or has in areas; or as many on both sides, if both are damaged, between
   more than two labels of regions. Between two, or if the other side has no labels, `_FEWEST_ALONE` are needed.
3. Lines of mixed labels make steps: one lies beside the next. Where maps were halved, they need not, but then there are
   at least `_FEWEST_ALONE`, and as many as other labels.
4. Mixed labels lie between regions. Where every pixel has a random label, most labels lie in lines, but there are none.

Two classes, and classes whose numbers have no free ones between them, show nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from segbench.checks.findings import About, Finding, Place, finding
from segbench.checks.seen import Seen, rule
from segbench.core.messages import Message
from segbench.core.sample import SIDES, Side
from segbench.inputs.label_lines import LabelLines
from segbench.inputs.label_rules import listed
from segbench.inputs.mask_pairs import LossyNumbersError
from segbench.inputs.summaries import UncountedError
from segbench.loaders.reading import how_to_save_labels

_THIN = 0.4
"""Share of a label's pixels in lines between others: below .05 in regions, above .9 where maps were interpolated, about
.5 in the noise of JPEG of high quality."""
_STEPS = 0.1
"""Share of the pixels of such labels that have another one beside them, on the way from the lower label to the higher:
above .18 in damaged maps, below .02 where contours are classes."""
_REGIONS = 0.16
"""Share of the pixels that have a pixel of their own label on both sides, in their row or column: above .21 in damaged
maps, below .12 where each pixel has one of four or more random labels. Of three, but one can lie in lines."""
_AREA = 0.1
"""Share up to which a label is one of regions."""
_FEWEST, _FEWEST_ALONE, _REGIONS_OF_MASKS = 2, 3, 2
PLURALS: Mapping[Side, str] = {"ground truth": "ground truth", "prediction": "predictions"}
_OF_DAMAGE = ("outside-classes", "never-predicted")
"""Findings that damage brings about; their advice would make classes of noise."""
_FEWEST_PIXELS = 10
"""Pixels of a label, over all images inspected, below which its shape says nothing."""


@dataclass(frozen=True)
class SideLines:
    """The labels of one side over all images inspected, as in `LabelLines`."""

    pixels: Counter[float]
    in_lines: Counter[float]
    in_steps: Counter[float]
    in_regions: Counter[float]

    @classmethod
    def of(cls, lines: Sequence[LabelLines]) -> SideLines:
        """Add up those of images."""
        names = [field.name for field in fields(cls)]
        added_up = cls(*(Counter() for _ in names))
        for image in lines:
            labels = image.labels.tolist()
            for name in names:
                getattr(added_up, name).update(dict(zip(labels, getattr(image, name).tolist(), strict=True)))
        return added_up

    def share(self, label: float) -> float:
        """Return the share of a label's pixels that lie in lines."""
        return self.in_lines[label] / self.pixels[label]

    @property
    def known(self) -> list[float]:
        """The labels with enough pixels to judge them, rising."""
        return sorted(label for label, pixels in self.pixels.items() if pixels >= _FEWEST_PIXELS)

    @property
    def thin(self) -> list[float]:
        """Those of them that lie mostly in lines."""
        return [label for label in self.known if self.share(label) >= _THIN]

    def look_mixed(self, labels: Sequence[float]) -> bool:
        """Return whether lines lie between regions, and make steps or are as many as other labels: contours do not."""
        if self.in_regions.total() < _REGIONS * self.pixels.total():
            return False
        steps = sum(self.in_steps[label] for label in labels) >= _STEPS * sum(self.pixels[label] for label in labels)
        return steps or len(labels) >= max(_FEWEST_ALONE, len(self.known) - len(labels))


def mixed_labels(side: SideLines, other: SideLines | None) -> list[float]:
    """Return the labels of a side that are those of mixed ones; empty where they may be anything else.

    There is no other side where that holds no labels.
    """
    labels = thin = side.thin
    if other is None:
        enough = len(thin) >= _FEWEST_ALONE
    else:
        lacking = [label for label in thin if label not in other.pixels]
        in_areas = [label for label in thin if label in other.pixels and other.share(label) <= _AREA]
        # Predictions of noise have lines of many classes, and the ground truth nearly all of these.
        enough = 4 * len(lacking) >= len(in_areas) and len(lacking) + len(in_areas) >= _FEWEST
        labels = sorted([*lacking, *in_areas]) if enough else thin
        # An outer and an inner line between background and body look like those of masks resized on both sides.
        masks = len(side.known) - len(thin) <= _REGIONS_OF_MASKS
        enough = enough or min(len(thin), len(other.thin)) >= (_FEWEST_ALONE if masks else _FEWEST)
    return labels if enough and side.look_mixed(labels) else []


def _refused_for_loss(seen: Seen) -> set[About]:
    """Return the sides of which images are refused because they were stored with loss."""
    return {failure.side for failure in _uncounted(seen) if isinstance(failure.error, LossyNumbersError)}


@rule("lossy-labels", of_all=True)
def stored_with_loss(seen: Seen) -> list[Finding]:
    """Find files of labels that were stored with loss, by all headers; numbers of objects cannot be counted so."""
    objects, refused = seen.protocol.reads.same_labels == 1, _refused_for_loss(seen)
    findings: list[Finding] = []
    for side, files in seen.surveyed.lossy.items():
        if side in refused:
            continue
        kinds = sorted({file.compression for file in files.values()})
        message = Message(
            "lossy-labels",
            "{count:many file} of {numbers} {count:verb are} stored with loss ({compressions}), which changes values, "
            "mostly beside borders",
            count=len(files),
            numbers="numbers of objects" if objects else "labels",
            compressions=kinds,
        )
        images = [file.image for file in files.values() if objects]
        places = (
            Place(name, Message("detail", "{compression}", compression=file.compression))
            for name, file in files.items()
        )
        findings += finding(message, how_to_save_labels(kinds[0]), places, side=side, images=images)
    return findings


def _uncounted(seen: Seen) -> list[UncountedError]:
    """Return why images that can be read cannot be counted."""
    return [summary.failure for summary in seen.summaries if isinstance(summary.failure, UncountedError)]


@rule("mixed-labels")
def mixed_labels_of_set(seen: Seen) -> list[Finding]:
    """Find label maps whose labels were mixed; soft maps read as such are another finding."""
    if any(region.soft for region in seen.regions):
        return []
    inspected = [summary.inputs for summary in seen.summaries] + [failure.inputs for failure in _uncounted(seen)]
    images = [(image.files, image.lines) for image in inspected]
    explained = {finding.side for finding in stored_with_loss(seen)} | _refused_for_loss(seen)
    sides = {side: SideLines.of([lines[side] for _, lines in images if side in lines]) for side in SIDES}
    sides = {side: lines for side, lines in sides.items() if lines.pixels}
    findings: list[Finding] = []
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        labels = mixed_labels(sides[side], sides.get(other)) if side in sides and side not in explained else []
        if not labels:
            continue
        pixels = sides[side].pixels
        share = sum(pixels[label] for label in labels) / pixels.total()
        message = Message(
            "mixed-labels",
            "{count:many label} of the {maps} ({listed}) lie mostly in lines between lower and higher ones, on "
            "{share:.1%} of the pixels, as where label maps were stored with loss (JPEG) or resized with interpolation",
            count=len(labels),
            maps=PLURALS[side],
            listed=listed(labels),
            labels=labels,
            share=share,
        )
        fix = "write label maps as PNG where they are made, and resize them by nearest neighbour; converted files keep "
        fix += "the damage"
        mixed = [files[side] for files, lines in images if side in lines and np.isin(labels, lines[side].labels).any()]
        findings += finding(message, fix, map(Place, mixed), side=side)
    return findings


def without_advice_on_damage(findings: Sequence[Finding], seen: Seen) -> list[Finding]:
    """Leave out advice on labels that only damage made; what stops images gets the remedy of the damage."""
    damage = [*stored_with_loss(seen), *mixed_labels_of_set(seen)]
    remedies = {finding.side: finding.fix for finding in damage}
    advised = [finding for finding in findings if finding.side not in remedies or finding.kind not in _OF_DAMAGE]
    return [
        replace(finding, fix=remedies[finding.side])
        if finding.kind == "not-countable" and finding.side in remedies
        else finding
        for finding in advised
    ]

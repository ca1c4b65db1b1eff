"""Defects of MVTec LOCO: masks that each are one defect, found once so many of their pixels are that it is saturated.

A defect with saturation s is found to min(pixels / s, 1). Of its pixels only the s with the highest scores matter, so
it is counted as a component of these s pixels, and counts add up as those of components do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from segbench.core.arguments import as_path
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.sample import Sample
from segbench.inputs.label_rules import LabelRule, Positive, refuse_grey_and_void, refuse_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray

NONZERO = ">0"
"""All values but 0, as VisA's masks need it."""
FILE = "defects_config.json"
_EXPECTED = f"expected {FILE} of MVTec LOCO, or the folder that holds one in each category"


@dataclass(frozen=True)
class DefectRule(LabelRule):
    """A rule for masks of defects; the rule for those of any values does not take scores either."""

    def labels(self, file: str, ground_truth: Array, valid: BoolArray | None = None) -> BoolArray:
        """Mark which pixels are anomalous."""
        if str(self) == NONZERO:
            refuse_scores(file, ground_truth, valid, NONZERO)
        return super().labels(file, ground_truth, valid)


def anomalous_pixels(
    file: str, ground_truth: Array, valid: BoolArray | None, positive: Positive | None, void: Sequence[float]
) -> BoolArray:
    """Mark which pixels are anomalous: by a rule, or all above 0 unless these may be grey levels or void."""
    anomalous = DefectRule.parse(NONZERO if positive is None else positive).labels(file, ground_truth, valid)
    if positive is None and ground_truth.dtype.kind != "b":
        refuse_grey_and_void(file, ground_truth, valid, void)
    return anomalous


class Saturation(NamedTuple):
    """How many pixels of a defect need to be found, or which share of them."""

    pixel_value: int
    threshold: float
    relative: bool

    def of(self, area: int) -> int:
        """Give the number of pixels, at least 1."""
        wanted = int(self.threshold * area) if self.relative else min(int(self.threshold), area)
        return max(wanted, 1)


Defects = tuple[tuple[str, tuple[Saturation, ...]], ...]
"""The saturation of each kind of defect by category, which is empty for a file."""


def as_defects(found: Any) -> Defects:
    """Give defects as they were read, from lists too."""
    return tuple((category, tuple(Saturation(*one) for one in rules)) for category, rules in found)


def read_defects(place: Any) -> Defects:
    """Read the file of a category, or those of all categories in a folder."""
    path = Path(as_path(place, Setting("defects", None)))
    files = {file.parent.name: file for file in sorted(path.glob(f"*/{FILE}"))} if path.is_dir() else {"": path}
    if path.is_dir() and (path / FILE).is_file():
        files = {"": path / FILE}
    if not files:
        raise ArgumentError(
            Message(
                "no-defects",
                "{setting} holds no {file}; {expected}",
                setting=Setting("defects", str(path)),
                file=FILE,
                expected=_EXPECTED,
            )
        )
    return tuple((category, _read(file)) for category, file in files.items())


def _read(file: Path) -> tuple[Saturation, ...]:
    try:
        rows = json.loads(file.read_text("utf-8-sig"))
        found = tuple(
            Saturation(int(row["pixel_value"]), float(row["saturation_threshold"]), bool(row["relative_saturation"]))
            for row in rows
        )
    except OSError as error:
        raise _unreadable(file, str(error.strerror)) from error
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(file, f"{error!r:.80}") from error
    if any(one.threshold <= 0 or (one.relative and one.threshold > 1) for one in found):
        raise ArgumentError(
            Message(
                "out-of-range",
                "{file} holds a saturation out of range; {expected}",
                file=str(file),
                expected=_EXPECTED,
            )
        )
    return tuple(sorted(found))


def _unreadable(file: Path, reason: str) -> ArgumentError:
    """Return the error of a file of defects that cannot be read."""
    return ArgumentError(
        Message(
            "unreadable",
            "{file} cannot be read ({reason}); {expected}",
            file=str(file),
            reason=reason,
            expected=_EXPECTED,
        )
    )


class Found(NamedTuple):
    """The pixels of a defect that count, of highest score, and how many these are."""

    places: NDArray[np.intp]
    size: int


def defects_of(sample: Sample, scores: Array, left_out: BoolArray | None, known: Defects) -> list[Found]:
    """Give the defects of an image, one of each ground-truth file that has a pixel that counts."""
    import numpy as np

    tables: Mapping[str, tuple[Saturation, ...]] = dict(known)
    rules = tables.get(sample.name.partition("/")[0], tables.get(""))
    found = []
    for file, truth in zip(sample.truth_files, sample.ground_truths, strict=True):
        values = np.unique(truth[truth > 0])
        rule = next((one for one in rules or () if [one.pixel_value] == values.tolist()), None)
        if values.size and rule is None:
            raise DataError(
                file,
                Message(
                    "unknown-defect",
                    "holds {values}, expected the value of one defect in {config}",
                    values=[f"{value:g}" for value in values.tolist()[:4]],
                    config=FILE,
                ),
                Message("fix", "give the file of the category: {setting}", setting=Setting("defects", None)),
            )
        counted = truth > 0 if left_out is None else (truth > 0) & ~left_out
        places = np.flatnonzero(counted)
        if rule is not None and places.size:
            size = rule.of(places.size)
            highest = np.argsort(-scores.reshape(-1)[places].astype(np.float64), kind="stable")[:size]
            found.append(Found(places[highest], size))
    return found

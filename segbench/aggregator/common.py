"""Results of several methods restricted to the images that all of them have; nothing is counted again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from segbench.aggregator.codec import EncodedCounts
from segbench.aggregator.part_means import MeanOverParts
from segbench.aggregator.records import DataDigest, resigned
from segbench.aggregator.result import Result, joined
from segbench.core.counts import Counts
from segbench.core.errors import DataError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, part_of
from segbench.core.names import first_names
from segbench.core.protocol import Protocol

_LISTED = 5


def on_common_images(results: Sequence[Result]) -> tuple[list[Result], tuple[Note, ...]]:
    """Return results on the images that all of them have, and what to say of those that are left out."""
    names, notes = common_images({result.method: result.counts for result in results}, results[0].rules)
    return [restricted(result, names) for result in results], notes


def common_images(
    images: Mapping[str, Collection[str]], protocol: Protocol | None = None
) -> tuple[list[str], tuple[Note, ...]]:
    """Return the images that all methods have, sorted, and what to say of others; `protocol` says what stays whole."""
    of_methods = {method: set(names) for method, names in images.items()}
    every = sorted(set().union(*of_methods.values()))
    lacking = {method: [name for name in every if name not in names] for method, names in of_methods.items()}
    incomplete = set(_wholes({name for names in lacking.values() for name in names}, protocol))
    common = [name for name, whole in zip(every, _wholes(every, protocol), strict=True) if whole not in incomplete]
    if not common:
        had = "; ".join(
            f"{method} has {first_names(sorted(names), _LISTED) or 'none'}" for method, names in of_methods.items()
        )
        hint = "name predictions as the ground truth is named, or leave out a method"
        problem = Message("no-common-image", "there is no image that all methods have: {had}", had=had)
        raise DataError(first_names(list(images), _LISTED), problem, hint)
    if len(common) == len(every):
        return common, ()
    without = grouped((first_names(names, _LISTED), method) for method, names in lacking.items() if names)
    listed = "; ".join(f"{', '.join(methods)}: {names}" for names, methods in without.items())
    message = Message(
        "common-images",
        "compared on the {number} that all methods have; {left_out} left out, which are missing in {missing}",
        number=part_of(len(common), len(every)),
        left_out=len(every) - len(common),
        missing=listed,
    )
    return common, (Note(message),)


def _wholes(names: Iterable[str], protocol: Protocol | None) -> list[str]:
    """Name what each image is measured with: its sequence, or itself."""
    return [protocol.measured_with(name) if protocol else name for name in names]


def restricted(result: Result, names: Sequence[str]) -> Result:
    """Return a result on some of its images, signed as a run on these is."""
    if len(names) == len(result.counts):
        return result
    if result.runs:
        runs = {name: restricted(run, _among(run.counts, names)) for name, run in result.runs.items()}
        with_images = {name: run for name, run in runs.items() if run.counts}  # of folds some may have none
        return replace(joined(with_images), method=result.method, place=result.place)
    rules = result.rules
    if isinstance(rules, MeanOverParts):
        parts = {name: restricted(part, _among(part.counts, names)) for name, part in rules.parts.items()}
        rules = replace(rules, parts=parts)
    truths = {name: result.truths[name] for name in names if name in result.truths}
    data = DataDigest(truths.items())
    return replace(
        result,
        rules=rules,
        signature=resigned(result.signature, rules.name, result.settings, len(names), data),
        counts=_of_images(result.counts, names),
        failed={},
        digests={name: result.digests[name] for name in names if name in result.digests},
        truths=truths,
        image_notes={name: result.image_notes[name] for name in names if name in result.image_notes},
        kept=None,
    )


def _among(images: Iterable[str], names: Collection[str]) -> list[str]:
    """Return those of some images that are among others."""
    kept = frozenset(names)
    return [image for image in images if image in kept]


def _of_images(counts: Mapping[str, Counts], names: Sequence[str]) -> Mapping[str, Counts]:
    """Return the counts of some images, which stay packed where they are."""
    return counts.of_images(names) if isinstance(counts, EncodedCounts) else {name: counts[name] for name in names}

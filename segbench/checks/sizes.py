"""Sizes, types and orientations, by the headers of all files; images that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from segbench.checks.findings import About, Finding, Place, failing, finding, found_in
from segbench.checks.seen import Seen, rule
from segbench.checks.survey import Misfit, kind_of
from segbench.core.grouping import grouped
from segbench.core.messages import Either, Message, Setting, joined
from segbench.inputs.stacks import ClassMapsError, ClassStackError
from segbench.inputs.summaries import UncountedError
from segbench.loaders.instance_sources import InstanceSource
from segbench.loaders.listing import SampleFiles
from segbench.loaders.sizes import HINT, SizeError, how_to_fix
from segbench.loaders.volume_pairs import GridError
from segbench.protocols.registry import verb_of

RENAME = Message(
    "fix",
    "compare images with their predictions, then rename the files, or list which belong together: {pairs}",
    pairs=Setting("pairs"),
)
"""What to do where predictions seem to be of other images."""
_SAID_OTHERWISE = GridError | SizeError | ClassMapsError | ClassStackError | UncountedError
"""Failures with a finding of their own."""


@rule(
    "exchanged-images",
    "size-transposed",
    "size-ucm2",
    "size-near",
    "size-factor",
    "size-differs",
    of_all=True,
)
def other_sizes(seen: Seen) -> list[Finding]:
    """Group files of another size than the ground truth by what it looks like.

    Predictions that seem to be of other images are one group, even if a repair makes them fit.
    """
    exchanged = {misfit.file: misfit for misfit in seen.surveyed.sizes.exchanged()}
    others = [misfit for misfit in seen.misfits if misfit.file not in exchanged]
    by_kind = grouped((kind_of(misfit.shape, misfit.expected), misfit) for misfit in others)
    of_size = [finding for kind, misfits in by_kind.items() for finding in _size_finding(kind, misfits, seen)]
    message = Message(
        "exchanged-images",
        "{count} predictions of {total} do not have the size of their ground truth but that of another one: names seem "
        "to pair different images",
        count=len(exchanged),
        total=seen.total,
    )
    lost = [misfit.image for misfit in seen.misfits if misfit.file in exchanged]
    places = [Place(file, misfit.sizes) for file, misfit in exchanged.items()]
    return [*finding(message, RENAME, places, side="names", images=lost), *of_size]


def _size_finding(kind: str, misfits: Sequence[Misfit], seen: Seen) -> list[Finding]:
    """Return the finding of files whose sizes look alike."""
    first = next((misfit for misfit in misfits if misfit.role == "prediction"), None)
    soft, cropped = seen.are_soft, seen.repairs.crop
    fix = how_to_fix(first.shape, first.expected, soft=soft, cropped=cropped) if first else HINT
    side: About = "prediction" if first else "ground truth"
    message = _size_message(kind, misfits)
    message += Message(
        "images",
        " ({images} of {total:many image})",
        images=len({misfit.image for misfit in misfits}),
        total=seen.total,
    )
    return found_in(misfits, message, fix, lambda misfit: misfit.sizes, side=side, stops=True)


def _size_message(kind: str, misfits: Sequence[Misfit]) -> Message:
    """Say of files what their sizes look like."""
    roles = Counter(misfit.role for misfit in misfits)
    nouns = {
        "ground truth": Message("files", "{count:many ground truth}", count=roles["ground truth"]),
        "field": Message("files", "{count:many mask}", count=roles["field"]),
        "prediction": Message("files", "{count:many prediction}", count=roles["prediction"]),
    }
    values = {"files": joined([nouns[role] for role in roles], " and "), "count": len(misfits)}
    if kind == "size-transposed":
        return Message("size-transposed", "{files} {count:verb have} rows and columns swapped", **values)
    if kind == "size-near":
        return Message("size-near", "{files} {count:verb are} a little larger or smaller", **values)
    if kind == "size-factor":
        return Message("size-factor", "{files} {count:verb are} larger or smaller by a whole factor", **values)
    if kind == "size-ucm2":
        return Message("size-ucm2", "{files} {count:verb have} the size of a ucm2, 2 h + 1 and 2 w + 1", **values)
    return Message("size-differs", "{files} {count:verb have} a different size", **values)


@rule("orientation", of_all=True)
def orientations(seen: Seen) -> list[Finding]:
    """Find files that viewers turn another way than the ground truth, while pixels are counted as stored."""
    message = Message(
        "orientation",
        "EXIF orientation differs within an image ({count:many file}); it is not applied",
        count=len(seen.surveyed.turned),
    )
    fix = "where stored pixels do not match, apply it: PIL.ImageOps.exif_transpose, mogrify -auto-orient"
    return finding(message, fix, seen.surveyed.turned)


@rule("unreadable")
def unreadable(seen: Seen) -> list[Finding]:
    """List images that cannot be read."""
    others = {image: error for image, error in seen.failures.items() if not isinstance(error, _SAID_OTHERWISE)}
    message = Message(
        "unreadable",
        "{count:many image} of {total} cannot be read",
        count=len(others),
        total=seen.total,
        errors=sorted({error.kind for error in others.values()}),
    )
    errors = failing(message, others, "write the files again")
    if verb_of(type(seen.protocol)) == "objects" or not all(map(_lists_instances, seen.pairing.files)):
        return errors
    objects = Either("Objects()", "segbench check objects GT PRED")
    as_instances = Message("fix", "both sides are files of instances: {objects}", objects=objects)
    return [replace(error, fix=joined((as_instances, error.fix), "; else ")) for error in errors]


def _lists_instances(files: SampleFiles) -> bool:
    """Return whether both sides of an image are files that list instances."""
    return all(isinstance(source, InstanceSource) for source in (files.prediction, *files.ground_truths))

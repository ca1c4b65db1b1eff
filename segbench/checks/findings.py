"""Findings as data: what does not match, where, and what fixes it; printed, the lines of ``segbench check``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Literal, NamedTuple, TypeAlias

from segbench.core.errors import DataError, few
from segbench.core.grouping import grouped
from segbench.core.messages import NOTHING, Either, Message, Note, Setting, Style, as_message, described, joined
from segbench.core.names import MethodRun
from segbench.core.numbers import many, of_all
from segbench.inputs.label_rules import ManyValuesError, listed
from segbench.inputs.summaries import UncountedError

Severity: TypeAlias = Literal["error", "warning"]
About: TypeAlias = Literal["names", "ground truth", "prediction"]


class Place(NamedTuple):
    """A file, or the name of an image, and what was found there, which may be nothing."""

    file: str
    detail: Message = NOTHING

    @property
    def message(self) -> Message:
        """Both as one message."""
        return joined((self.file, self.detail), ": ")

    def __str__(self) -> str:
        """Print the place in one line."""
        return self.message.written()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that does not match.

    Parameters
    ----------
    message : Message
        What was found; its kind says what it is, for scripts: ``"inverted"``; the list is in docs/findings.md.
    severity : {"error", "warning"}
        Whether images cannot be counted like this, or metrics may not mean what they seem to.
    side : {"names", "ground truth", "prediction"}
        Where the problem is.
    fix : Message
        What fixes it, with the settings that do.
    places : tuple of Place
        Where: all that are known, in order.
    images : tuple of str
        The images that cannot be counted because of it; empty for a warning.
    whole : bool
        Whether it stops the whole set, however few files show it.
    """

    message: Message
    severity: Severity
    side: About
    fix: Message
    places: tuple[Place, ...] = ()
    images: tuple[str, ...] = ()
    whole: bool = False

    @property
    def kind(self) -> str:
        """What it is, for scripts."""
        return self.message.kind

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that `fix` names, with their values."""
        return self.fix.settings

    @property
    def alternatives(self) -> tuple[tuple[Setting, ...], ...]:
        """The same settings, those together that fix it together; several where the files do not decide."""
        return _alternatives(self.fix)

    def lines(self, style: Style = "python") -> tuple[str, list[str], str]:
        """Write the message, the first places, and what fixes it, as they are printed; "" where nobody says what."""
        indent = " " * 13
        places = few([f"{indent}{place.message.written(style)}" for place in self.places], indent)
        message = f"  {self.severity:<7}  {self.kind}: {self.message.written(style)}"
        fix = self.fix.written(style)
        return message, places, f"{indent}-> {fix}" if fix else ""

    def __str__(self) -> str:
        """Print the finding as ``segbench check`` does, with arguments of Python."""
        message, places, fix = self.lines()
        return "\n".join([message, *places, *filter(None, [fix])])

    def described(self, style: Style = "python") -> dict[str, Any]:
        """Return it as the JSON of ``segbench check`` has it; docs/check.md describes it."""
        return self.message.described(style) | {
            "severity": self.severity,
            "side": self.side,
            "fix": self.fix.written(style),
            "settings": described(self.settings, style),
            "alternatives": described(self.alternatives, style),
            "count": len(self.places),
            "files": [
                {
                    "file": place.file,
                    "kind": place.detail.kind if place.detail else None,
                    "detail": place.detail.written(style),
                    "values": place.detail.described(style)["values"],
                }
                for place in self.places
            ],
            "images": list(self.images),
        }


def _alternatives(advice: Message) -> tuple[tuple[Setting, ...], ...]:
    """Return the settings of advice, apart where it gives alternatives, also within what is done together."""
    values = [value for name, value in advice.named if name != "given"]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    alternatives_by_part: list[tuple[tuple[Setting, ...], ...]] = []
    for part in parts:
        if isinstance(part, Setting):
            alternatives_by_part.append(((part,),) if part.value is not None else ())
        elif isinstance(part, Message):
            alternatives_by_part.append(_alternatives(part))
        elif isinstance(part, Either):
            settings = Message("fix", "{words}", words=part).settings
            alternatives_by_part.append((settings,) if settings else ())
    alternatives_by_part = [alternatives for alternatives in alternatives_by_part if alternatives]
    if not alternatives_by_part:
        return ()
    if advice.kind == "alternatives":
        return tuple(chain(*alternatives_by_part))
    return tuple(tuple(dict.fromkeys(chain(*settings))) for settings in product(*alternatives_by_part))


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """What `check` found for one method.

    Parameters
    ----------
    method : str
        Name of the method.
    run : str
        Which of its runs (trainings or folds); empty where it has none.
    protocol : str
        Name of the protocol.
    images : int
        How many images have a prediction and a ground truth.
    inspected : int
        How many of them were decoded; of the others names and headers were read.
    refused : bool
        Whether a run counts nothing: names do not pair, or not one of the images inspected can be counted.
    findings : tuple of Finding
        Errors first.
    notes : tuple of Note
        Files that were left out.

    Examples
    --------
    >>> import segbench
    >>> demo = "datasets/demo/objects"
    >>> report = segbench.check(f"{demo}/ground_truth", f"{demo}/predictions/soft_otsu")
    >>> report.images, report.findings, report.refused
    (9, (), False)
    >>> print(report)
    soft_otsu: 9 images, 9 inspected
      nothing found: looked at names, sizes, types and copies of all files, and at the values of 9 of 9 images
    """

    method: str
    run: str = ""
    protocol: str
    images: int
    inspected: int
    refused: bool = False
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def label(self) -> str:
        """The method, with its run if it has any: ours@1."""
        return str(MethodRun(self.method, self.run))

    @property
    def heading(self) -> str:
        """The method, and how many images were looked at."""
        return f"{self.label}: {many(self.images, 'image')}, {self.inspected} inspected"

    @property
    def nothing(self) -> str:
        """What was looked at, where there are no findings."""
        values = of_all(self.inspected, self.images, "image")
        return f"  nothing found: looked at names, sizes, types and copies of all files, and at the values of {values}"

    def __str__(self) -> str:
        """Print the report as ``segbench check`` does."""
        return "\n".join([*map(str, self.notes), self.heading, *map(str, self.findings or [self.nothing])])

    __repr__ = __str__

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings because of which images cannot be counted."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def finding(
    message: Message,
    fix: Message | Setting | str,
    places: Iterable[Place],
    *,
    side: About = "prediction",
    images: Iterable[str] = (),
    whole: bool = False,
) -> list[Finding]:
    """Return a finding if it has places or stops the `whole` set; it is an error if it stops that or images."""
    places, images = tuple(places), tuple(dict.fromkeys(images))
    if not places and not whole:
        return []
    return [
        Finding(
            message=message,
            severity="error" if images or whole else "warning",
            side=side,
            fix=as_message(fix),
            places=places,
            images=images,
            whole=whole,
        )
    ]


def found_in(
    files: Iterable[Any],
    message: Message,
    fix: Message | Setting | str,
    detail: Callable[[Any], Message] = lambda _: NOTHING,
    *,
    side: About = "prediction",
    stops: bool = False,
    whole: bool = False,
) -> list[Finding]:
    """Return a finding with details of the files that show it, which have `image` and `file`, if there are any."""
    summaries = list(files)
    places = [Place(summary.file, detail(summary)) for summary in summaries]
    images = [summary.image for summary in summaries if stops]
    return finding(message, fix, places, side=side, images=images, whole=whole)


def failing(
    message: Message, failures: Mapping[str, DataError], fix: Message | str = "", side: About = "prediction"
) -> list[Finding]:
    """Return what stops from images with what is wrong with each, which says how to fix it, or else `fix`."""
    hints = list(dict.fromkeys(error.hint for error in failures.values() if error.hint))
    places = (Place(error.path, error.what) for error in failures.values())
    return finding(message, joined(hints[:3]) or fix, places, side=side, images=failures)


def refused_set(error: DataError) -> list[Finding]:
    """Return why a set as a whole is refused."""
    side: About = "ground truth" if error.path == "ground truth" else "prediction"
    message = Message("not-countable", "{path}: {reason}", path=error.path, reason=error.what, error=error.kind)
    return finding(message, error.hint, [], side=side, whole=True)


def uncounted_findings(failures: Mapping[str, DataError], total: int, counted: Collection[float] = ()) -> list[Finding]:
    """List what cannot be counted, with advice that fits all images inspected, ground truth and predictions apart.

    Ground truth of other images holds the values `counted`.
    """
    uncounted = {image: error for image, error in failures.items() if isinstance(error, UncountedError)}
    findings: list[Finding] = []
    for side, images in grouped((error.side, image) for image, error in uncounted.items()).items():
        errors: dict[str, DataError] = {image: uncounted[image].error for image in images}
        known = counted if side == "ground truth" else ()
        of_many_values = {image: error for image, error in errors.items() if isinstance(error, ManyValuesError)}
        values = sorted({value for error in of_many_values.values() for value in error.stored}.union(known))
        other_side = sorted({value for error in of_many_values.values() for value in error.other_side})
        errors |= {image: error.of_set(values, other_side) for image, error in of_many_values.items() if error.stored}
        message = Message(
            "not-countable",
            "{count:many image} of {total} inspected cannot be counted with these settings",
            count=len(errors),
            total=total,
            errors=sorted({error.kind for error in errors.values()}),
        )
        findings += failing(message, errors, side=side)
    return findings


def holding(values: Sequence[float]) -> Message:
    """Say of a file which values it holds."""
    return Message("detail", "{listed}", listed=listed(values), values=values)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings: errors first, otherwise as found."""
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))

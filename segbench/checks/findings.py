"""A finding is data: what does not match, where, and what fixes it; printed, it is the lines of ``segbench check``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from segbench.core.errors import DataError, few
from segbench.core.messages import Message, Setting
from segbench.core.names import MethodRun
from segbench.core.notes import Note
from segbench.core.numbers import many, of_all, verb

Severity: TypeAlias = Literal["error", "warning"]
About: TypeAlias = Literal["names", "ground truth", "prediction"]


class Place(NamedTuple):
    """A file, or the name of an image, and what was found there; the text may be empty."""

    file: str
    detail: str = ""

    def __str__(self) -> str:
        """Print the place in one line."""
        return f"{self.file}: {self.detail}" if self.detail else self.file


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that does not match.

    Parameters
    ----------
    key : str
        What it is, for scripts: ``"inverted"``; the list is in docs/check.md.
    severity : {"error", "warning"}
        Whether images cannot be counted like this, or metrics may not mean what they seem to.
    about : {"names", "ground truth", "prediction"}
        Where the problem is.
    message : str
        What was found, with numbers.
    fix : str
        The argument, or at the command line the option, that fixes it; or what else does.
    places : tuple of Place
        Where: all that are known, in order.
    images : tuple of str
        The images that cannot be counted because of it; empty for a warning.
    whole : bool
        Whether it stops the whole set, however few files show it.
    """

    key: str
    severity: Severity
    about: About
    message: str
    fix: str
    places: tuple[Place, ...] = ()
    images: tuple[str, ...] = ()
    whole: bool = False

    @property
    def lines(self) -> tuple[str, list[str], str]:
        """The message, the first places, and what fixes it, as they are printed."""
        indent = " " * 13
        places = few([f"{indent}{place}" for place in self.places], indent)
        return f"  {self.severity:<7}  {self.key}: {self.message}", places, f"             -> {self.fix}"

    def __str__(self) -> str:
        """Print the finding as ``segbench check`` does."""
        message, places, fix = self.lines
        return "\n".join([message, *places, fix])


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
    key: str,
    message: Message | str,
    fix: Message | Setting | str,
    places: Iterable[Place],
    *,
    about: About = "prediction",
    images: Iterable[str] = (),
    whole: bool = False,
) -> list[Finding]:
    """Give a finding if it has places or stops the `whole` set; it is an error if it stops that or images."""
    at, stopped = tuple(places), tuple(dict.fromkeys(images))
    how: Severity = "error" if stopped or whole else "warning"
    made = Finding(
        key=key, severity=how, about=about, message=str(message), fix=str(fix), places=at, images=stopped, whole=whole
    )
    return [made] if at or whole else []


def found_in(
    files: Iterable[Any],
    key: str,
    message: str,
    fix: str,
    detail: Callable[[Any], str] = lambda _: "",
    *,
    about: About = "prediction",
    stops: bool = False,
    whole: bool = False,
) -> list[Finding]:
    """Give a finding with details of the files that show it, which have `image` and `file`, if there are any."""
    seen = list(files)
    places = [Place(each.file, detail(each)) for each in seen]
    images = [each.image for each in seen if stops]
    return finding(key, message, fix, places, about=about, images=images, whole=whole)


def failing(
    key: str, what: str, failures: Mapping[str, DataError], fix: str = "", about: About = "prediction"
) -> list[Finding]:
    """Give what stops from images with what is wrong with each, which says how to fix it, or else `fix`."""
    hints = dict.fromkeys(str(error.hint) for error in failures.values() if error.hint)
    places = (Place(error.path, str(error.what)) for error in failures.values())
    return finding(key, what, "; ".join(list(hints)[:3]) or fix, places, about=about, images=failures)


def inspected(found: Sized, total: int, plural: str, what: str = "prediction") -> str:
    """Say how many of those inspected were found, with the verb that follows: 2 predictions of 9 inspected are."""
    return f"{many(len(found), what)} of {total} inspected {verb(len(found), plural)}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings: errors first, otherwise as found."""
    return tuple(sorted(findings, key=lambda finding: finding.severity != "error"))

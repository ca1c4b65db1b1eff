"""All that can be verified: what ships, and what of the user's own data is given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path

from segbench.verification.bsds500 import bsds500_part
from segbench.verification.checks import Check, Part
from segbench.verification.demo import demo_part
from segbench.verification.identities import identities_part
from segbench.verification.papers import paper_parts
from segbench.verification.published import published_part


def verify(
    *,
    bsds500: str | PathLike[str] | None = None,
    curves: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Check]:
    """Derive anew what is promised: the papers' numbers, the demo's table, identities, and published results.

    Parameters
    ----------
    bsds500 : path, optional
        Where BSDS500 was unpacked: the benchmark's five-image examples are counted and compared with the official
        results, and, where all are there, gPb-owt-ucm's results on the 200 test images with the published figures.
    curves : path, optional
        Holds ``<method>_bdry_thr.txt`` and ``<method>_bdry.txt``: what the second prints must follow from the first.
    executor : concurrent.futures.Executor, optional
        The workers that must count as one process does, and that count BSDS500; by default two threads, and none.
    progress : callable, optional
        Called with the number of steps done and the number of all, part by part.

    Returns
    -------
    list of Check
        One a number; ``check.state`` says whether it is as expected.

    Raises
    ------
    DataError
        For a folder that holds nothing of its kind, a damaged file, or an image that cannot be counted.

    Examples
    --------
    >>> from segbench.verification.papers import paper_parts
    >>> checks = paper_parts()[0].derive(None, lambda done, total: None)
    >>> {check.state for check in checks}
    {'as expected'}
    """
    told = progress or _silent
    return [check for part in parts(bsds500=bsds500, curves=curves) for check in part.derive(executor, told)]


def parts(*, bsds500: str | PathLike[str] | None = None, curves: str | PathLike[str] | None = None) -> list[Part]:
    """Give what `verify` derives, part by part; folders are looked into at once, so that a wrong one is said first."""
    given = [bsds500_part(Path(bsds500))] if bsds500 is not None else []
    given += [published_part(Path(curves))] if curves is not None else []
    return [*paper_parts(), demo_part(), identities_part(), *given]


def _silent(_done: int, _total: int, /) -> None:
    """Tell nobody how far it came."""

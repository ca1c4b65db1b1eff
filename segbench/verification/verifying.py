"""All that can be verified: what ships, and the user's own data."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path

from segbench.verification.bsds500 import bsds500_part
from segbench.verification.checks import Check, VerifiedPart
from segbench.verification.drawings import drawn_parts
from segbench.verification.published import published_part
from segbench.verification.saliency import saliency_part
from segbench.verification.shipped import demo_part, paper_parts


def verify(
    *,
    bsds500: str | PathLike[str] | None = None,
    curves: str | PathLike[str] | None = None,
    saliency: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Check]:
    """Recompute published numbers: those of the papers and the README, and of the user's own data.

    Parameters
    ----------
    bsds500 : path, optional
        Where BSDS500 was unpacked: the benchmark's five-image examples are counted and compared with the official
        results, and, where all are there, gPb-owt-ucm's results on the 200 test images with the published metrics.
    curves : path, optional
        Holds ``<method>_bdry_thr.txt`` and ``<method>_bdry.txt``: what the second prints must follow from the first.
    saliency : path, optional
        Holds ``ground_truth``, ``predictions/METHOD`` and values of each image by other code, see
        `segbench.verification.saliency`: they are recomputed from the maps.
    executor : concurrent.futures.Executor, optional
        The workers that count images; by default none.
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
    >>> from segbench.verification.shipped import paper_parts
    >>> {check.state for check in paper_parts()[0].checks()}
    {'as expected'}
    """
    return [
        check
        for part in parts(bsds500=bsds500, curves=curves, saliency=saliency)
        for check in part.checks(executor, progress)
    ]


def parts(**folders: str | PathLike[str] | None) -> list[VerifiedPart]:
    """Return the parts that `verify` recomputes; an unusable folder is an error before anything is counted."""
    kinds = {"bsds500": bsds500_part, "curves": published_part, "saliency": saliency_part}
    own = [kinds[kind](Path(folder)) for kind, folder in folders.items() if folder is not None]
    return [*paper_parts(), demo_part(), *drawn_parts(), *own]

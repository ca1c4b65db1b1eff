"""BSDS500: the benchmark's own five-image examples, and the published figures of gPb-owt-ucm on the 200 test images.

The pictures and the official results are the user's, in the layout of the release or in folders of their own; what is
missing is said, and not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from segbench.aggregator.assembling import assemble
from segbench.aggregator.counting import count_all
from segbench.aggregator.records import Outcome, Run
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.protocol import Protocol
from segbench.loaders.decoded import shown
from segbench.loaders.inputs import Inputs
from segbench.loaders.pairing import SampleFiles, pair
from segbench.loaders.repairs import Repairs
from segbench.protocols.boundaries.settings import Boundaries
from segbench.protocols.regions.settings import Regions
from segbench.verification.checks import Check, Part, Progress, not_checked, timed
from segbench.verification.expectations import read_expectation
from segbench.verification.figures import figure_name
from segbench.verification.official import (
    boundary_figures,
    compare_boundaries,
    compare_regions,
    region_figures,
)
from segbench.verification.runs import whole
from segbench.verification.tables import expected

TITLE = "BSDS500"
_SOURCE = "PAMI 2011"
_TEST_SET = "gPb-owt-ucm, 200 test images"
_PROTOCOLS: Mapping[str, Callable[..., Protocol]] = {"boundaries": Boundaries, "regions": Regions}


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Images to be counted under a protocol, and what their figures are compared with.

    `missing` says why nothing is counted; `compare` is then told so, too.
    """

    protocol: Protocol
    files: tuple[SampleFiles, ...]
    compare: Callable[[Result | None, str], Iterator[Check]]
    missing: str = ""


def bsds500_part(folder: Path) -> Part:
    """Find what lies in a folder."""
    if not folder.is_dir():
        raise DataError(shown(folder), "is no folder", "give the folder in which BSDS500 was unpacked")
    examples = _place(folder, "examples", _holds_examples)
    test_set = _place(folder, "test_set", _holds_test_set)
    if examples is None and test_set is None:
        raise DataError(
            shown(folder),
            "holds nothing of BSDS500 that can be checked",
            "expected bench/data with test_1 to test_5, or BSDS500/ucm2/test beside BSDS500/data/groundTruth/test, "
            "as in the release, or the folders groundTruth, ucm2, bench_png, bench_segs and official",
        )
    runs = [*(_example_runs(examples) if examples else ()), *(_test_set_runs(test_set) if test_set else ())]
    return Part(TITLE, partial(_derive, runs), sum(len(run.files) for run in runs if not run.missing))


def _derive(runs: Sequence[_Run], executor: Executor | None, progress: Progress) -> Sequence[Check]:
    total = sum(len(run.files) for run in runs if not run.missing)
    done, checks = 0, []
    for run in runs:
        if run.missing:
            checks += list(run.compare(None, run.missing))
            continue
        checks += timed(partial(_counted_and_compared, run, executor, progress, done, total))
        done += len(run.files)
    return checks


def _counted_and_compared(
    run: _Run, executor: Executor | None, progress: Progress, before: int, total: int
) -> Iterator[Check]:
    outcomes: list[Outcome] = []
    for batch in count_all(run.protocol, Repairs(), run.files, {}, executor):
        outcomes += batch
        progress(before + len(outcomes), total)
    settings = run.protocol.signature_fields()
    result = assemble(Run(method=TITLE, protocol=run.protocol.name, settings=settings), run.protocol, outcomes)
    yield from run.compare(whole(result), "")


def _example_runs(places: Mapping[str, Path]) -> Iterator[_Run]:
    table = expected("bsds500")
    wanted = table["examples"]["images"]
    for example in table["example"]:
        folder = places["official"] / example["name"]
        files, reason = _paired(places["ground_truth"], places[example["predictions"]])
        five = tuple(one for one in files if one.name in wanted)
        missing = reason
        if not missing and len(five) < len(wanted):
            missing = f"{len(five)} of {len(wanted)} images lie in {_below(places[example['predictions']])}"
        if not folder.is_dir():
            missing = f"there is no folder {_below(folder)}"
        for kind, compare in (("boundaries", compare_boundaries), ("regions", compare_regions)):
            if kind in example:
                yield _Run(
                    protocol=_PROTOCOLS[kind](**example[kind]),
                    files=five,
                    compare=partial(compare, TITLE, f"{example['name']}: {example['predictions']}, {kind}", folder),
                    missing=missing,
                )


def _test_set_runs(places: Mapping[str, Path]) -> Iterator[_Run]:
    table = expected("bsds500")
    wanted = table["test_set"]["images"]
    files, missing = _paired(places["ground_truth"], places["ucm2"])
    if not missing and len(files) != wanted:
        missing = f"{len(files)} of {wanted} images lie in {_below(places['ucm2'])} and have ground truth"
    if not missing and not {one.name for one in files}.issuperset(table["examples"]["images"]):
        missing = f"the {wanted} images in {_below(places['ucm2'])} are not those of the test set"
    for kind, make in _PROTOCOLS.items():
        yield _Run(
            protocol=make(),
            files=files,
            compare=partial(_compare_published, kind, places.get("official")),
            missing=missing,
        )


def _compare_published(kind: str, official: Path | None, result: Result | None, missing: str) -> Iterator[Check]:
    table = expected("bsds500")
    group = f"{_TEST_SET}, {kind}"
    for key, text in table["test_set"][kind].items():
        value, allowed = read_expectation(text)
        allowed += table["examples"]["allowed"].get(key, 0)
        if result is None:
            yield not_checked(
                part=TITLE, group=group, what=figure_name(key), source=_SOURCE, missing=missing, expected=value
            )
        else:
            yield Check(
                part=TITLE,
                group=group,
                what=figure_name(key),
                expected=value,
                got=result.summary[key],
                allowed=allowed,
                source=_SOURCE,
            )
    if result is not None and official is not None:
        group = f"{_below(official)}, {kind}"
        allowed = table["test_set"]["allowed"]
        if kind == "boundaries":
            yield from boundary_figures(TITLE, group, official, result, allowed)
        else:
            yield from region_figures(TITLE, group, official, result, allowed["regions"])


def _paired(ground_truth: Path, predictions: Path) -> tuple[tuple[SampleFiles, ...], str]:
    """Give the images that both folders hold, or why there are none."""
    for folder in (ground_truth, predictions):
        if not folder.is_dir():
            return (), f"there is no folder {_below(folder)}"
    try:
        return pair(Inputs(ground_truth=str(ground_truth), prediction=str(predictions), gt_pattern="*.mat")).files, ""
    except DataError as error:
        return (), str(error)


def _place(folder: Path, what: str, holds: Callable[[Mapping[str, Path]], bool]) -> Mapping[str, Path] | None:
    """Find the first layout of this kind that a folder has anything of."""
    for layout in expected("bsds500")["layout"][what]:
        for below in layout.get("below", ["."]):
            places = {key: folder / below / place for key, place in layout.items() if key != "below"}
            if holds(places):
                return places
    return None


def _holds_examples(places: Mapping[str, Path]) -> bool:
    return any((places["official"] / example["name"]).is_dir() for example in expected("bsds500")["example"])


def _holds_test_set(places: Mapping[str, Path]) -> bool:
    return places["ground_truth"].is_dir() and places["ucm2"].is_dir()


def _below(folder: Path) -> str:
    """Name a folder by its last two parts, which tell it apart and are short."""
    return shown("/".join(folder.parts[-2:]))

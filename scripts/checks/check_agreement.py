"""Check that `check` and a run agree on random folders, and that what `check` advises gives the right number.

    python scripts/checks/check_agreement.py [--folders 2000] [--seed 0] [--images 40]

Each folder is drawn with what it means, stored with up to two mistakes (values, scales, types, sizes, names), and
checked and evaluated in this process:

1. With all images, `check` finds an error exactly if the run fails.
   So it does where all images are among the 32 looked at without `--all`, unless no metric is defined.
2. With a part of the images, what it calls an error is one: the images that it names fail, or the whole run does. What
   a run says before it begins, of three images, is found with all images, too.
3. A run without findings has the number of an independent computation, or notes that images have nothing predicted.
   Otherwise fixes are followed as data: the number comes out, in the first place by the first alternative of each
   finding.

Prints the disagreements by protocol and mistake, with an example each; exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from drawn_folders import Folder, random_folder

import segbench
from segbench import Repairs
from segbench.checks.checking import check_methods
from segbench.checks.findings import Finding, Report
from segbench.checks.seen import SAMPLE
from segbench.core.messages import Either, Message, Setting
from segbench.core.protocol import Protocol

DATA = ("gt_pattern", "pred_pattern", "allow_missing", "images", "field")
REPAIRS = ("resize", "crop", "scale")
STEPS = 4
"""How many times advice is followed, at most."""
MOST_RUNS = 24
UNDEFINED = "no metric is defined"
NOTHING_PREDICTED = "nothing-predicted"
"""A run's note on images below a threshold: masks of 0 and 1 among soft maps, of which a few may be no mistake."""
_UNGIVEN = dict.fromkeys(("pairs", "field", "images", "method"))


@dataclass(frozen=True)
class Call:
    """What is evaluated, and how."""

    where: tuple[Path, Path]
    protocol: type[Protocol]
    settings: dict[str, Any]
    data: dict[str, Any]
    repairs: dict[str, Any] = field(default_factory=dict)

    def evaluate(self) -> Run:
        """Evaluate the folders; of errors the run has the text."""
        with warnings.catch_warnings(action="ignore"):
            try:
                protocol = self.protocol(**self.settings)
                result = segbench.evaluate(*self.where, protocol, **self.data, repairs=Repairs(**self.repairs))
            except segbench.SegbenchError as error:
                return Run(True, str(error))
        if result.failed:
            return Run(True, str(next(iter(result.failed.values()))), frozenset(result.failed))
        summary = {key: value for key, value in result.summary.items() if value is not None}
        notes = frozenset(note.kind for note in result.notes)
        return Run(result.summary.empty, UNDEFINED if result.summary.empty else "", summary=summary, notes=notes)

    def check(self, sample: int | None) -> Report:
        """Check the folders."""
        protocol, repairs = self.protocol(**self.settings), Repairs(**self.repairs)
        return segbench.check(*self.where, protocol, **self.data, repairs=repairs, sample=sample)

    def with_settings(self, settings: Sequence[Setting], left_out: Sequence[str]) -> Call | None:
        """Return the call with other settings; None where it takes none of them."""
        taken, data, repairs = dict(self.settings), dict(self.data), dict(self.repairs)
        known = {setting.name for setting in fields(self.protocol)}
        for name in left_out:
            taken.pop(name, None)
        for setting in settings:
            if setting.name in DATA:
                data[setting.name] = setting.value
            elif setting.name in REPAIRS:
                repairs[setting.name] = setting.value
            elif setting.name in known:
                taken[setting.name] = setting.value
            else:
                return None
        changed = replace(self, settings=taken, data=data, repairs=repairs)
        try:
            changed.protocol(**taken), Repairs(**repairs)
        except segbench.ArgumentError:  # fixes of two findings that exclude each other
            return None
        return None if changed == self else changed


class Run(NamedTuple):
    """How a run ended."""

    fails: bool
    reason: str
    failed: frozenset[str] = frozenset()
    summary: Mapping[str, float] = MappingProxyType({})
    notes: frozenset[str] = frozenset()

    def reaches(self, right: Mapping[str, float]) -> bool:
        """Return whether it has the right numbers."""
        return not self.fails and all(
            key in self.summary and np.isclose(self.summary[key], value, rtol=1e-5) for key, value in right.items()
        )


def quick(call: Call) -> Report:
    """Check as a run does before it begins."""
    from segbench.core.names import MethodRun
    from segbench.inputs.files import find_files
    from segbench.loaders.listing import listed_once
    from segbench.loaders.pairing import find_inputs

    protocol = call.protocol(**call.settings)
    with listed_once():
        pairing = find_files(find_inputs(*call.where, protocol.reads, **_UNGIVEN | call.data), protocol)
        (report,) = check_methods({MethodRun("pred"): pairing}, protocol, Repairs(**call.repairs), quick=True)
    return report


def parts_of(message: Message) -> list[Any]:
    """Return the values of a message, those of lists one by one."""
    return [part for _, value in message.named for part in (value if isinstance(value, tuple) else (value,))]


def given_in(message: Message) -> list[str]:
    """Name the settings that advice says to leave out."""
    setting = message.values.get("given")
    within = [name for part in parts_of(message) if isinstance(part, Message) for name in given_in(part)]
    return [setting.name, *within] if isinstance(setting, Setting) else within


def protocol_in(message: Message) -> type[Protocol] | None:
    """Return the protocol that advice sends to, `Labels()`, as its words for Python begin; None where there is none."""
    for part in parts_of(message):
        within = protocol_in(part) if isinstance(part, Message) else None
        if within is not None:
            return within
        if isinstance(part, Either) and isinstance(part.python, str):
            kind = getattr(segbench, part.python.partition("(")[0], None) if "(" in part.python else None
            if isinstance(kind, type) and issubclass(kind, Protocol):
                return kind
    return None


def is_by_hand(message: Message) -> bool:
    """Return whether a fix, or one of its alternatives, names no setting with a value."""
    if message.kind != "alternatives":
        return all(setting.value is ... for setting in message.settings) and not given_in(message)
    return any(isinstance(part, Message) and is_by_hand(part) for part in parts_of(message))


def ways(finding: Finding, intended: Mapping[str, Any]) -> list[tuple[tuple[Setting, ...], list[str]]]:
    """Return the alternatives of a fix as settings to give and to leave out; what the reader chooses is as intended."""
    alternatives = []
    for settings in finding.alternatives:
        chosen = []
        for setting in settings:
            if setting.value is ... and setting.name in intended:
                chosen.append(Setting(setting.name, intended[setting.name]))
            elif setting.value not in (..., None):
                chosen.append(setting)
        if chosen:
            alternatives.append((tuple(chosen), []))
    left_out = given_in(finding.fix)
    if left_out:
        alternatives.append(((), left_out))
    # Of several labels a reader takes those that are meant, as the advice says.
    names = {setting.name for settings in finding.alternatives for setting in settings}
    if len(finding.alternatives) > 1:
        meant = tuple(Setting(name, value) for name, value in intended.items() if name in names)
        alternatives += [(meant, [])] if meant else []
    return alternatives


def followed(call: Call, folder: Folder) -> tuple[str, list[str]]:
    """Follow advice until the right number comes out; say by what, and which calls were tried."""
    tried, queue = [], [(call, 0, True)]
    by_hand = False
    while queue and len(tried) < MOST_RUNS:
        here, steps, only_first = queue.pop(0)
        report = here.check(None)
        errors = [finding for finding in report.findings if finding.severity == "error"]
        findings = errors or list(report.findings)
        advice = [(finding, ways(finding, folder.intended)) for finding in findings]
        by_hand |= any(is_by_hand(finding.fix) or protocol_in(finding.fix) for finding in findings)
        first = [advised[0] for _, advised in advice if advised]
        together = tuple(setting for settings, _ in first for setting in settings)
        left_out = [name for _, names in first for name in names]
        options = [((together, left_out), True)]
        options += [(way, False) for _, advised in advice for way in advised]
        for (settings, names), is_first in options:
            changed = here.with_settings(settings, names)
            if changed is None or steps == STEPS:
                continue
            again = changed.evaluate()
            ended = again.reason or {key: again.summary.get(key) for key in folder.right}
            tried.append(f"{[*map(str, settings)]} without {names}: {ended}")
            if again.reaches(folder.right):
                return "first" if only_first and is_first else "alternative", tried
            queue.append((changed, steps + 1, only_first and is_first))
    return "by hand" if by_hand else "wrong", tried


Disagreement = tuple[str, str]
"""Its kind, and a text."""


def errors_disagree(run: Run, whole: Report, looked_at: Report, before: Report) -> Iterator[Disagreement]:
    """Compare what check calls errors, with all images, 32 of them and before a run, with how the run ends."""
    if run.fails and not whole.errors:
        yield "check passes what the run refuses", run.reason
    elif run.fails and run.reason != UNDEFINED and whole.images <= SAMPLE and not looked_at.errors:
        yield "check of the images passes what the run refuses", run.reason
    if whole.errors and not run.fails and not before.refused:
        yield "check refuses what the run counts", str(whole)
    if before.refused and not whole.errors:
        yield "a run is refused that check passes", str(before)


def part_is_false(called: str, part: Report, run: Run, whole: Report) -> Iterator[Disagreement]:
    """Find errors of a part of the images that are none of all images."""
    if any(finding.whole for finding in whole.findings) or (run.fails and not run.failed):
        return  # nothing is counted, whatever a part says
    failing = {image for finding in whole.findings for image in finding.images}
    for finding in part.findings:
        if finding.whole:
            yield f"{called} stops the set", str(finding)
        if not failing.issuperset(finding.images):
            yield f"{called} stops images that all images do not", str(finding)


def disagreements(folder: Folder, root: Path) -> Iterator[Disagreement]:
    """Check and evaluate a folder, and follow what is advised; the last, in brackets, is how its number was reached."""
    call = Call(folder.write(root), folder.protocol, folder.settings, folder.data)
    run, whole, before = call.evaluate(), call.check(None), quick(call)
    looked_at = call.check(SAMPLE)
    yield from errors_disagree(run, whole, looked_at, before)
    parts = {
        "one image": call.check(1),
        "two images": call.check(2),
        "32 images": looked_at,
        "the check of a run": before,
    }
    for called, part in parts.items():
        yield from part_is_false(called, part, run, whole)
    kinds = {finding.kind for finding in whole.findings}
    for finding in [] if whole.errors else before.findings:
        if finding.kind not in kinds:
            yield "the check of a run says what is not so of the set", str(finding)
    if folder.fails or run.reaches(folder.right):
        return
    if not run.fails and not whole.findings and NOTHING_PREDICTED in run.notes:
        return
    if not run.fails and not whole.findings:
        yield "silently another number", f"{[run.summary.get(key) for key in folder.right]}, not {folder.right}"
        return
    how, tried = followed(call, folder)
    if how == "wrong":
        yield "no fix is right", "\n".join([str(whole), f"wanted {folder.right}", *tried])
    yield f"({how})", str(whole)


def main() -> int:
    """Draw folders, and print what disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", type=int, help="of a folder; two to five without it")
    parser.add_argument("--only", type=int, help="one folder, by its number")
    arguments = parser.parse_args()
    disagreeing: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    ended: Counter[str] = Counter()
    numbers = range(arguments.folders) if arguments.only is None else [arguments.only]
    for number in numbers:
        folder = random_folder(np.random.default_rng([arguments.seed, number]), arguments.images)
        with tempfile.TemporaryDirectory() as root:
            for mistake, text in disagreements(folder, Path(root)):
                if mistake.startswith("("):
                    ended[mistake] += 1
                else:
                    disagreeing[mistake, folder.kind].append((number, text.replace(root, "")))
    for (mistake, kind), examples in sorted(disagreeing.items()):
        number, text = examples[0]
        print(f"{mistake}: {kind} ({len(examples)} folders: {', '.join(str(k) for k, _ in examples[:8])})")
        print("    " + text.replace("\n", "\n    "), flush=True)
    folders = {number for examples in disagreeing.values() for number, _ in examples}
    print(f"advice that was followed: {dict(ended)}")
    print(f"{len(folders)} of {len(numbers)} folders disagree")
    return min(len(folders), 1)


if __name__ == "__main__":
    sys.exit(main())

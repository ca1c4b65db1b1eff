"""What a user may have meant: the nearest name, and the pattern that makes names pair."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from segbench.core.messages import Message

COMPARISONS = 20_000
"""Names compared at most, so that two folders that have nothing in common are refused within a second."""

_NEARLY_ALL = 0.75
"""Share of the names of the smaller side that pair under patterns worth suggesting: others pair by chance."""
_SOME = 50
_FEW_FOLDERS = 3
_SERIES = 3
"""So many names show that they are numbered."""
_NUMBER, _LAST_NUMBER = re.compile(r"[0-9]+"), re.compile(r"[0-9]+(?=[^0-9]*$)")


def nearest(names: Sequence[str], candidates: Sequence[str]) -> dict[str, str]:
    """Find the most similar candidate of each name."""
    most_similar = {}
    if candidates:
        for name in names[: max(1, COMPARISONS // len(candidates))]:
            close = difflib.get_close_matches(name, candidates[:COMPARISONS], n=1, cutoff=0.6)
            if close:
                most_similar[name] = close[0]
    return most_similar


class Names(NamedTuple):
    """The names of one side: those without partner, and those that pair."""

    alone: Sequence[str]
    paired: Sequence[str]

    @property
    def all(self) -> list[str]:
        """All of them."""
        return [*self.alone, *self.paired]


class PatternPair(NamedTuple):
    """The patterns of ground truth and predictions under which names pair."""

    gt: str
    pred: str

    @property
    def joined_folders(self) -> tuple[str, str] | None:
        """The folder of the ground truth and the other one of the predictions that become one; None if none do."""
        for gt_part, pred_part in zip(self.gt.split("*"), self.pred.split("*"), strict=True):
            folders = gt_part.rpartition("/")[0].strip("/"), pred_part.rpartition("/")[0].strip("/")
            if all(folders) and "#" not in "".join(folders) and folders[0] != folders[1]:
                return folders
        return None


def matching_patterns(truths: Names, predictions: Names) -> list[PatternPair]:
    """Find the two patterns under which nearly all names pair; several times two if other files can pair as well."""
    least = max(len(truths.paired), math.ceil(_NEARLY_ALL * min(len(truths.all), len(predictions.all))), 1)
    now = frozenset(truths.paired), frozenset(predictions.paired)
    pairs_by_files: dict[tuple[frozenset[str], frozenset[str]], PatternPair] = {}
    stripped = {pred: _strip(predictions.all, pred) for pred in _affixes(predictions.alone, truths.all)}
    for gt in _affixes(truths.alone, predictions.all):
        of_truths = _strip(truths.all, gt)
        for pred, of_predictions in stripped.items():
            common = of_truths & of_predictions
            if len(common) < least:
                continue
            files = frozenset(map(_whole(gt), common)), frozenset(map(_whole(pred), common))
            if files == now:
                continue
            if len(common) > least:
                pairs_by_files, least = {}, len(common)
            shared = _shared_suffix(gt[1], pred[1])
            of_gt, of_pred = ((prefix, suffix[shared:]) for prefix, suffix in (gt, pred))
            pairs_by_files.setdefault(files, PatternPair(_whole(of_gt)("*"), _whole(of_pred)("*")))
    return list(pairs_by_files.values())


def numbered_otherwise(truths: Names, predictions: Names) -> Message | None:
    """Say how numbers in names differ if nothing else does: in leading zeros, or by one; None otherwise."""
    alone, others = ({_NUMBER.sub(_moved, name) for name in names.alone} for names in (truths, predictions))
    if len(alone & others) >= max(1, _NEARLY_ALL * min(len(alone), len(others))):
        return Message("other-padding", "the numbers in names are padded differently")
    if not truths.alone or len(truths.alone) != len(predictions.alone) or len(truths.all) < _SERIES:
        return None
    for first, names, second, other in (
        ("ground truth", truths, "predictions", predictions),
        ("predictions", predictions, "ground truth", truths),
    ):
        if {_LAST_NUMBER.sub(partial(_moved, by=1), name) for name in names.all} == {
            _LAST_NUMBER.sub(_moved, name) for name in other.all
        }:
            return Message(
                "one-lower",
                "the numbers of {lower} seem to be one lower than those of {higher}; compare an image with its "
                "prediction, and if they are",
                lower=first,
                higher=second,
            )
    return None


def base_name(name: str) -> str:
    """Return a name without its folders."""
    return name.rpartition("/")[2]


def names_by_base(truths: AbstractSet[str], predictions: AbstractSet[str]) -> dict[str, str]:
    """Map predictions to the ground truth of their base name, if folders are on one side alone and no name repeats.

    A folder that holds all files of a side does not count, unless the other side has another one, ``bottle`` and
    ``cable``, or a pattern leaves it out, ``out/*``. Numbers alone, as of frames, do not identify an image.
    """
    if not truths or not predictions:
        return {}
    folders = [{name.rpartition("/")[0] for name in names} for names in (truths, predictions)]
    tops = [own_folder(truths), own_folder(predictions)]
    one_folder_each = max(map(len, folders)) == 1
    if min(map(len, folders)) > 1 or (all(tops) and tops[0] != tops[1]) or (one_folder_each and any(tops)):
        return {}
    by_base = {base_name(truth): truth for truth in truths}
    bases = {base_name(prediction) for prediction in predictions}
    if len(by_base) < len(truths) or len(bases) < len(predictions):
        return {}
    if not all(any(map(str.isalpha, base)) for base in by_base):
        return {}
    return {name: by_base[base_name(name)] for name in predictions if base_name(name) in by_base}


def own_folder(names: Collection[str]) -> str:
    """Return the top folder of all names if it says something that they do not; empty where it does not.

    In ``frankfurt/frankfurt_000000_000294`` and ``sub-1/ses-2/sub-1_ses-2`` folders say nothing new.
    """
    tops = {name.partition("/")[0] if "/" in name else "" for name in names}
    repeated = all(f"_{folder}" in f"_{base_name(name)}" for name in names for folder in name.split("/")[:-1])
    return "" if len(tops) > 1 or repeated else tops.pop()


def in_other_folders(truths: Names, predictions: Names) -> bool:
    """Return whether nearly all names without partner differ from one of the other side in their folders alone."""
    return _nearly_all_equal(truths, predictions, base_name)


def differing_case(truths: Names, predictions: Names) -> Message | None:
    """Say that names without partner pair if upper and lower case are the same, perhaps under patterns; or nothing."""
    if _nearly_all_equal(truths, predictions, str.casefold):
        return Message("other-case", "names differ only in upper and lower case")
    alone = [Names(names.alone, ()) for names in (truths, predictions)]
    folded = [Names([*map(str.casefold, names.alone)], ()) for names in alone]
    unique = all(len({*names.alone}) == len(names.alone) for names in folded)
    if unique and matching_patterns(*folded) and not matching_patterns(*alone):
        return Message("also-other-case", "names differ in upper and lower case, too")
    return None


def _nearly_all_equal(truths: Names, predictions: Names, key: Callable[[str], str]) -> bool:
    """Return whether nearly all names without partner have one of the same key on the other side, and only one."""
    alone, others = ([key(name) for name in names.alone] for names in (truths, predictions))
    gt_keys, pred_keys = {*alone}, {*others}
    if (len(gt_keys), len(pred_keys)) != (len(alone), len(others)):
        return False
    return len(gt_keys & pred_keys) >= max(1, _NEARLY_ALL * min(len(gt_keys), len(pred_keys)))


def _moved(number: re.Match[str], by: int = 0) -> str:
    return str(int(number[0]) + by)


def _whole(affix: tuple[str, str]) -> Callable[[str], str]:
    return lambda name: f"{affix[0]}{name}{affix[1]}"


def _affixes(names: Sequence[str], others: Sequence[str]) -> list[tuple[str, str]]:
    """Return likely (prefix, suffix) pairs of names: none, what all share, what some have that others lack."""
    if not names:
        return [("", "")]
    prefix = _cut(_shared_start(names), at_start=True)
    suffix = _cut(_shared_start([name[::-1] for name in names])[::-1], at_start=False)
    affix_counts = Counter[tuple[str, str]]()
    for name in names[:_SOME]:
        for other in others[: 4 * _SOME]:
            before, within, after = name.partition(other)
            if within and other:
                affix_counts[before, after] += 1
    likely = [affix for affix, _ in affix_counts.most_common()]
    folders = sorted({name.partition("/")[0] for name in names if "/" in name})
    if len(folders) <= _FEW_FOLDERS:
        likely += [(f"{folder}/", "") for folder in folders]
    return list(dict.fromkeys([("", ""), ("", suffix), (prefix, ""), (prefix, suffix), *likely]))[:8]


def _shared_start(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]


def _cut(affix: str, *, at_start: bool) -> str:
    """Shorten an affix to where a word ends: what all names share by chance ends within one."""
    borders = [i for i, c in enumerate(affix) if not c.isalnum()]
    if not borders:
        return ""
    return affix[: borders[-1] + 1] if at_start else affix[borders[0] :]


def _shared_suffix(gt: str, pred: str) -> int:
    """Return how much of two suffixes belongs to the name of the image: words with which both begin."""
    shared = _shared_start([gt, pred])
    return max((i for i, c in enumerate(shared) if not c.isalnum()), default=0)


def _strip(names: Collection[str], affix: tuple[str, str]) -> set[str]:
    prefix, suffix = affix
    least = len(prefix) + len(suffix)
    return {
        name[len(prefix) : len(name) - len(suffix)]
        for name in names
        if len(name) > least and name.startswith(prefix) and name.endswith(suffix)
    }


def annotator_pattern(missing: Sequence[str], predictions: Collection[str]) -> str | None:
    """Find the pattern under which ground truths without prediction are several annotators of the images predicted."""
    known = frozenset(predictions)
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for name in missing:
        start = next((name[:end] for end in range(len(name) - 1, 0, -1) if name[:end] in known), "")
        folder, slash, name_in_folder = name.partition("/")
        if start:
            after.setdefault(start, []).append(name[len(start) :])
        elif slash and name_in_folder in known:
            before.setdefault(name_in_folder, []).append(folder)
    for tags, in_folders in ((after, False), (before, True)):
        fit = sum(map(len, tags.values()))
        if 2 * fit < len(missing) or max(map(len, tags.values()), default=0) < 2:
            continue
        if in_folders:
            return "#/*"
        tails = sorted({tail for tails in tags.values() for tail in tails})
        shared = _shared_start(tails).rstrip("0123456789")
        if not any(c.isalnum() for c in shared) or not all(tail[len(shared) :].isdecimal() for tail in tails):
            shared = _cut(shared, at_start=True)
        if shared and all(len(tail) > len(shared) and "/" not in tail[len(shared) :] for tail in tails):
            return f"*{shared}#"
    return None

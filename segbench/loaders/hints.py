"""What a user may have meant: the nearest name, and the pattern that makes names pair."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence

COMPARISONS = 20_000
"""Names compared at most, so that two folders that have nothing in common are refused within a second."""


def nearest(names: Sequence[str], candidates: Sequence[str]) -> dict[str, str]:
    """Find the most similar candidate of each name."""
    found = {}
    if candidates:
        for name in names[: max(1, COMPARISONS // len(candidates))]:
            close = difflib.get_close_matches(name, candidates[:COMPARISONS], n=1, cutoff=0.6)
            if close:
                found[name] = close[0]
    return found


Affix = tuple[str, str]


def matching_patterns(missing: Sequence[str], extra: Sequence[str]) -> list[tuple[str, str]]:
    """Find the two patterns under which names without partner pair; several where predictions have several names."""
    best, pairs = (("", ""), ("", "")), 0
    for gt in _affixes(missing, extra) if missing and extra else ():
        names = _strip(missing, gt)
        for pred in _affixes(extra, missing):
            if gt == pred == ("", ""):
                continue
            common = len(names & _strip(extra, pred))
            if common > pairs:
                best, pairs = (gt, pred), common
    if not pairs or 2 * pairs < len(missing):
        return []
    names = _strip(missing, best[0])
    alike = [pred for pred in _around(min(names), extra) if len(names & _strip(extra, pred)) == pairs]
    return [(_pattern(best[0]), _pattern(pred)) for pred in dict.fromkeys([best[1], *alike])]


def _pattern(affix: Affix) -> str:
    return f"{affix[0]}*{affix[1]}"


def _around(name: str, others: Sequence[str]) -> list[Affix]:
    """Give what stands before and after a name in others."""
    parts = [other.partition(name) for other in others]
    return list(dict.fromkeys((before, after) for before, within, after in parts if within))[:8]


def _affixes(names: Sequence[str], others: Sequence[str]) -> list[Affix]:
    """Give likely (prefix, suffix) pairs of names: none, what all share, what the first has more than some other."""
    prefix = _cut(_shared_start(names), at_start=True)
    suffix = _cut(_shared_start([name[::-1] for name in names])[::-1], at_start=False)
    found = [("", ""), ("", suffix), (prefix, ""), (prefix, suffix)]
    for other in others[:200]:
        before, within, after = names[0].partition(other)
        if within and other:
            found.append((before, after))
    return list(dict.fromkeys(found))[:8]


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


def _strip(names: Collection[str], affix: Affix) -> set[str]:
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
        folder, slash, rest = name.partition("/")
        if start:
            after.setdefault(start, []).append(name[len(start) :])
        elif slash and rest in known:
            before.setdefault(rest, []).append(folder)
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

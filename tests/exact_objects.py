"""Instance label maps scored by straightforward code in exact fractions, without anything of segbench."""

from fractions import Fraction

import numpy as np

TEN = [Fraction(k, 20) for k in range(10, 20)]


def pairs_of(truth, predicted):
    """Return areas of both sides, and intersection and union of every pair that overlaps."""
    areas = [{int(v): int((m == v).sum()) for v in np.unique(m) if v} for m in (truth, predicted)]
    pairs = {}
    for t in areas[0]:
        for p in areas[1]:
            shared = int(((truth == t) & (predicted == p)).sum())
            if shared:
                pairs[t, p] = shared, areas[0][t] + areas[1][p] - shared
    return *areas, pairs


def matchings(edges):
    """Yield every one-to-one matching of pairs, one after another."""
    edges = list(edges)
    if not edges:
        yield ()
        return
    (t, p), *rest = edges
    yield from matchings(rest)
    for others in matchings([(a, b) for a, b in rest if a != t and b != p]):
        yield ((t, p), *others)


def largest_matching(pairs, at):
    """Return the matching of most pairs with an IoU of at least `at`, among those that of the largest sum of IoU."""
    iou = {edge: Fraction(*pairs[edge]) for edge in pairs if Fraction(*pairs[edge]) >= at}
    best = max(matchings(iou), key=lambda some: (len(some), sum(iou[e] for e in some)))
    return [iou[edge] for edge in best]


def ratio(a, b):
    return Fraction(a, b) if b else None


def measured(truth, predicted):
    """Return every metric of one image as fractions, None where undefined."""
    true, found, pairs = pairs_of(truth, predicted)
    n, m = len(true), len(found)
    out = {}
    for at in TEN:
        tp = len(largest_matching(pairs, at))
        key = f"{float(at):g}"
        out[f"f1@{key}"] = ratio(2 * tp, n + m)
        out[f"precision@{key}"], out[f"recall@{key}"] = ratio(tp, m), ratio(tp, n)
        out[f"threat_score@{key}"] = ratio(tp, n + m - tp)
    for kind in ("f1", "precision", "recall", "threat_score"):
        values = [out[f"{kind}@{float(at):g}"] for at in TEN]
        out[f"{kind}_mean"] = None if None in values else sum(values) / 10
    matched = largest_matching(pairs, Fraction(1, 2))
    out["matched_iou"] = sum(matched) / len(matched) if matched else None
    above = [Fraction(*pair) for pair in pairs.values() if Fraction(*pair) > Fraction(1, 2)]
    out["pq"], out["rq"] = ratio(2 * sum(above), n + m), ratio(2 * len(above), n + m)
    out["sq"] = (sum(above) / len(above) if above else Fraction(0)) if n + m else None
    out["aji"], out["aji_plus"] = aji(true, found, pairs), aji_plus(true, found, pairs)
    return out


def aji(true, found, pairs):
    taken, shared, union = set(), 0, 0
    for t, area in true.items():
        partners = [(-Fraction(*pair), p) for (a, p), pair in pairs.items() if a == t]
        if partners:
            p = min(partners)[1]
            taken.add(p)
            shared, union = shared + pairs[t, p][0], union + pairs[t, p][1]
        else:
            union += area
    union += sum(area for p, area in found.items() if p not in taken)
    return ratio(shared, union)


def aji_plus(true, found, pairs):
    best = max(
        matchings(pairs), key=lambda some: (sum(Fraction(*pairs[e]) for e in some), sum(pairs[e][0] for e in some))
    )
    shared = sum(pairs[edge][0] for edge in best)
    return ratio(shared, sum(true.values()) + sum(found.values()) - shared)

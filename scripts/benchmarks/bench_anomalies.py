"""AUPRO of 40 float maps of 256x256: time beside ADEval and pyaupro, and the errors of a choice of thresholds.

    python scripts/benchmarks/bench_anomalies.py [--rounds 7]

The set is seeded: smooth noise, and a bump on most of the one to three components of 30 images. Everything lies in
memory; each ratio is the median of several taken in turn, of processor time with one thread. ADEval, which counts in
1000 bins, is also measured beside maps of 8 and 16 bits: its input is float32 then, too, which it reads faster. ADEval,
pyaupro and anomalib take part where they are installed: pip install adeval pyaupro opencv-python-headless, anomalib.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from measuring import in_turn, machine, processor_seconds, times_as_long
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label

import segbench
from segbench import AnomalyCounts
from segbench.protocols.anomalies.curves import measured_pimo, measured_pro

Masks, Maps = NDArray[np.uint8], NDArray[np.float32]
IMAGES, SIDE, NORMAL = 40, 256, 10


def seeded_set() -> tuple[Masks, Maps]:
    """Make masks and maps."""
    rng = np.random.default_rng(36)
    masks = np.zeros((IMAGES, SIDE, SIDE), np.uint8)
    maps = np.empty(masks.shape, np.float32)
    for mask, scores in zip(masks, maps, strict=True):
        scores[:] = gaussian_filter(rng.normal(size=mask.shape), 4) * 8
    for mask, scores in zip(masks[NORMAL:], maps[NORMAL:], strict=True):
        for _ in range(rng.integers(1, 4)):
            height, width = rng.integers(8, 50, 2)
            y, x = rng.integers(0, SIDE - 50, 2)
            mask[y : y + height, x : x + width] = 1
            scores[y : y + height, x : x + width] += rng.uniform(0, 3)
    return masks, gaussian_filter(maps, (0, 2, 2))


def counted(masks: Masks, maps: NDArray[Any], quantize: Literal[16] | None = None) -> dict[str, AnomalyCounts]:
    """Count every image."""
    pairs = enumerate(zip(masks, maps, strict=True))
    return {f"{k:02}": segbench.count(*pair, segbench.Anomalies(quantize=quantize)) for k, pair in pairs}


def aupro(counts: dict[str, AnomalyCounts]) -> float:
    """Measure AUPRO up to a false positive rate of .3."""
    return measured_pro(counts).areas[0]


def as_levels(maps: Maps, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Save maps in [0, 1] as images of 8 or 16 bits hold them."""
    return np.rint(maps * np.iinfo(kind).max).astype(kind)


def at_thresholds(masks: Masks, maps: Maps, number: int, limit: float = 0.3) -> float:
    """Measure AUPRO at thresholds evenly between the lowest and the highest score, as many programs do."""
    regions, normal = [], maps[masks == 0]
    for mask, scores in zip(masks, maps, strict=True):
        labels, components = label(mask, np.ones((3, 3)))
        regions += [np.sort(scores[labels == k]) for k in range(1, components + 1)]
    normal.sort()
    thresholds = np.linspace(maps.max(), maps.min(), number)
    fpr = 1 - np.searchsorted(normal, thresholds) / normal.size
    pro = np.mean([1 - np.searchsorted(region, thresholds) / region.size for region in regions], axis=0)
    x, y = np.append(0, fpr), np.append(0, pro)
    end = np.interp(limit, x, y)
    kept = x < limit
    return float(np.trapezoid(np.append(y[kept], end), np.append(x[kept], limit)) / limit)


def of_adeval(masks: Masks, maps: Maps) -> Callable[[], object]:
    """Return ADEval's AUPRO of 1000 bins; an ImportError where it is not installed."""
    if not hasattr(np, "trapz"):
        setattr(np, "trapz", np.trapezoid)  # noqa: B010  which NumPy 2 renamed
    from adeval import auroc_aupr_aupro

    return lambda: auroc_aupr_aupro(maps, masks)[2]


def of_pyaupro(masks: Masks, maps: Maps) -> Callable[[], object]:
    """Return pyaupro's AUPRO; an ImportError where it is not installed."""
    import torch
    from pyaupro import PerRegionOverlap

    torch.set_num_threads(1)
    target, scores = torch.from_numpy(masks.astype(np.int64)), torch.from_numpy(maps)
    low, high = scores.min(), scores.max()

    def measure() -> object:
        metric = PerRegionOverlap(thresholds=100)
        metric.update((scores - low) / (high - low), target)
        return metric.compute()

    return measure


def of_anomalib(masks: Masks, maps: Maps) -> Callable[[], object]:
    """Return anomalib's AUPIMO at its own number of thresholds; an ImportError where it is not installed."""
    import torch
    from anomalib.metrics.pimo.pimo import _AUPIMO

    torch.set_num_threads(1)
    target, scores = torch.from_numpy(masks), torch.from_numpy(maps)

    def measure() -> object:
        metric = _AUPIMO(return_average=False)
        metric.update(scores, target)
        return metric.compute()[1].aupimos.nanmean().item()

    return measure


def aupimo(counts: dict[str, AnomalyCounts]) -> float:
    """Measure the mean AUPIMO of anomalous images."""
    pimo = measured_pimo(counts)
    return float(np.mean([pimo.area(image_counts) for image_counts in counts.values() if image_counts.total_anomalous]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(machine())
    masks, maps = seeded_set()
    exact = aupro(counted(masks, maps))
    print(f"exact AUPRO@30%: {exact:.6f}")
    for name, scores in (("", maps), (" of exp(x)", np.exp(maps))):  # which changes no rank
        for number in (100, 1000, 5000):
            area = at_thresholds(masks, scores, number)
            print(f"{number:>5} thresholds{name}: {area:.6f} ({area - exact:+.6f})")
    unit = (maps - maps.min()) / (maps.max() - maps.min())
    bytes_, words = as_levels(unit, np.uint8), as_levels(unit, np.uint16)
    of_aupro: dict[str, Callable[[], float]] = {
        "float maps, exactly": lambda: aupro(counted(masks, maps)),
        "float maps, rounded to 16 bits": lambda: aupro(counted(masks, unit, 16)),
        "maps of 16 bits": lambda: aupro(counted(masks, words)),
        "maps of 8 bits": lambda: aupro(counted(masks, bytes_)),
    }
    for scores_name, measure in of_aupro.items():
        print(f"segbench, {scores_name}: {measure():.7f} ({measure() - exact:+.1e})")
    of_aupimo = {"float maps, exactly": lambda: aupimo(counted(masks, maps))}
    for name, peer, ours in (
        ("ADEval", of_adeval, of_aupro),
        ("pyaupro", of_pyaupro, of_aupro),
        ("anomalib", of_anomalib, of_aupimo),
    ):
        try:
            other = peer(masks, unit)
        except ImportError as error:
            print(f"{name}: not measured ({error})")
            continue
        other()  # imports and compiles
        taken = in_turn({name: other, **ours}, rounds)
        for scores_name in ours:
            ratio = times_as_long(taken[name], taken[scores_name])
            a, b = (1000 * statistics.median(taken[way]) for way in (scores_name, name))
            print(f"{name} / segbench, {scores_name}: {ratio:.2f}, processor time {b:.0f} / {a:.0f} ms")
    counts = counted(masks, maps)
    taken = 1000 * statistics.median(processor_seconds(lambda: aupimo(counts)) for _ in range(rounds))
    print(f"AUPIMO {aupimo(counts):.6f}, of images that are counted, in {taken:.0f} ms")


if __name__ == "__main__":
    main()

"""What volumes cost: the distances of an organ beside other tools, their memory, and a folder of label volumes.

    python scripts/benchmarks/bench_volumes.py [--quick] [--seconds 120] [--skip organ|labels]

First an organ of about 200 voxels along each axis in 512x512x300: `segbench.count` of contours, which has all distances
of a surface, beside surface-distance (distances once, and all metrics of them), medpy and MONAI (one call a metric, as
they are used), as far as they are installed (`pip install surface-distance medpy monai`). A tool that would take longer
than `--seconds`, going by an organ of half the side, is measured on this smaller one, and the row says so. Times are
processor time of one thread. Memory is how far the resident set rises, for each voxel of the joint box of both masks.

Then `segbench.evaluate` of 100 pairs of label volumes of 256x256x100 with 4 classes beside reading the same files with
nibabel, packed and not, in turn. ``scripts/checks/check_surfaces.py`` checks that distances agree.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import statistics
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from measuring import duration, factor, machine, markdown, processor_seconds, versions
from numpy.typing import NDArray

import segbench

Mask = NDArray[np.bool_]
Sizes = tuple[float, ...]
_SIZES = (2.5, 0.7421875, 0.7421875)
_TOLERANCE = 2.0
_BOUNDS = {"surface-distance": 5, "medpy": 10, "monai": 10}
_BYTES_PER_VOXEL = 12
_TIMES_READING = 1.5
_DIFFERENT_CASES = 4


def organ_pair(shape: tuple[int, int, int], diameter: float) -> tuple[Mask, Mask]:
    """Draw an organ with a wavy surface, and a prediction that is a little smaller and elsewhere."""
    axes = np.ogrid[tuple(slice(-size / 2, size / 2) for size in shape)]

    def drawn(centre: tuple[int, int, int], diameter: float) -> Mask:
        z, y, x = (axis - middle for axis, middle in zip(axes, centre, strict=True))
        waves = np.sin(z / 9) + np.sin(y / 11) + np.sin(x / 7)
        return np.asarray(np.sqrt(z**2 + y**2 + x**2) + waves < diameter / 2 - 3)

    return drawn((0, 0, 0), diameter), drawn((3, -4, 5), 0.97 * diameter)


def of_surface_distance(truth: Mask, predicted: Mask) -> object:
    """Compute the distances of surface-distance once, and all metrics of them."""
    import surface_distance

    distances = surface_distance.compute_surface_distances(truth, predicted, _SIZES)
    surface_distance.compute_robust_hausdorff(distances, 100)
    surface_distance.compute_robust_hausdorff(distances, 95)
    surface_distance.compute_surface_dice_at_tolerance(distances, _TOLERANCE)
    return surface_distance.compute_average_surface_distance(distances)


def of_medpy(truth: Mask, predicted: Mask) -> object:
    """Call medpy once a metric, as it is used."""
    from medpy.metric import binary

    return [metric(predicted, truth, _SIZES) for metric in (binary.hd, binary.hd95, binary.assd)]


def of_monai(truth: Mask, predicted: Mask) -> object:
    """Call MONAI once a metric, as it is used."""
    import torch
    from monai import metrics

    y, y_pred = (torch.from_numpy(mask[None, None]) for mask in (truth, predicted))
    arguments: dict[str, Any] = {"y_pred": y_pred, "y": y, "include_background": True, "spacing": list(_SIZES)}
    return [
        metrics.compute_hausdorff_distance(**arguments),
        metrics.compute_hausdorff_distance(**arguments, percentile=95),
        metrics.compute_average_surface_distance(**arguments, symmetric=True),
        metrics.compute_surface_dice(**arguments, class_thresholds=[_TOLERANCE]),
    ]


def ours(surface: str) -> Callable[[Mask, Mask], object]:
    """Return what counts a pair of masks and computes all metrics."""
    settings: Any = {"surface": surface, "spacing": _SIZES}
    protocol = segbench.Contours(**settings)
    return lambda truth, predicted: segbench.count(truth, predicted, protocol).metrics()


def highest(function: Callable[[], object]) -> float:
    """Return by how many bytes the resident set of this process rises at most during a call."""
    ctypes.CDLL(None).malloc_trim(0)  # what is free but kept would hide what the call allocates
    Path("/proc/self/clear_refs").write_text("5")  # sets the peak to what is resident now
    before = _status("VmRSS")
    function()
    return _status("VmHWM") - before


def _status(name: str) -> float:
    """Return a number of bytes that the kernel has of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return 1024.0 * int(kilobytes)


def voxels_of_box(pair: tuple[Mask, Mask]) -> int:
    """Return how many voxels the joint bounding box of two masks has."""
    extents = [np.flatnonzero((pair[0] | pair[1]).any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1))]
    return int(np.prod([np.ptp(extent) + 1 for extent in extents]))


def organ(seconds: float, *, quick: bool) -> None:
    """Print the processor time and the memory of all distances of an organ, beside other tools."""
    shape, diameter = ((150, 256, 256), 100.0) if quick else ((300, 512, 512), 200.0)
    half = organ_pair((shape[0] // 2, shape[1] // 2, shape[2] // 2), diameter / 2)
    whole = organ_pair(shape, diameter)
    own = {f"segbench, {surface}": ours(surface) for surface in ("voxels", "areas")}
    others = {"surface-distance": of_surface_distance, "medpy": of_medpy, "monai": of_monai}
    rows, own_times = [], {}
    for name, way in (own | others).items():
        try:
            way(*organ_pair((30, 40, 40), 30.0))  # compiles and imports
        except ImportError:
            print(f"{name} is not installed, and left out")
            continue
        # A distance transform of a whole volume takes eight times as long as one of half the side.
        predicted = 8 * processor_seconds(partial(way, *half))
        pair, size = (whole, "whole") if predicted < seconds else (half, "half the side")
        for name_of_own, way_of_own in own.items():
            times = [processor_seconds(partial(way_of_own, *pair)) for _ in range(3)]
            own_times[name_of_own] = statistics.median(times)
        time = own_times[name] if name in own else processor_seconds(partial(way, *pair))
        memory = highest(partial(way, *pair)) / voxels_of_box(pair)
        surface = "areas" if name == "surface-distance" else "voxels"
        ratio = "" if name in own else factor(time / own_times[f"segbench, {surface}"])
        bound = f"at least {_BOUNDS[name]} x" if name in others else f"at most {_BYTES_PER_VOXEL} bytes"
        rows.append([name, size, duration(time), ratio, f"{memory:.1f}", bound])
    print(f"\nAn organ of {voxels_of_box(whole):,} voxels in {shape[2]}x{shape[1]}x{shape[0]}:\n")
    header = ["", "organ", "processor time", "times segbench", "bytes a voxel of the box", "bound"]
    print(markdown(header, rows), flush=True)


def label_volume(seed: int, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Draw three organs of different sizes, labelled 1 to 3."""
    rng = np.random.default_rng(seed)
    axes = np.ogrid[tuple(slice(-1, 1, size * 1j) for size in shape)]  # type: ignore[misc]  # as NumPy takes it
    labels = np.zeros(shape, np.uint8)
    for label, radius in ((1, 0.6), (2, 0.3), (3, 0.15)):
        centre = rng.uniform(-0.2, 0.2, 3)
        labels[sum((axis - middle) ** 2 for axis, middle in zip(axes, centre, strict=True)) < radius**2] = label
    return labels


def write_folders(folder: Path, ending: str, cases: int, shape: tuple[int, int, int]) -> None:
    """Write folders of label volumes; a few different cases are copied to as many as are asked for."""
    for number in range(cases):
        for seed, kind in enumerate(("gt", "pred")):
            path = folder / kind / f"case_{number:03}{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if number < _DIFFERENT_CASES:
                labels = label_volume(2 * number + seed, shape)
                nibabel.save(nibabel.Nifti1Image(labels.T, np.diag([*_SIZES[::-1], 1.0])), path)
            else:
                shutil.copyfile(path.with_name(f"case_{number % _DIFFERENT_CASES:03}{ending}"), path)


def label_folders(*, quick: bool) -> None:
    """Print what counting folders of label volumes takes beside reading them."""
    cases, shape = (10, (50, 128, 128)) if quick else (100, (100, 256, 256))
    rows = []
    for ending in (".nii.gz", ".nii"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_folders(folder, ending, cases, shape)

            def reading(folder: Path = folder) -> None:
                for path in sorted(folder.glob("*/*")):
                    np.asarray(nibabel.load(path).dataobj).sum()  # type: ignore[attr-defined]  # maps files until used

            def counting(folder: Path = folder) -> None:
                segbench.evaluate(folder / "gt", folder / "pred", segbench.Labels(classes=4))

            counting()  # compiles
            taken = [(processor_seconds(counting), processor_seconds(reading)) for _ in range(3)]
        ours_of_case, reading_of_case = (statistics.median(times) / cases for times in zip(*taken, strict=True))
        ratio = statistics.median(counting / reading for counting, reading in taken)
        rows.append([ending, duration(ours_of_case), duration(reading_of_case), f"{ratio:.2f}"])
    print(
        f"\n{cases} pairs of label volumes of {shape[2]}x{shape[1]}x{shape[0]}, 4 classes, processor time of a pair:\n"
    )
    header = ["files", "segbench labels", "reading with nibabel", f"ratio (at most {_TIMES_READING})"]
    print(markdown(header, rows), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller volumes, and fewer")
    parser.add_argument("--seconds", type=float, default=120, help="the longest that one tool may take")
    parser.add_argument("--skip", choices=("organ", "labels"), help="leave a part out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the other tools
    np.inf = np.inf  # type: ignore[attr-defined]  # surface-distance names it as NumPy 1 did
    print(machine())
    print(versions(["numpy", "scipy", "numba", "nibabel", "surface-distance", "medpy", "monai", "torch"]))
    if options.skip != "organ":
        organ(options.seconds, quick=options.quick)
    if options.skip != "labels":
        label_folders(quick=options.quick)


if __name__ == "__main__":
    main()

"""A run over very many images: memory of the parent, time and bytes per image.

    python scripts/checks/check_many_images.py [--images 100000] [--jobs 2]

Writes that many pairs of names, hard links to 200 distinct pairs of small images (every one is decoded and counted),
runs ``segbench pixels -o`` over them, then ``segbench show``, and prints the peak memory of each process, the seconds,
and the bytes of the results file; all of it against the same for a tenth of the images, and the memory that each image
adds. Before that, bytes per image of maps
of 321x481 pixels: 8-bit pixels, and boundaries at 99 thresholds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # which hold what scripts share
from image_pairs import write_curves

DISTINCT = 200


def link(source: Path, folder: Path, count: int) -> None:
    """Give the same files many names."""
    for kind in ("gt", "pred"):
        (folder / kind).mkdir(parents=True)
        files = sorted((source / kind).iterdir())
        for number in range(count):
            os.link(files[number % len(files)], folder / kind / f"{number:06}.png")


def measured(*arguments: str) -> tuple[float, float, str]:
    """Run a command; give seconds, the megabytes of the process itself, and what it printed."""
    script = (
        "import resource, sys\nfrom segbench.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    started = time.perf_counter()
    answer = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    (peak,) = (int(line.split()[1]) for line in answer.stderr.splitlines() if line.startswith("peak"))
    return seconds, peak / 1024, answer.stdout


def many(source: Path, root: Path, count: int, jobs: int) -> float:
    """Run and show so many images; give the megabytes of the parent of the first run."""
    folder, file = root / str(count), root / f"{count}.segbench"
    link(source, folder, count)
    paths = (str(folder / "gt"), str(folder / "pred"), "-o", str(file), "-j", str(jobs), "--format", "json")
    peaks = []
    for what, arguments in (("pixels", ("pixels", *paths)), ("run again", ("pixels", *paths))):
        seconds, peak, printed = measured(*arguments)
        peaks.append(peak)
        print(
            f"{count:>7} images  {what:<16} {seconds:7.1f} s {1e3 * seconds / count:7.3f} ms per image  {peak:5.0f} MB"
        )
    seconds, peak, shown = measured("show", str(file), "--format", "json")
    print(f"{count:>7} images  {'show':<16} {seconds:7.1f} s {1e3 * seconds / count:7.3f} ms per image  {peak:5.0f} MB")
    if shown != printed or json.loads(shown)["runs"][0]["images"] != count:
        raise SystemExit("what is shown is not what was counted")
    print(f"{count:>7} images  {'results file':<16} {file.stat().st_size / count:7.0f} bytes per image", flush=True)
    return peaks[0]


def real_sizes(root: Path) -> None:
    """Measure the results file on maps of the size of BSDS500."""
    folder = root / "large"
    write_curves(folder, 60, (321, 481))
    for protocol in ("pixels", "boundaries"):
        file = root / f"{protocol}.segbench"
        measured(protocol, str(folder / "gt"), str(folder / "pred"), "-o", str(file), "-j", "2")
        print(f"321x481 maps, {protocol}: {file.stat().st_size / 60:.0f} bytes per image, goal < 3072")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        real_sizes(root)
        write_curves(root / "small", DISTINCT, (32, 48), smoothing=2)
        few, all_ = (
            many(root / "small", root, count, options.jobs) for count in (options.images // 10, options.images)
        )
        added = (all_ - few) * 2**20 / (options.images * 9 / 10)
        print(f"memory of the parent per image: {added:.0f} bytes, {added / 1536:.2f} x the goal of 1.5 KB")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()

"""A run over very many images in tar files: memory of the parent, time and bytes per image.

    python scripts/checks/check_many_images.py [--images 100000] [--dask 10000] [--stop-after 30]

Writes seeded images of 64x64 as a tar file of masks and two of 8-bit predictions; 2000 scenes are repeated under names
of their own. Counts both methods on two cores with ``segbench pixels -o``, interrupts that and continues it, runs it
again; shows and compares them; counts one method in ten parts and merges these; makes the page. ``--dask`` counts so
many of the images through a Dask scheduler with two workers. Prints the seconds of the clock, and processor time and
memory of each command without its workers; ends with an error where metrics differ.
"""

from __future__ import annotations

import argparse
import io
import json
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

SIDE, DISTINCT, PARTS = 64, 2000, 10
METHODS = {"sharp": 10, "blurred": 30}
"""How noisy each method is."""
_COMMAND = """
import resource, signal, sys
from segbench.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells ignore for what runs in the background
try:
    main()
finally:
    own = resource.getrusage(resource.RUSAGE_SELF)
    print("measured", own.ru_maxrss, own.ru_utime + own.ru_stime, file=sys.stderr)
"""


class Measured(NamedTuple):
    """The largest memory of a command itself, in bytes, and what it printed."""

    peak: float
    printed: str


def scenes() -> list[list[NDArray[np.uint8]]]:
    """Draw masks, and a prediction of each by each method."""
    drawn = []
    for number in range(DISTINCT):
        rng = np.random.default_rng(number)
        field = gaussian_filter(rng.normal(size=(SIDE, SIDE)), 6, mode="wrap")
        field /= field.std()
        scene = [np.where(field > 0.5, 255, 0)]
        for noise in METHODS.values():
            soft = 255 / (1 + np.exp(-3 * (field - 0.5 + rng.normal(0, noise / 50))))
            scene.append(np.clip(soft + rng.normal(0, noise, field.shape), 0, 255) // 8 * 8)
        drawn.append([image.astype(np.uint8) for image in scene])
    return drawn


def write(folder: Path, count: int) -> list[Path]:
    """Write the tar files, in which the scenes are repeated under names of their own."""
    paths = [folder / f"{name}.tar" for name in ("truth", *METHODS)]
    drawn = scenes()
    for kind, path in enumerate(paths):
        packed = [iio.imwrite("<bytes>", scene[kind], extension=".png") for scene in drawn]
        with tarfile.open(path, "w") as archive:
            for number in range(count):
                member, content = tarfile.TarInfo(f"{number:07}.png"), packed[number % DISTINCT]
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
                archive.members.clear()  # which would hold every member in memory
    return paths


def measured(title: str, images: int, *arguments: object, stop_after: float = 0) -> Measured:
    """Run a command, interrupt it after so many seconds, and print what it took."""
    started = time.perf_counter()
    command = [sys.executable, "-c", _COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if stop_after:
            threading.Timer(stop_after, process.send_signal, [signal.SIGINT]).start()
        printed, errors = process.communicate()
    seconds = time.perf_counter() - started
    if process.returncode != (130 if stop_after else 0):
        raise SystemExit(f"{title}: exit code {process.returncode}\n{errors[-2000:]}")
    peak, own = map(float, errors.rpartition("measured ")[2].split())
    print(
        f"{title:<28} {seconds:8.1f} s, {own:8.1f} s of the processor, {1e3 * seconds / images:.3f} ms per image, "
        f"{peak / 1024:6.0f} MiB",
        flush=True,
    )
    return Measured(peak * 1024, printed)


def counted(folder: Path, truth: Path, methods: Sequence[Path], images: int, stop_after: float) -> Path:
    """Count all methods, interrupted and continued; show and compare them."""
    file = folder / "all.segbench"
    run = ("pixels", truth, *methods, "-o", file, "-j", 2, "--format", "json")
    all_images = images * len(methods)
    measured("interrupted", all_images, *run, stop_after=stop_after)
    done = measured("shown as it is", images, "show", file, "--format", "json").printed
    print("images counted until then:", [run["images"] for run in json.loads(done)["runs"]])
    continued = measured("continued", all_images, *run)
    again = measured("again, nothing changed", all_images, *run)
    shown = measured("show", images, "show", file, "--format", "json")
    measured("compare", images, "compare", file)
    if not shown.printed == again.printed == continued.printed:
        raise SystemExit("what is shown is not what was counted")
    most = max(continued.peak, again.peak)
    print(f"parent: {most / images:.0f} bytes per image; results file: {file.stat().st_size / all_images:.0f}")
    return file


def in_parts(folder: Path, truth: Path, method: Path, images: int) -> Path:
    """Count one method in parts, and merge them."""
    with tarfile.open(truth) as archive:
        names = [path.removesuffix(".png") for path in archive.getnames()]
    parts = [folder / f"part{number}.segbench" for number in range(PARTS)]
    for number, part in enumerate(parts):
        listed = folder / f"part{number}.txt"
        listed.write_text("".join(f"{name}\n" for name in names[number::PARTS]))
        run = ("pixels", truth, method, "--images", listed, "--positive", 255, "-o", part, "-j", 2)
        measured(f"part {number}", images // PARTS, *run)
    merged = folder / "merged.segbench"
    measured("merge", images, "merge", *parts, "-o", merged)
    return merged


def by_dask(folder: Path, truth: Path, methods: Sequence[Path], images: int) -> Path:
    """Count all methods with two workers of a Dask scheduler."""
    from distributed import LocalCluster

    file = folder / "dask.segbench"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        run = ("pixels", truth, *methods, "-o", file, "--dask", cluster.scheduler_address)
        measured("through Dask", images * len(methods), *run)
    return file


def shown(file: Path) -> list[dict[str, object]]:
    """Return the metrics of the methods of a results file."""
    return [run["summary"] for run in json.loads(measured("show", 1, "show", file, "--format", "json").printed)["runs"]]


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--dask", type=int, default=0, metavar="IMAGES", help="count so many through Dask, too")
    parser.add_argument("--stop-after", type=float, default=30, metavar="SECONDS", help="when to interrupt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        truth, *methods = write(folder, options.images)
        file = counted(folder, truth, methods, options.images, options.stop_after)
        if shown(in_parts(folder, truth, methods[0], options.images)) != shown(file)[:1]:
            raise SystemExit("the parts are not the whole")
        if options.dask:
            few = folder / "some"
            few.mkdir()
            truth, *methods = write(few, options.dask)
            by_dask(few, truth, methods, options.dask)
        measured("report", options.images, "report", file, "-o", folder / "report.html")


if __name__ == "__main__":
    main()

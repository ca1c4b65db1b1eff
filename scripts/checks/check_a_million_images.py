"""Two methods on very many images in tar files: counted in parts, interrupted, continued, merged, shown and compared.

    python scripts/checks/check_a_million_images.py [--images 1000000] [--parts 10] [--jobs 2] [--dask] [--folder DIR]

Every image is another one of 64x64 pixels and 8 bits, made by a seed. Each part is a tar file of ground truth and one
of each method. The first part is stopped by Ctrl-C and continued. For each step, the processor time of the command and
its workers, the seconds that passed, and the largest memory of the command itself are printed. With --dask, the parts
are counted by two workers of a scheduler on this machine.
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = 64
METHODS = {"sharp": 0.6, "soft": 1.4}
COMMAND = (
    "import resource, sys\nfrom segbench.cli.main import main\n"
    "try:\n    main()\nfinally:\n"
    "    print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
)


def write_part(folder: Path, part: int, images: range) -> None:
    """Write a tar file of ground truth and one of each method: discs, and how far inside each method takes a pixel."""
    rng = np.random.default_rng(part)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    with ExitStack() as stack:
        archives = {
            name: stack.enter_context(tarfile.open(folder / name / f"{part:02}.tar", "w")) for name in ("gt", *METHODS)
        }
        for number in images:
            y, x = rng.uniform(16, 48, 2)
            distance = rng.uniform(6, 16) - np.hypot(rows - y, columns - x)
            maps = {"gt": 255 * (distance > 0)}
            for method, blur in METHODS.items():
                shift = rng.normal(0, 2 * blur)
                maps[method] = np.rint(255 / (1 + np.exp(-(distance + shift) / (3 * blur))))
            for name, archive in archives.items():
                file = io.BytesIO()
                Image.fromarray(maps[name].astype(np.uint8)).save(file, "png", compress_level=1)
                member = tarfile.TarInfo(f"{number:07}.png")
                member.size = file.tell()
                file.seek(0)
                archive.addfile(member, file)


def run(what: str, *arguments: str, stop_after: float | None = None) -> str:
    """Run a command and print what it took; give what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    command = [sys.executable, "-c", COMMAND, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if stop_after:
            time.sleep(stop_after)
            process.send_signal(signal.SIGINT)
        printed, said = process.communicate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != (130 if stop_after else 0):
        raise SystemExit(f"segbench {' '.join(arguments)} ended with {process.returncode}:\n{said}")
    (peak,) = (int(line.split()[1]) for line in said.splitlines() if line.startswith("peak"))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    passed = time.perf_counter() - started
    print(f"{what:<26} {used:8.1f} s of processor time {passed:8.1f} s passed {peak / 1024:6.0f} MB", flush=True)
    return printed


@contextmanager
def scheduler() -> Iterator[str]:
    """Start a scheduler of Dask with two workers on this machine; give its address."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def measure(root: Path, images: int, parts: int, workers: tuple[str, ...]) -> None:
    """Count all parts, then show and compare them."""
    files = []
    for part in range(parts):
        file = root / f"part{part:02}.segbench"
        data = [f"{name}={root / name / f'{part:02}.tar'}" for name in METHODS]
        words = ("pixels", str(root / "gt" / f"{part:02}.tar"), *data, "--positive", "255", "-o", str(file), *workers)
        if part == 0:
            run("part 0, stopped", *words, stop_after=max(8, 2e-4 * images / parts))
        run(f"part {part}", *words)
        files.append(str(file))
    merged = root / "all.segbench"
    run("merge", "merge", *files, "-o", str(merged))
    print(f"results file: {merged.stat().st_size / images / len(METHODS):.0f} bytes per image and method")
    shown = run("show", "show", str(merged))
    if f"images:{images}" not in shown:
        raise SystemExit(f"not all images were counted:\n{shown}")
    print(shown)
    print(run("compare", "compare", str(merged), "--metrics", "ods_f"))
    page = root / "report.html"
    run("report", "report", str(merged), "-o", str(page))
    print(f"report: {page.stat().st_size / 1e6:.1f} MB")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the images go, some 5 KB each [default: a temporary folder]")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        for name in ("gt", *METHODS):
            (root / name).mkdir()
        edges = np.linspace(0, options.images, options.parts + 1).astype(int)
        for part, (start, end) in enumerate(itertools.pairwise(edges)):
            write_part(root, part, range(start, end))
        print(f"{options.images} images in {options.parts} parts, {os.cpu_count()} cores", flush=True)
        if options.dask:
            with scheduler() as address:
                measure(root, options.images, options.parts, ("--dask", address))
        else:
            measure(root, options.images, options.parts, ("-j", str(options.jobs)))
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()

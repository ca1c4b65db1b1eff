"""Kill a run again and again at random moments: the results file stays whole, the end is the same to the last byte.

    python scripts/checks/check_kills.py [--kills 20] [--images 400] [--seed 0]

For pixels and boundaries: ``segbench pixels -j 2`` is started and killed (SIGKILL to the parent alone, or to one worker
alone, by turns) until it has been killed so often, going on with the same results file; when it finishes first, it is
given more images. After each kill the file must pass SQLite's integrity check, hold no fewer images than before, and
no worker may be left. Then the command runs to its end, and its JSON must equal that of a run never disturbed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # which hold what scripts share
from image_pairs import write_curves

SHAPES = {"pixels": (321, 481), "boundaries": (80, 120)}


def add_images(folder: Path, count: int, protocol: str) -> None:
    """Write images beside those that are there."""
    write_curves(folder, count, SHAPES[protocol], smoothing=3, start=len(list(folder.glob("gt/*"))))


def command(folder: Path, protocol: str, *options: str) -> list[str]:
    """Return the command line of a run."""
    run = ["-m", "segbench", protocol, str(folder / "gt"), str(folder / "pred"), "--format", "json"]
    return [sys.executable, *run, *options]


def kept(file: Path) -> int:
    """Check the file and count its images; 0 before it is made."""
    if not file.exists():
        return 0
    database = sqlite3.connect(file)
    try:
        (answer,) = database.execute("PRAGMA integrity_check").fetchone()
        if answer != "ok":
            raise SystemExit(f"{file} is damaged: {answer}")
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return database.execute("SELECT count(*) FROM images").fetchone()[0] if tables != (0,) else 0
    finally:
        database.close()


def kill_one(process: subprocess.Popen[bytes], *, worker: bool) -> bool:
    """Kill the parent, or one of those that count; tell whether there was one."""
    if not worker:
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=10)
        if alive:
            raise SystemExit(f"{len(alive)} workers outlived their parent: {[child.cmdline() for child in alive]}")
        return True
    workers = workers_of(process)
    if workers:
        random.choice(workers).kill()  # noqa: S311  no secret
    return bool(workers)


def workers_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """List the workers, which are children of the server that forks them."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if child.ppid() != process.pid]
    except psutil.NoSuchProcess:
        return []


def wait_for_workers(process: subprocess.Popen[bytes]) -> None:
    """Wait until there are workers, or the run is over."""
    while process.poll() is None and not workers_of(process):
        time.sleep(0.02)


def check(protocol: str, kills: int, images: int) -> None:
    """Kill runs of one protocol, and compare the end."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, file = Path(scratch), Path(scratch) / "r.segbench"
        add_images(folder, images, protocol)
        subprocess.run(command(folder, protocol), check=True, stdout=subprocess.DEVNULL)
        done, images_kept, of_workers = 0, 0, 0
        while done < kills:
            worker = bool(done % 2)
            process = subprocess.Popen(
                command(folder, protocol, "-j", "2", "-o", str(file)), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )  # fmt: skip
            if worker:
                wait_for_workers(process)
            time.sleep(random.uniform(0.1, 0.6) if worker else random.uniform(0.2, 2.5))  # noqa: S311  no secret
            if process.poll() is not None:
                add_images(folder, images, protocol)
                continue
            killed = kill_one(process, worker=worker)
            if worker:
                _, message = process.communicate(timeout=300)
                if process.returncode or b"Traceback" in message:
                    raise SystemExit(f"a lost worker ended the run: {message.decode()}")
            now = kept(file)
            if now < images_kept:
                raise SystemExit(f"{images_kept} images were kept, now {now}")
            images_kept, done, of_workers = now, done + killed, of_workers + (worker and killed)
            if killed:
                print(f"  {'worker' if worker else 'parent'} killed, {images_kept} images kept", flush=True)
            if worker:
                add_images(folder, images // 4, protocol)
        total = len(list((folder / "gt").iterdir()))
        resumed = subprocess.run(command(folder, protocol, "-o", str(file)), check=True, capture_output=True)
        whole = subprocess.run(command(folder, protocol), check=True, capture_output=True)
        if resumed.stdout != whole.stdout:
            raise SystemExit(f"{protocol}: the end differs from a run never disturbed")
        print(f"{protocol}: {done} kills ({of_workers} of workers), {total} images, the same to the last byte")
        shutil.rmtree(folder)
        folder.mkdir()


def main() -> None:
    """Check both protocols."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    for protocol in SHAPES:
        check(protocol, options.kills, options.images)


if __name__ == "__main__":
    main()

"""What segbench must stand: hostile commands, kills, full disks, read-only places, large images, many pixels.

    python scripts/checks/stress.py [PART...] [--seconds 120] [--kills 20] [--seed 0]

Runs the parts named (commands, kills, disk, readonly, boundaries, curves), or all, in a temporary folder; prints
figures and every finding; exit code 1 if there is one. ``commands`` takes ``--seconds``. ``disk`` uses a small tmpfs
where one may mount it (root), else limits on file size.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from stress_commands import fuzz, write_results, write_world


def tool(name: str) -> str:
    """Find a program of the system."""
    return shutil.which(name) or name


HERE = Path(__file__).parent
PROGRAM = [sys.executable, "-m", "segbench"]
MEGABYTE = 2**20
WITHOUT_RIGHTS = [tool("setpriv"), "--bounding-set=-dac_override,-dac_read_search,-fowner"]
"""Root that may write only where its files let it."""


def judged(title: str, answer: subprocess.CompletedProcess[str], codes: Sequence[int]) -> int:
    """Print how a command ended; 1 if that is a finding."""
    last = (answer.stderr.strip().splitlines() or [""])[-1]
    wrong = answer.returncode not in codes or "Traceback" in answer.stderr
    print(f"  {'FINDING ' if wrong else ''}{title}: exit {answer.returncode}  {last[:150]}", flush=True)
    return int(wrong)


def called(
    *words: str | Path,
    env: dict[str, str] | None = None,
    before: Sequence[str] = (),
    limit: int = 0,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run segbench; with `limit`, no file may grow beyond so many bytes."""

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [*before, *PROGRAM, *map(str, words)], check=False, capture_output=True, text=True, timeout=600, cwd=cwd,
        env=os.environ | (env or {}), preexec_fn=small_files if limit else None,
    )  # fmt: skip


@contextmanager
def little_disk(mount_point: Path) -> Iterator[bool]:
    """Mount a disk of a megabyte; False where one may not."""
    mount_point.mkdir()
    answer = subprocess.run(
        [tool("mount"), "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount_point], check=False, capture_output=True
    )  # fmt: skip
    mounted = answer.returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run([tool("umount"), mount_point], check=True)


def writers(root: Path, out: Path) -> dict[str, list[str | Path]]:
    """Name a command for each verb that writes."""
    results, good = root / "good.segbench", root / "good"
    return {
        "run": ["pixels", good / "gt", good / "pred", "-o", out / "r.segbench"],
        "plot": ["plot", results, "--only", "pixels", "-o", out / "r.pdf"],
        "report": ["report", results, "-o", out / "r.html", "--replicates", "50"],
        "overlay": ["overlay", results, "-o", out / "overlay"],
        "export": ["export", root / "lines.segbench", "--bsds", out / "bsds"],
        "import": ["import", root / "official", "-o", out / "i.segbench"],
        "merge": ["merge", results, root / "odd.segbench", "-o", out / "m.segbench"],
        "nms": ["nms", good / "pred", out / "nms"],
    }


def disk(root: Path) -> int:
    """Write to a disk that is full."""
    findings = 0
    prepare(root)
    with little_disk(root / "disk") as mounted:
        if mounted:
            (root / "disk" / "ballast").write_bytes(bytes(MEGABYTE - 8192))
        for verb, words in writers(root, root / "disk").items():
            findings += judged(f"full disk, {verb}", called(*words, limit=0 if mounted else 2000), [1])
    shutil.rmtree(root / "disk", ignore_errors=True)
    cache = {"NUMBA_CACHE_DIR": str(root / "cache")}
    (root / "cache").mkdir()
    words = ["pixels", root / "good" / "gt", root / "good" / "pred"]
    findings += judged("full disk, no place to keep compiled code", called(*words, env=cache, limit=1000), [0])
    return findings


def readonly(root: Path) -> int:
    """Write to, and run from, places that cannot be written."""
    findings = 0
    prepare(root)
    before = WITHOUT_RIGHTS if os.geteuid() == 0 else []
    here = root / "locked"
    shutil.copytree(root / "good", here / "good")
    shutil.copy(root / "good.segbench", here / "r.segbench")
    installed = root / "installed"
    shutil.copytree(HERE.parents[1] / "segbench", installed / "segbench", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (here, installed):
        subprocess.run([tool("chmod"), "-R", "a-w", folder], check=True)
    for verb, words in writers(root, here).items():
        findings += judged(f"read-only folder, {verb}", called(*words, before=before), [1])
    findings += judged("read-only results file, show", called("show", here / "r.segbench", before=before), [0])
    findings += judged(
        "read-only current folder, run", called("pixels", "good/gt", "good/pred", before=before, cwd=here), [0]
    )
    bare = {"PYTHONPATH": str(installed), "HOME": "/proc/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
    for protocol in ("pixels", "boundaries"):
        words = [protocol, root / "good" / "gt", root / "good" / "pred"]
        answer = called(*words, env=bare, before=before, cwd=here)
        findings += judged(f"read-only installation and no home, run -p {protocol}", answer, [0])
    words = ["plot", root / "good.segbench", "--only", "pixels", "-o", root / "out" / "p.png"]
    findings += judged(
        "read-only installation and no home, plot", called(*words, env=bare, before=before, cwd=here), [0]
    )
    subprocess.run([tool("chmod"), "-R", "u+w", here, installed], check=True)
    return findings


def prepare(root: Path) -> None:
    """Write the folders that commands are run over, once."""
    if not (root / "good").exists():
        write_world(root)
        write_results(root)


def kills(root: Path, number: int, seed: int) -> int:
    """Kill runs again and again, by `check_kills.py`."""
    words = [str(HERE / "check_kills.py"), "--kills", str(number), "--images", "120", "--seed", str(seed)]
    answer = subprocess.run([sys.executable, *words], check=False, text=True, env=os.environ | {"TMPDIR": str(root)})
    return int(answer.returncode != 0)


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def boundaries(shape: tuple[int, int] = (2000, 3000), thresholds: int = 99) -> int:
    """Count one large image's boundaries."""
    from scipy.ndimage import gaussian_filter

    import segbench

    def lines(seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the lines where a smooth field changes its sign, and the same blurred and faint in places."""
        rng = np.random.default_rng(seed)
        fields = [gaussian_filter(rng.normal(size=shape).astype(np.float32), width) for width in (16, 40)]
        above = fields[0] > 0
        drawn = (above != np.roll(above, 1, 0)) | (above != np.roll(above, 1, 1))
        faint = 1 / (1 + np.exp(-2 * fields[1] / fields[1].std()))
        return drawn, gaussian_filter(drawn.astype(np.float32), 1.5) * 3 * faint

    truth, predicted = lines(0)
    soft = np.clip(predicted + 0.4 * lines(1)[1], 0, 1)
    segbench.count(truth[:50, :50], soft[:50, :50], segbench.Boundaries(thresholds=thresholds))  # compiles
    before, started = peak(), time.process_time()
    counts = segbench.count(truth, soft, segbench.Boundaries(thresholds=thresholds))
    seconds = time.process_time() - started
    print(
        f"boundaries {shape[0]}x{shape[1]}, {thresholds} thresholds, {int(counts.total_gt[0])} pixels of ground truth: "
        f"{seconds:.1f} s of the processor, largest memory {peak():.0f} MB ({before:.0f} before)",
        flush=True,
    )
    return int(not np.all(counts.matched_gt <= counts.total_gt))


def exact_auc(positives: np.ndarray, negatives: np.ndarray) -> Fraction:
    """Return the area under the ROC curve in whole numbers, scores falling; sums stay below 2**63 for 10**8 pixels."""
    above = np.cumsum(positives, dtype=np.int64) - positives
    twice = int(np.sum(negatives.astype(np.int64) * (2 * above + positives), dtype=np.int64))
    return Fraction(twice, 2 * int(positives.sum(dtype=np.int64)) * int(negatives.sum(dtype=np.int64)))


def curves(pixels: int = 10**8, images: int = 100) -> int:
    """Pool the pixels of many images, and compare the area with whole numbers."""
    import segbench

    findings = 0
    for kind in ("uint8", "uint16", "float32 to 16 bits", "float32"):
        rng, parts, started = np.random.default_rng(0), [], time.process_time()
        pooled = None
        counting = 0.0
        for _ in range(images):
            labels = rng.random(pixels // images, np.float32) < 0.1
            scores = np.clip(rng.normal(0.4, 0.15, labels.size) + 0.2 * labels, 0, 1).astype(np.float32)
            if kind.startswith("uint"):
                scores = np.rint(scores * np.iinfo(kind).max).astype(kind)
            began = time.process_time()
            parts.append(
                segbench.count(labels, scores, segbench.Pixels(quantize=16 if kind.endswith("bits") else None))
            )
            if len(parts) == images or kind != "float32":
                pooled = segbench.ScoreCounts.sum([pooled, *parts] if pooled else parts)
                parts = []
            counting += time.process_time() - began
        assert pooled is not None  # noqa: S101  there are images
        began = time.process_time()
        area, curve = segbench.auc_roc(pooled), segbench.pr_curve(pooled)
        drawing = time.process_time() - began
        exact = exact_auc(pooled.positives, pooled.negatives)
        off = abs(area - float(exact))
        findings += int(off > np.finfo(float).eps)
        print(
            f"curves, {pixels:.0e} pixels of {images} images, {kind}: {pooled.scores.size} scores, "
            f"{time.process_time() - started:.1f} s of the processor, counting {counting:.1f} s, "
            f"curves {drawing:.2f} s; area {curve.area:.6f}, AUC-ROC {area:.12f}, {off:.1g} off whole numbers, "
            f"largest memory {peak():.0f} MB",
            flush=True,
        )
    return findings


def in_a_process(part: str) -> int:
    """Run a part in a process of its own, so that memory is its own."""
    return int(subprocess.run([sys.executable, __file__, part, "--here"], check=False).returncode != 0)


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["commands", "kills", "disk", "readonly", "boundaries", "curves"]
    parser.add_argument("parts", nargs="*", choices=[*names, []], help="all by default")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    findings = 0
    for part in options.parts or names:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch).resolve()
            runs = {
                "commands": partial(fuzz, root, options.seconds, options.seed),
                "kills": partial(kills, root, options.kills, options.seed),
                "disk": partial(disk, root),
                "readonly": partial(readonly, root),
                "boundaries": boundaries if options.here else partial(in_a_process, part),
                "curves": curves if options.here else partial(in_a_process, part),
            }
            findings += runs[part]()
            os.chdir("/")
    if findings:
        raise SystemExit(f"{findings} findings")


if __name__ == "__main__":
    main()

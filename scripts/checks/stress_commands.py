"""A folder of hostile files, and random command lines over it; a part of ``stress.py``.

Every command must end with 0, 1, 2 or 130, without traceback or warning, and change nothing but what lies in ``out``.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import struct
import sys
import time
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import imageio.v3 as iio
import numpy as np

ODD_NAMES = ("with space", "quote'\"", "new\nline", "[red]<b>", "no\udcfftext", "-j", "ü", "&amp;", "%41", "a" * 120)
PATIENCE = 120
EXIT_CODES = (0, 1, 2, 130)
Tree = dict[str, tuple[int, int, int]]


def maps(seed: int, shape: tuple[int, int] = (24, 32)) -> tuple[np.ndarray, np.ndarray]:
    """Make a mask and 8-bit scores."""
    rng = np.random.default_rng(seed)
    mask = rng.random(shape) < 0.2
    return mask.astype(np.uint8) * 255, (mask * 80 + rng.integers(0, 170, shape)).astype(np.uint8)


def write_world(root: Path) -> None:
    """Write sound and hostile inputs of every kind."""
    for folder in ("good", "odd", "thin", "broken", "links", "empty", "out", "lists"):
        for side in ("gt", "pred"):
            (root / folder / side).mkdir(parents=True)
    (root / "out" / "dir").mkdir()
    for folder, names in (("good", ("a", "b", "c")), ("odd", ODD_NAMES)):
        for seed, name in enumerate(names):
            for side, array in zip(("gt", "pred"), maps(seed), strict=True):
                iio.imwrite(root / folder / side / f"{name}.png", array)
    for shape in ((1, 1), (30000, 1), (1, 30000)):
        for side, array in zip(("gt", "pred"), maps(0, shape), strict=True):
            iio.imwrite(root / "thin" / side / f"{shape[0]}x{shape[1]}.png", array)
    write_broken(root / "broken")
    link(root / "links")
    for side in ("gt", "pred"):
        with zipfile.ZipFile(root / f"{side}.zip", "w") as packed:
            for file in sorted((root / "good" / side).iterdir()):
                packed.write(file, f"../../{file.name}")
    (root / "cut.zip").write_bytes((root / "gt.zip").read_bytes()[:-30])
    rows = "".join(f"{name},../good/gt/{name}.png,../good/pred/{name}.png\n" for name in "abc")
    (root / "lists" / "pairs.csv").write_text("name,ground_truth,prediction:m\n" + rows)
    (root / "lists" / "bad.csv").write_bytes(b'name,ground_truth,prediction\n"a,/etc/passwd,../../x\xff\n')
    (root / "lists" / "own.toml").write_text('title = "own"\n[layout]\nground_truth = "gt"\n')
    (root / "lists" / "bad.toml").write_text('layout = 7\nground_truth = "../../etc"\n')
    (root / "lists" / "classes.txt").write_text("0 none\n255 all\n")


def write_broken(folder: Path) -> None:
    """Write files cut short, foreign, empty, of Python objects, of MATLAB 7.3, and bombs."""
    png = iio.imwrite("<bytes>", maps(0)[0], extension=".png")
    header = b"IHDR" + struct.pack(">IIBBBBB", 30000, 30000, 8, 0, 0, 0, 0)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.npy", bytes(40_000_000))
    objects = io.BytesIO()
    np.savez(objects, np.array([{}], object))
    broken = {
        "cut.png": png[:-30],
        "page.png": b"<html>404</html>",
        "zero.png": b"",
        "large.png": png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:],
        "bomb.npz": bomb.getvalue(),
        "objects.npz": objects.getvalue(),
        "new.mat": b"MATLAB 7.3 MAT-file".ljust(512, b"\0"),
        "noise.tif": np.random.default_rng(0).bytes(4000),
        "loop.tif": b"II*\0\x08\0\0\0" + b"\0\0" + b"\x08\0\0\0",
    }
    for name, data in broken.items():
        for side in ("gt", "pred"):
            (folder / side / name).write_bytes(data)


def link(folder: Path) -> None:
    """Link in circles, to nothing, to a device, and write a pipe."""
    for side in ("gt", "pred"):
        target = folder / side
        (target / "loop").symlink_to(".")
        (target / "self.png").symlink_to("self.png")
        (target / "dead.png").symlink_to("nowhere.png")
        (target / "device.png").symlink_to("/dev/zero")
        os.mkfifo(target / "pipe.png")
        iio.imwrite(target / "a.png", maps(0)[0])


def write_results(root: Path) -> None:
    """Write results files, sound and not."""
    import segbench

    sound = root / "good.segbench"
    lines = segbench.Boundaries(thresholds=5)
    for protocol, file in ((segbench.Pixels(), sound), (lines, sound), (lines, root / "lines.segbench")):
        segbench.evaluate(root / "good" / "gt", root / "good" / "pred", protocol, results=file)
    segbench.evaluate(root / "odd" / "gt", root / "odd" / "pred", results=root / "odd.segbench", method="<script>\n")
    data = sound.read_bytes()
    (root / "cut.segbench").write_bytes(data[: len(data) // 2])
    (root / "text.segbench").write_text("no results\n" * 200)
    (root / "zero.segbench").touch()
    segbench.export_bsds(segbench.load_results(sound)[1:], root / "official")


def tree(root: Path) -> Tree:
    """Take down what lies in a folder, but for ``out``: sizes, times, modes."""
    status_of: Tree = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if Path(folder, name) != root / "out"]
        for name in (*folders, *files):
            status = os.lstat(os.path.join(folder, name))  # noqa: PTH118  names that are no text
            # Readers of a results file put an empty log beside it, and take it away again: that touches the folder.
            changed = 0 if name in folders else status.st_mtime_ns
            status_of[os.path.join(folder, name)] = (status.st_size * (name not in folders), changed, status.st_mode)  # noqa: PTH118
    return status_of


SIDES = [f"{folder}/{{}}" for folder in ("good", "good", "good", "odd", "thin", "broken", "links", "empty", "none")]
SIDES += ["{}.zip", "cut.zip", "good/{}/a.png", "/dev/null", "", "good.segbench", "file:///etc", "ftp://", "x\nx"]
RESULTS = [f"{name}.segbench" for name in ("good", "good", "good", "lines", "odd", "cut", "text", "zero", "none")]
RESULTS += ["good", ""]
OUTS = ["out/r", "out/new\nline", "out/it's", "out/no/such", "out/dir", "out/" + "n" * 300, "out/\udcff", "/dev/full"]
VALUES = ["0", "1", "-1", "0.5", "nan", "inf", "1e400", "99", "x", "", "255", ">=1", "*", "*.#", "#/*", "[", "minmax"]
VALUES += ["sigmoid", "nearest", "any", "majority", "each", "2,5,1.01"]
OPTIONS = ["positive", "void", "max-dist", "thresholds", "nms", "gt-pattern", "pred-pattern", "scale", "field-pattern"]
OPTIONS += ["negatives", "annotators", "resize-predictions", "intervals", "category"]
FLAGS = ["invert", "crop", "no-thin", "label-maps", "human", "no-check", "threads", "fresh"]
PLACES = ["--pairs=lists/pairs.csv", "--pairs=lists/bad.csv", "--classes=lists/classes.txt", "--classes=0,255"]
PLACES += ["--field=good/gt", "--preset=lists/own.toml", "--preset=lists/bad.toml", "--preset=x"]
PROTOCOLS = ["pixels", "boundaries", "regions"]
VERBS = [*PROTOCOLS, "run", "check", "check", "show", "compare", "plot", "report", "overlay", "export", "import"]
VERBS += ["merge", "nms", "presets"]
FORMATS = ["table", "json", "csv", "markdown", "latex", "x"]
KINDS = ["pr", "roc", "f", "images", "comparison"]


def of_images(verb: str, out: str, chance: random.Random) -> list[str]:
    """Make a command line that reads images."""
    gt_side = chance.choice(SIDES)
    pred_side = gt_side if chance.random() < 0.7 else chance.choice(SIDES)
    words = [gt_side.format("gt"), pred_side.format("pred")]
    more = [chance.choice(PLACES)] if chance.random() < 0.5 else []
    if more and more[0].startswith("--pairs"):
        del words[:2]
    if verb == "check":
        words.insert(0, chance.choice([*PROTOCOLS, "drive", "x"]))
    if verb == "run":
        words.insert(0, chance.choice(["drive", "lists/own.toml", "lists/bad.toml", "x"]))
    if verb != "check" and chance.random() < 0.4:
        more += ["-o", f"{out}.segbench"]
    for _ in range(chance.choice([0, 0, 0, 1, 1, 2])):
        of_value = chance.random() < 0.6
        more += [f"--{chance.choice(OPTIONS)}", chance.choice(VALUES)] if of_value else [f"--{chance.choice(FLAGS)}"]
    return [verb, *words, *more]


def of_results(verb: str, out: str, chance: random.Random) -> list[str]:
    """Make a command line that reads a results file, or a few other files."""
    results = chance.choice(RESULTS)
    protocol = chance.choice([[], ["--only", "pixels"], ["--only", "boundaries"]])
    ending, kind = chance.choice([".png", ".svg", ".pdf", ".x"]), chance.choice(KINDS)
    image = chance.choice([[], ["--image", "a"], ["--image", "../../x"]])
    return {
        "show": [verb, results, "--format", chance.choice(FORMATS)],
        "compare": [verb, results, "--format", chance.choice(FORMATS), *protocol],
        "plot": [verb, results, "-o", out + ending, "--kind", kind, *protocol],
        "report": [verb, results, "-o", f"{out}.html", "--replicates", "50", *protocol],
        "overlay": [verb, results, "-o", out, *image],
        "export": [verb, results, "--bsds", out, *protocol],
        "import": [verb, chance.choice(["official", "good/gt", "none", "lists"]), "-o", f"{out}.segbench"],
        "merge": [verb, results, chance.choice(RESULTS), "-o", f"{out}.merged"],
        "nms": [verb, chance.choice(SIDES).format("pred"), out],
        "presets": [verb, *chance.choice([[], ["bsds500"], ["lists/own.toml"], ["lists/bad.toml"], ["x"]])],
    }[verb]


def command_lines(chance: random.Random) -> Iterator[list[str]]:
    """Make command lines without end: mostly a verb with fitting arguments, some odd, some wrong."""
    while True:
        verb = chance.choice(VERBS)
        yield (of_images if verb in (*PROTOCOLS, "run", "check") else of_results)(verb, chance.choice(OUTS), chance)


def tried(words: list[str]) -> str:
    """Run a command line in this process; say what is wrong with how it ended, or nothing."""
    from segbench.cli.main import main

    sys.argv = ["segbench", *words]
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    code: object = 0
    signal.alarm(PATIENCE)
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException as error:  # noqa: BLE001  which is what is looked for
            code = f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
    err.flush()
    text = err.buffer.getvalue().decode()  # type: ignore[attr-defined]  # a BytesIO
    problems = [] if code in EXIT_CODES else [f"ended with {code}"]
    problems += [
        f"warned {warning.category.__name__}: {warning.message}"
        for warning in caught
        if not issubclass(warning.category, UserWarning)
    ]
    problems += ["printed a traceback"] if "Traceback" in text else []
    problems += ["failed and said nothing"] if code in (1, 2) and not text.strip() and not out.tell() else []
    COUNTED[f"exit {code}" if code in EXIT_CODES else "other"] += 1
    return "; ".join(problems)


COUNTED: Counter[str] = Counter()


def too_long(*_: object) -> None:
    """End a command that takes too long."""
    raise TimeoutError(f"more than {PATIENCE} s")


def fuzz(root: Path, seconds: float, seed: int) -> int:
    """Run random command lines for so long; print what went wrong, and return its number."""
    signal.signal(signal.SIGALRM, too_long)
    os.chdir(root)
    write_world(root)
    write_results(root)
    before, findings, until = tree(root), 0, time.monotonic() + seconds
    slowest, which = 0.0, [""]
    for words in command_lines(random.Random(seed)):  # noqa: S311  no secret
        started = time.monotonic()
        problem = tried(words)
        if time.monotonic() - started > slowest:
            slowest, which = time.monotonic() - started, words
        after = tree(root)
        changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        if changed:
            problem += f"; changed {changed[:3]}"
            before = after
        if problem:
            findings += 1
            print(f"  {words!r}: {problem[:600]}", flush=True)
        if time.monotonic() > until:
            break
    counts = ", ".join(f"{COUNTED[key]} {key}" for key in sorted(COUNTED))
    print(f"commands: {COUNTED.total()} ({counts}), {findings} findings, slowest {slowest:.1f} s: {which!r}")
    return findings

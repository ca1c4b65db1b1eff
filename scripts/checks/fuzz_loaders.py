"""Fuzz whatever reads files, guided by coverage: nothing but our own errors may leave, in bounded memory and time.

    pip install atheris
    python scripts/checks/fuzz_loaders.py [--seconds 60 | --runs 20000] [--target png ...] [--keep FOLDER] [--list]

Every target begins with sound small files of its kind and runs in a process of its own for so many seconds or inputs.
An exception other than `DataError` or `ArgumentError`, a warning, more than ``--memory`` megabytes or more than
``--patience`` seconds for one input is a finding: its bytes go to ``--keep``, the traceback is printed, and the exit
code is 1. ``--target png --replay FILE`` repeats one input.

Atheris (libFuzzer for Python) comes as a wheel for Linux.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # which hold the sound files

HERE = Path(tempfile.gettempdir() if not Path("/dev/shm").is_dir() else "/dev/shm")  # noqa: S108  folders in it are ours
ROLES = ("prediction", "ground truth", "field")
LONGEST = 2**15
MEMBERS = 40
INSTRUMENTED = ("segbench", "tifffile", "PIL")
OURS = ("segbench.loaders", "segbench.aggregator", "segbench.cli")
NOISE = ("INFO:", "WARNING: Failed", "#", "MS:", "0x", "Base64:", "place ", "stat::", "\t", "artifact_prefix")
FACTS = {"inputs": "number_of_executed_units", "slowest": "slowest_unit_time_sec", "memory": "peak_rss_mb"}


@dataclass(frozen=True)
class Memory:
    """A file that is only bytes."""

    name: str
    data: bytes

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """The extension."""
        return Path(self.name).suffix

    def read_bytes(self) -> bytes:
        """Return the bytes."""
        return self.data


@dataclass(frozen=True)
class Target:
    """What is fuzzed: a function of bytes, and the inputs to begin with."""

    run: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]


def chosen(data: bytes, among: tuple[str, ...]) -> str:
    """Choose by the bytes themselves, so that an input always does the same."""
    return among[zlib.crc32(data) % len(among)]


def sound(*extensions: str) -> list[bytes]:
    """Return a sound file of every kind with one of these extensions."""
    from loaders.encoders import GREY16, MASK, cell, mat, sound_files
    from scipy.io import savemat
    from scipy.sparse import csc_matrix

    files = {name: data for name, (data, _) in sound_files().items()}
    files["cell.mat"] = mat(groundTruth=cell(*[{"Boundaries": MASK, "Segmentation": GREY16}] * 2))
    files["segs.mat"] = mat(segs=cell(GREY16, GREY16))
    files["ucm2.mat"] = mat(ucm2=np.zeros((39, 47)))
    for version in ("4", "5"):
        stream = io.BytesIO()
        savemat(stream, {"a": np.eye(5), "b": "text", "c": csc_matrix(np.eye(3))}, format=version)
        files[f"{version}.mat"] = stream.getvalue()
    return [data for name, data in files.items() if Path(name).suffix.lower() in extensions]


def decode(extension: str, data: bytes) -> None:
    """Decode a file, then read its header."""
    from segbench.loaders.images import decode as decode_image
    from segbench.loaders.images import read_header

    role: Any = chosen(data, ROLES)
    source = Memory(f"a{extension}", data)
    read_header(source, role)
    decode_image(data, source, role=role)


def decode_mat_truth(data: bytes) -> None:
    """Read a MAT file as the ground truth of one of the protocols."""
    from loaders.encoders import GREY8, npy

    from segbench.loaders.listing import SampleFiles
    from segbench.loaders.reading import BOUNDARIES, MASKS, REGIONS, RawFiles, decode_sample

    reads: Any = chosen(data, (MASKS, BOUNDARIES, REGIONS))
    for truth, prediction in (("a.mat", "b.npy"), ("a.npy", "b.mat")):
        data_of = {"a.npy": npy(GREY8), "b.npy": npy(GREY8), "a.mat": data, "b.mat": data}
        files = SampleFiles("a", (Path(truth),), Path(prediction))
        with suppress(*ours()):
            decode_sample(RawFiles(files, {Path(name): data_of[name] for name in (truth, prediction)}), reads)


def archive(extension: str, data: bytes) -> None:
    """List an archive and read what it holds."""
    from segbench.loaders.images import read_header
    from segbench.loaders.listing import list_archive
    from segbench.loaders.source import read_bytes

    path = Path.cwd() / f"a{extension}"
    path.write_bytes(data)
    for member in list_archive(str(path)).entries[:MEMBERS]:
        with suppress(*ours()):
            read_bytes(member.source)
            read_header(member.source, "prediction")


def archives(extension: str) -> list[bytes]:
    """Make archives of two small files, in the ways there are."""
    members = {"a.png": sound(".png")[0], "sub/b.npy": sound(".npy")[0]}
    made = []
    if extension == ".zip":
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w", method) as packed:
                for name, data in members.items():
                    packed.writestr(name, data)
            made.append(stream.getvalue())
        return made
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz" if extension == ".tar.gz" else "w:", format=form) as tar:
            for name, data in members.items():
                info = tarfile.TarInfo(name if form == tarfile.USTAR_FORMAT else f"{'x' * 120}/é/{name}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        made.append(stream.getvalue())
    return made


def file_list(data: bytes) -> None:
    """Read a list of pairs."""
    from segbench.loaders.file_list import column_of, method_columns, read_list

    Path("list.csv").write_bytes(data)
    for method in method_columns("list.csv"):
        read_list("list.csv", column_of("list.csv", method))


def preset(data: bytes) -> None:
    """Read a preset, and look for its places."""
    from segbench.loaders.presets import load_preset

    Path("own.toml").write_bytes(data)
    loaded = load_preset("own.toml")
    for role in ("ground_truth", "field", "images"):
        with suppress(*ours()):
            loaded.place(role, Path())


def classes(data: bytes) -> None:
    """Read a file of classes, and the same as text of the command line."""
    from segbench.inputs.class_names import classes_of, read_classes
    from segbench.loaders.pairing import Pattern

    Path("classes.txt").write_bytes(data)
    text = data.decode("utf-8", "surrogateescape")
    for read in (
        lambda: classes_of("classes.txt"),
        lambda: read_classes(text),
        lambda: Pattern.parse(text, "gt_pattern", tagged=True),
    ):
        with suppress(*ours()):
            read()


def official(data: bytes) -> None:
    """Import text files of the official benchmarks: the input is cut at null bytes, each part is a file."""
    from segbench.aggregator.importing import import_bsds

    names = ("a_ev1.txt", "b_ev1.txt", "eval_bdry_thr.txt", "eval_bdry.txt", "eval_bdry_img.txt")
    for name in names:
        Path("eval", name).unlink(missing_ok=True)
    for name, part in zip(names, data.split(b"\0"), strict=False):
        if part:
            Path("eval", name).write_bytes(part)
    for result in import_bsds("eval"):
        figures(result)


def official_seeds() -> list[bytes]:
    """Write what the official benchmarks leave behind."""
    counts = b"0.25 5 10 4 9\n0.5 3 10 3 5\n0.75 1 10 1 2\n"
    rows = b"0.25 0.5 0.444444 0.470588\n0.5 0.3 0.6 0.4\n0.75 0.1 0.5 0.166667\n"
    best = b"0.25 0.5 0.444444 0.470588 0.5 0.444444 0.470588 0.2\n"
    image = b"1 0.25 0.5 0.444444 0.470588\n"
    parts = [counts, counts, rows, best, image, b"0.5 0.6 0.55 0.7\n", b"0.5 0.6\n0.7 0.5\n", b"0.5 0.8 0.82 2 1.9\n"]
    return [b"\0".join(parts), counts, b"\0\0" + b"\0".join(parts[2:5]), b"\0\0\0" + best, b"\0" * 5 + parts[5]]


def figures(result: Any) -> None:  # noqa: ANN401  a Result, which is not to be imported before it is instrumented
    """Ask a result for all that is drawn from it."""
    from segbench.report.documents import document
    from segbench.report.tables import TableSettings

    document([result], "csv")
    with suppress(*ours()):
        document([result], "csv", TableSettings(rows="image"))
    with suppress(*ours()):
        _ = result.curve


def results_file(data: bytes) -> None:
    """Take any bytes as a results file."""
    from segbench.aggregator.assembling import load_results

    for beside in ("r.segbench-wal", "r.segbench-shm", "r.segbench-journal"):
        Path(beside).unlink(missing_ok=True)
    Path("r.segbench").write_bytes(data)
    for result in load_results("r.segbench"):
        with suppress(*ours()):
            figures(result)


def results() -> list[Any]:
    """Evaluate two tiny images by every protocol."""
    import segbench

    rng = np.random.default_rng(0)
    for kind in ("gt", "pred"):
        Path(kind).mkdir(exist_ok=True)
    for name in "ab":
        np.save(Path("gt", name), rng.integers(0, 2, (9, 11), dtype=np.uint8))
        np.save(Path("pred", name), rng.integers(0, 4, (9, 11), dtype=np.uint8))
    protocols: list[Any] = [
        segbench.Pixels(positive="1"),
        segbench.Boundaries(positive="1", thresholds=3),
        segbench.Regions(),
    ]
    kept = Path("seed.segbench")
    return [segbench.evaluate("gt", "pred", protocol, results=kept) for protocol in protocols]


def stored() -> list[bytes]:
    """Return a results file."""
    results()
    with closing(sqlite3.connect("seed.segbench")) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    return [Path("seed.segbench").read_bytes()]


def rows_of_results(data: bytes) -> None:
    """Write texts and packed counts into a sound results file: the input is cut at null bytes, each part a column."""
    with closing(sqlite3.connect("seed.segbench")) as database, database:
        columns = (
            "method",
            "protocol",
            "counting",
            "settings",
            "measuring",
            "signature",
            "notes",
            "inputs",
            "published",
        )
        run, _, image = data.partition(b"\0\0")
        values = run.split(b"\0")[: len(columns)]
        changes = ", ".join(f"{column} = CAST(? AS TEXT)" for column in columns[: len(values)])
        database.execute(f"UPDATE OR REPLACE runs SET {changes} WHERE id = 1", values)  # noqa: S608  our own names
        labels, _, counts = image.partition(b"\0")
        packed = zstandard.compress(counts) if zlib.crc32(data) % 4 else counts
        database.execute("UPDATE images SET label_values = CAST(? AS TEXT), counts = ? WHERE run = 1", (labels, packed))
    results_file(Path("seed.segbench").read_bytes())


def row_seeds() -> list[bytes]:
    """Return the rows of results of every protocol as `rows_of_results` takes them."""
    seeds = []
    stored()
    with closing(sqlite3.connect("seed.segbench")) as database:
        for key, *run in database.execute(
            "SELECT id, method, run_name, protocol, counting, settings, measuring, signature, notes, inputs, published "
            "FROM runs"
        ).fetchall():
            images = database.execute("SELECT label_values, counts FROM images WHERE run = ?", (key,)).fetchall()
            rows = [labels.encode() + b"\0" + zstandard.decompress(counts) for labels, counts in images[:1]]
            seeds.append(b"\0\0".join(["\0".join(run).encode(), *rows]))  # a published curve has no images
    return seeds


def packed_counts(data: bytes) -> None:
    """Unpack counts, of which the header is fuzzed and not the compression around it."""
    from segbench.aggregator.codec import decode as unpack

    unpack(data if data.startswith(b"{") and zlib.crc32(data) % 2 else zstandard.compress(data))


def packed_seeds() -> list[bytes]:
    """Return counts of every kind, unpacked, and packed ones of two classes."""
    from segbench import ClassCounts, ScoreCounts
    from segbench.aggregator.codec import encode

    made = [encode(counts) for result in results() for counts in result.counts.values()]
    levels, score, count = np.arange(9), np.array([0.5]), np.array([1])
    floats = ScoreCounts(np.linspace(1, 0.1, 9) ** 0.5, levels, levels)
    of_classes = (ScoreCounts(score, count, 2 * count), ScoreCounts(score, 2 * count, count))
    return [*map(zstandard.decompress, [*made, encode(floats)]), encode(ClassCounts(("a", "b"), of_classes))]


IMAGES = {
    "png": (".png",), "jpeg": (".jpg", ".jpeg"), "bmp": (".bmp",), "gif": (".gif",), "webp": (".webp",),
    "pgm": (".pgm", ".ppm", ".pbm", ".pnm"), "pfm": (".pfm",), "tiff": (".tif", ".tiff"), "npy": (".npy",),
    "npz": (".npz",), "mat": (".mat",),
}  # fmt: skip
TARGETS = {name: Target(partial(decode, kinds[0]), partial(sound, *kinds)) for name, kinds in IMAGES.items()}
TARGETS |= {
    kind: Target(partial(archive, f".{kind}"), partial(archives, f".{kind}")) for kind in ("zip", "tar", "tar.gz")
}
TARGETS |= {
    "mat-truth": Target(decode_mat_truth, partial(sound, ".mat")),
    "csv": Target(
        file_list,
        lambda: [
            b"name,ground_truth,ground_truth,prediction:a,prediction:b,field\n1,gt/a.npy,,pred/a.npy,pred/b.npy,gt/a.npy\n",
            b'name,ground_truth,prediction,other\n"1\n",gt/a.npy,pred/a.npy,7\n',
        ],
    ),
    "preset": Target(preset, lambda: [path.read_bytes() for path in sorted(data_sets().glob("*.toml"))]),
    "classes": Target(classes, lambda: [b"0 road\n13: car\n# no\n", b"0-18", b"road=0,car=13"]),
    "bsds": Target(official, official_seeds),
    "results": Target(results_file, stored),
    "rows": Target(rows_of_results, row_seeds),
    "counts": Target(packed_counts, packed_seeds),
}


def data_sets() -> Path:
    """Find the presets that ship."""
    import segbench

    return Path(segbench.__path__[0], "data_sets")


def modules_of_ours() -> Iterator[str]:
    """Name all modules of segbench."""
    package = data_sets().parent
    for path in package.rglob("*.py"):
        yield ".".join(("segbench", *path.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def ours() -> tuple[type[Exception], ...]:
    """Name what may leave."""
    from segbench.core.errors import ArgumentError, DataError

    return ArgumentError, DataError


def one_input(target: Target, data: bytes) -> None:
    """Run one input; whatever leaves this is a finding."""
    with warnings.catch_warnings(action="error"), suppress(*ours()):
        target.run(data)


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    import atheris

    # What Numba compiles must stay as it is: it is kept for all who run segbench.
    spared = [name for name in modules_of_ours() if not name.startswith(OURS)]
    with atheris.instrument_imports(include=list(INSTRUMENTED), exclude=spared, enable_loader_override=False):
        import segbench.aggregator.benchmark
        import segbench.aggregator.importing
        import segbench.loaders.reading  # noqa: F401  imported to be instrumented, as all of these
    scratch = Path(tempfile.mkdtemp(dir=HERE, prefix="segbench_fuzz_"))
    for folder in ("corpus", "eval", "gt", "pred"):
        (scratch / folder).mkdir()
    os.chdir(scratch)
    results()
    target = TARGETS[name]
    for number, seed in enumerate(target.seeds()):
        Path("corpus", str(number)).write_bytes(seed)
    print(f"place {scratch}", file=sys.stderr)
    atheris.Setup([name, *arguments, "corpus"], partial(one_input, target))
    atheris.Fuzz()


def measured(name: str, options: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Fuzz one target in a process of its own; return what was measured, and the output if something was found."""
    limits = [f"-max_total_time={options.seconds}"] if options.runs is None else [f"-runs={options.runs}"]
    limits += [f"-rss_limit_mb={options.memory}", f"-timeout={options.patience}", f"-max_len={LONGEST}"]
    kept = options.keep.absolute()
    kept.mkdir(parents=True, exist_ok=True)
    limits += ["-print_final_stats=1", "-len_control=0", f"-seed={options.seed}", f"-artifact_prefix={kept}/{name}-"]
    answer = subprocess.run(
        [sys.executable, __file__, "--child", name, *limits],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    output = answer.stdout + answer.stderr
    facts = {
        fact: float(match[1]) for fact, key in FACTS.items() if (match := re.search(rf"stat::{key}:\s+(\d+)", output))
    }
    for scratch in re.findall(r"^place (.*)$", output, re.MULTILINE):
        subprocess.run(["/bin/rm", "-r", "--", scratch], check=False)
    return facts, output if answer.returncode else ""


def told(output: str) -> Iterator[str]:
    """Return the lines of a finding that matter: the traceback, or what libFuzzer says."""
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if re.search("exception|ERROR: libFuzzer|^Traceback", line)), 0)
    yield from (line for line in lines[start:] if line and not line.startswith(NOISE))


def main() -> None:
    """Fuzz all targets, or those asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this one; may be repeated")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--runs", type=int, help="inputs for each target, in place of seconds")
    parser.add_argument("--memory", type=int, default=2048, help="megabytes that are too many")
    parser.add_argument("--patience", type=int, default=20, help="seconds that are too many for one input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz_findings"), help="folder for inputs that are findings")
    parser.add_argument("--list", action="store_true", help="name the targets")
    parser.add_argument("--replay", type=Path, help="run this one input of one --target, with its traceback")
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    if options.list:
        print("\n".join(TARGETS))
        return
    if options.replay:
        replay(TARGETS[names[0]], options.replay.read_bytes())
        return
    if not importlib.util.find_spec("atheris"):
        parser.error("this needs atheris: pip install atheris (Linux)")
    findings = 0
    print(f"{'target':10} {'inputs':>9} {'a second':>9} {'slowest':>9} {'memory':>9}")
    for name in names:
        facts, output = measured(name, options)
        rate = f"{facts.get('inputs', 0) / options.seconds:.0f}" if options.runs is None else ""
        print(
            f"{name:10} {facts.get('inputs', 0):9.0f} {rate:>9} {facts.get('slowest', 0):7.0f} s "
            f"{facts.get('memory', 0):6.0f} MB{'  FINDING' if output else ''}",
            flush=True,
        )
        if output:
            findings += 1
            print("\n".join(f"    {line}" for line in told(output)), flush=True)
    if findings:
        raise SystemExit(f"{findings} of {len(names)} targets ended with a finding; inputs are in {options.keep}")


def replay(target: Target, data: bytes) -> None:
    """Run one input outside libFuzzer."""
    with tempfile.TemporaryDirectory(dir=HERE) as scratch:
        os.chdir(scratch)
        for folder in ("eval", "gt", "pred"):
            Path(folder).mkdir()
        results()
        one_input(target, data)
        print("no finding")
        os.chdir("/")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        fuzz(sys.argv[2], sys.argv[3:])
    else:
        main()

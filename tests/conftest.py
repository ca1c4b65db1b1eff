"""Settings of all tests, and what runs the program inside the test's process, which starts in no time."""

import functools
import gc
import inspect
import os
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import pytest
from advised import wrong_advice
from cases import write_papers
from hypothesis import settings

# As many processes as cores run tests already. More threads of linear algebra in each only wait for one another.
# NumPy reads these when it is first imported.
for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# The first use of a compiled loop takes as long as compiling it does; tests assert no times. Every run draws other
# examples, so few of them in each run are many in a week.
settings.register_profile("segbench", deadline=None, max_examples=40)
settings.load_profile("segbench")


def pytest_collection_finish():
    """Exclude thousands of tests and the packages they import from garbage collections, and make these rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


class Answer(NamedTuple):
    code: int
    out: str
    err: str
    error: object = None
    """The error that ended it, or the message of Click's, with kind and values, which `refusing.insist` compares."""


@functools.cache
def _of_python():
    """Return a pattern of arguments and calls in Python, which no command should print."""
    import segbench as library
    from segbench import Repairs, evaluate

    protocols = "Anomalies Boundaries Centerlines Classes Contours Labels Objects Pixels Regions Saliency"
    kinds = (Repairs, *(getattr(library, name) for name in protocols.split()))
    names = {*inspect.signature(evaluate).parameters, *(field.name for kind in kinds for field in fields(kind))}
    calls = "|".join(kind.__name__ for kind in kinds)
    argument = rf"(?<![\w:-])(?:{'|'.join(names)})=[.\d\"'(\[A-Z]"
    return re.compile(rf"{argument}|\b(?:{calls}|evaluate|load_results|plot_\w+)\(")


@pytest.fixture
def segbench(monkeypatch, capsys):
    """Run a command line; return its exit code and what it printed."""
    from segbench import SegbenchError
    from segbench.cli.command import UsageError
    from segbench.cli.main import main

    mistyped, show = [], UsageError.show
    monkeypatch.setattr(UsageError, "show", lambda error: mistyped.append(error.said) or show(error))

    def run(*arguments):
        mistyped.clear()
        monkeypatch.setattr(sys, "argv", ["segbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        ended_by = exit_.value.__context__
        error = ended_by if isinstance(ended_by, SegbenchError) else next(iter(mistyped), None)
        answer = Answer(exit_.value.code or 0, *capsys.readouterr(), error)
        assert not _of_python().search(answer.out + answer.err)
        messages = answer.err + (answer.out if arguments[:1] == ("check",) and "Usage:" not in answer.out else "")
        assert wrong_advice([*map(str, arguments)], messages) == []
        return answer

    return run


@pytest.fixture
def install(monkeypatch, tmp_path_factory):
    """Install protocols of another package for this process, as long as the test runs; return their folder."""
    from segbench.protocols import registry

    def forget():
        for known in vars(registry).values():
            if hasattr(known, "cache_clear"):
                known.cache_clear()

    site = tmp_path_factory.mktemp("site")

    def add(protocols, **modules):
        for module, source in modules.items():
            (site / f"{module}.py").write_text(source)
        listed = "".join(f"{name} = {place}\n" for name, place in protocols.items())
        metadata = site / "trimap_benchmark-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: trimap-benchmark\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[segbench.protocols]\n{listed}")
        monkeypatch.syspath_prepend(site)
        forget()
        return site

    before = set(sys.modules)
    yield add
    monkeypatch.undo()
    forget()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(site)):
            del sys.modules[name]


@pytest.fixture(scope="module")
def _counted(tmp_path_factory):
    return tmp_path_factory.mktemp("counted")


@pytest.fixture
def counted_once(segbench, _counted, tmp_path):
    """Run a command that writes a results file for the first test of a module, and give each test a copy."""

    def run(name, *arguments):
        if not (_counted / name).exists():
            assert segbench("pixels", *arguments, "-o", _counted / name).code == 0
        return Path(shutil.copy(_counted / name, tmp_path))

    return run


@pytest.fixture
def papers(tmp_path):
    """Return the folders of ground truth and predictions of the example of `cases.write_papers`."""
    return write_papers(tmp_path)


@pytest.fixture
def open_place():
    """A folder that other users can reach, with the example of `cases.write_papers` in ``data``."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        write_papers(Path(place) / "data")
        yield Path(place)


@pytest.fixture
def as_nobody():
    """Within a block, give up root's right to write anywhere, where we have it."""

    @contextmanager
    def unprivileged():
        if os.geteuid():
            yield
            return
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return unprivileged


@pytest.fixture
def small_files(monkeypatch):
    """Within a block, let no file of this process grow beyond some bytes, as on a full disk."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited(size):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python 3.11 would keep half of a compiled module
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited

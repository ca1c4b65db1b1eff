"""The results file: one SQLite database that holds runs, their counts image by image, and what failed.

Every batch of images is one transaction in the write-ahead log, so a killed process loses at most what was in flight. A
power cut leaves the file whole too (``synchronous = NORMAL``), but may lose the transactions since the last checkpoint,
about every four megabytes; they are counted again. A finished run is on the disk: it ends with a checkpoint. Counts
are packed by `segbench.aggregator.codec`; nothing is unpickled.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from heapq import merge
from itertools import chain, count, groupby
from operator import attrgetter
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from segbench._version import __version__
from segbench.aggregator.records import (
    Outcome,
    Run,
    StoredNotes,
    read_inputs,
    read_outcome,
    read_run,
    reference,
    references,
)
from segbench.core.errors import ArgumentError, DataError, Failure
from segbench.core.messages import Either, Message, Note, Setting
from segbench.core.names import MethodRun
from segbench.loaders.source import shown

APPLICATION_ID = 0x5E6B_E9C4
SCHEMA = 7
_SQLITE = b"SQLite format 3\0"
_ID_PLACE = slice(68, 72)
"""The bytes of a database that hold the application's number."""
_PATIENCE = 60.0
_HEADS = {
    "": (_SQLITE,),
    "-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),
    "-journal": (b"\xd9\xd5\x05\xf9", b"\0\0\0\0"),
}
"""How a results file begins, and the logs beside it, which SQLite removes."""
_ANOTHER = "give another file name"
_AGAIN = "run again into a new file"
_TABLES = (
    """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    method TEXT NOT NULL,
    run_name TEXT NOT NULL,          -- which training or fold of the method, empty where it has none
    protocol TEXT NOT NULL,
    counting TEXT NOT NULL,          -- JSON object: the protocol and its settings of counting
    settings TEXT NOT NULL,          -- JSON object: further settings of counting, as in the signature
    measuring TEXT NOT NULL,         -- JSON object: the protocol's settings of measuring, as last asked for
    assigned TEXT NOT NULL,          -- JSON object: what images belong to, such as groups, as last asked for
    complete INTEGER NOT NULL,       -- 1, or 0 for images counted towards the next complete run
    signature TEXT NOT NULL,         -- until the run is complete only how many images there are: images:9
    notes TEXT NOT NULL,             -- JSON list of digests of notes
    inputs TEXT NOT NULL,            -- JSON object, empty for results that others counted
    version TEXT NOT NULL,           -- the segbench that counts; another one counts again
    published TEXT NOT NULL,         -- JSON of a curve known from print, which has no images
    UNIQUE (method, run_name, protocol, counting, settings, complete)
)
""",
    """
CREATE TABLE images (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,            -- content of all files of the image
    ground_truth_digest TEXT NOT NULL,
    counts BLOB,                     -- packed, NULL where the image failed
    label_values TEXT NOT NULL,      -- JSON list
    failure TEXT NOT NULL,           -- JSON object where there are no counts, else empty
    notes TEXT NOT NULL,             -- JSON list of digests of notes, some with what is said of this image alone
    seconds REAL NOT NULL,
    PRIMARY KEY (run, name)
)
""",
    """
CREATE TABLE notes (
    digest TEXT PRIMARY KEY,         -- of the JSON
    note TEXT NOT NULL,              -- JSON object
    text TEXT NOT NULL               -- as it is written for Python, for other programs
)
""",
    """
CREATE TABLE pooled (
    run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    digest TEXT NOT NULL,            -- of the images that were pooled
    numbers TEXT NOT NULL,           -- JSON object of lists: what the counts below do not tell of all
    counts BLOB NOT NULL             -- packed, at a choice of the thresholds
)
""",
)
_COLUMNS = {
    "runs": "id method run_name protocol counting settings measuring assigned complete signature notes inputs version "
    "published",
    "images": "run name digest ground_truth_digest counts label_values failure notes seconds",
    "notes": "digest note text",
    "pooled": "run digest numbers counts",
}
_OF_IMAGE = _COLUMNS["images"].removeprefix("run ").replace(" ", ", ")
_HINTS = {
    "SQLITE_FULL": (
        Message("disk-full", "cannot grow because the disk is full"),
        "free some space and try again",
    ),
    "SQLITE_IOERR_WRITE": (
        Message("unwritable", "cannot be written"),
        "free some space, check limits on file size, and try again",
    ),
    "SQLITE_READONLY": (
        Message("read-only", "cannot be changed because it is read-only"),
        "name another file, or change its permissions",
    ),
    "SQLITE_CANTOPEN": (
        Message("unopenable", "cannot be opened, or made"),
        "check the permissions of its folder, or name another file",
    ),
    "SQLITE_BUSY": (
        Message("locked", "has been locked by another process for a minute"),
        "wait until it is done, and try again",
    ),
}
_KEPT = "; what was counted before is kept"
_OTHER_FILES = {".csv", ".json", ".md", ".tex", ".txt", ".html", ".pdf", ".svg", ".png"}


def require_results_name(path: Path) -> None:
    """Refuse to write a results file under a name that says it is something else."""
    if path.suffix.lower() in _OTHER_FILES:
        others = Either(
            "result.to_dataframe, to_dict, plot_pr and export_report", "segbench show, plot, report and export"
        )
        raise ArgumentError(
            Message(
                "not-a-database",
                "{path}: a results file is a database, so name it {name}; for other kinds of files see {others}",
                path=str(path),
                name=f"{path.stem}.segbench",
                others=others,
            )
        )


def require_results_place(path: Path) -> None:
    """Refuse to write a results file where none can be, or over a file that segbench did not write."""
    require_results_name(path)
    if os.path.isdir(path):  # noqa: PTH112  False where Path raises: names too long, folders one may not enter
        raise DataError(str(path), Message("folder", "is a folder, not a results file"), "give the name of a file")
    if not os.path.isdir(path.parent):  # noqa: PTH112  as above
        problem = Message("no-folder", "its folder does not exist")
        raise DataError(str(path), problem, "make the folder first, or give another file name")
    for ending, heads in _HEADS.items():
        file = Path(f"{os.path.realpath(path)}{ending}")
        if os.path.isfile(file):  # noqa: PTH113  as above
            with suppress(OSError), file.open("rb") as opened:  # SQLite says why a file cannot be opened
                head = opened.read(len(_SQLITE))
                if head and not head.startswith(heads):
                    raise ArgumentError(
                        Message(
                            "foreign",
                            "{path} exists and was not written by segbench; {hint}",
                            path=shown(file),
                            hint=_ANOTHER,
                        )
                    )


def is_results_file(path: Path) -> bool:
    """Return whether a file is a results file by its content, also one that another process is writing."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            head = file.read(_ID_PLACE.stop)
    except (OSError, ValueError):
        return False
    # Of a new file the number may still be in the write-ahead log.
    log = Path(f"{os.path.realpath(path)}-wal")
    is_ours = int.from_bytes(head[_ID_PLACE], "big") == APPLICATION_ID
    return head.startswith(_SQLITE) and (is_ours or log.exists())


def _uri(path: Path, *, create: bool = False) -> str:
    """Name a database, for writing where one may write, else for reading alone."""
    if create:
        mode = "mode=rwc"
    elif writable(path) and writable(path.parent):
        mode = "mode=rw"
    else:
        # Readers of a write-ahead log keep a file beside it. Where there is no log, nothing changes: none is needed.
        log = path.with_name(f"{path.name}-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    return f"{path.absolute().as_uri()}?{mode}"


def writable(path: Path) -> bool:
    """Return whether a file or folder may be written."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def prepare(database: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Make the tables of a new file where one is wanted; refuse one that is not ours."""
    if _is_new(database):
        if not create:
            command = Either("evaluate(GT, PRED, results=FILE)", "segbench pixels GT PRED -o FILE")
            hint = Message("make-file", "make a results file with: {command}", command=command)
            raise DataError(str(path), Message("empty", "is empty"), hint)
        safe = _write_ahead(database)
        database.execute("BEGIN IMMEDIATE")
        try:
            if _is_new(database):  # no other process was quicker
                for statement in _TABLES:
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                database.execute(f"PRAGMA user_version = {SCHEMA}")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
    else:
        safe = _value_of(database, "PRAGMA journal_mode") == "wal"
    if _value_of(database, "PRAGMA application_id") != APPLICATION_ID:
        raise _foreign(path, create=create)
    if _value_of(database, "PRAGMA user_version") != SCHEMA:
        raise DataError(str(path), Message("other-version", "was written by another version of segbench"), _AGAIN)
    if not _is_plain(database):
        raise DataError(str(path), Message("other-tables", "holds other tables than segbench makes"), _AGAIN)
    database.execute("PRAGMA foreign_keys = ON")
    # Without a write-ahead log, as on some network disks, only FULL survives a power cut.
    database.execute(f"PRAGMA synchronous = {'NORMAL' if safe else 'FULL'}")


def _foreign(path: Path, *, create: bool) -> ArgumentError | DataError:
    """Return the error of a database that segbench did not write: of the command line if it was to be written to."""
    if create:
        problem = Message("foreign", "{path} is a database of another program; {hint}", path=str(path), hint=_ANOTHER)
        return ArgumentError(problem)
    return DataError(str(path), Message("foreign", "is a database of another program"), _ANOTHER)


def _is_plain(database: sqlite3.Connection) -> bool:
    """Return whether there is nothing but our tables: views, triggers and computed columns could run what they like."""
    kinds = "SELECT type, name, sql LIKE 'CREATE TABLE%' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    if database.execute(kinds).fetchall() != [("table", name, 1) for name in sorted(_COLUMNS)]:
        return False
    columns = {name: database.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in _COLUMNS}
    return all(
        " ".join(name for _, name, *_ in rows) == _COLUMNS[table] and not any(hidden for *_, hidden in rows)
        for table, rows in columns.items()
    )


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> DataError:
    """Say what an error of SQLite means, and what to do."""
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_NOTADB":
        problem = Message("not-a-results-file", "is not a results file ({reason})", reason=str(error))
        return DataError(str(path), problem, "give one of a run, or name another file")
    for name, (known, hint) in _HINTS.items():
        if code.startswith(name):
            return DataError(str(path), known + f" ({error})", hint + _KEPT)
    problem = Message("unusable", "cannot be used as a results file ({reason})", reason=str(error))
    return DataError(str(path), problem, "check the disk and permissions, or name another file")


def _is_new(database: sqlite3.Connection) -> bool:
    ids = (_value_of(database, "PRAGMA application_id"), _value_of(database, "PRAGMA user_version"))
    return ids == (0, 0) and not database.execute("SELECT 1 FROM sqlite_master").fetchone()


def _write_ahead(database: sqlite3.Connection) -> bool:
    """Turn the write-ahead log on, which SQLite refuses at once, without waiting, while another process does so."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return bool(_value_of(database, "PRAGMA journal_mode = WAL") == "wal")
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _value_of(database: sqlite3.Connection, statement: str) -> Any:  # noqa: ANN401  numbers and texts
    (value,) = database.execute(statement).fetchone()
    return value


def _but_for(*names: str) -> str:
    """Match the runs of a method that differ at most in some settings."""
    paths = ", ".join(f"'$.{name}'" for name in names)
    columns = "method, run_name, protocol, counting"
    return f"({columns}, json_remove(settings, {paths})) = (?, ?, ?, ?, json_remove(?, {paths}))"


_SAME = _but_for("missing")  # whichever images lack a prediction
_STOPPED = (
    "id IN (SELECT run FROM images) AND "
    "(method, run_name, protocol, counting, json_remove(settings, '$.missing')) NOT IN "
    "(SELECT method, run_name, protocol, counting, json_remove(settings, '$.missing') FROM runs WHERE complete)"
)
# Settings that are not JSON are left to those who read the row.
_BEGUN = (
    "SELECT count(*) FROM runs AS begun JOIN images ON run = begun.id WHERE NOT begun.complete AND "
    "(begun.method, begun.run_name, begun.protocol, begun.counting) = "
    "(runs.method, runs.run_name, runs.protocol, runs.counting) AND "
    "iif(json_valid(begun.settings), json_remove(begun.settings, '$.missing'), '') = "
    "iif(json_valid(runs.settings), json_remove(runs.settings, '$.missing'), '')"
)
_ASTRAY = (
    "SELECT 1 FROM runs WHERE complete NOT IN (0, 1) UNION ALL "
    "SELECT 1 FROM (SELECT DISTINCT run FROM images) WHERE run NOT IN (SELECT id FROM runs)"
)


_LARGE, _HELD = 2**16, 2**24
"""Packed counts of an image of more bytes stay in the results file, and those of a run after so many bytes."""
_PAGE = 2**20


class Begun(NamedTuple):
    """A run that was begun, by its key, and the keys of runs with images that need not be counted again, if any."""

    file: ResultsFile
    key: int
    same_runs: list[int]  # this run, and a complete one of the same
    other_parts: list[int]  # of other parts of the set


class Shared(NamedTuple):
    """An image that a run of another file has, too."""

    name: str
    same_files: bool
    counted_here: bool
    counted_there: bool


class Replaced(NamedTuple):
    """What a run is about to replace: how many images, how many of which it lacks, and whether it has any of them."""

    signature: str
    images: int
    lacking: int
    shares_images: bool


class Finished(Protocol):
    """What a `segbench.Result` is here."""

    @property
    def signature(self) -> str:
        """The signature."""

    @property
    def digests(self) -> Mapping[str, str]:
        """The content of the files of each image that was counted."""

    @property
    def failed(self) -> Mapping[str, Failure]:
        """Why others could not be counted."""


class ResultsFile:
    """A results file, opened for reading and writing; use it in a ``with`` statement.

    With `create` the file is made where there is none, but not under a name that says CSV, a picture or the like. One
    that gets its name only when it is complete is `written_as` another one; errors still name `path`.
    """

    def __init__(self, path: Path, *, create: bool = False, written_as: Path | None = None) -> None:
        self.path = path
        self._notes = StoredNotes(self._note)
        if create:
            require_results_place(path)
        elif os.path.isdir(path):  # noqa: PTH112  False where Path raises: names too long, folders one may not enter
            problem = Message("folder", "is a folder, not a results file")
            raise DataError(str(path), problem, "give the file that a run wrote")
        elif not os.path.isfile(path):  # noqa: PTH113  as above
            run = Either("evaluate(gt, pred, results=FILE)", "segbench pixels GT PRED -o FILE")
            hint = Message("make-file", "correct the path, or create the file: {command}", command=run)
            raise DataError(str(path), Message("not-found", "not found"), hint)
        with self._readable():
            database_uri = _uri(written_as or path, create=create)
            self._database = sqlite3.connect(database_uri, timeout=_PATIENCE, isolation_level=None, uri=True)
            try:
                prepare(self._database, path, create=create)
            except BaseException:
                self._database.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite words some errors with what it found
            raise explained(self.path, error) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._readable():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # SQLite itself rolls back where the disk is full
                    self._database.execute("ROLLBACK")
                raise

    def begin(self, run: Run, *, fresh: bool = False) -> Begun:
        """Start a run, or continue the one of the same method and settings of counting.

        A complete run of the same stays as it is until this one is finished. What another version of segbench counted
        is not gone on with; with `fresh` nothing is, and predictions in another folder may replace it.
        """
        identity = run.identity
        *_, settings = identity
        alike = _but_for("missing", "subset")
        with self._transaction():
            self._refuse_other_kind(run)
            begun = f"SELECT id, version FROM runs WHERE {_SAME} AND NOT complete"  # noqa: S608  texts of this module
            for key, version in self._database.execute(begun, identity).fetchall():
                self._database.execute("UPDATE runs SET settings = ? WHERE id = ?", (settings, key))
                if fresh or version != __version__:
                    self._database.execute("DELETE FROM images WHERE run = ?", (key,))
            if fresh:
                # Also where this run is cut short and continued without `fresh`; it may be replaced then, see below.
                self._database.execute(f"UPDATE runs SET version = '' WHERE {alike}", identity)  # noqa: S608  as above
            images = "" if run.images is None else f"images:{run.images}"
            key = self._write_run(run, complete=False, signature=images, version=__version__)
            others = f"SELECT id FROM runs WHERE {alike} AND NOT {_SAME} AND version = ?"  # noqa: S608  as above
            other_parts = self._database.execute(others, (*identity, *identity, __version__))
            return Begun(self, key, self._same_runs(key, run), self._with_images(chain.from_iterable(other_parts)))

    def _refuse_other_kind(self, run: Run) -> None:
        """Refuse a run of a method that is stored without runs, and a method without runs that is stored with some."""
        query = (
            "SELECT run_name FROM runs WHERE (method, protocol, counting) = (?, ?, ?) AND (run_name = '') != ? "
            "AND (complete OR id IN (SELECT run FROM images))"
        )
        parameters = run.method, run.protocol, run.stored.counting, run.run == ""
        names = [name for (name,) in self._database.execute(query, parameters)]
        if not names:
            return
        if run.run:
            problem = Message(
                "run-and-method",
                "holds {method!r} without runs, so {run!r} cannot be a run beside it",
                method=run.method,
                run=run.label,
            )
        else:
            problem = Message(
                "run-and-method",
                "holds runs of {method!r} ({runs}), so it cannot hold it without a run",
                method=run.method,
                runs=list(dict.fromkeys(names)),
            )
        free = next(str(k) for k in count(1) if str(k) not in names)
        path = shown(run.inputs.prediction) if run.inputs and run.inputs.prediction else "PRED"
        another = MethodRun(f"{run.method}-2", run.run)
        other = Either(f"method={another.method!r}", quote(f"{another}={path}"))
        if run.run:
            hint = Message(
                "another-name",
                "count both as runs into a new file, or give this method another name: {other}",
                other=other,
            )
        else:
            typed = Either(f"run={free!r}", quote(f"{run.method}@{free}={path}"))
            hint = Message(
                "another-name", "name its run, {run}, or give it another name: {other}", run=typed, other=other
            )
        raise DataError(str(self.path), problem, hint)

    def _same_runs(self, key: int, run: Run) -> list[int]:
        """Return the key of a begun run, and that of the complete run of the same settings, if they have images."""
        complete = f"SELECT id FROM runs WHERE complete AND {_SAME} AND version = ?"  # noqa: S608  as above
        rows = self._database.execute(complete, (*run.identity, __version__))
        return self._with_images([key, *chain.from_iterable(rows)])

    def _with_images(self, keys: Iterable[int]) -> list[int]:
        query = "SELECT 1 FROM images WHERE run = ?"
        return [key for key in list(keys) if self._database.execute(query, (key,)).fetchone()]

    def counted(self, begun: Begun, run: Run, names: Sequence[str]) -> Iterator[Outcome]:
        """Read the outcomes of images of a run, counted now or before, at once: another process may complete it."""
        with self._readable():
            self._database.execute("BEGIN")
            try:
                yield from self.outcomes(self._same_runs(begun.key, run), names)
            finally:
                self._database.execute("COMMIT")

    def _write_run(self, run: Run, *, complete: bool, signature: str, version: str) -> int:
        """Write the row of a run in place of one of the same settings; return its key."""
        self._add_notes(run.notes)
        (key,) = self._database.execute(
            "INSERT INTO runs (method, run_name, protocol, counting, settings, measuring, assigned, complete, "
            "signature, notes, inputs, version, published) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET signature = excluded.signature, notes = excluded.notes, "
            "measuring = excluded.measuring, assigned = excluded.assigned, "
            "inputs = CASE WHEN complete OR id NOT IN (SELECT run FROM images) THEN excluded.inputs ELSE inputs END, "
            "version = excluded.version, published = excluded.published RETURNING id",
            (
                *run.identity,
                run.stored.measuring,
                run.assigned_json,
                complete,
                signature,
                references(run.notes),
                run.inputs_json,
                version,
                run.published,
            ),
        ).fetchone()
        return int(key)

    def _add_notes(self, notes: Iterable[Note]) -> None:
        """Add notes that the file does not hold yet."""
        rows = dict.fromkeys(map(reference, notes))
        self._database.executemany("INSERT OR IGNORE INTO notes VALUES (?, ?, ?)", rows)

    def _note(self, digest: str) -> Any:  # noqa: ANN401  a text, unless another program wrote it
        """Return the JSON of a note by its digest; None where there is none."""
        row = self._database.execute("SELECT note FROM notes WHERE digest = ?", (digest,)).fetchone()
        return row and row[0]

    def known(self, begun: Begun, name: str) -> str | None:
        """Return the digest of the files of an image that was counted."""
        with self._readable():
            return self._known(begun, name)[1]

    def _known(self, begun: Begun, name: str) -> tuple[int, str | None]:
        query = "SELECT digest FROM images WHERE (run, name) = (?, ?) AND counts IS NOT NULL"
        for key in (*begun.same_runs, *begun.other_parts):
            for (digest,) in self._database.execute(query, (key, name)):
                return key, digest
        return 0, None

    def replaced(self, begun: Begun, run: Run, result: Finished) -> Replaced:
        """Say what is stored of the same run as complete."""
        images = lacking = 0
        shares_images = False
        with self._readable():
            query = f"SELECT id, signature FROM runs WHERE complete AND {_SAME}"  # noqa: S608  as above
            key, signature = self._database.execute(query, run.identity).fetchone() or (0, "")
            query = (
                "SELECT had.name, had.ground_truth_digest = now.ground_truth_digest FROM images AS had LEFT JOIN images"
                " AS now ON (now.run, now.name) = (?, had.name) WHERE had.run = ? AND had.counts IS NOT NULL"
            )
            for name, same_truth in self._database.execute(query, (begun.key, key)):
                images += 1
                lacking += name not in result.digests and name not in result.failed
                shares_images |= name in result.digests and same_truth != 0  # None of an image that is unchanged
        return Replaced(signature, images, lacking, shares_images)

    def save(self, begun: Begun, run: Run, outcomes: Sequence[Outcome]) -> None:
        """Keep what came of some images, unless other predictions are kept under the name of the run."""
        key, inputs = begun.key, run.inputs_json
        counted = [outcome for outcome in outcomes if not outcome.unchanged]
        with self._transaction():
            self._refuse_others(run, ((outcome.name, outcome.digest) for outcome in counted if outcome.counts))
            self._database.execute("UPDATE runs SET inputs = ? WHERE id = ? AND inputs != ?", (inputs, key, inputs))
            self._add_notes(note for outcome in counted for note in outcome.notes)
            rows = ((key, *outcome.row()) for outcome in counted)
            self._database.executemany("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            unchanged = [outcome.name for outcome in outcomes if outcome.unchanged]
            failed = "DELETE FROM images WHERE run = ? AND name = ? AND counts IS NULL"
            self._database.executemany(failed, ((key, name) for name in unchanged if key in begun.same_runs))
            copied = f"INSERT OR REPLACE INTO images SELECT ?, {_OF_IMAGE} FROM images WHERE (run, name) = (?, ?)"  # noqa: S608  as above
            sources = ((self._known(begun, name)[0], name) for name in unchanged if begun.other_parts)
            copies = [(key, run, name) for run, name in sources if run in begun.other_parts]
            self._database.executemany(copied, copies)

    def _refuse_others(self, run: Run, digests: Iterable[tuple[str, str]], *, whole: bool = False) -> None:
        """Refuse images if the stored run has other ones, of another folder; `whole` runs must have some in common."""
        predictions = run.inputs.predictions if run.inputs else ""
        query = f"SELECT id, inputs, complete FROM runs WHERE {_SAME} AND version != ''"  # noqa: S608  as above
        for key, inputs, complete in self._database.execute(query, run.identity).fetchall() if predictions else ():
            stored_inputs = read_inputs((inputs,), str(self.path))
            stored_predictions = stored_inputs.predictions if stored_inputs else ""
            if stored_predictions in ("", predictions) or (whole and not complete):
                continue
            query = "SELECT digest FROM images WHERE run = ? AND name = ? AND counts IS NOT NULL"
            pairs = ((digest, self._database.execute(query, (key, name))) for name, digest in digests)
            are_equal = {digest == stored for digest, rows in pairs for (stored,) in rows}
            query = "SELECT 1 FROM images WHERE run = ? AND counts IS NOT NULL"
            if False in are_equal or (whole and not are_equal and self._database.execute(query, (key,)).fetchone()):
                raise self._other_predictions(run, predictions, stored_predictions)

    def _other_predictions(self, run: Run, predictions: str, stored_predictions: str) -> DataError:
        other = f"{run.label}-2"
        argument = f"run={run.run + '-2'!r}" if run.run else f"method={other!r}"
        name: Either | str = Either(argument, quote(f"{other}={shown(predictions)}"))
        if run.inputs and run.inputs.pairs:
            name = f"prediction:{other} as the header of their column"
        hint = Message(
            "another-name",
            "give these another name, {name}, or replace the stored run: {setting}",
            name=name,
            setting=Setting("fresh", True),
        )
        problem = Message(
            "other-predictions",
            "holds a run of {run!r} with other predictions, {predictions}",
            run=run.label,
            predictions=shown(stored_predictions),
        )
        return DataError(str(self.path), problem, hint)

    def finish(self, begun: Begun, run: Run, result: Finished) -> int:
        """Close and sign a run: the complete run then holds the images of the result and no others; return its key."""
        renamed = f"UPDATE runs SET settings = ? WHERE complete AND {_SAME}"  # noqa: S608  as above
        *_, settings = run.identity
        with self._transaction():
            self._refuse_others(run, result.digests.items(), whole=True)
            self._database.execute(renamed, (settings, *run.identity))
            (version,) = self._database.execute("SELECT version FROM runs WHERE id = ?", (begun.key,)).fetchone()
            complete = self._write_run(run, complete=True, signature=run.signature, version=version)
            self._database.execute("UPDATE OR REPLACE images SET run = ? WHERE run = ?", (complete, begun.key))
            others, found_again = [], 0
            stored = "SELECT name, digest, counts IS NULL FROM images WHERE run = ?"
            for name, digest, failed in self._database.execute(stored, (complete,)):
                wanted = result.digests.get(name)
                if wanted is None and name not in result.failed:
                    others.append((complete, name))
                else:
                    found_again += name in result.failed if failed else wanted == digest
            images = len(result.digests) + len(result.failed)
            if not found_again == images == (run.images or images):
                problem = Message(
                    "changed-meanwhile",
                    "another process counted other images for the run of {run!r} meanwhile",
                    run=run.label,
                )
                raise DataError(str(self.path), problem, "repeat the run")
            self._database.executemany("DELETE FROM images WHERE run = ? AND name = ?", others)
        with self._readable():
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return complete

    def keep_pooled(self, key: int, digest: str, numbers: str, counts: bytes) -> None:
        """Keep what follows from all images of a complete run: a digest, numbers as JSON, reduced counts."""
        with self._transaction():
            row = key, digest, numbers, counts
            self._database.execute("INSERT OR REPLACE INTO pooled VALUES (?, ?, ?, ?)", row)

    def pooled(self, key: int) -> tuple[Any, ...] | None:
        """Return what was kept, unchecked; None if nothing was."""
        with self._readable():
            row = self._database.execute("SELECT digest, numbers, counts FROM pooled WHERE run = ?", (key,)).fetchone()
        return row and tuple(row)

    def copy(self, begun: Begun, other: ResultsFile, key: int) -> Iterator[Shared]:
        """Add the images of a run of another file where they are new, or failed here; return those that both had."""
        shared = (
            "SELECT theirs.name, ours.digest = theirs.digest, ours.counts IS NOT NULL, theirs.counts IS NOT NULL "
            "FROM other.images AS theirs JOIN images AS ours ON (ours.run, ours.name) = (?, theirs.name) "
            "WHERE theirs.run = ?"
        )
        added = (
            f"INSERT OR REPLACE INTO images SELECT ?, {_OF_IMAGE} FROM other.images AS theirs WHERE run = ? "  # noqa: S608  as above
            "AND NOT EXISTS (SELECT 1 FROM images WHERE (run, name) = (?, theirs.name) AND counts IS NOT NULL)"
        )
        with self._readable():
            self._database.execute("ATTACH ? AS other", (_uri(other.path),))
        yield from map(Shared._make, self._database.execute(shared, (begun.key, key)).fetchall())
        with self._transaction():
            self._database.execute("INSERT OR IGNORE INTO notes SELECT * FROM other.notes")
            self._database.execute(added, (begun.key, key, begun.key))
        self._database.execute("DETACH other")

    def images_of(self, begun: Begun) -> int:
        """Count the images of a run that was begun."""
        return int(_value_of(self._database, f"SELECT count(*) FROM images WHERE run = {begun.key}"))  # noqa: S608  a number

    def outcomes(self, keys: Sequence[int], names: Sequence[str] | None = None) -> Iterator[Outcome]:
        """Yield the outcomes of images in order of names, each from the first run that has it.

        Of sorted `names` all others are left out. Large counts, and those after the first megabytes, stay in the file.
        """
        query = (
            f"SELECT name, digest, ground_truth_digest, iif(length(counts) > {_LARGE}, x'', counts), label_values, "  # noqa: S608  as above
            "failure, notes, seconds FROM images WHERE run = ? ORDER BY name"
        )
        path, size = str(self.path), 0
        with self._readable():
            rows = [
                (read_outcome(row, path, self._notes) for row in self._database.execute(query, (key,))) for key in keys
            ]
            for name, (outcome, *_) in groupby(merge(*rows, key=attrgetter("name")), attrgetter("name")):
                index = bisect_left(names, name) if names else 0
                if names and names[index : index + 1] != [name]:
                    continue
                size += len(outcome.counts or b"")
                shared = names[index] if names else name
                yield outcome._replace(name=shared, counts=outcome.counts if size <= _HELD else outcome.counts and b"")

    def counts_from(self, run: Run, name: str, digests: Mapping[str, str]) -> dict[str, bytes]:
        """Read the packed counts of an image, and of some that follow; of two runs of the same the like one first."""
        packed: dict[str, bytes] = {}
        runs = f"SELECT id FROM runs WHERE {_SAME} ORDER BY complete = ? DESC"  # noqa: S608  as above
        query = "SELECT name, digest, counts FROM images WHERE run = ? AND name >= ? ORDER BY name"
        with self._readable():
            for (key,) in self._database.execute(runs, (*run.identity, run.complete)).fetchall():
                size = 0
                for image, digest, counts in self._database.execute(query, (key, name)):
                    if isinstance(counts, bytes) and digests.get(image) == digest:
                        packed.setdefault(image, counts)
                        size += len(counts)
                    if size > _PAGE:
                        break
        if name not in packed:
            problem = Message(
                "changed-meanwhile",
                "has changed since it was read, and holds no counts of {image!r} any more",
                image=name,
            )
            raise DataError(str(self.path), problem, "read the results again")
        return packed

    def runs(self) -> list[Run]:
        """List complete runs as first completed, and those that stopped early, if none is complete."""
        with self._readable():
            if self._database.execute(_ASTRAY).fetchone():
                problem = Message("damaged-run", "holds images of no run, or a run that is neither complete nor begun")
                raise DataError(str(self.path), problem, "the file was changed or damaged: run again into a new file")
            query = f"SELECT *, ({_BEGUN}) FROM runs WHERE complete OR ({_STOPPED}) ORDER BY id"  # noqa: S608  as above
            rows = self._database.execute(query)
            return [replace(read_run(row, str(self.path), self._notes), begun=images) for *row, images in rows]

"""The results file: one SQLite database that holds runs, their counts image by image, and what failed.

Every batch of images is one transaction in the write-ahead log, so a killed process loses at most what was in flight. A
power cut leaves the file whole too (``synchronous = NORMAL``), but may lose the transactions since the last checkpoint,
about every four megabytes; they are counted again. A finished run is on the disk: it ends with a checkpoint. Counts
are packed by `segbench.aggregator.codec`; nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from types import MappingProxyType, TracebackType
from typing import Any, Self

from segbench._version import __version__
from segbench.aggregator.records import Outcome, Run, Stored, StoredPool, read_inputs, read_outcome, read_pool, read_run
from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import format_setting, setting
from segbench.loaders.decoded import shown

APPLICATION_ID = 0x5E6B_E9C4
SCHEMA = 4
_SQLITE = b"SQLite format 3\0"
_ID_PLACE = slice(68, 72)
"""The bytes of a database that hold the application's number."""
_PATIENCE = 60.0
_TABLES = (
    """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    method TEXT NOT NULL,
    protocol TEXT NOT NULL,
    settings TEXT NOT NULL,          -- JSON object, as in the signature
    complete INTEGER NOT NULL,       -- 1, or 0 for images counted towards the next complete run
    signature TEXT NOT NULL,         -- until the run is complete only how many images there are: images:9
    notes TEXT NOT NULL,             -- JSON list
    thresholds TEXT NOT NULL,        -- JSON list, empty where scores are their own thresholds
    inputs TEXT NOT NULL,            -- JSON object, empty for results that others counted
    protocol_json TEXT NOT NULL,     -- the protocol with all its settings, empty likewise
    version TEXT NOT NULL,           -- the segbench that counts; another one counts again
    published TEXT NOT NULL,         -- JSON of a curve known from print, which has no images
    UNIQUE (method, protocol, settings, complete)
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
    failure TEXT NOT NULL,
    notes TEXT NOT NULL,             -- JSON list
    seconds REAL NOT NULL,
    PRIMARY KEY (run, name)
)
""",
    """
CREATE TABLE pooled (
    run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    digest TEXT NOT NULL,            -- of the images that were pooled
    summary TEXT NOT NULL,           -- JSON object
    counts BLOB NOT NULL             -- packed, at a choice of the thresholds
)
""",
)
_COLUMNS = {
    "runs": "id method protocol settings complete signature notes thresholds inputs protocol_json version published",
    "images": "run name digest ground_truth_digest counts label_values failure notes seconds",
    "pooled": "run digest summary counts",
}
_HINTS = {
    "SQLITE_FULL": ("cannot grow because the disk is full", "free some space and try again"),
    "SQLITE_IOERR_WRITE": ("cannot be written", "free some space, check limits on file size, and try again"),
    "SQLITE_READONLY": ("cannot be changed because it is read-only", "name another file, or change its permissions"),
    "SQLITE_CANTOPEN": ("cannot be opened, or made", "check the permissions of its folder, or name another file"),
    "SQLITE_BUSY": ("has been locked by another process for a minute", "wait until it is done, and try again"),
}
_KEPT = "; what was counted before is kept"
_OTHER_FILES = {".csv", ".json", ".md", ".tex", ".txt", ".html", ".pdf", ".svg", ".png"}


def require_results_name(path: Path) -> None:
    """Refuse to write a results file under a name that says it is something else."""
    if path.suffix.lower() in _OTHER_FILES:
        others = setting(
            "segbench show, plot, report and export", "result.to_dataframe, to_dict, plot_pr and export_report"
        )
        what = f"a results file is a database, so name it {path.stem}.segbench"
        raise ArgumentError(f"{path}: {what}; for other kinds of files see {others}")


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
    ours = int.from_bytes(head[_ID_PLACE], "big") == APPLICATION_ID
    return head.startswith(_SQLITE) and (ours or log.exists())


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open a database for writing where one may write, else for reading alone."""
    if create:
        mode = "mode=rwc"
    elif writable(path) and writable(path.parent):
        mode = "mode=rw"
    else:
        # Readers of a write-ahead log keep a file beside it. Where there is no log, nothing changes: none is needed.
        log = path.with_name(f"{path.name}-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)


def writable(place: Path) -> bool:
    """Return whether a file or folder may be written."""
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def prepare(database: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Make the tables of a new file where one is wanted; refuse one that is not ours."""
    if _is_new(database):
        if not create:
            command = setting("segbench pixels GT PRED -o FILE", "evaluate(GT, PRED, results=FILE)")
            raise DataError(str(path), "is empty", f"make a results file with: {command}")
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
        safe = _one(database, "PRAGMA journal_mode") == "wal"
    if _one(database, "PRAGMA application_id") != APPLICATION_ID:
        raise DataError(str(path), "is a database of another program", "give another file name")
    if _one(database, "PRAGMA user_version") != SCHEMA:
        raise DataError(str(path), "was written by another version of segbench", "run again into a new file")
    if not _is_plain(database):
        raise DataError(str(path), "holds other tables than segbench makes", "run again into a new file")
    database.execute("PRAGMA foreign_keys = ON")
    # Without a write-ahead log, as on some network disks, only FULL survives a power cut.
    database.execute(f"PRAGMA synchronous = {'NORMAL' if safe else 'FULL'}")


def _is_plain(database: sqlite3.Connection) -> bool:
    """Whether there is nothing but our tables: views, triggers and computed columns could run what they like."""
    found = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    names = [name for _, name, _ in found]
    if sorted(names) != sorted(_COLUMNS):
        return False
    columns = {name: database.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in names}
    return all(
        kind == "table"
        and str(sql).startswith("CREATE TABLE")
        and " ".join(column[1] for column in columns[name]) == _COLUMNS[name]
        and not any(column[-1] for column in columns[name])
        for kind, name, sql in found
    )


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> DataError:
    """Say what an error of SQLite means, and what to do."""
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_NOTADB":
        return DataError(str(path), f"is not a results file ({error})", "give one of a run, or name another file")
    for name, (what, hint) in _HINTS.items():
        if code.startswith(name):
            return DataError(str(path), f"{what} ({error})", hint + _KEPT)
    return DataError(
        str(path), f"cannot be used as a results file ({error})", "check the disk and permissions, or name another file"
    )


def _is_new(database: sqlite3.Connection) -> bool:
    ids = (_one(database, "PRAGMA application_id"), _one(database, "PRAGMA user_version"))
    return ids == (0, 0) and not database.execute("SELECT 1 FROM sqlite_master").fetchone()


def _write_ahead(database: sqlite3.Connection) -> bool:
    """Turn the write-ahead log on, which SQLite refuses at once, without waiting, while another process does so."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return bool(_one(database, "PRAGMA journal_mode = WAL") == "wal")
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _one(database: sqlite3.Connection, statement: str) -> Any:  # noqa: ANN401  numbers and texts
    (value,) = database.execute(statement).fetchone()
    return value


# A run is the same whichever images lack a prediction; an image counts alike whichever part of the set is chosen.
_SAME = "(method, protocol, json_remove(settings, '$.missing')) = (?, ?, json_remove(?, '$.missing'))"
_ALIKE = _SAME.replace("'$.missing'", "'$.missing', '$.subset'")
_STOPPED = (
    "id IN (SELECT run FROM images) AND (method, protocol, json_remove(settings, '$.missing')) NOT IN "
    "(SELECT method, protocol, json_remove(settings, '$.missing') FROM runs WHERE complete)"
)
# Settings that are not JSON are left to those who read the row.
_BEGUN = (
    "SELECT count(*) FROM runs AS begun JOIN images ON run = begun.id WHERE NOT begun.complete AND "
    "(begun.method, begun.protocol) = (runs.method, runs.protocol) AND "
    "iif(json_valid(begun.settings), json_remove(begun.settings, '$.missing'), '') = "
    "iif(json_valid(runs.settings), json_remove(runs.settings, '$.missing'), '')"
)
_ASTRAY = (
    "SELECT 1 FROM runs WHERE complete NOT IN (0, 1) UNION ALL "
    "SELECT 1 FROM (SELECT DISTINCT run FROM images) WHERE run NOT IN (SELECT id FROM runs)"
)


LARGE = 2**16
"""Packed counts of more bytes stay in the results file until they are needed."""


@dataclass(frozen=True)
class _StoredCounts(Stored):
    """Counts of an image of a run, which was complete when they were stored, or was being counted and may be now."""

    path: Path
    identity: tuple[str, str, str]
    complete: bool
    name: str

    def read(self) -> bytes:
        """Read them."""
        with ResultsFile(self.path) as file:
            return file.counts_of(self.identity, self.name, complete=self.complete)


class ResultsFile:
    """A results file, opened for reading and writing; use it in a ``with`` statement.

    With `create` the file is made where there is none, but not under a name that says CSV, a picture or the like. One
    that gets its name only when it is complete is `written_as` another one; errors still name `path`.
    """

    def __init__(self, path: Path, *, create: bool = False, written_as: Path | None = None) -> None:
        self.path = path
        if create:
            require_results_name(path)
        # os.path returns False where Path raises: names that are too long, folders that may not be entered.
        if os.path.isdir(path):  # noqa: PTH112  see above
            hint = "give the name of a file" if create else "give the file that a run wrote"
            raise DataError(str(path), "is a folder, not a results file", hint)
        if not create and not os.path.isfile(path):  # noqa: PTH113  see above
            run = setting("segbench pixels GT PRED -o FILE", "evaluate(gt, pred, results=FILE)")
            raise DataError(str(path), "not found", f"correct the path, or create the file: {run}")
        if not os.path.isdir(path.parent):  # noqa: PTH112  see above
            raise DataError(str(path), "its folder does not exist", "make the folder first, or give another file name")
        with self._readable():
            self._database = connect(written_as or path, create=create)
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

    def begin(self, run: Run, *, fresh: bool = False) -> int:
        """Start a run, or continue the one of the same method and settings; give its key.

        A complete run of the same stays as it is until this one is finished. What another version of segbench counted
        is not gone on with; with `fresh` nothing is, and predictions in another folder may replace it.
        """
        identity = run.identity
        with self._transaction():
            begun = f"SELECT id, version FROM runs WHERE {_SAME} AND NOT complete"  # noqa: S608  texts of this module
            for key, version in self._database.execute(begun, identity).fetchall():
                self._database.execute("UPDATE runs SET settings = ? WHERE id = ?", (identity[2], key))
                if fresh or version != __version__:
                    self._database.execute("DELETE FROM images WHERE run = ?", (key,))
            if fresh:
                # Also where this run is cut short and continued without `fresh`; it may be replaced then, see below.
                self._database.execute(f"UPDATE runs SET version = '' WHERE {_ALIKE}", identity)  # noqa: S608  as above
            images = "" if run.images is None else f"images:{run.images}"
            return self._write_run(run, complete=False, signature=images, version=__version__)

    def _write_run(self, run: Run, *, complete: bool, signature: str, version: str) -> int:
        """Write the row of a run in place of one of the same settings; give its key."""
        (key,) = self._database.execute(
            "INSERT INTO runs (method, protocol, settings, complete, signature, notes, thresholds, inputs, "
            "protocol_json, version, published) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET signature = excluded.signature, notes = excluded.notes, "
            "thresholds = excluded.thresholds, protocol_json = excluded.protocol_json, "
            "inputs = CASE WHEN complete OR id NOT IN (SELECT run FROM images) THEN excluded.inputs ELSE inputs END, "
            "version = excluded.version, published = excluded.published RETURNING id",
            (
                *run.identity,
                complete,
                signature,
                json.dumps(run.notes),
                json.dumps(run.thresholds),
                run.inputs_json,
                run.protocol_json,
                version,
                run.published,
            ),
        ).fetchone()
        return int(key)

    def known(self, run: Run, key: int) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        """Give by name what need not be counted again: of this run and a complete one of the same; of other parts."""
        identity = run.identity
        same = f"SELECT id, settings FROM runs WHERE complete AND {_SAME} AND version = ?"  # noqa: S608  as above
        others = f"SELECT id FROM runs WHERE {_ALIKE} AND NOT {_SAME} AND version = ?"  # noqa: S608  as above
        with self._readable():
            complete = dict(self._database.execute(same, (*identity, __version__)).fetchall())
            elsewhere = self._database.execute(others, (*identity, *identity, __version__)).fetchall()
        stay = {one: replace(run, complete=True) for one, settings in complete.items() if settings == identity[2]}
        stay[key] = replace(run, complete=False)
        return self._counted([*complete, key], stay=stay), self._counted([row[0] for row in elsewhere])

    def _counted(self, keys: Iterable[int], *, stay: Mapping[int, Run] = MappingProxyType({})) -> dict[str, Outcome]:
        """Give the images of runs that were counted; of runs that `stay` as they are, large counts stay in the file."""
        found = (outcome for key in keys for outcome in self.outcomes(key, leave=stay.get(key)))
        return {outcome.name: outcome for outcome in found if outcome.counts}

    def left(self, run: Run, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Leave large counts that were saved for a run in the file."""
        return [
            one._replace(counts=_StoredCounts(self.path, run.identity, complete=False, name=one.name))
            if isinstance(one.counts, bytes) and len(one.counts) > LARGE
            else one
            for one in outcomes
        ]

    def complete(self, run: Run) -> tuple[str, dict[str, str]]:
        """Give the signature of the complete run of the same and digests of its ground truths; empty if none is."""
        with self._readable():
            query = f"SELECT id, signature FROM runs WHERE complete AND {_SAME}"  # noqa: S608  as above
            key, signature = self._database.execute(query, run.identity).fetchone() or (0, "")
            query = "SELECT name, ground_truth_digest FROM images WHERE run = ? AND counts IS NOT NULL"
            return str(signature), dict(self._database.execute(query, (key,)).fetchall())

    def save(self, key: int, run: Run, outcomes: Sequence[Outcome]) -> None:
        """Keep what came of some images, unless other predictions are kept under the name of the run."""
        with self._transaction():
            self._refuse_others(run, outcomes)
            inputs = run.inputs_json
            self._database.execute("UPDATE runs SET inputs = ? WHERE id = ? AND inputs != ?", (inputs, key, inputs))
            self._write(key, outcomes)

    def _refuse_others(self, run: Run, outcomes: Sequence[Outcome], *, whole: bool = False) -> None:
        """Refuse images if the stored run has other ones, of another folder; `whole` runs must have some in common."""
        place = run.inputs.predictions if run.inputs else ""
        query = f"SELECT id, inputs, complete FROM runs WHERE {_SAME} AND version != ''"  # noqa: S608  as above
        for key, inputs, complete in self._database.execute(query, run.identity).fetchall() if place else ():
            found = read_inputs((inputs,), str(self.path))
            there = found.predictions if found else ""
            if there in ("", place) or (whole and not complete):
                continue
            query = "SELECT digest FROM images WHERE run = ? AND name = ? AND counts IS NOT NULL"
            ours = ((one.digest, self._database.execute(query, (key, one.name))) for one in outcomes if one.counts)
            alike = {digest == stored for digest, rows in ours for (stored,) in rows}
            query = "SELECT 1 FROM images WHERE run = ? AND counts IS NOT NULL"
            if False in alike or (whole and not alike and self._database.execute(query, (key,)).fetchone()):
                raise self._other_predictions(run, place, there)

    def _other_predictions(self, run: Run, place: str, there: str) -> DataError:
        other = f"{run.method}-2"
        name = setting(quote(f"{other}={shown(place)}"), f"method={other!r}")
        if run.inputs and run.inputs.pairs:
            name = f"prediction:{other} as the header of their column"
        hint = f"give these another name, {name}, or replace the stored run: {format_setting('fresh', True)}"
        what = f"holds a run of {run.method!r} with other predictions, {shown(there)}"
        return DataError(str(self.path), what, hint)

    def _write(self, key: int, outcomes: Iterable[Outcome]) -> None:
        rows = ((key, *outcome.row()) for outcome in outcomes)
        self._database.executemany("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def finish(self, key: int, run: Run, outcomes: Sequence[Outcome]) -> int:
        """Close a run and sign it: the complete run then holds these images and no others; give its key."""
        # Another process may have written to the same run meanwhile: the run that finishes last overwrites the other,
        # unless their predictions differ and lie in different folders.
        ours = {outcome.name: outcome for outcome in outcomes}
        replaced = f"DELETE FROM runs WHERE complete AND {_SAME} AND settings != ?"  # noqa: S608  as above
        with self._transaction():
            self._refuse_others(run, outcomes, whole=True)
            self._database.execute(replaced, (*run.identity, run.identity[2]))
            (version,) = self._database.execute("SELECT version FROM runs WHERE id = ?", (key,)).fetchone()
            complete = self._write_run(run, complete=True, signature=run.signature, version=version)
            self._database.execute("UPDATE OR REPLACE images SET run = ? WHERE run = ?", (complete, key))
            others = []
            stored = "SELECT name, digest || failure FROM images WHERE run = ?"
            for name, content in self._database.execute(stored, (complete,)):
                one = ours.get(name)
                if one is None:
                    others.append((complete, name))
                elif content == one.digest + one.failure:
                    del ours[name]
            self._database.executemany("DELETE FROM images WHERE run = ? AND name = ?", others)
            self._write(complete, ours.values())
        with self._readable():
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return complete

    def keep_pooled(self, key: int, kept: StoredPool) -> None:
        """Keep what was derived from all images of a complete run."""
        with self._transaction():
            row = key, kept.digest, kept.summary, kept.counts
            self._database.execute("INSERT OR REPLACE INTO pooled VALUES (?, ?, ?, ?)", row)

    def pooled(self, key: int) -> StoredPool | None:
        """Give what was derived from all images of a complete run, if it was kept."""
        with self._readable():
            row = self._database.execute("SELECT digest, summary, counts FROM pooled WHERE run = ?", (key,)).fetchone()
        return None if row is None else read_pool(row, str(self.path))

    def outcomes(self, key: int, *, leave: Run | None = None) -> list[Outcome]:
        """Give what came of every image of a run, in order of names; large counts of a run to `leave` stay there."""
        if leave is None:
            with self._readable():
                rows = self._database.execute("SELECT * FROM images WHERE run = ? ORDER BY name", (key,))
                return [read_outcome(row[1:], str(self.path)) for row in rows]
        large = "typeof(counts) = 'blob' AND length(counts) > ?"
        columns = (
            f"name, digest, ground_truth_digest, iif({large}, NULL, counts), label_values, failure, notes, seconds"
        )
        query = f"SELECT {large}, {columns} FROM images WHERE run = ? ORDER BY name"  # noqa: S608  texts of this module
        found = []
        place = partial(_StoredCounts, self.path, leave.identity, leave.complete)
        with self._readable():
            for is_large, *row in self._database.execute(query, (LARGE, LARGE, key)):
                outcome = read_outcome(row, str(self.path))
                found.append(outcome._replace(counts=place(outcome.name)) if is_large else outcome)
        return found

    def counts_of(self, identity: tuple[str, str, str], name: str, *, complete: bool) -> bytes:
        """Read the packed counts of an image of a run; of two of the same the complete one, or that which is not."""
        query = (
            "SELECT counts FROM images JOIN runs ON run = id WHERE (method, protocol, settings) = (?, ?, ?) "
            "AND name = ? ORDER BY complete = ? DESC"
        )
        with self._readable():
            row = self._database.execute(query, (*identity, name, complete)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            what = f"has changed since it was read, and holds no counts of {name!r} any more"
            raise DataError(str(self.path), what, "read the results again")
        return row[0]

    def runs(self, *, partial: bool = False) -> list[Run]:
        """List complete runs as first completed; with `partial` also those that stopped early, if none is complete."""
        wanted = f"complete OR ({_STOPPED})" if partial else "complete"
        with self._readable():
            if self._database.execute(_ASTRAY).fetchone():
                what = "holds images of no run, or a run that is neither complete nor begun"
                raise DataError(str(self.path), what, "the file was changed or damaged: run again into a new file")
            query = f"SELECT *, ({_BEGUN}) FROM runs WHERE {wanted} ORDER BY id"  # noqa: S608  as above
            rows = self._database.execute(query)
            return [replace(read_run(row, str(self.path)), begun=images) for *row, images in rows]

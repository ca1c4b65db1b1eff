"""The results file: one SQLite database that holds runs, their counts image by image, and what failed.

Every batch of images is one transaction, so a killed process loses at most what was in flight. Counts are packed by
`segbench.aggregator.codec`; nothing is unpickled. A file that is not ours, or of a newer segbench, is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from segbench.aggregator.tasks import Outcome
from segbench.errors import DataError
from segbench.loaders.inputs import Inputs

APPLICATION_ID = 0x5E6B_E9C4
SCHEMA = 1
_TABLES = (
    """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    method TEXT NOT NULL,
    protocol TEXT NOT NULL,
    settings TEXT NOT NULL,          -- JSON object, as in the signature
    signature TEXT NOT NULL,         -- empty until the run is complete
    notes TEXT NOT NULL,             -- JSON list
    thresholds TEXT NOT NULL,        -- JSON list, empty where scores are their own thresholds
    inputs TEXT NOT NULL,            -- JSON object, empty for results that others counted
    protocol_json TEXT NOT NULL,     -- the protocol with all its settings, empty likewise
    published TEXT NOT NULL DEFAULT '', -- JSON of a curve known from print, which has no images
    UNIQUE (method, protocol, settings)
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
)


@dataclass(frozen=True)
class StoredRun:
    """One run as it lies in a results file."""

    key: int
    method: str
    protocol: str
    settings: Mapping[str, str]
    signature: str
    notes: tuple[str, ...]
    thresholds: tuple[float, ...] = ()
    inputs: Inputs | None = None
    protocol_json: str = ""
    published: str = ""


class ResultsFile:
    """A results file, opened for reading and writing; use it in a ``with`` statement.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Make it where there is none.

    Raises
    ------
    DataError
        If there is no such file, or it is not a results file of this or an earlier segbench.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and path.is_dir():
            raise DataError(str(path), "is a folder, not a results file", "give the file that segbench run -o wrote")
        if not create and not path.is_file():
            raise DataError(str(path), "there is no such results file", "make one with: segbench run GT PRED -o FILE")
        if path.is_dir() or not path.parent.is_dir():
            raise DataError(str(path), "is no place for a file", "give a file name in a folder that exists")
        with self._readable():
            self._database = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                self._check()
            except BaseException:
                self._database.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def _check(self) -> None:
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (schema,) = self._database.execute("PRAGMA user_version").fetchone()
        if (application, schema) == (0, 0) and not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
            self._database.execute("PRAGMA journal_mode = WAL")
            with self._transaction():
                for statement in _TABLES:
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._database.execute(f"PRAGMA user_version = {SCHEMA}")
        elif application != APPLICATION_ID:
            raise DataError(str(self.path), "is a database of another program", "give another file name")
        elif schema > SCHEMA:
            raise DataError(
                str(self.path), f"was written by a newer segbench (schema {schema}, known: {SCHEMA})", "update segbench"
            )
        self._database.execute("PRAGMA foreign_keys = ON")
        self._database.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise DataError(
                str(self.path), f"cannot be used as a results file ({error})", "check disk and rights, or name another"
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._readable():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def begin(
        self,
        method: str,
        protocol: str,
        settings: Mapping[str, str],
        *,
        thresholds: Sequence[float] = (),
        inputs: Inputs | None = None,
        protocol_json: str = "",
    ) -> int:
        """Start a run, or go on with the one of the same method and settings; give its key."""
        identity = (method, protocol, json.dumps(settings))
        with self._transaction():
            self._database.execute(
                "INSERT INTO runs (method, protocol, settings, signature, notes, thresholds, inputs, protocol_json) "
                "VALUES (?, ?, ?, '', '[]', ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET signature = '', thresholds = excluded.thresholds, "
                "inputs = excluded.inputs, protocol_json = excluded.protocol_json",
                (*identity, json.dumps(list(thresholds)), inputs.to_json() if inputs else "", protocol_json),
            )
            (key,) = self._database.execute(
                "SELECT id FROM runs WHERE (method, protocol, settings) = (?, ?, ?)", identity
            ).fetchone()
        return int(key)

    def save(self, run: int, outcomes: Iterable[Outcome]) -> None:
        """Keep what came of some images; images found unchanged keep the counts they have."""
        rows = [
            (
                run,
                outcome.name,
                outcome.digest,
                outcome.ground_truth_digest,
                outcome.counts,
                json.dumps(outcome.label_values),
                outcome.failure,
                json.dumps(outcome.notes),
                outcome.seconds,
            )
            for outcome in outcomes
            if outcome.counts or outcome.failure
        ]
        with self._transaction():
            self._database.executemany("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def finish(self, run: int, names: Iterable[str], signature: str, notes: Iterable[str], published: str = "") -> None:
        """Close a run: forget images that are no longer part of it, and sign it."""
        kept = {(name,) for name in names}
        with self._transaction():
            stored = set(self._database.execute("SELECT name FROM images WHERE run = ?", (run,)))
            self._database.executemany(
                "DELETE FROM images WHERE run = ? AND name = ?", [(run, name) for (name,) in stored - kept]
            )
            self._database.execute(
                "UPDATE runs SET signature = ?, notes = ?, published = ? WHERE id = ?",
                (signature, json.dumps(list(notes)), published, run),
            )

    def outcomes(self, run: int) -> list[Outcome]:
        """Give what came of every image of a run, in order of names."""
        with self._readable():
            rows = self._database.execute(
                "SELECT name, digest, ground_truth_digest, counts, label_values, failure, notes, seconds "
                "FROM images WHERE run = ? ORDER BY name",
                (run,),
            ).fetchall()
        return [
            Outcome(name, digest, truth, counts, tuple(json.loads(values)), failure, tuple(json.loads(notes)), seconds)
            for name, digest, truth, counts, values, failure, notes, seconds in rows
        ]

    def runs(self) -> list[StoredRun]:
        """List the runs in the order in which they were first made."""
        with self._readable():
            rows = self._database.execute(
                "SELECT id, method, protocol, settings, signature, notes, thresholds, inputs, protocol_json, published "
                "FROM runs ORDER BY id"
            )
            return [
                StoredRun(
                    key,
                    method,
                    protocol,
                    json.loads(settings),
                    signature,
                    tuple(json.loads(notes)),
                    tuple(json.loads(thresholds)),
                    Inputs.from_json(inputs) if inputs else None,
                    protocol_json,
                    published,
                )
                for (
                    key,
                    method,
                    protocol,
                    settings,
                    signature,
                    notes,
                    thresholds,
                    inputs,
                    protocol_json,
                    published,
                ) in rows
            ]

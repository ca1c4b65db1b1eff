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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from segbench._version import __version__
from segbench.aggregator.database import connect, explained, prepare, require_results_name
from segbench.aggregator.records import StoredRun, outcome_of, run_of
from segbench.aggregator.tasks import Outcome
from segbench.errors import DataError
from segbench.loaders.inputs import Inputs


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
    ArgumentError
        If it is to be made under a name that says CSV, a picture or the like.
    DataError
        If there is no such file, or it is not a results file of this or an earlier segbench.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if create:
            require_results_name(path)
        # Those of os.path answer where those of Path raise: for names too long, folders that may not be entered.
        is_folder = os.path.isdir(path)  # noqa: PTH112  as said
        if not create and is_folder:
            raise DataError(str(path), "is a folder, not a results file", "give the file that segbench run -o wrote")
        if not create and not os.path.isfile(path):  # noqa: PTH113  as said
            raise DataError(str(path), "there is no such results file", "make one with: segbench run GT PRED -o FILE")
        if is_folder or not os.path.isdir(path.parent):  # noqa: PTH112  as said
            raise DataError(str(path), "is no place for a file", "give a file name in a folder that exists")
        with self._readable():
            self._database = connect(path, create=create)
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

    def begin(
        self,
        method: str,
        protocol: str,
        settings: Mapping[str, str],
        *,
        thresholds: Sequence[float] = (),
        inputs: Inputs | None = None,
        protocol_json: str = "",
        fresh: bool = False,
    ) -> int:
        """Start a run, or go on with the one of the same method and settings; give its key.

        What another version of segbench counted is forgotten; with `fresh` all is.
        """
        identity = (method, protocol, json.dumps(settings))
        with self._transaction():
            earlier = self._database.execute(
                "SELECT id, version FROM runs WHERE (method, protocol, settings) = (?, ?, ?)", identity
            ).fetchone()
            if earlier and (fresh or earlier[1] != __version__):
                self._database.execute("DELETE FROM images WHERE run = ?", earlier[:1])
            (key,) = self._database.execute(
                "INSERT INTO runs (method, protocol, settings, signature, notes, thresholds, inputs, "
                "protocol_json, version) "
                "VALUES (?, ?, ?, '', '[]', ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET signature = '', thresholds = excluded.thresholds, "
                "inputs = excluded.inputs, protocol_json = excluded.protocol_json, version = excluded.version "
                "RETURNING id",
                (
                    *identity,
                    json.dumps(list(thresholds)),
                    inputs.to_json() if inputs else "",
                    protocol_json,
                    __version__,
                ),
            ).fetchone()
        return int(key)

    def save(self, run: int, outcomes: Iterable[Outcome]) -> None:
        """Keep what came of some images."""
        with self._transaction():
            self._write(run, outcomes)

    def _write(self, run: int, outcomes: Iterable[Outcome]) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
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
            ),
        )

    def finish(
        self, run: int, outcomes: Iterable[Outcome], signature: str, notes: Iterable[str], published: str = ""
    ) -> None:
        """Close a run and sign it: it then holds these images as they are here, and no others.

        Another process may have written to the same run meanwhile; the last to finish has its way, in full.
        """
        ours = {outcome.name: outcome for outcome in outcomes}
        with self._transaction():
            stored = dict(self._database.execute("SELECT name, digest || failure FROM images WHERE run = ?", (run,)))
            self._database.executemany(
                "DELETE FROM images WHERE run = ? AND name = ?", [(run, name) for name in stored.keys() - ours.keys()]
            )
            self._write(run, (one for name, one in ours.items() if stored.get(name) != one.digest + one.failure))
            self._database.execute(
                "UPDATE runs SET signature = ?, notes = ?, published = ? WHERE id = ?",
                (signature, json.dumps(list(notes)), published, run),
            )
        with self._readable():
            self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def outcomes(self, run: int) -> list[Outcome]:
        """Give what came of every image of a run, in order of names."""
        with self._readable():
            rows = self._database.execute(
                "SELECT name, digest, ground_truth_digest, counts, label_values, failure, notes, seconds "
                "FROM images WHERE run = ? ORDER BY name",
                (run,),
            )
            return [outcome_of(row, str(self.path)) for row in rows]

    def runs(self) -> list[StoredRun]:
        """List the runs in the order in which they were first made."""
        with self._readable():
            rows = self._database.execute(
                "SELECT id, method, protocol, settings, signature, notes, thresholds, inputs, protocol_json, published "
                "FROM runs ORDER BY id"
            )
            return [run_of(row, str(self.path)) for row in rows]

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Self

from segbench._version import __version__
from segbench.aggregator.database import connect, explained, prepare, require_results_name
from segbench.aggregator.records import Outcome, Run, StoredPool, read_inputs, read_outcome, read_pool, read_run
from segbench.core.errors import DataError
from segbench.core.interface import given, setting
from segbench.loaders.decoded import shown

# A run is the same whichever images lack a prediction; an image counts alike whichever part of the set is chosen.
_SAME = "(method, protocol, json_remove(settings, '$.missing')) = (?, ?, json_remove(?, '$.missing'))"
_ALIKE = _SAME.replace("'$.missing'", "'$.missing', '$.subset'")
_STOPPED = (
    "id IN (SELECT run FROM images) AND (method, protocol, json_remove(settings, '$.missing')) NOT IN "
    "(SELECT method, protocol, json_remove(settings, '$.missing') FROM runs WHERE complete)"
)
_ASTRAY = (
    "SELECT 1 FROM runs WHERE complete NOT IN (0, 1) UNION ALL "
    "SELECT 1 FROM (SELECT DISTINCT run FROM images) WHERE run NOT IN (SELECT id FROM runs)"
)


class ResultsFile:
    """A results file, opened for reading and writing; use it in a ``with`` statement.

    With `create` the file is made where there is none, but not under a name that says CSV, a picture or the like.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if create:
            require_results_name(path)
        # Those of os.path answer where those of Path raise: for names too long, folders that may not be entered.
        if os.path.isdir(path):  # noqa: PTH112  as said
            hint = "give the name of a file" if create else "give the file that a run wrote"
            raise DataError(str(path), "is a folder, not a results file", hint)
        if not create and not os.path.isfile(path):  # noqa: PTH113  as said
            hint = f"correct its path; {setting('-o FILE of a run', 'evaluate(results=FILE)')} writes one"
            raise DataError(str(path), "there is no such results file", hint)
        if not os.path.isdir(path.parent):  # noqa: PTH112  as said
            raise DataError(str(path), "its folder does not exist", "make the folder first, or give another file name")
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
                run.inputs.to_json() if run.inputs else "",
                run.protocol_json,
                version,
                run.published,
            ),
        ).fetchone()
        return int(key)

    def known(self, run: Run, key: int) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        """Give by name what need not be counted again: of this run and a complete one of the same; of other parts."""
        identity = run.identity
        same = f"SELECT id FROM runs WHERE complete AND {_SAME} AND version = ?"  # noqa: S608  as above
        others = f"SELECT id FROM runs WHERE {_ALIKE} AND NOT {_SAME} AND version = ?"  # noqa: S608  as above
        with self._readable():
            keys = [row[0] for row in self._database.execute(same, (*identity, __version__)).fetchall()]
            elsewhere = self._database.execute(others, (*identity, *identity, __version__)).fetchall()
        return self._counted([*keys, key]), self._counted([row[0] for row in elsewhere])

    def _counted(self, keys: Iterable[int]) -> dict[str, Outcome]:
        return {outcome.name: outcome for key in keys for outcome in self.outcomes(key) if outcome.counts}

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
            inputs = run.inputs.to_json() if run.inputs else ""
            self._database.execute("UPDATE runs SET inputs = ? WHERE id = ?", (inputs, key))
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
        hint = f"give these another name, {name}, or replace the stored run: {given('fresh', True)}"
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

    def outcomes(self, key: int) -> list[Outcome]:
        """Give what came of every image of a run, in order of names."""
        with self._readable():
            rows = self._database.execute("SELECT * FROM images WHERE run = ? ORDER BY name", (key,))
            return [read_outcome(row[1:], str(self.path)) for row in rows]

    def runs(self, *, partial: bool = False) -> list[Run]:
        """List complete runs as first completed; with `partial` also those that stopped early, if none is complete."""
        wanted = f"complete OR ({_STOPPED})" if partial else "complete"
        with self._readable():
            if self._database.execute(_ASTRAY).fetchone():
                what = "holds images of no run, or a run that is neither complete nor begun"
                raise DataError(str(self.path), what, "the file was changed or damaged: run again into a new file")
            rows = self._database.execute(f"SELECT * FROM runs WHERE {wanted} ORDER BY id")  # noqa: S608  as above
            return [read_run(row, str(self.path)) for row in rows]

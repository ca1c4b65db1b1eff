"""The SQLite database under a results file: how it is opened, what lies in it, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from pathlib import Path
from typing import Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import setting

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
    "SQLITE_BUSY": ("has been locked by another process for a minute", "wait until it is done, and try again"),
}
_KEPT = "; what was counted before is kept"


def require_results_name(path: Path) -> None:
    """Refuse to write a results file under a name that says it is something else."""
    if instead := _written_otherwise(path.suffix.lower()):
        raise ArgumentError(f"{path}: a results file is a database, so name it {path.stem}.segbench; {instead}")


def _written_otherwise(suffix: str) -> str:
    """Say what writes files with an ending that no results file has; empty for other endings."""
    picture = f"for a picture: {setting(f'segbench plot FILE -o pr{suffix}', 'plot_pr')}"
    others = {
        ".csv": f"for CSV: {setting('segbench show FILE --format csv', 'result.to_dataframe')}",
        ".json": f"for JSON: {setting('segbench show FILE --format json', 'result.to_dict')}",
        ".md": f"for Markdown: {setting('segbench show FILE --format markdown', 'result.to_dataframe')}",
        ".tex": f"for LaTeX: {setting('segbench show FILE --format latex', 'result.to_dataframe')}",
        ".txt": f"for text files: {setting('segbench export FILE --bsds DIR', 'export_bsds')}",
        ".html": f"for a page: {setting('segbench report FILE -o page.html', 'export_report')}",
    }
    return picture if suffix in (".pdf", ".svg", ".png") else others.get(suffix, "")


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
    elif _writable(path) and _writable(path.parent):
        mode = "mode=rw"
    else:
        # Readers of a write-ahead log keep a file beside it. Where there is no log, nothing changes: none is needed.
        log = path.with_name(f"{path.name}-wal")
        mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)


def _writable(place: Path) -> bool:
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

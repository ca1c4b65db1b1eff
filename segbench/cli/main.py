"""The command line as a program; slow imports are made in `main`, so that Ctrl-C works from the start."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of Ctrl-C and SIGTERM, those that shells give."""

_terminated: list[int] = []
"""Signals that were taken for Ctrl-C."""


def main() -> None:
    """Run the command line: exit 0 when done, 1 for a problem in the data, 2 for one in the command line."""
    for stream in (sys.stdout, sys.stderr):  # which escape what their encoding lacks, as accents in a C locale
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not os.environ.get("COLUMNS", "").strip("0"):  # of unknown width, for which Rich would print nothing
        os.environ.pop("COLUMNS", None)
    _run()


def program() -> None:
    """Run `main` as the whole of a process, which SIGTERM stops as Ctrl-C does; neither interrupts its exit."""
    import signal

    try:
        _take_signals()
        main()
    except KeyboardInterrupt:  # before or while modules were imported
        _stop("stopped")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _take_signals() -> None:
    """Let SIGTERM, with which batch systems end a job, interrupt as Ctrl-C does, so that workers are ended, too.

    A closed terminal sends SIGHUP, which counts as SIGTERM unless nohup ignores it.
    """
    import signal

    def interrupt(number: int, _: object) -> None:
        _terminated.append(number)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would interrupt the end
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup and signal.getsignal(hangup) == signal.SIG_DFL:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))


def _stop(message: str) -> None:
    """End with a message and the exit code of the signal."""
    with suppress(OSError):  # of a terminal that was closed
        print(f"\n{message}", file=sys.stderr)  # noqa: T201  click may not be there yet
    sys.exit(TERMINATED if _terminated else INTERRUPTED)


def _run() -> None:
    import click

    from segbench.cli.command import Stopped
    from segbench.cli.commands import app
    from segbench.core.errors import ArgumentError, SegbenchError

    try:
        app(prog_name="segbench")
    except Stopped as stopped:
        _stop(str(stopped))
    except SegbenchError as error:
        click.secho(f"segbench: {error.written('options')}", fg="red", err=True)
        sys.exit(2 if isinstance(error, ArgumentError) else 1)
    except BrokenPipeError:
        # Whoever read our output has had enough of it, as head does.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # A name too long, a folder one may not enter: what no reader or writer foresaw is still the place's fault.
        from segbench.loaders.source import shown

        click.secho(f"segbench: {shown(error)}; check the path, disk and permissions", fg="red", err=True)
        sys.exit(1)

"""The program in a process of its own that starts at once where it can be forked from the server of workers."""

import multiprocessing
import os
import signal
import sys

from segbench.aggregator.pools import process_pool


def start(out, *arguments, largest_file=None):
    """Run the program with these arguments; its streams become the files `out`.out and `out`.err."""
    with process_pool(1):  # starts the server
        forked = "forkserver" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if forked else "spawn")
        process = context.Process(target=_run, args=(str(out), [*map(str, arguments)], largest_file))
        process.start()
    return process


def printed(out, process):
    """Wait for a program to end and return what it printed."""
    process.join(120)
    return tuple(out.with_name(f"{out.name}.{stream}").read_text() for stream in ("out", "err"))


def _run(out, arguments, largest_file):
    for number, stream in ((1, "out"), (2, "err")):
        file = os.open(f"{out}.{stream}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    if largest_file is not None:
        import resource

        sys.dont_write_bytecode = True  # Python 3.11 would keep half of a module
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    from segbench.cli.main import program

    sys.argv = ["segbench", *arguments]
    program()

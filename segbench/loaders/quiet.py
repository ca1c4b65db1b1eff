"""Keep the libraries' warnings to themselves while they decode, from any number of threads."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_lock = threading.Lock()
_stack = ExitStack()
_inside = 0


def _drop(_record: logging.LogRecord) -> bool:
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings, and what tifffile logs, for the block; the first thread in sets filters, the last resets them.

    ``warnings.catch_warnings`` alone leaves its filters behind where threads leave it in another order.
    """
    global _inside  # noqa: PLW0603  the filters are the process's, so the count of their users is too
    with _lock:
        if not _inside:
            _stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            logger = logging.getLogger("tifffile")
            logger.addFilter(_drop)
            _stack.callback(logger.removeFilter, _drop)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _stack.close()

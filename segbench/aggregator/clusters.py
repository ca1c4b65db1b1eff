"""Counting on a Dask cluster: the same code on every worker, the same files in sight."""

from __future__ import annotations

import hashlib
import importlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import segbench
from segbench._version import __version__
from segbench.core.errors import ArgumentError, DataError, SegbenchError, WorkerError
from segbench.core.messages import Message
from segbench.loaders.source import Source, shown

_PATIENCE = 30


class DaskPool(Executor):
    """The workers of a Dask cluster behind the interface of `concurrent.futures`; made by `dask_pool`."""

    slow_to_hand_out = True
    """Whether a task takes the scheduler milliseconds, so that larger batches of images are handed out."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401  distributed ships no types
        self._client = client
        self._executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Threads of all workers, as many images as are counted at a time."""
        return sum(self._client.nthreads().values())

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401  as Executor
        """Hand out a call; it and its answer are bytes, since Dask goes through every image of a batch."""
        future: Future[Any]
        if self._client.scheduler.address.startswith("inproc:"):  # what is handed over there is never unpacked
            future = self._executor.submit(fn, *args, **kwargs)
        else:
            packed = importlib.import_module("distributed.protocol.pickle").dumps((fn, args, kwargs))
            future = self._executor.submit(_call, packed)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  as Executor
        """Drop what is in flight; the cluster keeps running."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    def require_sight(self, sources: Iterable[Source]) -> None:
        """Require that every worker can read some files, wherever they are."""
        for worker, path in self._client.run(first_out_of_sight, list(sources)).items():
            if path:
                hint = "put the data where every worker finds it under the same path"
                problem = Message("out-of-sight", "cannot be read by the Dask worker {worker}", worker=worker)
                raise DataError(path, problem, hint)


@contextmanager
def dask_pool(address: str) -> Iterator[DaskPool]:
    """Connect to a Dask cluster to count with; use it in a ``with`` statement.

    Parameters
    ----------
    address : str
        Of the scheduler, ``"tcp://host:8786"``.

    Yields
    ------
    DaskPool
        A `concurrent.futures.Executor`.

    Raises
    ------
    ArgumentError
        If `distributed` is not installed, or the address is invalid.
    WorkerError
        If the cluster cannot be reached, has no workers, or runs another segbench than this one.

    Examples
    --------
    >>> from distributed import LocalCluster
    >>> with LocalCluster(processes=False, dashboard_address=":0") as cluster:
    ...     with dask_pool(cluster.scheduler_address) as pool:
    ...         pool.submit(abs, -1).result()
    1
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ArgumentError(
            Message(
                "not-installed",
                "{package} is not installed; it comes with: pip install 'segbench[dask]'",
                package="Dask",
            )
        ) from error
    with ExitStack() as stack:
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_PATIENCE))
            client.wait_for_workers(1, timeout=_PATIENCE)
        except ValueError as error:
            raise ArgumentError(
                Message(
                    "not-an-address",
                    "{address!r} is not the address of a Dask scheduler ({reason}); "
                    "expected one such as tcp://HOST:8786",
                    address=address,
                    reason=str(error),
                )
            ) from error
        except OSError as error:
            raise WorkerError(
                Message(
                    "no-answer",
                    "{address}: no Dask scheduler with workers answers ({reason})",
                    address=address,
                    reason=str(error),
                )
            ) from error
        _require_same_code(client)
        pool = DaskPool(client)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def code_identity() -> str:
    """Name the code that counts: the version, and a digest of the source files."""
    folder = Path(segbench.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\n" + path.read_bytes())
    return f"{__version__}, code {digest.hexdigest()[:8]}"


def _require_same_code(client: Any) -> None:  # noqa: ANN401  distributed ships no types
    ours = code_identity()
    answers = client.run(code_identity, on_error="return")
    for worker, theirs in answers.items():
        if theirs != ours:
            runs = f"cannot run segbench ({theirs})" if isinstance(theirs, Exception) else f"runs segbench {theirs}"
            raise WorkerError(
                Message(
                    "other-version",
                    "the Dask worker {worker} {runs}, here it is {ours}; install the same on all",
                    worker=worker,
                    runs=runs,
                    ours=ours,
                )
            )


def _call(packed: bytes) -> _Whole:
    fn, args, kwargs = pickle.loads(packed)  # noqa: S301  from the process that owns the cluster
    return _Whole(fn(*args, **kwargs))


class _Whole:
    """An answer on its way back, as one block; it arrives as what it holds."""

    def __init__(self, answer: Any) -> None:  # noqa: ANN401  whatever was answered
        self._answer = answer

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._answer,)


def _itself(answer: Any) -> Any:  # noqa: ANN401  as above
    return answer


def first_out_of_sight(sources: Iterable[Source]) -> str:
    """Name the first of some files that cannot be read here; empty where all can."""
    for source in sources:
        try:
            source.read_bytes()
        except (OSError, SegbenchError):
            return shown(source)
    return ""

"""Where images are counted: here, in processes or threads of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from segbench.cli.options import given
from segbench.core.errors import ArgumentError, SegbenchError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from segbench.loaders.source import Source


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """How many processes work."""

    jobs: int | None = given(
        "Set the number of worker processes.",
        flag="-j --jobs",
        least=1,
        panel="Workers",
        shown="as many as are useful",
    )


@dataclass(frozen=True, kw_only=True)
class Workers(Jobs):
    """Where images are counted, as given on the command line.

    Raises
    ------
    ArgumentError
        If options contradict each other.
    """

    threads: bool = given("Use threads instead of processes.", False)
    dask: str | None = given(
        "Count on a Dask cluster, tcp://HOST:PORT; 'local' starts one of -j processes here.", metavar="ADDRESS"
    )

    def __post_init__(self) -> None:
        if self.dask is not None and self.threads:
            raise ArgumentError("--dask and --threads exclude each other; give one of them")
        if self.dask not in {None, "local"} and self.jobs is not None:
            raise ArgumentError("-j is for workers on this machine; those of a Dask cluster are started with it")

    @contextmanager
    def open(self, samples: Sequence[Source], images: int) -> Iterator[Executor | None]:
        """Open the workers for this many images, which must read the first; None where they would save no time."""
        from segbench.aggregator.pools import ThreadPool, jobs_for, process_pool

        with ExitStack() as stack:
            if self.dask is not None:
                from segbench.aggregator.clusters import dask_pool

                cluster = stack.enter_context(dask_pool(self.dask, workers=self.jobs))
                cluster.require_sight(source for source in samples if _is_readable(source))
                yield cluster
                return
            jobs = jobs_for(images, self.jobs)
            yield stack.enter_context((ThreadPool if self.threads else process_pool)(jobs)) if jobs > 1 else None


def _is_readable(source: Source) -> bool:
    """Return whether a file can be read here; if not, its image fails, not a worker."""
    try:
        source.read_bytes()
    except (OSError, SegbenchError):
        return False
    return True

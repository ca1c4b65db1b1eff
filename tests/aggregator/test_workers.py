"""The same result to the last bit wherever images are counted, and whichever worker dies on the way."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cases import write_folder
from refusing import refused
from unusual_protocols import Deadly, Slow

import segbench
from segbench import (
    Anomalies,
    Boundaries,
    Centerlines,
    Contours,
    Objects,
    Pixels,
    Repairs,
    Saliency,
    WorkerError,
    evaluate,
    load_results,
)
from segbench.aggregator.executors import answers
from segbench.aggregator.pools import process_pool
from segbench.loaders.listing import list_place


def write_blobs(root, count=24):
    rng = np.random.default_rng(0)
    names = [f"im{i:02}.png" for i in range(count)]
    truth = {name: (rng.random((20, 30)) < 0.2).astype(np.uint8) * 255 for name in names}
    scores = {name: rng.integers(0, 256, (20, 30), np.uint8) // 2 + truth[name] // 3 for name in names}
    return write_folder(root / "gt", truth), write_folder(root / "pred", scores)


@pytest.fixture
def folders(tmp_path):
    return write_blobs(tmp_path)


def require_same(result, alone):
    assert repr(dict(result.summary)) == repr(dict(alone.summary))  # nan is nan
    class_of_tests = f"counted_by:{type(result.rules).__name__}|"
    assert result.signature.replace(class_of_tests, "") == alone.signature
    assert list(result.counts) == list(alone.counts)
    assert all(result.counts[name] == alone.counts[name] for name in alone.counts)
    assert dict(result.failed) == dict(alone.failed)


SOFT = {
    "pixels": Pixels(),
    "boundaries": Boundaries(thresholds=9),
    "saliency": Saliency(),
    "contours": Contours(at=0.5),
    "centerlines": Centerlines(thresholds=5),
    "anomalies": Anomalies(),
    "components": Objects(kind="components", at=0.5),
}
"""A protocol of each kind that soft maps can be scored by."""


class TestTheSameEverywhere:
    @pytest.mark.parametrize("protocol", SOFT.values(), ids=SOFT)
    def test_processes_and_threads(self, folders, protocol):
        alone = evaluate(*folders, protocol)
        with process_pool(2) as processes, ThreadPoolExecutor(2) as threads:
            for executor in (processes, threads):
                require_same(evaluate(*folders, protocol, executor=executor), alone)

    def test_threads_from_the_first_image_on(self, tmp_path):
        """Kernels not yet compiled, Pillow not yet set up, warnings to be silenced: all of it at once."""
        folders = write_blobs(tmp_path, 16)
        script = (
            "import sys, warnings\nfrom concurrent.futures import ThreadPoolExecutor\nimport segbench\n"
            "warnings.simplefilter('error')\nbefore = list(warnings.filters)\n"
            "with ThreadPoolExecutor(8) as threads:\n"
            "    result = segbench.evaluate(*sys.argv[1:], executor=threads)\n"
            "assert all(filter in warnings.filters for filter in before)\n"
            "assert ('ignore', None, Warning, None, 0) not in warnings.filters\n"
            "print(result.summary['ods_f'].hex())"
        )
        answer = subprocess.run([sys.executable, "-c", script, *folders], capture_output=True, text=True, check=True)
        assert answer.stdout.strip() == evaluate(*folders).summary["ods_f"].hex()
        assert answer.stderr == ""

    def test_a_resumed_run(self, folders, tmp_path):
        file = tmp_path / "r.segbench"

        def stop(done, _total):
            if done > 7:
                raise KeyboardInterrupt

        with process_pool(2) as pool, pytest.raises(KeyboardInterrupt):
            evaluate(*folders, results=file, executor=pool, progress=stop)
        with process_pool(2) as pool:
            require_same(evaluate(*folders, results=file, executor=pool), evaluate(*folders))
        require_same(load_results(file)[0], evaluate(*folders))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install segbench[dask]")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def with_notes(folders):
    """Images of which some are coloured, one has another size, and one cannot be counted."""
    for number in range(0, 24, 2):
        colours = np.dstack([np.full((20, 30), 10 * number + shade, np.uint8) for shade in (0, 5, 9)])
        write_folder(folders[1], {f"im{number:02}.png": colours})
    write_folder(folders[1], {"im09.png": np.eye(22, 31, dtype=np.uint8)})
    (folders[1] / "im13.png").write_bytes(b"nothing")
    return folders


def said_of(result):
    """Return what is said of a result and its images, and in which order."""
    assert result.failed
    by_image = [(name, tuple(notes)) for name, notes in result.image_notes.items()]
    return tuple(result.notes), list(result.failed.items()), by_image


def require_shared(result):
    """Insist that equal notes of several images are one object."""
    grey = [note for notes in result.image_notes.values() for note in notes if note.kind == "turned-to-grey"]
    assert len(grey) == 12
    assert len({id(note) for note in grey}) == 1


@pytest.mark.filterwarnings("ignore::segbench.FailedImages")
class TestTheSameIsSaidEverywhere:
    PROTOCOL, REPAIRS = Pixels(invert=True), Repairs(resize="nearest")

    def evaluated(self, folders, **options):
        return evaluate(*folders, self.PROTOCOL, repairs=self.REPAIRS, **options)

    def test_alone(self, with_notes):
        alone = self.evaluated(with_notes)
        assert {note.kind: note.images for note in alone.notes} == {"turned-to-grey": 12, "resized": 1, "inverted": 23}
        assert {name: failure.path for name, failure in alone.failed.items()} == {
            "im13": str(with_notes[1] / "im13.png")
        }
        assert [note.kind for note in alone.image_notes["im09"]] == ["resized", "inverted"]
        require_shared(alone)

    def test_by_processes_and_threads(self, with_notes):
        alone = said_of(self.evaluated(with_notes))
        with process_pool(2) as processes, ThreadPoolExecutor(2) as threads:
            for executor in (processes, threads):
                spread = self.evaluated(with_notes, executor=executor)
                assert said_of(spread) == alone
                require_shared(spread)

    def test_by_dask(self, with_notes, cluster):
        with segbench.dask_pool(cluster.scheduler_address) as pool:
            spread = self.evaluated(with_notes, executor=pool)
        assert said_of(spread) == said_of(self.evaluated(with_notes))
        require_shared(spread)

    def test_of_what_is_loaded(self, with_notes, tmp_path):
        alone = self.evaluated(with_notes, results=tmp_path / "r.segbench")
        (loaded,) = load_results(tmp_path / "r.segbench")
        assert said_of(loaded) == said_of(alone)
        require_shared(loaded)

    def test_of_merged_halves(self, with_notes, tmp_path):
        names = [f"im{number:02}" for number in range(24)]
        halves = {tmp_path / "odd.segbench": names[1::2], tmp_path / "even.segbench": names[::2]}
        for file, images in halves.items():
            self.evaluated(with_notes, images=images, results=file)
        (merged,) = segbench.merge_results(list(halves), tmp_path / "both.segbench")
        (loaded,) = load_results(tmp_path / "both.segbench")
        for result in (merged, loaded):
            assert said_of(result) == said_of(self.evaluated(with_notes))
            require_shared(result)


class TestLostWorkers:
    def test_a_worker_killed_once_changes_nothing(self, folders, tmp_path):
        with process_pool(2) as pool:
            spread = evaluate(*folders, Deadly(once="im05", mark=tmp_path / "mark"), executor=pool)
        assert (tmp_path / "mark").exists()
        require_same(spread, evaluate(*folders))

    def test_images_that_always_kill_are_blamed_alone(self, folders):
        with process_pool(2) as pool, pytest.warns(segbench.FailedImages) as warned:
            result = evaluate(*folders, Deadly(always=("im03", "im17")), executor=pool)
        assert list(result.failed) == ["im03", "im17"]
        (warning,) = warned
        assert (warning.message.args[0].values["failed"], warning.message.args[0].values["images"]) == (2, 24)
        assert [failure.kind for failure in result.failed.values()] == ["worker-died"] * 2
        assert len(result.counts) == 22

    def test_where_every_image_kills_it_is_not_the_images(self, folders):
        names = tuple(f"im{i:02}" for i in range(24))
        with process_pool(2) as pool, refused("workers-died", WorkerError) as raised:
            evaluate(*folders, Deadly(always=names), executor=pool)
        assert raised.value.values["images"] > 1

    def test_a_pool_that_does_not_mend_itself_is_refused_after(self, folders, tmp_path):
        context = multiprocessing.get_context(multiprocessing.get_all_start_methods()[-1])
        protocol = Deadly(once="im05", mark=tmp_path / "mark")
        with (
            ProcessPoolExecutor(1, context) as pool,
            refused("executor-broken", WorkerError),
        ):
            evaluate(*folders, protocol, executor=pool)

    def test_what_is_raised_in_a_worker_comes_out(self):
        def fail(_batch):
            raise ZeroDivisionError

        with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
            list(answers(pool, fail, [[1], [2]], lost=lambda item: item))


class TestDask:
    @pytest.mark.parametrize("protocol", SOFT.values(), ids=SOFT)
    def test_every_protocol(self, folders, cluster, protocol):
        with segbench.dask_pool(cluster.scheduler_address) as pool:
            require_same(evaluate(*folders, protocol, executor=pool), evaluate(*folders, protocol))

    def test_workers_in_this_process(self, folders):
        distributed = pytest.importorskip("distributed")
        cluster = distributed.LocalCluster(processes=False, dashboard_address=":0")
        with cluster, segbench.dask_pool(cluster.scheduler_address) as pool:
            require_same(evaluate(*folders, executor=pool), evaluate(*folders))

    def test_two_workers_and_a_foreign_client(self, folders, cluster):
        alone = evaluate(*folders)
        with segbench.dask_pool(cluster.scheduler_address) as pool:
            assert pool.workers == 2
            require_same(evaluate(*folders, executor=pool), alone)
        with cluster.get_client() as client:
            require_same(evaluate(*folders, executor=client.get_executor(pure=False)), alone)

    @pytest.mark.slow
    def test_one_of_two_workers_killed_half_way(self, folders, cluster, tmp_path):
        killed = []

        def kill(done, _total):
            if done > 3 and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        with segbench.dask_pool(cluster.scheduler_address) as pool:
            result = evaluate(*folders, Slow(), executor=pool, results=tmp_path / "r", progress=kill)
        assert killed
        require_same(result, evaluate(*folders))

    def test_other_code_is_refused(self, cluster, monkeypatch):
        monkeypatch.setattr("segbench.aggregator.clusters.__version__", "0.0.7")
        with (
            refused("other-version", WorkerError),
            segbench.dask_pool(cluster.scheduler_address),
        ):
            pass

    def test_a_worker_that_cannot_read_the_images_is_named(self, cluster, tmp_path):
        with (
            segbench.dask_pool(cluster.scheduler_address) as pool,
            refused("out-of-sight", segbench.DataError, path=str(tmp_path / "elsewhere.png")) as raised,
        ):
            pool.require_sight([tmp_path / "elsewhere.png"])
        assert raised.value.values["worker"].startswith("tcp://")

    def test_members_of_archives_are_looked_at_too(self, cluster, folders, tmp_path):
        archive = Path(shutil.make_archive(str(tmp_path / "gt"), "zip", folders[0]))
        sources = [entry.source for entry in list_place(str(archive)).entries]
        with segbench.dask_pool(cluster.scheduler_address) as pool:
            pool.require_sight(sources)
            archive.unlink()
            with refused("out-of-sight", segbench.DataError) as raised:
                pool.require_sight(sources)
        assert "gt.zip" in raised.value.path

    @pytest.mark.parametrize("address", ["hello world", "tcp://"])
    def test_what_is_no_address(self, address):
        pytest.importorskip("distributed")
        with (
            refused("not-an-address", segbench.ArgumentError, address=address),
            segbench.dask_pool(address),
        ):
            pass

    def test_the_extra_is_named_where_it_is_missing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        with refused("not-installed", segbench.ArgumentError, package="Dask"), segbench.dask_pool("tcp://host:8786"):
            pass


def test_progress_counts_once_whoever_dies(folders, tmp_path):
    told = []
    with process_pool(2) as pool:
        evaluate(
            *folders,
            Deadly(once="im05", mark=tmp_path / "mark"),
            executor=pool,
            progress=lambda *numbers: told.append(numbers),
        )
    assert told == sorted(told)
    assert told[-1] == (24, 24)
    assert threading.active_count() < 20


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so(folders, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import segbench\n"
        "with segbench.process_pool(1) as pool:\n"
        f"    print(segbench.evaluate({str(folders[0])!r}, {str(folders[1])!r}, executor=pool).summary)\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]

import pytest
import worker_jobs
from peer_tables.workers import Job, Limits, Measured, Stopped, Worker

GIB = 2**30


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


def job(work, *arguments):
    return Job(worker_jobs.given, arguments, work, worker_jobs.as_list)


def test_measures_the_memory_of_the_call_alone(worker):
    done = worker.ask(job(worker_jobs.fill, 64), Limits(60, GIB))
    assert isinstance(done, Measured)
    assert done.values == [64 * 2**20]
    assert 60 * 2**20 < done.memory < 100 * 2**20
    after = worker.ask(job(worker_jobs.work, 0.0), Limits(60, GIB))
    assert after.memory < 8 * 2**20


def test_a_call_that_fails_says_why_and_the_worker_goes_on(worker):
    assert worker.ask(job(worker_jobs.fail, "no such thing"), Limits(60, GIB)) == Stopped("ValueError: no such thing")
    assert worker.ask(job(worker_jobs.work, 0.0), Limits(60, GIB)).values == [0.0]


@pytest.mark.parametrize(
    ("work", "amount", "limits", "why"),
    [
        (worker_jobs.work, 60.0, Limits(0.2, GIB), "> 0 s"),
        (worker_jobs.fill_and_wait, 300, Limits(30, GIB // 4), "> 0 GiB"),
    ],
)
def test_a_call_past_its_limit_is_stopped_and_another_worker_takes_over(worker, work, amount, limits, why):
    assert worker.ask(job(work, amount), limits) == Stopped(why)
    assert worker.ask(job(worker_jobs.work, 0.0), Limits(60, GIB)).values == [0.0]

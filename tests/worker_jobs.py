"""What the tests of the benchmarks ask a worker to do; a worker imports it by name."""

import time


def given(*arguments):
    return arguments


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds


def fill(mebibytes):
    held = bytearray(mebibytes * 2**20)
    held[:: 2**12] = b"1" * len(held[:: 2**12])
    return len(held)


def fill_and_wait(mebibytes):
    held = bytearray(b"1") * (mebibytes * 2**20)
    time.sleep(60)
    return len(held)


def fail(what):
    raise ValueError(what)


def as_list(answer):
    return [float(answer)]

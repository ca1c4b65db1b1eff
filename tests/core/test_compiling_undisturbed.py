"""Ctrl-C while loops are compiled: it is answered once they are, and never with a traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import sys
from segbench.core.compiling import compiled

@compiled()
def loop(values):
    total = 0.0
    for k in range(values.size):
        for j in range(3):
            total += values[k] ** j if values[k] > j else values[k - 1] * j
    return total

import numpy as np
print("ready", flush=True)
try:
    for dtype in ("f8", "f4", "i8", "i4", "i2", "u1", "u2", "u4", "u8", "i1"):
        loop(np.ones(9, dtype))
except KeyboardInterrupt:
    print("interrupted")
    print(loop(np.ones(9)))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="its Ctrl-C reaches a whole console")
@pytest.mark.parametrize("delay", [0.05, 0.3, 0.6, 0.9])
def test_an_interrupt_waits_for_the_compiler(tmp_path, delay):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert out in ("", "interrupted\n36.0\n") or process.returncode == -signal.SIGINT

"""Protocols that disturb the workers which count with them; a worker imports this file, and nothing of pytest."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from segbench import Pixels


@dataclass(frozen=True, kw_only=True)
class Deadly(Pixels):
    """Counts pixels, but some images kill the process: always, or once."""

    name: ClassVar[str] = "pixels"
    always: tuple[str, ...] = ()
    once: str = ""
    mark: Path = Path()

    def count(self, sample):
        if sample.name in self.always:
            os.kill(os.getpid(), signal.SIGKILL)
        if sample.name == self.once and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().count(sample)


@dataclass(frozen=True, kw_only=True)
class Slow(Pixels):
    """Counts pixels, slowly enough to be disturbed."""

    name: ClassVar[str] = "pixels"

    def count(self, sample):
        time.sleep(0.1)
        return super().count(sample)

"""Protocols that disturb the workers which count with them, and one of fixed columns; a worker imports this file."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from segbench import Pixels
from segbench.protocols.pixels.metrics import PixelTable

DEADLY = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has the second only, which ends a process there


@dataclass(frozen=True, kw_only=True)
class Deadly(Pixels):
    """Counts pixels, but some images kill the process: always, or once."""

    name: ClassVar[str] = "pixels"
    always: tuple[str, ...] = ()
    once: str = ""
    mark: Path = Path()

    def count(self, sample):
        if sample.name in self.always:
            os.kill(os.getpid(), DEADLY)
        if sample.name == self.once and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), DEADLY)
        return super().count(sample)


@dataclass(frozen=True, kw_only=True)
class Slow(Pixels):
    """Counts pixels, slowly enough to be disturbed."""

    name: ClassVar[str] = "pixels"

    def count(self, sample):
        time.sleep(0.1)
        return super().count(sample)


FIXED = {
    *("ods_f", "ods_precision", "ods_recall", "ods_threshold", "iou", "ois_f", "mean_image_f"),
    *("auc_pr", "auc_pr_achievable", "average_precision", "auc_roc", "fpr_at_95_tpr"),
}


class FixedTable(PixelTable):
    metrics = tuple(metric for metric in PixelTable.metrics if metric.key in FIXED)


@dataclass(frozen=True, kw_only=True)
class Fixed(Pixels):
    """Counts pixels, and has the same columns whatever metrics pixels get."""

    name: ClassVar[str] = "fixed"

    def metrics(self):
        return FixedTable.metrics

    def table(self, per_image, **_more):
        return FixedTable(per_image)

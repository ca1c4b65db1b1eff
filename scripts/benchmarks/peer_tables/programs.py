"""Which programs are here, and how the missing ones are installed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program under test: its name in tables, what it imports, and the words after ``pip install``."""

    name: str
    modules: tuple[str, ...]
    install: str
    package: str

    @property
    def missing(self) -> str:
        """What to do where it is not installed; empty where it is."""
        absent = [module for module in self.modules if importlib.util.find_spec(module) is None]
        return f"{self.name}: not installed; pip install {self.install}" if absent else ""


SEGBENCH = Program("segbench", ("segbench",), "segbench", "segbench")
NUMPY = Program("NumPy", ("numpy",), "numpy", "numpy")
NUMBA = Program("Numba", ("numba",), "numba", "numba")
OPENCV = Program("OpenCV", ("cv2",), "opencv-python-headless", "opencv-python-headless")
TORCH = Program("PyTorch", ("torch",), "torch", "torch")
SCIKIT_LEARN = Program("scikit-learn", ("sklearn",), "scikit-learn", "scikit-learn")
TORCHMETRICS = Program("torchmetrics", ("torch", "torchmetrics"), "torch torchmetrics", "torchmetrics")
SCIPY = Program("SciPy", ("scipy",), "scipy", "scipy")
SCIKIT_IMAGE = Program("scikit-image", ("skimage",), "scikit-image", "scikit-image")
PYEDGEEVAL = Program("pyEdgeEval", ("pyEdgeEval", "cv2"), "pyedgeeval opencv-python-headless", "pyedgeeval")
PYSODMETRICS = Program("PySODMetrics", ("py_sod_metrics", "cv2"), "pysodmetrics", "pysodmetrics")

PEERS = (SCIKIT_LEARN, TORCHMETRICS, SCIPY, SCIKIT_IMAGE, PYEDGEEVAL, PYSODMETRICS)
PACKAGES = ("segbench", "numpy", "numba", "torch", "opencv-python-headless", *(program.package for program in PEERS))

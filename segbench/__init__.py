"""segbench benchmarks edge detectors and segmentation models: images to counts, counts to curves and metrics.

Everything public is a name of this module and is loaded when first used.
"""

import lazy_loader

from segbench._version import __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]

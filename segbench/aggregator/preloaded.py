"""What the fork server imports: what counting takes, with the compiler of loops set up once for all workers.

Loading the first compiled loop takes .7 s of processor, most of it in Numba itself; workers are forked after it.
"""

import numpy as np
import PIL.Image  # noqa: F401  workers decode with it

import segbench.aggregator.executors  # noqa: F401  what workers run
from segbench.aggregator.one_image import count

count(np.array([False, True]), np.array([0, 1], np.uint8))

"""The curve engine: counts of pixels by score to ROC and PR curves, areas and F-measures.

`ScoreCounts` enter, or what the pixel protocol has of many images, and nothing else: every number can be computed again
from a results file, without images. Points, areas, curves and the best F leave. Begin with `points`, where counts are
cumulated, then read `areas` and `curve`; `pooled` is the curve of a whole set, and `kernels` has the compiled loops.
"""

"""The curve engine: counts of pixels by score to ROC and PR curves, areas, F-measures and bounds.

Every function takes counts and nothing else: every number can be computed again from a results file, without images.
"""

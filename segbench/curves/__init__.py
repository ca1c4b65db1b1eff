"""The curve engine: counts of pixels by score to ROC and PR curves, areas and F-measures.

Every function takes counts and nothing else: every number can be computed again from a results file, without images.
"""

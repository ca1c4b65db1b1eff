"""Published numbers, recomputed: those of papers, the demo, BSDS500, published curves and saliency maps.

What enters are the data that ship and the folders that a user names. What leaves is a list of `Check`, each with the
number that is expected, the one that came out and the difference that is allowed. Begin with `verifying.py`, which
lists the parts; `checks.py` has what they share, and each other module recomputes one kind of data. Expected numbers
are in the TOML files beside them. `terminal.py` prints checks.
"""

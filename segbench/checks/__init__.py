"""Mismatches between two folders, found from names, headers and a few images before anything is counted.

What enters is a `Pairing` of files per method and the protocol that is to count them; what leaves is a `Report` of
findings, each with the files that show it and the setting that fixes it. `checking.py` looks (begin there): it reads all
headers (`survey.py`), has some images interpreted and summarized by the inputs of the protocol, and puts both into a
`Seen` (`seen.py`). Rules judge it (`rules.py` lists them all): small functions, in files named after what they are about
— `names.py`, `sizes.py`, `colours.py`, `truths.py` for ground truth, `scores.py`, `inversion.py`, `geometry.py`,
`map_kinds.py` for predictions, `classes.py`, `label_maps.py`, `label_damage.py`, `objects.py`. Copies of files
(`copies.py`) are compared byte by byte.
"""

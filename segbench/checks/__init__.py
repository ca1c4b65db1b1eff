"""Mismatches between two folders, found from names, headers and a few images before anything is counted.

What enters is a `Pairing` of files per method, and the protocol that is to count them. What leaves is a `Report` of
findings, each with the files that show it and the setting that fixes it. Begin with `checking.py`: it reads all headers
(`survey.py`), lets the inputs of the protocol interpret and summarize some images, and puts both into a `Seen`
(`seen.py`). Rules judge it, small functions that `rules.py` lists: on names and sizes (`names.py`, `sizes.py`,
`colours.py`), on ground truth (`truths.py`), on predictions (`scores.py`, `inversion.py`, `geometry.py`,
`map_kinds.py`, `classes.py`), and on label maps (`label_maps.py`, `label_damage.py`, `objects.py`). `copies.py`
compares files byte by byte.
"""

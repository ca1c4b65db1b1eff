"""The data sets that ship as presets, a TOML file each.

A file says how a data set is laid out, by which protocols it is counted and with which options; it holds no code.
`segbench.loaders.presets` reads them, and docs/extending.md shows how to add one.
"""

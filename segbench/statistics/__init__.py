"""Intervals, comparisons and bands, for the table of any protocol.

What enters is a `segbench.core.table.Table` for each method, with a row per image or unit; `tables` lays counts out as
one, and `means` has those of several runs or groups. What leaves are `Intervals`, a `Comparison` of each pair of
methods with its `Answer` in words, and bands of curves, each with the notes that say what it is worth. Begin with
`Measured` in `measured`, one method with what leaving out and resampling rows do to its metrics; `variance` says how
standard errors become intervals and p-values, and `pairs` tests differences.
"""

"""Curves drawn with Matplotlib, given as arrays or as a `segbench.core.series.Series`: axes, colours, legends."""

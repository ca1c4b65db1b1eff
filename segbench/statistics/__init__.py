"""Intervals, comparisons and bands, for the table of any protocol."""

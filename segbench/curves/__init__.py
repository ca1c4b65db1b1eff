"""Counts to numbers: curves, areas, F-measures, bounds."""

"""Plots of results: one module per kind, each with its public function and its `Kind`."""

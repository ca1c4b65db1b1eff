"""Recomputes published numbers: those of papers, the demo, BSDS500 and published curves."""

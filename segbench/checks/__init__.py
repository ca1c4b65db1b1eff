"""Mismatches between two folders, found from names, headers and a few images before anything is counted."""

"""Bootstrap, permutation tests and comparisons, for the table of any protocol."""

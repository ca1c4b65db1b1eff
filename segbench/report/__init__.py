"""Results to people: tables, plots, files."""

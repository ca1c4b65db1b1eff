"""Results to people and to other programs: tables, comparisons, plots, overlays, figures, the report page, and files.

What enters is a list of `Result`, with intervals and a `Comparison` where there are any; what leaves is text, a picture
or a file, and nothing is measured here. Begin with `tables.py`: which rows and columns a table of results has. It makes
`MetricTable` (`metric_table.py`), which `terminal.py` prints, `documents.py` writes as JSON, CSV or Markdown, and
`latex.py` as LaTeX. `ranking.py` says which methods compete and which value is best, `remarks.py` what must be known
beside a table, `comparisons.py` how a comparison reads, `findings.py` how `segbench check` does, and `grounds.py` which
colours pixels have over photographs. `plots/`, `figure/` and `page/` are packages of their own.
"""

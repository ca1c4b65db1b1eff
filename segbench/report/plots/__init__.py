"""Plots of results, each kind with its public function and its `Kind`.

What enters is a list of `Result` of one protocol; what leaves are Matplotlib axes, or a file (`saving.py`). `kinds.py`
lists the kinds and their modules; `methods.py` has what they share, a `Method` with its style and label: begin there.
Charts of curves are described as `segbench.drawing.charts.Chart`, which the report page draws, too.
"""

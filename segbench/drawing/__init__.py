"""Curves drawn with Matplotlib: axes, colours, names beside curves, legends.

Arrays enter, or a `segbench.core.series.Series`, and a description of what is drawn leaves (`charts.Chart`), for
Matplotlib here and for the SVG of the report page. Begin with `charts`; `axes` has what all plots share, `palette` the
colours, and `letters` the fonts for names that the usual ones cannot write.
"""

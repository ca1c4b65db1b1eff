"""The report page: results as one HTML file that needs no network.

`document.py` puts it together from `answer.py` (which method leads), `charts.py` (SVG of the charts that plots show),
`panels.py` (which images are shown, drawn by `pictures.py`), and `commands.py` (how to repeat it). `template.html`,
`style.css` and the scripts are what a browser gets.
"""

"""The report page: results as one HTML file that needs no network.

`document.py` puts it together from `charts.py` (curves), `panels.py` (pictures of images) and
`commands.py` (how to repeat it); `template.html`, `style.css` and the scripts are what a browser gets.
"""

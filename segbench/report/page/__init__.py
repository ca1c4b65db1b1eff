"""The report page: results as one HTML file that needs no network.

`document.py` puts it together from `answer.py` (which method leads), `charts.py` (drawn with `svg.py`), `gallery.py`
and `panels.py` (pictures of images), and `commands.py` (how to repeat it, with `places.py` for names of folders).
`template.html`, `style.css` and the scripts are what a browser gets.
"""

"""The report page: results as one HTML file that needs no network.

What enters is what enters a table, and the files of the images where they still exist; what leaves is one page. Begin
with `document.py`, which computes the variables of `template.html`. `answer.py` says first which method is best;
`charts.py` draws figures with the elements of `svg.py`; `panels.py` chooses which images get pictures, and
`pictures.py` draws them. Scripts (`*.js`) and styles lie beside them and are written into the page.
"""

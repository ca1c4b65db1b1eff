"""The report page: results as one HTML file that needs no network; `document.py` puts it together."""

"""What `make_datasets.py` is made of: pictures, outlines, classical methods and the papers' tables."""

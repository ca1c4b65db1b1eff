"""The figure of a paper: images in rows; the photograph, the ground truth and what each method made of it in columns.

Begin with `figure_of` in `grid`, which reads what is drawn; `rows` chooses the images, `cells` makes the picture of one
image and method, `drawing` lays them out with Matplotlib, and `files` writes the figure, its caption and its tiles.
"""

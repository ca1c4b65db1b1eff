"""The contours protocol: distances between the boundaries of masks, and overlaps near them, image by image.

What `settings` reads of an image becomes numbered masks, and these become `ContourCounts`: how many elements of a
contour there are at each squared distance from the other, as whole numbers (`counting`). `measures` computes the
metrics of a mask from its counts, and `metrics` lays out tables of many. Begin with `counting`; loops over volumes are
in `segbench.imaging.surfaces`.

Conventions
-----------
1. By default a contour is the inner boundary of a mask: its pixels with a neighbour of four that is background. Pixels
   outside the image are background. With ``surface="lengths"`` it is made of elements at the corners of pixels,
   wherever the four pixels around a corner differ; an element is sqrt(1/2) long with one or three pixels in the mask, 1
   with two that are adjacent, sqrt(2) with two in a diagonal.
2. HD is the largest distance from either contour to the other. HD95 is the larger of the two directed 95th percentiles,
   on a straight line between two pixels, or that of both directions together (``hd95="union"``). Of lengths it is the
   smallest distance that 95 % of the length do not exceed.
3. ASSD is the mean over the distances of both directions, MASD the mean of the two directed means. NSD is the share of
   both contours within a tolerance of the other, inclusive.
4. Boundary IoU is that of the pixels of each mask within d pixels of background, diagonal steps included: d is 2 % of
   the diagonal, rounded, halves to even, at least 1.
5. J, F and J&F are those of DAVIS: boundary pixels differ from the right, lower or lower right one, and are found
   within .8 % of the diagonal, rounded up.
6. Void pixels, and those outside the field of view, are background in both masks.
7. One mask empty: distances are undefined, or with ``empty`` the diagonal of the image or a number, and overlaps 0.
   Both empty: J and F are 1, all else undefined; with that option distances are 0 and NSD is 1.
8. Volumes have surfaces: the voxels of a mask with a neighbour of six that is background, or elements at the corners of
   voxels, with the area of the surface there. Distances are exact for any spacing, and boundaries of DAVIS and Boundary
   IoU are not defined.
9. A metric is the mean over the images where it is defined. Of classes it is the mean over classes of these means;
   ``_images`` is the mean over images of the mean over classes.

Differences from other code
---------------------------
1. MONAI 1.6: none but its single precision. Metrics Reloaded: none.
2. medpy 0.5.2: none with ``hd95="union"``. Older versions return MASD as ``assd``.
3. surface-distance 0.1: none with ``surface="lengths"`` or ``"areas"``, except that 95 % of the length reached exactly
   count as reached, which rounding hides there.
4. DAVIS's statistics overflow beyond 256 frames (decay); these do not.
5. Tolerances and distances are compared as fractions: 3 pixels of .1 mm are within .3 mm.

References
----------
Nikolov et al.: Deep learning to achieve clinically applicable segmentation of head and neck anatomy. 2018 (NSD).
Maier-Hein, Reinke et al.: Metrics reloaded. Nature Methods 2024.
Cheng, Girshick, Dollar, Berg, Kirillov: Boundary IoU. CVPR 2021.
Perazzi et al.: A benchmark dataset and evaluation methodology for video object segmentation. CVPR 2016 (J, F).
Pont-Tuset et al.: The 2017 DAVIS challenge on video object segmentation.
"""

"""The boundary protocol of BSDS500: thinned maps matched one to one with each annotator's pixels.

`Boundaries` (`settings`) takes a soft map, or a map per threshold, and the boundaries that each annotator drew.
`counting` thins the maps, which `suppression` may have thinned before, and matches them by `assignment`; it makes
`BoundaryCounts` (`counts`), four integers per threshold that add up over images. `curve` has the rules by which the
benchmark reads ODS and the areas off the pooled counts, and the table in `metrics` every metric; `official` writes both
as the official code does. Begin with `counting.count_boundaries`.

Conventions
-----------
1. A pixel is on where ``score >= threshold``; thresholds are those of the official code, ``k / (K + 1)`` up to the last
   bit, or a list.
2. The map of each threshold is thinned to convergence; the ground truth is not.
3. Each annotator's pixels and the map's are matched one to one within ``max_dist`` of the diagonal, inclusive, at
   the least sum of distances and of a price for each unmatched ground-truth pixel (`match_boundaries`), then by a fixed
   rule, so that counts are a function of the input.
4. Ground truth is counted once an annotator (recall); a prediction pixel counts once, as matched if any annotator's
   matching used it (precision).

Differences from the official code
----------------------------------
1. The matching is exact; the official one links outliers at random. ``matched_gt`` is higher by 0.05 %, ODS and OIS by
   at most 0.0004 on 200 images.
2. ``max_dist`` of 0 means equal pixels; the official code crashes.
3. An image in which nothing matches at any threshold adds the counts of its last threshold to OIS, not of its first.

References
----------
Martin, Fowlkes, Malik: Learning to Detect Natural Image Boundaries Using Local Brightness, Color, and Texture Cues.
PAMI 2004.
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011.
"""

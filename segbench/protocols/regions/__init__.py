"""The region protocol of BSDS500: covering, probabilistic Rand index and variation of information.

`Regions` (`settings`) takes a contour map or label maps, and the label maps of annotators. `counting` finds the
predicted regions at every threshold, as a `Hierarchy`, and compares them with those of each annotator, in the loops of
`kernels`. It returns `RegionCounts` (`counts`), whole numbers per threshold that add up over images, from which
`RegionTable` (`metrics`) computes every metric. Begin with `counting.count_regions`.

Conventions
-----------
1. At a threshold the regions of a contour map of double size are the 8-connected points where ``ucm2 <= threshold``,
   sampled at ``[1::2, 1::2]`` (boundaries take ``>=``). Label maps are taken as they are: a label is a region,
   connected or not. Thresholds of label maps are their places, from 1.
2. Covering: each ground-truth region's area times its best intersection over union with a predicted region.
3. Rand index: 1 - (sum of squared areas of either side / 2 - sum of squared overlaps) / (N (N - 1) / 2).
4. Variation of information in bits: H(prediction | ground truth), too much split, plus H(ground truth | prediction),
   too much merged.
5. Adapted Rand error: 1 - F over pairs of different pixels that share a region; precision is the share of predicted
   pairs that the annotator made, too, recall the share of the annotator's that were predicted. Of no pairs all are
   right.
6. Rand index, variation of information and adapted Rand error are means over annotators, covering is a sum over all.
7. Left out are pixels outside the field of view, and those of void labels for the annotator who gave them: from every
   area, the predicted regions' included.

Differences from other code
---------------------------
1. Labels of BSDS500 start at 1; here label 0 is a region as any other unless it is void.
2. ``skimage.metrics.adapted_rand_error(truth, prediction)`` gives the same error with precision and recall exchanged
   against its own description, and leaves label 0 of the ground truth out by default.
3. ``skimage.metrics.variation_of_information(truth, prediction)`` gives split and merge in this order.

References
----------
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011.
Unnikrishnan, Pantofaru, Hebert: Toward Objective Evaluation of Image Segmentation Algorithms. PAMI 2007.
Meila: Comparing clusterings by the variation of information. COLT 2003.
Arganda-Carreras et al.: Crowdsourcing the creation of image segmentation algorithms for connectomics. Frontiers in
Neuroanatomy 2015 (adapted Rand error, split and merge).
"""

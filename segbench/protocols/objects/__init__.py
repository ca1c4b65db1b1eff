"""The objects protocol: panoptic quality, instance label maps, and connected components of masks.

`Objects` (`settings`) takes two maps of one image, in which its inputs have found the objects. `counting` finds which
objects overlap and matches them; it makes `ObjectCounts` (`counts`), whole numbers that add up over images: how many
objects there are, and intersection and union of each pair. The tables in `metrics`, one per kind of objects, compute
every metric from these, and `pictures` outlines what is found, missed and false. Begin with
`counting.count_instances`.

Conventions
-----------
1. Panoptic quality: a predicted segment matches one of the ground truth of its class if their IoU is above .5, without
   what the prediction has in void. An unmatched prediction is ignored if more than half of its whole area lies in void
   or in crowds of its class. Crowds are no misses. PQ, SQ and RQ are means over the classes that have a true, missed or
   false object; SQ of a class without matches is 0.
2. With a divisor, values below it are classes: stuff, or in ground truth crowds of things; of predictions one segment.
   Classes that are void are void on both sides. With a JSON, id 0 is void.
3. Instances: at a threshold of IoU, from .5, as many pairs as possible are matched one to one, with an IoU of at least
   the threshold, an exact decimal. Metrics are of all images together; ``_images`` are means over the images where they
   are defined.
4. AJI: each true object takes the prediction of largest IoU, the lowest number of several, which others may take, too.
   AJI+: the one-to-one matching of the largest sum of IoU. Both are means over images.
5. Components are numbered after void pixels were taken out of both masks. Predicted ones below a size are removed, then
   true ones below a size become void with what is predicted there; what is left keeps its numbers.
6. sIoU of a true component is its intersection with the predicted components that touch it over their union, without
   the pixels of these in other true components. PPV of a predicted component is its share in true ones. F1 at t counts
   true components of sIoU >= t, and predicted ones of PPV < t as false; its mean is over t = .25, .3 to .75.
7. Lesion F1: a true component is found if a pixel of it is predicted; a predicted one is false if no pixel of it is
   true.
8. Components of volumes touch in 26, 18 or 6 ways. `lesions` counts what BraTS measures since 2023: true components
   that touch after dilation are one lesion, which takes all predicted components that touch its dilation; lesions of at
   most ``min_size`` are left out, and predicted components that touch no lesion are false. `lesion_scores` has Dice and
   HD95, 374 for missed and false ones. With neither they are 1 and 0.
9. Pd and Fa (`targets`): components of images match one to one if their centroids are less than 3 pixels apart, the
   nearest pairs first. Fa counts the pixels of predicted components without match.
10. FROC: see `froc`. A predicted component has the highest score inside.
11. With ``min_size`` objects of at most this size are removed on both sides, as in 5; sizes are exact.
12. Scores above the threshold are predicted, as in the official code of SMIYC; other protocols take those at it, too.

Differences from other code
---------------------------
1. panopticapi: several crowd segments of a class in an image all excuse predictions, not the last one alone.
2. torchmetrics 1.9 takes the void part of unmatched predictions off unions and leaves out misses there: of two objects
   one found is .667 here, and 1.0 there.
3. panoptica matches an IoU of exactly .5, too. Otherwise none.
4. DNANet and BasicIRSTD match each true component with the first predicted one in scan order that is near.
5. StarDist compares in single precision, so that 9/10 is not .9, and gives 0 where nothing is matched. Cellpose's "aji"
   is neither of those here.

References
----------
Kirillov, He, Girshick, Rother, Dollar: Panoptic segmentation. CVPR 2019.
Kumar et al.: A dataset and a technique for generalized nuclear segmentation. IEEE TMI 2017 (AJI).
Graham et al.: HoVer-Net. Medical Image Analysis 2019 (AJI+).
Schmidt, Weigert, Broaddus, Myers: Cell detection with star-convex polygons. MICCAI 2018 (StarDist).
Chan et al.: SegmentMeIfYouCan: A benchmark for anomaly segmentation. NeurIPS 2021.
Moawad et al.: The Brain Tumor Segmentation (BraTS-METS) Challenge 2023. arXiv 2306.00838.
Li et al.: Dense nested attention network for infrared small target detection. IEEE TIP 2023 (Pd, Fa).
Hernandez Petzsche et al.: ISLES 2022. Scientific Data 2022 (lesion F1).
"""

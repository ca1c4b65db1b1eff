"""The labels protocol: hard predictions, one label per pixel, counted in a confusion matrix per image.

`Labels` (`settings`) takes label maps or masks, of which its inputs (`segbench.inputs.class_label_maps`,
`segbench.inputs.label_masks`) make a confusion matrix, so that the package has no counting of its own. The matrix is
kept in `LabelCounts` (`counts`), and `LabelTable` (`metrics`) computes IoU, Dice, accuracies and their means from the
matrices of all images. Begin with `LabelTable`.

Conventions
-----------
1. Void pixels of the ground truth, and those outside the field of view, are counted as ignored and nowhere else. A
   label of the ground truth that is neither a class, nor void, nor remapped is an error.
2. A prediction outside the classes, or void, misses the true class and is a false positive of no class.
3. Stacks of scores are reduced by argmax; of equal scores the lower class wins.
4. Masks are two classes; see `segbench.Labels` for which values are positive.
5. The metrics and what they average over: `segbench.protocols.labels.metrics`.

Differences from other code
---------------------------
1. cityscapesScripts and mmsegmentation (``IoUMetric``): none in the pooled metrics.
2. torchmetrics (``MulticlassJaccardIndex``): a class that neither side holds is printed as 0 per class, but is in no
   macro mean, as here. Predictions outside the classes are an error.
3. scikit-learn (``jaccard_score``): a class in `labels` that neither side holds counts as 0 in the macro mean.
4. Wang et al. (JDTLosses): with two classes, I is that of the positive class, and 1 for an image without any; here
   ``miou_images`` is over both classes, and ``iou_images`` over the images that hold the positive class.

References
----------
Everingham et al.: The PASCAL Visual Object Classes Challenge. IJCV 2010 (IoU pooled over images).
Cordts et al.: The Cityscapes Dataset for Semantic Urban Scene Understanding. CVPR 2016.
"""

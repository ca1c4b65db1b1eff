"""The saliency protocol: MAE, S, E, F, weighted F, mean IoU and Dice, BER, as papers on salient objects report them.

`Saliency` (`settings`) takes a map and a mask. `counting` computes every metric of the image, in the passes over its
pixels of `kernels`, and returns `SaliencyCounts` (`counts`), whole numbers in fixed units that add up over images.
`SaliencyTable` (`metrics`) divides their sums and finds the maxima of mean curves. Begin with `counting.count_map`.

Conventions
-----------
1. Levels are divided by the maximum of their type; then each map is stretched to [0, 1] by its own minimum and maximum
   (``stretch``). A constant map stays as it is. Ground truth is positive above 128 (``positive``).
2. Every metric is computed image by image and averaged over images. Counts are sums over images in units of 2**-44, so
   they add exactly. Only the maxima and means of curves are taken after averaging.
3. Thresholds of curves are 0 to 255: a pixel is positive at ``k`` if ``floor(255 * value) >= k``. The adaptive
   threshold is ``min(2 * mean, 1)``, on the values themselves.
4. F weighs precision by beta2 = .3. Precision, recall and F are 0 where nothing is found, also without positives.
5. ``f_max`` is the maximum of the mean F curve, ``f_max_of_image`` the mean of the images' own maxima, and
   ``f_max_of_mean_pr`` the maximum F of the mean precision and recall. Papers call all three "max F".
6. S: alpha = .5; the centroid is rounded half up, and its row and column belong to the upper and left parts. Without
   positives S is 1 - mean, all positive it is the mean.
7. E: the sum over pixels is divided by their number less one, as in the authors' code, so that a perfect map of few
   pixels exceeds 1 by 1 / (N - 1). Without positives the share of negative predictions is measured, all positive that
   of positive ones.
8. Weighted F: beta2 = 1; the nearest positive pixel is, of several, that of SciPy's
   ``distance_transform_edt``. Without positives it is 0.
9. IoU, Dice, sensitivity (recall) and specificity are averaged over images at each of the 256 thresholds; their mean
   and maximum are those of this curve, as in the code of PraNet. All are 0 where an image has no true positive,
   specificity included. BER is measured at .5, over the labels that the image has.

Differences from the authors' MATLAB code
-----------------------------------------
1. MATLAB's E curve takes thresholds ``k / 255`` on values rather than truncated values: its mean differs in the fifth
   decimal place. Ours is that of PySODMetrics.
2. Where a part of the image is empty (positives in the last row or column only) the authors' S is NaN; here this part
   has weight 0. A part of one pixel has variance 0.
3. The authors' E of an image of one pixel is 0 or 4.5e15; here it is 0 or 1.
4. Specificity of an image without negatives is NaN in the code of PraNet, and with it every mean; here it is 0.

Differences from PySODMetrics 1.6.2
-----------------------------------
1. A region of S in which map and mask are constant scores 1; there it scores 0 if the mean of the map is rounded. A
   constant map of 51 and an object of one pixel: .8598 instead of .4848 (``docs/saliency.md``).
2. A centroid halfway between two pixels is rounded to even there: .0250 instead of .5200 for 2x2 pixels in a corner.

References
----------
Achanta et al.: Frequency-tuned salient region detection. CVPR 2009 (F).
Margolin, Zelnik-Manor, Tal: How to evaluate foreground maps? CVPR 2014 (weighted F).
Fan, Cheng, Liu, Li, Borji: Structure-measure. ICCV 2017 (S).
Fan, Gong, Cao, Ren, Cheng, Borji: Enhanced-alignment measure for binary foreground map evaluation. IJCAI 2018 (E).
Fan, Ji, Zhou, Chen, Fu, Shen, Shao: PraNet: Parallel Reverse Attention Network for Polyp Segmentation. MICCAI 2020
(IoU, Dice, sensitivity and specificity over thresholds).
"""

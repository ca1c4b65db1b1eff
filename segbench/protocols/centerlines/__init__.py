"""The centerlines protocol: how well thin structures are found, by their skeletons and their topology.

`Centerlines` (`settings`) takes a ground-truth mask and a predicted one, or a soft map that its inputs have cut at one
or several thresholds. `counting` compares their skeletons (`skeletons`) and their topology; it makes `CenterlineCounts`
(`counts`), whole numbers per threshold that add up over images. The table in `metrics` computes every metric from
these, and the curve over thresholds. Begin with `counting.count_masks`.

Conventions
-----------
1. Precision is the share of the predicted skeleton inside the true mask, sensitivity the share of the true skeleton
   inside the predicted mask; clDice is their harmonic mean. `cldice` and its parts pool the pixels of all images;
   `cldice_images` is the mean over images, which papers report.
2. Exactly one mask empty: clDice is 0, and the part whose skeleton is empty undefined. Both empty: undefined. Masks
   that do not overlap: 0.
3. Betti and Euler errors are absolute differences in components, in holes, and in the Euler characteristic, components
   less holes, of an image; then the mean over images. Components touch at edges and corners (``connectivity=8``), and
   then background at edges alone, or the other way round (4). Outside the image is background.
4. ``_patches`` takes patches of 64 by 64 pixels instead, on a grid from the top-left corner, incomplete ones left out,
   with background around each: the mean over the patches of an image, then over images.
5. Void pixels, and those outside the field of view, are background in both masks.
6. Volumes have Lee's skeleton, of axes turned to RAS where a header says how they lie; Betti numbers of components,
   tunnels and cavities, and no patches (`volumes`). Voxels touch in 26 ways and background in 6, or the other way
   round.
7. Of soft maps at several thresholds, every metric is taken at the one where pooled clDice is best, of equals the
   lowest; each image by itself at its own.

Differences from other code
---------------------------
1. The official ``clDice`` calls precision sensitivity and the other way round, which leaves clDice as it is, and gives
   nan where a skeleton is empty. Apart from that its numbers are the same to the last bit.
2. The soft clDice of training, with soft skeletons of pooling, is a loss and not this measure.
3. Numbers depend on the skeleton: with that of Lee, thinning or the medial axis clDice differs in the second decimal.

References
----------
Shit, Paetzold, Sekuboyina, Ezhov, Unger, Zhylka, Pluim, Bauer, Menze: clDice, a novel topology-preserving loss function
for tubular structure segmentation. CVPR 2021.
Hu, Li, Samaras, Chen: Topology-preserving deep image segmentation. NeurIPS 2019 (Betti errors of patches).
Zhang, Suen: A fast parallel algorithm for thinning digital patterns. CACM 1984.
"""

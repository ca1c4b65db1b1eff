"""The anomaly protocol: AUPRO, AUPIMO, and ROC and precision-recall of pixels and of images.

`Anomalies` (`settings`) takes a soft map and a mask. `counting` makes `AnomalyCounts` of them (`counts`): normal pixels
by score and size of their image, anomalous ones by score and size of their component. `curves` computes PRO and PIMO
from the counts of all images, and `AnomalyTable` (`metrics`) adds the metrics of pixels and of images; for MVTec LOCO
`defects` has a table of its own. Begin with `AnomalyTable`, then `curves`.

Conventions
-----------
1. ``score >= threshold`` is anomalous; equal scores enter together. Scores have any range; integers are divided by the
   maximum of their type. Maps are never stretched.
2. A mask pixel is anomalous if it is greater than 0 (``positive``). Void pixels, and those outside the field of view,
   are neither normal nor anomalous. Components are those of the anomalous pixels that count, 8-connected: what void
   cuts in two is two components.
3. PRO at a threshold is the mean over all components of all images of the share of their pixels that is found, FPR the
   share of all normal pixels that is, those of anomalous images included. There is a point for each distinct score;
   points are joined by straight lines, from (0, 0). ``aupro`` is the area up to an FPR of .3 divided by .3,
   ``aupro_05`` that up to .05; the line is cut at the limit.
4. An image is normal if it has no anomalous pixel. The shared FPR of a threshold is the mean over normal images of
   their own FPR. Thresholds of AUPIMO are the distinct scores of normal images. For an anomalous image, the points
   (logarithm of the shared FPR, recall of its anomalous pixels) are joined by straight lines; its AUPIMO is the area
   between 1e-5 and 1e-4, divided by ln 10. If the smallest positive shared FPR is above 1e-5, it is undefined.
5. ``aupimo`` is the mean over anomalous images, ``aupimo_median`` their median, ``aupimo_zero`` the share of them at 0.
6. The score of an image is the highest of its map, or the mean of the highest 1 % of its pixels (rounded up), or that
   of a table. Its AUC-ROC, AP and best F are those of images as cases.
7. AUC-ROC, AP and best F of pixels are those of the pixel protocol, of hard masks the point of the mask.

Differences from other code
---------------------------
1. ADEval counts scores in 1000 bins; pyaupro takes 100 thresholds if told so (``docs/anomalies.md`` has the errors).
2. anomalib takes a choice of thresholds for AUPIMO, where here every distinct score of normal images is one.

References
----------
Bergmann, Batzner, Fauser, Sattlegger, Steger: The MVTec Anomaly Detection Dataset. IJCV 2021 (PRO).
Bertoldo, Ameln, Vaidya, Akcay: AUPIMO: Redefining Visual Anomaly Detection Benchmarks. BMVC 2024.
"""

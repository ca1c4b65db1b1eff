"""The pixel protocol: every pixel is a case; also many classes, each against all others.

`Pixels` (`settings`) takes the masks and the soft map of an image, and `counting` makes `ScoreCounts` of them
(`segbench.core.scores`): positives and negatives per distinct score. `image_set` pools the counts of all images, and
`PixelTable` (`metrics`) finds the best F and the areas of their curve; `fixed_thresholds` and `calibration` are blocks
of columns that settings add to this table. `Classes` (`classes`) counts and measures each class by the same code, and
`class_metrics` has its means over classes. `tensors` counts on the device of PyTorch tensors. Begin with `settings`,
which states the conventions, and `PixelTable.formulas`.
"""

"""One image to integer counts: what counts as right, protocol by protocol.

A protocol takes what its inputs (`segbench.inputs`) interpreted of an image. It returns counts, which add up over
images, and a table, which computes metrics from them. Each has a package: `settings`, where to begin reading, has the
class; `counting` and `kernels` count an image; `counts` says what is counted; and `metrics` has the metrics, the table
and the curve. The modules beside the packages serve several protocols: `registry` finds protocols by name and stores
their settings, `common_thresholds` has counts that add up field by field, `states` the outcome of pixels for pictures,
`one_class` parts of several classes, and `guesses` advice for names that do not exist.
"""

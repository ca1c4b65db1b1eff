"""What the files of an image mean: masks, soft maps, label maps, boundary maps, numbered objects.

What enters is a `Sample` and settings about files; what leaves is `Interpreted`, the typed arrays that a protocol
counts, or a `DataError`. Checks take an `ImageSummary` of the same arrays. Begin with `ScoredMasks` in `scored_masks`,
the inputs of pixels, and `label_rules`, which says which ground-truth values are positive or void; each other module of
inputs is one more kind of file, and `files` pairs them for a protocol.
"""

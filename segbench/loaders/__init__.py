"""Files to arrays: decode one file, find which prediction belongs to which ground truth.

What enters is `Inputs`: folders, archives, single files or a file list, with name patterns. What leaves is a `Pairing`,
the `SampleFiles` of every image with what lacks a partner, and for each image a `Sample`: arrays as stored, resized or
scaled only by the `Repairs` that were asked for. Begin with `pair` in `pairing`; `listing` finds files, `source` reads
their bytes. Then `decode_sample` in `reading`; `images` has the list of formats, one module each.
"""

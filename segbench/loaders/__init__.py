"""Files to arrays: decode one file, find which prediction belongs to which ground truth."""

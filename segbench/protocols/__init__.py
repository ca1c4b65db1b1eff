"""One image to integer counts: what counts as right, protocol by protocol."""

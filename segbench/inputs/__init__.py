"""What the files of an image mean: masks, soft maps, label maps, boundary maps, numbered objects."""

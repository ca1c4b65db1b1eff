"""Many images to one result: work spread over workers, counts kept image by image."""

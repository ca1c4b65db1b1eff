"""From many images to one result: work is spread over workers, counts are kept per image."""

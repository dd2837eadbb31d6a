"""The status of a node: health, and 503 while it does not serve."""

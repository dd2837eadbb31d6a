"""What a node says of itself: health, and 503 while it does not serve."""

"""Bodies of requests as values: small ones at once, large ones by a child process."""

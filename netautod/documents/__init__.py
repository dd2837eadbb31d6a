"""Documents with their version history, the notes vault, and templates rendered in child processes."""

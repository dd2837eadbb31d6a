"""What this installation offers, and what the caller may do with it."""

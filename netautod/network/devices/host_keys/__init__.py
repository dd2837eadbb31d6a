"""Host keys that differ from the pinned ones, and what is decided about them."""

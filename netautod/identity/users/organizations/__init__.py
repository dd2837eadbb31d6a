"""Organizations and their creation."""

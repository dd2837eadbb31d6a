"""Organizations and how they are made."""

"""The end of an organization: what belongs to it, and how all of it goes."""

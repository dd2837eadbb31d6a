"""Loads plugins one by one and refuses those that cannot work."""

"""Numbered changes of what is stored: what an upgrade does to the data, once, by one node at a time."""

"""Loads, checks and scaffolds plugins, and hands out what they offer."""

"""Captures of configurations: of one device, or of many."""

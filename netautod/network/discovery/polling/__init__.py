"""Polls: when a device is due, who polls it, what comes of it, and the history of that."""

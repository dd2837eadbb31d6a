"""Repeated look-ups of directory users while their sessions last."""

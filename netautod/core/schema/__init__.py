"""Marshmallow bases, bounds of requests, and values made in bulk."""

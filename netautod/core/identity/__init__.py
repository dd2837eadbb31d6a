"""Callers, their permissions, and refused requests."""

"""Managed sites that devices may refer to."""

"""Offers of plugins to the service."""

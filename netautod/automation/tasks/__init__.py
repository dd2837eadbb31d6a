"""Scheduled tasks: what runs when, with which parameters."""

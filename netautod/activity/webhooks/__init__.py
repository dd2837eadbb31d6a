"""Webhooks of organizations: whom to tell of which events, and deliveries that survive the end of a node."""

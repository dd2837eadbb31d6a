"""Webhook events in documents: written with the change that they report, delivered from there."""

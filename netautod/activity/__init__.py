"""Audit, event streams and webhooks: the records and notifications of what happened."""

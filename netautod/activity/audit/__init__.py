"""Audit events: who did what to which resource, from where."""

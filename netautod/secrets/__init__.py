"""Encryption of secrets, and redaction of texts."""

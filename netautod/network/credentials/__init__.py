"""Credentials: sealed secrets, organization defaults, and which one a login uses."""

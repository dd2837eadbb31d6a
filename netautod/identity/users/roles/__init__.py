"""Roles: named sets of permissions."""

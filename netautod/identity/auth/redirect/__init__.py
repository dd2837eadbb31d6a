"""Logins by redirect through an OpenID Connect provider."""

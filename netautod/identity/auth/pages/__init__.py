"""Logins at the web console: sessions with a cookie, begun with a password and a code, or by redirect."""

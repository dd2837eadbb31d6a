"""Authentication: passwords, logins, sessions, access and refresh tokens, lockout."""

"""Sessions: begun by a login, kept by rotating refresh tokens, ended by their user."""

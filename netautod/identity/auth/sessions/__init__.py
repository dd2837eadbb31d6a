"""Sessions: begun by a login, prolonged by rotating refresh tokens, ended by their user."""

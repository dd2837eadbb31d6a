"""Texts of configurations: packed and sealed, normalised, redacted and compared."""

"""Backups of a whole installation in one file, and their way back into an empty database."""

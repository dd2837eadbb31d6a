"""The root key of an installation: its file, and its check values in the database."""

"""The root key of an installation: its file, its check values in the database, its rotation."""

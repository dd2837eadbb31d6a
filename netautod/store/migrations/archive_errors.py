"""The errors that keep a backup from being made or restored: one line for the operator."""

from netautod.core.errors import NetautodError


class ArchiveError(NetautodError):
    """The backup could not be made, or cannot be restored into this database."""


class DamagedError(ArchiveError):
    """The file is no backup, or not what was written: cut off, changed, or put together from others."""

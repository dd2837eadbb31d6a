"""How plugins fail: the error of what they may not do, and any failure as one line."""

from netautod.core.errors import NetautodError


class PluginError(NetautodError):
    """A required plugin could not be loaded, or two plugins claim the same thing."""


def one_line(failure: BaseException) -> str:
    """The failure as one line, for tables and error messages."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())

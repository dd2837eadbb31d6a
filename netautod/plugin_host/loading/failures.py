"""Failures of plugins: the error of what they may not do, and any failure as one line."""

from netautod.core.errors import NetautodError
from netautod.secrets.redaction.known_secrets import KNOWN


class PluginError(NetautodError):
    """A required plugin could not be loaded, or two plugins claim the same thing."""


def one_line(failure: BaseException) -> str:
    """Return the failure as one line, for tables and error messages, without the secrets of the settings."""
    return KNOWN.hide(" ".join(f"{type(failure).__name__}: {failure}".split()))

"""The vault's one error: a key is missing or wrong, or a sealed value does not open."""

from netautod.core.errors import NetautodError


class VaultError(NetautodError):
    """Raised with one line for the operator or the log; it never holds key material or plaintext."""

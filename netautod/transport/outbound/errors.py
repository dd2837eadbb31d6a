"""The errors of outgoing requests."""

from netautod.core.errors import InvalidInput, UpstreamFailed


class AddressRefused(InvalidInput):
    """The URL, or an address that its host resolves to, is one that we do not talk to."""


class RequestFailed(UpstreamFailed):
    """Raised if no complete answer came. `kind`: dns, connect, certificate, timeout, redirect, encoding or
    answer.
    """

    def __init__(self, text: str, *, kind: str) -> None:
        super().__init__(text)
        self.kind = kind

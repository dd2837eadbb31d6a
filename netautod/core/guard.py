"""The guard of work that only one node may do: asked directly before anything is sent or written."""

from collections.abc import Callable

from netautod.core.errors import NetautodError


class LeaseLostError(NetautodError):
    """The work belongs to another node by now, or may do so: nothing more may be written or sent."""


Guard = Callable[[], None]
"""Raises LeaseLostError once the work may be another node's."""


def no_guard() -> None:
    """The guard of work that no other node can take over."""

"""Is this run still mine: a callable that is asked before anything is sent or written, and raises if not."""

from collections.abc import Callable

Guard = Callable[[], None]
"""Raises LeaseLostError once the work may belong to another node."""


def no_guard() -> None:
    """The guard of a caller without a lease: everything may be sent."""

"""The fence of a lease, as the engine sees it: a callable that may stop whatever is about to be sent."""

from collections.abc import Callable

Guard = Callable[[], None]


def no_guard() -> None:
    """The guard of a caller without a lease: everything may be sent."""

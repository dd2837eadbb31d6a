"""Around calls of plugins: what would end more than that call ends only what it was called for."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class ExitRaised(Exception):
    """Raised when code of a plugin raised what it must not: an exit, an interrupt, or a cancellation."""


@contextmanager
def no_exit() -> Iterator[None]:
    """Raise ExitRaised in the place of all three; an interrupt from the keyboard comes as a signal.

    asyncio lets the first two end its loop. A task that ends as cancelled although nothing cancelled it
    answers no one, and no one is notified.
    """
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        raise ExitRaised(f"{type(error).__name__}: {error}") from error
    except asyncio.CancelledError as error:
        if _is_cancelled():
            raise
        raise ExitRaised("CancelledError, though the call was not cancelled") from error


def _is_cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs in this thread
        return False
    return task is not None and task.cancelling() > 0

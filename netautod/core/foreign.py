"""Around calls of plugins: what would end the whole process ends only what it was called for."""

from collections.abc import Iterator
from contextlib import contextmanager


class ExitRaised(Exception):
    """Code of a plugin raised SystemExit or KeyboardInterrupt, which asyncio lets end its loop."""


@contextmanager
def no_exit() -> Iterator[None]:
    """Raises ExitRaised in the place of both; an interrupt from the keyboard comes to us as a signal."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        raise ExitRaised(f"{type(error).__name__}: {error}") from error

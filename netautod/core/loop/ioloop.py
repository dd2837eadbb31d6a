"""The clock of Tornado's loop: the monotonic one, which nobody sets."""

from typing import cast

from tornado.ioloop import IOLoop
from tornado.platform.asyncio import BaseAsyncIOLoop


def use_monotonic_time() -> None:
    """Make the current IOLoop measure time as its asyncio loop does.

    Tornado 6 takes `time.time()`: when the machine's clock is set back, a PeriodicCallback stands still until
    the clock shows the same time again (tornado/ioloop.py, PeriodicCallback._update_next), and when it is set
    forward all deadlines of connections have passed. Older versions took the clock as an argument.
    """
    loop = cast(BaseAsyncIOLoop, IOLoop.current())
    loop.time = loop.asyncio_loop.time  # type: ignore[method-assign]

"""Counts the logins with one credential within one run, so that a wrong one locks no account."""

import asyncio

from netautod.ssh.failures import DeviceFailed

MOST_REFUSALS = 5  # in a row with one credential, then it is not tried any more


class Attempts:
    """The logins with one credential within one run.

    They begin with as many at a time as may be refused in a row; each one that is not refused makes room for
    two more. So a wrong password leaves the house five times, however many devices wait for their turn.
    """

    def __init__(self) -> None:
        self._window = MOST_REFUSALS
        self._under_way = self._refused = 0
        self._news = asyncio.Event()

    async def begin(self) -> None:
        """Waits for a turn; DeviceFailed `auth` once too many logins were refused."""
        while self._refused < MOST_REFUSALS and self._under_way >= self._window - self._refused:
            self._news.clear()
            await self._news.wait()
        if self._refused >= MOST_REFUSALS:
            text = f"not visited: {self._refused} logins in a row were refused with this credential"
            raise DeviceFailed(text, kind="auth")
        self._under_way += 1

    def end(self, *, accepted: bool, refused: bool, tried: bool = True) -> None:
        """Both false: it did not come to a login; with `tried` false nothing was sent either."""
        self._under_way -= 1
        self._window += 2 if tried and not refused else 0
        self._refused = 0 if accepted else self._refused + refused
        self._news.set()

"""Keeps one run from repeating refused logins: a limit for each credential, a gate at each jump device."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from netautod.network.devices.sessions.login_paths import Leg
from netautod.transport.ssh.failures import DeviceFailed

MOST_REFUSALS = 5  # in a row with one credential, then it is not tried any more


class CredentialGate:
    """The logins with one credential within one run, or of all callers who may not manage credentials.

    At first as many run at a time as may be refused in a row; each one that is not refused admits two more.
    So a wrong password is sent five times, however many devices are still to be visited.
    """

    def __init__(self, credential_id: str) -> None:
        self.credential_id = credential_id
        self._window = MOST_REFUSALS
        self._under_way = self._refused = 0
        self._waiting = 0
        self._news = asyncio.Event()

    @property
    def is_used(self) -> bool:
        """Return whether a login runs or waits."""
        return self._under_way + self._waiting > 0

    async def begin(self) -> None:
        """Wait until one more login may run; DeviceFailed `auth` once too many were refused."""
        while self._refused < MOST_REFUSALS and self._under_way >= self._window - self._refused:
            self._news.clear()
            self._waiting += 1
            try:
                await self._news.wait()
            finally:
                self._waiting -= 1
        if self._refused >= MOST_REFUSALS:
            text = f"not visited: {self._refused} logins in a row were refused with this credential"
            raise DeviceFailed(text, kind="auth")
        self._under_way += 1

    def end(self, *, accepted: bool, refused: bool, tried: bool = True) -> None:
        """End a login. Both false: it did not come to a login; with `tried` false nothing was sent either."""
        self._under_way -= 1
        self._window += 2 if tried and not refused else 0
        self._refused = 0 if accepted else self._refused + refused
        self._news.set()


class JumpGates:
    """A gate that lets one login at a time through a jump device until its answer is known; none after a
    refusal.

    Any answer but a refusal opens the gate: behind a device that is down no login waits for the timeouts of
    others.
    """

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._open: set[str] = set()
        self._refused: set[str] = set()

    @asynccontextmanager
    async def through(self, hops: Sequence[Leg]) -> AsyncIterator[None]:
        """Hold the gates of the login through these, in the order of the way; DeviceFailed `auth` after a
        refusal.
        """
        async with AsyncExitStack() as stack:
            for hop in hops:  # jump devices make no circle, so no two ways take the locks in opposite orders
                await self._enter(stack, hop)
            try:
                yield
            except DeviceFailed as exc:
                refusing = exc.hop if exc.kind == "auth" else None
                self._refused.update(hop.device.id for hop in hops if hop.device.name == refusing)
                self._open.update(hop.device.id for hop in hops)
                raise
            self._open.update(hop.device.id for hop in hops)

    async def _enter(self, stack: AsyncExitStack, hop: Leg) -> None:
        device_id = hop.device.id
        if device_id not in self._open:
            lock = self._locks.setdefault(device_id, asyncio.Lock())
            await lock.acquire()
            if device_id in self._open:  # another login has opened it meanwhile
                lock.release()
            else:
                stack.callback(lock.release)
        if device_id in self._refused:
            text = f"not visited: the jump device {hop.device.name} refused its login"
            raise DeviceFailed(text, kind="auth")

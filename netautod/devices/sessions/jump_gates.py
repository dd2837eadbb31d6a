"""The jump devices of one run: a login that they refuse is not repeated for each device behind them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from netautod.devices.sessions.paths import Leg
from netautod.ssh.failures import DeviceFailed


class JumpGates:
    """Until a jump device is known one login at a time knocks; after a refusal nobody does any more.

    A device that did not refuse is known too: behind one that is away nobody waits for the others' timeouts.
    """

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._open: set[str] = set()
        self._refused: set[str] = set()

    @asynccontextmanager
    async def through(self, hops: Sequence[Leg]) -> AsyncIterator[None]:
        """For the login through these, in the order of the way; DeviceFailed `auth` after a refusal."""
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
            if device_id in self._open:  # somebody else found out meanwhile
                lock.release()
            else:
                stack.callback(lock.release)
        if device_id in self._refused:
            text = f"not visited: the jump device {hop.device.name} refused its login"
            raise DeviceFailed(text, kind="auth")

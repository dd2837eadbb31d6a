"""Work that is repeated in the background at an interval, by one node at a time if it has a lease."""

from collections.abc import Awaitable, Callable
from typing import Any

from netautod.core.loop.repeating import Repeating
from netautod.core.work.deadlines import unhurried
from netautod.store.leases.named import NamedLeases


class Periodic(Repeating):
    """A loop; with `lease` a node that finds it taken does nothing until the next time."""

    def __init__(
        self,
        work: Callable[[], Awaitable[Any]],
        *,
        name: str,
        seconds: float,
        at_once: bool = False,
        lease: str | None = None,
        leases: NamedLeases | None = None,
    ) -> None:
        super().__init__(work, name=name, seconds=seconds, at_once=at_once)
        self._lease = lease
        self._leases = leases

    async def _pass(self) -> None:
        if self._lease is None or self._leases is None:
            await self._work()
            return
        held = await self._leases.acquire(self._lease)
        if held is None:
            return
        try:
            with unhurried():  # one node for all of them: it sweeps
                await self._work()
        finally:
            await self._leases.release(held)

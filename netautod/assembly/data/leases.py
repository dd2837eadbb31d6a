"""The leases by name of a node or of a command."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from netautod.automation.executions.running.node import lease_times
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import Clock
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.leases import named
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.named import NamedLeases


@asynccontextmanager
async def named_leases(
    *, database: Database, node_id: str, clock: Clock, settings: ExecutionSettings
) -> AsyncIterator[NamedLeases]:
    """Hold the leases of one node, or of a command beside it, and renew them until the end of the block."""
    times = lease_times(settings)
    keeper = LeaseKeeper(
        collection=database.collection(named.COLLECTION).for_leases(),
        node_id=node_id,
        clock=clock,
        times=times,
        settled=partial(clock.settled, times.lease) if isinstance(clock, ServerClock) else None,
    )
    async with keeper:
        yield NamedLeases(keeper)

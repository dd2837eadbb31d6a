"""A node that polls as a process of its own: `python -m tests.faults.poll_process URI DATABASE [ADDRESS]`.

It prints the id of the device when a visit has begun. Without an address that visit never ends; with one it
does when a line comes in, with that address in the MAC table; the process ends with it.
"""

import asyncio
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import uuid4

from netautod.assembly.data.leases import named_leases
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.core.work.pauses import FixedPauses
from netautod.network.devices.models import Device
from netautod.network.devices.polls.store import DuePolls
from netautod.network.devices.store import DeviceStore
from netautod.network.discovery.polling.models import Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.network.discovery.polling.poll_run import Visiting
from netautod.network.discovery.polling.poller import Poller
from netautod.network.discovery.polling.ports import Findings, Visitor
from netautod.network.discovery.polling.store import PollStore
from netautod.network.discovery.tables.models import PollNote
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import Collected, MacEntry
from netautod.store.client import Database
from netautod.store.connection import connect
from netautod.store.leases.named import NamedLeases
from tests.support.execution import FAST

SCAN_SECONDS, LOST_SECONDS = 0.05, 0.2


@dataclass(frozen=True)
class Endless:
    """Visits that never end."""

    async def visit(self, work: Work, device: Device, **_: Any) -> Visited:
        print(device.id, flush=True)  # noqa: T201  # whoever started us waits for it
        await asyncio.Event().wait()
        raise AssertionError


@dataclass(frozen=True)
class Told:
    """Visits that end when a line comes in."""

    address: str
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def visit(self, work: Work, device: Device, **_: Any) -> Visited:
        print(device.id, flush=True)  # noqa: T201  # whoever started us waits for it
        try:
            await asyncio.to_thread(sys.stdin.readline)
        finally:
            self.over.set()
        return read(self.address)


def read(*addresses: str) -> Visited:
    """What a visit of a switch with these addresses comes to."""
    rows = [MacEntry(mac_address=address, interface="Ethernet1") for address in addresses]
    return Visited(collected=Collected(mac=rows), sources={"mac": "snmp"}, reachable=True)


@dataclass(kw_only=True)
class Tables:
    """Keeps the tables, as the service does, and nothing else."""

    store: DiscoveredStore

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        note = PollNote(
            state=outcome.state, error=None, reachable=True, latency_ms=1.0, at=at, last_success_at=at
        )
        work.guard()
        await self.store.replace(poll.org_id, device.id, visited.collected, sources={}, note=note)
        return outcome

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        raise AssertionError


def tables_in(database: Database) -> Tables:
    return Tables(store=DiscoveredStore(database, gone_for=timedelta(days=30)))


def poller_on(database: Database, visitor: Visitor, findings: Findings, leases: NamedLeases) -> Poller:
    clock, metrics = SystemClock(), Metrics()
    polls, due = PollStore(database, keep=200), DuePolls(database)
    return Poller(
        polls=polls,
        due=due,
        visiting=Visiting(
            polls=polls,
            due=due,
            devices=cast(Any, DeviceStore(database)),  # all that is asked of it is `get`
            visitor=visitor,
            findings=findings,
            clock=clock,
            metrics=metrics,
            seconds=120.0,
        ),
        leases=leases,
        pauses=FixedPauses(),
        clock=clock,
        metrics=metrics,
        concurrency=20,
        scan_seconds=SCAN_SECONDS,
        lost_seconds=LOST_SECONDS,
    )


async def main(uri: str, name: str, address: str | None = None) -> None:
    database = connect(uri, name)
    visitor = Endless() if address is None else Told(address)
    opening = named_leases(database=database, node_id=str(uuid4()), clock=SystemClock(), settings=FAST)
    async with opening as leases, poller_on(database, visitor, tables_in(database), leases) as poller:
        await (visitor.over if isinstance(visitor, Told) else asyncio.Event()).wait()
        await poller.idle()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""Nodes that poll: real schedules, leases and history, and visits that do what a test wants."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.assembly.data.leases import named_leases
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.network.devices.models import Device
from netautod.network.devices.polls.store import DUE
from netautod.network.discovery.polling.models import QUEUED, Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.network.discovery.polling.poll_run import Visiting
from netautod.network.discovery.polling.poller import Poller
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import Collected, DeviceFacts
from netautod.store.client import Database
from netautod.store.leases.named import NamedLeases
from tests.network.devices.inventory import Inventory
from tests.support.clock import MovableClock

GOOD = Visited(
    collected=Collected(status=DeviceFacts(sys_name="sw1")), sources={"status": "snmp"}, reachable=True
)
SILENT = Visited(failures=("snmp: no answer",), reachable=False)
Behaviour = Callable[[Work, Device], Awaitable[Visited]]


@dataclass(kw_only=True)
class FakeVisitor:
    """`gives` is what a visit comes to; `visited` are the devices, `at_once` the most at a time."""

    gives: Visited | Behaviour = GOOD
    visited: list[str] = field(default_factory=list)
    audited: list[set[str] | None] = field(default_factory=list)
    details: list[dict[str, Any]] = field(default_factory=list)
    callers: list[str] = field(default_factory=list)
    at_once: int = 0
    _now: int = 0

    async def visit(
        self,
        work: Work,
        device: Device,
        *,
        seconds: float,
        audited: set[str] | None = None,
        **details: Any,
    ) -> Visited:
        self.visited.append(device.id)
        self.audited.append(audited)
        self.details.append(details)
        self.callers.append(work.caller.username)
        self._now += 1
        self.at_once = max(self.at_once, self._now)
        try:
            await asyncio.sleep(0)
            return self.gives if isinstance(self.gives, Visited) else await self.gives(work, device)
        finally:
            self._now -= 1


@dataclass(kw_only=True)
class FakeFindings:
    kept: list[tuple[str, str]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    raises: Exception | None = None

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        if self.raises is not None:
            raise self.raises
        self.kept.append((device.id, outcome.state))
        return outcome

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        self.forgotten.append(device_id)


@dataclass(kw_only=True)
class FakePauses:
    organizations: set[OrgId] = field(default_factory=set)

    def paused(self) -> set[OrgId]:
        return self.organizations


@dataclass(frozen=True, kw_only=True)
class Node:
    """`look` and `take_up` are the passes of its loops, which are not running."""

    poller: Poller
    visitor: FakeVisitor
    findings: FakeFindings
    metrics: Metrics
    leases: NamedLeases

    async def look(self) -> None:
        """One pass, and the end of what it has begun."""
        await self.poller.look()
        await self.poller.idle()

    async def take_up(self) -> None:
        await self.poller.take_up()
        await self.poller.idle()


@dataclass(frozen=True, kw_only=True)
class Polled:
    """An inventory whose devices are polled by the nodes that a test makes."""

    inventory: Inventory
    clock: MovableClock
    pauses: FakePauses
    stack: AsyncExitStack

    @property
    def org_id(self) -> OrgId:
        return self.inventory.org_id

    @property
    def database(self) -> Database:
        return self.inventory.database

    async def node(self, *, concurrency: int = 20, clock: Clock | None = None, **visiting: Any) -> Node:
        stores = self.inventory.installation.on_another_node().stores
        settings, metrics, visitor, findings = ExecutionSettings(), Metrics(), FakeVisitor(), FakeFindings()
        leases = await self.stack.enter_async_context(
            named_leases(database=self.database, node_id=str(uuid4()), clock=self.clock, settings=settings)
        )
        shared: dict[str, Any] = {
            "polls": stores.polls,
            "due": stores.due_polls,
            "clock": self.clock,
            "metrics": metrics,
        }
        poller = Poller(
            **shared,
            visiting=Visiting(
                **shared,
                devices=self.inventory.on_another_node().devices,
                visitor=visitor,
                findings=findings,
                **{"seconds": 120.0, **visiting},
            ),
            leases=leases,
            pauses=self.pauses,
            concurrency=concurrency,
            scan_seconds=2.0,
        )
        self.stack.push_async_exit(poller.__aexit__)  # it ends what a test leaves running
        return Node(poller=poller, visitor=visitor, findings=findings, metrics=metrics, leases=leases)

    async def device(self, name: str = "sw1", **fields: Any) -> str:
        body = {"poll_enabled": True, "name": name, **fields}
        return str((await self.inventory.device(**body))["id"])

    async def due_device(self, name: str = "sw1", **fields: Any) -> str:
        device_id = await self.device(name, **fields)
        await self.make_due(device_id)
        return device_id

    async def make_due(self, device_id: str) -> None:
        change = {"$set": {DUE: self.clock.now() - timedelta(seconds=1)}}
        await self.database.collection("devices").update({"_id": device_id}, change)

    async def document(self, device_id: str) -> dict[str, Any]:
        found = await self.database.collection("devices").find_one({"_id": device_id})
        assert found is not None
        return found

    async def polls(self, device_id: str) -> list[Poll]:
        return await self.inventory.installation.stores.polls.page(self.org_id, device_id, limit=1000)

    async def ask(self, device_id: str, *, detect: bool = False) -> Poll:
        poll = Poll(
            id=str(uuid4()),
            org_id=self.org_id,
            device_id=device_id,
            state=QUEUED,
            triggered_by="manual",
            queued_at=self.clock.now(),
            detect=detect,
            requested_by="ada",
        )
        return await self.inventory.installation.stores.polls.queue(poll)

    async def lose_leases(self) -> None:
        """As when they have run out."""
        await self.database.collection("leases").delete_many({})


@asynccontextmanager
async def polled_inventory(inventory: Inventory, clock: MovableClock) -> AsyncIterator[Polled]:
    async with AsyncExitStack() as stack:
        yield Polled(inventory=inventory, clock=clock, pauses=FakePauses(), stack=stack)

"""In the middle of a poll the database is away, or the node is frozen: it ends once, no table is half."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import pytest

from netautod.assembly.data.leases import named_leases
from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.models import Device
from netautod.network.devices.polls.store import DUE
from netautod.network.discovery.polling.models import Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.visits.service import Visited
from netautod.store.client import Database
from netautod.store.connection import connect
from tests.faults.poll_process import Tables, poller_on, read, tables_in
from tests.network.devices.inventory import Inventory
from tests.network.discovery.tables.worlds import NOTE
from tests.support.execution import FAST, eventually
from tests.support.programs.cut_line import CutLine, cut_line

pytestmark = pytest.mark.slow
PATIENCE = 0.7  # seconds of one call: several fail before the lease is given up
OLD = [f"02:00:00:00:0{number >> 8:x}:{number & 255:02x}" for number in range(1500)]
NEW = OLD[500:] + [f"02:00:00:01:00:{number:02x}" for number in range(200)]
FROZEN = "02:00:00:00:00:aa"


@dataclass(kw_only=True)
class Waiting:
    """The first visit ends when it is told to; `ended` is how."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    visits: int = 0

    async def visit(self, work: Work, device: Device, **_: Any) -> Visited:
        self.visits += 1
        self.begun.set()
        try:
            if self.visits == 1:
                await self.go_on.wait()
            return read(*NEW)
        finally:
            self.over.set()


@dataclass(kw_only=True)
class Noted(Tables):
    """Notes when keeping has failed."""

    failed: asyncio.Event = field(default_factory=asyncio.Event)

    async def keep(
        self, work: Work, device: Device, poll: Poll, visited: Visited, outcome: Outcome, *, at: datetime
    ) -> Outcome:
        try:
            return await super().keep(work, device, poll, visited, outcome, at=at)
        except (Unavailable, LeaseLostError):
            self.failed.set()
            raise


@dataclass(frozen=True, kw_only=True)
class Stand:
    """One device that was polled before; what is looked at goes beside the line."""

    inventory: Inventory
    device_id: str
    line: CutLine
    cut_off: Database

    async def addresses(self) -> list[str]:
        reads = DiscoveredReads(self.inventory.database)
        table = await reads.table(self.inventory.org_id, self.device_id, "mac")
        return [row["mac_address"] for row in table.rows]

    async def polls(self) -> list[Poll]:
        polls = self.inventory.installation.stores.polls
        return await polls.page(self.inventory.org_id, self.device_id, limit=9)

    async def completed(self) -> list[Poll]:
        found = await self.polls()
        return found if [poll.state for poll in found] == ["completed"] else []

    @asynccontextmanager
    async def node(self, visitor: Waiting, findings: Tables, database: Database) -> AsyncIterator[None]:
        opening = named_leases(database=database, node_id=str(uuid4()), clock=SystemClock(), settings=FAST)
        async with opening as leases, poller_on(database, visitor, findings, leases):
            yield

    async def make_due(self) -> None:
        due = {"$set": {DUE: datetime.now(UTC) - timedelta(seconds=1)}}
        await self.inventory.database.collection("devices").update_many({"live": True}, due)


@pytest.fixture
async def stand(inventory: Inventory, mongo_uri: str) -> AsyncIterator[Stand]:
    device = await inventory.device(name="sw1", poll_enabled=True)
    place = Path(unquote(mongo_uri.removeprefix("mongodb://").partition("/")[0]))
    async with AsyncExitStack() as stack:
        line = await stack.enter_async_context(cut_line(place))
        uri = f"mongodb://127.0.0.1:{line.port}/?directConnection=true"
        cut_off = connect(uri, inventory.database.name, timeout_seconds=PATIENCE)
        stack.callback(cut_off.close)
        made = Stand(inventory=inventory, device_id=device["id"], line=line, cut_off=cut_off)
        await _polled_before(made)
        await made.make_due()
        yield made
        await line.mend()


async def _polled_before(stand: Stand) -> None:
    found = read(*OLD).collected
    store = tables_in(stand.inventory.database).store
    await store.replace(stand.inventory.org_id, stand.device_id, found, sources={}, note=NOTE)


async def test_an_outage_while_the_device_is_read_costs_nothing(stand: Stand) -> None:
    visitor, findings = Waiting(), Noted(store=tables_in(stand.cut_off).store)
    async with stand.node(visitor, findings, stand.cut_off):
        await visitor.begun.wait()
        await stand.line.cut()
        with pytest.raises(Unavailable):
            await stand.cut_off.hello()
        await stand.line.mend()
        await eventually(lambda: _answers(stand.cut_off))
        visitor.go_on.set()
        [poll] = await eventually(stand.completed, seconds=30)
    assert (poll.attempt, visitor.visits) == (1, 1)
    assert await stand.addresses() == sorted(NEW)


async def _answers(database: Database) -> bool:
    try:
        await database.hello()
    except Unavailable:
        return False
    return True


async def test_an_outage_when_the_tables_are_written_has_the_device_read_again(stand: Stand) -> None:
    visitor, findings = Waiting(), Noted(store=tables_in(stand.cut_off).store)
    async with stand.node(visitor, findings, stand.cut_off):
        await visitor.begun.wait()
        await stand.line.cut()
        visitor.go_on.set()
        await findings.failed.wait()
        assert await stand.addresses() == sorted(OLD)
        await stand.line.mend()
        [poll] = await eventually(stand.completed, seconds=30)
    assert (poll.attempt, visitor.visits) == (2, 2)
    assert await stand.addresses() == sorted(NEW)


async def test_an_outage_longer_than_the_lease_ends_the_visit(stand: Stand) -> None:
    visitor, findings = Waiting(), Noted(store=tables_in(stand.cut_off).store)
    async with stand.node(visitor, findings, stand.cut_off):
        await visitor.begun.wait()
        await stand.line.cut()
        await visitor.over.wait()  # nobody has told it to go on
        assert [poll.state for poll in await stand.polls()] == ["running"]
        await stand.line.mend()
        [poll] = await eventually(stand.completed, seconds=30)
    assert (poll.attempt, visitor.visits) == (2, 2)
    assert await stand.addresses() == sorted(NEW)


async def test_a_node_that_was_frozen_in_a_poll_writes_nothing(stand: Stand, mongo_uri: str) -> None:
    frozen = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.faults.poll_process", mongo_uri, stand.inventory.database.name, FROZEN),
        cwd=Path(__file__).parents[2],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert frozen.stdout is not None
    assert (await frozen.stdout.readline()).decode().strip() == stand.device_id
    frozen.send_signal(signal.SIGSTOP)
    visitor, database = Waiting(), stand.inventory.database
    visitor.go_on.set()
    async with stand.node(visitor, tables_in(database), database):
        [poll] = await eventually(stand.completed, seconds=30)
    assert (poll.attempt, visitor.visits) == (2, 1)
    assert frozen.stdin is not None
    frozen.stdin.write(b"\n")  # its device has answered, whatever it looks at first
    frozen.send_signal(signal.SIGCONT)
    _, said = await asyncio.wait_for(frozen.communicate(), 60)
    assert (frozen.returncode, b"Traceback" in said) == (0, False), said.decode()
    assert await stand.addresses() == sorted(NEW)
    assert await stand.polls() == [poll]

"""A node that polls as a process of its own: `python -m tests.faults.poll_process URI DATABASE`.

Its visits never end; it prints the id of the device when one has begun.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from netautod.app.parts.leases import named_leases
from netautod.core.clock import SystemClock
from netautod.core.metrics import Metrics
from netautod.core.pauses import FixedPauses
from netautod.core.work import Work
from netautod.devices.models import Device
from netautod.devices.polls.store import DuePolls
from netautod.devices.store import DeviceStore
from netautod.discovery.polling.poller import Poller
from netautod.discovery.polling.ports import Findings, Visitor
from netautod.discovery.polling.store import PollStore
from netautod.discovery.polling.visiting import Visiting
from netautod.discovery.visits.service import Visited
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


async def main(uri: str, name: str) -> None:
    database = connect(uri, name)
    opening = named_leases(database=database, node_id=str(uuid4()), clock=SystemClock(), settings=FAST)
    async with opening as leases, poller_on(database, Endless(), cast(Any, None), leases):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

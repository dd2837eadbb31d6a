"""Deliveries of webhooks: 10,000 to a receiver that fails every third call, and what they cost others.

Rates are against bare requests of the same client to the same receiver; and the ends of executions of an
organization with a webhook against those of one without.
"""

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from netautod.activity.webhooks.models import Event
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.store import ExecutionStore
from netautod.core.identity.caller import OrgId
from netautod.core.loop.each import for_each, in_batches
from netautod.core.metrics import Metrics
from netautod.store.client import Database
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient, OutboundRequest
from tests.activity.webhooks.conftest import node_of, webhook_of
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import BenchmarkError, Report
from tests.support.execution import manual_run, task
from tests.support.installation import Installation, open_installation
from tests.support.servers.webhook_receiver import Delivery, WebhookReceiver, receiving

DEVICES, EVENTS = 200, 50  # of each device
TOTAL = DEVICES * EVENTS
BARE = 2000
ENDS, AT_ONCE = 2000, 16
SETTINGS = WebhooksSettings(retry_seconds=0.02, longest_retry_seconds=0.2, concurrency=16)


async def run(report: Report) -> None:
    report.parameter("deliveries", f"{TOTAL} of {DEVICES} devices, {SETTINGS.concurrency} at a time")
    async with private_mongod() as uri:
        async with receiving() as receiver:
            bare = await _bare(receiver)
            report.value("bare_requests", bare, "requests/s")
        for name, third_fails in (("healthy", False), ("failing", True)):
            async with fresh_database(uri, INDEXES) as database:
                rate, calls = await _delivered(database, third_fails=third_fails)
            report.value(f"delivered_to_{name}", rate, "deliveries/s")
            report.value(f"calls_to_{name}", calls, "calls")
            report.wanted(f"calls_to_{name}_over_bare", rate * calls / TOTAL / bare, "times", "at least", 0.5)
        async with fresh_database(uri, INDEXES) as database:
            await _ends(report, database)


async def _bare(receiver: WebhookReceiver) -> float:
    client = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    request = OutboundRequest(url=receiver.url, method="POST", body=b"{}")

    async def post(number: int) -> None:
        await client.fetch(request)

    began = time.perf_counter()
    await for_each(range(BARE), post, at_once=SETTINGS.concurrency)
    return BARE / (time.perf_counter() - began)


async def _delivered(database: Database, *, third_fails: bool) -> tuple[float, int]:
    """Deliveries a second, and how many calls that took. Fails unless each arrived, in order by device."""
    accepted: dict[str, list[int]] = defaultdict(list)
    calls = overtaken = 0

    def answer(delivery: Delivery) -> tuple[int, dict[str, str]]:
        nonlocal calls, overtaken
        calls += 1
        data = delivery.content["data"]
        before = accepted[data["device_id"]]
        overtaken += data["number"] > len(before)
        if third_fails and calls % 3 == 0:
            return 500, {}
        if data["number"] == len(before):
            before.append(data["number"])
        return 204, {}

    async with receiving() as receiver, _node(database, receiver.url) as installation:
        receiver.answer = answer
        began = time.perf_counter()
        while await installation.stores.webhook_deliveries.waiting():  # noqa: ASYNC110  # in the database
            await asyncio.sleep(0.5)
        took = time.perf_counter() - began
    if overtaken:
        raise BenchmarkError(f"{overtaken} events came before earlier ones of their device")
    if {tuple(one) for one in accepted.values()} != {tuple(range(EVENTS))} or len(accepted) != DEVICES:
        raise BenchmarkError("not every delivery has arrived")
    return TOTAL / took, calls


@asynccontextmanager
async def _node(database: Database, url: str) -> AsyncIterator[Installation]:
    """One that has just begun to deliver what waits."""
    org_id = OrgId(str(uuid4()))
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            installation = await open_installation(database, Path(folder))
            parts = await node_of(installation, stack, Metrics(), SETTINGS)
            await installation.stores.webhooks.insert(webhook_of(org_id, url, installation.clock.now()))
            now = installation.clock.now()
            events = [
                Event(
                    id=str(uuid4()),
                    org_id=org_id,
                    name="config_changed",
                    subject=f"device:{device}",
                    at=now + timedelta(milliseconds=number),
                    data={"device_id": str(device), "number": number},
                )
                for number in range(EVENTS)
                for device in range(DEVICES)
            ]
            for batch in in_batches(events, 500):
                await parts.relay._deliver(batch)
            await stack.enter_async_context(installation.stores.subscriptions)
            await stack.enter_async_context(parts.dispatcher)
            yield installation


async def _ends(report: Report, database: Database) -> None:
    with_one, without = OrgId(str(uuid4())), OrgId(str(uuid4()))
    store = ExecutionStore(database, wanted=lambda org_id, name: org_id == with_one)
    plain = ExecutionStore(database)
    rates = {}
    for name, org_id, ending in (
        ("warm_up", without, plain),
        ("no_webhooks_at_all", without, plain),
        ("without_a_webhook", without, store),
        ("with_a_webhook", with_one, store),
    ):
        runs = [manual_run(task(org_id=org_id)) for _ in range(ENDS)]
        for batch in in_batches(runs, 500):
            await ending.insert_many(batch)

        async def end(run_id: str, org_id: OrgId = org_id, ending: ExecutionStore = ending) -> None:
            await ending.cancel(org_id, run_id, by=None)

        began = time.perf_counter()
        await for_each((run.id for run in runs), end, at_once=AT_ONCE)
        rates[name] = ENDS / (time.perf_counter() - began)
        if name != "warm_up":
            report.value(f"ends_{name}", rates[name], "executions/s")
    nothing = rates["without_a_webhook"] / rates["no_webhooks_at_all"]
    report.wanted("ends_without_a_webhook_over_none_at_all", nothing, "times", "at least", 0.85)
    marked = rates["with_a_webhook"] / rates["without_a_webhook"]
    report.wanted("ends_with_a_webhook_over_without", marked, "times", "at least", 0.7)

"""A node is killed in the middle of a thousand deliveries to a receiver that fails every third call."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from netautod.core.work.context import Work
from netautod.store.client import Database
from tests.activity.webhooks.conftest import Hooks, config_of, open_hooks
from tests.support.servers.webhook_receiver import Delivery, receiving
from tests.support.serving import Serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(360)]
DEVICES, VERSIONS = 20, 50
TOTAL = DEVICES * VERSIONS
KILLED_AFTER = 300  # calls
SECONDS = 120  # at most, on a machine with a lot to do


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


async def changes(hooks: Hooks) -> None:
    """Versions of devices, each written with its mark: the events that the webhook is owed."""
    work, store = Work(caller=hooks.caller), hooks.installation.stores.configs
    told = {"device_name": "sw", "execution_id": None}
    devices = [str(uuid4()) for _ in range(DEVICES)]
    for version in range(1, VERSIONS + 1):
        made = [config_of(hooks, device_id, version) for device_id in devices]
        await asyncio.gather(*(store.insert(one, work, event=told) for one in made))


async def test_each_is_delivered_and_in_order_for_each_device(
    indexed: Database, mongo_uri: str, serve: Serve, tmp_path: Path, stack: AsyncExitStack
) -> None:
    hooks = await open_hooks(indexed, serve, tmp_path, stack)
    accepted: dict[str, list[int]] = defaultdict(list)
    calls = overtaken = 0

    def answer(delivery: Delivery) -> tuple[int, dict[str, str]]:
        nonlocal calls, overtaken
        calls += 1
        data = delivery.content["data"]
        before = accepted[data["device_id"]]
        # Whatever it is answered: nothing may come before everything older was accepted.
        overtaken += data["version"] > max(before, default=0) + 1
        if calls % 3 == 0:
            return 500, {}
        before.append(data["version"])
        return 204, {}

    async with receiving() as receiver:
        receiver.answer = answer
        hook = await hooks.hook(receiver.url, events=["config_changed"])
        await changes(hooks)
        dying = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.faults.webhook_process", mongo_uri, indexed.name, str(tmp_path)),
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
        )
        assert dying.stdout is not None
        try:
            assert await dying.stdout.readline()
            await receiver.until(KILLED_AFTER, seconds=SECONDS)
        finally:
            dying.kill()
            await dying.wait()
        assert sum(map(len, accepted.values())) < TOTAL
        await hooks.running()
        rows = await hooks.until_all("delivered", seconds=SECONDS)
    assert len(rows) == TOTAL
    assert {device: sorted(set(versions)) for device, versions in accepted.items()} == {
        device: list(range(1, VERSIONS + 1)) for device in accepted
    }
    assert len(accepted) == DEVICES
    assert overtaken == 0
    # What was accepted and not noted before the kill came again, and nothing else did.
    twice = sum(map(len, accepted.values())) - TOTAL
    assert twice <= hooks.parts.dispatcher._lanes.settings.concurrency
    found = (await hooks.api.get(f"/api/webhooks/{hook['id']}/deliveries?limit=1")).json
    assert found["total"] == TOTAL

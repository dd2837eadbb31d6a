"""The example of three nodes on a replica set of three, from its files: a member and a node are lost."""

from pathlib import Path

import pytest

from netautod.testing import Faults, SimulatedDevice
from tests.e2e.console import EXECUTIONS, Console
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.scale_example import Example, scale_example

pytestmark = pytest.mark.slow
SHOW_RUN = "show running-config"
# About 20 s for a config of 4 KB: certainly under way when its node dies.
SLOW = Faults(slow=0.2)


async def clients(example: Example) -> list[Console]:
    """One at each node, with one login: the nodes share their sessions."""
    first = await example.nodes[0].client("admin")
    others = [await node.anonymous() for node in example.nodes[1:]]
    return [Console(client=one) for one in (first, *(o.with_token(str(first.token)) for o in others))]


@pytest.mark.timeout(400)  # six programs start, and two of them are lost
async def test_a_member_and_a_node_may_be_lost(tmp_path: Path) -> None:
    async with (
        scale_example(tmp_path) as example,
        SimulatedDevice(hostname="quick") as quick,
        SimulatedDevice(hostname="slow") as slow,
    ):
        consoles = await clients(example)
        one, two, three = consoles
        await one.credential("lab", is_default=True)
        device = await one.device("quick", quick.port)
        done = await one.run(await one.backup("quick", "quick"))
        assert done["state"] == "completed"
        before = await two.latest(device)

        dead = await example.kill_primary()
        await eventually(lambda: writes_again(three.client, "after the primary"), seconds=60)
        assert await three.latest(device) == before
        again = await three.run(await three.backup("again", "quick"), seconds=60)
        assert again["state"] == "completed"
        await example.start_member(dead)

        slow.faults = SLOW
        await one.device("slow", slow.port)
        execution = await one.start(await one.backup("slow", "slow", max_retries=1))
        await slow.wait_until(lambda seen: SHOW_RUN in seen.commands, seconds=30)
        running = await one.read(f"{EXECUTIONS}/{execution}")
        owner = running["attempts"][-1]["node"]
        number = await node_of(consoles, owner)
        await example.nodes[number].kill()
        slow.faults = Faults()
        left = [console for n, console in enumerate(consoles) if n != number]
        ended = await left[0].ended(execution, seconds=60)
        assert [attempt["outcome"] for attempt in ended["attempts"]] == ["lost", "completed"]
        assert ended["attempts"][1]["node"] != owner
        for console in left:
            assert (await console.client.get("/health")).status == 200


async def writes_again(client: ApiClient, name: str) -> bool:
    return (await client.post("/api/sites", {"name": name})).status in (201, 409)


async def node_of(consoles: list[Console], node: str) -> int:
    """Which of the nodes goes by that id: they were started one after the other."""
    status = await consoles[0].read("/api/system/status")
    ids = [one["id"] for one in sorted(status["nodes"], key=lambda one: str(one["started_at"]))]
    assert len(ids) == len(consoles)
    return ids.index(node)

"""A running service that posts signed events: of backups, a recovery, a suspended login, at the stop."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from netautod.testing import SimulatedDevice, ios_config
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.programs.service import QUICK_LEASES, serving
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving

pytestmark = pytest.mark.slow

SECRET = "canary-of-the-webhook-secret"


def variables(receiver: WebhookReceiver, **changes: str) -> dict[str, str]:
    return {
        "NETAUTOD_WEBHOOK_URLS": receiver.url,
        "NETAUTOD_WEBHOOK_SECRET": SECRET,
        "NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1",
        "NETAUTOD_SERVER_INSTANCE_NAME": "lab",
        **changes,
    }


def of(contents: list[Any], event: str) -> list[Any]:
    return [content["data"] for content in contents if content["event"] == event]


async def test_backups_are_told_from_the_first_version_to_the_recovery(tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        serving(tmp_path / "data", variables=variables(receiver)) as service,
        SimulatedDevice(hostname="sw1") as first,
        SimulatedDevice(hostname="sw2") as second,
    ):
        console = Console(client=await service.client())
        await console.credential("lab", is_default=True)
        for switch in (first, second):
            await console.device(switch.hostname, switch.port, site="lab")
        task = await console.backup("nightly", "lab")

        run = await console.run(task)
        contents = await receiver.until_events("config_changed", "config_changed", "execution_finished")
        changes = {data["device_name"]: data for data in of(contents, "config_changed")}
        assert {name: data["version"] for name, data in changes.items()} == {"sw1": 1, "sw2": 1}
        assert {data["execution_id"] for data in changes.values()} == {run["id"]}

        second.config = ios_config("sw2", community="another")
        run = await console.run(task)
        contents = await receiver.until_events(*["config_changed"] * 3, *["execution_finished"] * 2)
        change = of(contents, "config_changed")[-1]
        assert (change["device_name"], change["version"], change["previous_version"]) == ("sw2", 2, 1)
        assert (change["execution_id"], change["device_id"]) == (run["id"], changes["sw2"]["device_id"])

        await first.stop()
        await console.run(task)
        await first.__aenter__()
        await console.run(task)
        contents = await receiver.until_events(*["execution_finished"] * 4)
        ends = of(contents, "execution_finished")
        assert [(end["state"], end["recovered"]) for end in ends] == [
            *[("completed", False), ("completed", False), ("failed", False), ("completed", True)]
        ]
        assert ends[2]["error_message"] == "1 of 2 devices failed"
        assert {(end["task_name"], end["task_id"], end["task_type"]) for end in ends} == {
            ("nightly", task, "backup")
        }
        assert {content["instance"] for content in contents} == {"lab"}
        assert all(delivery.is_signed_with(SECRET) for delivery in receiver.received)
        assert await service.stop() == 0
        assert SECRET not in service.log.read_text()


async def test_a_refused_login_and_a_device_without_a_backup(tmp_path: Path) -> None:
    quick = {"NETAUTOD_BACKUPS_STALE_HOURS": "0.0003", "NETAUTOD_BACKUPS_STALE_CHECK_SECONDS": "0.2"}
    async with (
        receiving() as receiver,
        serving(tmp_path / "data", variables=variables(receiver, **quick)) as service,
        SimulatedDevice(hostname="sw1") as switch,
    ):
        console = Console(client=await service.client())
        wrong = await console.credential("wrong", secret="not the password")
        device = await console.device("sw1", switch.port, site="lab", default_credential_id=wrong)
        await console.run(await console.backup("nightly", "lab"))
        contents = await receiver.until_events("credential_suspended", "backup_stale")
        [suspended] = of(contents, "credential_suspended")
        assert (suspended["device_id"], suspended["credential_id"]) == (device, wrong)
        assert (suspended["credential_name"], suspended["failures"]) == ("wrong", 1)
        [stale] = of(contents, "backup_stale")
        assert (stale["device_id"], stale["last_success_at"], stale["hours"]) == (device, None, 0.0003)
        # A second node of the same database does not tell it again, and neither does a restart.
        assert await service.stop() == 0
        async with serving(tmp_path / "data", variables=variables(receiver, **quick)) as again:
            console = Console(client=await again.client())
            other = await console.device("sw2", switch.port, site="other")
            await receiver.until_events("backup_stale", "backup_stale")
        contents = [delivery.content for delivery in receiver.received]
        assert Counter(data["device_id"] for data in of(contents, "backup_stale")) == {device: 1, other: 1}


async def test_the_stop_posts_what_has_not_been_posted_yet(tmp_path: Path) -> None:
    """The receiver fails first, so that events wait in the queue when the stop begins."""
    async with (
        receiving() as receiver,
        serving(tmp_path / "data", variables=variables(receiver)) as service,
        SimulatedDevice(hostname="sw1") as switch,
    ):
        console = Console(client=await service.client())
        await console.credential("lab", is_default=True)
        await console.device("sw1", switch.port, site="lab")
        receiver.answers = [(503, {})]
        await console.run(await console.backup("nightly", "lab"))
        await receiver.until(1)
        assert await service.stop() == 0
        events = [delivery.headers["X-Netautod-Event"] for delivery in receiver.received]
        assert events == ["config_changed", "config_changed", "execution_finished"]


async def test_the_webhook_of_an_organization_outlives_its_node(tmp_path: Path) -> None:
    """Both kinds side by side, with one form; after kill -9 what waited for this kind is delivered."""
    quick = {"NETAUTOD_OUTBOUND_ALLOW": "127.0.0.1", "NETAUTOD_WEBHOOKS_RETRY_SECONDS": "0.1", **QUICK_LEASES}
    async with (
        receiving() as receiver,
        receiving() as section,
        SimulatedDevice(hostname="sw1") as switch,
    ):
        receiver.answer = section.answer = lambda delivery: (503, {})
        settings = {**quick, **variables(section)}
        async with serving(tmp_path / "data", variables=settings) as service:
            console = Console(client=await service.client())
            await console.credential("lab", is_default=True)
            await console.device("sw1", switch.port, site="lab")
            body = {"name": "chat", "url": receiver.url, "secret": SECRET}
            events = ["config_changed", "execution_finished"]
            made = (await console.client.post("/api/webhooks", {**body, "events": events})).expect(201)
            tested = (await console.client.post(f"/api/webhooks/{made['id']}/test")).expect()
            assert (tested["success"], tested["status"]) == (False, 503)
            await console.run(await console.backup("nightly", "lab"))
            await receiver.until_events("test", "config_changed", "execution_finished")
            await section.until(1)

            async def tried() -> bool:
                """A node that dies before it has written that it tried counts that try no more."""
                found = await console.read(f"/api/webhooks/{made['id']}/deliveries")
                return all(one["attempts"] for one in found["deliveries"])

            await eventually(tried)
            await service.kill()
        receiver.received.clear()
        receiver.answer = section.answer = lambda delivery: (204, {})
        async with serving(tmp_path / "data", variables=settings) as again:
            contents = await receiver.until_events("config_changed", "execution_finished")
            client = await again.client()

            async def delivered() -> Any:
                found = (await client.get(f"/api/webhooks/{made['id']}/deliveries")).json["deliveries"]
                return found if {one["status"] for one in found} == {"delivered"} else []

            found = await eventually(delivered)
        assert sorted(one["event"] for one in found) == sorted(events)
        assert all(one["attempts"] > 1 for one in found)
        assert {content["id"] for content in contents} == {one["id"] for one in found}
        # One form: whoever reads the messages of one kind reads those of the other.
        [change] = of(contents, "config_changed")
        assert set(section.received[0].content) == set(contents[0])
        assert change["device_name"] == "sw1"
        assert all(delivery.is_signed_with(SECRET) for delivery in (*receiver.received, *section.received))
        for log in (service.log, again.log):
            assert SECRET not in log.read_text()

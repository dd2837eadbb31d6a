"""Backup tasks from claim to output: simulated devices that fail in every way, retries, cancel, snapshots."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from marshmallow import ValidationError

import netautod_backup
from netautod.app.plugins.manager import PluginManager
from netautod.app.run_services import acting_factory
from netautod.configs.service import ConfigService
from netautod.core.identity import Caller
from netautod.core.pages import Page
from netautod.devices.sessions.gates import MOST_REFUSALS
from netautod.executions.models import Execution
from netautod.executions.result_store import DeviceResultStore
from netautod.executions.running.node import ExecutionNode
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import DeviceResult
from netautod.store.indexes import create_indexes
from netautod.testing import Faults, SimulatedDevice
from netautod_backup.parameters import BackupParameters
from tests.configs.fleet import PASSWORD, Fleet, open_fleet
from tests.devices.inventory import ABSENT_ID
from tests.support.databases import Indexed
from tests.support.execution import INDEXES, World, eventually, task
from tests.support.serving import Serve


@dataclass(kw_only=True)
class Backups:
    """A fleet, and nodes that run backup tasks on it with the real plugin."""

    fleet: Fleet
    world: World
    owner: Caller
    results: DeviceResultStore
    executors: Any = field(default_factory=dict)

    def _acting(self, configs: ConfigService) -> Any:
        fleet = self.fleet
        return acting_factory(
            devices=fleet.services.devices,
            configs=configs,
            commands=fleet.commands,
            http=GuardedClient(AddressRules()),
        )

    @asynccontextmanager
    async def node(self) -> AsyncIterator[ExecutionNode]:
        self.world.acting = self._acting(self.fleet.configs)
        self.world.owners[self.owner.user_id] = self.owner
        async with self.world.node(*self.executors.values()) as node:
            yield node

    async def start(self, **values: Any) -> Execution:
        """A backup task of the fleet's organization with one manual run of it."""
        return await self.world.run(task(org_id=self.fleet.org_id, owner_id=self.owner.user_id, **values))

    async def finished(self, state: str, **values: Any) -> Execution:
        async with self.node():
            return await self.world.until(await self.start(**values), state, seconds=40)

    async def of(self, execution: Execution) -> dict[str, DeviceResult]:
        page = await self.results.page(execution.org_id, execution.id, Page(limit=1000))
        return {result.device_name: result for result in page.items}


@pytest.fixture
async def backups(indexed: Indexed, serve: Serve, tmp_path: Path) -> AsyncIterator[Backups]:
    plugins = PluginManager()
    plugins.register(netautod_backup, "backup")
    async with open_fleet(indexed, serve, tmp_path, connect_seconds=10.0) as fleet:
        await create_indexes(fleet.database, INDEXES)
        yield Backups(
            fleet=fleet,
            world=World(database=fleet.database),
            owner=Caller(
                user_id=str(uuid4()),
                org_id=fleet.org_id,
                username="owner",
                permissions=frozenset({"devices.access"}),
            ),
            results=DeviceResultStore(fleet.database),
            executors=plugins.executors(),
        )


async def test_a_backup_stores_every_device_and_makes_a_snapshot(backups: Backups, mongo_uri: str) -> None:
    fleet = backups.fleet
    for number in range(3):
        await fleet.device(fleet.simulated(f"sw{number}"))
    done = await backups.finished("completed", name="nightly")
    counts = {"devices_total": 3, "succeeded": 3, "failed": 0, "changed": 3, "unchanged": 0}
    named = {"snapshot_id": done.output["snapshot_id"], "snapshot_name": "nightly"}
    assert done.output == {**named, **counts, "results": []}
    snapshot = (await fleet.api.get(f"/api/config/snapshots/{done.output['snapshot_id']}")).json
    assert [row["device_name"] for row in snapshot["configs"]] == ["sw0", "sw1", "sw2"]
    assert done.progress == {"done": 3, "total": 3}
    again = await backups.finished("completed", parameters={"snapshot_name": "second"})
    assert (again.output["snapshot_name"], again.output["unchanged"]) == ("second", 3)
    found = await backups.of(again)
    assert {(one.success, one.changed, one.version) for one in found.values()} == {(True, False, 1)}
    assert {one.credential_id for one in found.values()} == {fleet.credential_id}
    newest = (await fleet.api.get(f"/api/config/devices/{found['sw0'].device_id}/configs/latest")).json
    assert (newest["pulled_via"], newest["created_by"]) == ("task", backups.owner.user_id)
    events = await fleet.audited("credential.use")
    assert [event["details"] for event in events] == [{"execution_id": one.id} for one in (done, again)]
    dump = await fleet.raw_dump(mongo_uri)
    for canary in ("GigabitEthernet", "s1mulated", PASSWORD):
        assert canary.encode() not in dump


async def test_a_filter_that_matches_nothing_completes_with_zero(backups: Backups) -> None:
    await backups.fleet.device(backups.fleet.simulated())
    parameters = {"device_filter": {"site": "nowhere"}, "kept": {"any": "thing"}}
    done = await backups.finished("completed", parameters=parameters)
    assert (done.output["devices_total"], done.output["succeeded"], done.output["failed"]) == (0, 0, 0)
    assert done.output["results"] == []


async def test_only_the_devices_of_the_filter_are_visited(backups: Backups) -> None:
    fleet = backups.fleet
    inside, outside = fleet.simulated("in"), fleet.simulated("out")
    await fleet.device(inside, site="lab")
    await fleet.device(outside, site="office")
    parameters = {"device_filter": {"site": "lab", "device_type": "cisco_ios"}}
    done = await backups.finished("completed", parameters=parameters)
    assert done.output["devices_total"] == 1
    assert (len(inside.login_attempts), len(outside.login_attempts)) == (1, 0)


async def test_a_retry_visits_only_what_may_still_succeed(backups: Backups) -> None:
    """60 devices: 3 refuse the login, 2 are unreachable at first."""
    fleet = backups.fleet
    switches: list[SimulatedDevice] = []
    for number in range(60):
        faults = Faults(refuse_logins=number in (7, 23, 41))
        switches.append(fleet.simulated(f"sw{number:02}", faults=faults))
        await fleet.device(switches[-1])
    unreachable = [switches[11], switches[50]]
    for switch in unreachable:
        await switch.stop()
    async with backups.node():
        execution = await backups.start(max_retries=3, retry_delay_seconds=2)
        waiting = await eventually(lambda: _waits_for_its_retry(backups, execution), seconds=40)
        assert waiting.error_message == "5 of 60 devices failed"
        assert (waiting.output["succeeded"], waiting.output["failed"]) == (55, 5)
        found = await backups.of(execution)
        assert {found[switch.hostname].error_kind for switch in unreachable} == {"refused"}
        for switch in unreachable:
            await switch.__aenter__()
        done = await backups.world.until(execution, "failed", seconds=40)
    assert done.error_message == "3 of 60 devices failed"
    assert done.retry_count == 1  # only final failures are left: no third attempt
    assert {len(switch.login_attempts) for switch in switches} == {1}
    assert (done.output["devices_total"], done.output["succeeded"], done.output["failed"]) == (60, 57, 3)
    assert done.output["snapshot_id"] == waiting.output["snapshot_id"]
    found = await backups.of(execution)
    assert sorted(name for name, one in found.items() if not one.success) == ["sw07", "sw23", "sw41"]
    assert (found["sw07"].error_kind, found["sw07"].final) == ("auth", True)
    snapshot = (await fleet.api.get(f"/api/config/snapshots/{done.output['snapshot_id']}")).json
    assert (len(snapshot["configs"]), snapshot["failed"]) == (57, 3)
    lines = await fleet.database.collection("execution_log").find({"execution_id": execution.id})
    assert {line["level"] for line in lines if line["device_id"] == found["sw07"].device_id} == {"warning"}


async def _waits_for_its_retry(backups: Backups, execution: Execution) -> Execution | None:
    found = await backups.world.get(execution)
    return found if found.state == "pending" and found.retry_count else None


async def test_a_wrong_credential_is_tried_five_times_and_never_again(backups: Backups) -> None:
    fleet = backups.fleet
    wrong = await fleet.credential("wrong", secret="not-the-password")
    switches = [fleet.simulated(f"sw{number}") for number in range(25)]
    for switch in switches:
        await fleet.device(switch)
    done = await backups.finished("failed", max_retries=5, parameters={"credential_id": wrong.upper()})
    assert (done.retry_count, done.error_message) == (0, "25 of 25 devices failed")
    assert sum(len(switch.login_attempts) for switch in switches) == MOST_REFUSALS
    found = await backups.of(done)
    assert {(one.error_kind, one.final, one.credential_id) for one in found.values()} == {
        ("auth", True, wrong)
    }
    assert sum("not visited: 5 logins in a row" in (one.error or "") for one in found.values()) == 20


async def test_a_cancelled_run_closes_its_sessions(backups: Backups) -> None:
    fleet = backups.fleet
    switch = fleet.simulated(faults=Faults(stop_after=200))
    await fleet.device(switch)
    async with backups.node():
        execution = await backups.start()
        await switch.wait_until(lambda device: "show running-config" in device.commands, seconds=10)
        assert await backups.world.executions.cancel(fleet.org_id, execution.id, by=None)
        await switch.wait_until(lambda device: device.open_connections == 0, seconds=10)
    assert (await backups.world.get(execution)).state == "cancelled"
    assert await backups.of(execution) == {}
    assert await fleet.database.collection("leases").find({}) == []


async def test_an_owner_without_access_to_devices_fails_without_a_retry(backups: Backups) -> None:
    switch = backups.fleet.simulated()
    await backups.fleet.device(switch)
    backups.owner = Caller(
        user_id=str(uuid4()), org_id=backups.fleet.org_id, username="owner", permissions=frozenset()
    )
    done = await backups.finished("failed", max_retries=3)
    assert (done.retry_count, done.error_message) == (0, "Insufficient permissions")
    assert switch.login_attempts == []


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param({}, id="nothing"),
        pytest.param(
            {"snapshot_name": "x", "device_filter": {}, "credential_id": ABSENT_ID}, id="everything"
        ),
        pytest.param({"device_filter": {"site": "a", "device_type": "b"}, "other": [1]}, id="another key"),
    ],
)
def test_good_parameters(parameters: Any) -> None:
    BackupParameters().load(parameters)


@pytest.mark.parametrize(
    ("parameters", "where"),
    [
        pytest.param({"snapshot_name": 7}, "snapshot_name", id="a name that is no text"),
        pytest.param({"device_filter": []}, "device_filter", id="a filter that is no object"),
        pytest.param({"device_filter": {"sites": "lab"}}, "device_filter", id="a typo in the filter"),
        pytest.param({"device_filter": {"site": {"$ne": ""}}}, "device_filter", id="an operator"),
        pytest.param({"device_filter": {"site": None}}, "device_filter", id="a null that would match all"),
        pytest.param({"credential_id": "x"}, "credential_id", id="a credential that is no uuid"),
    ],
)
def test_bad_parameters(parameters: Any, where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        BackupParameters().load(parameters)
    assert isinstance(caught.value.messages, dict)
    assert list(caught.value.messages) == [where]

"""What is kept of a poll, and which fields of the device it fills."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from netautod.core.identity.caller import OrgId
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.models import Device
from netautod.network.discovery.polling.models import RUNNING, Poll
from netautod.network.discovery.polling.outcome import Outcome, outcome_of
from netautod.network.discovery.polling.poll_results import KeptFindings, failures_of
from netautod.network.discovery.polling.poll_run import poller_of
from netautod.network.discovery.tables.models import Before, Superseded
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import Collected, DeviceFacts, MacEntry
from tests.network.devices.inventory import Inventory
from tests.network.discovery.polling.nodes import SILENT

MAC = MacEntry(mac_address="00:00:5e:00:53:01", vlan_id=10, interface="Ethernet1")
FACTS = DeviceFacts(
    sys_name="sw1", vendor="Arista", model="7050", serial_number="S1", device_type="arista_eos"
)
GOOD = Visited(
    collected=Collected(status=FACTS, mac=(MAC,)),
    sources={"status": "snmp", "mac": "snmp"},
    reachable=True,
    latency_ms=1.5,
)


@dataclass(kw_only=True)
class FakeChanges:
    before: list[Before] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def of(
        self, device: Device, before: Before, visited: Visited, *, failures: int, at: datetime
    ) -> Sequence[dict[str, Any]]:
        self.before.append(before)
        self.failures.append(failures)
        return [{"id": "event", "kind": "neighbor_lost"}]

    async def notify(self, org_id: OrgId, device_id: str, events: Sequence[Any]) -> None:
        self.told += [event["id"] for event in events]


@dataclass(frozen=True, kw_only=True)
class Kept:
    inventory: Inventory
    findings: KeptFindings
    changes: FakeChanges

    async def keep(self, device: Any, visited: Visited, *, detect: bool = False) -> Outcome:
        services, clock = self.inventory.services, self.inventory.installation.clock
        seen = await services.devices.get(self.inventory.org_id, device["id"])
        poll = Poll(
            id="5e000000-0000-4000-8000-000000000001",
            org_id=self.inventory.org_id,
            device_id=seen.id,
            state=RUNNING,
            triggered_by="manual",
            queued_at=clock.now(),
            detect=detect,
        )
        work = Work(caller=poller_of(self.inventory.org_id))
        return await self.findings.keep(work, seen, poll, visited, outcome_of(visited), at=clock.now())

    async def device(self, device: Any) -> Any:
        return (await self.inventory.api.get(f"/api/devices/{device['id']}")).json


@pytest.fixture
def kept(inventory: Inventory) -> Kept:
    stores, changes = inventory.installation.stores, FakeChanges()
    findings = KeptFindings(
        tables=stores.discovered,
        reads=stores.discovered_reads,
        devices=inventory.services.devices,
        knows=lambda name: name == "arista_eos",
        changes=changes,
    )
    return Kept(inventory=inventory, findings=findings, changes=changes)


async def test_tables_and_status_are_there_afterwards(kept: Kept) -> None:
    device = await kept.inventory.device()
    outcome = await kept.keep(device, GOOD)
    assert (outcome.state, outcome.counts) == ("completed", {"mac": 1})
    reads = kept.findings.reads
    table = await reads.table(kept.inventory.org_id, device["id"], "mac")
    assert [row["mac_address"] for row in table.rows] == ["00:00:5e:00:53:01"]
    status = await reads.status(kept.inventory.org_id, device["id"])
    assert (status.reachable, status.latency_ms, status.last_poll_state) == (True, 1.5, "completed")
    assert status.last_success_at is not None
    assert kept.changes.told == ["event"]


async def test_a_poll_that_fails_leaves_the_tables_and_says_so(kept: Kept) -> None:
    device = await kept.inventory.device()
    await kept.keep(device, GOOD)
    good = await kept.findings.reads.status(kept.inventory.org_id, device["id"])
    for _ in range(2):
        assert (await kept.keep(device, SILENT)).state == "failed"
    status = await kept.findings.reads.status(kept.inventory.org_id, device["id"])
    assert (status.reachable, status.last_poll_state, status.last_poll_error) == (
        False,
        "failed",
        "snmp: no answer",
    )
    assert (status.sys_name, status.last_success_at) == ("sw1", good.last_success_at)
    assert (await kept.findings.reads.table(kept.inventory.org_id, device["id"], "mac")).total == 1
    assert kept.changes.failures == [0, 1, 2]
    assert [before.reachable for before in kept.changes.before] == [None, True, False]


@pytest.mark.parametrize(
    ("reachable", "before", "failures"),
    [
        pytest.param(True, 5, 0, id="an answer"),
        pytest.param(False, 5, 6, id="none"),
        pytest.param(None, 5, 5, id="nobody tried"),
    ],
)
def test_failures_in_a_row(reachable: bool | None, before: int, failures: int) -> None:
    assert failures_of(Visited(reachable=reachable), Before(failures=before)) == failures


async def test_rows_that_make_no_sense_are_told(kept: Kept) -> None:
    device = await kept.inventory.device()
    odd = MacEntry(mac_address="no address")
    outcome = await kept.keep(device, Visited(collected=Collected(mac=(MAC, odd)), sources={"mac": "snmp"}))
    assert (outcome.state, outcome.counts) == ("partial", {"mac": 1})
    assert outcome.error == "mac: 1 rows made no sense"


async def test_empty_fields_are_filled_and_audited_once(kept: Kept) -> None:
    device = await kept.inventory.device(model="mine")
    for _ in range(2):
        await kept.keep(device, GOOD)
    after = await kept.device(device)
    assert (after["manufacturer"], after["model"], after["serial_number"]) == ("Arista", "mine", "S1")
    events = await kept.inventory.database.collection("audit_events").find({"action": "device.update"})
    assert [event["details"]["fields"] for event in events] == [["manufacturer", "serial_number"]]
    assert events[0]["actor_name"] == "poller"


async def test_a_field_that_somebody_sets_meanwhile_is_theirs(kept: Kept) -> None:
    device = await kept.inventory.device()
    seen = await kept.inventory.services.devices.get(kept.inventory.org_id, device["id"])
    (await kept.inventory.api.put(f"/api/devices/{device['id']}", {"model": "mine"})).expect(200)
    values = {"model": "found", "serial_number": "S1"}
    await kept.inventory.services.devices.fill(poller_of(kept.inventory.org_id), seen, values)
    after = await kept.device(device)
    assert (after["model"], after["serial_number"]) == ("mine", "S1")


@pytest.mark.parametrize(
    ("device_type", "detect", "after"),
    [
        pytest.param("generic", True, "arista_eos", id="generic, told to"),
        pytest.param("generic", False, "generic", id="generic, not told to"),
        pytest.param("cisco_ios", True, "cisco_ios", id="it has one"),
    ],
)
async def test_the_recognised_platform(kept: Kept, device_type: str, detect: bool, after: str) -> None:
    device = await kept.inventory.device(device_type=device_type)
    await kept.keep(device, GOOD, detect=detect)
    assert (await kept.device(device))["device_type"] == after
    listed = (await kept.inventory.api.get(f"/api/devices?device_type={after}")).json
    assert listed["total"] == 1


async def test_what_another_poll_has_written_meanwhile_stays(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def superseded(*_: Any, **__: Any) -> None:
        raise Superseded("x")

    monkeypatch.setattr(kept.findings.tables, "replace", superseded)
    device = await kept.inventory.device()
    with pytest.raises(LeaseLostError):
        await kept.keep(device, GOOD)
    assert kept.changes.told == []
    assert (await kept.device(device))["model"] is None

"""Visits: one transport after the other, within one limit; what was read counts whatever fails later."""

import asyncio
import logging
from typing import Any

import pytest

from netautod.core.metrics import Metrics
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.models import Device
from netautod.network.discovery.access.target import Access
from netautod.network.discovery.visits.service import Visited, Visits
from netautod.plugin_api import ArpEntry, Collected, DeviceFacts, DeviceFailed, Interface, PollTarget, Vlan
from netautod.testing import SimulatedDevice
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from tests.network.configs.fleet import Fleet
from tests.network.discovery.visits.fakes import FakeCollector

FACTS = DeviceFacts(sys_name="sw1", model="X", os_version="1", serial_number="S")
PORTS = (Interface(name="Ethernet1"),)
WHOLE = Collected(status=FACTS, interfaces=PORTS, neighbors=(), mac=(), arp=(), vlans=())
DOWN = DeviceFailed("no answer to SNMP", kind="timeout")


def visits_of(fleet: Fleet, *collectors: FakeCollector, **options: Any) -> Visits:
    access = Access(
        credentials=fleet.parts.devices.credentials,
        sessions=fleet.sessions,
        audit=fleet.installation.audit,
        http=GuardedClient(AddressRules()),
        verify_tls=True,
    )
    served = {collector.transport: collector for collector in collectors}
    return Visits(access=access, collectors=served, metrics=Metrics(), **options)


async def device_of(fleet: Fleet, simulated: SimulatedDevice | None = None, **fields: Any) -> Device:
    device_id = await fleet.device(simulated or fleet.simulated(), **fields)
    return await fleet.parts.devices.devices.get(fleet.org_id, device_id)


async def with_agent(fleet: Fleet) -> None:
    body = {"credential_type": "snmp_community", "username": None, "secret": "public", "is_default": True}
    await fleet.credential("agents", **body)


async def visited(fleet: Fleet, device: Device, *collectors: FakeCollector, seconds: float = 60) -> Visited:
    return await visits_of(fleet, *collectors).visit(fleet.work(bulk=True), device, seconds=seconds)


async def test_each_transport_is_asked_for_what_is_missing(fleet: Fleet) -> None:
    await with_agent(fleet)
    snmp = FakeCollector(transport="snmp", gives=Collected(status=FACTS, interfaces=PORTS, latency_ms=2.5))
    cli = FakeCollector(transport="cli", gives=Collected(arp=(ArpEntry(ip_address="10.0.0.1"),), vlans=()))
    found = await visited(fleet, await device_of(fleet), snmp, cli)
    assert cli.asked == [frozenset({"neighbors", "mac", "arp", "vlans"})]
    assert found.sources == {"status": "snmp", "interfaces": "snmp", "arp": "cli", "vlans": "cli"}
    assert (found.reachable, found.latency_ms is not None, found.failures) == (True, True, ())


async def test_who_gave_everything_is_the_last_one_asked(fleet: Fleet) -> None:
    await with_agent(fleet)
    snmp = FakeCollector(transport="snmp", gives=WHOLE)
    cli = FakeCollector(transport="cli", gives=WHOLE)
    found = await visited(fleet, await device_of(fleet), snmp, cli)
    assert (cli.asked, set(found.sources.values())) == ([], {"snmp"})


async def test_without_an_agent_nobody_asks_for_one(fleet: Fleet) -> None:
    async def gives(target: PollTarget) -> Collected:
        assert target.org_id == fleet.org_id
        return WHOLE

    snmp = FakeCollector(transport="snmp", gives=WHOLE)
    cli = FakeCollector(transport="cli", gives=gives)
    found = await visited(fleet, await device_of(fleet), snmp, cli)
    assert (snmp.asked, set(found.sources.values()), found.failures) == ([], {"cli"}, ())


async def test_a_transport_that_fails_is_named_and_the_next_one_gives_all(fleet: Fleet) -> None:
    await with_agent(fleet)
    snmp = FakeCollector(transport="snmp", gives=DOWN)
    cli = FakeCollector(transport="cli", gives=WHOLE)
    found = await visited(fleet, await device_of(fleet), snmp, cli)
    assert (found.failures, set(found.sources.values())) == (("snmp: no answer to SNMP",), {"cli"})


async def test_a_device_that_is_down_is_not_logged_in_to(fleet: Fleet) -> None:
    await with_agent(fleet)
    simulated = fleet.simulated()
    device = await device_of(fleet, simulated)
    await simulated.__aexit__(None, None, None)
    cli = FakeCollector(transport="cli", gives=WHOLE)
    found = await visited(fleet, device, FakeCollector(transport="snmp", gives=DOWN), cli)
    assert (found.reachable, found.latency_ms, cli.asked) == (False, None, [])
    assert found.failures[0] == "snmp: no answer to SNMP"
    assert found.failures[1].startswith(f"ssh: port {device.port}: connection refused")


async def test_a_device_that_answers_on_its_port_alone_is_reachable(fleet: Fleet) -> None:
    refused = DeviceFailed("login refused", kind="auth")
    found = await visited(fleet, await device_of(fleet), FakeCollector(transport="cli", gives=refused))
    assert (found.reachable, found.failures) == (True, ("cli: login refused",))
    assert found.latency_ms is not None
    assert found.latency_ms > 0


async def test_a_login_that_nobody_has_is_no_complaint_where_others_gave_something(fleet: Fleet) -> None:
    await with_agent(fleet)
    none = DeviceFailed("there is no credential", kind="credential")
    snmp = FakeCollector(transport="snmp", gives=Collected(status=FACTS))
    cli = FakeCollector(transport="cli", gives=none)
    device = await device_of(fleet)
    assert (await visited(fleet, device, snmp, cli)).failures == ()
    assert (await visited(fleet, device, cli)).failures == ("cli: there is no credential",)


async def test_a_collector_that_raises_by_mistake_is_logged_and_hidden(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    cli = FakeCollector(transport="cli", gives=ValueError("secret-looking text"))
    found = await visited(fleet, await device_of(fleet), cli)
    assert found.failures == ("cli: the collector failed (ValueError)",)
    assert "secret-looking text" in caplog.text


async def test_a_lost_lease_ends_the_visit(fleet: Fleet) -> None:
    cli = FakeCollector(transport="cli", gives=LeaseLostError("gone"))
    with pytest.raises(LeaseLostError):
        await visited(fleet, await device_of(fleet), cli)


async def test_what_was_read_before_the_limit_counts(fleet: Fleet) -> None:
    await with_agent(fleet)
    snmp = FakeCollector(transport="snmp", gives=Collected(status=FACTS))

    async def hangs(target: PollTarget) -> Collected:
        await asyncio.Event().wait()
        return Collected()

    cli = FakeCollector(transport="cli", gives=hangs)
    found = await visited(fleet, await device_of(fleet), snmp, cli, seconds=0.2)
    assert (found.collected.status, found.sources) == (FACTS, {"status": "snmp"})
    assert found.failures == ("cli: not finished within the time of one poll",)


async def test_a_collector_that_ignores_its_cancellation_is_left_behind(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    let_go = asyncio.Event()

    async def stubborn(target: PollTarget) -> Collected:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        return Collected(vlans=(Vlan(vlan_id=1),))

    visits = visits_of(fleet, FakeCollector(transport="cli", gives=stubborn), grace_seconds=0.05)
    with caplog.at_level(logging.WARNING):
        found = await visits.visit(fleet.work(bulk=True), await device_of(fleet), seconds=0.2)
    assert found.collected.given == frozenset()
    assert visits.metrics.value("collectors_abandoned") == 1
    assert "ignores its cancellation" in caplog.text
    let_go.set()
    await visits.left()


@pytest.mark.parametrize("given", [None, {"vlans": []}, WHOLE.vlans])
async def test_what_is_not_collected_is_a_failure(fleet: Fleet, given: Any) -> None:
    async def wrong(target: PollTarget) -> Collected:
        return given  # type: ignore[no-any-return]

    found = await visited(fleet, await device_of(fleet), FakeCollector(transport="cli", gives=wrong))
    assert found.failures == ("cli: the collector returned something else than Collected",)


async def test_the_command_line_of_a_collector_is_the_session_of_the_device(fleet: Fleet) -> None:
    async def reads(target: PollTarget) -> Collected:
        async with target.login() as session:
            said = await session.run("show version")
            with pytest.raises(DeviceFailed) as refused:
                await session.run("no such command")
        assert refused.value.kind == "refused_command"
        return Collected(status=DeviceFacts(sys_descr=said.splitlines()[0]))

    simulated = fleet.simulated()
    device = await device_of(fleet, simulated)
    found = await visited(fleet, device, FakeCollector(transport="cli", gives=reads))
    assert found.failures == ()
    assert found.collected.status is not None
    assert "IOS" in str(found.collected.status.sys_descr)
    events = await fleet.audited("credential.use")
    assert [event["details"] for event in events] == [{"device_id": device.id}]


async def test_the_use_of_a_credential_is_told_once_for_all_who_share_what_was_told(fleet: Fleet) -> None:
    async def reads(target: PollTarget) -> Collected:
        async with target.login():
            return WHOLE

    visits, device = visits_of(fleet, FakeCollector(transport="cli", gives=reads)), await device_of(fleet)
    told: set[str] = set()
    for _ in range(2):
        await visits.visit(fleet.work(bulk=True), device, seconds=60, audited=told, poll="scheduled")
    events = await fleet.audited("credential.use")
    assert [event["details"]["poll"] for event in events] == ["scheduled"]

"""A device is polled by the service as it is built, with the collector of a plugin: from POST to find."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly import routes
from netautod.assembly.build import Service, build
from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import open_installation
from netautod.assembly.settings import Settings
from netautod.automation.executions.abandoned.watched import Watched
from netautod.http.settings import LimitSettings
from netautod.http.status.health import Health
from netautod.network.discovery.polling.settings import PollingSettings
from netautod.plugin_api import (
    ArpEntry,
    Collected,
    DeviceFacts,
    Interface,
    MacEntry,
    Neighbor,
    PollTarget,
    Table,
    Vlan,
    hookimpl,
)
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.client import Database
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.installation import PASSWORD
from tests.support.serving import serve_application

MAC = "00:00:5e:00:53:01"
TABLES: frozenset[Table] = frozenset({"status", "interfaces", "neighbors", "mac", "arp", "vlans"})


class Acme:
    """Knows everything about each device."""

    transport = "acme"
    tables = TABLES

    async def collect(self, target: PollTarget, wanted: frozenset[Table]) -> Collected:
        return Collected(
            status=DeviceFacts(
                sys_name=target.name, vendor="Acme", model="A1", serial_number="S1", os_version="1.0"
            ),
            interfaces=(Interface(name="Ethernet1", admin_status="up", oper_status="up", if_index=1),),
            neighbors=(Neighbor(local_interface="Ethernet1", protocol="lldp", remote_system_name="far"),),
            mac=(MacEntry(mac_address=MAC, vlan_id=10, interface="Ethernet1"),),
            arp=(ArpEntry(ip_address="192.0.2.77", mac_address=MAC, interface="Vlan10"),),
            vlans=(Vlan(vlan_id=10, name="users"),),
        )


class Plugin:
    @hookimpl
    def netautod_register_collectors(self, register: Callable[[Acme], None]) -> None:
        register(Acme())


@pytest.fixture
async def service(indexed: Database, tmp_path: Path) -> AsyncIterator[tuple[ApiClient, Service]]:
    settings = Settings(
        data_dir=tmp_path,
        admin_password=PASSWORD,
        limits=LimitSettings(requests_per_second=0, anonymous_per_second=0),
        polling=PollingSettings(scan_seconds=0.05),
    )
    async with AsyncExitStack() as stack:
        installation = await stack.enter_async_context(open_installation(settings, indexed))
        configuration = Configuration(settings=settings, plugins=LoadedPlugins.of({"acme": Plugin()}))
        built = await stack.enter_async_context(build(configuration, installation, _health, Watched()))
        server, url = serve_application(built.application)
        client = ApiClient(base_url=url, description=routes.description())
        login = await client.post("/api/auth/login", {"username": "admin", "password": PASSWORD})
        yield client.with_token(login.json["access_token"]), built
        server.stop()
        await server.close_all_connections()


async def _health() -> Health:
    return "ok"


async def test_what_a_poll_finds_is_answered(service: tuple[ApiClient, Service], indexed: Database) -> None:
    api, built = service
    body = {"name": "sw1", "host": "127.0.0.1", "port": 1, "device_type": "generic"}
    device = (await api.post("/api/devices", {**body, "automation_transport": "acme"})).expect(201)
    path = f"/api/devices/{device['id']}"
    poll = (await api.post(f"{path}/poll")).expect(202)

    async def ended() -> Any:
        (found,) = (await api.get(f"{path}/poll-history")).json["polls"]
        return found if found["state"] not in ("queued", "running") else None

    found = await eventually(ended)
    assert found["id"] == poll["poll_id"]
    assert (found["state"], found["method"], found["error"]) == ("completed", "acme", None)
    assert found["sources"] == dict.fromkeys(TABLES, "acme")
    assert found["counts"] == dict.fromkeys(("interfaces", "neighbors", "mac", "arp", "vlans"), 1)
    reads = {
        "interfaces": ("interfaces", "name", "Ethernet1"),
        "neighbors": ("neighbors", "remote_system_name", "far"),
        "mac-table": ("entries", "mac_address", MAC),
        "arp-table": ("entries", "ip_address", "192.0.2.77"),
        "vlans": ("vlans", "vlan_id", 10),
    }
    for read, (plural, field, value) in reads.items():
        answer = (await api.get(f"{path}/{read}")).json
        assert [row[field] for row in answer[plural]] == [value], read
        assert (answer["total"], answer["collected_at"] is not None) == (1, True)
    status = (await api.get(f"{path}/status")).json
    assert (status["sys_name"], status["last_poll_state"], status["reachable"]) == ("sw1", "completed", True)
    filled = (await api.get(path)).json
    assert (filled["manufacturer"], filled["model"], filled["serial_number"]) == ("Acme", "A1", "S1")
    for query, source in ((f"mac={MAC}", {"mac", "arp"}), ("ip=192.0.2.77", {"arp"})):
        matches = (await api.get(f"/api/devices/find?{query}")).json["matches"]
        assert {match["source"] for match in matches} == source
        assert {match["device_name"] for match in matches} == {"sw1"}
    assert (await api.get("/api/system/status")).json["queues"]["polls"] == 0
    assert built.poller is not None
    await built.poller.idle()
    assert built.metrics.value("polls_finished") == 1

    assert (await api.delete(path)).status == 204
    for collection in ("polls", "discovered", "discovered_parts"):
        assert await indexed.collection(collection).find({}) == []


async def test_a_node_that_stops_waits_for_no_poll(service: tuple[ApiClient, Service]) -> None:
    _, built = service
    async with asyncio.timeout(30):
        for one in built.drained:
            await one.drain(0)

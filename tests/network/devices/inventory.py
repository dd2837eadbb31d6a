"""Credentials, sites and devices, served over HTTP on a fresh database."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netautod.assembly.network.devices import DeviceRecords
from netautod.store.client import Database
from tests.support.client import ApiClient, Tenant
from tests.support.installation import Installation, open_installation
from tests.support.serving import Serve

DEVICE = {"name": "core-1", "host": "192.0.2.1", "device_type": "cisco_ios"}
FULL: dict[str, Any] = {
    "name": "edge-1",
    "host": "edge-1.example.com",
    "device_type": "arista_eos",
    "port": 2222,
    "protocol": "ssh",
    "description": "rack 4",
    "manufacturer": "Arista",
    "model": "7050",
    "platform": "eos",
    "site": "Berlin",
    "serial_number": "S1",
    "asset_tag": "A1",
    "tags": ["edge", "lab"],
    "metadata": {"$ref": "x", "$id": 1, "a.b": {"$ne": None}, "": [1, 2.5, True]},
    "automation_transport": "eapi",
    "automation_port": 6030,
    "poll_enabled": True,
    "poll_interval_minutes": 10080,
    "connect_commands": ["terminal length 0", "terminal width 511"],
}
UNSET = (
    *("description", "manufacturer", "model", "platform", "site", "site_id", "serial_number", "asset_tag"),
    *("default_credential_id", "snmp_credential_id", "automation_transport", "automation_port"),
    *("automation_credential_id", "inventory_id", "poll_interval_minutes", "jump_device_id"),
    "host_key_fingerprint",
)
EMPTY: dict[str, Any] = {
    **dict.fromkeys(UNSET),
    "tags": [],
    "metadata": {},
    "connect_commands": [],
    "poll_enabled": False,
    "port": 22,
    "protocol": "ssh",
    "source": "manual",
}
ABSENT_ID = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, kw_only=True)
class Inventory(Tenant):
    installation: Installation
    database: Database
    services: DeviceRecords

    def on_another_node(self) -> DeviceRecords:
        return self.installation.on_another_node().devices()

    async def device(self, **fields: Any) -> Any:
        return await created(self.api, "/api/devices", {**DEVICE, **fields})

    async def site(self, name: str) -> Any:
        return await created(self.api, "/api/sites", {"name": name})

    async def credential(self, name: str, **fields: Any) -> Any:
        password = {"credential_type": "ssh_password", "username": "netops", "secret": "pa55word"}
        return await created(self.api, "/api/credentials", {"name": name, **password, **fields})


async def created(api: ApiClient, path: str, body: Any) -> Any:
    return (await api.post(path, body)).expect(201)


async def open_inventory(database: Database, serve: Serve, data_dir: Path) -> Inventory:
    installation = await open_installation(database, data_dir)
    services = installation.devices()
    served = await serve(*services.services)
    return Inventory(
        installation=installation, database=database, services=services, **served.administrator()
    )

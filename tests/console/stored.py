"""Configurations that the service has really read, from simulated devices."""

from typing import Any

from netautod.testing import SimulatedDevice
from tests.console.site import Site

PASSWORD = "simulated-pa55word"
LOGIN = {"name": "login", "credential_type": "ssh_password", "username": "admin", "secret": PASSWORD}


async def stored(site: Site, name: str, /, *configs: str, **fields: Any) -> str:
    """A device with one version per configuration; answers its id. The first call makes a credential."""
    api = site.api()
    if not (await api.get("/api/credentials")).expect()["total"]:
        (await api.post("/api/credentials", {**LOGIN, "is_default": True})).expect(201)
    body = {"name": name, "host": "127.0.0.1", "device_type": "cisco_ios", **fields}
    async with SimulatedDevice(hostname="sw1", password=PASSWORD) as switch:
        body |= {"port": switch.port}
        device_id = str((await api.post("/api/devices", body)).expect(201)["id"])
        for switch.config in configs:
            (await api.post(f"/api/config/devices/{device_id}/pull")).expect()
    return device_id

"""A running service with an honest switch in it, and a user who may manage devices but no credentials."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from netautod.testing import SimulatedDevice
from tests.attacks.attackers.recording_ssh import RecordingSsh
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.service import Service, serving

PASSWORD, ENABLE = "the-organization's-pa55word", "the-enab1e-secret"
USER_PASSWORD = "nine lamps over a quiet harbour"
WAITS = "credential waits for approval of this device's address"
LOOPBACK = '[outbound]\nallow = ["127.0.0.0/8"]\n'  # inventories are there
TERMINAL = ("completed", "failed", "cancelled", "timeout")


@dataclass(frozen=True, kw_only=True)
class World:
    """`honest` is a switch that the organization's default credential opens; `key` is one without a password
    but with an enable secret."""

    service: Service
    admin: ApiClient
    mallory: ApiClient
    honest: SimulatedDevice
    key: str
    numbers: "count[int]"

    def name(self) -> str:
        return f"sw-{next(self.numbers)}"

    async def device(self, **fields: Any) -> str:
        """A device of the administrator: the honest switch, unless the fields say otherwise."""
        return await self.made(self.admin, "/api/devices", **{**self.as_honest(), **fields})

    def as_honest(self) -> dict[str, Any]:
        place = {"host": "127.0.0.1", "port": self.honest.port}
        return {"name": self.name(), "site": "lab", "device_type": "cisco_ios", **place}

    async def made(self, client: ApiClient, path: str, **fields: Any) -> str:
        return str((await client.post(path, fields)).expect(201)["id"])

    async def move(self, device_id: str, **fields: Any) -> None:
        """Mallory's edit."""
        (await self.mallory.put(f"/api/devices/{device_id}", fields)).expect()

    async def tested(self, device_id: str, client: ApiClient | None = None) -> Any:
        """By mallory unless it is somebody else's test."""
        asked = await (client or self.mallory).post(f"/api/devices/{device_id}/test-credential", {})
        return asked.expect()

    async def named(self, name: str) -> str:
        """The id of a device that an import or a synchronisation brought."""
        found = (await self.mallory.get(f"/api/devices?q={name}")).expect()
        return str(found["devices"][0]["id"])

    async def ran(self, execution_id: str) -> Any:
        """The execution once it has ended."""

        async def ended() -> Any:
            found = (await self.admin.get(f"/api/tasks/executions/{execution_id}")).expect()
            return found if found["state"] in TERMINAL else None

        return await eventually(ended, seconds=60)


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    settings = folder / "netautod.toml"
    settings.write_text(LOOPBACK)
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(serving(folder / "data", "--config", str(settings)))
        honest = SimulatedDevice(hostname="sw1", password=PASSWORD, enable_password=ENABLE)
        await stack.enter_async_context(honest)
        admin = await service.client()
        await made_mallory(admin)
        yield World(
            service=service,
            admin=admin,
            mallory=await service.client("mallory", USER_PASSWORD),
            honest=honest,
            key=await credentials(admin),
            numbers=count(1),
        )


async def made_mallory(admin: ApiClient) -> None:
    role = {"name": "movers", "permissions": ["devices.manage", "tasks.operate"]}
    (await admin.post("/api/roles", role)).expect(201)
    user = {"username": "mallory", "password": USER_PASSWORD, "roles": ["movers"]}
    (await admin.post("/api/users", user)).expect(201)


async def credentials(admin: ApiClient) -> str:
    """Makes the organization's default; answers the id of one with a key."""
    known = {"username": "admin", "enable_secret": ENABLE}
    password = {"credential_type": "ssh_password", "secret": PASSWORD, "is_default": True}
    (await admin.post("/api/credentials", {"name": "default", **known, **password})).expect(201)
    private = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    key = {"name": "key", **known, "credential_type": "ssh_key", "secret": private}
    return str((await admin.post("/api/credentials", key)).expect(201)["id"])


@asynccontextmanager
async def evil(world: World, **options: Any) -> AsyncIterator[RecordingSsh]:
    """The attacker's own server, on the port of the honest switch.

    It has another address of this machine than loopback, where rules about addresses would keep it from being
    found before those about secrets do.
    """
    async with RecordingSsh(**{"host": own_address(), "port": world.honest.port, **options}) as server:
        yield server


def own_address() -> str:
    """That of the machine in its network, the test is skipped where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(asked.getsockname()[0])

"""`netautod serve --demo`: two simulated switches, a credential and a backup task of every minute."""

import asyncio
import json
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncssh

from netautod.assembly.build import Service
from netautod.assembly.installation import Installation
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, NetautodError
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page
from netautod.identity.users.organizations.service import FIRST_ADMIN
from netautod.identity.users.service import UserService
from netautod.network.devices.models import DeviceFilter
from netautod.testing import SimulatedDevice, ios_config

logger = logging.getLogger(__name__)
SWITCHES = ("demo-sw1", "demo-sw2")
CREDENTIAL, TASK = "demo credential", "demo backup"
USERNAME = "demo"
CHANGE_SECONDS = 45.0
DESCRIPTION = " description access port 1\n"


class DemoError(NetautodError):
    """The demo cannot be set up; one line for the operator."""


@asynccontextmanager
async def run(
    service: Service, installation: Installation, data_dir: Path, out: Callable[[str], None]
) -> AsyncIterator[None]:
    """Run the switches for the block; what it adds to the inventory stays for the next start."""
    caller = await _caller(installation.people.users)
    kept = await asyncio.to_thread(_load_or_make, data_dir / "demo.json")
    async with AsyncExitStack() as stack:
        switches = [await stack.enter_async_context(_switch(name, kept)) for name in SWITCHES]
        credential_id = await _credential(service, caller, kept["password"])
        for switch in switches:
            await _device(service, caller, switch, credential_id)
        await _task(service, caller)
        changes = asyncio.create_task(
            _change_now_and_then(switches[0], installation.clock), name="demo changes"
        )
        stack.callback(changes.cancel)
        out(f"demo: switches {' and '.join(SWITCHES)}, task {TASK!r} every minute")
        yield


async def _caller(users: UserService) -> Caller:
    admin = await users.by_username(FIRST_ADMIN)
    if admin is None or not admin.is_active:
        raise DemoError("--demo needs the active user admin")
    return Caller(
        user_id=admin.id,
        org_id=OrgId(admin.org_id),
        username=admin.username,
        permissions=admin.granted,
    )


def _load_or_make(path: Path) -> dict[str, Any]:
    """Return password and host keys, the same at every start: a changed host key would be refused."""
    if not path.exists():
        made = {
            "password": secrets.token_urlsafe(12),
            "host_keys": {
                name: asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
                for name in SWITCHES
            },
        }
        draft = path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(made))
        os.replace(draft, path)
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def _switch(name: str, kept: dict[str, Any]) -> SimulatedDevice:
    return SimulatedDevice(
        hostname=name,
        username=USERNAME,
        password=kept["password"],
        config=ios_config(name, interfaces=4),
        takes_lines=True,
        responses={"write memory": "Building configuration...\n[OK]"},
        host_key=asyncssh.import_private_key(kept["host_keys"][name]),
    )


async def _credential(service: Service, caller: Caller, password: str) -> str:
    credentials = service.devices.credentials
    fields = {
        "name": CREDENTIAL,
        "credential_type": "ssh_password",
        "username": USERNAME,
        "secret": password,
        "allowed_hosts": ["127.0.0.0/8"],
    }
    try:
        return (await credentials.create(caller, fields)).id
    except Conflict:
        page = await credentials.page(caller.org_id, Page(limit=100_000))
        found = next(item for item in page.items if item.name == CREDENTIAL)
        await credentials.update(caller, found.id, fields)
        return found.id


async def _device(service: Service, caller: Caller, switch: SimulatedDevice, credential_id: str) -> None:
    """Point an existing device at the switch's new port: a switch gets a free port at every start."""
    devices = service.devices.devices
    fields = {
        "name": switch.hostname,
        "host": switch.host,
        "port": switch.port,
        "device_type": "cisco_ios",
        "site": "demo",
        "default_credential_id": credential_id,
    }
    try:
        await devices.create(caller, fields)
    except Conflict:
        page = await devices.page(caller.org_id, DeviceFilter(q=switch.hostname), Page())
        found = next(item for item in page.items if item.name == switch.hostname)
        await devices.update(caller, found.id, fields)


async def _task(service: Service, caller: Caller) -> None:
    fields = {
        "name": TASK,
        "task_type": "backup",
        "cron_expression": "* * * * *",
        "timezone": "UTC",
        "parameters": {"device_filter": {"site": "demo"}},
        "enabled": True,
        "max_retries": 3,
        "retry_delay_seconds": 60,
        "timeout_seconds": 3600,
    }
    try:
        await service.tasks.create(caller, fields)
    except Conflict:
        logger.debug("the demo task exists already")


async def _change_now_and_then(switch: SimulatedDevice, clock: Clock) -> None:
    """Change the first switch's config every 45 seconds, so that a newcomer has something to diff."""
    first = switch.config
    while True:
        await asyncio.sleep(CHANGE_SECONDS)
        switch.config = changed(first, f"{clock.now():%H:%M:%S}")


def changed(config: str, moment: str) -> str:
    """Return the switch's config with another description of its first port."""
    return config.replace(DESCRIPTION, f" description changed at {moment}\n")

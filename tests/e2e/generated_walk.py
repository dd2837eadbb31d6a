"""The main job through the client that is generated from the description: typed models in, typed models out.

It can be imported while the generated package can (tests/support/programs/generated_client.py).
"""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, TypeVar
from uuid import UUID, uuid4

from netautod_client import AuthenticatedClient, Client
from netautod_client import models as m
from netautod_client.api.auth import get_me, login, logout
from netautod_client.api.config import (
    get_device_config,
    get_device_config_raw,
    get_device_diff,
    get_latest_device_config,
    list_device_configs,
    search_configs,
    update_device_config_notes,
)
from netautod_client.api.credentials import create_credential
from netautod_client.api.devices import (
    create_device,
    delete_device,
    get_device,
    import_devices_csv,
    list_devices,
    update_device,
)
from netautod_client.api.docs import create_doc, list_doc_versions, render_doc, restore_doc, update_doc
from netautod_client.api.service import get_capabilities
from netautod_client.api.tasks import (
    create_schedule,
    delete_schedule,
    get_execution,
    get_execution_log,
    list_execution_results,
    list_executions,
    run_schedule,
)
from netautod_client.api.users import create_user, delete_user, list_users
from netautod_client.types import File

from tests.support.execution import eventually

T = TypeVar("T")
TERMINAL = ("completed", "failed", "cancelled", "timeout")


async def got(kind: type[T], answer: Awaitable[Any]) -> T:
    """What a call answers, if it is a model of this kind and not another one, or an error."""
    found = await answer
    assert isinstance(found, kind), found
    return found


@asynccontextmanager
async def logged_in(url: str, username: str, password: str) -> AsyncIterator[AuthenticatedClient]:
    """For which a status that is not described is an exception."""
    body = m.LoginBody(username=username, password=password)
    async with Client(url, raise_on_unexpected_status=True) as anyone:
        tokens = await got(m.TokenAnswer, login.asyncio(client=anyone, body=body))
    token = tokens.access_token
    async with AuthenticatedClient(url, token=token, raise_on_unexpected_status=True) as client:
        yield client


@dataclass(kw_only=True)
class GeneratedWalk:
    """As one user, from the credential to the diff; then documents and users."""

    client: AuthenticatedClient
    device_id: UUID = field(init=False)
    task_id: UUID = field(init=False)

    async def prepare(self, name: str, port: int, password: str) -> None:
        """A credential, a device that uses it, and a backup task that fires once a year."""
        secret = m.CredentialRequest(
            name=name,
            credential_type=m.CredentialRequestCredentialType.SSH_PASSWORD,
            username="admin",
            secret=password,
        )
        credential = await got(m.CredentialAnswer, create_credential.asyncio(client=self.client, body=secret))
        assert (credential.has_secret, credential.is_default) == (True, False)
        wanted = m.DeviceRequest(
            name=name,
            host="127.0.0.1",
            port=port,
            device_type="cisco_ios",
            site=name,
            tags=["lab"],
            default_credential_id=credential.id,
        )
        device = await got(m.DeviceAnswer, create_device.asyncio(client=self.client, body=wanted))
        assert device.default_credential_id == credential.id
        self.device_id = device.id
        task = m.TaskCreate(
            name=name,
            task_type=m.TaskCreateTaskType.BACKUP,
            cron_expression="0 0 1 1 *",
            max_retries=0,
            parameters=m.TaskCreateParametersType0.from_dict({"device_filter": {"site": name}}),
        )
        made = await got(m.TaskAnswer, create_schedule.asyncio(client=self.client, body=task))
        assert made.next_run_at.month == 1
        self.task_id = made.id

    async def run(self) -> Any:
        """The execution when it has ended."""
        started = await got(m.ExecutionAnswer, run_schedule.asyncio(self.task_id, client=self.client))
        assert (started.state, started.triggered_by, started.output) == ("pending", "manual", None)

        async def ended() -> Any:
            found = await got(m.ExecutionAnswer, get_execution.asyncio(started.id, client=self.client))
            return found if found.state in TERMINAL else None

        return await eventually(ended, seconds=30)

    async def first_version(self, execution: Any) -> Any:
        """What the run says of itself, and the configuration that it has stored."""
        client = self.client
        results = await got(m.ResultListAnswer, list_execution_results.asyncio(execution.id, client=client))
        [result] = results.results
        assert (result.success, result.version, result.error_kind) == (True, 1, None)
        log = await got(m.LogAnswer, get_execution_log.asyncio(execution.id, client=client, limit=10))
        assert log.entries[0].message == "attempt 1 started"
        listed = await got(
            m.ExecutionListAnswer, list_executions.asyncio(client=client, task_id=self.task_id)
        )
        assert [one.id for one in listed.executions] == [execution.id]
        return await got(m.ConfigAnswer, get_latest_device_config.asyncio(self.device_id, client=client))

    async def versions(self) -> list[int]:
        found = await got(m.ConfigsAnswer, list_device_configs.asyncio(self.device_id, client=self.client))
        return [one.version for one in found.configs]

    async def diff(self) -> Any:
        return await got(m.DiffAnswer, get_device_diff.asyncio(self.device_id, client=self.client))

    async def config_text(self, version: int, *, secrets: bool = False) -> str:
        found = await got(
            m.ConfigAnswer,
            get_device_config.asyncio(self.device_id, version, client=self.client, secrets=secrets),
        )
        return str(found.config_text)

    async def raw(self, version: int) -> bytes:
        found = await got(File, get_device_config_raw.asyncio(self.device_id, version, client=self.client))
        return bytes(found.payload.read())

    async def notes_and_search(self) -> None:
        body = m.NotesRequestChange(notes="before the move")
        noted = await got(
            m.ConfigItem,
            update_device_config_notes.asyncio(self.device_id, 1, client=self.client, body=body),
        )
        assert noted.notes == "before the move"
        found = await got(m.SearchAnswer, search_configs.asyncio(client=self.client, q="to the roof"))
        assert [match.version for match in found.matches] == [2]

    async def change_the_device(self) -> None:
        """Null clears, what is not sent stays; a file of rows; an error is a model as well."""
        body = m.DeviceRequestChange(model="C9300", serial_number=None)
        changed = await got(
            m.DeviceAnswer, update_device.asyncio(self.device_id, client=self.client, body=body)
        )
        assert (changed.model, changed.serial_number, changed.tags) == ("C9300", None, ["lab"])
        rows = File(payload=BytesIO(b"name,host,device_type\nfrom-csv,192.0.2.9,linux\nbad,a b,linux\n"))
        form = m.ImportDevicesCsvFilesBody(file=rows)
        imported = await got(m.ImportAnswer, import_devices_csv.asyncio(client=self.client, body=form))
        assert (imported.imported, imported.failed, imported.errors[0].row) == (1, 1, 2)
        listed = await got(m.DevicesAnswer, list_devices.asyncio(client=self.client, q="from-csv"))
        [one] = listed.devices
        gone = await delete_device.asyncio_detailed(one.id, client=self.client)
        assert (gone.status_code, gone.parsed) == (204, None)
        error = await got(m.Error, get_device.asyncio(one.id, client=self.client))
        assert error.error == "Device not found"
        worse = m.DeviceRequest(name="bad", host="a b", device_type="linux")
        error = await got(m.Error, create_device.asyncio(client=self.client, body=worse))
        assert error.error.startswith("host: ")

    async def documents(self) -> None:
        body = m.DocumentRequest(
            name="greeting",
            category=m.DocumentRequestCategory.TEMPLATES,
            content_type=m.DocumentRequestContentType.JINJA,
            content="hello {{ name }}",
        )
        document = await got(m.DocumentAnswer, create_doc.asyncio(client=self.client, body=body))
        change = m.DocumentRequestChange(content="goodbye {{ name }}")
        await got(m.DocumentAnswer, update_doc.asyncio(document.id, client=self.client, body=change))
        [version] = await got(list, list_doc_versions.asyncio(document.id, client=self.client))
        restored = await got(
            m.DocumentAnswer, restore_doc.asyncio(document.id, version.id, client=self.client)
        )
        assert restored.content == "hello {{ name }}"
        variables = m.RenderRequestVariablesType0.from_dict({"name": "core-1"})
        rendered = await got(
            m.RenderAnswer,
            render_doc.asyncio(document.id, client=self.client, body=m.RenderRequest(variables=variables)),
        )
        assert (rendered.success, rendered.output) == (True, "hello core-1")

    async def another_user(self, url: str) -> None:
        """Who sees devices and does not change them, until the login ends."""
        name, password = f"walker-{uuid4().hex[:8]}", "a longer passphrase 2026"
        body = m.UserCreate(username=name, password=password, roles=["viewer"])
        user = await got(m.UserAnswer, create_user.asyncio(client=self.client, body=body))
        async with logged_in(url, name, password) as other:
            me = await got(m.MeAnswer, get_me.asyncio(client=other))
            assert (me.id, me.permissions) == (user.id, ["devices.access", "docs.read"])
            seen = await got(m.DeviceAnswer, get_device.asyncio(self.device_id, client=other))
            assert seen.id == self.device_id
            refused = await delete_device.asyncio_detailed(self.device_id, client=other)
            assert (refused.status_code, type(refused.parsed)) == (403, m.Error)
            await got(m.LogoutAnswer, logout.asyncio(client=other))
            refused = await get_me.asyncio_detailed(client=other)
            assert (refused.status_code, type(refused.parsed)) == (401, m.Error)
        listed = await got(m.UserListAnswer, list_users.asyncio(client=self.client))
        assert name in [one.username for one in listed.users]
        assert (await delete_user.asyncio_detailed(user.id, client=self.client)).status_code == 204

    async def end(self) -> None:
        """The caller may do everything; the task goes."""
        known = await got(m.CapabilitiesAnswer, get_capabilities.asyncio(client=self.client))
        assert "*" in known.permissions
        gone = await delete_schedule.asyncio_detailed(self.task_id, client=self.client)
        assert gone.status_code == 204

"""Two nodes on one database that serve tasks, devices and documents, as clients edit and repeat them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from netautod.assembly.documents import build_documents
from netautod.automation.tasks.parameters import SchemaRules
from netautod.core.identity.caller import Caller
from netautod.documents.content_types import ContentTypes
from netautod.documents.rendering.pool import RenderPool
from netautod.http.idempotency.service import LEASE, IdempotencyKeys
from netautod.store.client import Database
from netautod_agent import AgentParameters
from netautod_backup import BackupParameters
from tests.support.client import ApiClient, ServedRoutes, Tenant
from tests.support.execution import FinishedRuns, task_services
from tests.support.installation import Installation, open_installation
from tests.support.serving import Servers


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A kind of record: where it is made and read, from what, and a change of it."""

    name: str
    path: str
    body: dict[str, Any]
    change: dict[str, Any]

    async def made(self, api: ApiClient, **fields: Any) -> str:
        """The path of a new record."""
        return f"{self.path}/{(await api.post(self.path, {**self.body, **fields})).expect(201)['id']}"


CRON = {"cron_expression": "30 2 * * *"}
RESOURCES: Sequence[Resource] = (
    Resource(
        name="schedule",
        path="/api/tasks/schedules",
        body={"name": "nightly", "task_type": "backup", "parameters": {"device_filter": {}}, **CRON},
        change={"description": "changed"},
    ),
    Resource(
        name="agent schedule",
        path="/api/tasks/agent-schedules",
        body={"name": "agent", "prompt": "look around", **CRON},
        change={"prompt": "look again"},
    ),
    Resource(
        name="device",
        path="/api/devices",
        body={
            "name": "core-1",
            "host": "192.0.2.1",
            "device_type": "cisco_ios",
            "tags": ["a"],
            "metadata": {"$ref": {"$ne": None}},
        },
        change={"description": "changed"},
    ),
    Resource(
        name="document",
        path="/api/docs",
        body={"name": "plan", "category": "outputs", "content_type": "text", "content": "first"},
        change={"content": "second"},
    ),
    Resource(
        name="note",
        path="/api/docs",
        body={"name": "note", "category": "notes", "content_type": "text", "content": "first"},
        change={"content": "second"},
    ),
)


@dataclass(frozen=True, kw_only=True)
class RecordNode(Tenant):
    """The administrator of an organization at one node."""

    installation: Installation
    keys: IdempotencyKeys
    database: Database

    def administrator_at(self, other: ServedRoutes) -> ApiClient:
        """The same one at another node."""
        return replace(self.api, base_url=other.base_url)


@asynccontextmanager
async def two_nodes(
    database: Database, data_dir: Path, *, lease: timedelta = LEASE
) -> AsyncIterator[tuple[RecordNode, RecordNode]]:
    installation = await open_installation(database, data_dir)
    callers: dict[str, Caller] = {}
    async with Servers() as servers, RenderPool(processes=1) as renderer:

        async def node(made: Installation) -> tuple[ServedRoutes, IdempotencyKeys]:
            keys = IdempotencyKeys(
                store=made.stores.idempotency, vault=made.vault, settled=made.clock_steps.settled, lease=lease
            )
            services = _services(made, renderer)
            return await servers.serve(*services, idempotency=keys, callers=callers), keys

        other_installation = installation.on_another_node()
        (here, keys), (there, other_keys) = await node(installation), await node(other_installation)
        first = RecordNode(installation=installation, keys=keys, database=database, **here.administrator())
        api = first.administrator_at(there)
        yield (
            first,
            RecordNode(
                installation=other_installation,
                keys=other_keys,
                database=database,
                served=there,
                api=api,
                caller=first.caller,
            ),
        )


def _services(made: Installation, renderer: RenderPool) -> Sequence[object]:
    documents = build_documents(made, renderer=renderer, types=ContentTypes())
    rules = SchemaRules(schemas={"backup": BackupParameters, "agent_task": AgentParameters}, references={})
    tasks = task_services(made.database, clock=made.clock, rules=rules, observers=FinishedRuns())
    return (*made.devices().services, *documents.services, *tasks)

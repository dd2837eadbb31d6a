"""The task and execution routes, served without the rest of the product."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from netautod.core.clock import SystemClock
from netautod.core.identity import OrgId
from netautod.executions.store import ExecutionStore
from netautod.plugin_api import FinishedExecution
from netautod.store.client import Database
from netautod.tasks.parameters import Reference, SchemaRules
from netautod_agent import AgentParameters
from netautod_backup import BackupParameters
from tests.support.client import ServedRoutes
from tests.support.databases import Indexed
from tests.support.execution import INDEXES, Told, task_services
from tests.support.serving import Serve

CREDENTIAL = "11111111-2222-3333-4444-555555555555"


@dataclass(kw_only=True)
class Tasks:
    served: ServedRoutes
    database: Database
    executions: ExecutionStore
    told: list[FinishedExecution] = field(default_factory=list)


@pytest.fixture
async def tasks(indexed: Indexed, serve: Serve) -> Tasks:
    database = await indexed(INDEXES)
    told = Told()

    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return credential_id == CREDENTIAL

    rules = SchemaRules(
        schemas={"backup": BackupParameters, "agent_task": AgentParameters},
        references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
    )
    services = task_services(database, clock=SystemClock(), rules=rules, observers=told)
    served = await serve(*services)
    return Tasks(served=served, database=database, executions=ExecutionStore(database), told=told)


Create = Callable[..., Awaitable[str]]

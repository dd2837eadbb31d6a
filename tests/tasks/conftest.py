"""The task and execution routes, served without the rest of the product."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from netautod.audit.service import AuditLog
from netautod.core.clock import SystemClock
from netautod.core.identity import OrgId
from netautod.core.registries import Followers
from netautod.executions.ends import Ends
from netautod.executions.log import ExecutionLogStore
from netautod.executions.results import ResultStore
from netautod.executions.service import ExecutionService
from netautod.executions.store import ExecutionStore
from netautod.plugin_api import FinishedExecution
from netautod.store.client import Database
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.parameters import Reference, SchemaRules
from netautod.tasks.service import TaskService
from netautod.tasks.store import TaskStore
from netautod_agent import AgentParameters
from netautod_backup import BackupParameters
from tests.support.client import ServedRoutes
from tests.support.databases import Indexed
from tests.support.execution import INDEXES
from tests.support.serving import Serve

CREDENTIAL = "11111111-2222-3333-4444-555555555555"


@dataclass(kw_only=True)
class Tasks:
    served: ServedRoutes
    database: Database
    executions: ExecutionStore
    told: list[FinishedExecution] = field(default_factory=list)
    kicks: int = 0


@pytest.fixture
async def tasks(indexed: Indexed, serve: Serve) -> Tasks:
    database = await indexed(INDEXES)
    clock, store = SystemClock(), ExecutionStore(database)
    audit = AuditLog(database, clock)

    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return credential_id == CREDENTIAL

    deletions = Followers()

    async def cancel_pending(org_id: OrgId, task_id: str) -> None:
        await store.cancel_pending_of(org_id, task_id)

    deletions.register(cancel_pending)
    service = TaskService(
        store=TaskStore(database),
        audit=audit,
        clock=clock,
        ticks=NextTicks(),
        rules=SchemaRules(
            schemas={"backup": BackupParameters, "agent_task": AgentParameters},
            references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
        ),
        deletions=deletions,
    )
    told: list[FinishedExecution] = []
    executions = ExecutionService(
        store=store,
        tasks=service,
        results=ResultStore(database),
        logs=ExecutionLogStore(database),
        audit=audit,
        clock=clock,
        kick=lambda: None,
        abort=lambda execution_id: None,
        ends=Ends(store=store, finished=told.append),
    )
    served = await serve(service, executions)
    return Tasks(served=served, database=database, executions=store, told=told)


Create = Callable[..., Awaitable[str]]

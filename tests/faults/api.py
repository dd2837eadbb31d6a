"""The task and execution routes over the database that the node processes share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.audit.service import AuditLog
from netautod.core.identity import OrgId
from netautod.core.registries import Followers
from netautod.executions.ends import Ends
from netautod.executions.log import ExecutionLogStore
from netautod.executions.results import ResultStore
from netautod.executions.service import ExecutionService
from netautod.executions.store import ExecutionStore
from netautod.store.client import Database
from netautod.store.server_clock import ServerClock
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.parameters import SchemaRules
from netautod.tasks.service import TaskService
from netautod.tasks.store import TaskStore
from tests.faults.executors import KINDS
from tests.support.client import ServedRoutes
from tests.support.serving import Servers

SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"


@asynccontextmanager
async def served(database: Database) -> AsyncIterator[ServedRoutes]:
    """The API of a node that executes nothing itself: every run and cancel reaches another process."""
    async with ServerClock(database) as clock, Servers() as servers:
        yield await servers.serve(*_services(database, clock))


def _services(database: Database, clock: ServerClock) -> tuple[TaskService, ExecutionService]:
    store, audit, deletions = ExecutionStore(database), AuditLog(database, clock), Followers()

    async def cancel_pending(org_id: OrgId, task_id: str) -> None:
        await store.cancel_pending_of(org_id, task_id)

    deletions.register(cancel_pending)
    tasks = TaskService(
        store=TaskStore(database),
        audit=audit,
        clock=clock,
        ticks=NextTicks(),
        rules=SchemaRules(schemas=dict.fromkeys((kind.task_type for kind in KINDS), None), references={}),
        deletions=deletions,
    )
    executions = ExecutionService(
        store=store,
        tasks=tasks,
        results=ResultStore(database),
        logs=ExecutionLogStore(database),
        audit=audit,
        clock=clock,
        kick=lambda: None,
        abort=lambda execution_id: None,
        ends=Ends(store=store, finished=lambda told: None),
    )
    return tasks, executions

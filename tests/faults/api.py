"""The task and execution routes over the database that the node processes share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from netautod.audit.service import AuditLog
from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.core.identity import Caller, OrgId, RequestInfo
from netautod.core.registries import Followers
from netautod.executions import handlers as execution_handlers
from netautod.executions.ends import Ends
from netautod.executions.log import ExecutionLogStore
from netautod.executions.results import ResultStore
from netautod.executions.service import ExecutionService
from netautod.executions.store import ExecutionStore
from netautod.http import openapi
from netautod.http.context import HttpContext
from netautod.http.limits import RateLimiter
from netautod.http.routes import Route, application
from netautod.store.client import Database
from netautod.store.server_clock import ServerClock
from netautod.tasks import handlers as task_handlers
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.parameters import SchemaRules
from netautod.tasks.service import TaskService
from netautod.tasks.store import TaskStore
from tests.faults.executors import KINDS
from tests.support.client import ServedRoutes

SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"


@asynccontextmanager
async def served(database: Database) -> AsyncIterator[ServedRoutes]:
    """The API of a node that executes nothing itself: every run and cancel reaches another process."""
    async with ServerClock(database) as clock:
        routes = _routes(database, clock)
        callers: dict[str, Caller] = {}

        async def authenticate(token: str, info: RequestInfo) -> Caller:
            if token not in callers:
                raise Unauthenticated("Invalid or expired token")
            return callers[token]

        context = HttpContext(
            authenticate=authenticate,
            limiter=RateLimiter(clock=SystemClock(), rate=0, burst=1),
            trusted_proxies=(),
            cors_origins=frozenset(),
        )
        server = HTTPServer(application(routes, context))
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        try:
            yield ServedRoutes(
                base_url=f"http://127.0.0.1:{sockets[0].getsockname()[1]}",
                description=openapi.document(routes),
                callers=callers,
            )
        finally:
            server.stop()
            await server.close_all_connections()


def _routes(database: Database, clock: ServerClock) -> list[Route]:
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
    return [*task_handlers.routes(tasks), *execution_handlers.routes(executions)]

"""The task and execution routes over the database that the node processes share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.store.client import Database
from netautod.store.server_clock import ServerClock
from netautod.tasks.parameters import SchemaRules
from tests.faults.executors import KINDS
from tests.support.client import ServedRoutes
from tests.support.execution import Told, task_services
from tests.support.serving import Servers

SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"


@asynccontextmanager
async def served(database: Database) -> AsyncIterator[ServedRoutes]:
    """The API of a node that executes nothing itself: every run and cancel reaches another process."""
    async with ServerClock(database) as clock, Servers() as servers:
        rules = SchemaRules(schemas=dict.fromkeys((kind.task_type for kind in KINDS), None), references={})
        yield await servers.serve(*task_services(database, clock=clock, rules=rules, observers=Told()))

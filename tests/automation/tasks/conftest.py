"""The task and execution routes, served without the rest of the product."""

from dataclasses import dataclass
from typing import Any

import pytest

from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.parameters import Reference, SchemaRules
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.store.client import Database
from netautod_agent import AgentParameters
from netautod_backup import BackupParameters
from tests.support.client import ApiClient, ServedRoutes
from tests.support.execution import FinishedRuns, Owners, task_services
from tests.support.serving import Serve

SCHEDULES = "/api/tasks/schedules"
AGENTS = "/api/tasks/agent-schedules"
BODY = {"name": "nightly", "task_type": "backup", "cron_expression": "30 2 * * *"}
AGENT = {"name": "agent", "prompt": "look around", "cron_expression": "0 6 * * *"}
OPERATOR = ("tasks.operate", "credentials.manage")
MISSING = "99999999-9999-9999-9999-999999999999"
CREDENTIAL = "abcdefab-2222-4333-8444-555555555555"


@dataclass(kw_only=True)
class Tasks:
    """The tasks of a test; `finished` are the notifications of observers, `users` those who own tasks."""

    served: ServedRoutes
    database: Database
    finished: FinishedRuns
    users: Owners
    owners: TaskOwners

    def set_user(self, user_id: str, caller: Caller | None) -> None:
        """Change a user, which this node then knows; None deletes the user."""
        self.users[user_id] = caller
        self.users.disabled.discard(user_id)
        self.owners.forget()

    def disable(self, user_id: str) -> None:
        self.users.disabled.add(user_id)
        self.owners.forget()


@pytest.fixture
async def tasks(indexed: Database, serve: Serve) -> Tasks:
    """Return tasks in organizations with one credential, CREDENTIAL."""
    finished = FinishedRuns()

    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return credential_id == CREDENTIAL

    rules = SchemaRules(
        schemas={"backup": BackupParameters, "agent_task": AgentParameters},
        references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
    )
    users, clock = Owners(), SystemClock()
    owners = TaskOwners(users=users, clock=clock)
    services = task_services(indexed, clock=clock, rules=rules, observers=finished, owners=owners)
    served = await serve(*services)
    return Tasks(served=served, database=indexed, finished=finished, users=users, owners=owners)


def operator(tasks: Tasks, **options: Any) -> ApiClient:
    return tasks.served.client(*OPERATOR, **options)[0]


async def created(client: ApiClient, path: str = SCHEDULES, **fields: Any) -> dict[str, Any]:
    task: dict[str, Any] = (
        await client.post(path, {**(BODY if path == SCHEDULES else AGENT), **fields})
    ).expect(201)
    return task

"""The part of the composition root about tasks, their executions and whom these act as."""

from collections.abc import Mapping

from netautod.app.foundation import Foundation
from netautod.app.parts.devices import DeviceParts
from netautod.core.identity import Caller, OrgId
from netautod.core.registries import Followers
from netautod.executions.log import ExecutionLogStore
from netautod.executions.results import ResultStore
from netautod.executions.running.attempt import OwnerLookup
from netautod.executions.running.node import ExecutionNode
from netautod.executions.service import ExecutionService
from netautod.executions.store import ExecutionStore
from netautod.plugin_api import Executor
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.parameters import Reference, SchemaRules
from netautod.tasks.service import TaskService
from netautod.tasks.store import TaskStore
from netautod.users.service import UserService


def owners_of(users: UserService) -> OwnerLookup:
    async def owner(org_id: OrgId, user_id: str) -> Caller | None:
        user = await users.find(user_id)
        if user is None or user.org_id != org_id or not user.is_active:
            return None
        return Caller(
            user_id=user.id,
            org_id=user.org_id,
            username=user.username,
            permissions=frozenset(user.permissions),
        )

    return owner


def tasks_of(
    base: Foundation, device_parts: DeviceParts, ticks: NextTicks, executors: Mapping[str, Executor]
) -> TaskService:
    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return await device_parts.credentials.type_of(org_id, credential_id) is not None

    rules = SchemaRules(
        schemas={task_type: executor.parameters_schema for task_type, executor in executors.items()},
        references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
    )
    deletions = Followers()

    async def cancel_pending(org_id: OrgId, task_id: str) -> None:
        await ExecutionStore(base.database).cancel_pending_of(org_id, task_id)

    deletions.register(cancel_pending)
    return TaskService(
        store=TaskStore(base.database),
        audit=base.audit,
        clock=base.clock,
        ticks=ticks,
        rules=rules,
        deletions=deletions,
    )


def executions_of(base: Foundation, tasks: TaskService, node: ExecutionNode) -> ExecutionService:
    return ExecutionService(
        store=node.store,
        tasks=tasks,
        results=ResultStore(base.database),
        logs=ExecutionLogStore(base.database),
        audit=base.audit,
        clock=base.clock,
        kick=node.runner.kick,
        abort=node.runner.abort,
        ends=node.ends,
    )

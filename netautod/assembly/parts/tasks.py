"""The part of the composition root about tasks: their service, and what their parameters may name."""

from collections.abc import Mapping

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.executions import closing_of
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.parameters import Reference, SchemaRules
from netautod.automation.tasks.service import TaskService
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.network.credentials.service import CredentialService
from netautod.plugin_api import Executor


def rules_of(executors: Mapping[str, Executor], credentials: CredentialService) -> SchemaRules:
    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return await credentials.type_of(org_id, credential_id) is not None

    return SchemaRules(
        schemas={task_type: executor.parameters_schema for task_type, executor in executors.items()},
        references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
    )


def tasks_of(
    *, stores: Stores, clock: Clock, audit: AuditLog, rules: SchemaRules, ticks: NextTicks
) -> TaskService:
    return TaskService(
        store=stores.tasks,
        audit=audit,
        clock=clock,
        ticks=ticks,
        rules=rules,
        deleted=closing_of(stores, clock).task_deleted,
    )

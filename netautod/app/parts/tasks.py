"""The part of the composition root about tasks, their executions and whom these act as."""

from collections.abc import Mapping

from netautod.app.foundation import Foundation
from netautod.app.parts.devices import DeviceParts
from netautod.core.identity import OrgId
from netautod.core.metrics import Metrics
from netautod.core.pauses import Pauses
from netautod.core.registries import Followers
from netautod.executions.log_store import ExecutionLogStore
from netautod.executions.notifier import ExecutionObservers, FinishNotifier
from netautod.executions.result_store import DeviceResultStore
from netautod.executions.running.environment import ActingFactory, RunEnvironment
from netautod.executions.running.node import ExecutionNode
from netautod.executions.service import ExecutionService, LocalRuns
from netautod.executions.store import ExecutionStore
from netautod.plugin_api import Executor
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.parameters import Reference, SchemaRules
from netautod.tasks.service import TaskService
from netautod.tasks.store import TaskStore


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

    deletions.register(ExecutionStore(base.database).cancel_pending_of)
    return TaskService(
        store=TaskStore(base.database),
        audit=base.audit,
        clock=base.clock,
        ticks=ticks,
        rules=rules,
        deletions=deletions,
    )


def node_of(
    base: Foundation,
    *,
    node_id: str,
    executors: Mapping[str, Executor],
    acting: ActingFactory,
    metrics: Metrics,
    ticks: NextTicks,
    notifier: FinishNotifier,
    pauses: Pauses,
) -> ExecutionNode:
    executions = ExecutionStore(base.database)
    environment = RunEnvironment(
        executors=executors,
        owners=base.users,
        acting=acting,
        progress=executions,
        logs=ExecutionLogStore(base.database),
        results=DeviceResultStore(base.database),
        settings=base.settings.executions,
        clock=base.clock,
        metrics=metrics,
    )
    return ExecutionNode(
        node_id=node_id,
        environment=environment,
        store=executions,
        tasks=TaskStore(base.database),
        ticks=ticks,
        schedule=base.settings.scheduler,
        notifier=notifier,
        pauses=pauses,
    )


def notifier_of(base: Foundation, observers: ExecutionObservers) -> FinishNotifier:
    return FinishNotifier(store=ExecutionStore(base.database), observers=observers)


def executions_of(
    base: Foundation, tasks: TaskService, runs: LocalRuns, notifier: FinishNotifier
) -> ExecutionService:
    return ExecutionService(
        store=ExecutionStore(base.database),
        tasks=tasks,
        results=DeviceResultStore(base.database),
        logs=ExecutionLogStore(base.database),
        audit=base.audit,
        clock=base.clock,
        runs=runs,
        notifier=notifier,
    )

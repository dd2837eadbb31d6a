"""The part of the composition root about executions: the node that runs them, and their service."""

from collections.abc import Mapping, Sequence
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.automation.executions.abandoned.service import Aftermath
from netautod.automation.executions.abandoned.store import AftermathStore
from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.events.notifier import ExecutionObservers, FinishNotifier
from netautod.automation.executions.history.service import ExecutionHistory, Transcripts
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.running.environment import ActingFactory, Owners, RunEnvironment
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.service import ExecutionService, LocalRuns, Users
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.service import TaskService
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.core.watch.board import Board
from netautod.core.work.pauses import Pauses
from netautod.network.configs.capture.pulls import BackgroundPulls
from netautod.plugin_api import Executor
from netautod.store.client import Database


def environment_of(
    *,
    stores: Stores,
    clock: Clock,
    metrics: Metrics,
    executors: Mapping[str, Executor],
    owners: Owners,
    acting: ActingFactory,
    settings: ExecutionSettings,
    board: Board | None = None,
    tracer: Tracer | None = None,
) -> RunEnvironment:
    """What the runs of a node work with; `acting` is what executors may do, as the `owners` of the tasks.

    `board`: the one that a watching process reads.
    """
    return RunEnvironment(
        executors=executors,
        owners=owners,
        acting=acting,
        progress=stores.executions,
        logs=stores.execution_logs,
        results=stores.execution_results,
        settings=settings,
        clock=clock,
        metrics=metrics,
        board=board or Board(),
        tracer=tracer,
    )


def closing_of(stores: Stores, clock: Clock) -> LogClosing:
    return LogClosing(store=stores.executions, logs=stores.execution_logs, clock=clock)


def node_of(
    *,
    node_id: str,
    stores: Stores,
    environment: RunEnvironment,
    ticks: NextTicks,
    notifier: FinishNotifier,
    pauses: Pauses,
    settings: SchedulerSettings,
) -> ExecutionNode:
    return ExecutionNode(
        node_id=node_id,
        environment=environment,
        store=stores.executions,
        tasks=stores.tasks,
        ticks=ticks,
        schedule=settings,
        notifier=notifier,
        closing=closing_of(stores, environment.clock),
        pauses=pauses,
    )


def executions_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    tasks: TaskService,
    runs: LocalRuns,
    notifier: FinishNotifier,
    users: Users,
) -> ExecutionService:
    return ExecutionService(
        store=stores.executions,
        tasks=tasks,
        results=stores.execution_results,
        logs=stores.execution_logs,
        audit=audit,
        clock=clock,
        runs=runs,
        notifier=notifier,
        closing=closing_of(stores, clock),
        users=users,
    )


def chosen_of(
    *,
    stores: Stores,
    executions: ExecutionService,
    tasks: TaskService,
    audit: AuditLog,
    clock: Clock,
    runs: LocalRuns,
) -> DeviceSubsetRuns:
    return DeviceSubsetRuns(
        store=stores.executions,
        executions=executions,
        tasks=tasks,
        results=stores.execution_results,
        audit=audit,
        clock=clock,
        runs=runs,
    )


def background_pulls_of(subset_runs: DeviceSubsetRuns, executions: ExecutionService) -> BackgroundPulls:
    async def begin(caller: Caller, device_ids: Sequence[str], made_id: str | None) -> Mapping[str, Any]:
        execution = await subset_runs.pull(caller, device_ids, execution_id=made_id)
        return {**execution.to_json(), "requested_by": await executions.requester(execution)}

    return BackgroundPulls(begin=begin)


def history_of(stores: Stores, executions: ExecutionService, agents: Transcripts) -> ExecutionHistory:
    return ExecutionHistory(store=stores.execution_history, executions=executions, agents=agents)


def aftermath_of(
    *, database: Database, stores: Stores, observers: ExecutionObservers, clock: Clock
) -> Aftermath:
    return Aftermath(
        store=AftermathStore(database, wanted=stores.subscriptions.wants),
        notifier=FinishNotifier(store=stores.executions, observers=observers),
        closing=closing_of(stores, clock),
    )

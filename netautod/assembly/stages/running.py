"""Runs of tasks, and the node that makes them."""

from collections.abc import Mapping
from dataclasses import dataclass

from netautod.assembly.acting.caller_services import SharedServices
from netautod.assembly.acting.run_services import acting_factory
from netautod.assembly.data.migrations import migrations_of
from netautod.assembly.installation import Installation
from netautod.assembly.parts.agents import AgentParts
from netautod.assembly.parts.devices import DeviceParts
from netautod.assembly.parts.executions import chosen_of, environment_of, executions_of, node_of
from netautod.assembly.parts.tasks import rules_of, tasks_of
from netautod.assembly.settings import Settings
from netautod.assembly.stages.devices import DeviceWork
from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.service import ExecutionService
from netautod.automation.system.heartbeat import NodeHeartbeat
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.service import TaskService
from netautod.core.metrics import Metrics
from netautod.core.watch.board import Board
from netautod.core.work.pauses import Pauses
from netautod.plugin_api import Executor
from netautod.plugin_host.observers import Observers


@dataclass(frozen=True, kw_only=True)
class Runs:
    node: ExecutionNode
    tasks: TaskService
    executions: ExecutionService
    subset_runs: DeviceSubsetRuns


def environment(
    settings: Settings,
    installation: Installation,
    executors: Mapping[str, Executor],
    work: DeviceWork,
    agents: AgentParts,
    shared: SharedServices,
    metrics: Metrics,
    board: Board,
) -> RunEnvironment:
    acting = acting_factory(shared=shared, snapshots=work.configs.snapshots, desk=agents.desk)
    return environment_of(
        stores=installation.stores,
        clock=installation.clock,
        metrics=metrics,
        executors=executors,
        owners=installation.people.users,
        acting=acting,
        settings=settings.executions,
        board=board,
        tracer=installation.tracer,
    )


def runs(
    settings: Settings,
    installation: Installation,
    node_id: str,
    environment: RunEnvironment,
    devices: DeviceParts,
    observers: Observers,
    pauses: Pauses,
) -> Runs:
    stores, clock, audit = installation.stores, installation.clock, installation.audit
    ticks, notifier = NextTicks(), FinishNotifier(store=stores.executions, observers=observers)
    node = node_of(
        node_id=node_id,
        stores=stores,
        environment=environment,
        ticks=ticks,
        notifier=notifier,
        pauses=pauses,
        settings=settings.scheduler,
    )
    tasks = tasks_of(
        stores=stores,
        clock=clock,
        audit=audit,
        rules=rules_of(environment.executors, devices.credentials),
        ticks=ticks,
    )
    executions = executions_of(
        stores=stores,
        clock=clock,
        audit=audit,
        tasks=tasks,
        runs=node.runner,
        notifier=notifier,
        users=installation.people.users,
    )
    subset_runs = chosen_of(
        stores=stores, executions=executions, tasks=tasks, audit=audit, clock=clock, runs=node.runner
    )
    return Runs(node=node, tasks=tasks, executions=executions, subset_runs=subset_runs)


def heartbeat(
    settings: Settings, installation: Installation, node_id: str, node: ExecutionNode
) -> NodeHeartbeat:
    known = migrations_of(installation.database, installation.stores, settings.auth)
    return NodeHeartbeat(
        store=installation.stores.system,
        node_id=node_id,
        migration=known[-1].number,
        slots=settings.executions.slots,
        running=lambda: node.runner.running,
    )

"""The automation wing: tasks, their executions on this node, agents, and the state of the system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from netautod.assembly.base import Base
from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.identity import build_lockout
from netautod.assembly.network.device_services import DeviceServices
from netautod.automation.agents.service import AgentService
from netautod.automation.executions.abandoned.service import AbandonedRuns
from netautod.automation.executions.abandoned.store import AbandonedRunStore
from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.history.service import ExecutionHistory
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.running.clock_alignment import Align
from netautod.automation.executions.running.environment import ActingFactory, RunEnvironment
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.service import ExecutionService
from netautod.automation.executions.upkeep.paused_ticks import PausedTicks
from netautod.automation.summary.service import Summaries
from netautod.automation.system.capabilities.service import Capabilities
from netautod.automation.system.heartbeat import NodeHeartbeat
from netautod.automation.system.service import SystemService
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.owners.reporting import BlockedTasks
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.parameters import Reference, SchemaRules
from netautod.automation.tasks.service import TaskService
from netautod.core.identity.caller import Caller, OrgId
from netautod.http.routing.services import Services
from netautod.identity.auth.directory.service import TURN
from netautod.identity.auth.providers.registry import Providers
from netautod.network.configs.capture.pulls import BackgroundPulls
from netautod.network.credentials.service import CredentialService
from netautod.plugin_api import Executor
from netautod.store.leases.periodic import Periodic

# How soon what other nodes and directories change about owners of tasks is noticed.
BLOCK_CHECK_SECONDS = 30.0
# The features that system/capabilities always reports.
INSTALLED: Mapping[str, bool] = {
    "scheduled_tasks": True,
    "rbac": True,
    "shared_docs": True,
    "audit_logging": True,
}


@dataclass(frozen=True, kw_only=True)
class Automation(Services):
    """The services of the wing; nothing of it runs before `node` and `heartbeat` are started."""

    node: ExecutionNode
    heartbeat: NodeHeartbeat
    tasks: TaskService
    blocked_tasks: BlockedTasks
    block_watch: Periodic
    executions: ExecutionService
    subset_runs: DeviceSubsetRuns
    pulls: BackgroundPulls
    history: ExecutionHistory
    agents: AgentService
    aftermath: AbandonedRuns
    system: SystemService
    summaries: Summaries
    capabilities: Capabilities


def build_automation(
    base: Base,
    acting: ActingFactory,
    devices: DeviceServices,
    agents: AgentService,
    providers: Providers,
) -> Automation:
    """Build the wing; executors do their work with the services that `acting` makes for each run."""
    stores, clock, audit, configs = base.stores, base.clock, base.audit, devices.configs
    executors, ticks = base.plugins.executors(), NextTicks()
    notifier = FinishNotifier(store=stores.executions, observers=base.observers)
    closing = LogClosing(store=stores.executions, logs=stores.execution_logs, clock=clock)
    owners = TaskOwners(users=base.people.users, clock=clock)
    blocked = _build_blocked_tasks(base, owners)
    node = _build_node(base, _build_environment(base, acting, executors), ticks, notifier, closing, owners)
    rules = _build_task_rules(executors, devices.devices.credentials)
    tasks = TaskService(
        store=stores.tasks,
        audit=audit,
        clock=clock,
        ticks=ticks,
        rules=rules,
        owners=owners,
        blocked=blocked,
        deleted=closing.task_deleted,
    )
    executions = _build_executions(base, tasks, node, notifier, closing)
    subset_runs = DeviceSubsetRuns(
        store=stores.executions,
        executions=executions,
        tasks=tasks,
        results=stores.execution_results,
        audit=audit,
        clock=clock,
        runs=node.runner,
    )
    system = build_system(base)
    return Automation(
        node=node,
        heartbeat=_build_heartbeat(base, node),
        tasks=tasks,
        blocked_tasks=blocked,
        block_watch=_watch_blocks(base, owners, blocked),
        executions=executions,
        subset_runs=subset_runs,
        pulls=build_background_pulls(subset_runs, executions),
        history=ExecutionHistory(store=stores.execution_history, executions=executions, agents=agents),
        agents=agents,
        aftermath=AbandonedRuns(
            store=AbandonedRunStore(base.database, wanted=stores.subscriptions.wants),
            notifier=notifier,
            closing=closing,
        ),
        system=system,
        summaries=Summaries(
            backups=configs.backups,
            executions=executions,
            blocked=blocked,
            system=system,
            changes=configs.recent,
        ),
        capabilities=_build_capabilities(base, providers, has_model=agents.has_model),
    )


def _build_environment(
    base: Base, acting: ActingFactory, executors: Mapping[str, Executor]
) -> RunEnvironment:
    return RunEnvironment(
        executors=executors,
        owners=base.people.users,
        acting=acting,
        progress=base.stores.executions,
        logs=base.stores.execution_logs,
        results=base.stores.execution_results,
        settings=base.settings.executions,
        clock=base.clock,
        metrics=base.metrics,
        board=base.watched.board,
        tracer=base.tracer,
    )


def _build_node(
    base: Base,
    environment: RunEnvironment,
    ticks: NextTicks,
    notifier: FinishNotifier,
    closing: LogClosing,
    owners: TaskOwners,
) -> ExecutionNode:
    return ExecutionNode(
        node_id=base.node_id,
        environment=environment,
        store=base.stores.executions,
        tasks=base.stores.tasks,
        ticks=ticks,
        schedule=base.settings.scheduler,
        notifier=notifier,
        closing=closing,
        pauses=base.pauses,
        owners=owners,
        steps=base.clock_steps,
        alignments=list_alignments(base),
    )


def list_alignments(base: Base) -> Sequence[Align]:
    """Return what puts in order what waits outside of tasks and executions, after the clock was set back."""
    stores, longest_retry = base.stores, base.settings.webhooks.longest_retry_seconds
    lookup_interval = timedelta(seconds=base.settings.auth.directory_lookup_seconds)
    return (
        base.leases.align,
        stores.due_polls.align,
        stores.sources.align,
        stores.suspensions.align,
        stores.caller_suspensions.align,
        build_lockout(base).align,
        partial(stores.directory_lookups.align, lookup_interval, TURN),
        partial(stores.webhook_deliveries.align, longest_retry),
        partial(stores.webhooks.align, longest_retry),
    )


def _build_blocked_tasks(base: Base, owners: TaskOwners) -> BlockedTasks:
    async def leaving() -> list[OrgId]:
        organizations = await base.people.organizations.all()
        return [one.id for one in organizations if one.deleting_since is not None]

    return BlockedTasks(
        store=base.stores.task_owners, owners=owners, leaving=leaving, audit=base.audit, clock=base.clock
    )


def _watch_blocks(base: Base, owners: TaskOwners, blocked: BlockedTasks) -> Periodic:
    """Return the look for tasks whose owners are gone; a change of a user by this node begins one at once."""
    watch = Periodic(blocked.look, name="look for blocked tasks", seconds=BLOCK_CHECK_SECONDS, at_once=True)

    async def look(org_id: OrgId, user_id: str) -> None:
        owners.forget()
        watch.kick()

    base.people.users.changed.register(look)
    return watch


def _build_task_rules(executors: Mapping[str, Executor], credentials: CredentialService) -> SchemaRules:
    async def credential_exists(org_id: OrgId, credential_id: str) -> bool:
        return await credentials.type_of(org_id, credential_id) is not None

    return SchemaRules(
        schemas={task_type: executor.parameters_schema for task_type, executor in executors.items()},
        references={"credential": Reference(permission="credentials.manage", exists=credential_exists)},
    )


def _build_executions(
    base: Base, tasks: TaskService, node: ExecutionNode, notifier: FinishNotifier, closing: LogClosing
) -> ExecutionService:
    return ExecutionService(
        store=base.stores.executions,
        tasks=tasks,
        results=base.stores.execution_results,
        logs=base.stores.execution_logs,
        audit=base.audit,
        clock=base.clock,
        runs=node.runner,
        notifier=notifier,
        closing=closing,
        users=base.people.users,
    )


def build_background_pulls(subset_runs: DeviceSubsetRuns, executions: ExecutionService) -> BackgroundPulls:
    """Build what turns a pull of many devices into an execution."""

    async def begin(caller: Caller, device_ids: Sequence[str], execution_id: str | None) -> Mapping[str, Any]:
        execution = await subset_runs.pull(caller, device_ids, execution_id=execution_id)
        return {**execution.to_json(), "requested_by": await executions.requester(execution)}

    return BackgroundPulls(begin=begin)


def build_system(base: Base) -> SystemService:
    """Build the service of the system's status, with the risks of the settings and of the first password."""
    stores = base.stores
    return SystemService(
        store=stores.system,
        clock=base.clock,
        audit=base.audit,
        plugins=base.plugins,
        pauses=base.pauses,
        pending=stores.executions.pending,
        polls=stores.polls.waiting_of,
        held=PausedTicks(
            store=stores.executions,
            clock=base.clock,
            metrics=base.metrics,
            settings=base.settings.scheduler,
        ),
        risks=base.risks,
        lookouts=(base.initial_password_watch.risks,),
    )


def _build_capabilities(base: Base, providers: Providers, *, has_model: bool) -> Capabilities:
    return Capabilities(
        instance_name=base.settings.server.instance_name,
        providers=providers,
        installed={**INSTALLED, "central_ai": has_model},
        permissions=base.people.permissions,
    )


def _build_heartbeat(base: Base, node: ExecutionNode) -> NodeHeartbeat:
    known = list_migrations(base.database, base.stores, base.settings.auth)
    return NodeHeartbeat(
        store=base.stores.system,
        node_id=base.node_id,
        migration=known[-1].number,
        slots=base.settings.executions.slots,
        running=lambda: node.runner.running,
    )

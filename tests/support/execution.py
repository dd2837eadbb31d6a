"""Nodes, tasks and executors for tests of the scheduling: real stores, made-up work."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, ClassVar, cast
from uuid import uuid4

from marshmallow import Schema

from netautod.activity.audit.service import AuditLog
from netautod.automation.agents.service import AgentService
from netautod.automation.executions import store as execution_store
from netautod.automation.executions.abandoned.service import AbandonedRuns
from netautod.automation.executions.abandoned.store import AbandonedRunStore
from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.events.notifier import ExecutionObservers, FinishNotifier
from netautod.automation.executions.history.service import ExecutionHistory
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.models import Execution, new_execution
from netautod.automation.executions.running.environment import ActingFactory, RunActing, RunEnvironment
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.service import ExecutionService
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.owners.reporting import BlockedTasks, Leaving
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.parameters import SchemaRules
from netautod.automation.tasks.service import TaskService
from netautod.core.clock import Clock, SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.core.work.pauses import FixedPauses, Pauses
from netautod.identity.users.models import User
from netautod.plugin_api import Executor, FinishedExecution, RunContext
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.clock.steps import ClockSteps
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.databases import stores_of

# A tenth of the defaults.
FAST = ExecutionSettings(
    slots=20,
    lease_seconds=3.0,
    heartbeat_seconds=1.0,
    abandon_seconds=2.0,
    reap_grace_seconds=0.5,
    cancel_grace_seconds=0.5,
)
FAST_SCAN = SchedulerSettings(scan_seconds=0.1)
NOBODY_PAUSED = FixedPauses()
Body = Callable[[RunContext], Awaitable[Any]]


class Does:
    """An executor of type `backup` (or another) that does what the test says."""

    parameters_schema: ClassVar[type[Schema] | None] = None
    idempotent: ClassVar[bool] = True
    task_type: ClassVar[str] = "backup"

    def __init__(self, work: Body) -> None:
        self._work = work
        self.runs = 0

    async def run(self, context: RunContext) -> Any:
        self.runs += 1
        return await self._work(context)


class DoesOnce(Does):
    """Not idempotent, like an agent."""

    idempotent: ClassVar[bool] = False
    task_type: ClassVar[str] = "agent_task"


async def nothing(context: RunContext) -> Any:
    return {"done": True}


def task(**values: Any) -> Task:
    """An hourly backup task, not due, unless `values` say otherwise."""
    now = SystemClock().now()
    base = Task(
        id=str(uuid4()),
        org_id=OrgId(str(uuid4())),
        name=f"task {uuid4().hex[:8]}",
        description=None,
        task_type="backup",
        cron_expression="0 * * * *",
        timezone="UTC",
        parameters={},
        enabled=True,
        max_retries=0,
        retry_delay_seconds=0,
        timeout_seconds=60,
        next_run_at=now + timedelta(hours=1),
        last_run_at=None,
        owner_id=str(uuid4()),
        created_at=now,
        updated_at=now,
    )
    return replace(base, **values)


def due_task(**values: Any) -> Task:
    """A task of every minute whose current tick has not been fired."""
    tick = datetime.now(UTC).replace(second=0, microsecond=0)
    return task(**{"cron_expression": "* * * * *", "next_run_at": tick, **values})


def hourly_due_task(**values: Any) -> Task:
    """One whose last tick was minutes ago, and has not been fired: none comes while a test looks at it."""
    tick = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=2)
    return task(**{"cron_expression": f"{tick.minute} * * * *", "next_run_at": tick, **values})


def manual_run(of: Task) -> Execution:
    now = SystemClock().now()
    return new_execution(of, execution_id=str(uuid4()), scheduled_for=None, created_at=now)


def no_acting(work: Work, execution: Execution) -> RunActing:
    """For executors that use none of the product's services."""
    return cast(
        RunActing, SimpleNamespace(http=GuardedClient(AddressRules()), repeatable=True, unclear=False)
    )


class FinishedRuns(list[FinishedExecution]):
    """Observers that keep what they are told; `deaf` ones are not told anything."""

    deaf = False

    def wanted(self, hook: str) -> bool:
        return not self.deaf

    def execution_finished(self, execution: FinishedExecution) -> None:
        self.append(execution)


class Owners(dict[str, Caller | None]):
    """Callers by user id; a user who is not listed may do everything. Those of `disabled` may not log in."""

    def __init__(self) -> None:
        super().__init__()
        self.disabled: set[str] = set()

    async def active_caller(self, org_id: OrgId, user_id: str) -> Caller | None:
        if user_id in self.disabled:
            return None
        anybody = Caller(user_id=user_id, org_id=org_id, username="owner", permissions=frozenset({"*"}))
        return self.get(user_id, anybody)

    async def active_states(self, ids: Iterable[str]) -> dict[str, bool]:
        return {one: one not in self.disabled for one in ids if self.get(one, True) is not None}


class NoUsers:
    """Those who started runs are gone."""

    async def find_many(self, ids: Iterable[str]) -> dict[str, User]:
        return {}


class NoRuns:
    """The local runs of a node that executes nothing itself."""

    def kick(self) -> None: ...

    def abort(self, execution_id: str) -> None: ...


async def none_leaving() -> list[OrgId]:
    """No organization is being deleted."""
    return []


def blocked_tasks(
    database: Database, owners: TaskOwners, *, clock: Clock, leaving: Leaving = none_leaving
) -> BlockedTasks:
    """What counts and reports the tasks whose owners are gone."""
    stores = stores_of(database)
    audit = AuditLog(store=stores.audit, clock=clock)
    return BlockedTasks(
        store=stores.task_owners,
        owners=owners,
        leaving=leaving,
        audit=audit,
        clock=clock,
    )


def task_services(
    database: Database,
    *,
    clock: Clock,
    rules: SchemaRules,
    observers: ExecutionObservers,
    owners: TaskOwners | None = None,
) -> tuple[TaskService, ExecutionService, ExecutionHistory, DeviceSubsetRuns]:
    """Those of a node that executes nothing itself: every run and cancel reaches another one.

    `owners` are those of the tasks; None: every owner is active and may do everything.
    """
    stores = stores_of(database)
    audit = AuditLog(store=stores.audit, clock=clock)
    closing = LogClosing(store=stores.executions, logs=stores.execution_logs, clock=clock)
    owners = owners or TaskOwners(users=Owners(), clock=clock)
    tasks = TaskService(
        store=stores.tasks,
        audit=audit,
        clock=clock,
        ticks=NextTicks(),
        rules=rules,
        owners=owners,
        blocked=blocked_tasks(database, owners, clock=clock),
        deleted=closing.task_deleted,
    )
    notifier = FinishNotifier(store=stores.executions, observers=observers)
    executions = ExecutionService(
        store=stores.executions,
        tasks=tasks,
        results=stores.execution_results,
        logs=stores.execution_logs,
        audit=audit,
        clock=clock,
        runs=NoRuns(),
        notifier=notifier,
        closing=closing,
        users=NoUsers(),
    )
    agents = AgentService(transcripts=stores.agent_transcripts, platforms=PlatformRegistry(), model=None)
    chosen = DeviceSubsetRuns(
        store=stores.executions,
        executions=executions,
        tasks=tasks,
        results=stores.execution_results,
        audit=audit,
        clock=clock,
        runs=NoRuns(),
    )
    history = ExecutionHistory(store=stores.execution_history, executions=executions, agents=agents)
    return tasks, executions, history, chosen


@dataclass(kw_only=True)
class World:
    """One database with tasks and executions, and nodes that share it."""

    database: Database
    metrics: Metrics = field(default_factory=Metrics)
    clock: Clock = field(default_factory=SystemClock)
    finished: FinishedRuns = field(default_factory=FinishedRuns)
    owners: Owners = field(default_factory=Owners)
    acting: ActingFactory = no_acting

    def __post_init__(self) -> None:
        self.stores = stores_of(self.database)
        self.tasks, self.executions = self.stores.tasks, self.stores.executions
        self.rows = self.database.collection(execution_store.COLLECTION)

    async def add(self, *tasks: Task) -> None:
        for one in tasks:
            await self.tasks.insert(one)

    async def run(self, of: Task) -> Execution:
        """A task with one manual run of it."""
        await self.add(of)
        execution = manual_run(of)
        await self.executions.insert(execution)
        return execution

    def node(
        self,
        *executors: Executor,
        node_id: str | None = None,
        runs: ExecutionSettings = FAST,
        schedule: SchedulerSettings = FAST_SCAN,
        pauses: Pauses = NOBODY_PAUSED,
    ) -> ExecutionNode:
        environment = RunEnvironment(
            executors={executor.task_type: executor for executor in executors},
            owners=self.owners,
            acting=self.acting,
            progress=self.executions,
            logs=self.stores.execution_logs,
            results=self.stores.execution_results,
            settings=runs,
            clock=self.clock,
            metrics=self.metrics,
        )
        return ExecutionNode(
            node_id=node_id or str(uuid4()),
            environment=environment,
            store=self.executions,
            tasks=self.tasks,
            ticks=NextTicks(),
            schedule=schedule,
            notifier=self.notifier,
            closing=self.closing,
            pauses=pauses,
            owners=TaskOwners(users=self.owners, clock=self.clock),
            steps=self.steps,
            alignments=(),
        )

    @property
    def steps(self) -> ClockSteps:
        """Those of another node: each sees the clock by itself."""
        clock = self.clock if isinstance(self.clock, ServerClock) else ServerClock(self.database)
        return ClockSteps(self.database, clock)

    @property
    def notifier(self) -> FinishNotifier:
        return FinishNotifier(store=self.executions, observers=self.finished)

    @property
    def closing(self) -> LogClosing:
        return LogClosing(store=self.executions, logs=self.stores.execution_logs, clock=self.clock)

    @property
    def aftermath(self) -> AbandonedRuns:
        """What a node does first about the processes before it."""
        store = AbandonedRunStore(self.database, wanted=self.stores.subscriptions.wants)
        return AbandonedRuns(store=store, notifier=self.notifier, closing=self.closing)

    async def get(self, execution: Execution) -> Execution:
        found = await self.executions.get(execution.org_id, execution.id)
        assert found is not None
        return found

    async def until(self, execution: Execution, *states: str, seconds: float = 10) -> Execution:
        """The execution once it is in one of the states."""
        found: Execution = await eventually(lambda: self._in_state(execution, states), seconds=seconds)
        return found

    async def _in_state(self, execution: Execution, states: tuple[str, ...]) -> Execution | None:
        found = await self.get(execution)
        return found if found.state in states else None

    async def all(self, **where: Any) -> list[Any]:
        return await self.rows.find(where)


async def eventually(look: Callable[[], Awaitable[Any]], *, seconds: float = 10) -> Any:
    """The first true answer; fails after `seconds`. For what only the database can tell."""
    async with asyncio.timeout(seconds):
        while not (found := await look()):  # noqa: ASYNC110  # no event crosses the database
            await asyncio.sleep(0.02)
    return found

"""The rules of tasks: validation, ownership, next_run_at, and the audit trail of their changes.

Enabling through PUT recomputes `next_run_at` as toggle does; a PUT that changes nothing about the schedule
leaves `next_run_at` as it is.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol
from uuid import uuid4

from marshmallow import Schema

from netautod.activity.audit.service import AuditLog
from netautod.automation.tasks.cron import ticks as cron
from netautod.automation.tasks.cron.fields import single_spaced
from netautod.automation.tasks.cron.upcoming import UpcomingRun, upcoming
from netautod.automation.tasks.models import (
    AGENT_TASK,
    DEFAULT_RETRIES,
    DEFAULT_RETRY_DELAY,
    DEFAULT_TIMEOUT,
    TASK_TYPES,
    Task,
)
from netautod.automation.tasks.owners.reporting import BlockedTasks
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.store import TaskStore, unchanged, where_of
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf

EDIT_TRIES = 20
# Fields of a change that are not stored as they were sent.
SPECIAL = ("task_type", "prompt", "owner_id")
BUSY = "The task is being changed by others at the same time"
OnlyIf = Callable[[Task], None]
"""Called with the task as it is shown, before it is changed; raises the error that forbids the change."""
Deleted = Callable[[Caller, str], Awaitable[None]]
"""Called with the user who deleted a task, and its id; idempotent."""


class ParameterRules(Protocol):
    """The rules for `parameters`, from a task type's executor and from the rest of the product."""

    def schemas(self) -> Mapping[str, type[Schema] | None]:
        """Return the task types that have an executor, with the schemas of their parameters."""
        ...

    async def check(
        self, caller: Caller, task_type: str, parameters: Mapping[str, Any], before: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the parameters to store.

        `before` are the stored ones. Raises InvalidInput or Forbidden.
        """
        ...


class TaskService:
    def __init__(
        self,
        *,
        store: TaskStore,
        audit: AuditLog,
        clock: Clock,
        ticks: cron.NextTicks,
        rules: ParameterRules,
        owners: TaskOwners,
        blocked: BlockedTasks,
        deleted: Deleted,
    ) -> None:
        self._blocked = blocked
        self._owners = owners
        self._store = store
        self._audit = audit
        self._clock = clock
        self._ticks = ticks
        self._rules = rules
        self._deleted = deleted

    async def create(self, caller: Caller, fields: Mapping[str, Any], *, task_id: str | None = None) -> Task:
        """Create a task.

        `fields` are what TaskCreate loads. `task_id`: a task with this id was created by this very request.
        """
        self.require_type(fields["task_type"])
        now, expression = self._clock.now(), single_spaced(fields["cron_expression"])
        task = Task(
            id=task_id or str(uuid4()),
            org_id=caller.org_id,
            name=fields["name"],
            description=fields.get("description"),
            task_type=fields["task_type"],
            cron_expression=expression,
            timezone=fields["timezone"],
            parameters=await self._rules.check(caller, fields["task_type"], fields["parameters"], {}),
            enabled=fields["enabled"],
            max_retries=fields["max_retries"],
            retry_delay_seconds=fields["retry_delay_seconds"],
            timeout_seconds=fields["timeout_seconds"],
            next_run_at=self._next(expression, fields["timezone"], now),
            last_run_at=None,
            owner_id=caller.user_id,
            created_at=now,
            updated_at=now,
            scope=caller.scope,
        )
        try:
            await self._store.insert(task)
        except Conflict:
            # The request is repeated: the node of the first one died between this write and the answer.
            before = None if task_id is None else await self._store.get(caller.org_id, task_id)
            if before is None:
                raise
            task = await self._shown(before)
        await self._audit.record(caller, "task.create", "task", task.id, {"name": task.name})
        return task

    async def create_agent_schedule(
        self, caller: Caller, fields: Mapping[str, Any], *, task_id: str | None = None
    ) -> Task:
        """Create an agent schedule.

        Its retries and timeout are fixed: 3 retries, 60 s apart, 3,600 s.
        """
        wrapped = {
            **{key: value for key, value in fields.items() if key != "prompt"},
            "task_type": AGENT_TASK,
            "parameters": {"prompt": fields["prompt"]},
            "max_retries": DEFAULT_RETRIES,
            "retry_delay_seconds": DEFAULT_RETRY_DELAY,
            "timeout_seconds": DEFAULT_TIMEOUT,
        }
        return await self.create(caller, wrapped, task_id=task_id)

    @property
    def known_types(self) -> tuple[str, ...]:
        """Return the types that a task can have: the fixed ones, then those of plugins."""
        return tuple(dict.fromkeys((*TASK_TYPES, *self._rules.schemas())))

    def require_type(self, task_type: str) -> None:
        """Raise InvalidInput for a type that no task can have."""
        if task_type not in self.known_types:
            raise InvalidInput(f"task_type: must be one of {', '.join(self.known_types)}")

    async def get(self, org_id: OrgId, task_id: str, *, agent: bool = False) -> Task:
        """Read a task. Raises NotFound; with `agent` also for a task of another type."""
        return await self._shown(await self._find(org_id, task_id, agent))

    async def page(
        self, org_id: OrgId, page: Page, *, agent: bool = False, owner_id: str | None = None
    ) -> PageOf[Task]:
        """Return one page of tasks by name; with `agent` only agent schedules, newest first."""
        where: dict[str, Any] = {"task_type": AGENT_TASK} if agent else {}
        if owner_id is not None:
            where["owner_id"] = owner_id
        found = await self._store.page(org_id, where, page, newest_first=agent)
        return replace(found, items=await self._all_shown(found.items))

    async def narrowed(self, org_id: OrgId, filters: Mapping[str, Any], page: Page) -> PageOf[Task]:
        """Return one page of the tasks that match, by name.

        `filters`: q (a text in the name), task_type, enabled, blocked. Raises InvalidInput.
        """
        if "task_type" in filters:
            self.require_type(filters["task_type"])
        where = where_of(filters)
        if "blocked" in filters:
            owners = await self._blocked.owners(org_id)
            where["owner_id"] = {"$in" if filters["blocked"] else "$nin": owners}
        found = await self._store.page(org_id, where, page)
        return replace(found, items=await self._all_shown(found.items))

    def types(self) -> Mapping[str, type[Schema] | None]:
        """Return the task types that have an executor, with the schemas of their parameters."""
        return self._rules.schemas()

    async def update(
        self,
        caller: Caller,
        task_id: str,
        fields: Mapping[str, Any],
        *,
        agent: bool = False,
        only_if: OnlyIf | None = None,
    ) -> Task:
        """Change the sent fields only; of two updates at the same time neither loses the other's changes."""
        for _ in range(EDIT_TRIES):
            task = await self._find(caller.org_id, task_id, agent)
            if only_if is not None:
                only_if(await self._shown(task))
            change = await self._change(caller, task, fields)
            was: Mapping[str, Any] = {
                "cron_expression": task.cron_expression,
                "timezone": task.timezone,
                "enabled": task.enabled,
                "updated_at": task.updated_at,
            }
            if only_if is not None:
                was = unchanged(task)
            changed = await self._store.change(caller.org_id, task_id, was, change)
            if changed is not None:
                await self._audit.record(caller, "task.update", "task", task_id, {"fields": sorted(fields)})
                return await self._shown(changed)
        raise Conflict(BUSY)

    async def toggle(self, caller: Caller, task_id: str, enabled: bool, *, agent: bool = False) -> Task:
        """Enable or disable a task. Raises the same as `update`."""
        return await self.update(caller, task_id, {"enabled": enabled}, agent=agent)

    async def delete(
        self, caller: Caller, task_id: str, *, agent: bool = False, only_if: OnlyIf | None = None
    ) -> None:
        """Delete a task.

        Its executions stay; followers of `deleted` cancel the pending ones.
        """
        was: Mapping[str, Any] = {}
        for _ in range(EDIT_TRIES):
            task = await self._find(caller.org_id, task_id, agent)
            if only_if is not None:
                only_if(await self._shown(task))
                was = unchanged(task)
            if await self._store.delete(caller.org_id, task_id, was):
                break
        else:
            raise Conflict(BUSY)
        # If the node dies here, pending runs of a deleted task are left: the claim cancels them.
        await self._deleted(caller, task_id)
        await self._audit.record(caller, "task.delete", "task", task_id)

    def preview(self, expression: str, timezone: str, count: int) -> list[tuple[datetime, datetime]]:
        """Return the next runs as (utc, local). Raises InvalidInput."""
        return cron.next_runs(cron.parse(expression, timezone), self._clock.now(), count)

    def upcoming(self, expression: str, timezone: str, count: int) -> list[UpcomingRun]:
        """Return the next runs and the effect of clock changes on them. Raises InvalidInput."""
        return upcoming(cron.parse(expression, timezone), self._clock.now(), count)

    async def _find(self, org_id: OrgId, task_id: str, agent: bool) -> Task:
        task = await self._store.get(org_id, task_id)
        if task is None or (agent and task.task_type != AGENT_TASK):
            raise NotFound("Task not found")
        return task

    async def _change(self, caller: Caller, task: Task, fields: Mapping[str, Any]) -> dict[str, Any]:
        change = {key: value for key, value in fields.items() if key not in SPECIAL}
        if fields.get("task_type", task.task_type) != task.task_type:
            raise InvalidInput("task_type: cannot be changed after creation")
        if "cron_expression" in change:
            change["cron_expression"] = single_spaced(change["cron_expression"])
        if "prompt" in fields:
            change["parameters"] = {**task.parameters, "prompt": fields["prompt"]}
        if "parameters" in change:
            change["parameters"] = await self._rules.check(
                caller, task.task_type, change["parameters"], task.parameters
            )
            change |= {"owner_id": caller.user_id, "scope": caller.scope, "set_by": None}
        if fields.get("owner_id", task.owner_id) != task.owner_id:
            change |= await self._new_owner(caller, fields["owner_id"])
            # Else users could approve what they have set themselves, by giving the task away.
            change["set_by"] = caller.user_id if "parameters" in change else task.set_by or task.owner_id
        now = self._clock.now()
        timing = ("cron_expression", "timezone", "enabled")
        if any(change.get(key, getattr(task, key)) != getattr(task, key) for key in timing):
            expression = change.get("cron_expression", task.cron_expression)
            change["next_run_at"] = self._next(expression, change.get("timezone", task.timezone), now)
        change["updated_at"] = now
        return change

    async def _new_owner(self, caller: Caller, owner_id: str) -> dict[str, Any]:
        """Return the change of the owner. Raises InvalidInput, or Forbidden.

        Runs act with the owner's permissions, so the caller must hold them all.
        """
        if owner_id != caller.user_id:
            owner = await self._owners.active_caller(caller.org_id, owner_id)
            if owner is None:
                raise InvalidInput("owner_id: must be an active user of the organization")
            if not caller.can_all(owner.permissions):
                raise Forbidden("owner_id: this user holds permissions that you do not hold")
        return {"owner_id": owner_id, "scope": caller.scope}

    def _next(self, expression: str, timezone: str, moment: datetime) -> datetime:
        return self._ticks.next_after(self._ticks.schedule(expression, timezone), moment)

    async def _shown(self, task: Task) -> Task:
        return (await self._all_shown([task]))[0]

    async def _all_shown(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks as they are shown: with the reason if the owner is gone, a disabled one with the
        tick that would come next if it were enabled.
        """
        reasons = await self._owners.block_reasons(task.owner_id for task in tasks)
        return [replace(self._with_tick(task), blocked=reasons.get(task.owner_id)) for task in tasks]

    def _with_tick(self, task: Task) -> Task:
        if task.enabled:
            return task
        return replace(task, next_run_at=self._next(task.cron_expression, task.timezone, self._clock.now()))

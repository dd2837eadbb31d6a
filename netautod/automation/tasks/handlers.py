"""The routes /api/tasks/schedules, /api/tasks/agent-schedules and /api/tasks/preview."""

import asyncio

from netautod.automation.tasks.models import Task
from netautod.automation.tasks.schemas import (
    AgentScheduleAnswer,
    AgentScheduleCreate,
    AgentScheduleListAnswer,
    AgentScheduleQuery,
    AgentScheduleUpdate,
    PreviewAnswer,
    PreviewRequest,
    TaskAnswer,
    TaskCreate,
    TaskListAnswer,
    TaskQuery,
    TaskUpdate,
    ToggleRequest,
)
from netautod.automation.tasks.service import TaskService
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.http.access import Repeat, requires
from netautod.http.conditions.preconditions import json_tag
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"


class TaskHandler(JsonHandler):
    tasks: TaskService


class SchedulesHandler(TaskHandler):
    @requires(OPERATOR, query=TaskQuery, answer=TaskListAnswer, etag=True)
    async def get(self) -> None:
        """List tasks by name."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        found = await self.tasks.narrowed(self.caller.org_id, self.query, page)
        self.answer(found.to_json("tasks", Task.to_list_item))

    @requires(OPERATOR, status=201, body=TaskCreate, answer=TaskAnswer, repeat=Repeat.FINDS, etag=True)
    async def post(self) -> None:
        """Create a task."""
        made = await self.tasks.create(self.caller, self.body, task_id=self.record_id)
        self.answer(made.to_json())


class ScheduleHandler(TaskHandler):
    @requires(OPERATOR, answer=TaskAnswer, etag=True)
    async def get(self, task_id: str) -> None:
        """Read a task."""
        task = await self.tasks.get(self.caller.org_id, self.path_id(task_id, "Task"))
        self.answer(task.to_json())

    @requires(OPERATOR, body=TaskUpdate, partial=True, answer=TaskAnswer, etag=True)
    async def put(self, task_id: str) -> None:
        """Change the sent fields of a task."""
        only_if = self.only_if(json_tag(Task.to_json))
        task = await self.tasks.update(self.caller, self.path_id(task_id, "Task"), self.body, only_if=only_if)
        self.answer(task.to_json())

    @requires(OPERATOR, status=204, etag=True)
    async def delete(self, task_id: str) -> None:
        """Delete a task; its executions stay."""
        only_if = self.only_if(json_tag(Task.to_json))
        await self.tasks.delete(self.caller, self.path_id(task_id, "Task"), only_if=only_if)
        self.answer_nothing()


class ScheduleToggleHandler(TaskHandler):
    @requires(OPERATOR, body=ToggleRequest, answer=TaskAnswer, grows=False)
    async def post(self, task_id: str) -> None:
        """Enable or disable a task."""
        enabled = self.body["enabled"]
        task = await self.tasks.toggle(self.caller, self.path_id(task_id, "Task"), enabled)
        self.answer(task.to_json())


class AgentSchedulesHandler(TaskHandler):
    @requires(OPERATOR, query=AgentScheduleQuery, answer=AgentScheduleListAnswer, etag=True)
    async def get(self) -> None:
        """List the agent schedules that the caller owns; with `scope=organization` those of all owners."""
        mine, scope = self.query.pop("mine"), self.query.pop("scope", None)
        owner_id = self.caller.user_id if mine or scope is None else None
        page = await self.tasks.page(self.caller.org_id, Page(**self.query), agent=True, owner_id=owner_id)
        self.answer(page.to_json("tasks", Task.to_agent_schedule))

    @requires(
        OPERATOR,
        status=201,
        body=AgentScheduleCreate,
        answer=AgentScheduleAnswer,
        repeat=Repeat.FINDS,
        etag=True,
    )
    async def post(self) -> None:
        """Create an agent schedule."""
        task = await self.tasks.create_agent_schedule(self.caller, self.body, task_id=self.record_id)
        self.answer(task.to_agent_schedule())


class AgentScheduleHandler(TaskHandler):
    @requires(OPERATOR, answer=AgentScheduleAnswer, etag=True)
    async def get(self, task_id: str) -> None:
        """Read an agent schedule."""
        task = await self.tasks.get(self.caller.org_id, self.path_id(task_id, "Task"), agent=True)
        self.answer(task.to_agent_schedule())

    @requires(OPERATOR, body=AgentScheduleUpdate, partial=True, answer=AgentScheduleAnswer, etag=True)
    async def put(self, task_id: str) -> None:
        """Change the sent fields of an agent schedule."""
        only_if = self.only_if(json_tag(Task.to_agent_schedule))
        task = await self.tasks.update(
            self.caller, self.path_id(task_id, "Task"), self.body, agent=True, only_if=only_if
        )
        self.answer(task.to_agent_schedule())

    @requires(OPERATOR, status=204, etag=True)
    async def delete(self, task_id: str) -> None:
        """Delete an agent schedule; its executions stay."""
        only_if = self.only_if(json_tag(Task.to_agent_schedule))
        await self.tasks.delete(self.caller, self.path_id(task_id, "Task"), agent=True, only_if=only_if)
        self.answer_nothing()


class AgentScheduleToggleHandler(TaskHandler):
    @requires(OPERATOR, body=ToggleRequest, answer=AgentScheduleAnswer, grows=False)
    async def post(self, task_id: str) -> None:
        """Enable or disable an agent schedule."""
        enabled = self.body["enabled"]
        task = await self.tasks.toggle(self.caller, self.path_id(task_id, "Task"), enabled, agent=True)
        self.answer(task.to_agent_schedule())


class PreviewHandler(TaskHandler):
    @requires(OPERATOR, body=PreviewRequest, answer=PreviewAnswer, changes=False, name="preview_schedule")
    async def post(self) -> None:
        """List the next fire times of a cron expression, without creating a task."""
        # In a thread: a hundred runs of a rare expression would hold up the event loop for too long.
        runs = await asyncio.to_thread(
            self.tasks.preview, self.body["cron_expression"], self.body["timezone"], self.body["count"]
        )
        self.answer({"next_runs": [{"utc": to_text(utc), "local": local.isoformat()} for utc, local in runs]})


ROUTES = (
    Route(path="/api/tasks/schedules", handler=SchedulesHandler),
    Route(path="/api/tasks/schedules/:id", handler=ScheduleHandler),
    Route(path="/api/tasks/schedules/:id/toggle", handler=ScheduleToggleHandler),
    Route(path="/api/tasks/agent-schedules", handler=AgentSchedulesHandler),
    Route(path="/api/tasks/agent-schedules/:id", handler=AgentScheduleHandler),
    Route(path="/api/tasks/agent-schedules/:id/toggle", handler=AgentScheduleToggleHandler),
    Route(path="/api/tasks/preview", handler=PreviewHandler),
)

"""The list of tasks, one task, and the actions on it."""

from collections.abc import Mapping
from typing import Any

from netautod.automation.executions.service import ExecutionService
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.schemas import TaskQuery, ToggleRequest
from netautod.automation.tasks.service import TaskService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.runs.previews import Previews
from netautod.console.runs.views import json_text, runs_of
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"


class TaskPage(PageHandler):
    tasks: TaskService
    executions: ExecutionService

    async def task(self, task_id: str) -> Task:
        return await self.tasks.get(self.caller.org_id, self.path_id(task_id, "Task"))

    def type_choices(self) -> list[tuple[str, str]]:
        return [(name, name) for name in sorted(self.tasks.types())]


class TasksPage(TaskPage):
    @requires(OPERATOR, query=TaskQuery)
    async def get(self) -> None:
        """Show the tasks by name, each with its newest run."""
        filters: dict[str, Any] = dict(self.query)
        page = Page(limit=filters.pop("limit"), offset=filters.pop("offset"))
        listed = await self.tasks.narrowed(self.caller.org_id, filters, page)
        newest = await self.executions.newest_of_tasks(self.caller.org_id, [task.id for task in listed.items])
        runs = {run.execution.task_id: run for run in runs_of(list(newest.values()))}
        self.show("runs/tasks.html", title="Tasks", listed=listed, runs=runs, types=self.type_choices())


class OneTaskPage(TaskPage):
    previews: Previews

    @requires(OPERATOR, query=PageQuery)
    async def get(self, task_id: str) -> None:
        """Show a task: what it does, when it runs next, and its runs with their results."""
        task = await self.task(task_id)
        found = await self.executions.page_of_task(self.caller.org_id, task.id, Page(**self.query))
        preview = None
        if not self.by_itself:  # a page that looks for news wants the runs alone
            preview = await self.previews.of(
                self.caller, task.task_type, task.cron_expression, task.timezone, task.parameters
            )
        self.show(
            "runs/task.html",
            title=task.name,
            task=task,
            parameters=json_text(task.parameters),
            preview=preview,
            owner=await self.executions.name_of_user(task.owner_id),
            listed=found,
            runs=runs_of(found.items),
        )


class RunTaskForm(TaskPage):
    @requires(OPERATOR, consumes=FORM)
    async def post(self, task_id: str) -> None:
        """Run a task now, and show the execution."""
        execution = await self.executions.run(self.caller, self.path_id(task_id, "Task"))
        self.redirect_to(f"/executions/{execution.id}")


class ToggleTaskForm(TaskPage):
    @requires(OPERATOR, consumes=FORM, grows=False)
    async def post(self, task_id: str) -> None:
        """Enable or disable a task."""
        enabled = self.form.values(ToggleRequest())["enabled"]
        task = await self.tasks.toggle(self.caller, self.path_id(task_id, "Task"), enabled)
        self.set_notice(f"The task {task.name} was {'enabled' if enabled else 'disabled'}.")
        self.redirect_to(f"/tasks/{task.id}")


class TakeOverTaskForm(TaskPage):
    @requires(OPERATOR, consumes=FORM, grows=False)
    async def post(self, task_id: str) -> None:
        """Set the caller as the owner of a task, with whose permissions it then runs."""
        owner = {"owner_id": self.caller.user_id}
        task = await self.tasks.update(self.caller, self.path_id(task_id, "Task"), owner)
        self.set_notice(f"You own the task {task.name} now.")
        self.redirect_to(f"/tasks/{task.id}")


class DeleteTaskForm(TaskPage):
    @requires(OPERATOR, consumes=FORM, grows=False)
    async def post(self, task_id: str) -> None:
        """Delete a task; its executions stay."""
        task = await self.task(task_id)
        await self.tasks.delete(self.caller, task.id)
        self.set_notice(f"The task {task.name} was deleted; its executions stay.")
        self.redirect_to("/tasks")


def changed_fields(task: Task, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that differ.

    Only these are sent, because a user who sends the parameters becomes the owner of the task.
    """
    return {name: value for name, value in fields.items() if value != getattr(task, name)}


PAGES = (
    Route(path="/tasks", handler=TasksPage),
    Route(path="/tasks/:id", handler=OneTaskPage),
    Route(path="/tasks/:id/run", handler=RunTaskForm),
    Route(path="/tasks/:id/toggle", handler=ToggleTaskForm),
    Route(path="/tasks/:id/take-over", handler=TakeOverTaskForm),
    Route(path="/tasks/:id/delete", handler=DeleteTaskForm),
)

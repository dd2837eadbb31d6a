"""The editor of tasks, and its preview."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from netautod.automation.tasks.cron.zones import ACCEPTED
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.schemas import TaskCreate
from netautod.console.base.forms import FORM
from netautod.console.runs import parameters
from netautod.console.runs.parameters import ShownParameters
from netautod.console.runs.previews import Previews
from netautod.console.runs.tasks import OPERATOR, TaskPage, changed_fields
from netautod.console.runs.views import Draft, Preview
from netautod.core.json import values as json_values
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.conditions.tags import tag_of
from netautod.http.routing.routes import Route
from netautod.network.credentials.service import CredentialService

USUAL_TYPE = "backup"
MOST_CREDENTIALS = 100  # more are no list to choose from


class TaskEditor(TaskPage):
    previews: Previews
    credentials: CredentialService
    _preview: Preview | None = None

    async def edit(self, task: Task | None) -> None:
        """Show the form of a new task, or of an existing one."""
        draft = Draft(task_type=self._first_type()) if task is None else Draft.of(task)
        self.show(
            "runs/editor.html",
            title="New task" if task is None else f"Edit {task.name}",
            task=task,
            tag="" if task is None else editable_tag(task),
            draft=draft,
            parts=self._forms(task),
            types=self.type_choices(),
            zones=[(zone, zone) for zone in sorted(ACCEPTED)],
            credentials=await self._credentials(),
            preview=self._preview,
        )

    def sent(self, task_type: str) -> dict[str, Any]:
        """Return the task's fields of the form as the API takes them.

        Raises InvalidInput.
        """
        given = parameters.sent(self.form, task_type, self.tasks.types().get(task_type))
        texts = {
            **self.form.given,
            "task_type": [task_type],
            "parameters": [json_values.encode(given).decode()],
        }
        return {"description": None, **replace(self.form, given=texts).values(TaskCreate())}

    async def show_preview(self, task: Task | None) -> None:
        """Show the form as it was sent, with the next runs of its schedule."""
        await self.submit(self._previewed(task), again=lambda: self.edit(task))

    async def _previewed(self, task: Task | None) -> None:
        task_type = self.form.text("task_type") if task is None else task.task_type
        given = parameters.sent(self.form, task_type, self.tasks.types().get(task_type))
        expression, zone = self.form.text("cron_expression"), self.form.text("timezone")
        self._preview = await self.previews.of(self.caller, task_type, expression, zone, given)
        await self.edit(task)

    def _first_type(self) -> str:
        types = self.tasks.types()
        wanted = self.query_texts().get("task_type", USUAL_TYPE)
        return wanted if wanted in types else next(iter(sorted(types)), "")

    def _forms(self, task: Task | None) -> Sequence[ShownParameters]:
        """Return one form of parameters for each type that may be selected; for an existing task only that of
        its type.
        """
        types = self.tasks.types()
        if task is not None:
            return [parameters.shown(task.task_type, types.get(task.task_type), task.parameters)]
        return [parameters.shown(name, types[name], {}) for name in sorted(types)]

    async def _credentials(self) -> Sequence[tuple[str, str]] | None:
        """Return pairs of id and name; None if the caller may not see the credentials or they are
        too many.
        """
        if not self.caller.can("credentials.manage"):
            return None
        found = await self.credentials.page(self.caller.org_id, Page(limit=MOST_CREDENTIALS))
        if found.total > MOST_CREDENTIALS:
            return None
        return [("", "that of each device"), *((one.id, one.name) for one in found.items)]


class NewTaskPage(TaskEditor):
    @requires(OPERATOR)
    async def get(self) -> None:
        """Show the form of a new task."""
        await self.edit(None)

    @requires(OPERATOR, consumes=FORM)
    async def post(self) -> None:
        """Create a task."""
        await self.submit(self._create(), again=lambda: self.edit(None))

    async def _create(self) -> str:
        task = await self.tasks.create(self.caller, self.sent(self.form.text("task_type")))
        self.set_notice(f"The task {task.name} was created.")
        return f"/tasks/{task.id}"


class NewTaskPreviewPage(TaskEditor):
    @requires(OPERATOR, consumes=FORM, changes=False)
    async def post(self) -> None:
        """Show what a new task would do; nothing is saved."""
        await self.show_preview(None)


class EditTaskPage(TaskEditor):
    @requires(OPERATOR)
    async def get(self, task_id: str) -> None:
        """Show the form of a task."""
        await self.edit(await self.task(task_id))

    @requires(OPERATOR, consumes=FORM)
    async def post(self, task_id: str) -> None:
        """Change a task."""
        task = await self.task(task_id)
        await self.submit(self._save(task), again=lambda: self.edit(task))

    async def _save(self, task: Task) -> str:
        changes = changed_fields(task, self.sent(task.task_type))
        if changes:
            only_if = self.if_unchanged(editable_tag)
            await self.tasks.update(self.caller, task.id, changes, only_if=only_if)
            self.set_notice(f"The task {changes.get('name', task.name)} was saved.")
        return f"/tasks/{task.id}"


class EditTaskPreviewPage(TaskEditor):
    @requires(OPERATOR, consumes=FORM, changes=False)
    async def post(self, task_id: str) -> None:
        """Show what the task would do with these changes; nothing is saved."""
        await self.show_preview(await self.task(task_id))


def editable_tag(task: Task) -> str:
    """Return a tag of the fields that the form shows: it does not change while the task only runs."""
    fields: Mapping[str, Any] = {
        name: getattr(task, name) for name in (*Draft.__dataclass_fields__, "parameters")
    }
    return tag_of([json_values.encode(fields)])


PAGES = (
    Route(path="/tasks/new", handler=NewTaskPage),
    Route(path="/tasks/preview", handler=NewTaskPreviewPage),
    Route(path="/tasks/:id/edit", handler=EditTaskPage),
    Route(path="/tasks/:id/preview", handler=EditTaskPreviewPage),
)

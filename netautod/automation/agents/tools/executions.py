"""Tools for executions: what ran, how it ended, its log and its results."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from marshmallow import fields, validate

from netautod.automation.agents.tools.contract import Arguments, Calling, Tool, rows
from netautod.core.errors import NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bases import Id, Integer
from netautod.plugin_api import DeviceResult, ToolOutcome

OPERATE = "tasks.operate"
STATES = ("pending", "running", "completed", "failed", "cancelled", "timeout", "approval_pending")
SHOWN_RESULTS = 100
LOG_LINES = 200


class Executions(Protocol):
    """The methods of executions that the tools use."""

    async def page(self, org_id: OrgId, filters: Mapping[str, Any], page: Page) -> PageOf[Any]: ...

    async def get(self, org_id: OrgId, execution_id: str) -> Any | None: ...


class Results(Protocol):
    async def page(
        self, org_id: OrgId, execution_id: str, page: Page, *, success: bool | None = None
    ) -> PageOf[DeviceResult]: ...


class Logs(Protocol):
    async def read(self, org_id: OrgId, execution_id: str, after_seq: int, limit: int) -> Sequence[Any]: ...


class ListArguments(Arguments):
    task_id = Id()
    state = fields.String(validate=validate.OneOf(STATES))
    limit = Integer(load_default=20, validate=validate.Range(1, 100))


class ReadArguments(Arguments):
    execution_id = Id(required=True)
    after_seq = Integer(
        load_default=0,
        validate=validate.Range(0, 10**9),
        metadata={"description": "The number of the log line behind which to begin."},
    )


class ExecutionTools:
    def __init__(self, *, executions: Executions, results: Results, logs: Logs) -> None:
        self._executions = executions
        self._results = results
        self._logs = logs

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="list_executions",
                description="Lists executions of tasks (backups, agents), newest first.",
                permission=OPERATE,
                parameters=ListArguments,
                run=self._list,
            ),
            Tool(
                name="read_execution",
                description="Reads an execution: its end, its results by device (failures first), its log.",
                permission=OPERATE,
                parameters=ReadArguments,
                run=self._read,
            ),
        )

    async def _list(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        filters = {name: value for name, value in arguments.items() if name != "limit"}
        page = Page(limit=arguments["limit"], offset=0)
        found = await self._executions.page(calling.work.org_id, filters, page)
        shown = [item.to_list_item() for item in found.items]
        return ToolOutcome(text=rows(f"{found.total} executions:", shown), source="executions")

    async def _read(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        org_id, execution_id = calling.work.org_id, arguments["execution_id"]
        found = await self._executions.get(org_id, execution_id)
        if found is None:
            raise NotFound("Execution not found")
        page = Page(limit=SHOWN_RESULTS, offset=0)
        results = await self._results.page(org_id, execution_id, page)
        log = await self._logs.read(org_id, execution_id, arguments["after_seq"], LOG_LINES)
        text = "\n".join(
            [
                rows("execution:", [found.to_list_item()]),
                rows(f"{results.total} results:", [_result(one) for one in results.items]),
                "log:",
                *(f"{entry.seq} {entry.level}: {entry.message}" for entry in log),
            ]
        )
        return ToolOutcome(text=text, source=f"execution {execution_id}")


def _result(one: DeviceResult) -> Mapping[str, Any]:
    return {
        "device_name": one.device_name,
        "success": one.success,
        "changed": one.changed,
        "version": one.version,
        "error_kind": one.error_kind,
        "error": one.error,
    }

"""The history of an organization's executions, as clients request it.

A search without a text is the list of executions. A search with a text reads the 50,000 newest executions
that the other filters leave: `since` and `until` lead further back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from netautod.automation.executions.history.models import AgentRun, UsageCounts
from netautod.automation.executions.history.store import ExecutionHistoryStore
from netautod.automation.executions.models import Execution
from netautod.automation.executions.service import ExecutionService
from netautod.automation.tasks.models import AGENT_TASK
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf


class Transcripts(Protocol):
    """The reader of what agents have done."""

    async def usages(self, org_id: OrgId, execution_ids: Sequence[str]) -> Mapping[str, UsageCounts]: ...

    async def transcript(self, org_id: OrgId, execution_id: str) -> list[dict[str, Any]]: ...


class ExecutionHistory:
    def __init__(
        self, *, store: ExecutionHistoryStore, executions: ExecutionService, agents: Transcripts
    ) -> None:
        self._store = store
        self._executions = executions
        self._agents = agents

    async def agent_runs(self, org_id: OrgId, limit: int) -> list[AgentRun]:
        """List the executions of agent tasks, newest first, each with its progress."""
        found = await self._store.agent_runs(org_id, limit)
        usages = await self._agents.usages(org_id, [run.id for run in found])
        return [run.used(usages[run.id]) if run.id in usages else run for run in found]

    async def transcript(self, execution: Execution) -> list[dict[str, Any]]:
        """Return what the agent said and did, step by step.

        The transcript of a plugin's own executor, if it returned one, comes out of its output.
        """
        kept = await self._agents.transcript(execution.org_id, execution.id)
        transcript = execution.output.get("transcript") if isinstance(execution.output, Mapping) else None
        return kept or (transcript if isinstance(transcript, list) else [])

    async def search(
        self, org_id: OrgId, filters: Mapping[str, Any], text: str | None, page: Page
    ) -> PageOf[Execution]:
        """Search executions for `text` in the task's name or the error, newest first.

        None: list all. Raises InvalidInput.
        """
        if not text:
            return await self._executions.page(org_id, filters, page)
        self._executions.check_filters(filters)
        return await self._store.search(org_id, filters, text, page)

    async def search_agents(
        self, org_id: OrgId, filters: Mapping[str, Any], text: str | None, page: Page
    ) -> tuple[PageOf[Execution], dict[str, str | None]]:
        """Search the executions of agent tasks as `search`; return their prompts by execution id, too."""
        found = await self.search(org_id, {**filters, "task_type": AGENT_TASK}, text, page)
        return found, await self._executions.prompts(org_id, found.items)

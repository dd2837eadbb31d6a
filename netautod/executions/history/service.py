"""The history of an organization's executions, as clients ask for it.

A search without a text is the list of executions. One with a text looks at the 50,000 newest executions that
the other filters leave: `since` and `until` lead further back.
"""

from collections.abc import Mapping
from typing import Any

from netautod.core.identity import OrgId
from netautod.core.pages import Page, PageOf
from netautod.executions.history.models import AgentRun
from netautod.executions.history.store import ExecutionHistoryStore
from netautod.executions.models import Execution
from netautod.executions.service import ExecutionService


class ExecutionHistory:
    def __init__(self, *, store: ExecutionHistoryStore, executions: ExecutionService) -> None:
        self._store = store
        self._executions = executions

    async def agent_runs(self, org_id: OrgId, limit: int) -> list[AgentRun]:
        """Executions of agent tasks, newest first."""
        return await self._store.agent_runs(org_id, limit)

    async def search(
        self, org_id: OrgId, filters: Mapping[str, Any], text: str | None, page: Page
    ) -> PageOf[Execution]:
        """Newest first: those with `text` in the task's name or the error; None: all. Raises InvalidInput."""
        if not text:
            return await self._executions.page(org_id, filters, page)
        self._executions.check_filters(filters)
        return await self._store.search(org_id, filters, text, page)

"""Reads of the history of executions, each along an index and bounded."""

import re
from collections.abc import Mapping
from typing import Any

from netautod.automation.executions.history.models import AgentRun
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.documents import to_execution
from netautod.automation.executions.store import COLLECTION, LIST_FIELDS, NEWEST_FIRST, where_of
from netautod.automation.tasks.models import AGENT_TASK
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.network.configs.texts.tokens import without_tokens_within
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

# A search reads at most so many executions, the newest of those that the other filters leave.
SEARCHED = 50_000
SEARCHED_FIELDS = ("task_name", "error_message")
AGENT_OUTPUT = ("final_answer", "iterations_used", "tool_calls_made")
AGENT_FIELDS = (
    *("task_id", "state", "error_message", "started_at", "completed_at", "parameters.prompt"),
    *(f"output.{name}" for name in AGENT_OUTPUT),
)


class ExecutionHistoryStore:
    def __init__(self, database: Database) -> None:
        self._executions = scoped(database, COLLECTION)

    async def agent_runs(self, org_id: OrgId, limit: int) -> list[AgentRun]:
        """List the runs of agents, newest first.

        Of the output only what is shown leaves the database.
        """
        found = await self._executions.find(
            org_id,
            {"task_type": AGENT_TASK},
            fields=dict.fromkeys(AGENT_FIELDS, 1),
            sort=NEWEST_FIRST,
            limit=limit,
        )
        return [_agent_run(document) for document in found]

    async def search(
        self, org_id: OrgId, filters: Mapping[str, Any], text: str, page: Page
    ) -> PageOf[Execution]:
        """Search for the text in the searched fields, ignoring case, newest first.

        One pass reads page and total, so that they belong together.
        """
        pattern = {"$regex": re.escape(text), "$options": "i"}
        pipeline: list[Mapping[str, Any]] = [
            {"$match": where_of(filters)},
            {"$sort": dict(NEWEST_FIRST)},
            {"$limit": SEARCHED},
            {"$project": LIST_FIELDS},
            {"$match": {"$or": [{field: pattern} for field in SEARCHED_FIELDS]}},
            {
                "$facet": {
                    "counted": [{"$count": "total"}],
                    "items": [{"$skip": page.offset}, {"$limit": page.limit}],
                }
            },
        ]
        found = (await self._executions.aggregate(org_id, pipeline))[0]
        total = found["counted"][0]["total"] if found["counted"] else 0
        items = [to_execution({"attempts": [], **document}) for document in found["items"]]
        return PageOf(items=items, total=total, page=page)


def _agent_run(document: Document) -> AgentRun:
    output = without_tokens_within(document.get("output"))
    output = output if isinstance(output, Mapping) else {}
    answer = output.get("final_answer")
    return AgentRun(
        id=document["_id"],
        task_id=document["task_id"],
        state=document["state"],
        prompt=document["parameters"].get("prompt", ""),
        answer=answer if isinstance(answer, str) else None,
        iterations=_count(output.get("iterations_used")),
        tool_calls=_count(output.get("tool_calls_made")),
        error_message=document["error_message"],
        started_at=document["started_at"],
        completed_at=document["completed_at"],
    )


def _count(value: Any) -> int:
    """Return the number, or 0 if it is none: an executor's output may hold anything."""
    return value if type(value) is int else 0

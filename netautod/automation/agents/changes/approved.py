"""Calls of tools that write: each waits for an approval, which is used up before anything is done."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from netautod.automation.agents.approvals import CHANGED, UNKNOWN, Approval, approval_hash
from netautod.automation.agents.runs import AgentServices, DeskRun
from netautod.automation.agents.tools.contract import Calling, Tool, bound_of
from netautod.core.errors import NetautodError
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import (
    AgentTool,
    ApprovalWanted,
    ExecutionFailed,
    PermanentFailure,
    ToolOutcome,
    WritingTool,
)

logger = logging.getLogger(__name__)


def refusal(text: str) -> ToolOutcome:
    """Build the result that the model gets of a call that was not made, or that failed."""
    return ToolOutcome(text=f"error: {text}", source="error", ok=False)


class ApprovedCalls:
    """The calls of tools that write, within one attempt.

    `approval_used`: the run has used up an approval. `under_way`: the result of a call is unknown now.
    """

    def __init__(self, *, services: AgentServices, work: Work, run: DeskRun) -> None:
        self._services = services
        self._work = work
        self._run = run
        self.approval_used = False
        self.under_way = False

    async def made(
        self, tool: AgentTool, arguments: Mapping[str, Any], calling: Calling, approval: Approval | None
    ) -> ToolOutcome:
        """Make a call once it is approved.

        Raises ApprovalWanted while nothing is decided, PermanentFailure when the result of the call is
        unknown.
        """
        writing = cast(WritingTool, tool)
        if approval is None:
            plan = await writing.plan(arguments, calling)
            shown = approval_hash(tool.name, arguments, plan.bound)
            request = {**plan.request, "tool": tool.name, "tool_call_id": calling.call_id, "hash": shown}
            raise ApprovalWanted(request, state=self._run.saved())
        if not approval.approved:
            comment = f": {approval.decision.comment}" if approval.decision.comment else ""
            return refusal(f"{approval.decision.by} has rejected this{comment}")
        bound = await bound_of(writing, arguments, calling)
        if approval_hash(tool.name, arguments, bound) != approval.hash:
            return refusal(CHANGED)
        await self._use_up(tool.name, calling)
        return await self._performed(tool, arguments, replace(calling, approved=bound))

    async def mark(self, begins: bool) -> None:
        """Store with the execution that a change begins or ends, so that the error of an ended run can say
        so.
        """
        unclear = self._services.mark_unclear
        await self._work.persist(partial(unclear, self._work.org_id, self._run.execution_id, unclear=begins))
        self.under_way = begins

    async def _use_up(self, tool: str, calling: Calling) -> None:
        """Use up the approval: a later call with it cannot know the result of this one."""
        calling.work.guard()
        self.approval_used = True
        now, begin = self._services.clock.now(), self._services.begin_change
        if not await begin(calling.work.org_id, calling.execution_id, calling.call_id, {"tool": tool}, now):
            raise PermanentFailure(f"{UNKNOWN}: the call {calling.call_id} of {tool} was begun before")

    async def _performed(
        self, tool: AgentTool, arguments: Mapping[str, Any], calling: Calling
    ) -> ToolOutcome:
        """Call the tool.

        A tool of the product marks itself while its result is unknown; a plugin's tool counts as unknown
        throughout.
        """
        own = isinstance(tool, Tool)
        if not own:
            await self.mark(True)
        try:
            outcome = await tool.call(arguments, calling)
        except (PermanentFailure, LeaseLostError):
            raise
        except Exception as error:
            if not self.under_way:  # nothing was sent
                raise
            logger.exception("the tool %s failed in the middle of a change", tool.name)
            reason = f": {error.text}" if isinstance(error, NetautodError | ExecutionFailed) else ""
            raise PermanentFailure(f"{UNKNOWN}: the tool {tool.name} failed{reason}") from error
        if not own:
            await self.mark(False)
        return outcome

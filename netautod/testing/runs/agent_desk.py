"""The desk of an agent's run without a server: a model, tools and a transcript in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.automation.agents.approvals import approval_of
from netautod.automation.agents.desk import Desk
from netautod.automation.agents.models import Chained
from netautod.automation.agents.runs import AgentServices, DeskRun
from netautod.automation.executions.models import Execution
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.work.context import Work
from netautod.plugin_api import Acting, AgentTool, ModelBackend
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry


class KeptTranscripts:
    """The transcripts of one execution, over its attempts."""

    def __init__(self, kept: Iterable[Chained] = ()) -> None:
        self.events = list(kept)

    async def append(self, org_id: OrgId, execution_id: str, one: Chained) -> None:
        self.events.append(one)

    async def read(self, org_id: OrgId, execution_id: str) -> Sequence[Chained]:
        return list(self.events)


def desk_of(
    work: Work,
    execution: Execution,
    *,
    model: ModelBackend | None,
    tools: Iterable[AgentTool],
    transcripts: KeptTranscripts,
    acting: Callable[[Work], Acting],
    http: GuardedClient,
) -> Desk:
    """Build a desk with these tools alone: those of the service need its database."""

    async def owner(org_id: OrgId, user_id: str) -> Caller | None:
        return work.caller

    async def briefing(org_id: OrgId) -> str:
        return "an organization of a test"

    recorded_calls: set[str] = set()

    async def begin_change(
        org_id: OrgId, execution_id: str, call_id: str, details: Mapping[str, Any], at: datetime
    ) -> bool:
        """Record the change in memory, as long as this desk exists."""
        before = call_id in recorded_calls
        recorded_calls.add(call_id)
        return not before

    async def mark_unclear(org_id: OrgId, execution_id: str, *, unclear: bool) -> None:
        """Do nothing: a run without a server has no row."""

    platforms = PlatformRegistry()
    services = AgentServices(
        model=model,
        tools={tool.name: tool for tool in tools},
        transcripts=transcripts,
        owner=owner,
        acting=acting,
        briefing=briefing,
        begin_change=begin_change,
        mark_unclear=mark_unclear,
        redact=lambda text: redact(text, platforms.for_readers),
        http=http,
        clock=SystemClock(),
    )
    run = DeskRun(
        execution_id=execution.id,
        owner_id=execution.owner_id,
        scope=execution.scope,
        approval=approval_of(execution.approval_request, execution.approval),
    )
    return Desk(services=services, work=work, run=run.restored(execution.resume))

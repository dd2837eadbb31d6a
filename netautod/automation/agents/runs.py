"""The parts of a desk: the services that all runs share, and what it must know of its own run."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self

from netautod.automation.agents.approvals import Approval
from netautod.automation.agents.models import Chained
from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.work.context import Work
from netautod.plugin_api import Acting, AgentTool, ModelBackend, ToolCall
from netautod.transport.outbound.client import GuardedClient


class Transcripts(Protocol):
    """The methods of the transcript store that a desk uses."""

    async def append(self, org_id: OrgId, execution_id: str, one: Chained) -> None: ...

    async def read(self, org_id: OrgId, execution_id: str) -> Sequence[Chained]: ...


class BeginChange(Protocol):
    """A function that uses up the approval of a call; it returns False if that was done before."""

    async def __call__(
        self, org_id: OrgId, execution_id: str, call_id: str, details: Mapping[str, Any], at: datetime
    ) -> bool: ...


class MarkUnclear(Protocol):
    """A function that stores whether an execution is in the middle of a change."""

    async def __call__(self, org_id: OrgId, execution_id: str, *, unclear: bool) -> None: ...


@dataclass(frozen=True, kw_only=True)
class AgentServices:
    """The services that all runs of agents share.

    `owner` returns the caller that a task's owner is now, None for a disabled or deleted user. `redact` hides
    what may be a secret. `briefing` describes what an organization has.
    """

    model: ModelBackend | None
    tools: Mapping[str, AgentTool]
    transcripts: Transcripts
    owner: Callable[[OrgId, str], Awaitable[Caller | None]]
    acting: Callable[[Work], Acting]
    briefing: Callable[[OrgId], Awaitable[str]]
    begin_change: BeginChange
    mark_unclear: MarkUnclear
    redact: Callable[[str], str]
    http: GuardedClient
    clock: Clock


@dataclass(kw_only=True, eq=False)
class DeskRun:
    """The facts about one run that its desk needs.

    `exact` are the calls of the last turn as the model wrote them, by their ids: the transcript hides what
    may be a secret. They are saved with a run that is parked.
    """

    execution_id: str
    owner_id: str
    scope: Sequence[str] | None
    approval: Approval | None
    exact: dict[str, ToolCall] = field(default_factory=dict)

    def approval_of(self, call_id: str) -> Approval | None:
        found = self.approval
        return found if found is not None and found.call_id == call_id else None

    def saved(self) -> dict[str, Any]:
        """Return JSON for `restore`."""
        calls = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in self.exact.values()]
        return {"calls": calls}

    def restored(self, saved: Any) -> Self:
        if isinstance(saved, Mapping):
            self.exact = {call["id"]: ToolCall(**call) for call in saved.get("calls", ())}
        return self

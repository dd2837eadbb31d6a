"""The parts of agent tasks: model back ends, the transcript, and the desk that an agent works at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, Protocol

from netautod.transport.outbound.client import GuardedClient

Role = Literal["system", "user", "assistant", "tool"]


class ModelFailed(Exception):
    """The model did not answer; `transient`: the same request may be answered later."""

    def __init__(self, text: str, *, transient: bool) -> None:
        super().__init__(text)
        self.text = text
        self.transient = transient


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call that the model wants; `arguments` is JSON as the model wrote it, or what it took for JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class ModelMessage:
    """A message of the conversation; `tool_call_id` is that of the call which a tool's message answers."""

    role: Role
    text: str
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolDescription:
    """A tool as it is described to the model; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """A turn of the model: calls of tools, or without any its final answer. Tokens as the model counts."""

    text: str
    tool_calls: Sequence[ToolCall]
    model: str
    input_tokens: int
    output_tokens: int


class ModelBackend(Protocol):
    """A client of a language model. `name` tells several registered ones apart."""

    name: ClassVar[str]

    async def complete(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolDescription], http: GuardedClient
    ) -> ModelReply:
        """Return the next turn; `http` is the only way to make requests. Raises ModelFailed."""
        ...


@dataclass(frozen=True, kw_only=True)
class TranscriptEvent:
    """A step of an agent's run. Texts are redacted; `result` is what the model got."""

    seq: int
    at: datetime
    role: str
    text: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    tool: str | None = None
    arguments: str | None = None
    result: str | None = None
    ok: bool | None = None
    source: str | None = None
    first_line: int | None = None
    lines: int | None = None
    documents: Sequence[str] = ()
    device_ids: Sequence[str] = ()
    duration_ms: int | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    approval: Mapping[str, Any] | None = None
    actor: str | None = None


class AgentDesk(Protocol):
    """The desk of an agent: it keeps the transcript, and does what the model requests, if that is allowed."""

    @property
    def model(self) -> ModelBackend | None:
        """The back end to use; None if none is configured."""
        ...

    async def briefing(self) -> str:
        """Return what there is in the organization, for the system prompt."""
        ...

    def tools(self) -> Sequence[ToolDescription]:
        """Return the tools that the owner of the task may use."""
        ...

    async def events(self) -> Sequence[TranscriptEvent]:
        """Return the transcript so far, that of earlier attempts included."""
        ...

    async def say(self, role: Role, text: str) -> TranscriptEvent:
        """Add a message to the transcript."""
        ...

    async def replied(self, reply: ModelReply, duration_ms: int) -> TranscriptEvent:
        """Add a turn of the model to the transcript."""
        ...

    async def call(self, call: ToolCall, admit: Callable[[str], None]) -> TranscriptEvent:
        """Make the call and add its result to the transcript; a refusal is a result, too.

        Raises ApprovalWanted for one that has to be approved first; PermanentFailure when the outcome of a
        change is unknown. `admit` is called with the id of each device before it is visited, and what it
        raises is passed on.
        """
        ...

    async def stopped(self, reason: str) -> None:
        """Add to the transcript why the run ends without an answer."""
        ...


class ApprovalWanted(Exception):
    """A tool call that waits for an approval; both values are meant for NeedsApproval."""

    def __init__(self, request: Mapping[str, Any], *, state: Any) -> None:
        super().__init__("approval needed")
        self.request = request
        self.state = state

"""The contract of agents' tools, and what they are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from marshmallow import Schema

from netautod.plugin_api.executors.contract import Acting
from netautod.transport.outbound.client import GuardedClient

ToolKind = Literal["read", "write", "forbidden"]


class ToolContext(Protocol):
    """The context of a plugin's tool."""

    @property
    def org_id(self) -> str:
        """The organization of the task."""
        ...

    @property
    def acting(self) -> Acting:
        """The product's services, with the rights that the owner of the task has at this moment."""
        ...

    @property
    def http(self) -> GuardedClient: ...

    def admit(self, device_id: str) -> None:
        """Count a device against the budget of devices; call it before the device is visited."""
        ...


@dataclass(frozen=True, kw_only=True)
class ToolOutcome:
    """The result of a tool. Its text is data for the model: it is redacted, cut and numbered before it goes
    out.

    `source` says what the lines are (`config of core-1 v12`), `first_line` the number of the first one there.
    `documents` are the ids of those that were written.
    """

    text: str
    source: str = ""
    first_line: int = 1
    ok: bool = True
    documents: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ToolPlan:
    """A plan of a tool that writes: what approvers are shown, and what it is bound to.

    The approval holds only as long as both are the same when the call is made.
    """

    request: Mapping[str, Any]
    bound: Mapping[str, Any] = field(default_factory=dict)


class AgentTool(Protocol):
    """A tool for agents. `kind`: a `read` tool changes nothing, a `write` tool is called after an approval
    only, a `forbidden` one never (it takes the place of one with the same name).

    `permission` is what the owner of the task needs at the time of the call; None: nothing more.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def kind(self) -> ToolKind: ...

    @property
    def permission(self) -> str | None: ...

    @property
    def parameters(self) -> type[Schema]: ...

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        """Call the tool. `arguments` as the schema has loaded them. Errors of the product and DeviceFailed
        may pass.
        """
        ...


class WritingTool(AgentTool, Protocol):
    """A tool of the kind `write`.

    Its approval is used up before `call`. What `call` raises means that its result is not known, and
    ends the run; what is known to have failed is a ToolOutcome that is not `ok`.
    """

    async def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolPlan:
        """Plan without changing anything. What it raises is the answer to the model: there is no approval
        then.
        """
        ...

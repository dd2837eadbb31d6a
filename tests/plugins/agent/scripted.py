"""A model of a unit test that says what the test tells it to, and tools that remember their calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from marshmallow import Schema, fields

from netautod.plugin_api import (
    GuardedClient,
    ModelFailed,
    ModelMessage,
    ModelReply,
    ToolCall,
    ToolContext,
    ToolDescription,
    ToolOutcome,
    ToolPlan,
)
from netautod.plugin_api.tools import ToolKind

Reply = str | list[ToolCall] | Exception


def call(name: str, arguments: str = "{}", *, id: str = "c1") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


@dataclass(kw_only=True, eq=False)
class ScriptedModel:
    """A model that answers `script`, then `otherwise`. `conversations` are the conversations that it got."""

    name: ClassVar[str] = "scripted"
    script: list[Reply] = field(default_factory=list)
    otherwise: Reply = "That is all."
    conversations: list[Sequence[ModelMessage]] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    tokens: int = 1

    async def complete(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolDescription], http: GuardedClient
    ) -> ModelReply:
        self.conversations.append(list(messages))
        self.offered = [tool.name for tool in tools]
        reply = self.script.pop(0) if self.script else self.otherwise
        if isinstance(reply, Exception):
            raise reply
        text, calls = (reply, []) if isinstance(reply, str) else ("", reply)
        return ModelReply(
            text=text, tool_calls=calls, model="m", input_tokens=self.tokens, output_tokens=self.tokens
        )

    def tool_results(self) -> dict[str | None, str]:
        """Return the results of tools in the last conversation."""
        return {one.tool_call_id: one.text for one in self.conversations[-1] if one.role == "tool"}


class NoParameters(Schema):
    pass


class TextParameters(Schema):
    text = fields.String(required=True)


@dataclass(kw_only=True, eq=False)
class Tool:
    """A tool; `says` is what it returns, raises, or makes of its arguments."""

    name: str = "look"
    description: str = "Looks."
    kind: ToolKind = "read"
    permission: str | None = None
    parameters: type[Schema] = NoParameters
    says: str | Exception | Callable[[Mapping[str, Any], ToolContext], str] = "seen"
    source: str = ""
    bound: dict[str, Any] = field(default_factory=dict)
    calls: list[Mapping[str, Any]] = field(default_factory=list)

    async def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolPlan:
        return ToolPlan(request={"text": "may it?"}, bound=dict(self.bound))

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        self.calls.append(arguments)
        if isinstance(self.says, Exception):
            raise self.says
        text = self.says if isinstance(self.says, str) else self.says(arguments, context)
        return ToolOutcome(text=text, source=self.source)


def transient() -> ModelFailed:
    return ModelFailed("busy", transient=True)

"""The tools of the product as values: what the desk calls, and what such a call gets."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import RAISE, Schema, fields, validate

from netautod.core.errors import NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.schema.bases import uuid_or_none
from netautod.core.work.context import Work
from netautod.network.devices.models import Device, DeviceFilter
from netautod.network.devices.service import NOT_FOUND, DeviceService
from netautod.plugin_api import Acting, ToolOutcome, ToolPlan, WritingTool
from netautod.plugin_api.tools import ToolKind
from netautod.transport.outbound.client import GuardedClient


class Arguments(Schema):
    """The base of tool arguments.

    An unknown argument is refused: the model may have meant something by it.
    """

    class Meta:
        unknown = RAISE


class DeviceArguments(Arguments):
    device = fields.String(
        required=True,
        validate=validate.Length(min=1, max=255),
        metadata={"description": "The name or id of the device."},
    )


@dataclass(frozen=True, kw_only=True)
class Calling:
    """A call of a tool: the `ToolContext` of plugins, and `work` in the owner's name for the product's own
    tools.

    Await `writing(True)` before a device is changed and `writing(False)` once the result is known: a run that
    ends in between reports an unknown result. `approved` is what the approval of the call is bound to, empty
    for a call that needs none.
    """

    work: Work
    acting: Acting
    http: GuardedClient
    admitted: Callable[[str], None]
    execution_id: str
    call_id: str
    writing: Callable[[bool], Awaitable[None]]
    approved: Mapping[str, Any] = field(default_factory=dict)

    @property
    def org_id(self) -> str:
        return self.work.caller.org_id

    def admit(self, device_id: str) -> None:
        self.admitted(device_id)


Run = Callable[[Mapping[str, Any], Calling], Awaitable[ToolOutcome]]
Bound = Callable[[Mapping[str, Any], Calling], Awaitable[Mapping[str, Any]]]
Plan = Callable[[Mapping[str, Any], Calling], Awaitable[ToolPlan]]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """An `AgentTool`, made of functions."""

    name: str
    description: str
    permission: str | None
    run: Run
    parameters: type[Schema] = Arguments
    kind: ToolKind = "read"
    planned: Plan | None = None
    bound: Bound | None = None

    async def call(self, arguments: Mapping[str, Any], context: Any) -> ToolOutcome:
        return await self.run(arguments, context)

    async def plan(self, arguments: Mapping[str, Any], context: Any) -> ToolPlan:
        assert self.planned is not None  # only tools of the kind `write` are planned
        return await self.planned(arguments, context)


async def bound_of(tool: WritingTool, arguments: Mapping[str, Any], calling: Calling) -> Mapping[str, Any]:
    """Return the targets and values that an approval of the call would be bound to now."""
    if isinstance(tool, Tool) and tool.bound is not None:
        return await tool.bound(arguments, calling)
    return (await tool.plan(arguments, calling)).bound


class Toolbox(Protocol):
    """The tools of one theme."""

    def tools(self) -> "Sequence[Tool]": ...


class DeviceFinder:
    """A finder of devices by the names that people and models use."""

    def __init__(self, devices: DeviceService) -> None:
        self._devices = devices

    async def find(self, org_id: OrgId, text: str) -> Device:
        """Find a device by name or id. Raises NotFound."""
        device_id = uuid_or_none(text) or await self._id_of(org_id, text)
        if device_id is None:
            raise NotFound(NOT_FOUND)
        return await self._devices.get(org_id, device_id)

    async def _id_of(self, org_id: OrgId, name: str) -> str | None:
        named: AsyncIterator[Sequence[Any]] = self._devices.names_in_order(org_id, DeviceFilter(q=name))
        async for batch in named:
            for device in batch:
                if device.name == name:
                    return str(device.id)
        return None


def rows(head: str, found: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each row, so that an answer can cite the one it means."""
    return "\n".join([head, *(json.dumps(row, ensure_ascii=False, default=str) for row in found)])


@lru_cache(maxsize=256)
def json_schema(parameters: type[Schema]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    plugin = MarshmallowPlugin(schema_name_resolver=lambda schema: "")
    APISpec(title="tools", version="1", openapi_version="3.1.0", plugins=[plugin])
    assert plugin.converter is not None  # set when the specification registers the plugin
    found: dict[str, Any] = plugin.converter.schema2jsonschema(parameters)  # type: ignore[no-untyped-call]  # of apispec
    return {"type": "object", "properties": {}, **found, "additionalProperties": False}

"""Tools for the inventory and for what polls found out."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from marshmallow import ValidationError, fields, validate, validates_schema

from netautod.automation.agents.tools.contract import (
    Arguments,
    Calling,
    DeviceArguments,
    DeviceFinder,
    Tool,
    rows,
)
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.core.schema.bases import Integer
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.service import DeviceService
from netautod.plugin_api import ToolOutcome

READ = "devices.access"
TABLES = ("interfaces", "neighbors", "mac", "arp", "vlans", "status")
SHOWN = ("id", "name", "host", "device_type", "site", "manufacturer", "model", "tags")


class Shown(Protocol):
    def to_json(self) -> dict[str, Any]: ...


class Table(Protocol):
    @property
    def rows(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def total(self) -> int: ...


class Discovery(Protocol):
    """The methods of discovered data that the tools use."""

    async def table(self, org_id: OrgId, device_id: str, name: str, *, limit: int | None = None) -> Table: ...

    async def neighbors(self, org_id: OrgId, device_id: str) -> Table: ...

    async def status(self, org_id: OrgId, device_id: str) -> Shown: ...

    async def topology(self, org_id: OrgId) -> Shown: ...

    async def find(
        self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None
    ) -> Sequence[Mapping[str, Any]]: ...


class ListArguments(Arguments):
    q = fields.String(metadata={"description": "A part of the name or of the host."})
    site = fields.String()
    device_type = fields.String()
    tag = fields.String()
    limit = Integer(load_default=50, validate=validate.Range(1, 100))
    offset = Integer(load_default=0, validate=validate.Range(0, 1_000_000))


class TableArguments(DeviceArguments):
    table = fields.String(required=True, validate=validate.OneOf(TABLES))
    limit = Integer(load_default=200, validate=validate.Range(1, 500))


class FindArguments(Arguments):
    mac = fields.String()
    ip = fields.String()

    @validates_schema
    def one_of_both(self, data: Mapping[str, Any], **_: Any) -> None:
        if len(data) != 1:
            raise ValidationError("either mac or ip is needed")


class InventoryTools:
    def __init__(self, *, devices: DeviceService, discovery: Discovery) -> None:
        self._devices = devices
        self._discovery = discovery
        self._finder = DeviceFinder(devices)

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="list_devices",
                description="Lists devices of the inventory by name, one line of JSON each.",
                permission=READ,
                parameters=ListArguments,
                run=self._list,
            ),
            Tool(
                name="read_device",
                description="Reads all that the inventory says of a device.",
                permission=READ,
                parameters=DeviceArguments,
                run=self._read,
            ),
            Tool(
                name="read_discovered",
                description="Reads a table that the last poll of a device found: "
                "interfaces, LLDP/CDP neighbors, MAC or ARP entries, VLANs, or its status.",
                permission=READ,
                parameters=TableArguments,
                run=self._table,
            ),
            Tool(
                name="read_topology",
                description="Reads the links between devices, as their neighbor tables tell them.",
                permission=READ,
                run=self._topology,
            ),
            Tool(
                name="find_address",
                description="Says where a MAC or IP address was seen: device, interface, VLAN.",
                permission=READ,
                parameters=FindArguments,
                run=self._find,
            ),
        )

    async def _list(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        page = Page(limit=arguments["limit"], offset=arguments["offset"])
        narrowed = {name: value for name, value in arguments.items() if name not in ("limit", "offset")}
        found = await self._devices.page(calling.work.org_id, DeviceFilter(**narrowed), page)
        shown = [{name: item.to_json()[name] for name in SHOWN} for item in found.items]
        head = f"{found.total} devices, from {page.offset + 1}:"
        return ToolOutcome(text=rows(head, shown), source="inventory")

    async def _read(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        device = await self._finder.find(calling.work.org_id, arguments["device"])
        fields_of = [{name: value} for name, value in device.to_json().items() if value not in (None, [], {})]
        return ToolOutcome(
            text=rows(f"device {device.name}:", fields_of), source=f"inventory of {device.name}"
        )

    async def _table(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        org_id, name, limit = calling.work.org_id, arguments["table"], arguments["limit"]
        device = await self._finder.find(org_id, arguments["device"])
        source = f"{name} of {device.name}"
        if name == "status":
            status = (await self._discovery.status(org_id, device.id)).to_json()
            return ToolOutcome(text=rows(f"{source}:", [{key: status[key]} for key in status]), source=source)
        if name == "neighbors":
            table = await self._discovery.neighbors(org_id, device.id)
        else:
            table = await self._discovery.table(org_id, device.id, name, limit=limit)
        head = f"{table.total} rows, the first {min(limit, len(table.rows))}:"
        return ToolOutcome(text=rows(head, table.rows[:limit]), source=source)

    async def _topology(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        shown = (await self._discovery.topology(calling.work.org_id)).to_json()
        head = f"{len(shown['nodes'])} nodes, {len(shown['links'])} links:"
        names = {node["id"]: node["name"] for node in shown["nodes"]}
        links = [
            {
                end: {"name": names[link[end]["node"]], "interface": link[end]["interface"]}
                for end in ("a", "b")
            }
            for link in shown["links"]
        ]
        return ToolOutcome(text=rows(head, links), source="topology")

    async def _find(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        found = await self._discovery.find(calling.work.org_id, **arguments)
        what = next(iter(arguments.values()))
        return ToolOutcome(text=rows(f"{len(found)} matches:", found), source=f"sightings of {what}")

"""Queries and answers of the discovered-data routes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate, validates_schema

from netautod.core.net.device_addresses import ip_address, mac_address
from netautod.core.schema.bases import Answer, Boolean, Id, Query, QueryInteger, Request, Timestamp
from netautod.network.devices.schemas import ADDRESS_FORMS

TABLE_LIMIT, TABLE_CAP = 1000, 10_000
HISTORY_LIMIT, HISTORY_CAP = 50, 500
PROTOCOLS = ("lldp", "cdp")
POLL_STATES = ("queued", "running", "completed", "partial", "failed")


class TableQuery(Query):
    limit = QueryInteger(low=1, cap=TABLE_CAP, load_default=TABLE_LIMIT)


class PollHistoryQuery(Query):
    limit = QueryInteger(low=1, cap=HISTORY_CAP, load_default=HISTORY_LIMIT)


class PollRequest(Request):
    """A request for a poll. `detect`: the device type `generic` becomes the recognised platform."""

    detect = Boolean(load_default=False)


class QueryMac(fields.String):
    """A field for any usual form of a MAC address; loaded as `aa:bb:cc:dd:ee:ff`."""

    described: ClassVar[Mapping[str, Any]] = {
        "pattern": "^(?:[0-9A-Fa-f]{2}(?:(:[0-9A-Fa-f]{2}){5}|(-[0-9A-Fa-f]{2}){5})|"
        "[0-9A-Fa-f]{4}(?:([.][0-9A-Fa-f]{4}){2}|(-[0-9A-Fa-f]{4}){2})|[0-9A-Fa-f]{12})$"
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        found = mac_address(str(value))
        if found is None:
            raise ValidationError("Not a MAC address.")
        return found


class QueryAddress(fields.String):
    """An IPv4 or IPv6 address; loaded in its short form."""

    described: ClassVar[Mapping[str, Any]] = {"anyOf": [*ADDRESS_FORMS]}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        found = ip_address(str(value))
        if found is None:
            raise ValidationError("Not an IP address.")
        return found


class FindQuery(Query):
    mac = QueryMac()
    ip = QueryAddress()

    @validates_schema(skip_on_field_errors=True)
    def _one(self, data: Any, **kwargs: Any) -> None:
        if len(data) != 1:
            raise ValidationError("Exactly one of mac and ip is needed.")


class InterfaceAddress(Answer):
    address = fields.String()
    prefix_length = fields.Integer()


class InterfaceCounters(Answer):
    in_octets = fields.Integer(allow_none=True)
    out_octets = fields.Integer(allow_none=True)
    in_errors = fields.Integer(allow_none=True)
    out_errors = fields.Integer(allow_none=True)
    in_discards = fields.Integer(allow_none=True)
    out_discards = fields.Integer(allow_none=True)


class InterfaceAnswer(Answer):
    name = fields.String()
    description = fields.String(allow_none=True)
    type = fields.String(allow_none=True)
    admin_status = fields.String(allow_none=True)
    oper_status = fields.String(allow_none=True)
    speed_mbps = fields.Integer(allow_none=True)
    duplex = fields.String(allow_none=True)
    mtu = fields.Integer(allow_none=True)
    mac_address = fields.String(allow_none=True)
    ip_addresses = fields.List(fields.Nested(InterfaceAddress))
    vlan_id = fields.Integer(allow_none=True)
    lag = fields.String(allow_none=True)
    if_index = fields.Integer(allow_none=True)
    last_change_at = Timestamp(allow_none=True)
    counters = fields.Nested(InterfaceCounters)


class NeighborAnswer(Answer):
    local_interface = fields.String()
    protocol = fields.String(validate=validate.OneOf(PROTOCOLS))
    remote_system_name = fields.String(allow_none=True)
    remote_chassis_id = fields.String(allow_none=True)
    remote_port = fields.String(allow_none=True)
    remote_port_description = fields.String(allow_none=True)
    remote_platform = fields.String(allow_none=True)
    remote_mgmt_address = fields.String(allow_none=True)
    remote_capabilities = fields.List(fields.String())
    remote_device_id = Id(allow_none=True)


class MacEntryAnswer(Answer):
    mac_address = fields.String()
    vlan_id = fields.Integer(allow_none=True)
    interface = fields.String(allow_none=True)
    type = fields.String(allow_none=True)
    first_seen_at = Timestamp()
    last_seen_at = Timestamp()


class ArpEntryAnswer(Answer):
    ip_address = fields.String()
    mac_address = fields.String(allow_none=True)
    interface = fields.String(allow_none=True)
    vrf = fields.String(allow_none=True)
    type = fields.String(allow_none=True)
    first_seen_at = Timestamp()
    last_seen_at = Timestamp()


class VlanAnswer(Answer):
    vlan_id = fields.Integer()
    name = fields.String(allow_none=True)
    status = fields.String(allow_none=True)
    tagged_interfaces = fields.List(fields.String())
    untagged_interfaces = fields.List(fields.String())


class TableAnswer(Answer):
    """A table. `collected_at` is null for a device that was never polled."""

    total = fields.Integer()
    collected_at = Timestamp(allow_none=True)


class LimitedTableAnswer(TableAnswer):
    limit = fields.Integer()


class InterfacesAnswer(TableAnswer):
    interfaces = fields.List(fields.Nested(InterfaceAnswer))


class NeighborsAnswer(TableAnswer):
    neighbors = fields.List(fields.Nested(NeighborAnswer))


class MacTableAnswer(LimitedTableAnswer):
    entries = fields.List(fields.Nested(MacEntryAnswer))


class ArpTableAnswer(LimitedTableAnswer):
    entries = fields.List(fields.Nested(ArpEntryAnswer))


class VlansAnswer(TableAnswer):
    vlans = fields.List(fields.Nested(VlanAnswer))


class StatusAnswer(Answer):
    device_id = Id()
    reachable = fields.Boolean(allow_none=True)
    latency_ms = fields.Float(allow_none=True)
    sys_name = fields.String(allow_none=True)
    sys_descr = fields.String(allow_none=True)
    vendor = fields.String(allow_none=True)
    model = fields.String(allow_none=True)
    os_version = fields.String(allow_none=True)
    serial_number = fields.String(allow_none=True)
    uptime_seconds = fields.Integer(allow_none=True)
    cpu_percent = fields.Float(allow_none=True)
    memory_percent = fields.Float(allow_none=True)
    last_poll_state = fields.String(allow_none=True, validate=validate.OneOf(POLL_STATES))
    last_poll_error = fields.String(allow_none=True)
    last_success_at = Timestamp(allow_none=True)
    collected_at = Timestamp(allow_none=True)


class PollSources(Answer):
    """The transport that gave each table; null: it was not read."""

    status = fields.String(allow_none=True)
    interfaces = fields.String(allow_none=True)
    neighbors = fields.String(allow_none=True)
    mac = fields.String(allow_none=True)
    arp = fields.String(allow_none=True)
    vlans = fields.String(allow_none=True)


class PollAnswer(Answer):
    """A poll. `method`: the transport that gave most (`snmp`, `cli`, `eapi`, `netconf`, or that of a plugin),
    or `both` for SNMP with CLI.
    """

    id = Id()
    device_id = Id()
    state = fields.String(validate=validate.OneOf(POLL_STATES))
    method = fields.String(allow_none=True)
    sources = fields.Nested(PollSources)
    triggered_by = fields.String(validate=validate.OneOf(("manual", "schedule")))
    error = fields.String(allow_none=True)
    counts = fields.Dict(keys=fields.String(), values=fields.Integer())
    started_at = Timestamp(allow_none=True)
    completed_at = Timestamp(allow_none=True)
    duration_ms = fields.Integer(allow_none=True)


class PollHistoryAnswer(Answer):
    polls = fields.List(fields.Nested(PollAnswer))
    total = fields.Integer()
    limit = fields.Integer()


class QueuedPollAnswer(Answer):
    poll_id = Id()
    device_id = Id()
    state = fields.String(validate=validate.OneOf(("queued",)))


class NodeAnswer(Answer):
    """A device, or a neighbor that the inventory does not know: then `device_id` is null."""

    id = Id()
    device_id = Id(allow_none=True)
    name = fields.String(allow_none=True)
    platform = fields.String(allow_none=True)
    mgmt_address = fields.String(allow_none=True)


class LinkEndAnswer(Answer):
    node = fields.String()
    interface = fields.String(allow_none=True)


class LinkAnswer(Answer):
    a = fields.Nested(LinkEndAnswer)
    b = fields.Nested(LinkEndAnswer)
    protocols = fields.List(fields.String(validate=validate.OneOf(PROTOCOLS)))
    last_seen_at = Timestamp()


class TopologyAnswer(Answer):
    nodes = fields.List(fields.Nested(NodeAnswer))
    links = fields.List(fields.Nested(LinkAnswer))
    generated_at = Timestamp()


class MatchAnswer(Answer):
    device_id = Id()
    device_name = fields.String()
    interface = fields.String(allow_none=True)
    vlan_id = fields.Integer(allow_none=True)
    mac_address = fields.String(allow_none=True)
    ip_address = fields.String(allow_none=True)
    source = fields.String()
    last_seen_at = Timestamp()


class FindAnswer(Answer):
    matches = fields.List(fields.Nested(MatchAnswer))

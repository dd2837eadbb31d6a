"""Requests, queries and answers of /api/devices."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    Integer,
    JsonObject,
    Name,
    PageAnswer,
    PageQuery,
    QueryInteger,
    Request,
    ShortList,
    Text,
    Timestamp,
)
from netautod.network.devices.models import SSH, TELNET, USABLE, WAITS
from netautod.network.devices.records.hosts import NAME_PATTERN, is_host
from netautod.transport.ssh.profiles import PROFILES
from netautod.transport.ssh.shell.terminal import is_one_line

SOURCES = ("manual", "inventory", "csv")
PROTOCOLS = (SSH, TELNET)
STATES = (USABLE, WAITS)
DEVICE_TYPE = validate.Regexp(r"[a-z0-9_]{1,64}\Z", error="Must consist of a-z, 0-9 and _.")
PORT = validate.Range(1, 65535)
BROWSE_LIMIT = 1000
ADDRESS_FORMS = ({"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"})
PRINTED = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]"


class Label(Text):
    """An optional trimmed text; blank is the same as null."""

    def __init__(self, *, max_length: int = 255, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        tidy = value.strip() if isinstance(value, str) else value
        return super().deserialize(tidy, attr, data, **kwargs)


class Host(fields.String):
    """A field for a host name or an IP address."""

    described: ClassVar[Mapping[str, Any]] = {
        "maxLength": 253,
        "anyOf": [*ADDRESS_FORMS, {"type": "string", "pattern": NAME_PATTERN}],
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=_check_host, **options)


def _check_host(text: str) -> None:
    if not is_host(text):
        raise ValidationError("Must be a host name or an IP address.")


class Command(fields.String):
    """A field for one line without control characters, which could end it, or type more than it shows."""

    described: ClassVar[Mapping[str, Any]] = {"pattern": rf"^{PRINTED}*[^\s\x00-\x1f\x7f-\x9f]{PRINTED}*$"}

    def __init__(self, *, most: int, **options: Any) -> None:
        super().__init__(validate=[validate.Length(min=1, max=most), _check_command], **options)


def _check_command(text: str) -> None:
    if not text.strip():
        raise ValidationError("Must not be blank.")
    if not is_one_line(text):
        raise ValidationError("Line breaks and control characters are not allowed.")


class DeviceRequest(Request):
    """A request for a device. Null does not clear what has a default: port, protocol, tags, metadata and the
    like.
    """

    read_only = frozenset(
        {
            *("id", "org_id", "source", "inventory_id", "host_key_fingerprint", "credential_state"),
            *("created_at", "updated_at"),
        }
    )
    example: ClassVar[Mapping[str, Any]] = {"port": 22, "site": "Berlin", "tags": ["core"]}
    name = Name(required=True)
    host = Host(required=True)
    device_type = fields.String(required=True, validate=DEVICE_TYPE)
    port = Integer(validate=PORT)
    protocol = fields.String(validate=validate.OneOf(PROTOCOLS))
    description = Text()
    manufacturer = Label()
    model = Label()
    platform = Label()
    site = Label()
    site_id = Id(allow_none=True)
    serial_number = Label()
    asset_tag = Label()
    tags = ShortList(Name(max_length=128), most=200)
    metadata = JsonObject()
    default_credential_id = Id(allow_none=True)
    snmp_credential_id = Id(allow_none=True)
    automation_transport = Label(max_length=64)
    automation_port = Integer(allow_none=True, validate=PORT)
    automation_credential_id = Id(allow_none=True)
    poll_enabled = Boolean()
    poll_interval_minutes = Integer(allow_none=True, validate=validate.Range(1, 10080))
    connect_commands = ShortList(Command(most=1024), most=100)
    jump_device_id = Id(allow_none=True)
    ssh_profile = fields.String(validate=validate.OneOf(tuple(PROFILES)))


class DeviceQuery(PageQuery):
    device_type = fields.String(validate=DEVICE_TYPE)
    site = Label()
    source = fields.String(validate=validate.OneOf(SOURCES))
    tag = Label()
    q = Label()
    credential_state = fields.String(validate=validate.OneOf(STATES))


class BrowseQuery(DeviceQuery):
    limit = QueryInteger(low=1, cap=BROWSE_LIMIT, load_default=50)


class DeviceItemAnswer(Answer):
    id = Id()
    org_id = Id()
    name = fields.String()
    host = fields.String()
    port = fields.Integer()
    protocol = fields.String(validate=validate.OneOf(PROTOCOLS))
    device_type = fields.String()
    manufacturer = fields.String(allow_none=True)
    model = fields.String(allow_none=True)
    platform = fields.String(allow_none=True)
    site = fields.String(allow_none=True)
    site_id = Id(allow_none=True)
    source = fields.String(validate=validate.OneOf(SOURCES))
    tags = fields.List(fields.String())
    default_credential_id = Id(allow_none=True)
    snmp_credential_id = Id(allow_none=True)
    poll_enabled = fields.Boolean()
    connect_commands = fields.List(fields.String())
    credential_state = fields.String(validate=validate.OneOf(STATES))
    created_at = Timestamp()
    updated_at = Timestamp()


class DeviceAnswer(DeviceItemAnswer):
    description = fields.String(allow_none=True)
    serial_number = fields.String(allow_none=True)
    asset_tag = fields.String(allow_none=True)
    metadata = fields.Dict()
    automation_transport = fields.String(allow_none=True)
    automation_port = fields.Integer(allow_none=True)
    automation_credential_id = Id(allow_none=True)
    inventory_id = fields.Integer(allow_none=True)
    poll_interval_minutes = fields.Integer(allow_none=True)
    jump_device_id = Id(allow_none=True)
    host_key_fingerprint = fields.String(allow_none=True)
    ssh_profile = fields.String(validate=validate.OneOf(tuple(PROFILES)))


class DevicesAnswer(PageAnswer):
    devices = fields.List(fields.Nested(DeviceItemAnswer))


class BrowseAnswer(PageAnswer):
    items = fields.List(fields.Nested(DeviceItemAnswer))

"""A device of the inventory, whole or as the item of a list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.json.values import to_text

DEFAULT_PROFILE = "modern"
SSH, TELNET = "ssh", "telnet"
# By protocol, the port of a device that is made without one.
DEFAULT_PORTS = {SSH: 22, TELNET: 23}
# `credential_state`: what comes of a password that is to be sent to the device.
USABLE, WAITS = "usable", "waits_for_approval"
# Texts that a device takes over from an inventory; site, tags and metadata have rules of their own.
ALWAYS_GIVEN = ("name", "host", "device_type")
OPTIONAL = ("description", "manufacturer", "model", "platform", "serial_number", "asset_tag")
TAKEN_OVER = (*ALWAYS_GIVEN, *OPTIONAL, "site", "tags", "metadata", "inventory_id", "source")


@dataclass(frozen=True, kw_only=True)
class DeviceItem:
    """A device in a list.

    `vouched`: a user who may manage credentials has decided where its secrets go (devices/vouching).
    """

    id: str
    org_id: str
    name: str
    host: str
    port: int
    protocol: str
    device_type: str
    manufacturer: str | None
    model: str | None
    platform: str | None
    site: str | None
    site_id: str | None
    source: str
    tags: tuple[str, ...]
    default_credential_id: str | None
    snmp_credential_id: str | None
    poll_enabled: bool
    connect_commands: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    host_key_fingerprint: str | None
    vouched: bool = False

    @property
    def proves_itself(self) -> bool:
        """A pinned key stands for the device wherever it is now: it was pinned while it was vouched for.

        Over telnet a device shows no key: one that was pinned before says nothing.
        """
        return self.protocol == SSH and self.host_key_fingerprint is not None

    @property
    def credential_state(self) -> str:
        return USABLE if self.vouched or self.proves_itself else WAITS

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "org_id": self.org_id,
            "name": self.name,
            "host": self.host,
            "port": self.port,
            "protocol": self.protocol,
            "device_type": self.device_type,
            "manufacturer": self.manufacturer,
            "model": self.model,
            "platform": self.platform,
            "site": self.site,
            "site_id": self.site_id,
            "source": self.source,
            "tags": list(self.tags),
            "default_credential_id": self.default_credential_id,
            "snmp_credential_id": self.snmp_credential_id,
            "poll_enabled": self.poll_enabled,
            "connect_commands": list(self.connect_commands),
            "credential_state": self.credential_state,
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
        }


@dataclass(frozen=True, kw_only=True)
class Device(DeviceItem):
    """A device with all fields. `metadata` is arbitrary JSON; `automation_*` is the way of model-driven
    platforms.

    `ssh_profile` is the name of the SSH profile that is offered to it. `other_key_seen`: since its key was
    pinned it has shown another one (devices/host_keys). `port_keys`: by port, the pinned keys of SSH servers
    beside the one at `port`.
    """

    description: str | None
    serial_number: str | None
    asset_tag: str | None
    metadata: Mapping[str, Any]
    automation_transport: str | None
    automation_port: int | None
    automation_credential_id: str | None
    inventory_id: int | None
    poll_interval_minutes: int | None
    jump_device_id: str | None
    ssh_profile: str = DEFAULT_PROFILE
    other_key_seen: bool = False
    port_keys: Mapping[int, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            "description": self.description,
            "serial_number": self.serial_number,
            "asset_tag": self.asset_tag,
            "metadata": dict(self.metadata),
            "automation_transport": self.automation_transport,
            "automation_port": self.automation_port,
            "automation_credential_id": self.automation_credential_id,
            "inventory_id": self.inventory_id,
            "poll_interval_minutes": self.poll_interval_minutes,
            "jump_device_id": self.jump_device_id,
            "host_key_fingerprint": self.host_key_fingerprint,
            "ssh_profile": self.ssh_profile,
        }


@dataclass(frozen=True, kw_only=True)
class Creation:
    """The creation time of a device, deleted or not."""

    id: str
    org_id: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class JumpDevice:
    """A device with just the fields that a way through it needs; `jump_device_id`: what is before it."""

    protocol: str
    jump_device_id: str | None


@dataclass(frozen=True, kw_only=True)
class DeviceName:
    """A device with just the fields that a list of something else shows of it."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Called:
    """A device with just the names that others may know it by."""

    id: str
    name: str
    host: str
    platform: str | None
    device_type: str


@dataclass(frozen=True, kw_only=True)
class DeviceFilter:
    """A filter of device lists; None does not narrow. `q`: name or host contains, any case.

    `synonyms`: all names of the platform of `device_type`, which the service fills in.
    """

    device_type: str | None = None
    synonyms: tuple[str, ...] = ()
    site: str | None = None
    source: str | None = None
    tag: str | None = None
    q: str | None = None
    credential_state: str | None = None

"""A new device from the fields of a request or an imported row: defaults, and what no caller may choose."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import DEFAULT_PORTS, DEFAULT_PROFILE, SSH, Device


def new_device(
    org_id: OrgId,
    device_id: str,
    fields: Mapping[str, Any],
    *,
    site: str | None,
    source: str,
    vouched: bool,
    at: datetime,
) -> Device:
    """Return a device of fields as DeviceRequest loads them; `site` is the name of the site that `site_id`
    means.
    """
    return Device(
        id=device_id,
        org_id=org_id,
        name=fields["name"],
        host=fields["host"],
        port=fields.get("port", DEFAULT_PORTS[fields.get("protocol", SSH)]),
        protocol=fields.get("protocol", SSH),
        device_type=fields["device_type"],
        source=source,
        description=fields.get("description"),
        manufacturer=fields.get("manufacturer"),
        model=fields.get("model"),
        platform=fields.get("platform"),
        site=site or fields.get("site"),
        site_id=fields.get("site_id"),
        serial_number=fields.get("serial_number"),
        asset_tag=fields.get("asset_tag"),
        tags=tuple(distinct(fields.get("tags", []))),
        metadata=fields.get("metadata", {}),
        default_credential_id=fields.get("default_credential_id"),
        snmp_credential_id=fields.get("snmp_credential_id"),
        automation_transport=fields.get("automation_transport"),
        automation_port=fields.get("automation_port"),
        automation_credential_id=fields.get("automation_credential_id"),
        inventory_id=None,
        poll_enabled=fields.get("poll_enabled", False),
        poll_interval_minutes=fields.get("poll_interval_minutes"),
        connect_commands=tuple(fields.get("connect_commands", [])),
        jump_device_id=fields.get("jump_device_id"),
        host_key_fingerprint=None,
        vouched=vouched,
        ssh_profile=fields.get("ssh_profile", DEFAULT_PROFILE),
        created_at=at,
        updated_at=at,
    )


def distinct(tags: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tags))

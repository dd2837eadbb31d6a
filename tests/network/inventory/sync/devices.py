"""Devices here and in an inventory, made with a few words."""

import json
from collections.abc import Sequence
from typing import Any

from netautod.network.devices.bindings.models import Binding, KnownDevice
from netautod.network.devices.models import OPTIONAL
from netautod.network.inventory.sync.desired import DesiredDevice
from netautod.network.inventory.sync.plan import Facts

KEY = "source:11111111-1111-4111-8111-111111111111"
OTHER_KEY = "source:22222222-2222-4222-8222-222222222222"
LINKS = (
    "default_credential_id",
    "snmp_credential_id",
    "automation_credential_id",
    "site_id",
    "jump_device_id",
)


def remote(number: int, name: str, host: str | None = None, **more: Any) -> DesiredDevice:
    """A device of the inventory."""
    texts = {field: more.pop(field, None) for field in (*OPTIONAL, "site")}
    return DesiredDevice(
        external_id=str(number),
        inventory_id=number,
        name=name,
        host=host or f"192.0.2.{number}",
        device_type=more.pop("device_type", "cisco_ios"),
        texts=texts,
        **more,
    )


def bound(number: int, *, brought: bool = True, key: str = KEY, **more: Any) -> Binding:
    return Binding(key=key, external_id=str(number), brought=brought, **more)


def local(
    device_id: str, name: str, host: str, *bindings: Binding, live: bool = True, **more: Any
) -> KnownDevice:
    """A device here: one of an inventory if it has bindings, else a manual one."""
    number = bindings[0].external_id if bindings else None
    values: dict[str, Any] = {
        **dict.fromkeys((*OPTIONAL, "site", *LINKS)),
        "name": name,
        "host": host,
        "device_type": "cisco_ios",
        "tags": (),
        "metadata": "{}",
        "inventory_id": int(number) if number else None,
        "source": "inventory" if bindings else "manual",
        **more,
    }
    if isinstance(values["metadata"], dict):
        values["metadata"] = json.dumps(values["metadata"])
    return KnownDevice(
        id=device_id, live=live, site_id=values["site_id"], values=values, bindings=tuple(bindings)
    )


def synced(number: int, name: str, *, brought: bool = True, live: bool = True, **more: Any) -> KnownDevice:
    """The device here that is what `remote(number, name)` says."""
    host = more.pop("host", f"192.0.2.{number}")
    return local(f"d{number}", name, host, bound(number, brought=brought), live=live, **more)


def facts(wanted: Sequence[DesiredDevice], **more: Any) -> Facts:
    """Of a whole walk of a saved source that named these devices."""
    seen = frozenset({one.external_id for one in wanted} | set(more.pop("also_seen", ())))
    return Facts(key=KEY, seen=seen, **{"complete": True, "removes": True, **more})

"""The result of a dry run: the counts that the synchronisation would have, and the devices by name."""

from collections.abc import Sequence
from typing import Any

from netautod.network.devices.bindings.models import DeviceWrite, KnownDevice
from netautod.network.inventory.sync.models import SyncError, SyncResult, Walk, not_removed
from netautod.network.inventory.sync.plan import Plan, Refused

SHOWN = 1000  # devices of each list at most


Held = Sequence[tuple[KnownDevice, str]]
"""Devices that cannot be removed, each with the reason."""


def preview(plan: Plan, held: Held, walk: Walk, duration_ms: int) -> SyncResult:
    stay = {device.id for device, _ in held}
    going = [device for device in plan.removals if device.id not in stay]
    errors = [*walk.problems, *(_error(refused) for refused in plan.refused)]
    errors += [not_removed(device, reason) for device, reason in held]
    if walk.missing is not None:
        errors.append(SyncError(inventory_id=None, name=None, error=walk.missing))
    return SyncResult(
        added=len(plan.creates) + len(plan.revives),
        updated=len(plan.updates) + len(plan.adopts),
        unchanged=len(walk.unchanged) + len(plan.unchanged) + len(plan.rebound),
        failed=len(walk.problems) + sum(refused.desired is not None for refused in plan.refused) + len(held),
        removed=len(going),
        unconfirmed=plan.unconfirmed,
        errors=errors,
        duration_ms=duration_ms,
        plan=_listed(plan, going),
    )


def _error(refused: Refused) -> SyncError:
    one = refused.desired
    if one is None:
        return SyncError(inventory_id=None, name=None, error=refused.error)
    return SyncError(inventory_id=one.inventory_id, name=one.name, error=refused.error)


def _listed(plan: Plan, going: Sequence[KnownDevice]) -> dict[str, Any]:
    new = [{"name": made.name, "inventory_id": made.values["inventory_id"]} for made in plan.creates[:SHOWN]]
    gone = [_named(device) for device in going[:SHOWN]]
    released = [_named(write.before) for write in plan.released[:SHOWN]]
    return {
        "create": new,
        "update": _writes(plan.updates),
        "adopt": _writes(plan.adopts),
        "revive": _writes(plan.revives),
        "remove": gone,
        "release": released,
    }


def _named(device: KnownDevice) -> dict[str, Any]:
    return {"device_id": device.id, "name": device.name}


def _writes(writes: list[DeviceWrite]) -> list[dict[str, Any]]:
    return [
        {"device_id": write.before.id, "name": write.name, "changes": write.fields}
        for write in writes[:SHOWN]
    ]

"""What a dry run returns: the counts that the synchronisation would have, and the devices by name."""

from typing import Any

from netautod.devices.bindings.models import DeviceWrite
from netautod.inventory.sync.models import SyncError, SyncResult, Walk
from netautod.inventory.sync.plan import Plan, Refused

SHOWN = 1000  # devices of each list at most


def preview(plan: Plan, walk: Walk, duration_ms: int) -> SyncResult:
    errors = [*walk.problems, *(_error(refused) for refused in plan.refused)]
    if walk.missing is not None:
        errors.append(SyncError(inventory_id=None, name=None, error=walk.missing))
    return SyncResult(
        added=len(plan.creates) + len(plan.revives),
        updated=len(plan.updates) + len(plan.adopts),
        unchanged=len(walk.unchanged) + len(plan.unchanged) + len(plan.rebound),
        failed=len(walk.problems) + sum(refused.desired is not None for refused in plan.refused),
        removed=len(plan.removals),
        errors=errors,
        duration_ms=duration_ms,
        plan=_listed(plan),
    )


def _error(refused: Refused) -> SyncError:
    one = refused.desired
    if one is None:
        return SyncError(inventory_id=None, name=None, error=refused.error)
    return SyncError(inventory_id=one.inventory_id, name=one.name, error=refused.error)


def _listed(plan: Plan) -> dict[str, Any]:
    new = [{"name": made.name, "inventory_id": made.values["inventory_id"]} for made in plan.creates[:SHOWN]]
    gone = [{"device_id": device.id, "name": device.name} for device in plan.removals[:SHOWN]]
    return {
        "create": new,
        "update": _writes(plan.updates),
        "adopt": _writes(plan.adopts),
        "revive": _writes(plan.revives),
        "remove": gone,
    }


def _writes(writes: list[DeviceWrite]) -> list[dict[str, Any]]:
    return [
        {"device_id": write.before.id, "name": write.name, "changes": write.fields}
        for write in writes[:SHOWN]
    ]

"""The list of logins that are suspended now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller
from netautod.network.credentials.models import Credential
from netautod.network.devices.models import Device
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.refused_logins import RefusedLogin, RefusedLogins

PERMISSION = "credentials.manage"


@dataclass(frozen=True, kw_only=True)
class SuspendedLogin:
    """A suspended login. `device` None: on every device, for callers without `credentials.manage`. `refusals`
    in a row.
    """

    device: Device | None
    until: datetime
    refusals: int
    by_background: bool


class SuspendedLogins:
    """The list of suspended logins. `background` and `callers` are the refusals that either kind of
    suspension counts.
    """

    def __init__(
        self, *, background: RefusedLogins, callers: RefusedLogins, devices: DeviceService, clock: Clock
    ) -> None:
        self._stores = {True: background, False: callers}
        self._devices = devices
        self._clock = clock

    async def of(
        self, caller: Caller, credentials: Sequence[Credential]
    ) -> Mapping[str, Sequence[SuspendedLogin]]:
        """Return the suspended logins by credential id, the one that ends last first; credentials without any
        are left out.
        """
        caller.require(PERMISSION)
        revisions = {one.id: one.revision for one in credentials}
        found: dict[str, list[SuspendedLogin]] = {}
        for by_background, store in self._stores.items():
            rows = await store.suspended_of(caller.org_id, list(revisions), self._clock.now())
            devices = await self._of_rows(caller, rows)
            for row in rows:
                device = devices.get(row.device_id or "")
                if row.revision == revisions[row.credential_id] and _holds(row, device):
                    found.setdefault(row.credential_id, []).append(
                        SuspendedLogin(
                            device=device, until=row.until, refusals=row.refusals, by_background=by_background
                        )
                    )
        return {key: sorted(each, key=lambda one: one.until, reverse=True) for key, each in found.items()}

    async def _of_rows(self, caller: Caller, rows: Iterable[RefusedLogin]) -> dict[str, Device]:
        ids = [row.device_id for row in rows if row.device_id is not None]
        return {one.id: one async for batch in self._devices.of_ids(caller.org_id, ids) for one in batch}


def _holds(row: RefusedLogin, device: Device | None) -> bool:
    """Return whether a suspension still holds: a change of the device ends what background work was kept
    from.
    """
    if row.device_id is None:
        return True
    return device is not None and row.device_updated_at in (None, device.updated_at)

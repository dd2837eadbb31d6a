"""The guard against locked accounts: a refused login is not repeated by background work for a while.

The pause is 15 minutes, doubled with each further refusal up to 24 hours. It ends at once when the
credential or the device is changed, and with a login that succeeds, such as a test by a person.
"""

from collections.abc import Sequence
from typing import Protocol

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.core.work.context import Work
from netautod.network.devices.sessions.login_paths import Leg
from netautod.network.devices.sessions.store import LoginKey, Suspension, SuspensionStore
from netautod.plugin_api.events import CredentialSuspended
from netautod.transport.ssh.failures import DeviceFailed


class SuspensionObservers(Protocol):
    def credential_suspended(self, event: CredentialSuspended) -> None:
        """Notify the observers after a suspension is stored; returns at once and never raises."""
        ...


class Suspensions:
    def __init__(self, *, store: SuspensionStore, clock: Clock, observers: SuspensionObservers) -> None:
        self._store = store
        self._clock = clock
        self._observers = observers

    async def of(self, work: Work, legs: Sequence[Leg]) -> list[Suspension]:
        """Return what is known of refusals of these logins, past suspensions too."""
        return await self._store.of(work, [_login_key(leg) for leg in legs])

    def refuse(self, known: Sequence[Suspension], legs: Sequence[Leg]) -> None:
        """Raise DeviceFailed `suspended` while one of the logins is."""
        now = self._clock.now()
        for suspension in known:
            if suspension.until > now:
                leg = next(leg for leg in legs if _login_key(leg) == suspension.login)
                raise DeviceFailed(_sentence(leg, suspension), kind="suspended")

    async def refused(self, org_id: OrgId, leg: Leg) -> Suspension:
        """Record that the device of the leg refused its login."""
        data = {
            "device_id": leg.device.id,
            "device_name": leg.device.name,
            "credential_id": leg.credential_id,
            "credential_name": leg.credential_name,
        }
        suspension = await self._store.count(org_id, _login_key(leg), at=self._clock.now(), data=data)
        event = CredentialSuspended(
            org_id=org_id, failures=suspension.refusals, until=suspension.until, **data
        )
        self._observers.credential_suspended(event)
        return suspension

    async def lift(self, org_id: OrgId, known: Sequence[Suspension]) -> None:
        """Lift the suspensions, since the logins succeeded."""
        if known:
            await self._store.lift(org_id, [suspension.login for suspension in known])


def _login_key(leg: Leg) -> LoginKey:
    return LoginKey(
        device_id=leg.device.id,
        credential_id=leg.credential_id,
        revision=leg.revision,
        device_updated_at=leg.device.updated_at,
    )


def _sentence(leg: Leg, suspension: Suspension) -> str:
    times = "once" if suspension.refusals == 1 else f"{suspension.refusals} times"
    return (
        f"{leg.device.name}: the login of {leg.login.username!r} was refused {times}; background work does "
        f"not try it again before {to_text(suspension.until)}, unless the credential or the device is "
        "changed or a test of it succeeds"
    )

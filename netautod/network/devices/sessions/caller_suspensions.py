"""Keeps people who may not manage credentials from locking accounts: they may not repeat refused logins.

Two refused logins of a credential on a device within a quarter of an hour suspend it there for a quarter of
an hour, doubled with each further refusal up to a day; five on whatever devices suspend it everywhere,
because an account of a directory is locked by refusals anywhere. It ends with a login that succeeds and with
a change of the credential, not with one of the device: users who may edit devices could go on for ever.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.core.work.context import Work
from netautod.network.devices.sessions.caller_suspension_store import (
    CallerSuspension,
    CallerSuspensionStore,
    Subject,
)
from netautod.network.devices.sessions.login_limits import MOST_REFUSALS, CredentialGate
from netautod.network.devices.sessions.login_paths import Leg
from netautod.transport.ssh.failures import DeviceFailed, FailureKind

PERMISSION = "credentials.manage"
MOST_ON_DEVICE = 2
REFUSALS: frozenset[FailureKind] = frozenset({"auth", "enable"})


class CallerSuspensions:
    """The suspensions for callers, one object for each node; its gates keep logins at the same moment from
    outrunning the count.
    """

    def __init__(self, *, store: CallerSuspensionStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._gates: dict[tuple[OrgId, str, int], CredentialGate] = {}

    def gate(self, org_id: OrgId, leg: Leg) -> CredentialGate:
        """Return the gate that all such logins with the credential share, as long as one of them is under
        way.
        """
        self._gates = {key: gate for key, gate in self._gates.items() if gate.is_used}
        key = (org_id, leg.credential_id, leg.revision)
        return self._gates.setdefault(key, CredentialGate(leg.credential_id))

    async def of(self, work: Work, legs: Sequence[Leg]) -> list[CallerSuspension]:
        """Return what is known of refusals of these logins."""
        return await self._store.of(work.org_id, [*_on_devices(legs), *_anywhere(legs)])

    def refuse(self, known: Sequence[CallerSuspension], legs: Sequence[Leg], work: Work) -> None:
        """Raise DeviceFailed `suspended` for callers who may not manage credentials, while a login is
        suspended.
        """
        if work.caller.can(PERMISSION):
            return
        now = self._clock.now()
        for suspension in known:
            if suspension.until is not None and suspension.until > now:
                leg = next(leg for leg in legs if leg.credential_id == suspension.subject.credential_id)
                raise DeviceFailed(_sentence(leg, suspension.until), kind="suspended")

    async def refused(self, work: Work, leg: Leg, *, by_hand: bool) -> None:
        """Record that the device of the leg refused its login. `by_hand`: a person waited for the answer."""
        subjects = list(_on_devices([leg])) if by_hand else []
        if not work.caller.can(PERMISSION):
            subjects += _anywhere([leg])
        for subject in subjects:
            await self._store.count(work.org_id, subject, at=self._clock.now())

    async def lift(self, org_id: OrgId, known: Sequence[CallerSuspension]) -> None:
        """Lift the suspensions, since the logins succeeded."""
        if known:
            await self._store.lift(org_id, [suspension.subject for suspension in known])


def _on_devices(legs: Iterable[Leg]) -> Iterable[Subject]:
    return (_subject(leg, leg.device.id, MOST_ON_DEVICE) for leg in legs)


def _anywhere(legs: Iterable[Leg]) -> Iterable[Subject]:
    return (_subject(leg, None, MOST_REFUSALS) for leg in legs)


def _subject(leg: Leg, device_id: str | None, most: int) -> Subject:
    return Subject(device_id=device_id, credential_id=leg.credential_id, revision=leg.revision, most=most)


def _sentence(leg: Leg, until: datetime) -> str:
    return (
        f"{leg.device.name}: logins of {leg.login.username!r} were refused; without {PERMISSION} they are "
        f"not tried again before {to_text(until)}, unless the credential is changed or a test of it succeeds"
    )

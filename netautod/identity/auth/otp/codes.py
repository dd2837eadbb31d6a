"""The codes of users: created, confirmed, used up and removed. Permissions are checked in `service.py`."""

from datetime import timedelta
from uuid import uuid4

from netautod.core.clock import Clock
from netautod.core.errors import Conflict
from netautod.identity.auth.otp.models import (
    ActiveCodes,
    NewCodes,
    PendingCodes,
    fitting_steps,
    recovery_hash,
)
from netautod.identity.auth.otp.store import ACTIVE_SECRET, PENDING_SECRET, OtpStore
from netautod.identity.users.models import User
from netautod.identity.users.store import USERS
from netautod.secrets.vault.vault import Vault

PENDING_LIFE = timedelta(minutes=15)
NOTHING_PENDING = "No one-time code waits to be confirmed; begin with POST /api/auth/otp"


class OneTimeCodes:
    """The codes. Secrets are sealed under the organization's key, recovery codes hashed under a derived
    key."""

    def __init__(self, *, store: OtpStore, vault: Vault, clock: Clock) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock

    async def begin(self, user: User) -> NewCodes:
        """Create pending codes; active ones stay until these are confirmed."""
        new = NewCodes.generate(user)
        key = await self._recovery_key(user)
        hashes = (recovery_hash(key, user.id, code) for code in new.recovery_codes)
        pending = PendingCodes(
            id=str(uuid4()),
            sealed=await self._seal(user, PENDING_SECRET, new.secret),
            recovery=tuple(hashed for hashed in hashes if hashed is not None),
            created_at=self._clock.now(),
        )
        await self._store.put_pending(user, pending)
        return new

    async def pending(self, user: User) -> PendingCodes:
        """Return the pending codes. Raises Conflict if there are none, or they are too old."""
        pending = await self._store.pending(user)
        if pending is None or self._clock.now() - pending.created_at > PENDING_LIFE:
            raise Conflict(NOTHING_PENDING)
        return pending

    async def confirm(self, user: User, pending: PendingCodes, typed: str) -> bool:
        """Return whether it is a code of the pending secret, which then becomes active; that code is used
        up."""
        secret = await self._unseal(user, PENDING_SECRET, pending.sealed)
        steps = fitting_steps(secret, typed, self._clock.now())
        if not steps:
            return False
        active = ActiveCodes(
            id=pending.id,
            sealed=await self._seal(user, ACTIVE_SECRET, secret),
            recovery=pending.recovery,
            last_step=max(steps),
            confirmed_at=self._clock.now(),
        )
        if not await self._store.activate(user, active):
            raise Conflict(NOTHING_PENDING)
        return True

    async def accept(self, user: User, typed: str) -> bool:
        """Return, once, whether it is a code of this moment or an unused recovery code; that uses it up."""
        active = await self._store.active(user)
        if active is None:  # removed since the user was read: the login is to begin anew
            return False
        secret = await self._unseal(user, ACTIVE_SECRET, active.sealed)
        for step in fitting_steps(secret, typed, self._clock.now()):
            if await self._store.use_step(user, active.id, step):
                return True
        hashed = recovery_hash(await self._recovery_key(user), user.id, typed)
        return hashed is not None and await self._store.use_recovery(user, active.id, hashed)

    async def remove(self, user: User) -> bool:
        """Remove the codes; return False if the user has none."""
        return await self._store.remove(user)

    async def _recovery_key(self, user: User) -> bytes:
        return await self._vault.derived_key(user.org_id, "recovery codes")

    async def _seal(self, user: User, field: str, secret: str) -> dict[str, object]:
        return await self._vault.seal(user.org_id, USERS, user.id, field, secret.encode())

    async def _unseal(self, user: User, field: str, sealed: object) -> str:
        return (await self._vault.unseal(user.org_id, USERS, user.id, field, sealed)).decode()

"""The notes vault of an organization: whether it is unlocked, its passphrase, and the key of its notes.

The state is read from the database for every use, so that a lock on one node is a lock on all. While no
passphrase is set, unlocking, locking and changing it are 409; so is setting a first one twice. The auto-lock
counts from the unlock. Wrong passphrases are counted by the lockout, for each organization and address.
"""

import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Forbidden, InvalidInput, Unauthenticated
from netautod.core.identity.caller import Caller, OrgId
from netautod.documents.notes.models import VaultState, VaultStatus
from netautod.documents.notes.passphrases import Passphrases, PassphraseWrap
from netautod.documents.notes.store import COLLECTION, OPEN, NotesVaultStore
from netautod.identity.auth.lockout.service import Lockout
from netautod.secrets.vault.envelope import new_key
from netautod.secrets.vault.vault import Vault

MIN_LENGTH = 12
LOCKED = "Vault is locked"
WRONG = "Wrong vault password"
NONE_SET = "No vault password is set"


class VaultLocked(Forbidden):
    """Raised if notes can neither be read nor written before a user unlocks them."""


class NotesVault:
    """The notes vault. Without `auto_lock` it stays unlocked until a user locks it."""

    def __init__(
        self,
        *,
        store: NotesVaultStore,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        lockout: Lockout,
        auto_lock: timedelta | None,
    ) -> None:
        self._store = store
        self._passphrases = Passphrases()
        self._vault = vault
        self._clock = clock
        self._audit = audit
        self._lockout = lockout
        self._auto_lock = auto_lock

    async def status(self, org_id: OrgId) -> VaultStatus:
        state = await self._store.get(org_id)
        if state is None:
            return VaultStatus(unlocked=True, has_master_password=False)
        return VaultStatus(
            unlocked=state.unlocked(self._clock.now()), has_master_password=state.passphrase is not None
        )

    async def key(self, org_id: OrgId) -> bytes:
        """Return the 32 bytes that seal the organization's notes; raises Forbidden while the vault is
        locked."""
        return await self._opened(org_id, await self._existing(org_id))

    async def key_if_unlocked(self, org_id: OrgId) -> bytes | None:
        """Return `key`, or None while the vault is locked."""
        try:
            return await self.key(org_id)
        except VaultLocked:
            return None

    async def set_password(self, caller: Caller, password: str) -> None:
        """Set the first passphrase: wraps the key anew, and from now on the vault can be locked."""
        _check_length(password, "password")
        state = await self._existing(caller.org_id)
        if state.passphrase is not None:
            raise Conflict("A vault password is set already")
        key = await self._opened(caller.org_id, state)
        wrap = await self._passphrases.wrap(caller.org_id, password, key)
        if not await self._store.set_passphrase(caller.org_id, None, wrap, self._until()):
            raise Conflict("A vault password is set already")
        await self._audit.record(caller, "vault.password_set", "vault", None)

    async def change_password(self, caller: Caller, old: str, new: str) -> None:
        """Wrap the key under the new passphrase; notes and the lock stay as they are."""
        _check_length(new, "new_password")
        wrap, key = await self._proved(caller, old)
        new_wrap = await self._passphrases.wrap(caller.org_id, new, key)
        if not await self._store.set_passphrase(caller.org_id, wrap, new_wrap, None):
            raise Conflict("The vault password was changed by another request")
        await self._audit.record(caller, "vault.password_change", "vault", None)

    async def unlock(self, caller: Caller, password: str) -> None:
        """Unlock the organization on all nodes, or restart the time of the auto-lock."""
        org_id = caller.org_id
        wrap, key = await self._proved(caller, password)
        if not await self._store.unlock(org_id, wrap, await self._sealed(org_id, key), self._until()):
            raise Conflict("The vault password was changed by another request")
        await self._audit.record(caller, "vault.unlock", "vault", None)

    async def lock(self, caller: Caller) -> None:
        """Lock the organization on all nodes; raises Conflict while no passphrase is set."""
        if not await self._store.lock(caller.org_id):
            raise Conflict(NONE_SET)
        await self._audit.record(caller, "vault.lock", "vault", None)

    async def lock_expired(self) -> None:
        """Remove the open keys whose time is over; until then they are only not used."""
        await self._store.lock_expired(self._clock.now())

    async def _proved(self, caller: Caller, password: str) -> tuple[PassphraseWrap, bytes]:
        """Return the current wrap and the key that the passphrase opens.

        Raises Unauthenticated for a wrong one, which the lockout counts, and TooManyRequests.
        """
        org_id = caller.org_id
        state = await self._store.get(org_id)
        if state is None or state.passphrase is None:
            raise Conflict(NONE_SET)
        attempt = await self._lockout.admit_opening(notes_of(org_id), caller.ip_address or "")
        key = await self._passphrases.unwrap(org_id, password, state.passphrase)
        if key is None:
            remaining = await self._lockout.failed(attempt)
            for action in ["vault.wrong_password"] + ([] if remaining else ["vault.lockout"]):
                await self._audit.record(caller, action, "vault", None)
            raise Unauthenticated(WRONG)
        await self._lockout.succeeded(attempt)
        return state.passphrase, key

    async def _existing(self, org_id: OrgId) -> VaultState:
        """Return the vault, which is created with its key at the first use."""
        found = await self._store.get(org_id)
        while found is None:
            await self._store.create(org_id, await self._sealed(org_id, new_key()))
            found = await self._store.get(org_id)
        return found

    async def _opened(self, org_id: OrgId, state: VaultState) -> bytes:
        if not state.unlocked(self._clock.now()):
            raise VaultLocked(LOCKED)
        return await self._vault.unseal(org_id, COLLECTION, org_id, OPEN, state.open_key)

    async def _sealed(self, org_id: OrgId, key: bytes) -> Mapping[str, Any]:
        return await self._vault.seal(org_id, COLLECTION, org_id, OPEN, key)

    def _until(self) -> datetime | None:
        return None if self._auto_lock is None else self._clock.now() + self._auto_lock


def notes_of(org_id: OrgId) -> str:
    """Return the name under which the lockout counts tries at the passphrase of an organization."""
    return f"notes of {org_id}"


def _check_length(password: str, field: str) -> None:
    if len(unicodedata.normalize("NFKC", password)) < MIN_LENGTH:
        raise InvalidInput(f"{field}: at least {MIN_LENGTH} characters")

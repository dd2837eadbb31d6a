"""Certificates that are revoked before they expire, and the list of them that servers fetch.

A certificate is valid as long as its session, its user, and its principals are the user's. That is checked
when the list is built, so that no way for a session to end can be missed; a certificate found so is marked,
and stays revoked. The list is public: it is built at most once a second, and if that takes long, so rarely
that it takes a tenth of the time at most.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import SYSTEM_ID, Caller, OrgId
from netautod.identity.auth.ssh_ca import krl
from netautod.identity.auth.ssh_ca.models import IssuedCertificate
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.auth.ssh_ca.store import KEPT_AFTER_EXPIRY, SshCertificateStore
from netautod.identity.users.models import User
from netautod.identity.users.rank import require_rank
from netautod.identity.users.service import UserService

FRESH_SECONDS = 1.0
REST = 9.0
"""The next list is made after so many times the duration of the last one."""
PART = 500
NOT_FOUND = "Certificate not found"


class StoredSession(Protocol):
    """The part of a session that revocation needs."""

    @property
    def id(self) -> str: ...

    def holds(self, user: User, now: datetime) -> bool: ...


class SessionsById(Protocol):
    """The stored sessions of all organizations; unknown ids are left out."""

    async def many(self, ids: Sequence[str]) -> Sequence[StoredSession]: ...


@dataclass(frozen=True, kw_only=True)
class RevocationList:
    """The list: `serials` by the authority's public key, and the file that lists them."""

    serials: Mapping[bytes, Sequence[int]]
    content: bytes


class Revocation:
    def __init__(
        self,
        *,
        certificates: SshCertificateStore,
        authority: SshAuthority,
        sessions: SessionsById,
        users: UserService,
        clock: Clock,
        audit: AuditLog,
    ) -> None:
        self._certificates = certificates
        self._authority = authority
        self._sessions = sessions
        self._users = users
        self._clock = clock
        self._audit = audit
        self._making = asyncio.Lock()
        self._list: RevocationList | None = None
        self._old_at = float("-inf")

    async def current(self) -> RevocationList:
        """Return the list of all organizations, not older than a second (see above)."""
        async with self._making:
            if self._list is None or self._clock.monotonic() >= self._old_at:
                started = self._clock.monotonic()
                self._list = await self._build()
                took = self._clock.monotonic() - started
                self._old_at = started + took + max(FRESH_SECONDS - took, REST * took)
            return self._list

    async def revoke(self, caller: Caller, *, serial: int | None, user_id: str | None) -> int:
        """Revoke one certificate, or all of a user; return how many were valid until now.

        Raises InvalidInput unless exactly one of the two is given, NotFound, and Forbidden for those of a
        user who holds a permission that the caller lacks.
        """
        if (serial is None) == (user_id is None):
            raise InvalidInput("serial, user_id: exactly one of them is needed")
        if user_id is not None:
            revoked = await self._revoke_of(caller, user_id)
        else:
            assert serial is not None
            revoked = await self._revoke_serial(caller, serial)
        self._old_at = float("-inf")
        details = {"serial": serial, "user_id": user_id, "revoked": revoked}
        await self._audit.record(caller, "ssh_certificate.revoke", "ssh_certificate", None, details)
        return revoked

    async def _revoke_of(self, caller: Caller, user_id: str) -> int:
        user = await self._users.get(caller.org_id, user_id)
        require_rank(caller, user)
        now = self._clock.now()
        return await self._certificates.revoke_of(user.org_id, user.id, now)

    async def _revoke_serial(self, caller: Caller, serial: int) -> int:
        found = await self._certificates.by_serial(caller.org_id, serial)
        if found is None:
            return await self._revoke_unknown(caller, serial)
        user = await self._users.find(found.user_id) if found.user_id else None
        if user is not None:
            require_rank(caller, user)
        return await self._certificates.mark([found.id], self._clock.now())

    async def _revoke_unknown(self, caller: Caller, serial: int) -> int:
        """Revoke a number that an older release gave without a record of the user: it may be any user's."""
        given = await self._authority.serials_given(caller.org_id)
        if not 1 <= serial <= given or not caller.can("*"):
            raise NotFound(NOT_FOUND)
        return int(await self._authority.record_revoked(caller.org_id, serial))

    async def _build(self) -> RevocationList:
        now = self._clock.now()
        known = await self._certificates.unexpired(now - KEPT_AFTER_EXPIRY)
        ended = await self._ended([one for one in known if one.revoked_at is None], now)
        await self._certificates.mark(sorted(ended), now)
        revoked: dict[OrgId, list[int]] = {}
        for one in known:
            if one.revoked_at is not None or one.id in ended:
                revoked.setdefault(one.org_id, []).append(one.serial)
        serials = {
            await self._authority.key_blob(org_id): sorted(numbers) for org_id, numbers in revoked.items()
        }
        if self._list is not None and self._list.serials == serials:
            return self._list  # the same version and date
        # The database's clock in milliseconds grows, whichever node makes the next list.
        version = int(now.timestamp() * 1000)
        # In a thread: a hundred thousand numbers would hold the event loop for a fifth of a second.
        content = await asyncio.to_thread(
            krl.encoded, serials, version=version, generated=int(now.timestamp())
        )
        return RevocationList(serials=serials, content=content)

    async def _ended(self, issued: Sequence[IssuedCertificate], now: datetime) -> set[str]:
        """Return the ids of those whose session, user or principals ended; in parts, to leave the event loop
        its turns.
        """
        found: set[str] = set()
        for start in range(0, len(issued), PART):
            part = issued[start : start + PART]
            ids = sorted({one.session_id for one in part if one.session_id is not None})
            sessions = {session.id: session for session in await self._sessions.many(ids)}
            users = await self._users.find_many(one.user_id for one in part)
            found |= {one.id for one in part if not self._good(one, sessions, users, now)}
        return found

    def _good(
        self,
        issued: IssuedCertificate,
        sessions: Mapping[str, StoredSession],
        users: Mapping[str, User],
        now: datetime,
    ) -> bool:
        if issued.user_id == SYSTEM_ID:
            return True
        user = users.get(issued.user_id)
        if user is None or not user.is_active:
            return False
        if issued.session_id is None:  # the service's own login on a device, in the user's name
            return True
        session = sessions.get(issued.session_id)
        held = set(self._authority.principals_of(user))
        return session is not None and session.holds(user, now) and held.issuperset(issued.principals)

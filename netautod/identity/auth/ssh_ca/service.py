"""The SSH certificate authority of each organization: its key, its serial numbers, user certificates.

An authority is created at first use. Only the sealed private key is stored, and the public one derived from
it: an attacker who can write into the database but not open the vault cannot plant an authority.
"""

import base64
import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Protocol
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
)

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, InvalidInput
from netautod.core.identity.caller import SYSTEM_ID, Caller, OrgId
from netautod.core.json.values import to_text
from netautod.identity.auth.ssh_ca.models import AuthorityKey, IssuedCertificate, SshCertificate
from netautod.identity.auth.ssh_ca.public_keys import ClientKey, fingerprint_of, parse_public_key
from netautod.identity.auth.ssh_ca.store import COLLECTION, FIELD, SshAuthorityStore, SshCertificateStore
from netautod.identity.users.models import User
from netautod.identity.users.principals import FORM, PrincipalRules
from netautod.secrets.vault.vault import Vault

VALIDITY = timedelta(hours=8)
DEVICE_VALIDITY = timedelta(hours=1)
BACKDATED = timedelta(seconds=60)  # for servers whose clock is behind
TERMINAL = b"permit-pty"
# What ssh-keygen(1) grants by default; in the order of their names, as PROTOCOL.certkeys demands.
EXTENSIONS = (
    b"permit-X11-forwarding",
    b"permit-agent-forwarding",
    b"permit-port-forwarding",
    TERMINAL,
    b"permit-user-rc",
)


class CertifiedSession(Protocol):
    """The session whose login requests a certificate."""

    @property
    def id(self) -> str: ...

    @property
    def ip_address(self) -> str | None: ...


class SshAuthority:
    """The authority. `principals` are the rules that hold for users as well; here they hold for every
    signature.
    """

    def __init__(
        self,
        *,
        store: SshAuthorityStore,
        certificates: SshCertificateStore,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        principals: PrincipalRules,
    ) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self._audit = audit
        self._certificates = certificates
        self._principals = principals
        self._blobs: dict[OrgId, bytes] = {}

    async def public_key(self, org_id: OrgId) -> AuthorityKey:
        """Return the organization's authority, which is created now if there is none."""
        line = _line(await self._private_key(org_id))
        fingerprint = fingerprint_of(base64.b64decode(line.split(" ")[1]))
        return AuthorityKey(ca_public_key=line, fingerprint=fingerprint)

    async def key_blob(self, org_id: OrgId) -> bytes:
        """Return the public key as lists of revoked certificates name it; it never changes, and is read
        once."""
        if org_id not in self._blobs:
            line = _line(await self._private_key(org_id))
            self._blobs[org_id] = base64.b64decode(line.split(" ")[1])
        return self._blobs[org_id]

    async def serials_given(self, org_id: OrgId) -> int:
        """Return the highest number that the organization's authority has given."""
        return await self._store.serials_given(org_id)

    def principals_of(self, user: User) -> tuple[str, ...]:
        """Return the names that a certificate of the user may hold now."""
        return self._principals.valid(user.ssh_principals)

    def check_principals(self, user: User) -> None:
        """Raise InvalidInput for a user who gets no certificate; called before the session begins."""
        if self.principals_of(user):
            return
        if not self._principals.fit(user.username):
            raise InvalidInput(f"public_key: no certificate is signed for the reserved name {user.username}")
        raise InvalidInput(
            "public_key: no certificate is signed for a user without ssh_principals; "
            "a holder of system.manage gives them"
        )

    async def record_revoked(self, org_id: OrgId, serial: int) -> bool:
        """Record a number as revoked that was given without a record; return False if there is a record by
        now.
        """
        now = self._clock.now()
        issued = IssuedCertificate(
            id=str(uuid4()),
            org_id=org_id,
            serial=serial,
            key_id="",
            user_id=SYSTEM_ID,
            session_id=None,
            principals=(),
            valid_before=now + VALIDITY,
            revoked_at=now,
        )
        try:
            await self._certificates.insert(issued)
        except Duplicate:
            return False
        return True

    async def sign_for_device(
        self, caller: Caller, *, username: str, credential_id: str, public_key: str
    ) -> str:
        """Sign a certificate for an hour, for the service's own login as `username` with a stored key.

        It grants a terminal and nothing else. Raises InvalidInput for a reserved name or an unfit key.
        """
        if not self._principals.fit(username):
            kind = "reserved name" if FORM.fullmatch(username) else "name (it is no principal)"
            raise InvalidInput(f"no certificate is signed for the {kind} {username}")
        client = parse_public_key(public_key)
        key_id = f"{caller.username} credential {credential_id}"
        made = await self._signed(
            caller.org_id,
            client,
            principals=(username,),
            key_id=key_id,
            validity=DEVICE_VALIDITY,
            user_id=caller.user_id,
        )
        details = {**_details(made, client), "principal": username}
        await self._audit.record(caller, "ssh_certificate.sign", "credential", credential_id, details)
        return made.certificate

    async def sign(self, user: User, session: CertifiedSession, client: ClientKey) -> SshCertificate:
        """Sign a certificate for 8 hours with the user's principals."""
        self.check_principals(user)
        principals = self.principals_of(user)
        made = await self._signed(
            user.org_id,
            client,
            principals=principals,
            key_id=f"{user.username} {session.id}",
            validity=VALIDITY,
            user_id=user.id,
            session_id=session.id,
            extensions=EXTENSIONS,
        )
        details = {**_details(made, client), "principals": list(principals)}
        await self._record(user, session, details)
        return made

    async def _signed(
        self,
        org_id: OrgId,
        client: ClientKey,
        *,
        principals: tuple[str, ...],
        key_id: str,
        validity: timedelta,
        user_id: str,
        session_id: str | None = None,
        extensions: Sequence[bytes] = (TERMINAL,),
    ) -> SshCertificate:
        private = await self._private_key(org_id)
        serial = await self._store.next_serial(org_id)
        now = self._clock.now().replace(microsecond=0)  # certificates count whole seconds
        valid_after, valid_before = now - BACKDATED, now + validity
        # Recorded before it is signed: without a record it could not be revoked with its session.
        issued = IssuedCertificate(
            id=str(uuid4()),
            org_id=org_id,
            serial=serial,
            key_id=key_id,
            user_id=user_id,
            session_id=session_id,
            principals=principals,
            valid_before=valid_before,
        )
        await self._certificates.insert(issued)
        builder = (
            SSHCertificateBuilder()
            .public_key(client.key)
            .serial(serial)
            .type(SSHCertificateType.USER)
            .key_id(key_id.encode())
            .valid_principals([name.encode() for name in principals])
            .valid_after(int(valid_after.timestamp()))
            .valid_before(int(valid_before.timestamp()))
        )
        for name in extensions:
            builder = builder.add_extension(name, b"")
        return SshCertificate(
            certificate=builder.sign(private).public_bytes().decode("ascii"),
            ca_public_key=_line(private),
            valid_after=valid_after,
            valid_before=valid_before,
            serial=serial,
        )

    async def _private_key(self, org_id: OrgId) -> Ed25519PrivateKey:
        sealed = await self._store.sealed_key(org_id)
        if sealed is None:
            with contextlib.suppress(Duplicate):  # another login created it: it is read below
                await self._make(org_id)
            sealed = await self._store.sealed_key(org_id)
        assert sealed is not None
        raw = await self._vault.unseal(org_id, COLLECTION, org_id, FIELD, sealed)
        return Ed25519PrivateKey.from_private_bytes(raw)

    async def _make(self, org_id: OrgId) -> None:
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        sealed = await self._vault.seal(org_id, COLLECTION, org_id, FIELD, raw)
        await self._store.insert(org_id, sealed, at=self._clock.now())

    async def _record(self, user: User, session: CertifiedSession, details: dict[str, Any]) -> None:
        await self._audit.record_for(
            user.org_id,
            actor_id=user.id,
            actor_name=user.username,
            action="ssh_certificate.sign",
            resource_type="session",
            resource_id=session.id,
            ip_address=session.ip_address,
            request_id=None,
            details=details,
        )


def _details(made: SshCertificate, client: ClientKey) -> dict[str, Any]:
    return {
        "serial": made.serial,
        "fingerprint": client.fingerprint,
        "valid_before": to_text(made.valid_before),
    }


def _line(private: Ed25519PrivateKey) -> str:
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")

"""The SSH certificate authority of each organization: its key, its serial numbers, user certificates.

An authority is made at first use. Only the sealed private key is kept, and the public one derived from it:
whoever can write into the database but not open the vault cannot plant an authority.
"""

import base64
import contextlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
)

from netautod.audit.service import AuditLog
from netautod.auth.ssh_ca.models import AuthorityKey, SshCertificate
from netautod.auth.ssh_ca.public_keys import ClientKey, fingerprint_of, parse_public_key
from netautod.auth.ssh_ca.store import COLLECTION, FIELD, SshAuthorityStore
from netautod.core.clock import Clock
from netautod.core.errors import Duplicate, InvalidInput
from netautod.core.identity import Caller, OrgId
from netautod.core.json_values import to_text
from netautod.users.models import User
from netautod.vault.vault import Vault

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
    """The session whose login asks for a certificate."""

    @property
    def id(self) -> str: ...

    @property
    def ip_address(self) -> str | None: ...


class SshAuthority:
    """`reserved_principals` is the setting of that name: users called so get no certificate."""

    def __init__(
        self,
        *,
        store: SshAuthorityStore,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        reserved_principals: Iterable[str],
    ) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self._audit = audit
        self._reserved = frozenset(name.lower() for name in reserved_principals)

    async def public_key(self, org_id: OrgId) -> AuthorityKey:
        """The organization's authority, made now if it has none."""
        line = _line(await self._private_key(org_id))
        fingerprint = fingerprint_of(base64.b64decode(line.split(" ")[1]))
        return AuthorityKey(ca_public_key=line, fingerprint=fingerprint)

    def check_principal(self, user: User) -> None:
        """Raises InvalidInput for a user whose name is reserved; called before the session begins."""
        if user.username.lower() in self._reserved:
            raise InvalidInput(f"public_key: no certificate is signed for the reserved name {user.username}")

    async def sign_for_device(
        self, caller: Caller, *, username: str, credential_id: str, public_key: str
    ) -> str:
        """A certificate for an hour, for the service's own login as `username` with a stored key.

        It grants a terminal and nothing else. InvalidInput for a reserved name or an unfit key.
        """
        if username.lower() in self._reserved:
            raise InvalidInput(f"no certificate is signed for the reserved name {username}")
        client = parse_public_key(public_key)
        key_id = f"{caller.username} credential {credential_id}"
        made = await self._signed(
            caller.org_id, client, principal=username, key_id=key_id, validity=DEVICE_VALIDITY
        )
        details = _details(made, username, client)
        await self._audit.record(caller, "ssh_certificate.sign", "credential", credential_id, details)
        return made.certificate

    async def sign(self, user: User, session: CertifiedSession, client: ClientKey) -> SshCertificate:
        """A certificate for 8 hours with the username as its only principal."""
        self.check_principal(user)
        made = await self._signed(
            user.org_id,
            client,
            principal=user.username,
            key_id=f"{user.username} {session.id}",
            validity=VALIDITY,
            extensions=EXTENSIONS,
        )
        await self._record(user, session, client, made)
        return made

    async def _signed(
        self,
        org_id: OrgId,
        client: ClientKey,
        *,
        principal: str,
        key_id: str,
        validity: timedelta,
        extensions: Sequence[bytes] = (TERMINAL,),
    ) -> SshCertificate:
        private = await self._private_key(org_id)
        serial = await self._store.next_serial(org_id)
        now = self._clock.now().replace(microsecond=0)  # certificates count whole seconds
        valid_after, valid_before = now - BACKDATED, now + validity
        builder = (
            SSHCertificateBuilder()
            .public_key(client.key)
            .serial(serial)
            .type(SSHCertificateType.USER)
            .key_id(key_id.encode())
            .valid_principals([principal.encode()])
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
            with contextlib.suppress(Duplicate):  # another login made it: it is read below
                await self._make(org_id)
            sealed = await self._store.sealed_key(org_id)
        assert sealed is not None
        raw = await self._vault.unseal(org_id, COLLECTION, org_id, FIELD, sealed)
        return Ed25519PrivateKey.from_private_bytes(raw)

    async def _make(self, org_id: OrgId) -> None:
        raw = Ed25519PrivateKey.generate().private_bytes_raw()
        sealed = await self._vault.seal(org_id, COLLECTION, org_id, FIELD, raw)
        await self._store.insert(org_id, sealed, at=self._clock.now())

    async def _record(
        self, user: User, session: CertifiedSession, client: ClientKey, made: SshCertificate
    ) -> None:
        await self._audit.record_for(
            user.org_id,
            actor_id=user.id,
            actor_name=user.username,
            action="ssh_certificate.sign",
            resource_type="session",
            resource_id=session.id,
            ip_address=session.ip_address,
            request_id=None,
            details=_details(made, user.username, client),
        )


def _details(made: SshCertificate, principal: str, client: ClientKey) -> dict[str, Any]:
    return {
        "serial": made.serial,
        "principal": principal,
        "fingerprint": client.fingerprint,
        "valid_before": to_text(made.valid_before),
    }


def _line(private: Ed25519PrivateKey) -> str:
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")

"""The rules of credentials: whole by type, sealed, one default per kind, and which one a login uses."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers, References
from netautod.identity.auth.lockout.service import Lockout
from netautod.network.credentials import change, rules
from netautod.network.credentials.change import CredentialChange
from netautod.network.credentials.models import Credential, NoCredential, UsableCredential
from netautod.network.credentials.private_keys import check_private_key, opens_without_passphrase
from netautod.network.credentials.secrets import CredentialSecrets
from netautod.network.credentials.store import CredentialStore
from netautod.secrets.vault.vault import Vault

NAME_TAKEN = "Credential with this name already exists"
NOT_FOUND = "Credential not found"
# The sealed fields that uses of a kind need.
OPENED = {
    rules.SSH: ("secret", "passphrase", "enable_secret"),
    rules.SNMP: ("secret", "auth_key", "priv_key"),
}
ATTEMPTS = 10


class CredentialService:
    """The service of credentials. `references`: what uses a credential; a used one is not deleted. `deleted`:
    what cleans up after one.

    A crash before `deleted` is notified loses the notice, so nothing but tidiness may depend on it.
    """

    def __init__(
        self, *, store: CredentialStore, vault: Vault, clock: Clock, audit: AuditLog, lockout: Lockout
    ) -> None:
        self.references = References("Credential")
        self.deleted = Followers()
        self._store = store
        self._removal = store.removal(self.references)
        self._secrets = CredentialSecrets(vault)
        self._clock = clock
        self._audit = audit
        self._lockout = lockout

    async def resume(self) -> None:
        """Finish what a crash interrupted, at start, when the registry is filled."""
        await self._removal.resume()

    async def get(self, org_id: OrgId, credential_id: str) -> Credential:
        """Return a credential. Raises NotFound."""
        found = await self._store.get(org_id, credential_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found[0]

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Credential]:
        """Return one page of credentials, sorted by name."""
        return await self._store.page(org_id, page)

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        """Return the id of the credential of this name; None if the organization has none."""
        return await self._store.id_of(org_id, name)

    async def type_of(self, org_id: OrgId, credential_id: str) -> str | None:
        """Return the credential's type; None if the organization has no such credential."""
        return await self._store.type_of(org_id, credential_id)

    async def names_of(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return names by id for those of the ids that are credentials of the organization."""
        return await self._store.names_of(org_id, ids)

    async def types_of(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return types by id for those of the ids that are credentials of the organization."""
        return await self._store.types_of(org_id, ids)

    async def create(self, caller: Caller, fields: Mapping[str, Any]) -> Credential:
        """Create a credential from fields as CredentialRequest loads them. Raises InvalidInput, or Conflict
        for a taken name.
        """
        wanted = change.creation(fields)
        _require_authority(caller, wanted, None)
        if wanted.touches_key:
            await check_private_key(wanted.secrets["secret"], wanted.secrets.get("passphrase"))
        org_id, credential_id = caller.org_id, str(uuid4())
        sealed = await self._secrets.seal(org_id, credential_id, wanted.secrets)
        try:
            await self._store.insert(org_id, credential_id, wanted.plain, sealed, at=self._clock.now())
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        # If we die here the credential exists and is not the default: the old one still is.
        await self._set_default(org_id, credential_id, wanted)
        details = {"name": fields["name"], "credential_type": fields["credential_type"]}
        await self._audit.record(caller, "credential.create", "credential", credential_id, details)
        return await self.get(org_id, credential_id)

    async def update(self, caller: Caller, credential_id: str, fields: Mapping[str, Any]) -> Credential:
        """Change the sent fields, checked against the stored ones; a change in between repeats that."""
        for _ in range(ATTEMPTS):
            found = await self._store.get(caller.org_id, credential_id)
            if found is None:
                raise NotFound(NOT_FOUND)
            before, sealed = found
            wanted = change.update(before, fields)
            _require_authority(caller, wanted, before)
            if not wanted.names:
                return before
            if await self._write(caller, before, sealed, wanted):
                await self._set_default(caller.org_id, credential_id, wanted)
                details = {"name": fields.get("name", before.name), "fields": wanted.names}
                await self._audit.record(caller, "credential.update", "credential", credential_id, details)
                return await self.get(caller.org_id, credential_id)
        raise Conflict("The credential is being changed by others; try again")

    async def delete(self, caller: Caller, credential_id: str) -> None:
        """Delete a credential. Raises Conflict that names what uses it; being the organization's default does
        not count as use.
        """
        await self._removal.remove(caller.org_id, credential_id)
        await self._store.drop_default(caller.org_id, credential_id)
        await self.deleted.notify(caller.org_id, credential_id)
        await self._audit.record(caller, "credential.delete", "credential", credential_id)

    async def usable(
        self, org_id: OrgId, *, override: str | None, device_default: str | None
    ) -> UsableCredential:
        """Return the SSH credential of logins: the override, else the device's, else the organization's.

        Raises NoCredential. A named credential that is gone is not replaced by the next one: a wrong login
        can lock an account. The caller audits the use.
        """
        return await self._usable(org_id, rules.SSH, override or device_default)

    async def usable_agent(self, org_id: OrgId, *, device_default: str | None) -> UsableCredential:
        """Return the SNMP credential of a device: its own, else the organization's. Otherwise as `usable`."""
        return await self._usable(org_id, rules.SNMP, device_default)

    async def has_default_agent(self, org_id: OrgId) -> bool:
        """Return whether the organization has a default SNMP credential."""
        return rules.SNMP in await self._store.defaults(org_id)

    async def _usable(self, org_id: OrgId, kind: str, named: str | None) -> UsableCredential:
        wanted_id = named or (await self._store.defaults(org_id)).get(kind)
        found = None if wanted_id is None else await self._store.get(org_id, wanted_id)
        if found is None:
            if named:
                raise NoCredential(f"credential {named} does not exist")
            of_kind = "" if kind == rules.SSH else "SNMP "
            raise NoCredential(f"neither the device nor the organization has a default {of_kind}credential")
        credential, sealed = found
        if rules.kind_of(credential.credential_type) != kind:
            raise NoCredential(f"credential {credential.name} is not an {kind.upper()} credential")
        return UsableCredential(
            id=credential.id,
            name=credential.name,
            type=credential.credential_type,
            username=credential.username or "",
            revision=credential.revision,
            use_certificate=credential.use_certificate,
            allowed_hosts=credential.allowed_hosts,
            port=credential.port,
            auth_protocol=credential.auth_protocol,
            priv_protocol=credential.priv_protocol,
            _opened=await self._secrets.open(org_id, credential.id, sealed, OPENED[kind]),
        )

    async def _write(
        self, caller: Caller, before: Credential, sealed: Mapping[str, Any], wanted: CredentialChange
    ) -> bool:
        org_id = caller.org_id
        if wanted.touches_key:
            await self._check_key(caller, before, sealed, wanted)
        try:
            return await self._store.change(
                org_id,
                before,
                plain=wanted.plain,
                sealed=await self._secrets.seal(org_id, before.id, wanted.secrets),
                removed=wanted.removed,
                at=self._clock.now(),
            )
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error

    async def _check_key(
        self, caller: Caller, before: Credential, sealed: Mapping[str, Any], wanted: CredentialChange
    ) -> None:
        """Check the private key with its passphrase. Raises InvalidInput, and TooManyRequests.

        A text that was sent and one that is stored are a guess at the stored one: the lockout counts it.
        """
        held = await self._secrets.open(caller.org_id, before.id, sealed, ("secret", "passphrase"))
        kept = {name: text for name, text in held.items() if name not in {*wanted.removed, *wanted.secrets}}
        key = {**kept, **wanted.secrets}
        if not kept or not wanted.secrets.keys() & set(held):
            await check_private_key(key["secret"], key.get("passphrase"))
            return
        attempt = await self._lockout.admit_opening(key_of(before.id), caller.ip_address or "")
        try:
            await check_private_key(key["secret"], key.get("passphrase"))
        except InvalidInput as error:
            if error.text.startswith("passphrase") and not await self._lockout.failed(attempt):
                await self._audit.record(caller, "credential.lockout", "credential", before.id)
            raise
        if not await opens_without_passphrase(key["secret"]):  # one that does proves nothing
            await self._lockout.succeeded(attempt)

    async def _set_default(self, org_id: OrgId, credential_id: str, wanted: CredentialChange) -> None:
        kind = rules.kind_of(wanted.credential_type)
        if wanted.default and kind is not None:
            await self._store.make_default(org_id, kind, credential_id)
        elif wanted.default is False:
            await self._store.drop_default(org_id, credential_id)


def key_of(credential_id: str) -> str:
    """Return the name under which the lockout counts tries at the stored private key of a credential."""
    return f"private key of {credential_id}"


def _require_authority(caller: Caller, wanted: CredentialChange, before: Credential | None) -> None:
    """Require system.manage for a certificate, and not only the permission to store credentials.

    A certificate logs in as the credential's username wherever the authority is trusted, whatever user has
    that name.
    """
    if wanted.certifies(before):
        caller.require("system.manage")

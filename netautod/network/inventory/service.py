"""The rules of saved sources: unique names, tokens that stay with their server, removal in steps."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, InvalidInput, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.registries import Followers
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.devices.bindings.models import SAVED_SOURCE
from netautod.network.devices.bindings.service import SyncedDevices
from netautod.network.devices.records.vouched import VOUCHED, may_vouch
from netautod.network.inventory.models import RemoteInventory, SavedSource
from netautod.network.inventory.store import COLLECTION, TOKEN, SourceStore
from netautod.secrets.vault.vault import Vault
from netautod.store.leases.named import NamedLeases
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.outbound.urls import origin_of

NAME_TAKEN = "Inventory source with this name already exists"
NOT_FOUND = "Inventory source not found"
RUNNING = "A synchronisation of this inventory is running; try again when it is over"
BUSY = "The inventory source is being changed by others; try again"
ATTEMPTS = 10
READ_FROM = frozenset({"url", "verify_ssl", "device_filters", TOKEN})  # decides which devices a source brings


def binding_key(source_id: str) -> str:
    """Return the key under which the devices of a saved source are bound."""
    return f"{SAVED_SOURCE}{source_id}"


def lease_name(org_id: OrgId, key: str) -> str:
    """Return the lease that a synchronisation under the key holds, and the removal of its source."""
    return f"{lease_prefix(org_id)}{key}"


def lease_prefix(org_id: OrgId) -> str:
    return f"sync:{org_id}:"


class SourceService:
    def __init__(
        self,
        *,
        store: SourceStore,
        vault: Vault,
        clock: Clock,
        audit: AuditLog,
        http: GuardedClient,
        leases: NamedLeases,
        devices: SyncedDevices,
    ) -> None:
        self._store = store
        self.deleted = Followers()
        self.became_due: Callable[[], None] = lambda: None
        """Called after a change by which a source is due at once."""
        self._vault = vault
        self._clock = clock
        self._audit = audit
        self._http = http
        self._leases = leases
        self._devices = devices

    async def resume(self) -> None:
        """Finish, at start, the removals that a crash interrupted."""
        for org_id, source_id in await self._store.removals():
            await self._finish_removal(org_id, source_id)

    async def all(self, org_id: OrgId) -> list[SavedSource]:
        """Return all sources, sorted by name."""
        return await self._store.all(org_id)

    async def get(self, org_id: OrgId, source_id: str) -> SavedSource:
        """Return a source. Raises NotFound."""
        found = await self._store.get(org_id, source_id)
        if found is None:
            raise NotFound(NOT_FOUND)
        return found

    async def named(self, org_id: OrgId, name_or_id: str) -> SavedSource:
        """Return a source by name, else by id; for the command line."""
        found = await self._store.by_name(org_id, name_or_id)
        return found or await self.get(org_id, name_or_id.lower())

    async def remote(self, source: SavedSource) -> RemoteInventory:
        """Return the inventory with its token, which is unsealed for this use alone."""
        token = await self._vault.unseal(
            OrgId(source.org_id), COLLECTION, source.id, TOKEN, source.sealed_token
        )
        return RemoteInventory(
            org_id=source.org_id,
            url=source.url,
            token=token.decode(),
            verify_ssl=source.verify_ssl,
            filters=source.device_filters,
            named_now=False,
        )

    async def create(self, caller: Caller, fields: Mapping[str, Any]) -> SavedSource:
        """Save a source of fields as SourceRequest loads them. Raises InvalidInput, or Conflict for a taken
        name.
        """
        await self._check_url(fields["url"])
        now, source_id = self._clock.now(), str(uuid4())
        auto, hours = fields.get("auto_sync_enabled", False), fields.get("sync_interval_hours", 24)
        source = SavedSource(
            id=source_id,
            org_id=caller.org_id,
            name=fields["name"],
            url=fields["url"],
            verify_ssl=fields.get("verify_ssl", True),
            device_filters=fields.get("device_filters", {}),
            auto_sync_enabled=auto,
            sync_interval_hours=hours,
            last_sync_at=None,
            last_sync_status=None,
            last_sync_result=None,
            next_sync_at=now if auto else None,
            revision=1,
            vouched=may_vouch(caller),
            created_at=now,
            updated_at=now,
            sealed_token=await self._sealed(caller.org_id, source_id, fields["token"]),
        )
        try:
            await self._store.insert(caller.org_id, source)
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        await self._record(caller, "create", source, {"url": source.url})
        self._wake_if_due(source)
        return source

    async def update(self, caller: Caller, source_id: str, fields: Mapping[str, Any]) -> SavedSource:
        """Change the sent fields.

        The rules compare several fields, so it is repeated if another user changes the source meanwhile.
        Raises as `create` does, NotFound, and Conflict if that goes on.
        """
        if "url" in fields:
            await self._check_url(fields["url"])
        for _ in range(ATTEMPTS):
            before = await self.get(caller.org_id, source_id)
            if not fields:
                return before
            _check_token_stays(before, fields)
            values = {name: value for name, value in fields.items() if name != TOKEN}
            if TOKEN in fields:
                values[TOKEN] = await self._sealed(caller.org_id, source_id, fields[TOKEN])
            values.update(self._next(before, fields))
            values.update(_vouching(before, fields, vouches=may_vouch(caller)))
            try:
                source = await self._store.change(caller.org_id, before, values, at=self._clock.now())
            except Duplicate as error:
                raise Conflict(NAME_TAKEN) from error
            if source is not None:
                details = {} if source.vouched == before.vouched else {VOUCHED: source.vouched}
                await self._record(caller, "update", source, {"fields": sorted(fields), **details})
                self._wake_if_due(source)
                return source
        raise Conflict(BUSY)

    @waits(call_by_call)
    async def delete(self, caller: Caller, source_id: str) -> None:
        """Delete a source; its devices stay. Raises Conflict while it is being synchronised."""
        source = await self.get(caller.org_id, source_id)
        held = await self._leases.acquire(lease_name(caller.org_id, binding_key(source_id)))
        if held is None:
            raise Conflict(RUNNING)
        try:
            if not await self._store.hide(caller.org_id, source_id):
                raise NotFound(NOT_FOUND)
            # If we die from here on, the next start goes on: nothing synchronises a hidden source.
            await self._finish_removal(caller.org_id, source_id)
        finally:
            await self._leases.release(held)
        await self._record(caller, "delete", source, {})

    async def _finish_removal(self, org_id: OrgId, source_id: str) -> None:
        await self._devices.unbind(org_id, binding_key(source_id))
        await self.deleted.notify(org_id, source_id)
        await self._store.delete(org_id, source_id)

    async def _check_url(self, url: str) -> None:
        try:
            await self._http.check(url)
        except AddressRefused as error:
            raise AddressRefused(f"url: {error.text}") from error
        except RequestFailed:
            return  # DNS does not answer now: the synchronisation checks again

    async def _sealed(self, org_id: OrgId, source_id: str, token: str) -> Mapping[str, Any]:
        return await self._vault.seal(org_id, COLLECTION, source_id, TOKEN, token.encode())

    def _next(self, before: SavedSource, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the new time of the next automatic synchronisation, if its rule was changed: at once where
        it is switched on.
        """
        auto = fields.get("auto_sync_enabled", before.auto_sync_enabled)
        hours = fields.get("sync_interval_hours", before.sync_interval_hours)
        if (auto, hours) == (before.auto_sync_enabled, before.sync_interval_hours):
            return {}
        if not auto:
            return {"next_sync_at": None}
        now = self._clock.now()
        switched_on = not before.auto_sync_enabled
        return {"next_sync_at": now if switched_on else next_sync(now, before.last_sync_at, hours)}

    def _wake_if_due(self, source: SavedSource) -> None:
        # If we die before this, or all of this node's places are taken, a scan finds it.
        if source.next_sync_at is not None and source.next_sync_at <= self._clock.now():
            self.became_due()

    async def _record(
        self, caller: Caller, verb: str, source: SavedSource, details: Mapping[str, Any]
    ) -> None:
        details = {"name": source.name, **details}
        await self._audit.record(caller, f"inventory_source.{verb}", "inventory_source", source.id, details)


def next_sync(now: datetime, last: datetime | None, hours: int) -> datetime:
    """Return an interval after the last synchronisation (if there was none: after now), but not in
    the past.
    """
    return max(now, (last or now) + timedelta(hours=hours))


def _vouching(before: SavedSource, fields: Mapping[str, Any], *, vouches: bool) -> dict[str, bool]:
    """Return whether the source is vouched for after a change: a user who may vouch does so by saving it,
    another takes it back by changing it.

    A token is always a change: another one may see other devices.
    """
    saved = READ_FROM & fields.keys()
    changed = any(name == TOKEN or fields[name] != getattr(before, name) for name in saved)
    return {VOUCHED: vouches} if saved and (vouches or changed) else {}


def _check_token_stays(before: SavedSource, fields: Mapping[str, Any]) -> None:
    """Require the token again where a change could have it sent elsewhere.

    Users may change a source but never read its token, so no user may have it sent to a server of their own:
    neither by another url, nor by an answer that any party on the way can give without a certificate.
    """
    if TOKEN in fields:
        return
    if "url" in fields and origin_of(fields["url"]) != origin_of(before.url):
        raise InvalidInput("token: a url on another server needs the token again")
    if before.verify_ssl and not fields.get("verify_ssl", True):
        raise InvalidInput("token: to turn verify_ssl off needs the token again")

"""The organization keys that this node has open: fetched, made at first use, cached for a while."""

from collections import OrderedDict
from dataclasses import dataclass, field

from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.envelope import CANNOT_OPEN
from netautod.secrets.vault.errors import VaultError
from netautod.secrets.vault.organization_keys import ROOT_REPLACED, KeyStore, OrganizationKeys
from netautod.secrets.vault.root.store import HeldRoots, RootStore

# A node seals under a version that another node has replaced for at most this long; both stay readable.
NEWEST_SECONDS = 30.0
MAX_ORGANIZATIONS = 1024
_ATTEMPTS = 20


@dataclass(frozen=True, kw_only=True)
class _CachedKeys:
    keys: OrganizationKeys
    fetched_at: float
    opened: dict[int, bytes] = field(default_factory=dict, repr=False)


class KeyRing:
    """A cache of keys by (organization, version)."""

    def __init__(
        self,
        keys: KeyStore,
        roots: RootStore,
        *,
        held: HeldRoots,
        clock: Clock,
        max_organizations: int = MAX_ORGANIZATIONS,
    ) -> None:
        self._store = keys
        self._roots = roots
        self._held = held
        self._clock = clock
        self._max = max_organizations
        self._entries: OrderedDict[OrgId, _CachedKeys] = OrderedDict()

    async def newest(self, org_id: OrgId) -> tuple[int, bytes]:
        """Return version and key for new seals; an organization without keys gets its first ones here."""
        entry = self._entries.get(org_id)
        if entry is None or self._clock.monotonic() - entry.fetched_at > NEWEST_SECONDS:
            entry = self._remember(await self._ready(org_id))
        return entry.keys.newest, self._opened(entry, entry.keys.newest)

    async def key(self, org_id: OrgId, version: int) -> bytes:
        """Return the key that opens what was sealed under `version`; VaultError if there is none."""
        entry = self._entries.get(org_id)
        if entry is None or version not in entry.keys.keys:
            found = await self._store.find(org_id)
            if found is None or not found.ready or version not in found.keys:
                raise VaultError(CANNOT_OPEN)
            entry = self._remember(found)
        return self._opened(entry, version)

    async def add_version(self, org_id: OrgId, rotation: str | None = None) -> tuple[int, bool]:
        """Create a version; return its number, and whether this call created it. Older versions keep opening.

        Each `rotation` creates one version: called again it returns the number of that one.
        """
        for _ in range(_ATTEMPTS):
            found = await self._ready(org_id)
            if rotation is not None and found.rotation == rotation:
                return found.newest, False
            grown = found.with_new_version(self._held, rotation)
            if await self._store.swap(found, grown):
                self._remember(grown)
                return grown.newest, True
        raise Unavailable("The organization's keys are being changed by others; try again")

    def forget(self) -> None:
        """Drop the cache, so that the next use sees what other nodes have created."""
        self._entries.clear()

    def _opened(self, entry: _CachedKeys, version: int) -> bytes:
        self._entries.move_to_end(entry.keys.org_id)
        if version not in entry.opened:
            entry.opened[version] = entry.keys.opened(version, self._held)
        return entry.opened[version]

    def _remember(self, keys: OrganizationKeys) -> _CachedKeys:
        entry = _CachedKeys(keys=keys, fetched_at=self._clock.monotonic())
        self._entries[keys.org_id] = entry
        self._entries.move_to_end(keys.org_id)
        while len(self._entries) > self._max:
            self._entries.popitem(last=False)
        return entry

    async def _ready(self, org_id: OrgId) -> OrganizationKeys:
        for _ in range(_ATTEMPTS):
            found = await self._store.find(org_id)
            if found is None:
                await self._create(org_id)
            elif not found.ready:
                await self._make_ready(found)
            else:
                return found
        raise Unavailable("The organization's keys are being made by others; try again")

    async def _create(self, org_id: OrgId) -> None:
        active = await self._roots.active_versions()
        usable = {version: secret for version, secret in self._held.items() if version in active}
        if not usable:
            raise VaultError(ROOT_REPLACED)
        await self._store.insert(OrganizationKeys.fresh(org_id, usable))

    async def _make_ready(self, found: OrganizationKeys) -> None:
        # The root may have been retired between our look and our insert. Retiring marks first and sweeps
        # afterwards: if a root still reads "active" here, our keys were inserted early enough to be swept.
        # Keys under retired roots alone were never used, because keys that are not ready are not used.
        kept = found.roots & await self._roots.active_versions()
        if kept:
            await self._store.swap(found, found.with_active_roots(kept))
        else:
            await self._store.remove_unready(found)

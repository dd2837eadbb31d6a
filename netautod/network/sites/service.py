"""The rules of sites: unique names, renames that reach every device, no deletion while in use."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.registries import Followers, References
from netautod.core.work.deadlines import call_by_call, waits
from netautod.network.sites.models import Site
from netautod.network.sites.store import SiteStore

NAME_TAKEN = "Site with this name already exists"


class SiteService:
    """The service of sites. `references`: what uses a site. `renamed`: what keeps a copy of its name,
    notified after each rename.
    """

    def __init__(self, *, store: SiteStore, clock: Clock, audit: AuditLog) -> None:
        self.references = References("Site")
        self.renamed = Followers()
        self._store = store
        self._removal = store.removal(self.references)
        self._clock = clock
        self._audit = audit

    async def resume(self) -> None:
        """Finish what a crash interrupted, at start, when the registries are filled."""
        await self._removal.resume()
        for org_id, site_id, rename in await self._store.renames():
            await self._spread(org_id, site_id, rename)

    async def get(self, org_id: OrgId, site_id: str) -> Site:
        """Return a site. Raises NotFound."""
        found = await self._store.get(org_id, site_id)
        if found is None:
            raise NotFound("Site not found")
        return found

    async def name_of(self, org_id: OrgId, site_id: str) -> str | None:
        """Return the site's name; None if there is no such site in the organization."""
        found = await self._store.get(org_id, site_id)
        return None if found is None else found.name

    async def id_of(self, org_id: OrgId, name: str) -> str | None:
        """Return the id of the managed site of this name; None if the organization has none."""
        return await self._store.id_of(org_id, name)

    async def names_of(self, org_id: OrgId, ids: Iterable[str]) -> dict[str, str]:
        """Return names by id for those of the ids that are sites of the organization."""
        return await self._store.names(org_id, ids)

    async def page(self, org_id: OrgId, page: Page) -> PageOf[Site]:
        """Return one page of sites, sorted by name."""
        return await self._store.page(org_id, page)

    async def create(self, caller: Caller, fields: Mapping[str, Any]) -> Site:
        """Create a site of fields as SiteRequest loads them. Raises Conflict for a taken name."""
        now = self._clock.now()
        site = Site(
            id=str(uuid4()),
            name=fields["name"],
            description=fields.get("description"),
            created_at=now,
            updated_at=now,
        )
        try:
            await self._store.insert(caller.org_id, site)
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        await self._audit.record(caller, "site.create", "site", site.id, {"name": site.name})
        return site

    @waits(call_by_call)
    async def update(self, caller: Caller, site_id: str, fields: Mapping[str, Any]) -> Site:
        """Change the sent fields. Raises NotFound, or Conflict for a taken name."""
        if not fields:
            return await self.get(caller.org_id, site_id)
        rename = uuid4().hex if "name" in fields else None
        try:
            site = await self._store.change(
                caller.org_id, site_id, fields, at=self._clock.now(), rename=rename
            )
        except Duplicate as error:
            raise Conflict(NAME_TAKEN) from error
        if site is None:
            raise NotFound("Site not found")
        if rename is not None:
            await self._spread(caller.org_id, site_id, rename)
        details = {"name": site.name, "fields": sorted(fields)}
        await self._audit.record(caller, "site.update", "site", site_id, details)
        return site

    async def delete(self, caller: Caller, site_id: str) -> None:
        """Delete a site. Raises NotFound, or Conflict that names what uses the site."""
        await self._removal.remove(caller.org_id, site_id)
        await self._audit.record(caller, "site.delete", "site", site_id)

    async def _spread(self, org_id: OrgId, site_id: str, rename: str) -> None:
        """Notify the followers until the name stands still: of two renames at once the last one stays."""
        notified = None
        while (name := await self.name_of(org_id, site_id)) != notified:
            await self.renamed.notify(org_id, site_id)
            notified = name
        # Nameless: its removal has begun. The note goes with it, or is worked off after the next start.
        if notified is not None:
            await self._store.finish_rename(org_id, site_id, rename)

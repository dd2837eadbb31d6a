"""The audit: who did what, when and from where."""

from typing import Any

from netautod.activity.audit.handlers import AuditQuery
from netautod.activity.audit.models import AuditFilter
from netautod.activity.audit.service import AuditLog
from netautod.console.base.pages import PageHandler
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.routing.routes import Route


class AuditPage(PageHandler):
    audit: AuditLog

    @requires("system.manage", query=AuditQuery)
    async def get(self) -> None:
        """Show the audit events, newest first."""
        narrowed: dict[str, Any] = dict(self.query)
        page = Page(limit=narrowed.pop("limit"), offset=narrowed.pop("offset"))
        listed = await self.audit.page(self.caller.org_id, AuditFilter(**narrowed), page)
        self.show("administration/audit.html", title="Audit", listed=listed)


PAGES = (Route(path="/audit", handler=AuditPage),)

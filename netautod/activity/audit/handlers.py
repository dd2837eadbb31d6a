"""The route GET /api/audit, and the schemas of its query and answer."""

from marshmallow import fields

from netautod.activity.audit.models import AuditEvent, AuditFilter
from netautod.activity.audit.service import AuditLog
from netautod.core.pages import Page
from netautod.core.schema.bases import Answer, Id, PageAnswer, PageQuery, QueryTimestamp, Timestamp
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


class AuditQuery(PageQuery):
    action = fields.String()
    actor_id = Id()
    resource_type = fields.String()
    resource_id = fields.String()
    since = QueryTimestamp()
    until = QueryTimestamp()


class AuditEventAnswer(Answer):
    id = Id()
    at = Timestamp()
    actor_id = Id(allow_none=True)
    actor_name = fields.String(allow_none=True)
    action = fields.String()
    resource_type = fields.String()
    resource_id = fields.String(allow_none=True)
    ip_address = fields.String(allow_none=True)
    request_id = fields.String(allow_none=True)
    details = fields.Dict()


class AuditAnswer(PageAnswer):
    events = fields.List(fields.Nested(AuditEventAnswer))


class AuditHandler(JsonHandler):
    audit: AuditLog

    @requires("system.manage", query=AuditQuery, answer=AuditAnswer, name="list_audit_events")
    async def get(self) -> None:
        """List the organization's audit events, newest first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        found = await self.audit.page(self.caller.org_id, AuditFilter(**self.query), page)
        self.answer(found.to_json("events", AuditEvent.to_json))


ROUTES = (Route(path="/api/audit", handler=AuditHandler),)

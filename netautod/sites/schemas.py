"""Requests and answers of /api/sites."""

from marshmallow import fields

from netautod.core.schema import Answer, Name, PageAnswer, Request, Text, Timestamp


class SiteRequest(Request):
    read_only = frozenset({"id", "org_id", "created_at", "updated_at"})
    name = Name(required=True)
    description = Text()


class SiteAnswer(Answer):
    id = fields.String()
    name = fields.String()
    description = fields.String(allow_none=True)
    created_at = Timestamp()
    updated_at = Timestamp()


class SitesAnswer(PageAnswer):
    sites = fields.List(fields.Nested(SiteAnswer))

"""Requests and answers of /api/sites."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import fields

from netautod.core.schema.bases import Answer, Id, Name, PageAnswer, Request, Text, Timestamp


class SiteRequest(Request):
    read_only = frozenset({"id", "org_id", "created_at", "updated_at"})
    example: ClassVar[Mapping[str, Any]] = {"name": "Berlin", "description": "The head office"}
    name = Name(required=True)
    description = Text()


class SiteAnswer(Answer):
    id = Id()
    name = fields.String()
    description = fields.String(allow_none=True)
    created_at = Timestamp()
    updated_at = Timestamp()


class SitesAnswer(PageAnswer):
    sites = fields.List(fields.Nested(SiteAnswer))

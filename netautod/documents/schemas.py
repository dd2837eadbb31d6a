"""Requests, queries and answers of documents and their versions."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    JsonObject,
    Name,
    Query,
    QueryBoolean,
    QueryInteger,
    Request,
    Text,
    Timestamp,
)
from netautod.documents.models import CATEGORIES, MAX_CONTENT_BYTES

MIB = 1024 * 1024
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
ONE_LINE = {"pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}
ONE_LINE_OF_TEXT = {"pattern": r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"}


def no_control_characters(text: str | None) -> None:
    """Refuse control characters: names are shown in lists, terminals and logs."""
    if text is not None and CONTROL.search(text):
        raise ValidationError("Control characters are not allowed.")


class Contents(fields.String):
    """A content, whose size in bytes the service checks (contents.py)."""

    described: ClassVar[Mapping[str, Any]] = {"maxLength": MAX_CONTENT_BYTES}
    may_be_blank = True  # white space of a form counts as it was typed
    most = MAX_CONTENT_BYTES * 2


class ContentTypeName(fields.String):
    """A content type of the service or of a plugin; content_types.py knows which exist."""

    def __init__(self, **options: Any) -> None:
        described = {"x-choices": "content_type"}
        super().__init__(**options, validate=validate.Length(min=1, max=64), metadata=described)


class DocumentRequest(Request):
    read_only = frozenset({"id", "org_id", "created_at", "updated_at", "encrypted", "locked"})
    example: ClassVar[Mapping[str, Any]] = {"name": "base configuration"}
    name = Name(required=True, validate=no_control_characters, metadata=ONE_LINE_OF_TEXT)
    category = fields.String(required=True, validate=validate.OneOf(CATEGORIES))
    content_type = ContentTypeName(required=True)
    content = Contents(required=True)
    parent_folder = Text(max_length=1024, validate=no_control_characters, metadata=ONE_LINE)
    session_id = Text(max_length=255, validate=no_control_characters, metadata=ONE_LINE)


class RenderRequest(Request):
    example: ClassVar[Mapping[str, Any]] = {"variables": {"name": "core-1"}}
    variables = JsonObject(most_bytes=MIB, load_default=dict)
    strict = Boolean(load_default=False)


class DocumentsQuery(Query):
    limit = QueryInteger(low=1, cap=100, load_default=None)
    offset = QueryInteger(low=0, load_default=0)
    category = fields.String(load_default=None, validate=validate.OneOf(CATEGORIES))
    parent_folder = fields.String(load_default=None)
    content_type = fields.String(load_default=None)
    q = fields.String(load_default=None)
    content = QueryBoolean(load_default=True)


class DocumentAnswer(Answer):
    id = Id()
    name = fields.String()
    category = fields.String()
    content_type = fields.String()
    content = fields.String()
    parent_folder = fields.String(allow_none=True)
    session_id = fields.String(allow_none=True)
    created_at = Timestamp()
    updated_at = Timestamp()
    encrypted = fields.Boolean()
    locked = fields.Boolean()


class DocumentItem(DocumentAnswer):
    """An element of the list; `content` is left out on request."""

    class Meta(Answer.Meta):
        many = True

    content = fields.String(metadata={"x-optional": True})


class VersionItem(Answer):
    """An element of the list of versions."""

    class Meta(Answer.Meta):
        many = True

    id = Id()
    document_id = Id()
    created_at = Timestamp()


class VersionAnswer(Answer):
    id = Id()
    document_id = Id()
    content = fields.String()
    created_at = Timestamp()


class VariablesAnswer(Answer):
    """The names that a template takes from its variables."""

    variables = fields.List(fields.String())


class RenderAnswer(Answer):
    output = fields.String()
    success = fields.Boolean()
    error = fields.String(allow_none=True)

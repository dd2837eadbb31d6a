"""Requests, queries and answers of synchronisations and tests of inventories."""

from marshmallow import fields, validate

from netautod.core.schema.bases import (
    Answer,
    Boolean,
    Id,
    PageAnswer,
    PageQuery,
    Query,
    QueryBoolean,
    Request,
    Timestamp,
)
from netautod.network.inventory.schemas import InventoryFilters, SyncCountsAnswer, Token, Url


class AdHocRequest(Request):
    inventory_url = Url(required=True)
    token = Token(required=True, load_only=True)
    filters = InventoryFilters()
    verify_ssl = Boolean()
    confirm_removals = Boolean()


class SyncRequest(Request):
    confirm_removals = Boolean()


class SourceTestRequest(Request):
    """The test of a saved source needs nothing."""


class SyncQuery(Query):
    dry_run = QueryBoolean(load_default=False)


class SyncHistoryQuery(PageQuery):
    source_id = Id()


class PlannedCreationAnswer(Answer):
    name = fields.String()
    inventory_id = fields.Integer(allow_none=True)


class PlannedChangeAnswer(Answer):
    device_id = Id()
    name = fields.String()
    changes = fields.List(fields.String())


class PlannedRemovalAnswer(Answer):
    device_id = Id()
    name = fields.String()


class SyncPlanAnswer(Answer):
    create = fields.List(fields.Nested(PlannedCreationAnswer))
    update = fields.List(fields.Nested(PlannedChangeAnswer))
    adopt = fields.List(fields.Nested(PlannedChangeAnswer))
    revive = fields.List(fields.Nested(PlannedChangeAnswer))
    remove = fields.List(fields.Nested(PlannedRemovalAnswer))
    release = fields.List(fields.Nested(PlannedRemovalAnswer))


class SyncAnswer(SyncCountsAnswer):
    """A result of a synchronisation. `plan` is there in the answer of a dry run alone."""

    plan = fields.Nested(SyncPlanAnswer, metadata={"x-optional": True})


class SourceTestAnswer(Answer):
    success = fields.Boolean()
    message = fields.String()
    version = fields.String(allow_none=True)
    device_count = fields.Integer(allow_none=True)
    duration_ms = fields.Integer()


class SyncEntryAnswer(SyncCountsAnswer):
    id = Id()
    source_id = Id(allow_none=True)
    source_name = fields.String(allow_none=True)
    inventory_url = fields.String()
    triggered_by = fields.String(validate=validate.OneOf(["manual", "schedule"]))
    started_at = Timestamp()
    completed_at = Timestamp(allow_none=True)
    success = fields.Boolean(allow_none=True)
    error = fields.String(allow_none=True)


class SyncHistoryAnswer(PageAnswer):
    history = fields.List(fields.Nested(SyncEntryAnswer))

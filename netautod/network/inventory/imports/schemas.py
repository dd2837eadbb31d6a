"""Requests and answers of the import routes."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from netautod.core.schema.bases import Answer, Query, QueryBoolean
from netautod.network.devices.schemas import DeviceRequest

JSON_ROWS: Mapping[str, Any] = {"application/json": {"type": "array", "items": DeviceRequest}}
FILE_FIELD = "file"
CSV = "name,host,device_type\ncore-1,192.0.2.10,cisco_ios\n"
CSV_FILE: Mapping[str, Any] = {
    "text/csv": {"type": "string", "format": "binary", "examples": [CSV]},
    "multipart/form-data": {
        "type": "object",
        "properties": {FILE_FIELD: {"type": "string", "format": "binary", "examples": [CSV]}},
        "required": [FILE_FIELD],
    },
}


class ImportQuery(Query):
    dry_run = QueryBoolean(load_default=False)


class RowErrorAnswer(Answer):
    row = fields.Integer(metadata={"description": "Counts the data rows from 1."})
    name = fields.String()
    error = fields.String()


class RowWarningAnswer(Answer):
    row = fields.Integer(metadata={"description": "The first row that the warning is about."})
    name = fields.String()
    warning = fields.String()


class ImportAnswer(Answer):
    imported = fields.Integer()
    failed = fields.Integer()
    errors = fields.List(
        fields.Nested(RowErrorAnswer),
        metadata={
            "description": "The first 10,000 rows that failed; with more of them the last error says so."
        },
    )
    warnings = fields.List(
        fields.Nested(RowWarningAnswer),
        metadata={"description": "Of a dry run that has some.", "x-optional": True},
    )

"""Requests and answers of the operations on devices: commands and tests of logins."""

from typing import Any

from marshmallow import fields

from netautod.core.schema.bases import Answer, Id, Ids, Integer, Request
from netautod.network.devices.operations.models import LONGEST_SECONDS, SHORTEST_SECONDS
from netautod.network.devices.schemas import Command

COMMAND_LENGTH = 4096
DEFAULT_SECONDS = 30


class Seconds(Integer):
    """A whole number of seconds; one beyond the range is taken as its end."""

    def __init__(self) -> None:
        text = f"Seconds; values outside {SHORTEST_SECONDS} to {LONGEST_SECONDS} are taken as the nearer end."
        super().__init__(load_default=DEFAULT_SECONDS, metadata={"description": text})

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        return max(SHORTEST_SECONDS, min(LONGEST_SECONDS, super()._deserialize(value, attr, data, **kwargs)))


class CommandRequest(Request):
    command = Command(most=COMMAND_LENGTH, required=True)
    timeout_secs = Seconds()


class CommandAnswer(Answer):
    success = fields.Boolean()
    output = fields.String()
    error = fields.String(allow_none=True)
    execution_time_ms = fields.Integer()


class LoginTestRequest(Request):
    credential_id = Id()
    timeout_seconds = Seconds()


class LoginTestsRequest(Request):
    device_ids = Ids(load_default=None)
    timeout_seconds = Seconds()


class LoginTestAnswer(Answer):
    device_id = Id()
    device_name = fields.String(allow_none=True)
    host = fields.String(allow_none=True)
    port = fields.Integer(allow_none=True)
    credential_id = Id(allow_none=True)
    success = fields.Boolean()
    message = fields.String()
    duration_ms = fields.Integer()


class LoginTestsAnswer(Answer):
    total = fields.Integer()
    succeeded = fields.Integer()
    failed = fields.Integer()
    duration_ms = fields.Integer()
    results = fields.List(fields.Nested(LoginTestAnswer))

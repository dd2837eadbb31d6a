"""Requests and answers of the notes vault."""

from typing import Any

from marshmallow import fields, validate

from netautod.core.schema.bases import Answer, Request

MAX_PASSWORD = 1024


class VaultStatusAnswer(Answer):
    unlocked = fields.Boolean()
    has_master_password = fields.Boolean()


class Password(fields.String):
    """A passphrase as it was typed: not trimmed, never empty."""

    may_be_blank = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = [*self.validators, validate.Length(min=1, max=MAX_PASSWORD)]


class VaultPasswordRequest(Request):
    password = Password(required=True)


class VaultPasswordChangeRequest(Request):
    old_password = Password(required=True)
    new_password = Password(required=True)

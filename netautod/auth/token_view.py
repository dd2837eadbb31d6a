"""What an API token is shown of itself: its name, its end, and what it may do now."""

from typing import Any

from marshmallow import fields

from netautod.core.identity import Caller
from netautod.core.json_values import optional_text
from netautod.core.schema import Answer, Id, Timestamp


class UsedTokenAnswer(Answer):
    id = Id()
    name = fields.String()
    expires_at = Timestamp(allow_none=True)


def used_token() -> fields.Nested:
    """The field `token` of an answer; left out where the caller has a session."""
    return fields.Nested(UsedTokenAnswer, metadata={"x-optional": True})


def token_view(caller: Caller) -> dict[str, Any]:
    """Nothing for a session; for an API token itself, and its permissions cut with its owner's."""
    token = caller.token
    if token is None:
        return {}
    shown = {"id": token.id, "name": token.name, "expires_at": optional_text(token.expires_at)}
    return {"permissions": sorted(caller.permissions), "token": shown}

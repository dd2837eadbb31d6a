"""Keys, claims of them, and the answers that are given again, as values."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from netautod.core.identity.caller import OrgId


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The scope in which a key stands for one request.

    `token_id`: the API token that the user acts through; all of a user's sessions are one scope, since a user
    who has lost the answer may have to log in again before the repeat. `path`: the route and the values of
    its parameters.
    """

    org_id: OrgId
    user_id: str
    token_id: str | None
    method: str
    path: Sequence[str]
    key: str

    @property
    def id(self) -> str:
        """The hash of the scope. It is encoded as JSON before, so that no two scopes run together into one
        text.
        """
        parts = [self.org_id, self.user_id, self.token_id, self.method, *self.path, self.key]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to do the request. `owner` is another one for each claim.

    `record_id`: the id of what the request makes. It stays the same for all who claim the key after one
    another: the node that takes over from one that died finds what that has made.
    """

    id: str
    org_id: OrgId
    owner: str
    record_id: str


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    """An answer that repeats are sent. `permissions`: those that the caller had when it was given."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    permissions: Sequence[str] = ()

    def to_bytes(self) -> bytes:
        head = {"status": self.status, "headers": dict(self.headers), "permissions": list(self.permissions)}
        return json.dumps(head).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        head, _, body = data.partition(b"\n")
        return cls(body=body, **json.loads(head))

"""The contract of HTTP routes under `/api/plugins/NAME/`, and what their handlers are given."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from marshmallow import Schema

from netautod.core.identity.permissions import grants
from netautod.plugin_api.acting import UserServices

ANY_TOKEN = "any"
"""The `access` of a route that any valid token may call; the handler looks at the caller itself."""
PUBLIC = "public"
"""The `access` of a route that asks for no token."""


@dataclass(frozen=True, kw_only=True)
class RequestCaller:
    """The caller of a request, with the permissions of this moment. `can` checks one of them, wildcards
    included.
    """

    user_id: str
    username: str
    org_id: str
    permissions: frozenset[str] = field(repr=False)

    def can(self, permission: str) -> bool:
        return grants(self.permissions, permission)


@dataclass(frozen=True, kw_only=True)
class RouteRequest:
    """A request. `caller` is None at a public route, where every call of `acting` is refused.

    `path` holds the segments that stand for the parameters of the path, `query` and `body` what the schemas
    of the route have loaded (empty without a schema). `request_id` is that of the answer and of every log
    line. `acting` are the services of the product with the rights of the caller.
    """

    caller: RequestCaller | None
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Any
    request_id: str
    acting: UserServices


@dataclass(frozen=True, kw_only=True)
class PluginRoute:
    """A method of one path below `/api/plugins/NAME`, such as `/backups/:id`.

    `access` is the key of a permission, ANY_TOKEN or PUBLIC. A parameter of the path that is called `id` or
    `..._id` is a UUID; anything else there is a 404. `query` and `body` check what comes: unknown fields,
    wrong types and what is too long are a 400; a `partial` body may leave required fields out. A POST or PUT
    without a `body` takes no field. `handler` returns the value that `answer` writes (its `Meta.many` for an
    array), or the text of an answer of the media type `produces`; None with the `status` 204. It raises the
    public errors of the product, and has `seconds`.

    A GET changes nothing. A method that changes something is in the audit log, if `changes` does not say that
    this one does not. `summary` is a sentence for the description of the API, which the schemas describe as
    well; examples are their fields' `metadata={"example": ...}`.
    """

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    access: str
    handler: Callable[[RouteRequest], Awaitable[Any]]
    summary: str
    status: int = 200
    query: type[Schema] | None = None
    body: type[Schema] | None = None
    partial: bool = False
    answer: type[Schema] | None = None
    produces: str | None = None
    changes: bool = True
    seconds: float = 30.0

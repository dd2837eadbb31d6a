"""An HTTP client that holds every answer to the OpenAPI description."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from netautod.core.identity.caller import Caller, OrgId
from netautod.core.identity.permissions import of_roles
from tests.support.fetching import fetch
from tests.support.promises import promises_of


@dataclass(frozen=True, kw_only=True)
class Response:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    def expect(self, status: int = 200) -> Any:
        """The JSON of an answer that has this status."""
        assert self.status == status, (self.status, self.content)
        return self.json


@dataclass(kw_only=True)
class ApiClient:
    """Speaks to one server; every answer is held to the OpenAPI description.

    Of a stream of events only the head is asked for, as nobody may wait for its end.
    """

    base_url: str
    description: dict[str, Any]
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def with_token(self, token: str | None) -> "ApiClient":
        return replace(self, token=token, headers=dict(self.headers))

    async def get(self, path: str, **options: Any) -> Response:
        return await self.request("GET", path, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Response:
        return await self.request("POST", path, body, **options)

    async def put(self, path: str, body: Any = None, **options: Any) -> Response:
        return await self.request("PUT", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Response:
        return await self.request("DELETE", path, **options)

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        if method == "GET" and promises_of(self.description).has_no_end(path):
            begun = await self.request("HEAD", path, body, raw=raw, headers=headers)
            if begun.status < 400:
                return begun
        sent = {**self.headers, **(headers or {})}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        if content is not None:  # Tornado's client would name a form
            sent.setdefault("Content-Type", "application/json")
        answer = await fetch(self.base_url + path, method, headers=sent, body=content)
        response = Response(status=answer.code, headers=answer.headers, content=answer.body)
        promises_of(self.description).hold(method, path, response)
        return response


def assert_error(response: Response, status: int, text: str = "") -> None:
    """The flat error body with this status, and a sentence that contains the text."""
    assert response.status == status, (response.status, response.content)
    assert text.lower() in response.json["error"].lower(), response.json


@dataclass(kw_only=True)
class ServedRoutes:
    """Some routes on a random port, with tokens that stand for callers instead of a login."""

    base_url: str
    description: dict[str, Any]
    callers: dict[str, Caller]

    def client(
        self, *permissions: str, org_id: str | None = None, user_id: str | None = None
    ) -> tuple[ApiClient, Caller]:
        """A client whose token carries exactly these permissions, in a new organization unless given."""
        token = uuid4().hex
        caller = Caller(
            user_id=user_id or str(uuid4()),
            org_id=OrgId(org_id or str(uuid4())),
            username=f"user-{token[:6]}",
            permissions=of_roles(permissions),
        )
        self.callers[token] = caller
        return ApiClient(base_url=self.base_url, description=self.description, token=token), caller

    def administrator(self, **options: Any) -> dict[str, Any]:
        """The fields of a Tenant: a new organization unless given, and its administrator."""
        api, caller = self.client("*", **options)
        return {"served": self, "api": api, "caller": caller}


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """An organization at served routes; `api` and `caller` are its administrator."""

    served: ServedRoutes
    api: ApiClient
    caller: Caller

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    def with_permissions(self, *permissions: str) -> ApiClient:
        """Another user of the organization."""
        return self.served.client(*permissions, org_id=self.org_id)[0]

    def elsewhere(self) -> ApiClient:
        """The administrator of another organization."""
        return self.served.client("*")[0]

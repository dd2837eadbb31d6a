"""Every change leaves an event, even if the service behind its route forgets to record one."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.refusals import RefusalLog
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.assembly import routes
from netautod.core.errors import Forbidden
from netautod.core.identity.caller import Caller, OrgId, RequestInfo, UsedToken
from netautod.http.access import public, requires
from netautod.http.handler import CHANGING, JsonHandler
from netautod.http.routing.routes import Route
from netautod.store.client import Database
from tests.activity.audit.chains import caller_of
from tests.support.client import ApiClient
from tests.support.clock import MovableClock
from tests.support.serving import Servers

# The routes that need no event, and why.
UNRECORDED = {
    "POST /api/tasks/preview": "a calculation",
    "POST /api/docs/:id/render": "a calculation",
    "POST /api/auth/refresh": "the session goes on: its login, its end and a reused token are events",
}
CALLER = replace(caller_of(), token=UsedToken(id="t", name="ci", expires_at=None))


def test_the_routes_without_a_trace_are_these() -> None:
    found = {
        f"{method} {route.path}"
        for route in routes.ROUTES
        for method, operation in route.operations().items()
        if method in CHANGING and not operation.changes
    }
    assert found == set(UNRECORDED)


class ThingHandler(JsonHandler):
    audit: AuditLog

    @requires("devices.manage", status=204)
    async def delete(self, thing: str) -> None:
        """Delete, and record it."""
        await self.audit.record(self.caller, "thing.delete", "thing", thing)
        self.answer_nothing()

    @requires("devices.manage", status=204)
    async def put(self, thing: str) -> None:
        """Change, and forget to record it."""
        self.answer_nothing()

    @requires("devices.manage", status=204)
    async def post(self, thing: str) -> None:
        """Refuse by a rule of the service."""
        raise Forbidden("not this one")

    @requires("devices.manage", status=204)
    async def get(self, thing: str) -> None:
        """Read."""
        self.answer_nothing()


class OpenHandler(JsonHandler):
    @public(status=204)
    async def post(self) -> None:
        """Change without a token."""
        self.answer_nothing()


@pytest.fixture
async def api(indexed: Database, clock: MovableClock, servers: Servers) -> AsyncIterator[ApiClient]:
    async def default_org() -> OrgId:
        return CALLER.org_id

    async def authenticate(token: str, info: RequestInfo) -> Caller:
        return replace(CALLER, request_id=info.request_id)

    audit = AuditLog(store=AuditStore(indexed), clock=clock)
    wanted = (
        Route(path="/api/things/:id", handler=ThingHandler),
        Route(path="/api/open", handler=OpenHandler),
    )
    async with RefusalLog(audit=audit, default_org=default_org, clock=clock) as refusals:
        client = servers.listen([audit], authenticate=authenticate, routes=wanted, refusals=refusals)
        yield client.with_token("any")


@pytest.mark.parametrize(
    ("method", "path", "left"),
    [
        pytest.param("DELETE", "/api/things/7", [("thing.delete", "7")], id="a change with its event"),
        pytest.param("PUT", "/api/things/7", [("request.done", "PUT /api/things/:id")], id="a forgotten one"),
        pytest.param("POST", "/api/open", [("request.done", "POST /api/open")], id="a public one"),
        pytest.param("POST", "/api/things/7", [("request.denied", "POST /api/things/:id")], id="a refusal"),
        pytest.param("GET", "/api/things/7", [], id="a reading"),
    ],
)
async def test_a_request_leaves_this(
    api: ApiClient, indexed: Database, method: str, path: str, left: list[tuple[str, str]]
) -> None:
    answer = await api.request(method, path)
    found = await indexed.collection(COLLECTION).find({})
    assert [(event["action"], event["resource_id"]) for event in found] == left
    assert {event["request_id"] for event in found} <= {answer.headers["X-Request-Id"]}
    if path != "/api/open":
        assert all(event["details"]["token"] == {"id": "t", "name": "ci"} for event in found)

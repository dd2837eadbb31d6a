"""The POST routes with an Idempotency-Key: each declares it with a reason, and a new one has to decide."""

from typing import NamedTuple

import pytest

from netautod.assembly.routes import ROUTES, description
from netautod.http.access import Repeat, public, requires
from netautod.http.context import HttpContext
from netautod.http.description.openapi import openapi_path
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route, UndeclaredError, application


class Decision(NamedTuple):
    repeat: Repeat | None
    reason: str


FINDS, AGAIN, NEVER = Repeat.FINDS, Repeat.AGAIN, Repeat.NEVER
SET = "it sets a state: to set it twice changes nothing"
ONCE = "it can be done once alone: a second time is a 409, or finds nothing to do"
LOOKS = "it changes nothing"
ACCOUNT = "answers of /api/auth/ hold tokens, which are kept nowhere"
UNIQUE = "creates; its name is unique, so that what is there already is a 409"
ID = "creates; the id follows from the key"
CONVERGES = "runs; done again it finds what it has done and leaves it"

DECISIONS = {
    "/api/agents/tools/check": Decision(None, LOOKS),
    "/api/auth/ldap": Decision(None, ACCOUNT),
    "/api/auth/ldap/test": Decision(None, ACCOUNT),
    "/api/auth/login": Decision(None, ACCOUNT),
    "/api/auth/logout": Decision(None, ACCOUNT),
    "/api/auth/otp": Decision(None, ACCOUNT),
    "/api/auth/otp/confirm": Decision(None, ACCOUNT),
    "/api/auth/providers/:name/test": Decision(None, ACCOUNT),
    "/api/auth/refresh": Decision(None, ACCOUNT),
    "/api/auth/tokens": Decision(None, ACCOUNT),
    "/api/config/devices/:device_id/pull": Decision(AGAIN, "runs; a config that is stored makes no version"),
    "/api/config/devices/bulk-pull": Decision(
        FINDS, "runs; in the background the execution's id follows from the key, else as a single pull"
    ),
    "/api/credentials": Decision(AGAIN, UNIQUE),
    "/api/devices": Decision(FINDS, ID),
    "/api/devices/:id/exec-command": Decision(NEVER, "runs what may change a device each time"),
    "/api/devices/:id/host-key/reset": Decision(None, SET),
    "/api/devices/:id/poll": Decision(AGAIN, "runs; a poll that waits is the one that is answered"),
    "/api/devices/:id/test-credential": Decision(AGAIN, "runs; a refused login is not tried again by itself"),
    "/api/devices/:id/vouch": Decision(None, SET),
    "/api/devices/bulk/test-credentials": Decision(AGAIN, "runs; as a single test"),
    "/api/devices/import/csv": Decision(AGAIN, CONVERGES),
    "/api/devices/import/json": Decision(AGAIN, CONVERGES),
    "/api/devices/sources/inventory": Decision(AGAIN, UNIQUE),
    "/api/devices/sources/inventory/:source_id/sync": Decision(AGAIN, CONVERGES),
    "/api/devices/sources/inventory/:source_id/test": Decision(None, LOOKS),
    "/api/devices/sync/inventory": Decision(AGAIN, CONVERGES),
    "/api/devices/sync/inventory/test": Decision(None, LOOKS),
    "/api/devices/vouch": Decision(None, SET),
    "/api/docs": Decision(FINDS, ID),
    "/api/docs/:id/render": Decision(None, LOOKS),
    "/api/docs/:id/restore/:version_id": Decision(AGAIN, "creates a version; one more of them loses nothing"),
    "/api/host-keys/prompts/:id/approve": Decision(None, ONCE),
    "/api/host-keys/prompts/:id/reject": Decision(None, ONCE),
    "/api/roles": Decision(AGAIN, UNIQUE),
    "/api/sites": Decision(AGAIN, UNIQUE),
    "/api/ssh-ca/revoke": Decision(None, SET),
    "/api/system/pause": Decision(None, SET),
    "/api/system/resume": Decision(None, SET),
    "/api/tasks/agent-schedules": Decision(FINDS, ID),
    "/api/tasks/agent-schedules/:id/run": Decision(FINDS, "runs; the execution's id follows from the key"),
    "/api/tasks/agent-schedules/:id/toggle": Decision(None, SET),
    "/api/tasks/executions/:id/approve": Decision(None, ONCE),
    "/api/tasks/executions/:id/cancel": Decision(None, ONCE),
    "/api/tasks/executions/:id/reject": Decision(None, ONCE),
    "/api/tasks/executions/:id/retry-failed": Decision(
        FINDS, "runs; the execution's id follows from the key"
    ),
    "/api/tasks/preview": Decision(None, LOOKS),
    "/api/tasks/schedules": Decision(FINDS, ID),
    "/api/tasks/schedules/:id/run": Decision(FINDS, "runs; the execution's id follows from the key"),
    "/api/tasks/schedules/:id/toggle": Decision(None, SET),
    "/api/users": Decision(AGAIN, UNIQUE),
    "/api/webhooks": Decision(FINDS, ID),
    "/api/webhooks/:id/test": Decision(None, "posts what says that it is a test, once more if asked to"),
    "/api/vault/lock": Decision(None, SET),
    "/api/vault/password": Decision(None, ONCE),
    "/api/vault/unlock": Decision(None, SET),
}


def test_every_post_has_a_decision() -> None:
    declared = {
        route.path: operation.repeat
        for route in ROUTES
        for method, operation in route.operations().items()
        if method == "POST"
    }
    assert declared == {path: decision.repeat for path, decision in DECISIONS.items()}


def test_what_changes_nothing_takes_no_key_and_what_is_created_takes_one() -> None:
    for route in ROUTES:
        operation = route.operations().get("POST")
        if operation is not None and not route.path.startswith("/api/auth/"):
            assert operation.changes or operation.repeat is None
            assert operation.status not in (201, 202) or operation.repeat is not None, route.path


@pytest.mark.parametrize("path", sorted(DECISIONS))
def test_the_description_names_the_header_where_it_is_taken(path: str) -> None:
    operation = description()["paths"][openapi_path(path)]["post"]
    named = [one["name"] for one in operation.get("parameters", []) if one.get("in") == "header"]
    assert ("Idempotency-Key" in named) == (DECISIONS[path].repeat is not None)
    if "Idempotency-Key" in named:
        assert "409" in operation["responses"]


class KeyedGet(JsonHandler):
    @requires("a.b", repeat=Repeat.AGAIN)
    async def get(self) -> None:
        """Return something."""


class KeyedPublic(JsonHandler):
    @public(repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Answer under a key that belongs to no caller."""


class KeyedAccount(JsonHandler):
    @requires("a.b", repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Return a token."""


@pytest.mark.parametrize(
    ("path", "handler"), [("/a", KeyedGet), ("/b", KeyedPublic), ("/api/auth/new", KeyedAccount)]
)
def test_the_service_refuses_to_start_with_a_key_where_none_can_be(
    path: str, handler: type[JsonHandler]
) -> None:
    context: HttpContext = None  # type: ignore[assignment]  # it is not come to
    with pytest.raises(UndeclaredError, match="can take no Idempotency-Key"):
        application([Route(path=path, handler=handler)], context, ())

"""GET /api/audit: newest first, of one's own organization, narrowed."""

from typing import Any

import pytest

from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.core.identity.caller import Caller
from netautod.core.json.values import to_text
from netautod.store.client import Database
from tests.support.client import ApiClient, assert_error
from tests.support.clock import MovableClock
from tests.support.serving import Serve


@pytest.fixture
def audit(indexed: Database, clock: MovableClock) -> AuditLog:
    return AuditLog(store=AuditStore(indexed), clock=clock)


@pytest.fixture
async def reader(audit: AuditLog, serve: Serve) -> tuple[ApiClient, Caller]:
    return (await serve(audit)).client("system.manage")


async def test_an_event_is_shown_whole(
    audit: AuditLog, clock: MovableClock, reader: tuple[ApiClient, Caller]
) -> None:
    client, caller = reader
    await audit.record(caller, "device.create", "device", "d-1", {"name": "core", "tags": ["a"]})
    (event,) = (await client.get("/api/audit")).json["events"]
    event_id = event.pop("id")
    assert event == {
        "at": to_text(clock.now()),
        "actor_id": caller.user_id,
        "actor_name": caller.username,
        "action": "device.create",
        "resource_type": "device",
        "resource_id": "d-1",
        "ip_address": None,
        "request_id": None,
        "details": {"name": "core", "tags": ["a"]},
    }
    assert len(event_id) == 36


async def test_events_without_an_actor_are_shown(audit: AuditLog, reader: tuple[ApiClient, Caller]) -> None:
    client, caller = reader
    await audit.record_for(
        caller.org_id,
        actor_id=None,
        actor_name=None,
        action="auth.login_failed",
        resource_type="user",
        resource_id=None,
        ip_address="192.0.2.1",
        request_id="request-1",
    )
    (event,) = (await client.get("/api/audit")).json["events"]
    assert (event["actor_id"], event["actor_name"], event["details"]) == (None, None, {})


async def test_the_newest_come_first_page_by_page(
    audit: AuditLog, clock: MovableClock, reader: tuple[ApiClient, Caller]
) -> None:
    client, caller = reader
    for number in range(5):
        await audit.record(caller, f"a{number}", "device", None)
        clock.move(number % 2)  # some of one moment: their order is that of their ids
    found = []
    for offset in range(5):
        page = (await client.get(f"/api/audit?limit=1&offset={offset}")).json
        assert (page["total"], page["limit"], page["offset"]) == (5, 1, offset)
        found += page["events"]
    assert found == (await client.get("/api/audit")).json["events"]
    assert found == sorted(sorted(found, key=lambda row: row["id"]), key=lambda row: row["at"], reverse=True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("action=user.create", ["user.create"], id="by action"),
        pytest.param("resource_type=user", ["user.delete", "user.create"], id="by resource type"),
        pytest.param("resource_type=user&resource_id=u2", ["user.delete"], id="by resource"),
        pytest.param("since=SECOND", ["user.delete", "device.create"], id="since, included"),
        pytest.param("until=SECOND", ["user.create"], id="until, not included"),
        pytest.param("since=SECOND&action=user.delete", ["user.delete"], id="by both"),
        pytest.param("action=%7B%22%24ne%22:1%7D", [], id="an operator as a text"),
        pytest.param("unknown=1", ["user.delete", "device.create", "user.create"], id="an unknown key"),
    ],
)
async def test_a_list_is_narrowed(
    audit: AuditLog, clock: MovableClock, reader: tuple[ApiClient, Caller], query: str, found: list[str]
) -> None:
    client, caller = reader
    await audit.record(caller, "user.create", "user", "u1")
    clock.move(1)
    second = to_text(clock.now())
    await audit.record(caller, "device.create", "device", "d")
    clock.move(1)
    await audit.record(caller, "user.delete", "user", "u2")
    answer = (await client.get(f"/api/audit?{query.replace('SECOND', second)}")).json
    assert [event["action"] for event in answer["events"]] == found
    assert answer["total"] == len(found)
    assert (await client.get(f"/api/audit?actor_id={caller.user_id}")).json["total"] == 3


@pytest.mark.parametrize("query", ["limit=0", "offset=-1", "since=yesterday", "actor_id=me"])
async def test_a_bad_query_is_a_400(reader: tuple[ApiClient, Caller], query: str) -> None:
    assert_error(await reader[0].get(f"/api/audit?{query}"), 400, query.partition("=")[0])


async def test_a_caller_cannot_read_another_organizations_events(
    audit: AuditLog, database: Database, serve: Serve
) -> None:
    served = await serve(audit)
    (client, caller), (other, _) = served.client("system.manage"), served.client("*")
    await audit.record(caller, "device.create", "device", None)
    assert (await client.get("/api/audit")).json["total"] == 1
    empty: dict[str, Any] = (await other.get(f"/api/audit?org_id={caller.org_id}")).json
    assert (empty["events"], empty["total"]) == ([], 0)
    weaker, _ = served.client("users.manage", "devices.*", org_id=caller.org_id)
    assert_error(await weaker.get("/api/audit"), 403)

"""Refused requests are counted by caller and route: one event at once, one for the rest of each minute."""

from typing import Any

import pytest

from netautod.activity.audit import refusals
from netautod.activity.audit.chain.store import ChainStore
from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.refusals import RefusalLog
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller, OrgId, RequestInfo, UsedToken
from netautod.core.identity.refusals import Refusal
from netautod.store.client import Database
from tests.activity.audit.chains import caller_of
from tests.support.clock import MovableClock

DEFAULT = OrgId("the default organization")


@pytest.fixture
def log(indexed: Database, clock: MovableClock) -> RefusalLog:
    async def default_org() -> OrgId:
        return DEFAULT

    audit = AuditLog(store=AuditStore(indexed), clock=clock)
    return RefusalLog(audit=audit, default_org=default_org, clock=clock)


def refusal(caller: Caller | None = None, address: str = "192.0.2.1", **changes: Any) -> Refusal:
    fields = {"status": 403 if caller else 401, "reason": "no", "method": "GET", "route": "/api/users/:id"}
    info = RequestInfo(ip_address=address, request_id="r", user_agent="")
    return Refusal(**{**fields, "permission": None, "caller": caller, "info": info, **changes})


async def counts(database: Database) -> list[int]:
    found = await database.collection(COLLECTION).find({}, sort=[("org_id", 1), ("seq", 1)])
    return [event["details"]["count"] for event in found]


async def test_the_first_is_written_at_once_and_the_rest_of_a_minute_as_one(
    log: RefusalLog, indexed: Database, clock: MovableClock
) -> None:
    for _ in range(10):
        await log.record(refusal())
    assert await counts(indexed) == [1]
    clock.move(59)
    await log.write_due()
    assert await counts(indexed) == [1]
    clock.move(1)
    await log.write_due()
    assert await counts(indexed) == [1, 9]
    await log.record(refusal())  # of the next minute: that has an event already
    assert await counts(indexed) == [1, 9]
    clock.move(60)
    await log.write_due()
    clock.move(60)
    await log.write_due()
    assert await counts(indexed) == [1, 9, 1]
    await log.record(refusal())
    assert await counts(indexed) == [1, 9, 1, 1]


async def test_what_is_counted_is_written_at_the_stop(log: RefusalLog, indexed: Database) -> None:
    async with log:
        for _ in range(3):
            await log.record(refusal())
    assert await counts(indexed) == [1, 2]


async def test_callers_and_routes_are_counted_apart(log: RefusalLog, indexed: Database) -> None:
    ada = caller_of()
    token = UsedToken(id="t1", name="ci", expires_at=None)
    by_token = caller_of(user_id=ada.user_id, org_id=ada.org_id, token=token)
    for each in (refusal(ada), refusal(by_token), refusal(ada, route="/api/audit"), refusal()):
        await log.record(each)
        await log.record(each)
    assert await counts(indexed) == [1, 1, 1, 1]
    found = await indexed.collection(COLLECTION).find({"org_id": ada.org_id}, sort=[("seq", 1)])
    assert {event["actor_id"] for event in found} == {ada.user_id}
    assert [event["details"].get("token") for event in found] == [None, {"id": "t1", "name": "ci"}, None]
    assert [event["resource_id"] for event in found][-1] == "GET /api/audit"
    (stranger,) = await indexed.collection(COLLECTION).find({"org_id": DEFAULT})
    assert (stranger["action"], stranger["actor_id"]) == ("request.token_refused", None)
    assert stranger["ip_address"] == "192.0.2.1"


async def test_a_flood_of_strangers_takes_neither_memory_nor_the_events_of_callers(
    log: RefusalLog, indexed: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MOST_STRANGERS", 10)
    async with log:
        for number in range(200):
            await log.record(refusal(address=f"192.0.2.{number}"))
        await log.record(refusal(caller_of()))
    found = await counts(indexed)
    assert sum(found) == 201
    assert len(found) == 10 + 2 + 1  # the others of the route: the first, and all that came behind


async def test_a_refusal_stays_one_while_the_database_is_down(
    log: RefusalLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(self: ChainStore, org_id: OrgId) -> None:
        raise Unavailable("the database is down")

    monkeypatch.setattr(ChainStore, "newest", fail)
    await log.record(refusal())
    assert "request.token_refused" in caplog.text

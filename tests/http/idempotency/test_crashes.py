"""A request whose node dies, or whose answer is lost: nothing is done twice unnoticed, no key is stuck.

A death is a failure after which the node writes nothing any more: what was written before it stays.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.audit.service import AuditLog
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.store import TaskStore
from netautod.core.errors import Unavailable
from netautod.documents.store import DocumentStore
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.idempotency.store import IdempotencyStore
from netautod.network.devices.store import DeviceStore
from netautod.store.client import Collection
from netautod.store.clock.server_clock import ServerClock
from tests.http.idempotency.conftest import Keyed, Workshop, end_leases
from tests.support.client import ApiClient, assert_error
from tests.support.record_nodes import RESOURCES

REPLAYED = "Idempotent-Replayed"
RUN = "run"
CREATES: dict[str, tuple[type, str]] = {
    "schedule": (TaskStore, "tasks"),
    "agent schedule": (TaskStore, "tasks"),
    "device": (DeviceStore, "devices"),
    "document": (DocumentStore, "documents"),
    "note": (DocumentStore, "documents"),
    RUN: (ExecutionStore, "executions"),
}
Write = Callable[..., Awaitable[Any]]


def key() -> dict[str, str]:
    return {"Idempotency-Key": f"test-{uuid4()}"}


class Once:
    """A patch that replaces a method for one call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.monkeypatch, self.owner, self.name = monkeypatch, owner, name
        self.method: Write = getattr(owner, name)

    def dies(self, *, after: bool) -> None:
        self.monkeypatch.setattr(IdempotencyKeys, "release", nothing)
        self.fails(RuntimeError("the node died"), after=after)

    def fails(self, failure: BaseException, *, after: bool) -> None:
        async def failing(subject: Any, *args: Any, **kwargs: Any) -> Any:
            self.monkeypatch.setattr(self.owner, self.name, self.method)
            if after:
                await self.method(subject, *args, **kwargs)
            raise failure

        self.monkeypatch.setattr(self.owner, self.name, failing)


async def nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing, as a dead node."""


async def create_request(api: ApiClient, what: str) -> tuple[str, Any]:
    """Return the path and body of a request that makes one record of the kind."""
    if what == RUN:
        return f"{await RESOURCES[0].made(api)}/run", None
    resource = next(one for one in RESOURCES if one.name == what)
    return resource.path, resource.body


POINTS = {
    "before the write": lambda patch, what: Once(patch, CREATES[what][0], "insert").dies(after=False),
    "after the write": lambda patch, what: Once(patch, CREATES[what][0], "insert").dies(after=True),
    "after the audit": lambda patch, what: Once(patch, AuditLog, "record").dies(after=True),
    "before the answer is kept": lambda patch, what: Once(patch, IdempotencyStore, "keep").dies(after=False),
}


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("what", CREATES)
async def test_a_repeat_finds_what_a_dead_node_has_made(
    apis: tuple[ApiClient, ApiClient],
    rows: Collection,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    point: str,
) -> None:
    here, there = apis
    (path, body), sent = await create_request(here, what), key()
    POINTS[point](monkeypatch, what)
    assert (await here.post(path, body, headers=sent)).status == 500  # a dead node answers nothing
    assert_error(await there.post(path, body, headers=sent), 409, "still in work")
    await end_leases(rows)
    answers = await asyncio.gather(*(apis[number % 2].post(path, body, headers=sent) for number in range(6)))
    done = [one for one in answers if one.status in (201, 202)]
    assert done
    assert {one.status for one in answers} <= {done[0].status, 409}
    assert len({one.content for one in done}) == 1
    again = await here.post(path, body, headers=sent)
    assert (again.content, again.headers[REPLAYED]) == (done[0].content, "true")
    listed = (await here.get(path if what != RUN else "/api/tasks/executions")).expect()
    assert len(listed if isinstance(listed, list) else next(iter(listed.values()))) == 1


@pytest.mark.parametrize("what", CREATES)
async def test_a_failure_after_the_write_is_made_up_for_by_the_repeat(
    apis: tuple[ApiClient, ApiClient], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Repeat the request: the key is free for the same one at once, which goes on under the same id."""
    here, there = apis
    (path, body), sent = await create_request(here, what), key()
    Once(monkeypatch, AuditLog, "record").fails(Unavailable("The database is away"), after=False)
    assert_error(await here.post(path, body, headers=sent), 503)
    if what != RUN:
        assert_error(await there.post(path, {**body, "name": "another"}, headers=sent), 409, "another body")
    done = await there.post(path, body, headers=sent)
    assert done.status in (201, 202)
    assert REPLAYED not in done.headers
    listed = (await here.get(path if what != RUN else "/api/tasks/executions")).expect()
    assert [done.json["id"]] == [
        one["id"] for one in (listed if isinstance(listed, list) else next(iter(listed.values())))
    ]


async def test_what_must_not_be_done_twice_is_not_done_by_a_repeat(
    workshop: Workshop, rows: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = key()
    monkeypatch.setattr(IdempotencyKeys, "release", nothing)
    workshop.work.failure = RuntimeError("the node died")
    assert (await workshop.api.post("/never", {"note": {}}, headers=sent)).status == 500
    assert_error(await workshop.other.post("/never", {"note": {}}, headers=sent), 409, "still in work")
    await end_leases(rows)
    for _ in range(2):
        assert_error(await workshop.other.post("/never", {"note": {}}, headers=sent), 409, "is unknown")
    assert_error(await workshop.other.post("/never", {}, headers=sent), 409, "another body")
    assert workshop.work.starts == 1
    (await workshop.other.post("/never", {"note": {}}, headers=key())).expect(200)


async def test_a_failure_of_what_must_not_be_done_twice_is_unclear_too(workshop: Workshop) -> None:
    sent = key()
    workshop.work.failure = Unavailable("lost on the way")
    assert_error(await workshop.api.post("/never", headers=sent), 503)
    assert_error(await workshop.other.post("/never", headers=sent), 409, "is unknown")
    assert workshop.work.starts == 1


async def test_what_may_be_done_again_is_done_again(
    workshop: Workshop, rows: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = key()
    monkeypatch.setattr(IdempotencyKeys, "release", nothing)
    workshop.work.failure = RuntimeError("the node died")
    assert (await workshop.api.post("/again", headers=sent)).status == 500
    await end_leases(rows)
    (await workshop.other.post("/again", headers=sent)).expect(202)
    assert workshop.work.starts == 2


@pytest.mark.parametrize("route", ["/again", "/never"])
async def test_a_lease_that_a_set_clock_has_ended_is_still_held(
    workshop: Workshop, rows: Collection, monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    """The node of the first request is about to renew it."""
    sent = key()
    monkeypatch.setattr(IdempotencyKeys, "release", nothing)
    workshop.work.failure = RuntimeError("the node died")
    assert (await workshop.api.post(route, headers=sent)).status == 500
    await end_leases(rows)
    with monkeypatch.context() as jumped:
        jumped.setattr(ServerClock, "jumped_within", lambda *_: True)
        assert_error(await workshop.other.post(route, headers=sent), 409, "still in work")
    assert (await workshop.other.post(route, headers=sent)).status == (202 if route == "/again" else 409)
    assert workshop.work.starts == (2 if route == "/again" else 1)


@pytest.mark.parametrize("path", ["/again", "/never"])
async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    Once(monkeypatch, IdempotencyStore, "keep").fails(Unavailable("The database is away"), after=False)
    assert (await workshop.api.post(path, headers=key())).status in (200, 202)


async def test_the_lease_holds_for_as_long_as_the_work_takes(keyed: Keyed, rows: Collection) -> None:
    shop, sent = await keyed.workshop(lease=timedelta(seconds=1.5)), key()
    first = asyncio.create_task(shop.api.post("/again", headers=sent))
    await shop.work.started.wait()
    where = {"org_id": shop.org_id}
    started = await rows.find_one(where)
    assert started is not None
    while True:  # until it would have ended twice
        row = await rows.find_one(where)
        assert row is not None
        if (row["lease_until"] - started["lease_until"]).total_seconds() > 1.5:
            break
        await asyncio.sleep(0.05)
    assert_error(await shop.other.post("/again", headers=sent), 409, "still in work")
    shop.work.go.set()
    (await first).expect(202)
    assert shop.work.starts == 1


async def test_the_late_answer_of_a_node_that_lost_its_key_is_not_kept(
    keyed: Keyed, rows: Collection
) -> None:
    """Hold a node up for longer than its lease, while another one does the work."""
    shop, sent = await keyed.workshop(), key()
    held = shop.work.held[1] = asyncio.Event()
    late = asyncio.create_task(shop.api.post("/again", headers=sent))
    await shop.work.started.wait()
    await end_leases(rows)
    shop.work.go.set()
    assert (await shop.other.post("/again", headers=sent)).expect(202)["started"] == 2
    held.set()
    assert (await late).expect(202)["started"] == 1
    again = await shop.api.post("/again", headers=sent)
    assert (again.json["started"], again.headers[REPLAYED]) == (2, "true")


async def test_under_a_key_the_work_outlives_the_connection(keyed: Keyed) -> None:
    """Disconnect the client, which comes back for the answer: that is what the key is for."""
    shop, sent = await keyed.workshop(), "a-key"
    _, writer = await asyncio.open_connection("127.0.0.1", int(shop.api.base_url.rpartition(":")[2]))
    head = f"POST /never HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {shop.api.token}\r\n"
    writer.write(f"{head}Idempotency-Key: {sent}\r\nContent-Length: 0\r\n\r\n".encode())
    await shop.work.started.wait()
    writer.close()
    await writer.wait_closed()
    assert_error(await shop.other.post("/never", headers={"Idempotency-Key": sent}), 409, "still in work")
    shop.work.go.set()
    again = await shop.other.post("/never", headers={"Idempotency-Key": sent})
    while again.status == 409 and "still in work" in again.json["error"]:
        await asyncio.sleep(0.02)
        again = await shop.other.post("/never", headers={"Idempotency-Key": sent})
    assert (again.expect()["started"], again.headers[REPLAYED]) == (1, "true")

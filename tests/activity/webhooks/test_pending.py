"""Pending events in documents: found oldest first, cleared by id, discarded for a restore."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.activity.webhooks.outbox.pending import Pending, PendingEvent, PendingEvents
from netautod.store.client import Collection, Database, Document

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


@pytest.fixture
def rows(database: Database) -> Collection:
    return database.collection("things")


async def put(rows: Collection, record: str, **fields: Any) -> None:
    await rows.insert({"_id": record, "org_id": "o", **fields})


async def found(pending: Pending, minutes: int = 60, limit: int = 10) -> list[str]:
    return [row["_id"] for row in await pending.find(before=at(minutes), limit=limit)]


async def read(rows: Collection, record: str) -> Document:
    document = await rows.find_one({"_id": record})
    assert document is not None
    return document


async def test_an_event_of_a_document_is_found_by_its_moment(rows: Collection) -> None:
    pending = PendingEvent(rows, field="pending", at="pending.at", fields={"org_id": 1, "pending": 1})
    for record, minutes in (("b", 2), ("a", 1), ("later", 61)):
        await put(rows, record, pending={"at": at(minutes)}, text="large")
    await put(rows, "none")
    assert (await found(pending), await found(pending, limit=1)) == (["a", "b"], ["a"])
    [first, _] = await pending.find(before=at(60), limit=2)
    assert first == {"_id": "a", "org_id": "o", "pending": {"at": at(1)}}
    await pending.clear({"a": ["any"]})
    assert (await found(pending), await read(rows, "a")) == (
        ["b"],
        {"_id": "a", "org_id": "o", "text": "large"},
    )
    await pending.discard()
    assert await found(pending, minutes=90) == []


async def test_an_event_that_a_later_one_replaced_is_not_cleared_with_it(rows: Collection) -> None:
    pending = PendingEvent(rows, field="pending", at="pending.at", event_id="pending.id")
    for record in ("replaced", "same"):
        await put(rows, record, pending={"at": at(1), "id": record})
    await pending.clear({"replaced": ["an earlier one"], "same": ["same"]})
    assert await found(pending) == ["replaced"]


async def test_events_of_a_list_are_cleared_one_by_one(rows: Collection) -> None:
    pending = PendingEvents(rows, field="pending", at="pending_at")
    events = [{"id": str(number), "at": at(number)} for number in range(3)]
    await put(rows, "a", pending=events, pending_at=at(0))
    await put(rows, "b", pending=[events[1]], pending_at=at(1))
    assert await found(pending) == ["a", "b"]
    await pending.clear({"a": ["0"], "b": ["1"]})
    assert (await read(rows, "a"))["pending"] == events[1:]
    assert await found(pending, minutes=1) == []  # it waits since its first event now
    assert await found(pending, minutes=2) == ["a"]
    await pending.clear({"a": ["1", "2"]})
    assert await read(rows, "a") == {"_id": "a", "org_id": "o"}
    await put(rows, "c", pending=events, pending_at=at(0))
    await pending.discard()
    assert await found(pending) == []
    assert await read(rows, "c") == {"_id": "c", "org_id": "o"}


async def test_a_list_of_events_without_a_moment_keeps_its_own(rows: Collection) -> None:
    pending = PendingEvents(rows, field="pending", at="pending_at")
    await put(rows, "a", pending=[{"id": "0"}, {"id": "1"}], pending_at=at(1))
    await pending.clear({"a": ["0"]})
    assert await found(pending) == ["a"]

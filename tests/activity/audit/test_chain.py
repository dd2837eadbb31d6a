"""The chain of audit events: written by several nodes at once, and verified against whoever changes it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.audit.chain.adoption import adopt
from netautod.activity.audit.chain.links import Link, hash_of
from netautod.activity.audit.chain.store import CHAINS, ChainStore
from netautod.activity.audit.chain.verifying import Verdict, verify
from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller
from netautod.store.client import Collection, Database
from tests.activity.audit.chains import caller_of, record
from tests.support.clock import MovableClock

Tamper = Callable[[Collection, str], Awaitable[object]]


async def verdict_of(database: Database, caller: Caller, expected: Link | None = None) -> Verdict:
    return await verify(ChainStore(database), caller.org_id, expected=expected)


async def test_events_of_several_nodes_make_one_chain(indexed: Database, clock: MovableClock) -> None:
    caller = caller_of()
    logs = [AuditLog(store=AuditStore(indexed), clock=clock) for _ in range(3)]

    async def write(log: AuditLog, name: str) -> None:
        for number in range(30):
            await log.record(caller, name, "device", str(number))

    await asyncio.gather(
        *(write(log, f"n{at}") for at, log in enumerate(logs)), *(record(log, caller, 300) for log in logs)
    )
    found = await indexed.collection(COLLECTION).find({}, sort=[("seq", 1)])
    assert [event["seq"] for event in found] == list(range(1, 3 * 330 + 1))
    verdict = await verdict_of(indexed, caller)
    assert (verdict.faults, verdict.events, verdict.newest) == (
        0,
        990,
        Link(seq=990, hash=found[-1]["hash"]),
    )
    for name in ("n0", "n1", "n2"):
        assert [event["resource_id"] for event in found if event["action"] == name] == [
            str(number) for number in range(30)
        ]


async def test_ten_thousand_events_keep_their_order(indexed: Database, clock: MovableClock) -> None:
    caller = caller_of()
    await record(AuditLog(store=AuditStore(indexed), clock=clock), caller, 10_000)
    found = await indexed.collection(COLLECTION).find({}, fields={"resource_id": 1}, sort=[("seq", 1)])
    assert [event["resource_id"] for event in found] == [f"d{number}" for number in range(10_000)]


async def test_a_cancelled_caller_leaves_its_event(indexed: Database, clock: MovableClock) -> None:
    caller, log = caller_of(), AuditLog(store=AuditStore(indexed), clock=clock)
    appends = [asyncio.create_task(log.record(caller, f"a{n}", "device", None)) for n in range(3)]
    await asyncio.sleep(0)
    appends[1].cancel()
    await asyncio.gather(appends[0], appends[2])
    assert await indexed.collection(COLLECTION).distinct("action", {}) == ["a0", "a1", "a2"]
    assert (await verdict_of(indexed, caller)).faults == 0


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({"b": 1, "a": {"z": None, "y": [1.0, 0.1, -0.0, 1e300]}}, id="numbers and nesting"),
        pytest.param({"big": 2**63 - 1, "small": -(2**63), "bigger": 2**80}, id="large numbers"),
        pytest.param({"at": datetime(2026, 1, 1, 1, 2, 3, 456789, tzinfo=UTC)}, id="a moment"),
        pytest.param({"$set": {"a.b": "x\u202ey\x00"}, "": ["\u2028", True]}, id="odd names and signs"),
        pytest.param({"inf": float("inf"), "nan": float("nan"), "set": {1}}, id="what JSON has not"),
        pytest.param({"many": list(range(100_000)), "long": "x" * 10_000_000}, id="too much"),
    ],
)
async def test_what_is_read_back_hashes_as_what_was_written(
    indexed: Database, clock: MovableClock, details: dict[str, Any]
) -> None:
    caller = caller_of()
    await AuditLog(store=AuditStore(indexed), clock=clock).record(caller, "a", "b", None, details)
    verdict = await verdict_of(indexed, caller)
    assert (verdict.events, verdict.sentences) == (1, ())


def _set(seq: int, **changes: object) -> Tamper:
    return lambda events, org_id: events.update({"seq": seq}, {"$set": changes})


def _delete(*numbers: int) -> Tamper:
    return lambda events, org_id: events.delete_many({"seq": {"$in": numbers}})


async def _swap(events: Collection, org_id: str) -> None:
    two, three = await events.find({"seq": {"$in": [2, 3]}}, sort=[("seq", 1)])
    await _delete(2, 3)(events, org_id)
    for one, place in ((two, three), (three, two)):
        await events.insert({**one, "seq": place["seq"], "prev": place["prev"]})


async def _insert(events: Collection, org_id: str) -> None:
    one = await events.find_one({"seq": 2})
    assert one is not None
    del one["seq"]
    await events.insert({**one, "_id": str(uuid4())})


async def _rehash(events: Collection, org_id: str) -> None:
    """Change an event together with its hash, as a skilled attacker would."""
    one = await events.find_one({"seq": 3})
    assert one is not None
    await events.update({"seq": 3}, {"$set": {"hash": hash_of({"seq": 3, "prev": one["prev"]})}})


@pytest.mark.parametrize(
    ("tamper", "sentences"),
    [
        pytest.param(_set(3, actor_name="bob"), ["event 3 (device.update) was changed"], id="changed"),
        pytest.param(_set(3, details={"number": 7}), ["event 3 (device.update) was changed"], id="details"),
        pytest.param(_set(3, at="now"), ["event 3 was changed: it cannot be read"], id="another type"),
        pytest.param(_set(1, action="b"), ["event 1 (b) was changed"], id="the first"),
        pytest.param(_set(5, org_id="other"), ["event 5 is missing from the end"], id="moved away"),
        pytest.param(_delete(3), ["event 3 is missing"], id="one is missing"),
        pytest.param(_delete(1, 2), ["events 1 to 2 are missing"], id="the first are missing"),
        pytest.param(_delete(4, 5), ["events 4 to 5 are missing from the end"], id="the newest are missing"),
        pytest.param(_swap, ["event 2 (device.update) was changed"], id="two are swapped"),
        pytest.param(_insert, ["1 events are outside of the chain: they were inserted"], id="inserted"),
        pytest.param(_rehash, ["event 3 (device.update) was changed"], id="its hash changed"),
    ],
)
async def test_who_changes_the_events_is_found(
    indexed: Database, clock: MovableClock, tamper: Tamper, sentences: list[str]
) -> None:
    caller, log = caller_of(), AuditLog(store=AuditStore(indexed), clock=clock)
    await adopt(ChainStore(indexed))
    await record(log, caller, 5)
    await tamper(indexed.collection(COLLECTION), caller.org_id)
    verdict = await verdict_of(indexed, caller)
    assert list(verdict.sentences[:1]) == sentences
    # It stays found, whatever is appended later, by this node and by another.
    await log.record(caller, "later", "device", None)
    await AuditLog(store=AuditStore(indexed), clock=clock).record(caller, "later", "device", None)
    later = await verdict_of(indexed, caller)
    assert later.faults >= 1


async def test_a_recomputed_chain_is_found_by_a_noted_event(indexed: Database, clock: MovableClock) -> None:
    caller = caller_of()
    await record(AuditLog(store=AuditStore(indexed), clock=clock), caller, 5)
    noted = (await verdict_of(indexed, caller)).newest
    assert (await verdict_of(indexed, caller, noted)).faults == 0
    for name in (COLLECTION, CHAINS):  # who may write to the database writes all of it anew
        await indexed.collection(name).delete_many({})
    await record(AuditLog(store=AuditStore(indexed), clock=clock), caller, 5, first=1)
    assert (await verdict_of(indexed, caller)).faults == 0
    assert (await verdict_of(indexed, caller, noted)).sentences == (
        "event 5 is another than the expected one",
    )
    unknown = Link(seq=9, hash=noted.hash)
    assert "not there" in (await verdict_of(indexed, caller, unknown)).sentences[0]


async def test_retention_and_writers_disturb_no_verification(indexed: Database, clock: MovableClock) -> None:
    caller, store = caller_of(), AuditStore(indexed)
    log = AuditLog(store=store, clock=clock)
    await record(log, caller, 3000)
    clock.move(86_500)
    await record(log, caller, 500)
    done = asyncio.Event()

    async def write() -> None:
        while not done.is_set():
            await log.record(caller, "more", "device", None)

    writer = asyncio.create_task(write())
    found = [asyncio.create_task(verdict_of(indexed, caller)) for _ in range(3)]
    await log.sweep(keep_days=1)
    verdicts = [*await asyncio.gather(*found), await verdict_of(indexed, caller)]
    done.set()
    await writer
    assert [verdict.sentences for verdict in verdicts] == [()] * 4
    assert verdicts[-1].deleted == 3000


async def test_events_of_an_earlier_version_are_chained(indexed: Database, clock: MovableClock) -> None:
    caller, events = caller_of(), indexed.collection(COLLECTION)
    log = AuditLog(store=AuditStore(indexed), clock=clock)
    await record(log, caller, 2500)
    await events.update_many({}, {"$unset": {"seq": 1, "prev": 1, "hash": 1}})
    await events.update({"resource_id": "d0"}, {"$set": {"details": {"at": clock.now(), "n": 1.5}}})
    await indexed.collection(CHAINS).delete_many({})
    assert (await verdict_of(indexed, caller)).sentences == (
        "2500 events are outside of the chain: those of an earlier version come to it",
    )
    # Two nodes start at once, and a third runs already.
    chains = [ChainStore(indexed) for _ in range(2)]
    third = AuditLog(store=AuditStore(indexed), clock=clock)
    await asyncio.gather(*(adopt(chain) for chain in chains), record(third, caller, 50, first=2500))
    verdict = await verdict_of(indexed, caller)
    assert (verdict.sentences, verdict.events) == ((), 2550)
    await events.update({"seq": 7}, {"$unset": {"seq": 1}})
    await adopt(chains[0])  # once: what has lost its place later does not get another
    assert (await verdict_of(indexed, caller)).faults > 0


async def test_an_event_that_cannot_be_stored_is_an_error_and_in_the_log(
    indexed: Database, clock: MovableClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: ChainStore, events: object) -> int:
        raise Unavailable("the database is down")

    caller, log = caller_of(), AuditLog(store=AuditStore(indexed), clock=clock)
    with monkeypatch.context() as patch:
        patch.setattr(ChainStore, "insert", fail)
        with pytest.raises(Unavailable):
            await log.record(caller, "device.create", "device", "d-1")
    assert "device.create" in caplog.text
    await log.record(caller, "device.update", "device", "d-1")
    assert (await verdict_of(indexed, caller)).events == 1

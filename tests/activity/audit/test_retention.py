"""Audit events are forgotten by age, of every organization, and what is left of a chain stays whole."""

from datetime import timedelta
from uuid import uuid4

from netautod.activity.audit.chain.retention import BATCH
from netautod.activity.audit.chain.verifying import verify
from netautod.activity.audit.documents import COLLECTION
from netautod.activity.audit.service import AuditLog
from netautod.activity.audit.store import AuditStore
from netautod.store.client import Database
from tests.activity.audit.chains import caller_of, record
from tests.support.clock import MovableClock


async def test_old_events_go_and_the_others_stay(indexed: Database, clock: MovableClock) -> None:
    store = AuditStore(indexed)
    log, callers = AuditLog(store=store, clock=clock), [caller_of(), caller_of()]
    for caller in callers:
        await record(log, caller, BATCH + 2)
    clock.move(timedelta(days=401).total_seconds())
    for caller in callers:
        await log.record(caller, "young", "device", None)
    await log.sweep(keep_days=0)
    events = indexed.collection(COLLECTION)
    assert await events.count({}) == 2 * (BATCH + 3)
    await log.sweep(keep_days=400)
    for caller in callers:
        found = await events.find({"org_id": caller.org_id}, sort=[("seq", 1)])
        assert [event["action"] for event in found] == ["young", "audit.retention"]
        assert found[1]["details"]["through_seq"] == found[1]["details"]["deleted"] == BATCH + 2
        verdict = await verify(store.chains, caller.org_id)
        assert (verdict.sentences, verdict.events, verdict.deleted) == ((), 2, BATCH + 2)


async def test_a_crash_before_the_deletion_is_no_fault_and_made_up_for(
    indexed: Database, clock: MovableClock
) -> None:
    store, caller = AuditStore(indexed), caller_of()
    log = AuditLog(store=store, clock=clock)
    await record(log, caller, 5)
    [*_, (last, _)] = await store.chains.oldest(caller.org_id, 0, 3)
    await store.chains.anchor(caller.org_id, last, at=clock.now())
    verdict = await verify(store.chains, caller.org_id)
    assert (verdict.sentences, verdict.events, verdict.deleted) == ((), 2, 3)
    await log.sweep(keep_days=1)
    assert await indexed.collection(COLLECTION).count({}) == 2


async def test_all_events_may_go_and_the_chain_goes_on(indexed: Database, clock: MovableClock) -> None:
    store, caller = AuditStore(indexed), caller_of()
    await record(AuditLog(store=store, clock=clock), caller, 3)
    clock.move(86_500)
    log = AuditLog(store=store, clock=clock)  # another node, which has not seen the events
    await log.sweep(keep_days=1)
    await record(log, caller, 1)
    verdict = await verify(store.chains, caller.org_id)
    assert (verdict.sentences, verdict.events, verdict.newest.seq) == ((), 2, 5)


async def test_events_outside_of_the_chain_go_too(indexed: Database, clock: MovableClock) -> None:
    events = indexed.collection(COLLECTION)
    await events.insert({"_id": str(uuid4()), "org_id": "o", "at": clock.now()})
    clock.move(86_500)
    store = AuditStore(indexed)
    log = AuditLog(store=store, clock=clock)
    await log.sweep(keep_days=1)
    assert await events.count({}) == 1  # it may be about to get its place
    await store.chains.note_adopted()
    await log.sweep(keep_days=1)
    assert await events.count({}) == 0

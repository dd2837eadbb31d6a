"""Verifies the stored chain of an organization, also while nodes append to it and retention shortens it."""

from dataclasses import dataclass

from netautod.activity.audit.chain.checking import ChainCheck
from netautod.activity.audit.chain.links import ChainedEvent, Link
from netautod.activity.audit.chain.store import ChainStore
from netautod.core.identity.caller import OrgId


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result of a verification.

    `sentences`: the first faults. `deleted`: the number of the last event that retention deleted.
    """

    org_id: OrgId
    events: int
    deleted: int
    newest: Link
    faults: int
    sentences: tuple[str, ...]


async def verify(store: ChainStore, org_id: OrgId, *, expected: Link | None = None) -> Verdict:
    """Verify a chain.

    `expected`: an event as it was noted down outside of the database.
    """
    # The head is read before the events: what is appended meanwhile comes after it.
    ends = await store.ends(org_id)
    check, seen = ChainCheck(last=ends.anchor), {ends.anchor.seq: ends.anchor.hash}
    deleted = ends.anchor.seq
    async for found in store.stream(org_id, after=ends.anchor.seq):
        seq = found if isinstance(found, int) else found.seq
        if not check.follows(seq):
            deleted = await _skip_deleted(store, org_id, check, deleted)
        if seq <= deleted:
            continue
        if isinstance(found, ChainedEvent):
            check.take(found.line())
        else:
            check.take_unreadable(seq)
        if expected is not None and seq == expected.seq:
            seen[seq] = check.last.hash
    await _skip_deleted(store, org_id, check, deleted)
    check.end(ends.head)
    if outside := await store.outside(org_id):
        why = "they were inserted" if await store.is_adopted() else "those of an earlier version come to it"
        check.add(f"{outside} events are outside of the chain: {why}")
    if expected is not None:
        _hold(check, expected, seen)
    return Verdict(
        org_id=org_id,
        events=check.events,
        deleted=deleted,
        newest=check.last,
        faults=check.faults,
        sentences=tuple(check.sentences),
    )


async def _skip_deleted(store: ChainStore, org_id: OrgId, check: ChainCheck, deleted: int) -> int:
    """Continue behind a gap that retention has made since: the anchor has moved past it then."""
    anchor = (await store.ends(org_id)).anchor
    if anchor.seq > check.last.seq:
        check.begin_again(anchor)
    return max(deleted, anchor.seq)


def _hold(check: ChainCheck, expected: Link, seen: dict[int, str]) -> None:
    found = seen.get(expected.seq)
    if found is None:
        check.add(f"event {expected.seq}, which was expected, is not there (any more)")
    elif found != expected.hash:
        check.add(f"event {expected.seq} is another than the expected one")

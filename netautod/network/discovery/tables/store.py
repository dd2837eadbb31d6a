"""The tables of devices: parts with rows, and one header for each device that says which parts count.

A poll inserts the parts that are new, and then names all of its parts by one update of the header: a
reader sees the tables of one poll. Parts that are not named any more stay until the next poll, for readers
that have seen the header before; what a crash has left unnamed goes an hour later.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables import checks, event_outbox
from netautod.network.discovery.tables.event_outbox import HEADERS, HeaderEvents
from netautod.network.discovery.tables.first_seen import compared, history, longest_gone
from netautod.network.discovery.tables.kinds import KINDS, Kind
from netautod.network.discovery.tables.models import PollNote, Superseded
from netautod.network.discovery.tables.part_store import LEFT_OVER, PART_INDEXES, Owner, PartStore
from netautod.network.discovery.tables.parts import Fields, let_go, parts_of
from netautod.plugin_api.discovery.rows import Collected, DeviceFacts
from netautod.store.client import Database, Document
from netautod.store.indexes import Index

BY_ID = Index(collection=HEADERS, keys=(("org_id", 1), ("_id", 1)))
INDEXES = (*PART_INDEXES, BY_ID, *event_outbox.INDEXES)


class DiscoveredStore(HeaderEvents):
    """A store of tables. `gone_for`: how long rows of MAC and ARP tables are remembered after they
    have gone.
    """

    def __init__(self, database: Database, *, gone_for: timedelta, wanted: Wanted = wants_nothing) -> None:
        super().__init__(database, wanted=wanted)
        self._parts_store = PartStore(database)
        self._gone_for = gone_for

    async def replace(
        self,
        org_id: OrgId,
        device_id: str,
        found: Collected,
        *,
        sources: Mapping[str, str],
        note: PollNote,
        events: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, int]:
        """Replace the tables that were given; the others stay. Raises Superseded.

        Returns how many rows each has, and as `mac_dropped` how many could not be stored. What is no table at
        all is one row that could not, and the table stays.
        """
        header = await self._header(org_id, device_id)
        tables = dict(header.get("tables", {}))
        counts: dict[str, int] = {}
        for name, kind in KINDS.items():
            rows = getattr(found, name)
            if rows is None:
                continue
            if not isinstance(rows, list | tuple):
                counts[f"{name}_dropped"] = 1
                continue
            owner = Owner(org_id=org_id, device_id=device_id, table=name, at=note.at)
            written, dropped = await self._written(owner, kind, rows, tables.get(name, {}))
            tables[name] = {**written, "source": sources.get(name)}
            counts[name] = written["total"]
            counts |= {f"{name}_dropped": dropped} if dropped else {}
        status = header.get("status", {})
        if isinstance(found.status, DeviceFacts):
            status = {**checks.facts(found.status), "at": note.at, "source": sources.get("status")}
            counts["status"] = 1
        await self._flip(org_id, device_id, header, {"tables": tables, "status": status}, note, events)
        return counts

    async def note(
        self, org_id: OrgId, device_id: str, note: PollNote, *, events: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Record a poll that brought nothing. Raises Superseded."""
        header = await self._header(org_id, device_id)
        await self._flip(org_id, device_id, header, {}, note, events)

    async def _header(self, org_id: OrgId, device_id: str) -> Document:
        return await self._headers.find_one(org_id, {"_id": device_id}) or {"revision": 0}

    async def _flip(
        self,
        org_id: OrgId,
        device_id: str,
        header: Document,
        content: Document,
        note: PollNote,
        events: Sequence[Mapping[str, Any]],
    ) -> None:
        known = header.get("tables", {})
        before, after = named_parts(known), named_parts(content.get("tables") or known)
        last_success_at = note.last_success_at or header.get("poll", {}).get("last_success_at")
        change: Document = {
            **content,
            "poll": {**_as_document(note), "last_success_at": last_success_at},
            "revision": header["revision"] + 1,
            "former": sorted(before - after),
        }
        if not await self._written_header(org_id, device_id, header["revision"], change, note, events):
            # No header names the parts that we inserted, and the device may be gone: no later poll would
            # look.
            await self._parts_store.drop(org_id, device_id, after - before)
            raise Superseded("the tables were written by another poll")
        # If we die here they are left over, and go with a later poll.
        await self._parts_store.drop(org_id, device_id, set(header.get("former", [])) - after)
        await self._parts_store.drop_unnamed(org_id, device_id, after | before, before=note.at - LEFT_OVER)

    async def _written_header(
        self,
        org_id: OrgId,
        device_id: str,
        revision: int,
        change: Document,
        note: PollNote,
        events: Sequence[Mapping[str, Any]],
    ) -> bool:
        """Write the header; return false if another writer was faster."""
        if revision == 0:
            waiting = self._first_events(org_id, events, at=note.at)
            try:
                await self._headers.insert(org_id, {"_id": device_id, **change, **waiting})
            except Duplicate:
                return False
            return True
        where = {"_id": device_id, "revision": revision}
        whole = self._with_events(org_id, {"$set": change}, events, at=note.at)
        return await self._headers.update(org_id, where, whole)

    async def _written(
        self, owner: Owner, kind: Kind, given: Sequence[object], before: Mapping[str, Any]
    ) -> tuple[Document, int]:
        """Store the new parts of one table; return what its header is to say, and how many rows were
        dropped.
        """
        rows, dropped = await checks.checked(given, kind.row, kind.check, kind.weight)
        old: Sequence[Mapping[str, Any]] = before.get("parts", ())
        remembered: Document = {}
        if kind.remembers:
            remembered, there = await self._remembered(owner, kind, rows, before)
        else:
            there = await self._parts_store.there(owner.org_id, owner.device_id, old)
        parts = await parts_of(rows, kind.key, kind.weight)
        named = await self._parts_store.put(owner, parts, there=_by_digest(old, there), searched=True)
        await let_go(rows)
        for part in parts:
            await let_go(part.rows)
        total = sum(part["rows"] for part in named)
        return {"parts": named, **remembered, "total": total, "at": owner.at}, dropped

    async def _remembered(
        self, owner: Owner, kind: Kind, rows: Sequence[Fields], before: Mapping[str, Any]
    ) -> tuple[Document, set[str]]:
        """Set in the rows when they were first seen; return what the header is to say of those that have
        gone.

        Also the ids of the table's parts that exist: one that was lost is not named again.
        """
        known = await self._parts_store.rows(owner.org_id, before.get("parts", ()))
        difference = await compared(rows, (row for part in known.values() for row in part), kind.key)
        old: Sequence[Mapping[str, Any]] = before.get("gone", ())
        longest: Any = before.get("longest_gone_at")
        is_over = longest is not None and longest <= owner.at - self._gone_for
        if not difference.come and not difference.vanished and not is_over:
            return {"gone": list(old), "longest_gone_at": longest}, await _released(known)
        gone = await self._parts_store.rows(owner.org_id, old)
        left = await history(
            difference,
            (row for part in gone.values() for row in part),
            kind.key,
            at=owner.at,
            seen_at=before.get("at", owner.at),
            gone_for=self._gone_for,
        )
        parts = await parts_of(left, kind.key, kind.weight)
        named = await self._parts_store.put(owner, parts, there=_by_digest(old, set(gone)), searched=False)
        remembered = {"gone": named, "longest_gone_at": await longest_gone(left)}
        return remembered, await _released(known)

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        """Delete the header first: what it named is orphaned then, and is deleted again if we die in
        between.
        """
        await self._headers.delete(org_id, {"_id": device_id})
        await self._parts_store.drop_all(org_id, device_id)


def named_parts(tables: Mapping[str, Any]) -> set[str]:
    """Return the ids of all parts that a header names, those of history included."""
    return {
        part["id"] for table in tables.values() for key in ("parts", "gone") for part in table.get(key, ())
    }


async def _released(parts: Mapping[str, list[Fields]]) -> set[str]:
    """Free the rows of the parts and return the ids of the parts."""
    for rows in parts.values():
        await let_go(rows)
    return set(parts)


def _by_digest(named: Sequence[Mapping[str, Any]], there: set[str]) -> dict[str, str]:
    return {part["digest"]: part["id"] for part in named if part["id"] in there}


def _as_document(note: PollNote) -> Document:
    return {
        "state": note.state,
        "error": note.error,
        "reachable": note.reachable,
        "latency_ms": note.latency_ms,
        "at": note.at,
        "failures": note.failures,
    }

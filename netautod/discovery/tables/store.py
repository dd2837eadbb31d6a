"""The tables of devices: parts with rows, and one header for each device that says which parts count.

A poll inserts the parts that are new, and then names all of its parts by one update of the header: whoever
reads sees the tables of one poll. Parts that are not named any more stay until the next poll, for readers
that have seen the header before; what a crash has left unnamed goes an hour later.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from netautod.core.errors import Duplicate
from netautod.core.identity import OrgId
from netautod.core.loop.each import in_batches
from netautod.core.loop.pace import Pace
from netautod.discovery.tables import checks
from netautod.discovery.tables.kinds import FIRST_SEEN, KINDS, LAST_SEEN, MOST_ROWS, Kind, searched_by
from netautod.discovery.tables.models import PollNote, Superseded
from netautod.discovery.tables.parts import Fields, Part, parts_of
from netautod.plugin_api.discovered import Collected
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

HEADERS, PARTS = "discovered", "discovered_parts"
BY_ID = Index(collection=HEADERS, keys=(("org_id", 1), ("_id", 1)))
INDEXES = (
    Index(collection=PARTS, keys=(("macs", 1), ("org_id", 1))),
    Index(collection=PARTS, keys=(("addresses", 1), ("org_id", 1))),
    Index(collection=PARTS, keys=(("org_id", 1), ("device_id", 1), ("made_at", 1))),
    BY_ID,
    Index(collection=HEADERS, keys=(("untold_at", 1),), partial={"untold_at": {"$type": "date"}}),
)
# The driver encodes and decodes a batch in one go, and nobody else runs meanwhile.
PARTS_AT_ONCE = 8
ROWS_AT_ONCE = 250
LEFT_OVER = timedelta(hours=1)


class DiscoveredStore:
    """`gone_for`: how long rows of MAC and ARP tables are remembered after they have gone."""

    def __init__(self, database: Database, *, gone_for: timedelta) -> None:
        self._all = database.collection(HEADERS)
        self._headers = scoped(database, HEADERS)
        self._parts = scoped(database, PARTS)
        self._gone_for = gone_for

    async def replace(
        self,
        org_id: OrgId,
        device_id: str,
        found: Collected,
        *,
        sources: Mapping[str, str],
        note: PollNote,
        untold: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, int]:
        """Makes the tables that were given those of the device; the others stay. Raises Superseded.

        Returns how many rows each has, and as `mac_dropped` how many could not be stored.
        """
        header = await self._header(org_id, device_id)
        tables = dict(header.get("tables", {}))
        counts: dict[str, int] = {}
        for name, kind in KINDS.items():
            rows = getattr(found, name)
            if rows is not None:
                before = tables.get(name, {})
                tables[name] = await self._written(org_id, device_id, name, kind, rows, before, note.at)
                tables[name]["source"] = sources.get(name)
                counts[name] = tables[name]["total"]
                dropped = tables[name].pop("dropped")
                counts |= {f"{name}_dropped": dropped} if dropped else {}
        status = header.get("status", {})
        if found.status is not None:
            status = {**checks.facts(found.status), "at": note.at, "source": sources.get("status")}
            counts["status"] = 1
        await self._flip(org_id, device_id, header, {"tables": tables, "status": status}, note, untold)
        return counts

    async def note(
        self, org_id: OrgId, device_id: str, note: PollNote, *, untold: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Of a poll that brought nothing. Raises Superseded."""
        header = await self._header(org_id, device_id)
        await self._flip(org_id, device_id, header, {}, note, untold)

    async def _header(self, org_id: OrgId, device_id: str) -> Document:
        return await self._headers.find_one(org_id, {"_id": device_id}) or {"revision": 0}

    async def _flip(
        self,
        org_id: OrgId,
        device_id: str,
        header: Document,
        content: Document,
        note: PollNote,
        untold: Sequence[Mapping[str, Any]],
    ) -> None:
        known = header.get("tables", {})
        before, after = _named(known), _named(content.get("tables") or known)
        poll = {
            "state": note.state,
            "error": note.error,
            "reachable": note.reachable,
            "latency_ms": note.latency_ms,
            "at": note.at,
            "failures": note.failures,
            "last_success_at": note.last_success_at or header.get("poll", {}).get("last_success_at"),
        }
        waiting = [*header.get("untold", []), *map(dict, untold)]
        change: Document = {
            **content,
            "poll": poll,
            "revision": header["revision"] + 1,
            "former": sorted(before - after),
        }
        if untold:
            change |= {"untold": waiting, "untold_at": header.get("untold_at") or note.at}
        if header["revision"] == 0:
            try:
                await self._headers.insert(org_id, {"_id": device_id, **change})
            except Duplicate as exc:
                raise Superseded("the tables were written by another poll") from exc
        else:
            where = {"_id": device_id, "revision": header["revision"]}
            if not await self._headers.update(org_id, where, {"$set": change}):
                raise Superseded("the tables were written by another poll")
        former = set(header.get("former", [])) - after
        left_over = {"made_at": {"$lt": note.at - LEFT_OVER}, "_id": {"$nin": sorted(after | before)}}
        # If we die here they are left over, and go with a later poll.
        await self._parts.delete_many(
            org_id, {"device_id": device_id, "$or": [{"_id": {"$in": sorted(former)}}, left_over]}
        )

    async def _written(
        self,
        org_id: OrgId,
        device_id: str,
        name: str,
        kind: Kind,
        given: Sequence[object],
        before: Mapping[str, Any],
        at: datetime,
    ) -> Document:
        """Inserts what is new of one table, and returns what its header is to say."""
        rows, dropped = await _checked(given[:MOST_ROWS], kind)
        dropped += max(0, len(given) - MOST_ROWS)
        gone: list[Fields] = []
        if kind.remembers:
            rows, gone = await self._remembering(org_id, name, kind, rows, before, at)
        named: dict[str, list[Document]] = {}
        for key, content, old in (
            ("parts", rows, before.get("parts", ())),
            ("gone", gone, before.get("gone", ())),
        ):
            parts = await parts_of(content, kind.key)
            named[key] = await self._inserted(org_id, device_id, name, parts, old, at, key == "parts")
        total = sum(part["rows"] for part in named["parts"])
        return {**named, "total": total, "at": at, "dropped": dropped}

    async def _remembering(
        self,
        org_id: OrgId,
        name: str,
        kind: Kind,
        rows: list[Fields],
        before: Mapping[str, Any],
        at: datetime,
    ) -> tuple[list[Fields], list[Fields]]:
        """The rows with the time when each was first seen, and those that are remembered."""
        pace = Pace()
        known = await self._rows(org_id, before.get("parts", ()))
        old_gone = await self._rows(org_id, before.get("gone", ()))
        first: dict[Any, datetime] = {}
        for row in (*old_gone, *known):
            first[kind.key(row)] = row[FIRST_SEEN]
            await pace.breathe()
        present = set()
        for row in rows:
            key = kind.key(row)
            present.add(key)
            row[FIRST_SEEN] = first.get(key, at)
            await pace.breathe()
        gone: list[Fields] = []
        for row in old_gone:
            if row[LAST_SEEN] > at - self._gone_for and kind.key(row) not in present:
                gone.append(row)
            await pace.breathe()
        for row in known:
            if kind.key(row) not in present:
                gone.append({**row, LAST_SEEN: before["at"]})
            await pace.breathe()
        return rows, gone[-MOST_ROWS:]

    async def _inserted(
        self,
        org_id: OrgId,
        device_id: str,
        name: str,
        parts: Sequence[Part],
        old: Sequence[Mapping[str, Any]],
        at: datetime,
        searched: bool,
    ) -> list[Document]:
        known = {part["digest"]: part["id"] for part in old}
        named: list[Document] = []
        new: list[Document] = []
        for part in parts:
            part_id = known.get(part.digest)
            if part_id is None:
                part_id = uuid4().hex
                found = searched_by(name, part.rows) if searched else {}
                new.append(
                    {
                        "_id": part_id,
                        "device_id": device_id,
                        "table": name,
                        "made_at": at,
                        "rows": part.rows,
                        **found,
                    }
                )
            named.append({"id": part_id, "digest": part.digest, "rows": len(part.rows)})
        for batch in in_batches(new, PARTS_AT_ONCE):
            await self._parts.insert_many(org_id, batch)
        return named

    async def _rows(self, org_id: OrgId, parts: Sequence[Mapping[str, Any]]) -> list[Fields]:
        """In no order. One that is gone was superseded: the flip will tell."""
        rows: list[Fields] = []
        for batch in in_batches([part["id"] for part in parts], PARTS_AT_ONCE):
            for part in await self._parts.find(org_id, {"_id": {"$in": list(batch)}}, fields={"rows": 1}):
                rows += part["rows"]
        return rows

    async def told(self, org_id: OrgId, device_id: str, ids: Sequence[str]) -> None:
        """These events need not be told any more."""
        left = {
            "$filter": {
                "input": {"$ifNull": ["$untold", []]},
                "as": "event",
                "cond": {"$not": [{"$in": ["$$event.id", list(ids)]}]},
            }
        }
        some = {"$gt": [{"$size": "$untold"}, 0]}
        ended = {"$cond": [some, "$untold_at", "$$REMOVE"]}
        await self._headers.update(
            org_id, {"_id": device_id}, [{"$set": {"untold": left}}, {"$set": {"untold_at": ended}}]
        )

    async def untold(self, *, before: datetime, limit: int) -> list[tuple[OrgId, str, list[Document]]]:
        """Events of all organizations that wait since before that moment, by device."""
        found = await self._all.find(
            {"untold_at": {"$type": "date", "$lt": before}}, fields={"org_id": 1, "untold": 1}, limit=limit
        )
        return [(OrgId(header["org_id"]), header["_id"], header["untold"]) for header in found]

    async def forget(self, org_id: OrgId, device_id: str) -> None:
        """The header first: what it named is nobody's then, and is deleted again if we die in between."""
        await self._headers.delete(org_id, {"_id": device_id})
        await self._parts.delete_many(org_id, {"device_id": device_id})


def _named(tables: Mapping[str, Any]) -> set[str]:
    return {
        part["id"] for table in tables.values() for key in ("parts", "gone") for part in table.get(key, ())
    }


async def _checked(rows: Sequence[object], kind: Kind) -> tuple[list[Fields], int]:
    pace = Pace()
    kept: list[Fields] = []
    dropped = 0
    for batch in in_batches(rows, ROWS_AT_ONCE):
        good, bad = checks.checked(batch, kind.row, kind.check)
        kept += good
        dropped += bad
        await pace.breathe()
    return kept, dropped

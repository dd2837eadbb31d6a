"""Reads the tables of devices: whole ones, what changes are told by, and where an address was seen."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.identity import OrgId
from netautod.core.json_values import to_text
from netautod.core.loop.each import in_batches
from netautod.core.loop.pace import Pace
from netautod.discovery.models import DeviceStatus, DiscoveredTable
from netautod.discovery.tables.kinds import KINDS, LAST_SEEN
from netautod.discovery.tables.models import Before, DeviceTables, Sighting
from netautod.discovery.tables.parts import Fields
from netautod.discovery.tables.store import BY_ID, HEADERS, PARTS, PARTS_AT_ONCE
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

READ_AGAIN = 5  # times that a table is replaced while it is read
MOST_FOUND = 1000  # answers of one search
MOST_PARTS = 5000  # looked at for it
DEVICES_AT_ONCE = 200
PARTS_OF_ONE_TABLE = 10_000
# What the answers of searches call a table.
SOURCES = {"mac": "mac", "arp": "arp", "interfaces": "interface"}


class PartGone(Exception):
    """A part of a header that was read a while ago: it has to be read again."""


class DiscoveredReads:
    """Every call sees, of each device, the tables of one poll."""

    def __init__(self, database: Database) -> None:
        self._headers = scoped(database, HEADERS)
        self._parts = scoped(database, PARTS)

    async def table(
        self, org_id: OrgId, device_id: str, name: str, *, limit: int | None = None
    ) -> DiscoveredTable:
        """In the order of its keys (interfaces by number, MAC entries by address, ...); ready to be shown."""
        header, rows = await self._read(org_id, device_id, name, limit)
        if header is None:
            return DiscoveredTable()
        at = header["at"]
        return DiscoveredTable(
            rows=await _shown(rows, at if KINDS[name].remembers else None),
            total=header["total"],
            collected_at=at,
        )

    async def status(self, org_id: OrgId, device_id: str) -> DeviceStatus:
        header = await self._headers.find_one(org_id, {"_id": device_id}, fields={"status": 1, "poll": 1})
        if header is None:
            return DeviceStatus(device_id=device_id)
        facts, poll = header.get("status", {}), header["poll"]
        known = (
            *("sys_name", "sys_descr", "vendor", "model", "os_version", "serial_number"),
            *("uptime_seconds", "cpu_percent", "memory_percent"),
        )
        return DeviceStatus(
            device_id=device_id,
            reachable=poll["reachable"],
            latency_ms=poll["latency_ms"],
            last_poll_state=poll["state"],
            last_poll_error=poll["error"],
            last_success_at=poll["last_success_at"],
            collected_at=facts.get("at") or poll["at"],
            **{name: facts.get(name) for name in known},
        )

    async def before(self, org_id: OrgId, device_id: str) -> Before:
        """What the next poll is compared with."""
        header = await self._headers.find_one(org_id, {"_id": device_id}, fields={"poll": 1})
        if header is None:
            return Before()
        neighbors, neighbor_rows = await self._read(org_id, device_id, "neighbors", None)
        interfaces, interface_rows = await self._read(org_id, device_id, "interfaces", None)
        return Before(
            neighbors=None if neighbors is None else neighbor_rows,
            interfaces=None if interfaces is None else interface_rows,
            reachable=header["poll"]["reachable"],
            failures=header["poll"]["failures"],
        )

    async def find(self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None) -> list[Sighting]:
        """Where the address was seen, the newest first; MOST_FOUND at most."""
        field, wanted = ("macs", mac) if mac is not None else ("addresses", ip)
        assert wanted is not None
        rows = {"$filter": {"input": "$rows", "as": "row", "cond": _holds(mac, ip)}}
        stages: list[Document] = [
            {"$match": {field: wanted}},
            {"$limit": MOST_PARTS},
            {"$project": {"device_id": 1, "table": 1, "rows": rows}},
        ]
        parts = await self._parts.aggregate(org_id, stages)
        ends = await self._ends(org_id, sorted({part["device_id"] for part in parts}))
        found: list[Sighting] = []
        pace = Pace()
        for part in parts:
            at = ends.get(part["device_id"], {}).get(part["_id"])
            if at is not None:
                found += [_sighting(part, row, at, ip) for row in part["rows"]]
            await pace.breathe()
        found.sort(key=lambda one: (-one.last_seen_at.timestamp(), one.device_id, one.interface or ""))
        return found[:MOST_FOUND]

    async def _ends(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, dict[str, datetime]]:
        """By device, the parts of its searched tables, each with the time of its table."""
        ends: dict[str, dict[str, datetime]] = {}
        fields: Document = {}
        for name in SOURCES:
            fields |= {f"tables.{name}.parts.id": 1, f"tables.{name}.at": 1}
        for batch in in_batches(device_ids, DEVICES_AT_ONCE):
            for header in await self._headers.find(org_id, {"_id": {"$in": batch}}, fields=fields):
                ends[header["_id"]] = {
                    part["id"]: table["at"]
                    for table in header.get("tables", {}).values()
                    for part in table.get("parts", ())
                }
        return ends

    async def every_device(self, org_id: OrgId) -> AsyncIterator[list[DeviceTables]]:
        """The neighbors of all devices that were polled; each batch by queries of its own."""
        after = ""
        fields = {"revision": 1, "status.sys_name": 1, "status.chassis_ids": 1, "tables.neighbors": 1}
        while True:
            headers = await self._headers.find(
                org_id,
                {"_id": {"$gt": after}},
                fields=fields,
                sort=[("_id", 1)],
                limit=DEVICES_AT_ONCE,
                index=BY_ID.name,
            )
            if headers:
                yield await self._with_neighbors(org_id, headers)
            if len(headers) < DEVICES_AT_ONCE:
                return
            after = headers[-1]["_id"]

    async def owners(self, org_id: OrgId, field: str, keys: Sequence[str]) -> list[tuple[str, str]]:
        """The devices with interfaces that have one of these; `field` is `macs` or `addresses`.

        Pairs of the address and the device's id.
        """
        found: list[tuple[str, str]] = []
        for batch in in_batches(keys, DEVICES_AT_ONCE):
            wanted = {field: {"$in": batch}, "table": "interfaces"}
            parts = await self._parts.find(
                org_id, wanted, fields={"device_id": 1, field: 1}, limit=MOST_PARTS
            )
            ends = await self._ends(org_id, sorted({part["device_id"] for part in parts}))
            for part in parts:
                if part["_id"] in ends.get(part["device_id"], {}):
                    found += [(key, part["device_id"]) for key in {*batch} & {*part[field]}]
            await asyncio.sleep(0)
        return found

    async def interfaces(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, list[Fields]]:
        """The interface tables of those devices, as much of them as names an interface."""
        fields = {f"rows.{name}": 1 for name in ("name", "description", "mac_address", "if_index")}
        found: dict[str, list[Fields]] = {}
        for batch in in_batches(device_ids, DEVICES_AT_ONCE):
            ends = await self._ends(org_id, batch)
            for some in in_batches([part for parts in ends.values() for part in parts], PARTS_AT_ONCE):
                wanted = {"_id": {"$in": some}, "table": "interfaces"}
                for part in await self._parts.find(org_id, wanted, fields={**fields, "device_id": 1}):
                    found.setdefault(part["device_id"], []).extend(part["rows"])
        return found

    async def _with_neighbors(self, org_id: OrgId, headers: Sequence[Document]) -> list[DeviceTables]:
        tables = {header["_id"]: header.get("tables", {}).get("neighbors", {}) for header in headers}
        ids = [part["id"] for table in tables.values() for part in table.get("parts", ())]
        rows: dict[str, list[Fields]] = {}
        for batch in in_batches(ids, PARTS_AT_ONCE * 4):
            found = await self._parts.find(org_id, {"_id": {"$in": batch}}, fields={"rows": 1})
            rows.update({part["_id"]: part["rows"] for part in found})
            await asyncio.sleep(0)
        return [
            DeviceTables(
                device_id=header["_id"],
                revision=header["revision"],
                sys_name=header.get("status", {}).get("sys_name"),
                chassis_ids=tuple(header.get("status", {}).get("chassis_ids", ())),
                neighbors_at=tables[header["_id"]].get("at"),
                neighbors=[
                    row for part in tables[header["_id"]].get("parts", ()) for row in rows.get(part["id"], ())
                ],
            )
            for header in headers
        ]

    async def _read(
        self, org_id: OrgId, device_id: str, name: str, limit: int | None
    ) -> tuple[Document | None, list[Fields]]:
        """What the header says of a table, None for one that was never read, and its rows."""
        for _ in range(READ_AGAIN):
            header = await self._headers.find_one(org_id, {"_id": device_id}, fields={f"tables.{name}": 1})
            table = (header or {}).get("tables", {}).get(name)
            if table is None:
                return None, []
            try:
                return table, await self._rows(org_id, table["parts"], limit)
            except PartGone:
                continue  # two polls have ended since we have read the header
        return table, await self._rows(org_id, table["parts"], limit)

    async def _rows(
        self, org_id: OrgId, parts: Sequence[Mapping[str, Any]], limit: int | None
    ) -> list[Fields]:
        rows: list[Fields] = []
        for batch in in_batches([part["id"] for part in parts], PARTS_AT_ONCE):
            found = await self._parts.find(org_id, {"_id": {"$in": list(batch)}}, fields={"rows": 1})
            by_id = {document["_id"]: document["rows"] for document in found}
            for part_id in batch:
                if part_id not in by_id:
                    raise PartGone
                rows += by_id[part_id]
            if limit is not None and len(rows) >= limit:
                return rows[:limit]
        return rows


async def _shown(rows: Sequence[Fields], last_seen_at: datetime | None) -> list[Fields]:
    """Rows as they are answered: moments as texts."""
    pace = Pace()
    seen = None if last_seen_at is None else to_text(last_seen_at)
    shown: list[Fields] = []
    for row in rows:
        one = {name: to_text(value) if isinstance(value, datetime) else value for name, value in row.items()}
        shown.append(one if seen is None else {**one, LAST_SEEN: seen})
        await pace.breathe()
    return shown


def _holds(mac: str | None, ip: str | None) -> Document:
    """The condition on a row."""
    if mac is not None:
        return {"$eq": ["$$row.mac_address", mac]}
    own = {"$ifNull": ["$$row.ip_addresses.address", []]}
    return {"$or": [{"$eq": ["$$row.ip_address", ip]}, {"$in": [ip, own]}]}


def _sighting(part: Document, row: Fields, at: datetime, ip: str | None) -> Sighting:
    is_interface = part["table"] == "interfaces"
    return Sighting(
        device_id=part["device_id"],
        interface=row["name"] if is_interface else row.get("interface"),
        vlan_id=row.get("vlan_id"),
        mac_address=row.get("mac_address"),
        ip_address=ip if is_interface else row.get("ip_address"),
        source=SOURCES[part["table"]],
        last_seen_at=at,
    )

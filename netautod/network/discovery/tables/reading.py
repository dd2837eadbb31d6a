"""Reads the tables of devices: whole ones, what is compared to find changes, and what the topology needs."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.core.loop.each import in_batches
from netautod.core.loop.pace import Pace
from netautod.network.discovery.models import DeviceStatus, DiscoveredTable
from netautod.network.discovery.tables.event_outbox import HEADERS
from netautod.network.discovery.tables.kinds import KINDS, LAST_SEEN
from netautod.network.discovery.tables.models import Before, DeviceTables, Sighting
from netautod.network.discovery.tables.part_store import PartStore
from netautod.network.discovery.tables.parts import Fields
from netautod.network.discovery.tables.searching import DEVICES_AT_ONCE, AddressSearch
from netautod.network.discovery.tables.store import BY_ID
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

READ_AGAIN = 5  # times that a table is replaced while it is read
OF_EVERY_DEVICE = (
    *("revision", "status.sys_name", "status.chassis_ids"),
    *("tables.neighbors.at", "tables.neighbors.parts"),
)
TO_NAME_AN_INTERFACE = ("name", "description", "mac_address", "if_index", "lag")


class PartGone(Unavailable):
    """A part that a header names is not there: two polls have ended since it was read, or it was lost.

    A part that was lost is there again after the next poll of the device.
    """


class DiscoveredReads:
    """The reads of discovered data. Every call sees, of each device, the tables of one poll."""

    def __init__(self, database: Database) -> None:
        self._headers = scoped(database, HEADERS)
        self._parts_store = PartStore(database)
        self._search = AddressSearch(database)

    async def table(
        self, org_id: OrgId, device_id: str, name: str, *, limit: int | None = None
    ) -> DiscoveredTable:
        """Return a table in the order of its keys (interfaces by number, MAC entries by address, ...); ready
        to be shown.

        Raises Unavailable for a table of which a part was lost.
        """
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
        """Return what the next poll is compared with; None also for a table of which a part was lost."""
        header = await self._headers.find_one(org_id, {"_id": device_id}, fields={"poll": 1})
        if header is None:
            return Before()
        return Before(
            neighbors=await self._rows_if_whole(org_id, device_id, "neighbors"),
            interfaces=await self._rows_if_whole(org_id, device_id, "interfaces"),
            reachable=header["poll"]["reachable"],
            failures=header["poll"]["failures"],
        )

    async def find(self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None) -> list[Sighting]:
        """See AddressSearch.find."""
        return await self._search.find(org_id, mac=mac, ip=ip)

    async def owners(self, org_id: OrgId, field: str, keys: Sequence[str]) -> list[tuple[str, str]]:
        """See AddressSearch.owners."""
        return await self._search.owners(org_id, field, keys)

    async def every_device(self, org_id: OrgId) -> AsyncIterator[list[DeviceTables]]:
        """Yield the neighbors of all devices that were polled; each batch by queries of its own."""
        after = ""
        fields = dict.fromkeys(OF_EVERY_DEVICE, 1)
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
                yield [
                    _with_neighbors(header, rows)
                    for header, rows in await self._of_many(org_id, headers, "neighbors", fields)
                ]
            if len(headers) < DEVICES_AT_ONCE:
                return
            after = headers[-1]["_id"]

    async def neighbors(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, list[Fields]]:
        """Return the neighbors of each of the devices that has any."""
        fields = {"tables.neighbors.parts": 1}
        found: dict[str, list[Fields]] = {}
        for batch in in_batches(device_ids, DEVICES_AT_ONCE):
            headers = await self._headers.find(org_id, {"_id": {"$in": batch}}, fields=fields)
            for header, rows in await self._of_many(org_id, headers, "neighbors", fields):
                if rows:
                    found[header["_id"]] = rows
        return found

    async def addresses_on(
        self, org_id: OrgId, device_ids: Sequence[str], interfaces: Sequence[str]
    ) -> dict[tuple[str, str], int]:
        """See AddressSearch.on_ports."""
        return await self._search.on_ports(org_id, device_ids, interfaces)

    async def interfaces(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, list[Fields]]:
        """Return the interface tables of those devices, as far as they name interfaces."""
        fields = {"tables.interfaces.parts": 1}
        found: dict[str, list[Fields]] = {}
        for batch in in_batches(device_ids, DEVICES_AT_ONCE):
            headers = await self._headers.find(org_id, {"_id": {"$in": batch}}, fields=fields)
            for header, rows in await self._of_many(
                org_id, headers, "interfaces", fields, of_rows=TO_NAME_AN_INTERFACE
            ):
                if rows:
                    found[header["_id"]] = rows
        return found

    async def _of_many(
        self,
        org_id: OrgId,
        headers: Sequence[Document],
        name: str,
        fields: Document,
        *,
        of_rows: Sequence[str] = (),
    ) -> list[tuple[Document, list[Fields] | None]]:
        """Yield the headers, each with the rows of that table; None where a part was lost.

        A header whose parts have gone meanwhile is read again, with those `fields`.
        """
        done: list[tuple[Document, list[Fields] | None]] = []
        pace = Pace()
        for _ in range(READ_AGAIN):
            rows = await self._parts_store.rows(
                org_id, [part for header in headers for part in _parts(header, name)], of_rows=of_rows
            )
            late: list[str] = []
            for header in headers:
                parts = [part["id"] for part in _parts(header, name)]
                if all(part in rows for part in parts):
                    done.append((header, [row for part in parts for row in rows[part]]))
                else:
                    late.append(header["_id"])
                await pace.breathe()
            if not late:
                return done
            headers = await self._headers.find(org_id, {"_id": {"$in": late}}, fields=fields)
        return done + [(header, None) for header in headers]

    async def _rows_if_whole(self, org_id: OrgId, device_id: str, name: str) -> Sequence[Fields] | None:
        try:
            table, rows = await self._read(org_id, device_id, name, None)
        except PartGone:
            return None
        return None if table is None else rows

    async def _read(
        self, org_id: OrgId, device_id: str, name: str, limit: int | None
    ) -> tuple[Document | None, list[Fields]]:
        """Return what the header says of a table, None for one that was never read, and its rows."""
        fields = {f"tables.{name}.{field}": 1 for field in ("at", "total", "parts")}
        for _ in range(READ_AGAIN):
            header = await self._headers.find_one(org_id, {"_id": device_id}, fields=fields)
            table = (header or {}).get("tables", {}).get(name)
            if table is None:
                return None, []
            wanted = _first(table["parts"], limit)
            found = await self._parts_store.rows(org_id, wanted)
            if all(part["id"] in found for part in wanted):
                return table, [row for part in wanted for row in found[part["id"]]][:limit]
        raise PartGone("the table is being replaced, or a part of it was lost; the next poll writes it")


def _parts(header: Document, name: str) -> Sequence[Mapping[str, Any]]:
    parts: Sequence[Mapping[str, Any]] = header.get("tables", {}).get(name, {}).get("parts", ())
    return parts


def _first(parts: Sequence[Mapping[str, Any]], limit: int | None) -> list[Mapping[str, Any]]:
    """Return the first parts that have so many rows together."""
    wanted: list[Mapping[str, Any]] = []
    rows = 0
    for part in parts:
        if limit is not None and rows >= limit:
            break
        wanted.append(part)
        rows += part["rows"]
    return wanted


def _with_neighbors(header: Document, rows: Sequence[Fields] | None) -> DeviceTables:
    """Return the tables; one of which a part was lost counts as none."""
    status = header.get("status", {})
    table = header.get("tables", {}).get("neighbors", {})
    return DeviceTables(
        device_id=header["_id"],
        revision=header["revision"],
        sys_name=status.get("sys_name"),
        chassis_ids=tuple(status.get("chassis_ids", ())),
        neighbors_at=None if rows is None else table.get("at"),
        neighbors=rows or (),
    )


async def _shown(rows: Sequence[Fields], last_seen_at: datetime | None) -> list[Fields]:
    """Return rows as they are answered: moments as texts."""
    pace = Pace()
    seen = None if last_seen_at is None else to_text(last_seen_at)
    shown: list[Fields] = []
    for row in rows:
        one = {name: to_text(value) if isinstance(value, datetime) else value for name, value in row.items()}
        shown.append(one if seen is None else {**one, LAST_SEEN: seen})
        await pace.breathe()
    return shown

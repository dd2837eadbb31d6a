"""Searches for an address through the parts of all devices that headers name.

A search reads parts first and headers then. A poll that ends in between has other parts: it would take an
address away that has been there all the time, so the devices where that may be are read once more.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from netautod.core.identity.caller import OrgId
from netautod.core.loop.each import in_batches
from netautod.core.loop.pace import Pace
from netautod.network.discovery.tables.event_outbox import HEADERS
from netautod.network.discovery.tables.models import Sighting
from netautod.network.discovery.tables.part_store import PARTS
from netautod.network.discovery.tables.parts import Fields
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped

MOST_FOUND = 1000  # answers of one search
MOST_PARTS = 5000  # looked at for it
DEVICES_AT_ONCE = 200
# What the answers of searches call a table.
SOURCES = {"mac": "mac", "arp": "arp", "interfaces": "interface"}

Ends = Mapping[str, Mapping[str, datetime]]
"""By device, the ids of the parts of its tables, each with the time of its table."""


class AddressSearch:
    def __init__(self, database: Database) -> None:
        self._headers = scoped(database, HEADERS)
        self._parts = scoped(database, PARTS)

    async def find(self, org_id: OrgId, *, mac: str | None = None, ip: str | None = None) -> list[Sighting]:
        """Return where the address was seen, the newest first; MOST_FOUND at most."""
        where = {"macs": mac} if mac is not None else {"addresses": ip}
        rows = {"$filter": {"input": "$rows", "as": "row", "cond": _holds(mac, ip)}}
        found: list[Sighting] = []
        pace = Pace()
        async for part, at in self._named(org_id, where, {"rows": rows}, tables=tuple(SOURCES)):
            found += [_sighting(part, row, at, ip) for row in part["rows"]]
            await pace.breathe()
        found.sort(key=lambda one: (-one.last_seen_at.timestamp(), one.device_id, one.interface or ""))
        return found[:MOST_FOUND]

    async def owners(self, org_id: OrgId, field: str, keys: Sequence[str]) -> list[tuple[str, str]]:
        """Return the devices with interfaces that have one of these; `field` is `macs` or `addresses`.

        Pairs of the address and the device's id.
        """
        found: list[tuple[str, str]] = []
        for batch in in_batches(keys, DEVICES_AT_ONCE):
            where = {field: {"$in": batch}, "table": "interfaces"}
            wanted = {*batch}
            async for part, _ in self._named(org_id, where, {field: 1}, tables=("interfaces",)):
                found += [(key, part["device_id"]) for key in wanted.intersection(part[field])]
            await asyncio.sleep(0)
        return found

    async def on_ports(
        self, org_id: OrgId, device_ids: Sequence[str], interfaces: Sequence[str]
    ) -> dict[tuple[str, str], int]:
        """Count the MAC addresses of those devices on interfaces of these names; nothing for none.

        By device and interface.
        """
        named = (await self._ends(org_id, device_ids, ("mac",))).values()
        ids = sorted(part for ends in named for part in ends)
        on_one = {"$in": ["$$one", list(interfaces)]}
        on_ports = {"$filter": {"input": "$rows.interface", "as": "one", "cond": on_one}}
        stages: list[Document] = [
            {"$match": {"_id": {"$in": ids}}},
            {"$project": {"device_id": 1, "interface": on_ports}},
            {"$unwind": "$interface"},
            {"$group": {"_id": {"device": "$device_id", "port": "$interface"}, "count": {"$sum": 1}}},
        ]
        found = await self._parts.aggregate(org_id, stages) if ids and interfaces else []
        return {(row["_id"]["device"], row["_id"]["port"]): row["count"] for row in found}

    async def _ends(self, org_id: OrgId, device_ids: Sequence[str], tables: Sequence[str]) -> Ends:
        """Return what the headers of those devices name now."""
        ends: dict[str, Mapping[str, datetime]] = {}
        fields: Document = {}
        for name in tables:
            fields |= {f"tables.{name}.parts.id": 1, f"tables.{name}.at": 1}
        for batch in in_batches(device_ids, DEVICES_AT_ONCE):
            for header in await self._headers.find(org_id, {"_id": {"$in": batch}}, fields=fields):
                ends[header["_id"]] = {
                    part["id"]: table["at"]
                    for table in header.get("tables", {}).values()
                    for part in table.get("parts", ())
                }
        return ends

    async def _named(
        self, org_id: OrgId, where: Document, content: Document, *, tables: Sequence[str]
    ) -> AsyncIterator[tuple[Document, datetime]]:
        """Yield the parts that are found so and that count, each with the time of its table."""
        parts = await self._matching_parts(org_id, where, content)
        ends = await self._ends(org_id, sorted({part["device_id"] for part in parts}), tables)
        counted = {(part["device_id"], part["table"]) for part in parts if _end(part, ends) is not None}
        # What has gone is left there until the next poll, so that this is seldom more than a few devices.
        again = {part["device_id"] for part in parts if (part["device_id"], part["table"]) not in counted}
        if again:
            parts = [part for part in parts if part["device_id"] not in again]
            for batch in in_batches(sorted(again), DEVICES_AT_ONCE):
                # What the headers named a moment ago is there until two more polls have ended.
                parts += await self._matching_parts(org_id, {**where, "device_id": {"$in": batch}}, content)
        for part in parts:
            at = _end(part, ends)
            if at is not None:
                yield part, at

    async def _matching_parts(self, org_id: OrgId, where: Document, content: Document) -> list[Document]:
        stages: list[Document] = [
            {"$match": where},
            {"$limit": MOST_PARTS},
            {"$project": {"device_id": 1, "table": 1, **content}},
        ]
        return await self._parts.aggregate(org_id, stages)


def _end(part: Document, ends: Ends) -> datetime | None:
    return ends.get(part["device_id"], {}).get(part["_id"])


def _holds(mac: str | None, ip: str | None) -> Document:
    """Return the condition on a row."""
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

"""Versions as documents: numbered from 1 per device, never changed but for when they were last seen."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from netautod.activity.webhooks.names import CONFIG_CHANGED
from netautod.activity.webhooks.outbox.pending import PendingEvent, pending_index
from netautod.activity.webhooks.subscriptions import Wanted, wants_nothing
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bulk_values import made
from netautod.core.work.context import Work
from netautod.network.configs.models import FROM_DEVICE, ChangedLines, Config, NewestText, Part, ShownForm
from netautod.store.batching import Batcher, batched_changes, batched_inserts
from netautod.store.client import Database, Document
from netautod.store.indexes import Index
from netautod.store.scoped import scoped

COLLECTION = "configs"
# The event of a new version; there until it is delivered to the webhooks that want it.
UNDELIVERED, UNDELIVERED_AT = "owed", "owed.at"
# When the capture ended that made a version; there until the state of the device's backup says so.
UNNOTED = "unnoted"
CHANGED = "changed"  # ChangedLines, once they were requested
# What readers may know who see no secrets: hash and size of the redacted text, the rules that it was redacted
# by, and when; and the sizes of parts by their text.
SHOWN, SHOWN_PARTS = "shown", "shown_parts"
INDEXES = (
    # Read backwards it is also the order of every list, and the way to the newest.
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("device_id", 1), ("version", 1)),
        unique=True,
    ),
    # Retention: which versions name a text, and which are old.
    Index(collection=COLLECTION, keys=(("org_id", 1), ("text_id", 1))),
    Index(collection=COLLECTION, keys=(("created_at", 1),)),
    pending_index(COLLECTION, UNDELIVERED_AT),
    Index(collection=COLLECTION, keys=((UNNOTED, 1),), partial={UNNOTED: {"$type": "date"}}),
    # What was changed lately.
    Index(collection=COLLECTION, keys=(("org_id", 1), ("source", 1), ("created_at", -1), ("_id", 1))),
    Index(
        collection=COLLECTION,
        keys=(("org_id", 1), ("parts.text_id", 1)),
        partial={"parts_at": {"$type": "date"}},
    ),
    # Versions whose form as shown is to be made anew.
    Index(collection=COLLECTION, keys=(("shown.rules", 1), ("shown.at", 1))),
)
NEWEST_FIRST = [("version", -1)]
DEVICE = {"org_id": "$org_id", "device_id": "$device_id"}
BATCH = 500
_PARTS = frozenset({"parts", "parts_at"})  # a version has them once they were read
_PLAIN = tuple(name for name in Config.__dataclass_fields__ if name not in {"id", SHOWN, *_PARTS})
_PART_FIELDS = tuple(Part.__dataclass_fields__)
_FORM_FIELDS = tuple(ShownForm.__dataclass_fields__)


class ConfigStore:
    """A version only names its text, which ConfigTexts keeps.

    `wanted`: whether a webhook wants an event; then a new version is stored with its event. `rules` names the
    rules of redaction in force; until they are followed, no form of a text as shown counts.
    """

    def __init__(self, database: Database, *, wanted: Wanted = wants_nothing) -> None:
        self._wanted = wanted
        self.rules = ""
        self._all = database.collection(COLLECTION)
        self._configs = scoped(database, COLLECTION)
        self.undelivered = PendingEvent(self._all, field=UNDELIVERED, at=UNDELIVERED_AT)
        self._inserts = batched_inserts(self._configs)
        self._changes = batched_changes(self._configs)
        self._reads: Batcher[OrgId, str, Config | None] = Batcher(self._newest_in_order)

    async def insert(self, config: Config, work: Work, *, event: Mapping[str, Any] | None = None) -> None:
        """Insert a version. Raises Duplicate if the device has that version already.

        `event` is what its event says beside the version; None where it is no event.
        """
        document = {name: getattr(config, name) for name in _PLAIN}
        document |= _form_document(config.shown, config.created_at)
        if config.source == FROM_DEVICE:
            document[UNNOTED] = config.created_at
        if event is not None and self._wanted(config.org_id, CONFIG_CHANGED):
            document[UNDELIVERED] = {"at": config.created_at, **event}
        await self._inserts.ask(config.org_id, {"_id": config.id, **document}, work)

    async def noted(self, config: Config, work: Work) -> None:
        """Record that the state of the device's backup knows this version."""
        await self._changes.ask(config.org_id, ({"_id": config.id}, {"$unset": {UNNOTED: ""}}), work)

    async def unnoted(self, *, before: datetime, limit: int) -> list[Config]:
        """Return versions of all organizations whose captures are still to be recorded, the oldest first."""
        where = {UNNOTED: {"$type": "date", "$lt": before}}
        found = await self._all.find(where, sort=[(UNNOTED, 1)], limit=limit)
        return [self.to_config(row) for row in found]

    async def _newest_in_order(self, org_id: OrgId, device_ids: Sequence[str]) -> Sequence[Config | None]:
        found = await self.newest_of(org_id, list(set(device_ids)))
        return [found.get(device_id) for device_id in device_ids]

    async def newest(self, org_id: OrgId, device_id: str, work: Work | None = None) -> Config | None:
        """Return the newest version of a device; for bulk `work` it is read together with those of other
        devices.
        """
        if work is not None and work.bulk:
            return await self._reads.ask(org_id, device_id, work)
        found = await self._configs.find_one(org_id, {"device_id": device_id}, sort=NEWEST_FIRST)
        return None if found is None else self.to_config(found)

    async def newest_before(self, org_id: OrgId, device_id: str, version: int) -> Config | None:
        """Return the newest of the versions before this one."""
        where = {"device_id": device_id, "version": {"$lt": version}}
        found = await self._configs.find_one(org_id, where, sort=NEWEST_FIRST)
        return None if found is None else self.to_config(found)

    async def oldest_after(self, org_id: OrgId, device_id: str, version: int) -> Config | None:
        """Return the oldest of the versions after this one."""
        where = {"device_id": device_id, "version": {"$gt": version}}
        found = await self._configs.find_one(org_id, where, sort=[("version", 1)])
        return None if found is None else self.to_config(found)

    async def get(self, org_id: OrgId, device_id: str, version: int) -> Config | None:
        found = await self._configs.find_one(org_id, {"device_id": device_id, "version": version})
        return None if found is None else self.to_config(found)

    async def newest_of(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, Config]:
        """Return the newest version of each device that has one."""
        found = await self._newest_rows(org_id, device_ids, {"row": {"$first": "$$ROOT"}})
        return {document["_id"]: self.to_config(document["row"]) for document in found}

    async def newest_texts(self, org_id: OrgId, device_ids: Sequence[str]) -> dict[str, NewestText]:
        """Return the place of the newest text of each device that has one."""
        names = tuple(NewestText.__dataclass_fields__)
        found = await self._newest_rows(org_id, device_ids, {name: {"$first": f"${name}"} for name in names})
        return {document["_id"]: NewestText(**{name: document[name] for name in names}) for document in found}

    async def _newest_rows(
        self, org_id: OrgId, device_ids: Sequence[str], fields: Document
    ) -> list[Document]:
        # With $first behind this very sort the server jumps from device to device in the index (the plan
        # says DISTINCT_SCAN) and reads one document each, however long the histories are.
        return await self._configs.aggregate(
            org_id,
            [
                {"$match": {"device_id": {"$in": list(device_ids)}}},
                {"$sort": {"device_id": -1, "version": -1}},
                {"$group": {"_id": "$device_id", **fields}},
            ],
        )

    async def page(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[Config]:
        """Return one page of versions, newest first."""
        where: dict[str, Any] = {"device_id": device_id}
        total = await self._configs.count(org_id, where)
        if page.offset:
            where["version"] = {"$lte": await self._version_at(org_id, device_id, page.offset)}
        found = await self._configs.find(org_id, where, sort=NEWEST_FIRST, limit=page.limit)
        return PageOf(items=[self.to_config(document) for document in found], total=total, page=page)

    async def count(self, org_id: OrgId, device_id: str) -> int:
        return await self._configs.count(org_id, {"device_id": device_id})

    async def every(self, org_id: OrgId, device_id: str, *, offset: int) -> AsyncGenerator[Config, None]:
        """Yield the versions from the one at `offset` on, newest first, a batch in memory at a time."""
        newest = await self._version_at(org_id, device_id, offset)
        while newest:
            where = {"device_id": device_id, "version": {"$lte": newest}}
            found = await self._configs.find(org_id, where, sort=NEWEST_FIRST, limit=BATCH)
            for document in found:
                yield self.to_config(document)
            newest = found[-1]["version"] - 1 if len(found) == BATCH else 0

    async def _version_at(self, org_id: OrgId, device_id: str, offset: int) -> int:
        """Return the number of the version at `offset`, newest first; 0 without one.

        Skipped in the index alone: a skip among whole documents reads every one of them.
        """
        found = await self._configs.find(
            org_id,
            {"device_id": device_id},
            fields={"version": 1, "_id": 0},
            sort=NEWEST_FIRST,
            limit=1,
            offset=offset,
        )
        return int(found[0]["version"]) if found else 0

    async def set_notes(
        self, org_id: OrgId, device_id: str, version: int, notes: str | None
    ) -> Config | None:
        """Set the notes; return None without such a version."""
        found = await self._configs.find_and_update(
            org_id, {"device_id": device_id, "version": version}, {"$set": {"notes": notes}}
        )
        return None if found is None else self.to_config(found)

    async def seen(
        self, config: Config, work: Work, *, at: datetime, config_hash: str, shown: ShownForm
    ) -> Config:
        """Record that the device still had this content. The hash moves when a release changed what is
        noise, or how secrets stand in it."""
        form = {} if shown == config.shown else _form_document(shown, at)
        change = {"$max": {"last_seen_at": at}, "$set": {"config_hash": config_hash, **form}}
        noting = ({"_id": config.id}, change)
        await self._changes.ask(config.org_id, noting, work)
        last_seen_at = max(config.last_seen_at, at)
        return replace(config, last_seen_at=last_seen_at, config_hash=config_hash, shown=shown)

    async def shown_hashes(self, org_id: OrgId, config_ids: Sequence[str]) -> dict[str, str | None]:
        """Return the hashes of the texts as shown by the ids of the versions."""
        where = {"_id": {"$in": list(config_ids)}}
        found = await self._configs.find(org_id, where, fields={SHOWN: 1})
        return {row["_id"]: self._form(row).config_hash for row in found}

    async def unshown(self, *, before: datetime, limit: int, without: Collection[OrgId] = ()) -> list[Config]:
        """Return versions of all organizations whose form as shown was not made by the rules in force.

        Those that a node with other rules has made since `before` are left to it.
        """
        where = {"shown.rules": {"$ne": self.rules}, "shown.at": {"$not": {"$gte": before}}}
        return await self._unshown(where, limit, without)

    async def unshown_parts(
        self, *, before: datetime, limit: int, without: Collection[OrgId] = ()
    ) -> list[Config]:
        """Return those whose form was made, but not the sizes of the parts that were read since: each version
        with a form is looked at.
        """
        made = {"shown.rules": self.rules, "shown.at": {"$lt": before}, "parts_at": {"$type": "date"}}
        return await self._unshown({**made, f"{SHOWN_PARTS}.rules": {"$ne": self.rules}}, limit, without)

    async def _unshown(self, where: Document, limit: int, without: Collection[OrgId]) -> list[Config]:
        others = {"org_id": {"$nin": list(without)}} if without else {}
        return [self.to_config(row) for row in await self._all.find({**where, **others}, limit=limit)]

    async def set_shown(
        self, config: Config, shown: ShownForm, sizes: Mapping[str, int], *, at: datetime
    ) -> None:
        """Store the form of a version, and the sizes of its parts by their texts unless others were read."""
        parts = {SHOWN_PARTS: {"rules": shown.rules, "sizes": dict(sizes)}}
        await self._configs.update(
            config.org_id, {"_id": config.id, "parts_at": config.parts_at}, {"$set": parts}
        )
        await self._configs.update(config.org_id, {"_id": config.id}, {"$set": _form_document(shown, at)})

    async def latest(self, org_id: OrgId, limit: int) -> list[tuple[Config, ChangedLines | None]]:
        """Return the versions that were captured last, without their parts, with their changed lines if
        known.
        """
        newest = [("created_at", -1), ("_id", 1)]
        found = await self._configs.find(
            org_id, {"source": FROM_DEVICE}, fields={"parts": 0, SHOWN_PARTS: 0}, sort=newest, limit=limit
        )
        return [(self.to_config(row), _lines(row)) for row in found]

    async def set_changed_lines(self, config: Config, lines: ChangedLines) -> None:
        change = {"additions": lines.additions, "deletions": lines.deletions}
        await self._configs.update(config.org_id, {"_id": config.id}, {"$set": {CHANGED: change}})

    async def set_parts(self, config: Config, parts: Sequence[Part], work: Work, *, at: datetime) -> None:
        """Replace the parts that were read before."""
        rows = [{name: getattr(part, name) for name in _PART_FIELDS} for part in parts]
        sizes = {part.text_id: part.size for part in parts if part.size is not None}
        known = all(part.size is not None for part in parts)  # else the sizes are made in the background
        shown = {"rules": self.rules if known else "", "sizes": sizes}
        noting = ({"_id": config.id}, {"$set": {"parts": rows, "parts_at": at, SHOWN_PARTS: shown}})
        await self._changes.ask(config.org_id, noting, work)

    async def devices_with_more_than(self, most: int) -> list[tuple[OrgId, str]]:
        """Return the devices of all organizations with more than `most` versions."""
        return await self._devices(
            [
                # In this order the server counts the keys of the index and reads no document.
                {"$sort": {"org_id": 1, "device_id": 1, "version": 1}},
                {"$group": {"_id": DEVICE, "count": {"$sum": 1}}},
                {"$match": {"count": {"$gt": most}}},
            ]
        )

    async def devices_with_unseen(self, since: datetime) -> list[tuple[OrgId, str]]:
        """Return the devices of all organizations with versions whose content was last seen before
        `since`."""
        # A version is seen when it is made: what was made since need not be looked at.
        old = {"created_at": {"$lt": since}, "last_seen_at": {"$lt": since}}
        return await self._devices([{"$match": old}, {"$group": {"_id": DEVICE}}])

    async def nth_newest(self, org_id: OrgId, device_id: str, count: int) -> int | None:
        """Return the version that `count - 1` newer ones follow, None if there are fewer."""
        found = await self._configs.find(
            org_id,
            {"device_id": device_id},
            fields={"version": 1},
            sort=NEWEST_FIRST,
            offset=count - 1,
            limit=1,
        )
        return found[0]["version"] if found else None

    async def batches(
        self,
        org_id: OrgId,
        device_id: str,
        *,
        below: int | None = None,
        unseen_since: datetime | None = None,
    ) -> AsyncIterator[list[Config]]:
        """Yield versions of a device, oldest first: all, or those before `below`, not seen since then."""
        conditions: Document = {"device_id": device_id}
        if unseen_since is not None:
            conditions["last_seen_at"] = {"$lt": unseen_since}
        upper = {} if below is None else {"$lt": below}
        after = 0
        while True:
            where = {**conditions, "version": {"$gt": after, **upper}}
            found = await self._configs.find(org_id, where, sort=[("version", 1)], limit=BATCH)
            if found:
                yield [self.to_config(document) for document in found]
            if len(found) < BATCH:
                return
            after = found[-1]["version"]

    async def in_order_of_time(self, org_id: OrgId) -> AsyncIterator[list[Config]]:
        """Yield all versions of the organization, the oldest first; each batch is a query of its own."""
        after: Document = {}
        while True:
            order = [("created_at", 1), ("device_id", 1), ("version", 1)]
            found = await self._configs.find(org_id, after, sort=order, limit=BATCH)
            if found:
                yield [self.to_config(document) for document in found]
            if len(found) < BATCH:
                return
            at, device_id, version = (found[-1][name] for name, _ in order)
            behind = {"created_at": at, "device_id": device_id, "version": {"$gt": version}}
            others = {"created_at": at, "device_id": {"$gt": device_id}}
            after = {"$or": [{"created_at": {"$gt": at}}, others, behind]}

    async def delete(self, org_id: OrgId, config_ids: Sequence[str]) -> int:
        return await self._configs.delete_many(org_id, {"_id": {"$in": list(config_ids)}})

    async def names_text(self, org_id: OrgId, text_id: str) -> bool:
        """Return whether a version names the text, as its own or as that of a part."""
        # Without the type in the query the server does not use the partial index.
        of_part = {"parts.text_id": text_id, "parts_at": {"$type": "date"}}
        for where in ({"text_id": text_id}, of_part):
            if await self._configs.find_one(org_id, where, fields={"_id": 1}) is not None:
                return True
        return False

    def to_config(self, document: Document) -> Config:
        fields = {name: document[name] for name in _PLAIN}
        fields["id"] = document["_id"]
        fields["parts"] = self._parts(document)
        fields["parts_at"] = document.get("parts_at")
        fields[SHOWN] = self._form(document)
        return made(Config, fields)

    def _form(self, document: Document) -> ShownForm:
        shown = self._in_force(document, SHOWN)
        return ShownForm(**{name: shown[name] for name in _FORM_FIELDS if name in shown})

    def _parts(self, document: Document) -> tuple[Part, ...]:
        rows = document.get("parts", ())
        sizes = self._in_force(document, SHOWN_PARTS).get("sizes", {}) if rows else {}
        return tuple(Part(**{**row, "size": sizes.get(row["text_id"])}) for row in rows)

    def _in_force(self, document: Document, field: str) -> Document:
        """Return what was made by the rules in force, else nothing."""
        shown: Document = document.get(field) or {}
        return shown if self.rules and shown.get("rules") == self.rules else {}

    async def _devices(self, pipeline: Sequence[Document]) -> list[tuple[OrgId, str]]:
        found = await self._all.aggregate(pipeline)
        return [(OrgId(row["_id"]["org_id"]), row["_id"]["device_id"]) for row in found]


def _lines(document: Document) -> ChangedLines | None:
    kept = document.get(CHANGED)
    return None if kept is None else ChangedLines(**kept)


def _form_document(shown: ShownForm, at: datetime) -> Document:
    return {SHOWN: {**asdict(shown), "at": at}} if shown.rules else {}

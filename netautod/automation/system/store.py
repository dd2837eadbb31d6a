"""Nodes and pauses in MongoDB, and the state of the database itself: the collections `nodes` and `pauses`."""

from datetime import datetime

from netautod.automation.system.models import DatabaseStatus, DiskStatus, Node, Pause
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.store.expressions import literal
from netautod.store.indexes import Index

NODES, PAUSES = "nodes", "pauses"
FORGET_SECONDS = 60
ALIVE = {"$expr": {"$gt": ["$heartbeat_at", {"$subtract": ["$$NOW", FORGET_SECONDS * 1000]}]}}
INDEXES = (Index(collection=NODES, keys=(("heartbeat_at", 1),), expire_seconds=FORGET_SECONDS),)


class SystemStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._nodes = database.collection(NODES)
        self._pauses = database.collection(PAUSES)

    async def database_status(self) -> DatabaseStatus:
        hello = await self._database.hello()
        return DatabaseStatus(
            version=await self._database.version(),
            replica_set=hello.get("setName"),
            ok=bool(hello.get("isWritablePrimary")),
            disk=self._disk_status(),
        )

    def _disk_status(self) -> DiskStatus | None:
        room = self._database.room
        if room.space is None:
            return None
        return DiskStatus(space=room.space, min_free_mb=room.needed_mib, full=room.short)

    async def any_alive(self) -> bool:
        """Return whether there may be nodes at work; one that died counts for another minute."""
        return await self._nodes.find_one(ALIVE, fields={"_id": 1}) is not None

    async def all_know(self, migration: int) -> bool:
        """Return whether every living node knows the migration of this number."""
        earlier = {**ALIVE, "migration": {"$not": {"$gte": migration}}}
        return await self._nodes.find_one(earlier, fields={"_id": 1}) is None

    async def nodes(self) -> list[Node]:
        """List the nodes by start, the oldest first."""
        found = await self._nodes.find({}, sort=[("started_at", 1), ("_id", 1)])
        return [_node(document) for document in found]

    async def put_node(
        self,
        node_id: str,
        *,
        host: str,
        version: str,
        migration: int,
        slots: int,
        running: int,
        local: datetime,
    ) -> None:
        """Write the whole row of a node: it may have expired while the database was down.

        `migration`: the newest that the node knows. `local`: the node's time.
        """
        own = {"host": host, "version": version, "migration": migration, "slots": slots, "running": running}
        change = {
            **literal(own),
            "started_at": {"$ifNull": ["$started_at", "$$NOW"]},
            "heartbeat_at": "$$NOW",
            "clock_ahead_ms": {"$subtract": [{"$literal": local}, "$$NOW"]},
        }
        await self._nodes.update({"_id": node_id}, [{"$set": change}], upsert=True)

    async def delete_node(self, node_id: str) -> None:
        await self._nodes.delete({"_id": node_id})

    async def paused(self) -> frozenset[OrgId]:
        """Return all organizations that are paused."""
        found = await self._pauses.find({}, fields={"_id": 1})
        return frozenset(OrgId(document["_id"]) for document in found)

    async def pause(self, org_id: OrgId) -> Pause | None:
        found = await self._pauses.find_one({"_id": org_id})
        return None if found is None else Pause(reason=found["reason"], by=found["by"], at=found["at"])

    async def paused_since(self, org_id: OrgId) -> datetime | None:
        """Return when the pause began, whatever reasons it was given since; None if there is none."""
        found = await self._pauses.find_one({"_id": org_id})
        # A pause that an earlier version began has only the time of its last reason.
        return None if found is None else found.get("since", found["at"])

    async def put_pause(self, org_id: OrgId, pause: Pause) -> None:
        values = {"reason": pause.reason, "by": pause.by, "at": pause.at}
        change = {"$set": values, "$setOnInsert": {"since": pause.at}}
        await self._pauses.update({"_id": org_id}, change, upsert=True)

    async def delete_pause(self, org_id: OrgId) -> bool:
        """Delete a pause; return whether there was one."""
        return await self._pauses.delete({"_id": org_id})


def _node(document: Document) -> Node:
    return Node(
        id=document["_id"],
        host=document["host"],
        version=document["version"],
        started_at=document["started_at"],
        heartbeat_at=document["heartbeat_at"],
        running=document["running"],
        slots=document["slots"],
        clock_ahead_seconds=document.get("clock_ahead_ms", 0) / 1000,
    )

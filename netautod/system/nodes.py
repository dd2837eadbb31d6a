"""The nodes that share the database: each writes its row every few seconds, and removes it when it stops.

The row of a node that died keeps its last `heartbeat_at` until the database drops it, a minute or two later.
"""

import logging
import socket
from collections.abc import Callable

from netautod import __version__
from netautod.core.errors import Unavailable
from netautod.store.client import Database, Document
from netautod.store.expressions import literal
from netautod.store.indexes import Index
from netautod.store.leases.periodic import Periodic
from netautod.system.models import Node

logger = logging.getLogger(__name__)
COLLECTION = "nodes"
FORGET_SECONDS = 60
INDEXES = (Index(collection=COLLECTION, keys=(("heartbeat_at", 1),), expire_seconds=FORGET_SECONDS),)


class Nodes:
    """`async with` keeps this node's row alive; `running` tells how many executions it runs."""

    def __init__(
        self,
        database: Database,
        *,
        node_id: str,
        slots: int,
        running: Callable[[], int],
        heartbeat_seconds: float = 10.0,
    ) -> None:
        self._nodes = database.collection(COLLECTION)
        self._node_id = node_id
        self._slots = slots
        self._running = running
        self._loop = Periodic(self.beat, name="the heartbeat of this node", seconds=heartbeat_seconds)

    async def __aenter__(self) -> "Nodes":
        await self.beat()
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()
        try:
            await self._nodes.delete({"_id": self._node_id})
        except Unavailable as error:
            logger.info("the row of this node stays until it expires: %s", error)

    async def all(self) -> list[Node]:
        """By start, the oldest first."""
        found = await self._nodes.find({}, sort=[("started_at", 1), ("_id", 1)])
        return [_node(document) for document in found]

    async def beat(self) -> None:
        """Writes the whole row: it may have expired while the database was away."""
        own = {"host": socket.gethostname(), "version": __version__, "slots": self._slots}
        change = {
            **literal({**own, "running": self._running()}),
            "started_at": {"$ifNull": ["$started_at", "$$NOW"]},
            "heartbeat_at": "$$NOW",
        }
        await self._nodes.update({"_id": self._node_id}, [{"$set": change}], upsert=True)


def _node(document: Document) -> Node:
    return Node(
        id=document["_id"],
        host=document["host"],
        version=document["version"],
        started_at=document["started_at"],
        heartbeat_at=document["heartbeat_at"],
        running=document["running"],
        slots=document["slots"],
    )

"""The heartbeat of this node: its row is written every few seconds, and removed when it stops.

The row of a node that died keeps its last `heartbeat_at` until the database drops it, a minute or two later.
"""

import logging
import socket
from collections.abc import Callable
from datetime import UTC, datetime

from netautod import __version__
from netautod.automation.system.store import SystemStore
from netautod.core.errors import Unavailable
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)


class NodeHeartbeat:
    """A heartbeat that keeps this node's row alive within `async with`.

    `running` returns how many executions the node runs. `migration` is the newest that it knows: other nodes
    wait with changes that a node without that migration could not handle.
    """

    def __init__(
        self,
        *,
        store: SystemStore,
        node_id: str,
        migration: int,
        slots: int,
        running: Callable[[], int],
        heartbeat_seconds: float = 10.0,
    ) -> None:
        self._store = store
        self._node_id = node_id
        self._migration = migration
        self._slots = slots
        self._running = running
        self._loop = Periodic(self.beat, name="the heartbeat of this node", seconds=heartbeat_seconds)

    async def __aenter__(self) -> "NodeHeartbeat":
        await self.beat()
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()
        try:
            await self._store.delete_node(self._node_id)
        except Unavailable as error:
            logger.info("the row of this node could not be deleted and stays until it expires: %s", error)

    async def beat(self) -> None:
        await self._store.put_node(
            self._node_id,
            host=socket.gethostname(),
            version=__version__,
            migration=self._migration,
            slots=self._slots,
            running=self._running(),
            local=datetime.now(UTC),
        )

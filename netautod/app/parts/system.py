"""The part of the composition root about the system: this node's row and the service of status and pauses."""

from contextlib import AsyncExitStack

from netautod.app.foundation import Foundation
from netautod.app.plugins.manager import PluginManager
from netautod.executions.running.node import ExecutionNode
from netautod.executions.store import ExecutionStore
from netautod.system.heartbeat import NodeHeartbeat
from netautod.system.pauses import FollowedPauses
from netautod.system.service import SystemService
from netautod.system.store import SystemStore


async def system_service(
    stack: AsyncExitStack,
    base: Foundation,
    *,
    node_id: str,
    node: ExecutionNode,
    plugins: PluginManager,
    pauses: FollowedPauses,
) -> SystemService:
    """Starts this node's heartbeat; it ends after the node has drained."""
    store = SystemStore(base.database)
    heartbeat = NodeHeartbeat(
        store,
        node_id=node_id,
        slots=base.settings.executions.slots,
        running=lambda: node.runner.running,
    )
    await stack.enter_async_context(heartbeat)
    return SystemService(
        store,
        clock=base.clock,
        audit=base.audit,
        plugins=plugins,
        pauses=pauses,
        pending=ExecutionStore(base.database).pending,
    )

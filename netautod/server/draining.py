"""The end of a node that is being stopped: what has begun may finish, what is new is turned away.

New connections, and further requests on those that are there, are answered 503 until the runs have ended. A
worker that stops alone takes no new connections: its siblings on the same socket serve them.
"""

import asyncio
from collections.abc import Sequence

from netautod.assembly.build import Draining
from netautod.assembly.settings import Settings
from netautod.http.connections.server import HttpServer
from netautod.http.status.unavailable import refusing_application


async def drain(
    server: HttpServer, nodes: Sequence[Draining], settings: Settings, *, whole: asyncio.Event
) -> None:
    """Drain the node within `server.drain_seconds`, and a moment. `whole` is set when no sibling is left to
    serve.
    """
    seconds = settings.server.drain_seconds
    in_work = server.refuse_further(refusing_application(settings.server, "draining", server.metrics))
    if not whole.is_set():
        server.pause_accepting()
    following = asyncio.create_task(_accept_when(server, whole), name="turning connections away")
    try:
        await asyncio.gather(in_work.ended(seconds), *(node.drain(seconds) for node in nodes))
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _accept_when(server: HttpServer, whole: asyncio.Event) -> None:
    await whole.wait()
    server.go_on_accepting()

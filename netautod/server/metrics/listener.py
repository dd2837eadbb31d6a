"""Serves the page: over HTTP to Prometheus, and over a socket of the file system to the supervisor."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tornado.netutil import bind_sockets

from netautod.assembly.settings import Settings
from netautod.core.errors import NetautodError
from netautod.core.metrics import Metrics
from netautod.http.access import public
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.server import HttpServer
from netautod.http.context import HttpContext
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route, application
from netautod.server.metrics.page import CONTENT_TYPE

Page = Callable[[], Awaitable[bytes]]
ANSWER_SECONDS = 5.0
CONNECTIONS = 100
# Of a page that is handed over; one without it was cut off. A comment of the format.
END = b"# EOF\n"


class CannotListen(NetautodError):
    """The address is taken or not ours; one line for the operator."""


@dataclass(frozen=True)
class MetricsPage:
    """The page. `read` makes it at every request."""

    read: Page


class MetricsHandler(JsonHandler):
    page: MetricsPage

    @public(produces=CONTENT_TYPE, limited=False)
    async def get(self) -> None:
        """Return the metrics of this node in the text format of Prometheus."""
        self.request_log.leave_out()
        self.set_header("Content-Type", CONTENT_TYPE)
        self.finish(await self.page.read())


@asynccontextmanager
async def serving_page(settings: Settings, page: Page) -> AsyncIterator[None]:
    """Serve the page; nothing with port 0. Raises CannotListen."""
    host, port = settings.metrics.host, settings.metrics.port
    if not port:
        yield
        return
    try:
        sockets = bind_sockets(port, host)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on metrics.host:port {host}:{port}: {reason}") from error
    # Metrics of its own: the page counts the requests of clients. No page of another origin reads it.
    server_only = HttpContext.without_callers(settings.server, listening_on=host, metrics=Metrics())
    context = replace(server_only, cors_origins=frozenset())
    routes = [Route(path="/metrics", handler=MetricsHandler)]
    server = HttpServer(
        application(routes, context, [MetricsPage(page)]),
        connections=CONNECTIONS,
        deadlines=Deadlines.of(settings.server),
    )
    server.add_sockets(sockets)
    try:
        yield
    finally:
        server.stop()
        await server.close_all_connections()


@asynccontextmanager
async def handing_page(path: Path, page: Page) -> AsyncIterator[None]:
    """Send the page to each client that connects to the socket."""

    async def hand(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                writer.write(await page() + END)
                await writer.drain()
        finally:
            writer.close()

    async with await asyncio.start_unix_server(hand, path):
        yield


async def handed_page(path: Path) -> str | None:
    """Return the page, or None from a process that does not answer, or not with a whole page."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            page = await reader.read()
            writer.close()
        return page.decode() if page.endswith(END) else None
    except (OSError, TimeoutError, UnicodeDecodeError):
        return None

"""Serves the page: over HTTP to Prometheus, and over a socket of the file system to the supervisor."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from netautod.core.errors import NetautodError
from netautod.core.settings.metrics import MetricsSettings
from netautod.server.metrics.page import CONTENT_TYPE

Page = Callable[[], Awaitable[bytes]]
ANSWER_SECONDS = 5.0
# Of a page that is handed over; one without it was cut off. A comment of the format.
END = b"# EOF\n"


class CannotListen(NetautodError):
    """The address is taken or not ours; one line for the operator."""


class MetricsHandler(RequestHandler):
    def initialize(self, page: Page) -> None:
        self._page = page

    async def get(self) -> None:
        self.set_header("Content-Type", CONTENT_TYPE)
        self.set_header("Cache-Control", "no-store")
        self.finish(await self._page())


@asynccontextmanager
async def serving_page(settings: MetricsSettings, page: Page) -> AsyncIterator[None]:
    """Serve the page; nothing with port 0. Raises CannotListen."""
    if not settings.port:
        yield
        return
    try:
        sockets = bind_sockets(settings.port, settings.host)
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"cannot listen on metrics.host:port {settings.host}:{settings.port}: {reason}"
        raise CannotListen(text) from error
    application = Application([("/metrics", MetricsHandler, {"page": page})], log_function=lambda _: None)
    server = HTTPServer(
        application, max_body_size=1024, max_header_size=16 * 1024, idle_connection_timeout=60
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

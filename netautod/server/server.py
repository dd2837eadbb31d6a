"""`netautod serve`: starts everything in order, listens, and stops it in the opposite order."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from netautod.assembly.build import Service, build
from netautod.assembly.configuration import Configuration
from netautod.assembly.data import database as databases
from netautod.assembly.installation import Installation, open_installation
from netautod.assembly.settings import Settings
from netautod.automation.executions.abandoned.watched import Watched
from netautod.automation.executions.running.node import ExecutionNode
from netautod.core.errors import Unavailable
from netautod.core.loop.garbage import LOOK_SECONDS, frozen_heap
from netautod.core.loop.ioloop import use_monotonic_time
from netautod.core.metrics import Metrics
from netautod.http.connections import descriptors
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.server import HttpServer
from netautod.http.connections.tls import TlsError, TlsFiles, TlsRenewal
from netautod.http.context import networks
from netautod.http.status.health import Health
from netautod.http.status.unavailable import refusing_application
from netautod.identity.users.organizations import initial_password
from netautod.server.draining import drain
from netautod.server.listening import StartError
from netautod.server.metrics.gauges import DatabaseGauges
from netautod.server.metrics.listener import handing_page, serving_page
from netautod.server.metrics.page import page_of
from netautod.server.telemetry.opening import tracing
from netautod.store.client import Database
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
CERTIFICATE_SECONDS = 10.0
RELOADED = "netautod reloaded"  # the line of a worker for its supervisor


class ServiceState:
    """The state that /health reports, and the event that ends the service; `whole` is set when all its
    workers end.
    """

    def __init__(self) -> None:
        self.phase: Health = "starting"
        self.stop = asyncio.Event()
        self.whole = asyncio.Event()
        self.failure: str | None = None
        self.database: Database | None = None
        self.node: ExecutionNode | None = None

    async def health(self) -> Health:
        if self.phase != "ok" or self.database is None:
            return self.phase
        if self.node is not None and self.node.stands_still:
            return "unavailable"
        try:
            async with asyncio.timeout(2):
                writable = (await self.database.hello()).get("isWritablePrimary", False)
        except (Unavailable, TimeoutError):
            return "unavailable"
        return "ok" if writable else "unavailable"

    def fail(self, reason: str) -> None:
        self.failure = reason
        self.stop.set()


async def serve(
    configuration: Configuration,
    *,
    with_demo: bool,
    out: Callable[[str], None],
    listener: socket.socket,
    watched: Watched,
    shared: bool,
    metrics_socket: Path | None = None,
) -> None:
    """Run until SIGTERM or SIGINT. Raises an error of ours with one line when it cannot start or go on.

    `shared`: the socket is also that of other workers; the supervisor's end of our stdin says when all stop.
    `metrics_socket` is where it reads our metrics, if any are served.
    """
    settings, state = configuration.settings, ServiceState()
    use_monotonic_time()
    stop_on_signals(state)
    async with AsyncExitStack() as stack:
        files = TlsFiles.of(settings.server)
        stamp = () if files is None else files.stamp()
        metrics = Metrics()
        server = _server(settings, files, metrics)
        stack.push_async_callback(_close, server)
        renewal = None
        if files is not None:
            renewal = TlsRenewal(files, stamp=stamp, use=server.use_certificate)
            look = Periodic(renewal.look, name="the look at the certificate", seconds=CERTIFICATE_SECONDS)
            await stack.enter_async_context(look)
        on_hangup(state, partial(_reload, renewal, watched, out if shared else None))
        if shared:
            await _stop_with_parent(state)
        else:
            state.whole.set()
            server.add_sockets([listener])  # clients get 503 instead of nothing
        counted = metrics if settings.metrics.port else None
        database, _uri = await stack.enter_async_context(open_database(settings, state, counted))
        state.database = database
        tracer = await stack.enter_async_context(tracing(settings.telemetry))
        opening = open_installation(settings, database, metrics, tracer, busy=watched.board.migrate)
        installation = await stack.enter_async_context(opening)
        service = await stack.enter_async_context(build(configuration, installation, state.health, watched))
        if with_demo:
            from netautod.server import demo

            await stack.enter_async_context(demo.run(service, installation, settings.data_dir, out))
        garbage = stack.enter_context(frozen_heap())
        looks = Periodic(garbage.look, name="the look for garbage", seconds=LOOK_SECONDS)
        await stack.enter_async_context(looks)
        await stack.enter_async_context(
            _page_served(settings, installation, server, service, files, shared=shared, socket=metrics_socket)
        )
        server.application = service.application
        if shared:
            server.add_sockets([listener])  # only now: the other workers serve meanwhile
        state.node, state.phase = service.node, "ok"
        announce(settings, url_of(settings, listener), installation.initial_password, out)
        watched.board.serve()
        await state.stop.wait()
        state.phase = "draining"
        logger.info("stopping")
        await drain(server, service.drained, settings, whole=state.whole)
        abandoned = service.metrics.value("executions_abandoned")
    if abandoned:
        _leave_behind(state)
    if state.failure is not None:
        raise StartError(state.failure)


def _page_served(
    settings: Settings,
    installation: Installation,
    server: HttpServer,
    service: Service,
    files: TlsFiles | None,
    *,
    shared: bool,
    socket: Path | None,
) -> AbstractAsyncContextManager[None]:
    """Serve the page to Prometheus, or by a worker to the supervisor."""
    metrics, stores = installation.metrics, installation.stores
    gauges = DatabaseGauges(
        metrics=metrics,
        clock=installation.clock,
        executions=stores.executions,
        tasks=stores.tasks,
        polls=stores.polls,
        suspensions=stores.suspensions,
        notes=stores.notes,
        deliveries=stores.webhook_deliveries,
    )

    async def page() -> bytes:
        await gauges.refresh()
        metrics.set("http_connections", server.connected)
        metrics.set("event_listeners", service.events.listening)
        if files is not None:
            with suppress(TlsError):  # between two files of a new pair
                metrics.set("certificate_ends_at_seconds", files.ends_at().timestamp())
        return page_of(metrics)

    if socket is not None:
        return handing_page(socket, page)
    return nullcontext() if shared else serving_page(settings, page)


def _leave_behind(state: ServiceState) -> None:
    """End the process although an executor ignores its cancellation: asyncio.run would wait for it."""
    logger.warning("leaving an executor behind that ignores its cancellation")
    if state.failure is not None:
        logger.error("%s", state.failure)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0 if state.failure is None else 1)


async def _reload(renewal: TlsRenewal | None, watched: Watched, out: Callable[[str], None] | None) -> None:
    """Reload the certificate. `out` goes to the supervisor, if there is one."""
    if renewal is not None:
        await renewal.read()
    watched.board.reloaded()
    if out is not None:
        out(RELOADED)


def on_hangup(state: ServiceState, reload: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Reload on SIGHUP, as services do; at a terminal it says that the terminal is gone, and stops."""
    loop, running = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    def begin() -> None:
        task = asyncio.create_task(reload(), name="reloading")
        running.add(task)
        task.add_done_callback(running.discard)

    loop.add_signal_handler(signal.SIGHUP, state.stop.set if os.isatty(0) else begin)


def stop_on_signals(state: ServiceState) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, state.stop.set)


async def _stop_with_parent(state: ServiceState) -> None:
    """Stop when the supervisor says so over our stdin, by a line or by its death."""

    class Parent(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            self.connection_lost(None)

        def connection_lost(self, exc: Exception | None) -> None:
            state.whole.set()
            state.stop.set()

    await asyncio.get_running_loop().connect_read_pipe(Parent, sys.stdin)


@asynccontextmanager
async def open_database(
    settings: Settings, state: ServiceState, metrics: Metrics | None = None
) -> AsyncIterator[tuple[Database, str]]:
    """Open the configured database with its URI, or our own mongod, whose death ends the service."""
    if settings.mongodb.uri:
        async with databases.open_database(settings, settings.mongodb.uri, metrics) as database:
            yield database, settings.mongodb.uri
        return
    async with EmbeddedMongo(settings.data_dir) as mongo:
        watch = asyncio.create_task(_watch(mongo, state), name="mongod watch")
        try:
            async with databases.open_database(settings, mongo.uri, metrics) as database:
                yield database, mongo.uri
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


async def _watch(mongo: EmbeddedMongo, state: ServiceState) -> None:
    state.fail(f"the embedded MongoDB ended: {await mongo.ended()}")


def _server(settings: Settings, tls: TlsFiles | None, metrics: Metrics) -> HttpServer:
    wanted = settings.server
    fitting = descriptors.fitting(settings.limits.connections, settings.events.listeners)
    return HttpServer(
        refusing_application(wanted, "starting", metrics),
        connections=fitting.connections,
        streams=fitting.streams,
        deadlines=Deadlines.of(wanted),
        trusted_proxies=networks(wanted.trusted_proxies),
        tls=None if tls is None else tls.context(),
    )


def url_of(settings: Settings, listener: socket.socket) -> str:
    host = settings.server.host
    scheme = "https" if settings.server.tls_certificate else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


async def _close(server: HttpServer) -> None:
    server.stop()
    await server.close_all_connections()


def announce(settings: Settings, url: str, password: str | None, out: Callable[[str], None]) -> None:
    if password is not None:
        out("")
        out(f"  URL       {url}")
        out("  User      admin")
        out(f"  Password  {password}")
        out(f"            (also in {settings.data_dir / initial_password.NAME})")
        out("")
    out(f"netautod ready on {url}")

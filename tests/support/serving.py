"""The routes of the service over HTTP on a random port of loopback, with the services of a test."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import cache
from typing import Any, Protocol, Self

from tornado.netutil import bind_sockets
from tornado.web import Application

from netautod.assembly.routes import ROUTES, choices
from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import IgnoredRefusals, Refusals
from netautod.http.bodies.reader import BodyReader
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.server import HttpServer
from netautod.http.context import HttpContext, networks
from netautod.http.description import openapi
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.limits import RequestLimits
from netautod.http.routing.routes import Route, application
from netautod.http.settings import LimitSettings, ServerSettings
from tests.support.client import ApiClient, ServedRoutes
from tests.support.databases import PATIENT_SECONDS

Authenticate = Callable[[str, RequestInfo], Awaitable[Caller]]
PageCaller = Callable[[str, RequestInfo, bool], Awaitable[Caller]]


def routes_of(services: Collection[object]) -> tuple[Route, ...]:
    """The routes of the service whose handlers find all that they need among the services."""
    return _enough(ROUTES, services)


def _enough(routes: Sequence[Route], services: Collection[object]) -> tuple[Route, ...]:
    def enough(route: Route) -> bool:
        return all(any(isinstance(each, kind) for each in services) for kind in route.needs().values())

    return tuple(route for route in routes if enough(route))


@cache
def description(routes: tuple[Route, ...]) -> dict[str, Any]:
    """Remembered: one takes as long as a test."""
    return openapi.document(routes, choices())


def serve_application(
    application: Application,
    *,
    server: ServerSettings = ServerSettings(),  # noqa: B008  # it is frozen
    connections: int = LimitSettings().connections,
    streams: int = 0,
    tls: ssl.SSLContext | None = None,
    port: int = 0,
) -> tuple[HttpServer, str]:
    """The service's own server, running, and its URL without a path; port 0 is any that is free."""
    made = HttpServer(
        application,
        connections=connections,
        streams=streams,
        deadlines=Deadlines.of(server),
        trusted_proxies=networks(server.trusted_proxies),
        tls=tls,
    )
    sockets = bind_sockets(port, "127.0.0.1")
    made.add_sockets(sockets)
    scheme = "http" if tls is None else "https"
    return made, f"{scheme}://127.0.0.1:{sockets[0].getsockname()[1]}"


class Servers:
    """HTTP servers of a test, each on a port of loopback; an async context manager that closes them."""

    def __init__(self) -> None:
        self._servers: list[HttpServer] = []
        self._bodies = BodyReader()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for server in self._servers:
            server.stop()
            await server.close_all_connections()
        await self._bodies.__aexit__()

    def listen(
        self,
        services: Collection[object],
        *,
        authenticate: Authenticate,
        routes: Sequence[Route] | None = None,
        port: int = 0,
        refusals: Refusals | None = None,
        idempotency: IdempotencyKeys | None = None,
        page_caller: PageCaller | None = None,
        pages: Sequence[Route] = (),
    ) -> ApiClient:
        """A client without a token. `routes` None: those that the services are enough for.

        The server believes an X-Forwarded-For, and port 0 is any that is free. To be called on the loop: a
        fixture that is a plain function would have the socket watched by another one, which never turns.
        """
        asyncio.get_running_loop()
        context = HttpContext(
            authenticate=authenticate,
            limits=RequestLimits.none(SystemClock()),
            bodies=self._bodies,
            trusted_proxies=networks(["127.0.0.1"]),
            cors_origins=frozenset({"https://console.example", "tauri://localhost", "app://netautod"}),
            refusals=refusals or IgnoredRefusals(),
            database_seconds=PATIENT_SECONDS,
            idempotency=idempotency,
            page_caller=page_caller,
        )
        chosen = routes_of(services) if routes is None else tuple(routes)
        served = (*chosen, *_enough(pages, services))
        server, url = serve_application(application(served, context, services), port=port)
        self._servers.append(server)
        return ApiClient(base_url=url, description=description(chosen))

    async def serve(
        self,
        *services: object,
        routes: Sequence[Route] | None = None,
        idempotency: IdempotencyKeys | None = None,
        callers: dict[str, Caller] | None = None,
    ) -> ServedRoutes:
        """`client, caller = (await serve(devices, sites)).client("devices.access")`: no login is needed.

        `callers`: those of another node, whose tokens are then good here, too.
        """
        callers = {} if callers is None else callers

        async def authenticate(token: str, info: RequestInfo) -> Caller:
            if token not in callers:
                raise Unauthenticated("Invalid or expired token")
            return callers[token]

        client = self.listen(services, authenticate=authenticate, routes=routes, idempotency=idempotency)
        return ServedRoutes(base_url=client.base_url, description=client.description, callers=callers)


class Serve(Protocol):
    """What the fixture `serve` is."""

    async def __call__(self, *services: object, routes: Sequence[Route] | None = None) -> ServedRoutes: ...

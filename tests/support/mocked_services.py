"""All routes of the service with services that do nothing: for requests that never get as far as these."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from unittest.mock import Mock

from netautod.console.base.rendering import Renderer
from netautod.console.base.static import StaticFiles
from netautod.console.routes import chapters
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import Caller, OrgId, RequestInfo
from netautod.core.net.host_names import HostNames
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, networks
from netautod.http.handler import JsonHandler
from netautod.http.limits import Rate, RequestLimits
from netautod.http.routing.routes import Route, application
from netautod.http.routing.unknown_route import UnknownRouteHandler
from tests.support.serving import serve_application

ADMIN = Caller(user_id="1", org_id=OrgId("1"), username="admin", permissions=frozenset({"*"}))
TOKEN = "a token"


async def authenticate(token: str, info: RequestInfo) -> Caller:
    return ADMIN


def services(routes: Sequence[Route]) -> list[object]:
    """One of each type that the handlers annotate; what makes pages is real."""
    static = StaticFiles.read()
    real: dict[type, object] = {StaticFiles: static, Renderer: Renderer(static, chapters())}
    kinds = {kind for route in routes for kind in route.needs().values()}
    return [real.get(kind, Mock(spec=kind)) for kind in kinds]


@asynccontextmanager
async def served(
    routes: Sequence[Route],
    *,
    hosts: HostNames = HostNames(any_name=True),  # noqa: B008  # it is frozen
    cors_origins: Sequence[str] = (),
    trusted_proxies: Sequence[str] = (),
    behind_unknown_proxy: bool = False,
    anonymous_burst: int = 0,
    unknown: type[JsonHandler] = UnknownRouteHandler,
) -> AsyncIterator[str]:
    """Serve the routes and return their URL. Any token is good for everything; a burst of 0: no limit."""
    rate = Rate(per_second=0.001 if anonymous_burst else 0, burst=anonymous_burst or 1)
    async with BodyReader() as bodies:
        context = HttpContext(
            authenticate=authenticate,
            limits=RequestLimits(clock=SystemClock(), callers=Rate(per_second=0, burst=1), anonymous=rate),
            bodies=bodies,
            trusted_proxies=networks(trusted_proxies),
            cors_origins=frozenset(cors_origins),
            hosts=hosts,
            behind_unknown_proxy=behind_unknown_proxy,
        )
        made = services([*routes, Route(path="", handler=unknown)])
        server, url = serve_application(application(routes, context, made, unknown=unknown))
        try:
            yield url
        finally:
            server.stop()
            await server.close_all_connections()

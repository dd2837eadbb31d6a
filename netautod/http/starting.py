"""What the service answers while it starts: 503 to everything, as JSON."""

from tornado.web import Application

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.identity import Caller, RequestInfo
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, networks
from netautod.http.handler import JsonHandler
from netautod.http.limits import RequestLimits
from netautod.http.settings import ServerSettings


class StartingHandler(JsonHandler):
    async def prepare(self) -> None:
        raise Unavailable("starting")


async def _nobody(token: str, info: RequestInfo) -> Caller:
    raise Unavailable("starting")


def starting_application(server: ServerSettings) -> Application:
    context = HttpContext(
        authenticate=_nobody,
        limits=RequestLimits.none(SystemClock()),
        bodies=BodyReader(),
        trusted_proxies=networks(server.trusted_proxies),
        cors_origins=frozenset(),
        hsts_seconds=server.hsts_seconds,
    )
    return Application(
        default_handler_class=StartingHandler, context=context, log_function=lambda handler: None
    )

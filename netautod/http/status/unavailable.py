"""The answers of a node that does not serve yet, or no longer: 503 to everything, as JSON."""

from tornado.web import Application

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.metrics import Metrics
from netautod.http.bodies.reader import BodyReader
from netautod.http.context import HttpContext, networks
from netautod.http.handler import JsonHandler
from netautod.http.limits import RequestLimits
from netautod.http.settings import ServerSettings
from netautod.http.status.health import Health

# Seconds: another node may serve at once, this one comes back when its runs have ended.
RETRY_AFTER = 5


class RefusingHandler(JsonHandler):
    phase: Health
    retry_seconds = RETRY_AFTER

    async def prepare(self) -> None:
        raise Unavailable(self.phase)


async def _refuse_token(token: str, info: RequestInfo) -> Caller:
    raise Unavailable("starting")


def refusing_application(server: ServerSettings, phase: Health, metrics: Metrics) -> Application:
    """Return the application that answers 503 to everything.

    `phase` is the node's health, `starting` or `draining`, and `metrics` are the node's.
    """
    context = HttpContext(
        authenticate=_refuse_token,
        limits=RequestLimits.none(SystemClock()),
        bodies=BodyReader(),
        trusted_proxies=networks(server.trusted_proxies),
        cors_origins=frozenset(server.cors_origins),
        hsts_seconds=server.hsts_seconds,
        metrics=metrics,
    )
    return Application(
        default_handler_class=RefusingHandler,
        default_handler_args={"phase": phase},
        context=context,
        log_function=lambda handler: None,
    )

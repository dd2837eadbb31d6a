"""The answers of a node that does not serve yet, or no longer: 503 to everything, as JSON."""

from tornado.web import Application

from netautod.core.errors import Unavailable
from netautod.core.metrics import Metrics
from netautod.http.context import HttpContext
from netautod.http.handler import JsonHandler
from netautod.http.settings import ServerSettings
from netautod.http.status.health import Health

# Seconds: another node may serve at once, this one comes back when its runs have ended.
RETRY_AFTER = 5


class RefusingHandler(JsonHandler):
    phase: Health
    retry_seconds = RETRY_AFTER

    async def prepare(self) -> None:
        self.start_tracking()
        self.check_sender()
        raise Unavailable(self.phase)


def refusing_application(server: ServerSettings, phase: Health, metrics: Metrics) -> Application:
    """Return the application that answers 503 to everything.

    `phase` is the node's health, `starting` or `draining`, and `metrics` are the node's.
    """
    context = HttpContext.without_callers(server, listening_on=server.host, metrics=metrics)
    return Application(
        default_handler_class=RefusingHandler,
        default_handler_args={"phase": phase},
        context=context,
        log_function=lambda handler: None,
    )

"""GET /health and /api/health: is this node able to serve?"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from marshmallow import fields

from netautod.core.errors import Unavailable
from netautod.core.schema.bases import Answer
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

Health = Literal["ok", "starting", "draining", "unavailable"]


@dataclass(frozen=True)
class HealthCheck:
    """The source of a node's health. `state` returns it at every request."""

    state: Callable[[], Awaitable[Health]]


class HealthAnswer(Answer):
    status = fields.String()


class HealthHandler(JsonHandler):
    health: HealthCheck

    @public(answer=HealthAnswer, limited=False)
    async def get(self) -> None:
        """Return the health of this node."""
        state = await self.health.state()
        if state != "ok":
            raise Unavailable(state)
        self.answer({"status": state})


ROUTES = (
    Route(path="/health", handler=HealthHandler),
    Route(path="/api/health", handler=HealthHandler),
)

"""GET /health and /api/health: is this node able to serve?"""

from collections.abc import Awaitable, Callable
from typing import Literal

from marshmallow import fields

from netautod.core.errors import Unavailable
from netautod.core.schema import Answer
from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route

Health = Literal["ok", "starting", "draining", "unavailable"]


class HealthAnswer(Answer):
    status = fields.String()


class HealthHandler(JsonHandler):
    health: Callable[[], Awaitable[Health]]

    @public(answer=HealthAnswer)
    async def get(self) -> None:
        """Health of this node."""
        state = await self.health()
        if state != "ok":
            raise Unavailable(state)
        self.answer({"status": state})


def routes(health: Callable[[], Awaitable[Health]]) -> list[Route]:
    services = {"health": health}
    return [
        Route(path="/health", handler=HealthHandler, services=services),
        Route(path="/api/health", handler=HealthHandler, services=services),
    ]

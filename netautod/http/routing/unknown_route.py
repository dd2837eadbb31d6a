"""The handler of the paths that no route matches."""

from typing import Any

from netautod.core.errors import NotFound
from netautod.http.access import METHODS
from netautod.http.errors import MethodNotAllowed
from netautod.http.handler import JsonHandler


class UnknownRouteHandler(JsonHandler):
    """The handler of every path that no route matches, and of the targets that are no path."""

    async def prepare(self) -> None:
        self.start_tracking()
        self.check_sender()
        self.admission.count_anonymous()
        if self.request.path.startswith("/"):
            raise NotFound("Not found")
        if self.request.method != "OPTIONS":  # CONNECT host:port
            raise MethodNotAllowed("Method not allowed")
        self.set_header("Allow", ", ".join(METHODS))  # OPTIONS *: what the server as a whole can do

    def allowed_methods(self) -> list[str]:
        return list(METHODS)

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        if isinstance(value, NotFound):
            self.request_log.log_unknown_route()
        else:
            super().log_exception(typ, value, tb)

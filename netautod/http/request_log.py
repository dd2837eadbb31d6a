"""The record of each request: its line in the log, its metrics, and its span where traces are sent."""

import logging
from types import TracebackType

from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

from netautod.core.errors import DiskFull, NetautodError, Unavailable
from netautod.core.identity.caller import Caller
from netautod.core.logs.folding import repeats
from netautod.core.logs.lines import NOTHING, Belonging, current, event
from netautod.core.logs.tracing import Span
from netautod.http.access import METHODS
from netautod.http.context import HttpContext
from netautod.http.errors import status_of
from netautod.secrets.redaction.patterns import without_secret_patterns

logger = logging.getLogger(__name__)
REQUEST = "request"
UNKNOWN = "unknown"  # in the place of a route
LONGEST = 256
# nginx's, for a client that has gone before it was answered (ngx_http_request.h).
CLIENT_GONE = 499
_REFUSED = 400


class RequestLog:
    """The record of one request. `route` is its template; empty where no route matches."""

    def __init__(
        self, request: HTTPServerRequest, context: HttpContext, *, request_id: str, route: str
    ) -> None:
        self._request = request
        self._context = context
        self._request_id = request_id
        self._route = route or UNKNOWN
        self._client = ""
        self._caller: Caller | None = None
        self._error = ""
        self._span: Span | None = None
        self._belonging = NOTHING
        self._is_logged = True
        self._is_finished = False

    def begin(self, client: str) -> None:
        """Mark all that is logged from here on as this request's. `client` is its address."""
        self._client = client
        traceparent = ""
        if self._context.tracer is not None:
            attributes = {
                "http.request.method": self._method("_OTHER"),
                "http.route": self._route,
                "url.scheme": self._request.protocol,
                "netautod.request": self._request_id,
            }
            name, headers = f"{self._method('_OTHER')} {self._route}", self._request.headers
            self._span = self._context.tracer.begin(name, "server", attributes, headers=headers)
            traceparent = self._span.traceparent
        self._belonging = Belonging(request=self._request_id, traceparent=traceparent)
        current.set(self._belonging)

    def identify(self, caller: Caller) -> None:
        """Mark all that is logged from here on as the caller's."""
        self._caller = caller
        self._belonging = self._belonging._replace(organization=caller.org_id, user=caller.user_id)
        current.set(self._belonging)

    def record_error(
        self, raised: BaseException | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Log a failure at once; the sentence of an expected error is logged with the request.

        `error` is what the client is sent for what was `raised`, which may be another one.
        """
        expected = isinstance(raised, NetautodError) and status_of(raised) != 500
        method, path = self._request.method, self._request.path
        if isinstance(error, Unavailable):  # every client meets it, again and again
            # The sentence of a full disk is another one with each byte that is free.
            kind = "full disk" if isinstance(error, DiskFull) else error.text
            logger.warning("%s %s: %s", method, shown_path(path, 503), error, extra=repeats(("503", kind)))
        elif expected or isinstance(error, HTTPError):
            self._error = str(error)
        else:
            found = None if error is None else (type(error), error, traceback)
            logger.error("%s %s failed", method, shown_path(path, 500), exc_info=found)

    def leave_out(self) -> None:
        """Log no line for this request: one of many that are alike."""
        self._is_logged = False

    def log_unknown_route(self) -> None:
        """Log the 404 of a path that we do not have, repeats of it in one line.

        Clients of other products ask for such paths, some of them every second.
        """
        self.leave_out()
        method, path = self._request.method, shown_path(self._request.path, 404)
        again = repeats(("unknown route", self._client, method, path))
        fields = {
            "method": method,
            "route": UNKNOWN,
            "path": path,
            "status": 404,
            "seconds": round(self._request.request_time(), 6),
            "client": self._client,
        }
        line = {**again, **event(REQUEST, fields)}
        logger.info("%s %s from %s: unknown route", method, path, self._client, extra=line)

    def finish(self, status: int) -> None:
        """Count and log the request, once: a client that leaves in the middle of it ends it twice."""
        if self._is_finished:
            return
        self._is_finished = True
        seconds = self._request.request_time()
        # A method or path that we do not have makes no new series.
        metrics = self._context.metrics
        metrics.add("http_requests", 1, self._method("other"), self._route, str(status))
        metrics.observe("http_request_seconds", seconds, self._route)
        if self._span is not None:
            self._end_span(self._span, status)
        token = current.set(self._belonging)  # the connection of a client that leaves finishes it
        if self._is_logged and logger.isEnabledFor(logging.INFO):
            self._log_line(status, seconds)
        current.reset(token)

    def _method(self, other: str) -> str:
        return self._request.method if self._request.method in METHODS else other

    def _end_span(self, span: Span, status: int) -> None:
        """End the span; attributes follow OpenTelemetry's conventions for spans of HTTP servers."""
        if self._caller is not None:
            span.note({"netautod.organization": self._caller.org_id, "user.id": self._caller.user_id})
        span.note({"http.response.status_code": status})
        span.end(error=str(status) if status >= CLIENT_GONE else "")

    def _log_line(self, status: int, seconds: float) -> None:
        """Log the request without its query, which may hold what a user searches for."""
        path, error = shown_path(self._request.path, status), ""
        fields = {
            "method": (self._request.method or "")[:LONGEST],
            "route": self._route,
            "path": path,
            "status": status,
            "seconds": round(seconds, 6),
            "client": self._client,
        }
        if self._error:
            fields["error"] = without_secret_patterns(self._error)
            error = f": {fields['error']}"
        text = f"{fields['method']} {path} {status} in {seconds * 1000:.1f} ms from {self._client}{error}"
        # Not logger.info, which spends a third of its time on the name of the calling function.
        line = event(REQUEST, fields)
        logger.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 0, text, (), None, extra=line))


def shown_path(path: str, status: int) -> str:
    """Return the path for the log, without secrets that a client has put into it by mistake.

    The path of a request that was done holds nothing but ids.
    """
    return without_secret_patterns(path[:LONGEST]) if status >= _REFUSED else path[:LONGEST]

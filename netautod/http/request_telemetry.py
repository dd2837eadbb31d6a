"""What is told of each request, once it is over: to the log, the metrics, and whoever collects traces."""

from netautod.core.identity.caller import Caller
from netautod.core.logs.lines import NOTHING, Belonging, current
from netautod.core.logs.tracing import Span, Tracer
from netautod.http.answers import METHODS, AnsweringHandler
from netautod.http.request_log import CLIENT_GONE, Told, tell


class TellingHandler(AnsweringHandler):
    """`route` is the template, which the table of routes sets."""

    route = ""
    _span: Span | None = None
    _told = False
    _belonging = NOTHING

    def begun(self) -> None:
        """From here on all that is logged says whose request it is."""
        if self.context.tracer is not None:
            self._span = self._traced(self.context.tracer)
        self._belonging = Belonging(request=self.request_id, traceparent=self._traceparent)
        current.set(self._belonging)

    def belongs_to(self, caller: Caller) -> None:
        self._belonging = self._belonging._replace(organization=caller.org_id, user=caller.user_id)
        current.set(self._belonging)

    def over(self, status: int) -> None:
        """Counts the request and tells it, once: whoever leaves in the middle of it ends it twice."""
        if self._told:
            return
        self._told = True
        seconds = self.request.request_time()
        self._count(status, seconds)
        if self._span is not None:
            self._end_span(self._span, status)
        token = current.set(self._belonging)  # a client that leaves is told of by its connection
        self._tell(status, seconds)
        current.reset(token)

    def _count(self, status: int, seconds: float) -> None:
        """Whoever sends what has no route or no method of ours makes no new series."""
        method, route = self.request.method or "", self.route or "unknown"
        metrics = self.context.metrics
        metrics.add("http_requests", 1, method if method in METHODS else "other", route, str(status))
        metrics.observe("http_request_seconds", seconds, route)

    def _tell(self, status: int, seconds: float) -> None:
        tell(
            Told(
                method=self.request.method or "",
                route=self.route or "unknown",
                path=self.request.path,
                status=status,
                seconds=seconds,
                client=self.info.ip_address if hasattr(self, "info") else "",
                error=self._error,
            )
        )

    def _traced(self, tracer: Tracer) -> Span:
        """Names follow OpenTelemetry's conventions for spans of HTTP servers."""
        method = self.request.method if self.request.method in METHODS else "_OTHER"
        route = self.route or "unknown"
        attributes = {
            "http.request.method": method,
            "http.route": route,
            "url.scheme": self.request.protocol,
            "netautod.request": self.request_id,
        }
        return tracer.begin(f"{method} {route}", "server", attributes, headers=self.request.headers)

    @property
    def _traceparent(self) -> str:
        return "" if self._span is None else self._span.traceparent

    def _end_span(self, span: Span, status: int) -> None:
        caller = getattr(self, "caller", None)
        if caller is not None:
            span.note({"netautod.organization": caller.org_id, "user.id": caller.user_id})
        span.note({"http.response.status_code": status})
        span.end(error=str(status) if status >= CLIENT_GONE else "")

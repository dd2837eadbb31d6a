"""A collector of OpenTelemetry: what is sent to it over HTTP is kept, or never answered."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler


@dataclass(frozen=True, kw_only=True)
class ReceivedSpan:
    name: str
    trace_id: str
    span_id: str
    parent: str
    kind: int
    failed: bool
    attributes: Mapping[str, object]


@dataclass(kw_only=True)
class Collector:
    url: str
    hangs: bool = False
    spans: list[ReceivedSpan] = field(default_factory=list)
    resources: list[Mapping[str, object]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    bodies: list[bytes] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        self.bodies.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            self.resources.append(_values(resource.resource.attributes))
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        ReceivedSpan(
                            name=span.name,
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent=span.parent_span_id.hex(),
                            kind=span.kind,
                            failed=span.status.code == Status.STATUS_CODE_ERROR,
                            attributes=_values(span.attributes),
                        )
                    )

    def of(self, **attributes: object) -> list[ReceivedSpan]:
        """Those with these attributes, whose dots are written as `__`."""
        wanted = {name.replace("__", "."): value for name, value in attributes.items()}
        return [span for span in self.spans if wanted.items() <= span.attributes.items()]


class _Traces(RequestHandler):
    def initialize(self, collector: Collector) -> None:
        self._collector = collector

    async def post(self) -> None:
        self._collector.asked.set()
        if self._collector.hangs:
            await asyncio.Event().wait()
        self._collector.take(self.request.body)
        self.set_header("Content-Type", "application/x-protobuf")


@asynccontextmanager
async def collecting(*, hangs: bool = False) -> AsyncIterator[Collector]:
    sockets = bind_sockets(0, "127.0.0.1")
    collector = Collector(url=f"http://127.0.0.1:{sockets[0].getsockname()[1]}", hangs=hangs)
    server = HTTPServer(Application([("/v1/traces", _Traces, {"collector": collector})]))
    server.add_sockets(sockets)
    try:
        yield collector
    finally:
        server.stop()
        await server.close_all_connections()


def _values(attributes: "list[KeyValue]") -> Mapping[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value") or "") for one in attributes}

"""Spans by OpenTelemetry's SDK: kept in a bounded queue and sent by a thread of the SDK's own.

What the SDK reads from the environment (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER,
OTEL_RESOURCE_ATTRIBUTES and the like) holds here, too:
https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
"""

import os
from collections.abc import Mapping
from importlib.metadata import version
from socket import gethostname
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from netautod.core.logs.tracing import Kind, Value

MOST_WAITING = 2048  # spans; more are dropped
SEND_SECONDS = 5.0
KINDS: Mapping[Kind, SpanKind] = {
    "server": SpanKind.SERVER,
    "consumer": SpanKind.CONSUMER,
    "client": SpanKind.CLIENT,
}
NAMES = ("traceparent", "tracestate")
PROPAGATOR = TraceContextTextMapPropagator()


class SdkSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self._ended = False
        carrier: dict[str, str] = {}
        PROPAGATOR.inject(carrier, trace.set_span_in_context(span, Context()))
        self.traceparent = carrier.get("traceparent", "")

    def note(self, attributes: Mapping[str, Value]) -> None:
        self._span.set_attributes(attributes)

    def end(self, *, error: str = "") -> None:
        if self._ended:
            return
        self._ended = True
        if error:
            self._span.set_status(StatusCode.ERROR)
            self._span.set_attribute("error.type", error)
        self._span.end()


class SdkTracer:
    """A tracer by the SDK. Its thread is started here, so after any fork."""

    def __init__(self, url: str) -> None:
        # By OpenTelemetry's conventions for resources: each node and each worker is an instance.
        resource = Resource.create(
            {
                "service.name": "netautod",
                "service.version": version("netautod"),
                "service.instance.id": str(uuid4()),
                "host.name": gethostname(),
                "process.pid": os.getpid(),
            }
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=url, timeout=SEND_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=MOST_WAITING))
        self._tracer = self._provider.get_tracer("netautod", version("netautod"))

    def begin(
        self,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value],
        *,
        parent: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> SdkSpan:
        return SdkSpan(
            self._tracer.start_span(
                name, _context(parent, headers or {}), kind=KINDS[kind], attributes=attributes
            )
        )

    def close(self) -> None:
        """Send what waits; blocks for as long as the collector does."""
        self._provider.shutdown()


def _context(parent: str, headers: Mapping[str, str]) -> Context:
    """Return the context of the parent alone, not of what happens to be current. W3C Trace Context: a
    malformed one is none.
    """
    offered = {"traceparent": parent} if parent else {name: headers.get(name, "") for name in NAMES}
    return PROPAGATOR.extract({name: value for name, value in offered.items() if value}, Context())

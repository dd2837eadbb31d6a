"""The record of a device that could not be reached or read: a log line, a metric, a failed span."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from netautod.core.logs.lines import current, event
from netautod.core.logs.tracing import Span, Tracer, spanned
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.secrets.redaction.patterns import without_secret_patterns
from netautod.transport.ssh.failures import DeviceFailed

logger = logging.getLogger(__name__)
DEVICE_FAILURE = "device_failure"


@contextmanager
def visiting(
    work: Work, device_id: str, transport: str, *, metrics: Metrics, tracer: Tracer | None
) -> Iterator[Span | None]:
    """Trace a visit of a device, and log the failure that leaves the block."""
    attributes = {
        "netautod.organization": work.org_id,
        "user.id": work.caller.user_id,
        "netautod.device": device_id,
        "netautod.transport": transport,
    }
    with spanned(
        tracer, f"device {transport}", "client", attributes, parent=current.get().traceparent
    ) as span:
        try:
            yield span
        except DeviceFailed as exc:
            log_failure(exc, work=work, device_id=device_id, transport=transport, metrics=metrics)
            raise


def log_failure(
    failed: DeviceFailed, *, work: Work, device_id: str, transport: str, metrics: Metrics
) -> None:
    """Log a failure wherever it leaves a way to a device, unless it was logged further in."""
    if failed.logged:
        return
    failed.logged = True
    metrics.add("device_failures", 1, transport, failed.kind)
    error = without_secret_patterns(failed.text)
    fields = {
        "device": device_id,
        "transport": transport,
        "kind": failed.kind,
        "credential": failed.credential_id,
        "hop": failed.hop,
        "error": error,
    }
    token = current.set(
        current.get()._replace(
            organization=work.org_id, user=work.caller.user_id, execution=work.execution_id or ""
        )
    )
    try:
        line = event(DEVICE_FAILURE, fields)
        logger.warning("device %s by %s: %s: %s", device_id, transport, failed.kind, error, extra=line)
    finally:
        current.reset(token)

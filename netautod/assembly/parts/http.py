"""The part of the composition root about HTTP: what all handlers share."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from netautod.activity.audit.refusals import RefusalLog
from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.identity.caller import OrgId
from netautod.core.identity.refusals import Refusals
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.http.bodies.reader import BodyReader
from netautod.http.connections.deadlines import Deadlines
from netautod.http.context import HttpContext, Shares, networks
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.limits import Rate, RequestLimits
from netautod.http.settings import LimitSettings, ServerSettings
from netautod.identity.auth.pages.callers import PageCallers
from netautod.identity.auth.sessions.authenticator import Authenticator
from netautod.store.disk_room import Room
from netautod.store.leases.periodic import Periodic

REFUSALS_SECONDS = 5.0


def http_context_of(
    *,
    authenticator: Authenticator,
    page_callers: PageCallers | None,
    bodies: BodyReader,
    clock: Clock,
    server: ServerSettings,
    limits: LimitSettings,
    refusals: Refusals,
    room: Room,
    metrics: Metrics,
    database_seconds: float,
    tracer: Tracer | None,
    idempotency: IdempotencyKeys,
) -> HttpContext:
    return HttpContext(
        authenticate=authenticator.authenticate,
        limits=RequestLimits(
            clock=clock,
            callers=Rate(per_second=limits.requests_per_second, burst=limits.burst),
            anonymous=Rate(per_second=limits.anonymous_per_second, burst=limits.anonymous_burst),
        ),
        bodies=bodies,
        trusted_proxies=networks(server.trusted_proxies),
        cors_origins=frozenset(server.cors_origins),
        hsts_seconds=server.hsts_seconds,
        database_seconds=database_seconds,
        refusals=refusals,
        shares=Shares.within(limits),
        room=room,
        metrics=metrics,
        tracer=tracer,
        idempotency=idempotency,
        page_caller=None if page_callers is None else page_callers.caller_of,
    )


def deadlines_of(server: ServerSettings) -> Deadlines:
    return Deadlines(
        head=server.header_timeout,
        body=server.body_timeout,
        answer=server.answer_timeout,
        idle=server.idle_timeout,
        bytes_per_second=server.bytes_per_second,
    )


@asynccontextmanager
async def refusal_log_of(
    *, audit: AuditLog, default_org: Callable[[], Awaitable[OrgId]], clock: Clock
) -> AsyncIterator[RefusalLog]:
    log = RefusalLog(audit=audit, default_org=default_org, clock=clock)
    async with log, Periodic(log.write_due, name="audit of refused requests", seconds=REFUSALS_SECONDS):
        yield log

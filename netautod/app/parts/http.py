"""The part of the composition root about HTTP: what all handlers share."""

from netautod.auth.authenticator import Authenticator
from netautod.core.clock import Clock
from netautod.http.context import HttpContext, networks
from netautod.http.limits import RateLimiter
from netautod.http.settings import LimitSettings, ServerSettings


def http_context_of(
    *, authenticator: Authenticator, clock: Clock, server: ServerSettings, limits: LimitSettings
) -> HttpContext:
    return HttpContext(
        authenticate=authenticator.authenticate,
        limiter=RateLimiter(clock=clock, rate=limits.requests_per_second, burst=limits.burst),
        trusted_proxies=networks(server.trusted_proxies),
        cors_origins=frozenset(server.cors_origins),
        hsts_seconds=server.hsts_seconds,
    )

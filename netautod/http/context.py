"""The context of all handlers: authentication, request limits, trusted proxies, CORS origins and common
headers.
"""

import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from uuid import uuid4

from tornado.httputil import HTTPServerRequest, format_timestamp

from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import IgnoredRefusals, Refusals
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.core.net.host_names import HostNames
from netautod.core.work.deadlines import REQUEST_SECONDS
from netautod.http.access import METHODS
from netautod.http.bodies.fair_share import FairShare
from netautod.http.bodies.reader import BodyReader
from netautod.http.idempotency.service import IdempotencyKeys
from netautod.http.limits import RequestLimits
from netautod.http.settings import EVERY_ORIGIN, LimitSettings, ServerSettings
from netautod.store.disk_room import Room

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MIB = 1024 * 1024
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Pages of other origins see and send no more than these.
_CORS = {
    "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Request-Id, If-Match, If-None-Match, "
    "Idempotency-Key, Last-Event-ID",
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, ETag, Idempotent-Replayed",
    "Access-Control-Max-Age": "600",
    "Vary": "Origin",
}


@dataclass(frozen=True, kw_only=True)
class Shares:
    """The bounds that the requests of a node share: bytes of bodies, and long answers under way."""

    bodies: FairShare
    answers: FairShare

    @classmethod
    def within(cls, limits: LimitSettings) -> "Shares":
        return cls(bodies=FairShare(limits.bodies_mib * MIB), answers=FairShare(limits.long_answers))


@dataclass(frozen=True, kw_only=True)
class HttpContext:
    authenticate: Callable[[str, RequestInfo], Awaitable[Caller]]
    limits: RequestLimits
    bodies: BodyReader
    trusted_proxies: tuple[Network, ...]
    cors_origins: frozenset[str]
    hosts: HostNames = field(default_factory=HostNames.every)
    behind_unknown_proxy: bool = False  # which ends TLS, and is none of `trusted_proxies`
    hsts_seconds: int = 0
    database_seconds: float = REQUEST_SECONDS
    refusals: Refusals = field(default_factory=IgnoredRefusals)
    shares: Shares = field(default_factory=lambda: Shares.within(LimitSettings()))
    room: Room = field(default_factory=Room)
    metrics: Metrics = field(default_factory=Metrics)
    tracer: Tracer | None = None
    idempotency: IdempotencyKeys | None = None
    # Finds the caller by the cookie of a page; the last argument: a person opened it, not a script.
    page_caller: Callable[[str, RequestInfo, bool], Awaitable[Caller]] | None = None

    @classmethod
    def without_callers(cls, server: ServerSettings, *, listening_on: str, metrics: Metrics) -> "HttpContext":
        """Return the context of a listener that serves no caller: its handlers are public, or refuse all."""
        return cls(
            authenticate=_refuse_token,
            limits=RequestLimits.none(SystemClock()),
            bodies=BodyReader(),
            trusted_proxies=networks(server.trusted_proxies),
            cors_origins=frozenset(server.cors_origins),
            hosts=server.host_names(listening_on),
            behind_unknown_proxy=server.behind_unknown_proxy,
            hsts_seconds=server.hsts_seconds,
            metrics=metrics,
        )

    def allows(self, origin: str) -> bool:
        """Return whether pages of this origin may call the API; empty: the request comes from no page."""
        return origin != "" and (origin in self.cors_origins or EVERY_ORIGIN in self.cors_origins)

    def answer_headers(self, request: HTTPServerRequest, request_id: str) -> dict[str, str]:
        """Return the headers that every answer to this request has, but for pages of other origins."""
        headers, hsts = common_headers(request_id), self.hsts(request)
        if hsts is not None:
            headers["Strict-Transport-Security"] = hsts
        return headers

    def cors_headers(self, origin: str) -> Mapping[str, str]:
        """Return the headers that let pages of this origin call the API; none if they may not."""
        return {"Access-Control-Allow-Origin": origin, **_CORS} if self.allows(origin) else {}

    def hsts(self, request: HTTPServerRequest) -> str | None:
        """Return the value of Strict-Transport-Security for an answer that goes to the client through TLS.

        RFC 6797 7.2: other answers must not have it.
        """
        return self.hsts_over(self.scheme(request)) if self.hsts_seconds else None

    def scheme(self, request: HTTPServerRequest) -> str:
        """Return `http` or `https`: how the client came.

        A trusted proxy says so by X-Forwarded-Proto; of several values the first is the client's.
        """
        protocol = request.protocol
        if self._trusted(request.remote_ip or ""):
            protocol = request.headers.get("X-Forwarded-Proto", protocol).partition(",")[0].strip().lower()
        return protocol

    def is_own(self, origin: str, request: HTTPServerRequest) -> bool:
        """Return whether the origin is that of our pages. Behind an unknown proxy the scheme is not known:
        there the host decides.
        """
        schemes = ("http", "https") if self.behind_unknown_proxy else (self.scheme(request),)
        return origin != "" and origin.lower() in {self._origin(scheme, request) for scheme in schemes}

    def _origin(self, scheme: str, request: HTTPServerRequest) -> str:
        """Return scheme and host of our pages as the client's browser sees them (RFC 6454 6.2)."""
        default = {"http": ":80", "https": ":443"}.get(scheme, "")
        return f"{scheme}://{self.host(request).lower().removesuffix(default)}" if default else ""

    def host(self, request: HTTPServerRequest) -> str:
        """Return the host that the client has called, as a trusted proxy says it; empty without one.

        Of several the last is what the proxy has added: those before it may be the client's invention.
        """
        host: str = request.headers.get("Host", "")
        if "X-Forwarded-Host" in request.headers and self._trusted(request.remote_ip or ""):
            host = request.headers["X-Forwarded-Host"].rpartition(",")[2].strip()
        return host

    def serves(self, request: HTTPServerRequest) -> bool:
        """Return whether the request calls us by one of our names. HTTP/1.0 needs to name none."""
        if self.hosts.any_name or "Host" not in request.headers:
            return True
        if self.hosts.include(self.host(request)):
            return True
        return self.hosts.any_of_proxies and self._trusted(request.remote_ip or "")

    def hsts_over(self, protocol: str) -> str | None:
        """Return the same for an answer to what is no request, so that no proxy says how the client came."""
        return f"max-age={self.hsts_seconds}" if self.hsts_seconds and protocol == "https" else None

    async def caller_of(self, token: str, info: RequestInfo) -> Caller:
        """Return the caller with this token.

        Raises Unauthenticated, or TooManyRequests before the token is checked or because the caller sends too
        many requests.
        """
        return await self._limited(token, info, self.authenticate)

    async def caller_of_page(self, cookie: str, info: RequestInfo, *, by_person: bool) -> Caller:
        """Return the caller with this cookie of a page. Raises as `caller_of` does."""
        page_caller = self.page_caller
        if page_caller is None:
            raise Unauthenticated("Authentication required")
        return await self._limited(cookie, info, lambda token, info: page_caller(token, info, by_person))

    async def _limited(
        self, token: str, info: RequestInfo, authenticate: Callable[[str, RequestInfo], Awaitable[Caller]]
    ) -> Caller:
        self.limits.before_token(token, info.ip_address)
        try:
            caller = await authenticate(token, info)
        except Unauthenticated:
            self.limits.refused(token, info.ip_address)
            raise
        self.limits.accepted(token, info.ip_address, caller.user_id)
        return caller

    def client_address(self, request: HTTPServerRequest) -> str:
        """Return the peer's address, or the first untrusted one of X-Forwarded-For walked from the right."""
        address = request.remote_ip or ""
        hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
        while hops and self._trusted(address):
            address = _bare(hops.pop())
        return address

    def _trusted(self, address: str) -> bool:
        return is_within(address, self.trusted_proxies)


async def _refuse_token(token: str, info: RequestInfo) -> Caller:
    raise Unauthenticated("Authentication required")


def request_id_of(request: HTTPServerRequest) -> str:
    """Return the id that the client has chosen for its request, or a new one."""
    offered = request.headers.get("X-Request-Id", "")
    return offered if _REQUEST_ID.fullmatch(offered) else uuid4().hex


def common_headers(request_id: str) -> dict[str, str]:
    """Return the headers that every answer has."""
    return {
        "Date": _date(int(time.time())),
        "X-Request-Id": request_id,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return format_timestamp(second)


def is_within(address: str, wanted: Sequence[Network]) -> bool:
    """Return whether the address is in a network, also an IPv4 address that a socket of both families shows
    as IPv6.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    forms = {parsed, getattr(parsed, "ipv4_mapped", None) or parsed}
    return any(form in network for network in wanted for form in forms)


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def _bare(hop: str) -> str:
    """Return a hop without port and brackets, which some proxies add; anything else is "unknown" and not
    trusted.
    """
    try:
        return str(ipaddress.ip_address(hop))
    except ValueError:
        pass
    host = hop[1:].partition("]")[0] if hop.startswith("[") else hop.rpartition(":")[0]
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return "unknown"

"""The guarded HTTP client: all requests to addresses that users or other systems chose go through it."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from tornado.httpclient import HTTPClientError, HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders, HTTPInputError
from tornado.iostream import StreamClosedError
from tornado.simple_httpclient import HTTPTimeoutError, SimpleAsyncHTTPClient

from netautod import __version__
from netautod.core.work.guard import Guard, no_guard
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.outbound.resolver import GuardedResolver, Lookup, system_lookup
from netautod.transport.outbound.status_client import StatusClient
from netautod.transport.outbound.urls import Origin, origin_of

USER_AGENT = f"netautod/{__version__}"
CONNECT_SECONDS = 5.0
MAX_HEADER_BYTES = 64 * 1024
MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, kw_only=True)
class TlsPolicy:
    """The TLS settings of a request; the certificate is verified by default.

    `ca_file`: a PEM file of the only authorities to trust; empty: the system's.
    """

    verify: bool = True
    ca_file: str = ""


@dataclass(frozen=True, kw_only=True)
class OutboundRequest:
    """A request. `timeout_seconds` bounds everything from the name look-up to the last byte, redirects
    included.

    `reads_body`: false where the status says all: then the body of the answer, however long, slow or encoded
    it is, can turn no success into a failure.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout_seconds: float = 10.0
    max_bytes: int = 1024 * 1024
    reads_body: bool = True
    tls: TlsPolicy = TlsPolicy()


@dataclass(frozen=True, kw_only=True)
class OutboundAnswer:
    """An answer of any status, 4xx and 5xx included. The names in `headers` are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """Return the body as JSON. Raises RequestFailed if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise RequestFailed("The answer is not valid JSON", kind="answer") from error


class GuardedClient:
    """A client for HTTP that holds no connections between requests. `lookup` is for tests."""

    def __init__(
        self,
        rules: AddressRules,
        *,
        lookup: Lookup = system_lookup,
        guard: Guard = no_guard,
    ) -> None:
        self._rules = rules
        self._lookup = lookup
        self._guard = guard
        self._contexts: dict[TlsPolicy, ssl.SSLContext] = {}

    def under(self, guard: Guard) -> "GuardedClient":
        """Return a client with the same rules that calls `guard` before every request; what it raises is
        passed on.
        """
        made = GuardedClient(self._rules, lookup=self._lookup, guard=guard)
        made._contexts = self._contexts
        return made

    def at(self, addresses: Sequence[str]) -> "GuardedClient":
        """Return a client that connects to these addresses alone, whatever the URL says: the caller has
        checked them.
        """

        async def known(host: str, port: int) -> Sequence[str]:
            return addresses

        made = GuardedClient(AddressRules.allowing(addresses), lookup=known, guard=self._guard)
        made._contexts = self._contexts
        return made

    async def check(self, url: str) -> None:
        """Raise AddressRefused for a URL that a request would be refused for, RequestFailed without DNS.

        Call it to refuse a URL when it is stored; a request checks again.
        """
        origin = origin_of(url)
        async with _bounded(CONNECT_SECONDS):
            await self._resolver().resolve(origin.host, origin.port)

    async def fetch(self, request: OutboundRequest) -> OutboundAnswer:
        """Send a request and return the answer.

        Raises AddressRefused (400 where the caller named the URL) or RequestFailed (502). GET and HEAD follow
        redirects, within the origin only: headers such as Authorization go with them.
        """
        origin = origin_of(request.url)
        async with _bounded(request.timeout_seconds):
            for _ in range(MAX_REDIRECTS + 1):
                answer = await self._send(request)
                target = _redirect(request, answer)
                if target is None:
                    return answer
                if _target_origin(target) != origin:
                    raise RequestFailed(f"{origin} redirects to another server", kind="redirect")
                request = replace(request, url=target)
        raise RequestFailed(f"{origin} redirects without end", kind="redirect")

    async def _send(self, request: OutboundRequest) -> OutboundAnswer:
        self._guard()
        # One instance for each request: the limits are the instance's, and it keeps no connection anyway.
        client = (SimpleAsyncHTTPClient if request.reads_body else StatusClient)(
            force_instance=True,
            resolver=self._resolver(),
            max_clients=1,
            max_header_size=MAX_HEADER_BYTES,
            max_body_size=request.max_bytes,
            max_buffer_size=max(request.max_bytes, MAX_HEADER_BYTES) + 64 * 1024,
        )
        try:
            response = await client.fetch(await self._prepared(request), raise_error=False)
            if response.error is not None and not isinstance(response.error, HTTPClientError):
                raise response.error
            if response.code == 599:
                raise response.error or OSError("no answer")
        except (AddressRefused, RequestFailed):
            raise
        except Exception as error:  # anything that a hostile server provokes in the parser
            raise _translated(error, request) from error
        finally:
            client.close()
        return _answer(response) if request.reads_body else _status(response)

    async def _prepared(self, request: OutboundRequest) -> HTTPRequest:
        # Compressed answers are refused instead of unpacked: a small one can unpack to any size.
        headers = HTTPHeaders({**request.headers, "Accept-Encoding": "identity", "User-Agent": USER_AGENT})
        return HTTPRequest(
            request.url,
            method=request.method,
            headers=headers,
            body=request.body,
            connect_timeout=min(CONNECT_SECONDS, request.timeout_seconds),
            request_timeout=request.timeout_seconds,
            follow_redirects=False,
            decompress_response=False,
            ssl_options=await self._tls(request.tls),
            allow_nonstandard_methods=True,
        )

    async def _tls(self, policy: TlsPolicy) -> ssl.SSLContext:
        if policy not in self._contexts:  # reading the authorities takes 20 ms and more
            self._contexts[policy] = await asyncio.to_thread(_context, policy)
        return self._contexts[policy]

    def _resolver(self) -> GuardedResolver:
        made: GuardedResolver = GuardedResolver(rules=self._rules, lookup=self._lookup)
        return made


@asynccontextmanager
async def _bounded(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise _late(seconds) from error


def _context(policy: TlsPolicy) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=policy.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise RequestFailed("The file with trusted authorities cannot be read", kind="certificate") from error
    if not policy.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _answer(response: HTTPResponse) -> OutboundAnswer:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise RequestFailed("The answer is compressed although the request did not allow it", kind="encoding")
    return OutboundAnswer(status=response.code, headers=response.headers, body=response.body or b"")


def _status(response: HTTPResponse) -> OutboundAnswer:
    return OutboundAnswer(status=response.code, headers=response.headers, body=b"")


def _redirect(request: OutboundRequest, answer: OutboundAnswer) -> str | None:
    location = answer.headers.get("Location")
    if answer.status not in REDIRECTS or location is None:
        return None
    if request.method not in ("GET", "HEAD"):
        raise RequestFailed(f"A {request.method} request was answered by a redirect", kind="redirect")
    try:
        return urljoin(request.url, location)
    except ValueError as error:
        raise RequestFailed("The answer is a malformed redirect", kind="redirect") from error


def _target_origin(url: str) -> Origin:
    try:
        return origin_of(url)
    except AddressRefused as error:  # not the caller's URL: no 400
        raise RequestFailed("The answer is a malformed redirect", kind="redirect") from error


def _translated(error: BaseException, request: OutboundRequest) -> RequestFailed:
    origin = origin_of(request.url)
    if isinstance(error, HTTPTimeoutError):
        return _late(request.timeout_seconds)
    if isinstance(error, ssl.SSLCertVerificationError):
        return RequestFailed(
            f"The certificate of {origin} is not valid: {error.verify_message}", kind="certificate"
        )
    if isinstance(error, ssl.SSLError):
        return RequestFailed(f"No TLS connection to {origin}", kind="connect")
    if isinstance(error, StreamClosedError | HTTPInputError | HTTPClientError):
        text = f"{origin} closed the connection, or answered more than {request.max_bytes} bytes"
        return RequestFailed(text, kind="answer")
    if isinstance(error, OSError):
        reason = error.strerror or "no connection"
        return RequestFailed(f"{origin} cannot be reached: {reason}", kind="connect")
    return RequestFailed(f"{origin} did not answer in valid HTTP", kind="answer")


def _late(seconds: float) -> RequestFailed:
    return RequestFailed(f"No complete answer within {seconds:g} seconds", kind="timeout")
